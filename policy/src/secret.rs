//! The names of secrets that an operator keeps for sellers and proxies, and which header carries one. It must never
//! hold a secret.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::request_header::HeaderName;
use crate::text_form::text_form;

/// The longest name of a secret, and of a header or scheme that carries one, in bytes.
const NAME_BYTES_MAX: usize = 32;
const HEADER_BYTES_MAX: usize = 64;

/// Why a text is not one of the types here. It never repeats the text, which may hold a secret by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretFault {
    /// Not a [`SecretName`].
    #[error("a secret's name is 1 to 32 of the letters a to z, digits and `-`")]
    Name,
    /// Not a [`SecretHeader`].
    #[error(
        "a secret header is a name in lower case and a secret's name in braces, such as `x-api-key: {{shop-key}}` or \
         `authorization: Bearer {{shop-token}}`"
    )]
    Form,
    /// A header that must not carry a secret.
    #[error("that header steers the connection, describes the content, pays, or is the model's; name another one")]
    Header,
}

/// What an operator calls a secret: 1 to 32 of `a` to `z`, `0` to `9` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

impl SecretName {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretName {
    type Err = SecretFault;

    fn from_str(text: &str) -> Result<Self, SecretFault> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(plain);
        if fits { Ok(Self(text.to_owned())) } else { Err(SecretFault::Name) }
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

text_form!(SecretName, "a secret's name such as \"shop-key\"");

/// A request header that carries a secret: `NAME: {SECRET}`, or `NAME: SCHEME {SECRET}` with an authentication scheme
/// (RFC 9110 section 11.1) in front.
///
/// The name is a token (RFC 9110 section 5.6.2) in lower case, and none that steers a connection, describes a body,
/// pays, names somebody, or may be chosen by a caller: what a rule sets and what a model may set are disjoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretHeader {
    name: String,
    scheme: Option<String>,
    secret: SecretName,
}

impl SecretHeader {
    /// The header's name, in lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The word in front of the secret.
    #[must_use]
    pub fn scheme(&self) -> Option<&str> {
        self.scheme.as_deref()
    }

    /// Which secret.
    #[must_use]
    pub const fn secret(&self) -> &SecretName {
        &self.secret
    }
}

impl FromStr for SecretHeader {
    type Err = SecretFault;

    fn from_str(text: &str) -> Result<Self, SecretFault> {
        let (name, value) = text.split_once(": ").ok_or(SecretFault::Form)?;
        let (scheme, braced) = match value.split_once(' ') {
            Some((scheme, braced)) => (Some(scheme), braced),
            None => (None, value),
        };
        let secret = braced.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or(SecretFault::Form)?;
        let is_scheme = |scheme: &str| {
            (1..=NAME_BYTES_MAX).contains(&scheme.len()) && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if !is_header_name(name) || !scheme.is_none_or(is_scheme) {
            return Err(SecretFault::Form);
        }
        if is_reserved(name) {
            return Err(SecretFault::Header);
        }
        Ok(Self { name: name.to_owned(), scheme: scheme.map(ToOwned::to_owned), secret: secret.parse()? })
    }
}

impl fmt::Display for SecretHeader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.name)?;
        if let Some(scheme) = &self.scheme {
            write!(out, "{scheme} ")?;
        }
        write!(out, "{{{}}}", self.secret)
    }
}

text_form!(SecretHeader, "a header with a secret's name such as \"x-api-key: {shop-key}\"");

fn is_header_name(name: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    (1..=HEADER_BYTES_MAX).contains(&name.len()) && name.bytes().all(token)
}

/// Whole names, and beginnings of names, that carry no secret: what steers the connection (RFC 9110 section 7.6.1, RFC
/// 9113 section 8.2.2), describes the message or its sender, makes it conditional, pays, or keeps a state of the
/// seller's own (a cookie).
const RESERVED: [&str; 18] = [
    "connection",
    "cookie",
    "cookie2",
    "date",
    "expect",
    "from",
    "host",
    "keep-alive",
    "max-forwards",
    "origin",
    "range",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
];
const RESERVED_BEGINNINGS: [&str; 10] = [
    "accept",
    "content-",
    "forwarded",
    "if-",
    "payment",
    "proxy-",
    "sec-",
    "x-forwarded-",
    "x-http-method",
    "x-payment",
];

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
        || RESERVED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name.parse::<HeaderName>().is_ok()
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_secret_header_is_a_name_a_scheme_perhaps_and_a_secret_in_braces() {
        for (text, name, scheme) in [
            ("x-api-key: {shop-key}", "x-api-key", None),
            ("authorization: Bearer {shop-key}", "authorization", Some("Bearer")),
            ("x_token: {shop-key}", "x_token", None),
        ] {
            let header: SecretHeader = text.parse().unwrap();
            assert_eq!((header.name(), header.scheme(), header.secret().as_str()), (name, scheme, "shop-key"));
            assert_eq!(header.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_form_is_refused_and_never_repeated() {
        for text in [
            "",
            "x-api-key",
            "x-api-key:{a}",
            "x-api-key: a",
            "x-api-key: sk-live-0123456789",
            "X-Api-Key: {a}",
            "x api: {a}",
            ": {a}",
            "x-api-key: {a} ",
            "x-api-key:  {a}",
            "x-api-key: Bearer  {a}",
            "x-api-key: a: {a}",
            "x-api-key: Bearer {a}\r\nhost: evil.test",
            "x-api-key\r\nhost: {a}",
        ] {
            assert_eq!(text.parse::<SecretHeader>(), Err(SecretFault::Form), "{text:?}");
        }
        for text in ["x-api-key: {}", "x-api-key: {A}", "x-api-key: {a_b}", "x-api-key: {{a}}"] {
            assert_eq!(text.parse::<SecretHeader>(), Err(SecretFault::Name), "{text:?}");
        }
        assert_eq!("a".repeat(33).parse::<SecretName>(), Err(SecretFault::Name));
    }

    #[test]
    fn no_header_that_steers_describes_pays_or_is_the_models_carries_a_secret() {
        for name in RESERVED {
            assert_eq!(format!("{name}: {{a}}").parse::<SecretHeader>(), Err(SecretFault::Header), "{name}");
        }
        for name in [
            "accept-encoding",
            "content-length",
            "content-type",
            "forwarded",
            "if-none-match",
            "payment-signature",
            "payment-required",
            "proxy-authorization",
            "proxy-connection",
            "sec-fetch-site",
            "x-forwarded-for",
            "x-http-method-override",
            "x-payment",
        ] {
            assert_eq!(format!("{name}: {{a}}").parse::<SecretHeader>(), Err(SecretFault::Header), "{name}");
        }
        for name in HeaderName::EVERY {
            assert_eq!(format!("{name}: {{a}}").parse::<SecretHeader>(), Err(SecretFault::Header), "{name}");
        }
    }
}
