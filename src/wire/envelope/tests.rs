//! What an envelope keeps, and which texts are none.

use bursar_policy::{Said, Version};

use super::super::tests::{demand, read_body, read_header};
use super::{Envelope, EnvelopeFault};

#[test]
fn an_envelope_keeps_the_sellers_words_and_comes_back() {
    let document = "{\"x402Version\":2, \"resource\":{ \"url\":\"https://a.example/\", \"tags\":[1.0] },\n\
                    \"extensions\":{\"b\":{}, \"a\":null}, \"accepts\":[{},{ \"z\":1, \"amount\":\"1\", \"a\":{\"q\":1E2,\"n\":null} }]}";
    let found = demand(read_header(document));
    let envelope = found.envelope(1).unwrap();
    let text = r#"{"version":2,"offer":{"z":1,"amount":"1","a":{"q":1E2,"n":null}},"resource":{"url":"https://a.example/","tags":[1.0]},"extensions":{"b":{},"a":null}}"#;
    assert_eq!(envelope.to_text(), text);
    assert_eq!(Envelope::parse(text), Ok(envelope.clone()));
    assert_eq!(envelope.offer().unwrap().amount, Said::text("1"));
    assert_eq!(found.envelope(2), None);
    assert!(!format!("{envelope:?} {found:?}").contains("a.example"));
}

#[test]
fn a_first_generation_envelope_keeps_the_offer_alone() {
    let found =
        demand(read_body(r#"{"x402Version":1,"resource":{"url":"u"},"extensions":{},"accepts":[{"scheme":"exact"}]}"#));
    let envelope = found.envelope(0).unwrap();
    assert_eq!(
        (envelope.version(), envelope.to_text().as_str()),
        (Version::V1, r#"{"version":1,"offer":{"scheme":"exact"}}"#)
    );
}

#[test]
fn other_texts_are_no_envelope() {
    let odd = [
        "",
        "[]",
        "{}",
        r#"{"version":2}"#,
        r#"{"offer":{}}"#,
        r#"{"version":3,"offer":{}}"#,
        r#"{"version":"2","offer":{}}"#,
        r#"{"version":2,"offer":[]}"#,
        r#"{"version":2,"offer":{},"offer":{}}"#,
        r#"{"version":2,"offer":{"a":1,"a":2}}"#,
        r#"{"version":2,"offer":{},"more":1}"#,
        r#"{"version":2,"offer":{}} x"#,
    ];
    for text in odd {
        assert_eq!(Envelope::parse(text), Err(EnvelopeFault), "{text}");
    }
    let long = format!(r#"{{"version":2,"offer":{{"a":"{}"}}}}"#, "x".repeat(Envelope::MAX_BYTES));
    assert_eq!(Envelope::parse(&long), Err(EnvelopeFault));
}
