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

/// The warnings of [`NARROW`] with `more` behind it: what each says.
fn said(more: &str) -> Vec<String> {
    let text = format!("{NARROW}{more}");
    let read = Reading::of(&text, Setting::Real).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    of(&read).into_iter().map(|told| format!("{}: {}", told.about, told.says)).collect()
}

#[test]
fn a_warning_about_a_part_of_an_origin_says_which_part() {
    let part = "path = \"/v1\"\nmethods = [\"POST\"]\ncontent = \"text\"\n";
    let told = said(part);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("post_and_text: https://api.example.com/v1/ gets"), "{told:?}");
    for (key, about) in [("recipients = []", "allows_nothing"), ("allow_any_recipient = true", "any_recipient")] {
        let told = said(&format!("path = \"/v1\"\n{key}\n"));
        assert!(told[0].starts_with(&format!("{about}: https://api.example.com/v1/ ")), "{told:?}");
    }
}

#[test]
fn an_entry_for_a_part_that_lacks_a_tag_of_what_is_around_it_is_named() {
    let part = |path: &str, tags: &str| {
        format!("\n[[host]]\norigin = \"https://api.example.com\"\npath = \"{path}\"\ntags = [{tags}]\n")
    };
    let around = "tags = [\"data\", \"people\"]\n";
    assert_eq!(said(&format!("{around}{}", part("/v1", "\"people\", \"data\", \"more\""))), [""; 0]);
    let told = said(&format!("{around}{}", part("/v1", "\"people\"")));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("tag_left_out: https://api.example.com/v1/ does not carry `data` of https://api.exa"));
    // The nearest entry around it counts: what that one left out is told there.
    let two = format!("{around}{}{}", part("/v1", "\"data\""), part("/v1/deep", "\"data\""));
    let told = said(&two);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("/v1/ does not carry `people`"), "{told:?}");
    assert_eq!(warned(&format!("{NARROW}{around}{}", part("/v1", ""))), [("tag_left_out", Some(18))]);
    let other = part("/v1", "").replace("api.example", "other.example");
    assert_eq!(said(&format!("{around}{other}")), [""; 0]);
}

#[test]
fn a_window_of_the_calendar_wants_a_rolling_one_beside_it() {
    let limit = |scope: &str, window: &str, holds: &str| {
        let zone = if ["day", "week", "month"].contains(&window) { "time_zone = \"UTC\"\n" } else { "" };
        format!("\n[[limit]]\n{scope}\nwindow = \"{window}\"\n{zone}{holds}\n")
    };
    let (all, host) = ("scope = \"all\"", "scope = \"host\"");
    for window in ["day", "week", "month"] {
        // The reference file has a rolling limit of a dollar.
        assert_eq!(said(&limit(all, window, "max = \"1.00 USD\"")), [""; 0], "{window}");
        assert_eq!(said(&limit(all, window, "max = \"0.99 USD\"")).len(), 1, "{window}");
        assert_eq!(said(&limit(host, window, "max = \"1.00 USD\"")).len(), 1, "{window}");
        assert_eq!(said(&limit(all, window, "count = 5")).len(), 1, "{window}");
    }
    let counted = limit(host, "day", "count = 5");
    assert_eq!(said(&format!("{counted}{}", limit(host, "24h", "count = 5"))), [""; 0]);
    assert_eq!(said(&format!("{counted}{}", limit(host, "24h", "count = 6"))).len(), 1);
    assert_eq!(said(&format!("{counted}{}", limit(host, "59m", "count = 5"))).len(), 1);
    assert_eq!(warned(&format!("{NARROW}{counted}")), [("twice_at_midnight", Some(17))]);
    assert!(said(&counted)[0].contains("the limit `host` over `day in UTC` is full again at midnight"));
}

#[test]
fn a_limit_of_a_tag_below_the_ceiling_of_what_carries_it_is_named() {
    let limit =
        |max: &str| format!("\n[[limit]]\nscope = \"tag\"\ntag = \"data\"\nwindow = \"7d\"\nmax = \"{max} USD\"\n");
    let tags = "tags = [\"data\"]\n";
    assert_eq!(said(&format!("{tags}{}", limit("0.05"))), [""; 0]);
    assert_eq!(warned(&format!("{NARROW}{tags}{}", limit("0.04"))), [("tag_below_ceiling", Some(20))]);
    let lower = format!("{tags}max_per_payment = \"0.01 USD\"\n");
    assert_eq!(said(&format!("{lower}{}", limit("0.01"))), [""; 0]);
    assert!(said(&format!("{lower}{}", limit("0.009")))[0].contains("may cost 0.01 USD, but"));
    let payee = "\n[[payee]]\naddress = \"0x209693Bc6afc0C5328bA36FaF03C514EF312287C\"\ntags = [\"data\"]\n";
    assert!(said(&format!("{payee}{}", limit("0.04")))[0].contains("may cost 0.05 USD, but"));
}

#[test]
fn lengths_and_numbers_beyond_all_use_are_named() {
    let limit = |window: &str| format!("\n[[limit]]\nscope = \"host\"\nwindow = \"{window}\"\ncount = 9\n");
    assert_eq!(said(&limit("366d")), [""; 0]);
    assert_eq!(said(&limit("lifetime")), [""; 0]);
    assert_eq!(warned(&format!("{NARROW}{}", limit("367d"))), [("long_window", Some(17))]);
    assert_eq!(said("max_unresolved = 10\n"), [""; 0]);
    assert_eq!(warned(&format!("{NARROW}max_unresolved = 11\n")), [("many_unresolved", Some(14))]);
    assert_eq!(changed("networks", "max_unresolved = 11\nnetworks"), [("many_unresolved", Some(3))]);
}

#[test]
fn payees_that_hosts_share_are_warned_about_where_losses_are_counted_by_the_rules() {
    let two = format!("{NARROW}[[host]]\norigin = \"https://other.example\"\n");
    assert_eq!(warned(&two), [], "the rules say nothing of losses");
    let counted = two.replace("networks", "max_unresolved = 2\nnetworks");
    assert_eq!(warned(&counted), [("shared_payee", Some(3))]);
    assert_eq!(warned(&format!("{two}max_unresolved = 2\n")), [("shared_payee", Some(16))]);
    let apart = format!("{counted}recipients = []\n");
    assert_eq!(warned(&apart), [("allows_nothing", Some(17))], "one of them pays nobody");
    assert_eq!(warned(&format!("{counted}allow_any_recipient = true\n")), [("any_recipient", Some(17))]);
    let parts = format!("{NARROW}max_unresolved = 2\n[[host]]\norigin = \"https://api.example.com\"\npath = \"/v1\"\n");
    assert_eq!(warned(&parts), [], "parts of one origin are one seller");
    let read = Reading::of(&counted, Setting::Real).unwrap_or_else(|fault| panic!("{fault}"));
    let says = of(&read).remove(0).says;
    assert!(says.contains("by https://api.example.com and https://other.example"), "{says}");
}
