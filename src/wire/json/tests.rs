//! What is refused although some parser would read it, and what stays untouched.

use super::{JsonFault, MAX_DEPTH, Members, check, compact, items, said};
use bursar_policy::Said;

#[test]
fn a_member_named_twice_is_refused_at_any_depth_and_in_any_spelling() {
    let twice = [
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"b":{"c":1,"c":1}}"#,
        r#"[[{"x":{},"y":[{"k":1,"k":2}]}]]"#,
        r#"{"amount":"1","\u0061mount":"2"}"#,
        r#"{"a\"b":1,"a\u0022b":2}"#,
        r#"{"":1,"":2}"#,
    ];
    for text in twice {
        assert!(matches!(check(text.as_bytes()), Err(JsonFault::Duplicate(_))), "{text}");
    }
    let once =
        [r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#, r#"[{"a":1},{"a":1}]"#, r#"{"a":"a","b":"a"}"#, r#"{"a":["a","a"]}"#];
    for text in once {
        assert_eq!(check(text.as_bytes()), Ok(text));
    }
}

#[test]
fn text_that_parsers_read_differently_is_refused() {
    let cases: [(&[u8], JsonFault); 12] = [
        (b"", JsonFault::Syntax),
        (b"{", JsonFault::Syntax),
        (b"{} {}", JsonFault::Syntax),
        (b"{'a':1}", JsonFault::Syntax),
        (b"{\"a\":01}", JsonFault::Syntax),
        (b"{\"a\":1,}", JsonFault::Syntax),
        (b"{\"a\":NaN}", JsonFault::Syntax),
        (b"{\"a\":1}//", JsonFault::Syntax),
        (b"\"line\nbreak\"", JsonFault::Syntax),
        (b"\xef\xbb\xbf{}", JsonFault::NotUtf8),
        (b"{\"a\":\"\xff\"}", JsonFault::NotUtf8),
        (b"{\"a\":\"\\ud800\"}", JsonFault::HalfCharacter),
    ];
    for (bytes, fault) in cases {
        assert_eq!(check(bytes), Err(fault), "{}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(check(br#"{"\udc00":1}"#), Err(JsonFault::HalfCharacter));
    assert!(check(br#"{"a":"\ud83d\ude00"}"#).is_ok());
}

#[test]
fn nesting_is_counted_to_the_cap_and_not_beyond() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(check(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(check(nested(MAX_DEPTH.saturating_add(1)).as_bytes()), Err(JsonFault::TooDeep));
    assert_eq!(check(nested(200_000).as_bytes()), Err(JsonFault::TooDeep));
    let objects = format!("{}1{}", "{\"a\":".repeat(33), "}".repeat(33));
    assert_eq!(check(objects.as_bytes()), Err(JsonFault::TooDeep));
    // Brackets inside a string are letters.
    assert!(check(format!("[\"{}\"]", "[{".repeat(100)).as_bytes()).is_ok());
}

#[test]
fn compact_text_keeps_order_digits_escapes_and_spaces_in_strings() {
    let text = "{ \"b\" : 1.0 ,\n\t\"a\" : [ 1E3 , 123456789012345678901234567890 , \"x \\\" y\\u00e9 \u{20ae}\" ] }";
    assert_eq!(
        compact(check(text.as_bytes()).unwrap()),
        "{\"b\":1.0,\"a\":[1E3,123456789012345678901234567890,\"x \\\" y\\u00e9 \u{20ae}\"]}"
    );
}

#[test]
fn members_and_items_come_as_they_were_sent() {
    let text = check(b" {\"n\":10000000000000000000000.50,\"t\":\"\\u0031\",\"z\":null,\"o\":{\"i\":1},\"l\":[1, 2]} ")
        .unwrap();
    let members = Members::of(text).unwrap();
    assert_eq!(members.said("n"), Said::Number("10000000000000000000000.50".to_owned()));
    assert_eq!(members.said("t"), Said::text("1"));
    assert_eq!((members.said("z"), members.said("gone")), (Said::Null, Said::Absent));
    assert_eq!((members.said("o"), members.said("l")), (Said::Other("an object"), Said::Other("an array")));
    assert_eq!((members.text("z"), members.present("z")), (Some("null"), None));
    assert_eq!(members.object("o").unwrap().text("i"), Some("1"));
    assert_eq!(items(members.text("l").unwrap()), Some(vec!["1", "2"]));
    assert_eq!((items("{}"), Members::of("[]").is_none()), (None, true));
    assert_eq!(
        (said("true"), said("false"), said("-1")),
        (Said::Other("true"), Said::Other("false"), Said::Number("-1".to_owned()))
    );
}
