//! Rules files: refused with file and line, in one sentence, with the nearest key.

use super::*;

const FINE: &str = r#"
[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
allow_any_recipient = true
allow_any_host = true

[[limit]]
scope = "all"
window = "24h"
max = "5.00 USD"
"#;

fn said(text: &str) -> String {
    parse(text, Setting::Sandbox).unwrap_err().to_string()
}

#[test]
fn a_whole_file_is_read_once_with_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bursar.toml");
    guarded::create(&path, FINE.as_bytes()).unwrap();
    let file = load(&path, Setting::Sandbox).unwrap();
    assert_eq!(file.text, FINE);
    assert_eq!(file.digest, Digest::of(FINE.as_bytes()));
    assert!(matches!(
        load(&folder.path().join("none"), Setting::Sandbox),
        Err(RulesFault::Guard(GuardFault::Missing { .. }))
    ));
}

#[test]
fn an_unknown_key_names_its_line_and_the_nearest_one() {
    let sentence = said(&FINE.replace("max_per_payment", "max_per_paymant"));
    assert!(
        sentence.starts_with("line 3: unknown key `max_per_paymant`; did you mean `max_per_payment`?"),
        "{sentence}"
    );
    let sentence = said(&FINE.replace("window =", "zzz ="));
    assert!(sentence.contains("line 11: unknown key `zzz`"), "{sentence}");
    assert!(!sentence.contains('\n'));
}

#[test]
fn money_is_text_and_numbers_are_whole() {
    for (from, to) in [
        ("\"0.05 USD\"", "0.05"),
        ("\"0.05 USD\"", "\"1,000 USD\""),
        ("\"0.05 USD\"", "\"$5\""),
        ("\"0.05 USD\"", "\"1e-2 USD\""),
        ("\"0.05 USD\"", "\"NaN USD\""),
        ("max = \"5.00 USD\"", "count = 1e3"),
        ("max = \"5.00 USD\"", "count = 99999999999999999999"),
        ("0x036CbD", "0х036CbD"),
        ("0x036CbD", "0x036cbD"),
    ] {
        assert!(FINE.contains(from));
        let sentence = said(&FINE.replace(from, to));
        assert!(!sentence.contains('\n') && sentence.len() < 400, "{to}: {sentence}");
    }
}

#[test]
fn what_is_not_toml_or_not_text_is_told_with_its_place() {
    let sentence = said("[payment]\nmax_per_payment = \n");
    assert!(sentence.starts_with("line 2: "), "{sentence}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bursar.toml");
    guarded::create(&path, b"[pay\xffment]").unwrap();
    let fault = load(&path, Setting::Sandbox).unwrap_err();
    assert!(matches!(fault, RulesFault::NotText { at: 4, .. }));
    guarded::replace(&path, b"[payment]\nx = 1\n").unwrap();
    let sentence = load(&path, Setting::Sandbox).unwrap_err().to_string();
    assert!(sentence.contains("bursar.toml") && sentence.contains("line 2"), "{sentence}");
}

#[test]
fn words_are_compared_by_their_letters() {
    assert_eq!(distance("", ""), 0);
    assert_eq!(distance("abc", ""), 3);
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(distance("networks", "network"), 1);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic_or_break_the_line(text in "\\PC{0,200}|(.|\n){0,200}") {
        if let Err(fault) = parse(&text, Setting::Sandbox) {
            proptest::prop_assert!(!fault.to_string().contains('\n'));
        }
    }
}
