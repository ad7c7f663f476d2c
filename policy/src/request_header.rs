//! The request headers that a caller may choose: a closed list of harmless names. It must never hold one that steers a
//! connection, names somebody, or pays.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::text_form::text_form;

/// The most bytes of one value.
const VALUE_BYTES_MAX: usize = 256;

/// A header that a caller may choose where the host's rule lists it; in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeaderName {
    /// `accept` (RFC 9110 section 12.5.1)
    Accept,
    /// `accept-language` (RFC 9110 section 12.5.4)
    AcceptLanguage,
    /// `content-language` (RFC 9110 section 8.5)
    ContentLanguage,
    /// `idempotency-key`, as many interfaces of sellers know it
    IdempotencyKey,
    /// `prefer` (RFC 7240)
    Prefer,
    /// `x-request-id`, as many interfaces of sellers know it
    XRequestId,
}

impl HeaderName {
    /// Every one of them.
    pub const EVERY: [Self; 6] = [
        Self::Accept,
        Self::AcceptLanguage,
        Self::ContentLanguage,
        Self::IdempotencyKey,
        Self::Prefer,
        Self::XRequestId,
    ];

    /// The name in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::AcceptLanguage => "accept-language",
            Self::ContentLanguage => "content-language",
            Self::IdempotencyKey => "idempotency-key",
            Self::Prefer => "prefer",
            Self::XRequestId => "x-request-id",
        }
    }
}

/// Why a text is no [`HeaderName`] or [`HeaderText`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// Not one of the names.
    #[error(
        "a header that a caller may set is one of accept, accept-language, content-language, idempotency-key, prefer and x-request-id"
    )]
    Name,
    /// Not a value.
    #[error("a header's value is 1 to 256 visible ASCII characters, with single spaces between them")]
    Value,
}

impl FromStr for HeaderName {
    type Err = HeaderFault;

    /// In any case, as HTTP compares names.
    fn from_str(text: &str) -> Result<Self, HeaderFault> {
        Self::EVERY.into_iter().find(|name| name.as_str().eq_ignore_ascii_case(text)).ok_or(HeaderFault::Name)
    }
}

impl fmt::Display for HeaderName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

text_form!(HeaderName, "a header that a caller may set, such as \"accept\"");

/// The value of such a header: 1 to 256 visible ASCII characters, with single spaces between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeaderText(String);

impl HeaderText {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HeaderText {
    type Err = HeaderFault;

    fn from_str(text: &str) -> Result<Self, HeaderFault> {
        let visible = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
        let fits = text.len() <= VALUE_BYTES_MAX && text.split(' ').all(visible);
        if fits { Ok(Self(text.to_owned())) } else { Err(HeaderFault::Value) }
    }
}

impl fmt::Display for HeaderText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

text_form!(HeaderText, "the value of a header");

/// The headers that a caller chose, each once, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Headers(BTreeMap<HeaderName, HeaderText>);

impl Headers {
    /// None.
    #[must_use]
    pub const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one; `false` when it was there already, and nothing changes.
    #[must_use]
    pub fn add(&mut self, name: HeaderName, value: HeaderText) -> bool {
        let is_new = !self.0.contains_key(&name);
        if is_new {
            self.0.insert(name, value);
        }
        is_new
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = (HeaderName, &HeaderText)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn no_name_steers_a_connection_names_somebody_or_pays() {
        for name in [
            "host",
            "authorization",
            "cookie",
            "content-length",
            "content-type",
            "content-encoding",
            "accept-encoding",
            "transfer-encoding",
            "connection",
            "keep-alive",
            "te",
            "trailer",
            "upgrade",
            "expect",
            "proxy-authorization",
            "proxy-connection",
            "forwarded",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-real-ip",
            "origin",
            "referer",
            "range",
            "if-none-match",
            "user-agent",
            "x-http-method-override",
            "payment-signature",
            "payment-required",
            "x-payment",
            "x-api-key",
            ":authority",
            "accept ",
            "accept:",
            "",
        ] {
            assert_eq!(name.parse::<HeaderName>(), Err(HeaderFault::Name), "{name}");
        }
        for name in HeaderName::EVERY {
            assert_eq!(name.to_string().to_ascii_uppercase().parse(), Ok(name));
            assert!(HeaderFault::Name.to_string().contains(name.as_str()), "{name} is not told");
        }
    }

    #[test]
    fn a_value_is_short_visible_ascii() {
        for text in ["a", "text/html, application/json;q=0.9", "de-CH, en", "~!"] {
            let value: HeaderText = text.parse().unwrap();
            assert_eq!((value.as_str(), value.to_string().as_str()), (text, text));
        }
        let long = "x".repeat(257);
        for text in ["", " a", "a ", "a  b", "a\r\nhost: evil.test", "a\tb", "a\u{0}", "\u{e9}", "a\u{7f}", &long] {
            assert_eq!(text.parse::<HeaderText>(), Err(HeaderFault::Value), "{text:?}");
        }
        assert!("x".repeat(256).parse::<HeaderText>().is_ok());
    }

    #[test]
    fn a_header_is_there_once() {
        let mut headers = Headers::none();
        assert!(headers.is_empty());
        assert!(headers.add(HeaderName::Prefer, "a".parse().unwrap()));
        assert!(!headers.is_empty());
        assert!(!headers.add(HeaderName::Prefer, "b".parse().unwrap()));
        assert!(headers.add(HeaderName::Accept, "c".parse().unwrap()));
        let all: std::vec::Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(all, [("accept", "c"), ("prefer", "a")]);
    }
}
