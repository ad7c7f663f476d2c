//! The values of a JSON document that pointers name. It must never show a value that a reader could take for another.

use bursar_policy::Pointer;

use super::json::{self, JsonFault, Members, items};

/// What is at a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// A string, with its escapes read.
    Text(String),
    /// The digits of a number, exactly as they were sent: never through a float.
    Number(String),
    /// True or false.
    Bool(bool),
    /// Null.
    Null,
    /// An object or an array.
    NotAScalar,
    /// Nothing.
    Missing,
}

/// What is at each of `pointers` in the document `bytes`, in their order.
///
/// # Errors
///
/// [`JsonFault`] when the bytes are not one JSON document that can be read in one way only: a member that is named
/// twice anywhere in it shows nothing of it.
pub fn pointed(bytes: &[u8], pointers: &[Pointer]) -> Result<Vec<Pointed>, JsonFault> {
    let text = json::check(bytes)?;
    Ok(pointers.iter().map(|pointer| at(text, pointer)).collect())
}

fn at(document: &str, pointer: &Pointer) -> Pointed {
    let place = pointer.tokens().try_fold(document, |text, token| match text.bytes().next() {
        Some(b'{') => Members::of(text)?.text(&token),
        Some(b'[') => items(text)?.get(Pointer::index(&token)?).copied(),
        _ => None,
    });
    place.map_or(Pointed::Missing, read)
}

/// Reads one value of a checked document.
fn read(text: &str) -> Pointed {
    match text.bytes().next() {
        Some(b'"') => serde_json::from_str(text).map_or(Pointed::NotAScalar, Pointed::Text),
        Some(b'-' | b'0'..=b'9') => Pointed::Number(text.to_owned()),
        Some(b't') => Pointed::Bool(true),
        Some(b'f') => Pointed::Bool(false),
        Some(b'n') => Pointed::Null,
        _ => Pointed::NotAScalar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(document: &str, pointer: &str) -> Pointed {
        let found = pointed(document.as_bytes(), &[pointer.parse().unwrap()]).unwrap();
        assert_eq!(found.len(), 1);
        found[0].clone()
    }

    #[test]
    fn the_document_of_the_rfc_is_read_as_it_says() {
        let document = r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5,
            "k\"l": 6, " ": 7, "m~n": 8}"#;
        for (pointer, digit) in
            [("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6")]
        {
            assert_eq!(of(document, pointer), Pointed::Number(digit.to_owned()), "{pointer}");
        }
        assert_eq!(of(document, "/ "), Pointed::Number("7".to_owned()));
        assert_eq!(of(document, "/m~0n"), Pointed::Number("8".to_owned()));
        assert_eq!(of(document, "/foo/0"), Pointed::Text("bar".to_owned()));
        assert_eq!(of(document, "/foo"), Pointed::NotAScalar);
        assert_eq!(of(document, ""), Pointed::NotAScalar);
    }

    #[test]
    fn a_number_keeps_every_digit() {
        for digits in ["0.1000", "123456789012345678901234567890.5", "-0", "1E400", "1e-7"] {
            let document = format!("{{\"price\": {digits} , \"other\": 1}}");
            assert_eq!(of(&document, "/price"), Pointed::Number(digits.to_owned()));
        }
        assert_eq!(of(" 19.50\n", ""), Pointed::Number("19.50".to_owned()));
    }

    #[test]
    fn each_kind_of_value_is_told_as_what_it_is() {
        let document = r#"{"s":"\u00e9\n","t":true,"f":false,"n":null,"o":{},"a":[]}"#;
        assert_eq!(of(document, "/s"), Pointed::Text("é\n".to_owned()));
        assert_eq!(of(document, "/t"), Pointed::Bool(true));
        assert_eq!(of(document, "/f"), Pointed::Bool(false));
        assert_eq!(of(document, "/n"), Pointed::Null);
        assert_eq!((of(document, "/o"), of(document, "/a")), (Pointed::NotAScalar, Pointed::NotAScalar));
        for nowhere in ["/x", "/s/0", "/t/0", "/a/0", "/a/-", "/a/00", "/o/", "/n/n", "/S"] {
            assert_eq!(of(document, nowhere), Pointed::Missing, "{nowhere}");
        }
    }

    #[test]
    fn a_document_with_two_readings_shows_nothing() {
        let pointer: Pointer = "/price".parse().unwrap();
        for document in [
            r#"{"price":1,"price":2}"#,
            r#"{"price":1,"pr\u0069ce":2}"#,
            r#"{"price":1,"deep":[{"a":1,"a":2}]}"#,
            r#"{"price":1}{"price":2}"#,
            "{\"price\":1",
            "{'price':1}",
            "{\"price\":NaN}",
            "{\"price\":01}",
            "\u{feff}{\"price\":1}",
            "",
        ] {
            assert!(pointed(document.as_bytes(), std::slice::from_ref(&pointer)).is_err(), "{document}");
        }
        let utf_16: Vec<u8> = "{\"price\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(pointed(&utf_16, &[pointer]).is_err());
    }

    proptest! {
        #[test]
        fn it_agrees_with_another_reader(document in json_like(), pointer in "(/[ab01]){0,3}") {
            let other: serde_json::Value = serde_json::from_str(&document).unwrap();
            let told = of(&document, &pointer);
            let same = match other.pointer(&pointer) {
                None => told == Pointed::Missing,
                Some(serde_json::Value::String(text)) => told == Pointed::Text(text.clone()),
                Some(serde_json::Value::Number(number)) => told == Pointed::Number(number.to_string()),
                Some(serde_json::Value::Bool(value)) => told == Pointed::Bool(*value),
                Some(serde_json::Value::Null) => told == Pointed::Null,
                Some(_) => told == Pointed::NotAScalar,
            };
            prop_assert!(same, "{document} at {pointer}: {told:?}");
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let found = pointed(&bytes, &["/a".parse().unwrap()]);
            prop_assert!(found.is_err() || serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
        }
    }

    /// Small documents with the members `a` and `b`.
    fn json_like() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|value| value.to_string()),
            any::<u32>().prop_map(|value| value.to_string()),
            "[a-z]{0,3}".prop_map(|text| format!("\"{text}\"")),
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{\"a\": {a}, \"b\":{b}}}")),
                proptest::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            ]
        })
    }
}
