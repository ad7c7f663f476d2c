//! Each warning has rules that deserve it and rules that do not.

use bursar_policy::Setting;

use super::*;

const NARROW: &str = r#"[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]

[[limit]]
scope = "all"
window = "24h"
max = "1.00 USD"

[[host]]
origin = "https://api.example.com"
"#;

/// The warnings of the text, each with its line.
fn warned(text: &str) -> Vec<(&'static str, Option<usize>)> {
    let read = Reading::of(text, Setting::Real).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let line = |told: &Told| told.place.as_ref().and_then(|place| place.line);
    of(&read).iter().map(|told| (told.about, line(told))).collect()
}

fn changed(from: &str, to: &str) -> Vec<(&'static str, Option<usize>)> {
    assert!(NARROW.contains(from), "{from}");
    warned(&NARROW.replacen(from, to, 1))
}

#[test]
fn narrow_rules_are_told_without_a_warning() {
    assert_eq!(warned(NARROW), []);
}

#[test]
fn every_wide_rule_is_warned_about_on_its_line() {
    let recipients = "recipients = [\"0x209693Bc6afc0C5328bA36FaF03C514EF312287C\"]";
    let any = "allow_any_recipient = true";
    let host = "[[host]]\norigin = \"https://api.example.com\"\n";
    assert_eq!(changed(recipients, any), [("any_recipient", Some(5))]);
    assert_eq!(changed(host, &format!("{host}{any}\n")), [("any_recipient", Some(14))]);
    let anywhere = NARROW.replace(host, "").replace("networks", "allow_any_host = true\nnetworks");
    assert_eq!(warned(&anywhere), [("any_host", Some(3))]);
    let posting = format!("{host}methods = [\"GET\", \"POST\"]\ncontent = \"text\"\n");
    assert_eq!(changed(host, &posting), [("post_and_text", Some(15))]);
    assert_eq!(changed(host, &posting.replace("text", "file")), []);
    assert_eq!(changed("0.05 USD", "1.00 USD"), []);
    assert_eq!(changed("0.05 USD", "1.01 USD"), [("ceiling_above_budget", Some(2)), ("ceiling_above_limit", Some(2))]);
    assert_eq!(changed("1.00 USD", "0.04 USD"), [("ceiling_above_limit", Some(2))]);
    assert_eq!(changed("max = \"1.00 USD\"", "count = 5"), [("no_limit", None)]);
    assert_eq!(changed("scope = \"all\"", "scope = \"host\""), [("no_limit", None)]);
    let limit = "[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1.00 USD\"\n";
    assert_eq!(changed(limit, ""), [("no_limit", None)]);
}

#[test]
fn real_money_makes_a_high_ceiling_a_warning_of_its_own() {
    let real = NARROW
        .replace("84532", "8453")
        .replace("0x036CbD53842c5426634e7929541eC2318f3dCF7e", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
    assert_eq!(warned(&real), []);
    let high = real.replace("0.05 USD", "5 USD").replace("1.00 USD", "9 USD");
    assert_eq!(warned(&high), [("mainnet_ceiling", Some(2))]);
}

#[test]
fn lists_that_allow_nothing_are_named() {
    let recipients = "[\"0x209693Bc6afc0C5328bA36FaF03C514EF312287C\"]";
    assert_eq!(changed(recipients, "[]"), [("allows_nothing", Some(5))]);
    let host = "[[host]]\norigin = \"https://api.example.com\"\n";
    assert_eq!(changed(host, ""), [("allows_nothing", None)]);
    assert_eq!(changed(host, &format!("{host}methods = []\n")), [("allows_nothing", Some(14))]);
    assert_eq!(changed(host, &format!("{host}recipients = []\n")), [("allows_nothing", Some(14))]);
    assert_eq!(changed("networks", "schemes = []\nnetworks"), [("allows_nothing", Some(3))]);
    let asset = "[\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\"]";
    assert_eq!(changed(asset, "[]"), [("allows_nothing", Some(4))]);
    let bare = NARROW.replace(asset, "[]").replace("[\"eip155:84532\"]", "[]");
    assert_eq!(warned(&bare), [("allows_nothing", Some(3)), ("allows_nothing", Some(4))]);
}
