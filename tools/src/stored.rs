//! Reading a stored copy again: what a call of x402_fetch means by `content_sha256`, `max_age_seconds`, `content` and
//! `fields`.
//!
//! Must never lead to a payment where the caller named a stored copy.

use bursar_policy::{Digest, Pointer};
use serde_json::{Map, Value};

use crate::arguments::{Arguments, Order, bad};
use crate::fetch;
use crate::payments::View;
use crate::reply::Words;

/// The longest age that a caller can name, in seconds: a year.
const AGE_MAX_S: u64 = 366 * 86_400;

/// What a call of x402_fetch asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    /// A request, which may cost money.
    Errand { order: Box<Order>, young: Option<Young> },
    /// A copy that is stored; all that may be shown where no view is named.
    Stored { digest: Digest, view: Option<View> },
}

/// A copy of an answer that will do in place of asking, when it is at most so old.
#[derive(Debug, PartialEq)]
pub(crate) struct Young {
    pub(crate) max_age_s: u64,
    pub(crate) view: Option<View>,
}

/// Understands the arguments of one call.
///
/// # Errors
///
/// What is wrong with them, in words for the caller.
pub(crate) fn read(given: Map<String, Value>) -> Result<Asked, Box<Words>> {
    let mut given = Arguments::new(fetch::NAME, given, fetch::ARGUMENTS)?;
    let fields = pointers(given.texts("fields")?)?;
    let view = view(given.text("content")?.as_deref(), fields)?;
    let Some(digest) = given.text("content_sha256")? else {
        let max_age_s = given.number("max_age_seconds", AGE_MAX_S)?;
        if view.is_some() && max_age_s.is_none() {
            return Err(bad(
                "`content` and `fields` go with `content_sha256` or `max_age_seconds`: what is fetched is shown as the operator's rules say",
            ));
        }
        let young = max_age_s.map(|max_age_s| Young { max_age_s, view });
        return Ok(Asked::Errand { order: Box::new(fetch::order(&mut given)?), young });
    };
    if let Some(other) = given.left() {
        return Err(bad(&format!("`content_sha256` names a stored copy, so `{other}` has no place beside it")));
    }
    let digest = digest.parse().map_err(|_| bad("`content_sha256` has 64 lower-case hex digits"))?;
    Ok(Asked::Stored { digest, view })
}

/// The view that a mode and pointers mean together.
fn view(mode: Option<&str>, fields: Vec<Pointer>) -> Result<Option<View>, Box<Words>> {
    match (mode, fields.is_empty()) {
        (None, true) => Ok(None),
        (None | Some("fields"), false) => Ok(Some(View::Fields(fields))),
        (Some("fields"), true) => Err(bad("`content` `fields` needs `fields`: say which ones, as JSON pointers")),
        (Some("withhold"), true) => Ok(Some(View::Withhold)),
        (Some("text"), true) => Ok(Some(View::Text)),
        (Some("file"), true) => Ok(Some(View::File)),
        (Some("withhold" | "text" | "file"), false) => Err(bad("`fields` goes with `content` `fields`, or without it")),
        (Some(_), _) => Err(bad("`content` must be `withhold`, `fields`, `text` or `file`")),
    }
}

/// The texts as JSON pointers.
fn pointers(texts: Vec<String>) -> Result<Vec<Pointer>, Box<Words>> {
    let read = |text: String| text.parse().map_err(|fault| bad(&format!("`fields` can not be used: {fault}")));
    texts.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DIGEST: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    fn asked(arguments: &Value) -> Result<Asked, String> {
        read(arguments.as_object().unwrap().clone()).map_err(|words| words.message)
    }

    #[test]
    fn a_stored_copy_is_named_by_its_digest_and_nothing_beside_it_but_fields() {
        let digest = Digest::of(b"hello");
        let all = asked(&json!({"content_sha256": DIGEST, "url": null}));
        assert_eq!(all, Ok(Asked::Stored { digest, view: None }));
        let two = Some(View::Fields(vec!["/a".parse().unwrap(), "".parse().unwrap()]));
        for some in [json!({"fields": ["/a", ""]}), json!({"fields": ["/a", ""], "content": "fields"})] {
            let mut some = some;
            some["content_sha256"] = json!(DIGEST);
            assert_eq!(asked(&some), Ok(Asked::Stored { digest, view: two.clone() }));
        }
        for (word, view) in [("withhold", View::Withhold), ("text", View::Text), ("file", View::File)] {
            let whole = asked(&json!({"content_sha256": DIGEST, "content": word}));
            assert_eq!(whole, Ok(Asked::Stored { digest, view: Some(view) }));
        }
        for (name, value) in [
            ("url", json!("https://a.example/")),
            ("method", json!("GET")),
            ("max_age_seconds", json!(5)),
            ("purchase_id", json!("x")),
            ("max_price", json!("1 USD")),
        ] {
            let fault = asked(&json!({"content_sha256": DIGEST, name: value})).unwrap_err();
            assert!(fault.contains(&format!("`{name}` has no place beside it")), "{fault}");
        }
    }

    #[test]
    fn what_is_no_digest_no_pointer_or_no_age_is_told() {
        for (arguments, told) in [
            (json!({"content_sha256": "2cf2"}), "64 lower-case hex digits"),
            (json!({"content_sha256": DIGEST.to_uppercase()}), "64 lower-case hex digits"),
            (json!({"content_sha256": 5}), "must be a string"),
            (json!({"content_sha256": DIGEST, "fields": ["price"]}), "a JSON pointer starts with `/`"),
            (json!({"content_sha256": DIGEST, "fields": "/price"}), "must be a list of at most 32 strings"),
            (json!({"content_sha256": DIGEST, "fields": [1]}), "must be a list of at most 32 strings"),
            (json!({"content_sha256": DIGEST, "fields": vec!["/a"; 33]}), "must be a list of at most 32 strings"),
            (json!({"url": "https://a.example/", "fields": ["/a"]}), "go with `content_sha256` or `max_age_seconds`"),
            (json!({"url": "https://a.example/", "content": "text"}), "go with `content_sha256` or `max_age_seconds`"),
            (json!({"content_sha256": DIGEST, "content": "fields"}), "needs `fields`"),
            (json!({"content_sha256": DIGEST, "content": "text", "fields": ["/a"]}), "goes with `content` `fields`"),
            (json!({"content_sha256": DIGEST, "content": "all"}), "must be `withhold`, `fields`, `text` or `file`"),
            (json!({"content_sha256": DIGEST, "content": "TEXT"}), "must be `withhold`, `fields`, `text` or `file`"),
            (json!({"content_sha256": DIGEST, "content": 1}), "must be a string"),
            (json!({"url": "https://a.example/", "max_age_seconds": 0}), "a whole number from 1 to 31622400"),
            (json!({"url": "https://a.example/", "max_age_seconds": 31_622_401}), "a whole number from 1 to"),
            (json!({"url": "https://a.example/", "max_age_seconds": 1.5}), "a whole number from 1 to"),
            (json!({"url": "https://a.example/", "max_age_seconds": "60"}), "a whole number from 1 to"),
            (json!({"max_age_seconds": 60}), "`url` is missing"),
        ] {
            let fault = asked(&arguments).unwrap_err();
            assert!(fault.contains(told), "{arguments}: {fault}");
        }
    }

    #[test]
    fn an_age_leaves_the_request_as_it_is() {
        let plain = asked(&json!({"url": "https://a.example/x"})).unwrap();
        let Asked::Errand { order: plain, young: None } = plain else { panic!("{plain:?}") };
        for (content, view) in [(json!(null), None), (json!("withhold"), Some(View::Withhold))] {
            let aged =
                asked(&json!({"url": "https://a.example/x", "max_age_seconds": 60, "content": content})).unwrap();
            let Asked::Errand { order: aged, young } = aged else { panic!("{aged:?}") };
            assert_eq!((&aged, young), (&plain, Some(Young { max_age_s: 60, view })));
        }
    }
}
