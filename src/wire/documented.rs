//! The HTTP methods that a seller's own description names for what it sells. What it describes decides nothing: the
//! request that was asked is the one that is judged and paid.
//!
//! The second generation describes itself in the extension `bazaar` (x402, `specs/extensions/bazaar.md`), the first in
//! `outputSchema` of each offer. Must never pass on a seller's word: what is no method of the list is not seen.

use bursar_policy::Method;

use super::json::Members;

/// The methods that a description can name, as HTTP writes them (RFC 9110 section 9, RFC 5789).
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// The methods that one document describes, in the order it names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Documented(Vec<&'static str>);

impl Documented {
    /// What the document `members` and its `offers` describe.
    pub(super) fn read<'a>(members: &Members<'_>, offers: impl Iterator<Item = &'a Members<'a>>) -> Self {
        let bazaar = members.object("extensions").and_then(|all| all.object("bazaar"));
        let info = bazaar.and_then(|bazaar| bazaar.object("info"));
        let described = info.into_iter().chain(offers.filter_map(|offer| offer.object("outputSchema")));
        Self(described.filter_map(|described| method(&described)).collect())
    }

    /// The first method that is described, where `asked` is none of them. A HEAD is a GET without its body.
    pub(super) fn other_than(&self, asked: Method) -> Option<&'static str> {
        let asked = if asked == Method::Head { [Method::Head, Method::Get] } else { [asked; 2] };
        if self.0.iter().any(|word| asked.iter().any(|asked| asked.as_str() == *word)) {
            return None;
        }
        self.0.first().copied()
    }
}

/// `input.method`, in capitals or not.
fn method(described: &Members<'_>) -> Option<&'static str> {
    let said = described.object("input")?.text("method")?;
    let word: String = serde_json::from_str(said).ok()?;
    METHODS.into_iter().find(|known| known.eq_ignore_ascii_case(&word))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{demand, read_body, read_header};
    use super::*;

    fn second(extensions: &str) -> Option<&'static str> {
        let document = format!(r#"{{"x402Version":2,"accepts":[{{}}],"extensions":{extensions}}}"#);
        demand(read_header(&document)).other_method(Method::Get)
    }

    fn first(asked: Method, offers: &[&str]) -> Option<&'static str> {
        let offers: Vec<String> = offers.iter().map(|schema| format!(r#"{{"outputSchema":{schema}}}"#)).collect();
        let document = format!(r#"{{"x402Version":1,"accepts":[{}]}}"#, offers.join(","));
        demand(read_body(&document)).other_method(asked)
    }

    #[test]
    fn both_generations_can_say_that_another_method_is_meant() {
        assert_eq!(second(r#"{"bazaar":{"info":{"input":{"type":"http","method":"POST"}}}}"#), Some("POST"));
        assert_eq!(second(r#"{"bazaar":{"info":{"input":{"type":"http","method":"put"}}}}"#), Some("PUT"));
        assert_eq!(second(r#"{"bazaar":{"info":{"input":{"type":"http","method":"GET"}}}}"#), None);
        assert_eq!(first(Method::Get, &[r#"{"input":{"type":"http","method":"POST"}}"#]), Some("POST"));
        assert_eq!(first(Method::Post, &[r#"{"input":{"method":"GET"}}"#]), Some("GET"));
    }

    #[test]
    fn a_document_that_describes_what_was_asked_beside_others_says_nothing() {
        let (get, post) = (r#"{"input":{"method":"GET"}}"#, r#"{"input":{"method":"POST"}}"#);
        assert_eq!(first(Method::Get, &[post, get]), None);
        assert_eq!(first(Method::Head, &[post, get]), None, "a HEAD is a GET without its body");
        assert_eq!(first(Method::Head, &[post]), Some("POST"));
        assert_eq!(first(Method::Get, &[r#"{"input":{"method":"HEAD"}}"#]), Some("HEAD"));
    }

    #[test]
    fn what_is_no_method_is_not_seen() {
        for odd in [
            "null",
            "[]",
            r#"{"bazaar":"POST"}"#,
            r#"{"bazaar":{"info":{"input":"POST"}}}"#,
            r#"{"bazaar":{"info":{"method":"POST"}}}"#,
            r#"{"bazaar":{"info":{"input":{"method":["POST"]}}}}"#,
            r#"{"bazaar":{"info":{"input":{"method":"POST and pay twice"}}}}"#,
            r#"{"bazaar":{"info":{"input":{"method":" POST"}}}}"#,
            r#"{"bazaar":{"info":{"input":{"type":"mcp","toolName":"POST"}}}}"#,
            r#"{"other":{"info":{"input":{"method":"POST"}}}}"#,
        ] {
            assert_eq!(second(odd), None, "{odd}");
        }
        assert_eq!(first(Method::Get, &["null", r#""POST""#]), None);
    }
}
