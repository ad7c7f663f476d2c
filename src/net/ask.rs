//! What is sent: a method, an optional body, what a caller may choose, and at most a payment header; it cannot name another place to go.

use std::fmt;

use bursar_policy::{BodyType, Headers, Method};
use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};

/// The header names that pay (x402 v2 `PAYMENT-SIGNATURE`, x402 v1 `X-PAYMENT`). Everything that steers
/// a connection or claims an identity (`Host`, `Cookie`, `Authorization`, `Content-Length` …) is absent on purpose.
const ALLOWED: [&str; 2] = ["payment-signature", "x-payment"];

/// One request, without its URL: that comes from the [`Pin`](super::Pin), so both legs ask for the same thing.
///
/// Its `Debug` form shows header names and sizes, never values or the body.
#[derive(Clone)]
pub struct Ask {
    method: Method,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Option<(BodyType, Bytes)>,
}

/// Why a header or body cannot be part of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskFault {
    /// The name is not one that a caller may set.
    #[error("the header `{name}` may not be set; leave it out")]
    NotAllowed {
        /// The name as given.
        name: String,
    },
    /// The header was set before.
    #[error("the header `{name}` was set twice; set it once")]
    Twice {
        /// The name as given.
        name: String,
    },
    /// The value has bytes that no header can carry.
    #[error("the value of the header `{name}` has bytes that a header cannot carry; encode it first")]
    BadValue {
        /// The name as given.
        name: String,
    },
    /// Only a POST has a body.
    #[error("only a POST request may have a body; use POST or leave the body out")]
    BodyNotAllowed,
}

impl Ask {
    /// A request with no body and no extra header.
    #[must_use]
    pub const fn new(method: Method) -> Self {
        Self { method, headers: Vec::new(), body: None }
    }

    /// Adds the body. Its bytes are sent as they are, on every leg that sends this request.
    ///
    /// # Errors
    ///
    /// [`AskFault::BodyNotAllowed`] unless the method is POST.
    pub fn with_body(self, kind: BodyType, bytes: Vec<u8>) -> Result<Self, AskFault> {
        match self.method {
            Method::Post => Ok(Self { body: Some((kind, Bytes::from(bytes))), ..self }),
            Method::Get | Method::Head => Err(AskFault::BodyNotAllowed),
        }
    }

    /// Adds the headers that the caller chose.
    ///
    /// # Errors
    ///
    /// [`AskFault`] when one is set already or is not header text, which the types of `chosen` rule out.
    pub fn with_chosen(mut self, chosen: &Headers) -> Result<Self, AskFault> {
        for (name, value) in chosen.iter() {
            self = self.add(name.as_str(), value.as_str(), false)?;
        }
        Ok(self)
    }

    /// Adds a payment header.
    ///
    /// # Errors
    ///
    /// [`AskFault`] when the name is not one of the payment headers, was set before, or the value is not header text.
    pub fn with_header(self, name: &str, value: &str) -> Result<Self, AskFault> {
        let lower = name.to_ascii_lowercase();
        if !ALLOWED.contains(&lower.as_str()) {
            return Err(AskFault::NotAllowed { name: name.to_owned() });
        }
        self.add(name, value, true)
    }

    fn add(mut self, name: &str, value: &str, is_secret: bool) -> Result<Self, AskFault> {
        let bad = || AskFault::BadValue { name: name.to_owned() };
        let key = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes()).map_err(|_| bad())?;
        let mut text = HeaderValue::from_str(value).map_err(|_| bad())?;
        text.set_sensitive(is_secret);
        if self.headers.iter().any(|(earlier, _)| *earlier == key) {
            return Err(AskFault::Twice { name: name.to_owned() });
        }
        self.headers.push((key, text));
        Ok(self)
    }

    pub(super) const fn method(&self) -> Method {
        self.method
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    pub(super) const fn body(&self) -> Option<&(BodyType, Bytes)> {
        self.body.as_ref()
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("method", &self.method)
            .field("headers", &self.headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
            .field("body_bytes", &self.body.as_ref().map(|(_, bytes)| bytes.len()))
            .finish()
    }
}
