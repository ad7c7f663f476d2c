//! What counts as one header value, and which base64 is read.

use super::super::tests::encoded;
use super::{HeaderFault, HeaderView, MAX_HEADER_BYTES, decode};

#[test]
fn standard_base64_is_read_with_and_without_padding() {
    for text in ["{\"a\":1,\"b\":2}", "{\"a\":12}", "{\"a\":123}", "{\"t\":\"\u{20ae}??>>\"}"] {
        let padded = encoded(text);
        assert_eq!(decode(padded.as_bytes()), Ok(text.as_bytes().to_vec()));
        assert_eq!(decode(padded.trim_end_matches('=').as_bytes()), Ok(text.as_bytes().to_vec()));
        assert_eq!(decode(format!(" \t{padded} ").as_bytes()), Ok(text.as_bytes().to_vec()));
    }
}

#[test]
fn other_alphabets_junk_and_second_encodings_are_refused() {
    let odd = [
        "eyJhIjoi-_8ifQ==",
        "eyJh IjoxfQ==",
        "eyJhIjox\nfQ==",
        "eyJhIjoxfQ==!",
        "eyJhIjoxfQ===",
        "=eyJh",
        "eyJhIjoxfR==",
        "{\"a\":1,\"b\":2}",
        "eyJ\u{e9}",
    ];
    for value in odd {
        assert_eq!(decode(value.as_bytes()), Err(HeaderFault::NotBase64), "{value}");
    }
    assert_eq!(decode(b"eyJhIjoxfQ==eyJhIjoyfQ=="), Err(HeaderFault::NotBase64));
    assert_eq!(decode(b"eyJhIjoxfQ==, eyJhIjoyfQ=="), Err(HeaderFault::Joined));
}

#[test]
fn the_cap_is_on_the_value_as_sent() {
    let most = vec![b'A'; MAX_HEADER_BYTES];
    assert!(decode(&most).is_ok());
    let more = vec![b'A'; MAX_HEADER_BYTES.saturating_add(4)];
    assert_eq!(decode(&more), Err(HeaderFault::TooLong));
}

#[test]
fn a_view_finds_every_value_of_a_name_in_order_and_shows_none() {
    let pairs = [("Payment-Required", " one "), ("other", "x"), ("payment-required", "two")]
        .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
    let view = HeaderView::new(&pairs);
    assert_eq!(view.all("payment-required").collect::<Vec<_>>(), [&b"one"[..], &b"two"[..]]);
    assert_eq!(format!("{view:?}"), "HeaderView(3 headers)");
}
