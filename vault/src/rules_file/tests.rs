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

#[test]
fn a_sentence_stays_one_line_whatever_a_key_or_a_value_holds() {
    let scheme = said(&FINE.replace("[payment]", "[payment]\nschemes = [\"\\u001b[31m\\nb\"]"));
    assert!(scheme.ends_with(r"the scheme `\u{1b}[31m\nb` is not supported; use `exact`"), "{scheme}");
    let wild = said(&FINE.replace("[payment]", "[payment]\nschemes = [\"*\\r\"]"));
    assert!(wild.ends_with(r"`*\r` contains a wildcard; list every value by itself"), "{wild}");
    let twice = said(&FINE.replace("[payment]", "[payment]\nschemes = [\"\\n\", \"\\n\"]"));
    assert!(twice.ends_with(r"`schemes` lists `\n` twice; remove one"), "{twice}");
    let ca = said(&format!("{FINE}[sandbox]\nca = \"a\\u0007\"\n"));
    assert!(ca.ends_with(r"`ca` is `a\u{7}`; it must be a plain file name inside the sandbox folder"), "{ca}");
    let key = said(&FINE.replace("[payment]", "[payment]\n\"\\u001b\\u0085\" = 1"));
    assert!(key.contains(r"unknown key `\u{1b}"), "{key}");
    assert!(!key.contains(char::is_control), "{key:?}");
}

#[test]
fn two_spellings_of_a_host_are_mapped_once() {
    let mapped = |other: &str| {
        let hosts = format!("hosts = {{ \"shop.test\" = \"127.0.0.1\", \"{other}\" = \"127.0.0.2\" }}");
        parse(&format!("{FINE}[sandbox]\n{hosts}\n"), Setting::Sandbox)
    };
    assert!(mapped("other.test").is_ok());
    let fault = mapped("SHOP.test").unwrap_err().to_string();
    assert!(fault.contains("the host `shop.test` is mapped twice; remove one"), "{fault}");
}
