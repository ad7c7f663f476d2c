//! Keys, rows and list entries are found on their lines, and a contradiction where a person would mend it.

use super::*;
use crate::rules_file::{TextFault, parse};
use bursar_policy::Setting;

const TEXT: &str = r#"[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = [
    "eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e",
]
recipients = [
    "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", # the shop
    "0x5e11e4000000000000000000000000000000beeF",
]

[[limit]]
scope = "all"
window = "24h"
max = "1.00 USD"

[[host]]
origin = "https://one.example"

[[host]]
methods = ["GET", "POST"]
origin = "https://two.example"
"#;

fn line(table: Table, key: &str) -> Option<usize> {
    Lines::of(TEXT).unwrap().place(table, key).line
}

#[test]
fn a_key_is_found_in_its_table_and_row() {
    assert_eq!(line(Table::Payment, "networks"), Some(3));
    assert_eq!(line(Table::Payment, "max_lifetime"), None);
    assert_eq!(line(Table::Limit(0), "max"), Some(15));
    assert_eq!(line(Table::Limit(1), "max"), None);
    assert_eq!(line(Table::Host(1), "methods"), Some(21));
    assert_eq!(line(Table::Host(0), "methods"), None);
    assert_eq!(line(Table::Asset(0), "id"), None);
    let lines = Lines::of(TEXT).unwrap();
    let host = |origin: &str, path: &str| lines.host(&origin.parse().unwrap(), &path.parse().unwrap());
    assert_eq!(host("https://two.example", "/"), Some(Table::Host(1)));
    assert_eq!(host("https://two.example", "/v1"), None);
    assert_eq!(host("https://two.example:444", "/"), None);
    assert_eq!(lines.place(Table::Host(1), "methods").to_string(), "line 21: host.methods");
    assert_eq!(lines.place(Table::Payment, "max_lifetime").to_string(), "payment.max_lifetime, left out");
    assert!(Lines::of("[payment").is_none());
}

#[test]
fn an_entry_of_a_list_is_found_whatever_its_letter_case() {
    let lines = Lines::of(TEXT).unwrap();
    let item = |item: &str| lines.item(Table::Payment, "recipients", item).line;
    assert_eq!(item("0x5e11e4000000000000000000000000000000beeF"), Some(9));
    assert_eq!(item("0x5E11E4000000000000000000000000000000BEEF"), Some(9));
    assert_eq!(item("0x0000000000000000000000000000000000000001"), Some(7));
    assert_eq!(lines.item(Table::Payment, "max_per_payment", "0.05 USD").line, Some(2));
}

#[test]
fn the_first_key_that_is_written_stands_for_the_others() {
    let lines = Lines::of(TEXT).unwrap();
    let first = |keys: &[&str]| lines.first(Table::Payment, keys).unwrap();
    assert_eq!(first(&["allow_any_recipient", "recipients"]).line, Some(7));
    assert_eq!(first(&["recipients", "allow_any_recipient"]).key, "payment.recipients");
    assert_eq!(first(&["max_body", "max_lifetime"]), Place { key: "payment.max_lifetime".to_owned(), line: None });
}

#[test]
fn a_contradiction_is_told_with_its_line() {
    let asset = "\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\",\n";
    let unknown = "\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\",\n\"eip155:84532/erc20:0x5e11e4000000000000000000000000000000beeF\",\n";
    for (from, to, wanted) in [
        ("[\"eip155:84532\"]", "[\"eip155:84532\",\n\"eip155:8453\"]", 3),
        ("[\"eip155:84532\"]", "[\"eip155:12345678\"]", 3),
        (asset, unknown, 6),
        ("[[limit]]", "[[limit]]\nscope = \"host\"\nwindow = \"24h\"\ncount = 0\n[[limit]]", 13),
        ("max = \"1.00 USD\"", "", 13),
        ("max = \"1.00 USD\"", "max = \"0 USD\"", 15),
        ("max = \"1.00 USD\"", "max = \"1.00 EUR\"", 15),
        ("[[host]]\norigin", "[[host]]\nbody_limit = \"1 KiB\"\norigin", 18),
        ("[\"GET\", \"POST\"]", "[\"GET\", \"GET\"]", 21),
        ("https://one.example", "http://one.example", 18),
        ("https://two.example", "https://one.example", 22),
        ("networks =", "allow_any_recipient = true\nnetworks =", 3),
        ("networks =", "allow_any_host = true\nnetworks =", 3),
        ("networks =", "max_lifetime = \"5s\"\nnetworks =", 3),
        ("networks =", "hours = \"08:00-18:00\"\nnetworks =", 3),
        ("networks =", "time_zone = \"UTC\"\nnetworks =", 3),
        ("networks =", "time_zone = \"UTC\"\ndays = []\nnetworks =", 4),
        ("networks =", "max_unresolved = 0\nnetworks =", 3),
        ("networks =", "max_unresolved = 2\nmax_body = \"65 MiB\"\nnetworks =", 4),
        ("methods =", "max_unresolved = 0\nmethods =", 21),
        ("\"all\"", "\"tag\"\ntag = \"data\"", 14),
        (
            "[[host]]",
            "[[payee]]\naddress = \"0x5e11e4000000000000000000000000000000bee1\"\ntags = [\"a\"]\n[[host]]",
            18,
        ),
        (
            "[[host]]",
            "[[host]]\norigin = \"https://two.example\"\npath = \"/v1\"\nbody_limit = \"1 KiB\"\n[[host]]",
            20,
        ),
        (
            "https://two.example\"",
            "https://one.example\"\npath = \"/a\"\n[[host]]\norigin = \"https://one.example\"\npath = \"/A/\"",
            25,
        ),
        (
            "window = \"24h\"",
            "window = \"day\"\ntime_zone = \"UTC\"\ncount = 1\n[[limit]]\nscope = \"all\"\ntime_zone = \"UTC\"\nwindow = \"day\"\ncount = 2",
            18,
        ),
        ("networks =", "schemes = [\"upto\"]\nnetworks =", 3),
        ("[[host]]", "[[chain]]\nnetwork = \"eip155:84532\"\nrpc = []\n[[host]]", 19),
        ("[[host]]", "[[chain]]\nrpc = [\"https://a.test\"]\nnetwork = \"eip155:1\"\n[[host]]", 19),
        ("[[host]]", "[[chain]]\nnetwork = \"eip155:84532\"\nrpc = [\"https://a.test\"]\nagree = 2\n[[host]]", 20),
        ("[[host]]", "[[chain]]\nnetwork = \"eip155:84532\"\nrpc = [\"http://a.test/k\"]\n[[host]]", 19),
        ("[[host]]", "[[chain]]\npoll = \"2h\"\nnetwork = \"eip155:84532\"\nrpc = [\"https://a.test\"]\n[[host]]", 18),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let text = TEXT.replacen(from, to, 1);
        match parse(&text, Setting::Real) {
            Err(TextFault::Rule { line, fault }) => assert_eq!(line, Some(wanted), "{fault}"),
            other => panic!("{from} → {to}: {other:?}"),
        }
    }
    let token = |id: &str, decimals: u8| {
        format!(
            "{TEXT}\n[[asset]]\nsymbol = \"T\"\ndecimals = {decimals}\ncurrency = \"USD\"\neip712_name = \"T\"\neip712_version = \"1\"\nid = \"{id}\"\n"
        )
    };
    for (id, decimals) in [
        ("eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e", 6),
        ("eip155:84532/erc20:0x5e11e4000000000000000000000000000000beeF", 19),
    ] {
        let fault = parse(&token(id, decimals), Setting::Real).unwrap_err().to_string();
        assert!(fault.starts_with("line 30: the asset"), "{fault}");
    }
    let sandboxed = format!("{TEXT}\n[sandbox]\n");
    let fault = parse(&sandboxed, Setting::Real).unwrap_err().to_string();
    assert!(fault.starts_with("line 24: [sandbox] is allowed"), "{fault}");
}

#[test]
fn what_two_keys_of_a_limit_say_together_is_told_with_the_line_of_that_limit() {
    for (rest, said) in [
        ("scope = \"all\"\nwindow = \"day\"", "needs a `time_zone`"),
        ("scope = \"tag\"\nwindow = \"24h\"", "needs the `tag`"),
        ("scope = \"all\"\nwindow = \"24h\"\ntime_zone = \"UTC\"", "time_zone"),
        ("scope = \"all\"\nwindow = \"24h\"\ntag = \"data\"", "tag"),
    ] {
        let text = format!("{TEXT}\n[[limit]]\ncount = 1\n{rest}\n");
        let fault = parse(&text, Setting::Real).unwrap_err().to_string();
        assert!(fault.starts_with("line 26: ") && fault.contains(said), "{fault}");
    }
}
