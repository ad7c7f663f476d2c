//! Secrets in every form that is looked for, whole, in pieces of every length, and nearly.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::{Redaction, Redactor};

const SECRET: &str = "sk_live/0+1?2=3>\"4\\5%6&";

fn redactor(secrets: &[&str]) -> Arc<Redactor> {
    Arc::new(Redactor::of(secrets.iter().copied()))
}

/// What is left of `text` when it comes in pieces of `size`.
fn in_pieces(redactor: &Arc<Redactor>, text: &[u8], size: usize) -> Vec<u8> {
    let mut redaction = Redaction::by(Arc::clone(redactor));
    let mut left: Vec<u8> = text.chunks(size).flat_map(|piece| redaction.pass(piece)).collect();
    left.extend(redaction.rest());
    left
}

fn cleaned(secrets: &[&str], text: &str) -> String {
    let redactor = redactor(secrets);
    let whole = in_pieces(&redactor, text.as_bytes(), text.len().max(1));
    for size in 1..text.len() {
        assert_eq!(in_pieces(&redactor, text.as_bytes(), size), whole, "in pieces of {size}");
    }
    String::from_utf8(whole).unwrap()
}

fn percent(text: &str, which: impl Fn(u8) -> bool, upper: bool) -> String {
    let encode = |byte: u8| match (which(byte), upper) {
        (false, _) => char::from(byte).to_string(),
        (true, true) => format!("%{byte:02X}"),
        (true, false) => format!("%{byte:02x}"),
    };
    text.bytes().map(encode).collect()
}

/// A secret as honest and less honest software writes it.
fn written(secret: &str) -> Vec<String> {
    let json = serde_json::to_string(secret).unwrap();
    let json = json.trim_start_matches('"').strip_suffix('"').unwrap().to_owned();
    vec![
        secret.to_owned(),
        percent(secret, |byte| !byte.is_ascii_alphanumeric(), true),
        percent(secret, |byte| !byte.is_ascii_alphanumeric(), false),
        percent(secret, |_| true, true),
        percent(secret, |byte| byte % 2 == 0 || byte == b'%' || byte == b'\\', false),
        json.clone(),
        json.replace('/', "\\/"),
        secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
        secret.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect(),
    ]
}

#[test]
fn a_secret_is_taken_out_in_every_writing_and_in_pieces_of_every_length() {
    for form in written(SECRET) {
        let text = format!("<before>{form}<after>{form}");
        let stars = "*".repeat(form.len());
        assert_eq!(cleaned(&[SECRET], &text), format!("<before>{stars}<after>{stars}"), "{form}");
    }
}

#[test]
fn a_secret_inside_base64_is_taken_out_wherever_it_begins() {
    for secret in [SECRET, "12345678", "\u{7e}~~~????>>>>"] {
        for before in 0..7 {
            for after in 0..7 {
                let document = format!("{}{secret}{}", "b".repeat(before), "a".repeat(after));
                for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
                    let encoded = engine.encode(&document);
                    let left = cleaned(&[secret], &format!("[{encoded}]"));
                    assert_eq!(left.len(), encoded.len() + 2);
                    // What is left decodes to at most the edge of one byte at either end.
                    let stars = left.matches('*').count();
                    let decided = (secret.len() * 8).div_euclid(6);
                    assert!(decided - 1 <= stars, "{stars} of {decided} in {left}");
                    let encoded_again = percent(&encoded, |byte| !byte.is_ascii_alphanumeric(), true);
                    assert!(cleaned(&[secret], &encoded_again).contains('*'));
                }
            }
        }
    }
}

#[test]
fn nothing_else_is_touched() {
    for text in [
        "sk_live/0+1?2=3>\"4\\5%6",
        "k_live/0+1?2=3>\"4\\5%6&",
        "sk_live/0+1?2=3>\"4\\5%6 &",
        "SK_LIVE/0+1?2=3>\"4\\5%6&",
        "%%%\\\\\\u00\\u12%4",
        "",
        "s",
        "sss",
        "sk_",
    ] {
        let text = format!("{text}.");
        assert_eq!(cleaned(&[SECRET], &text), text);
    }
    assert_eq!(cleaned(&[], "anything at all % \\"), "anything at all % \\");
}

#[test]
fn what_the_end_cuts_off_is_taken_out_from_four_characters_on() {
    for (text, left) in [
        ("end sk_", "end sk_"),
        ("end sk_l", "end ****"),
        ("end sk_live/0+1?2=3>\"4\\5%6", "end **********************"),
        ("end %73%6b%5f%6", "end %73%6b%5f%6"),
        ("end %73%6b%5f%6c%", "end *************"),
    ] {
        assert_eq!(cleaned(&[SECRET], text), left);
    }
}

#[test]
fn of_two_secrets_of_which_one_begins_as_the_other_the_longer_goes_as_a_whole() {
    let (short, long) = ("abcdefgh", "abcdefgh-and-more");
    assert_eq!(cleaned(&[short, long], "abcdefgh-and-more."), format!("{}.", "*".repeat(long.len())));
    assert_eq!(cleaned(&[short, long], "abcdefgh-and-mor."), "********-and-mor.");
    assert_eq!(cleaned(&["aaaaaaaa"], "aaaaaaaaaaaaaaaaaaaa"), "*".repeat(20));
}

#[test]
fn a_header_that_is_a_document_with_a_secret_goes_as_a_whole() {
    let redactor = redactor(&[SECRET]);
    let clean = |text: &str| {
        let mut value = text.as_bytes().to_vec();
        redactor.clean_header(&mut value);
        String::from_utf8(value).unwrap()
    };
    for form in written(SECRET) {
        let document = STANDARD.encode(format!("{{\"error\":\"{form}\"}}"));
        let left = clean(&document);
        assert!(!left.bytes().any(|byte| byte != b'*') || left.contains("****"), "{left}");
        assert!(STANDARD.decode(&left).is_err(), "a document with stars in it can be read by nobody");
    }
    let honest = STANDARD.encode("{\"error\":\"pay\"}");
    assert_eq!(clean(&honest), honest);
    assert_eq!(clean("text/html; charset=utf-8"), "text/html; charset=utf-8");
    assert_eq!(
        clean(&format!("https://a.test/?k={SECRET}")),
        format!("https://a.test/?k={}", "*".repeat(SECRET.len()))
    );
}

proptest! {
    #[test]
    fn pieces_make_no_difference_and_lengths_stay(
        parts in prop::collection::vec(prop_oneof![
            Just(SECRET.to_owned()), Just(percent(SECRET, |_| true, false)), Just(STANDARD.encode(SECRET)),
            Just("sk_live/0+1".to_owned()), "[ -~]{0,12}",
        ], 0..12),
        size in 1_usize..40,
    ) {
        let text = parts.concat();
        let redactor = redactor(&[SECRET]);
        let left = in_pieces(&redactor, text.as_bytes(), size);
        prop_assert_eq!(left.len(), text.len());
        prop_assert_eq!(&left, &in_pieces(&redactor, text.as_bytes(), text.len().max(1)));
        let left = String::from_utf8(left).unwrap();
        prop_assert!(!left.contains(SECRET) && !left.contains(&percent(SECRET, |_| true, false)));
    }

    #[test]
    fn any_bytes_pass_and_none_is_lost(text in prop::collection::vec(any::<u8>(), 0..300), size in 1_usize..50) {
        let left = in_pieces(&redactor(&["0123456789", "%5c%22\\u0"]), &text, size);
        prop_assert_eq!(left.len(), text.len());
    }
}
