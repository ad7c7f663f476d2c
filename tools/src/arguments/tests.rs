//! Tests of reading arguments: whatever a caller writes, it gets an order or a sentence.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::arguments::Order;
use crate::reply::Words;
use crate::stored::{self, Asked};
use crate::{fetch, quote};

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn fetched(given: Map<String, Value>) -> Result<Order, Box<Words>> {
    stored::read(given).map(|asked| match asked {
        Asked::Errand { order, .. } => *order,
        Asked::Stored { .. } => panic!("a stored copy was asked for"),
    })
}

#[test]
fn null_is_as_good_as_absent() {
    let plain = fetched(object(&json!({"url": "https://a.example/"}))).unwrap();
    let nulls = json!({"url": "https://a.example/", "method": null, "body": null, "max_price": null, "quote": null});
    assert_eq!(fetched(object(&nulls)).unwrap(), plain);
    assert_eq!(quote::read(object(&json!({"url": "https://a.example/"}))).unwrap(), plain);
}

#[test]
fn an_unknown_name_is_shown_harmlessly() {
    let words = fetched(object(&json!({"pay\u{202E}ee\n": 1}))).unwrap_err();
    assert!(words.message.starts_with("`pay\\u{202E}ee\\u{A}` is not an argument of x402_fetch"), "{}", words.message);
}

#[test]
fn a_body_kind_is_part_of_the_order() {
    let ask = |kind: &str| {
        let arguments = json!({"url": "https://a.example/", "method": "POST", "body": "a=1", "body_type": kind});
        fetched(object(&arguments)).unwrap().errand.subject()
    };
    assert_ne!(ask("form"), ask("text"));
}

#[test]
fn headers_are_harmless_names_with_short_texts_each_once() {
    let read = |headers: Value| fetched(object(&json!({"url": "https://a.example/", "headers": headers})));
    let order = read(json!({"Accept": "text/html, */*;q=0.1", "prefer": "x"})).unwrap();
    let told: Vec<_> = order.errand.headers.iter().map(|(name, text)| format!("{name}: {text}")).collect();
    assert_eq!(told, ["accept: text/html, */*;q=0.1", "prefer: x"]);
    for (headers, part) in [
        (
            json!({"Cookie": "a=b"}),
            "the header `Cookie` can not be set: a header that a caller may set is one of accept",
        ),
        (json!({"Host": "evil.test"}), "the header `Host` can not be set"),
        (json!({"X-PAYMENT": "c2ln"}), "the header `X-PAYMENT` can not be set"),
        (json!({"accept": "a\r\nhost: b"}), "1 to 256 visible ASCII"),
        (json!({"accept": ""}), "1 to 256 visible ASCII"),
        (json!({"accept": "a", "Accept": "b"}), "it is given twice"),
        (json!({"accept": 1}), "`headers` of x402_fetch must be an object of strings"),
        (json!(["accept"]), "must be an object of strings"),
        (json!("accept: a"), "must be an object of strings"),
    ] {
        let words = read(headers).unwrap_err();
        assert!(words.message.contains(part), "{}", words.message);
    }
    assert!(read(Value::Null).unwrap().errand.headers.is_empty());
}

#[test]
fn a_body_has_at_most_a_mebibyte() {
    let read = |bytes: usize| {
        fetched(object(&json!({"url": "https://a.example/", "method": "POST", "body": "x".repeat(bytes)})))
    };
    assert_eq!(read(1 << 20).unwrap().errand.body.unwrap().bytes, 1 << 20);
    assert!(read((1 << 20) + 1).unwrap_err().message.contains("at most 1048576 are sent"));
}

fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        "https?://[a-z.:0-9/@\\\\%]{0,30}".prop_map(Value::from),
        "[0-9.]{0,6} [A-Z]{0,4}".prop_map(Value::from),
        Just(json!(["x"])),
        Just(json!({"x": 1})),
    ]
}

proptest! {
    #[test]
    fn no_arguments_make_it_panic(
        values in proptest::collection::vec(anything(), fetch::ARGUMENTS.len()),
        keep in proptest::collection::vec(any::<bool>(), fetch::ARGUMENTS.len()),
    ) {
        let given: Map<String, Value> = fetch::ARGUMENTS
            .iter()
            .zip(values)
            .zip(keep)
            .filter(|(_, keep)| *keep)
            .map(|((name, value), _)| ((*name).to_owned(), value))
            .collect();
        if let Err(words) = fetched(given) {
            prop_assert!(!words.message.is_empty() && !words.message.contains('\n'));
        }
    }
}
