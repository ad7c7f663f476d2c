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
