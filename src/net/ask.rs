//! What is sent: a method, an optional body, what a caller may choose, the secrets of the operator's rule, and at most a
//! payment header; it cannot name another place to go.

use std::fmt;
use std::sync::Arc;

use bursar_policy::{BodyType, Headers, Method};
use bursar_vault::protocol::ReleasedHeader;
use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use zeroize::Zeroizing;

use super::redact::Redactor;

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
    redactor: Option<Arc<Redactor>>,
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
        Self { method, headers: Vec::new(), body: None, redactor: None }
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
            self = self.add(name.as_str(), value.as_str(), Sensitivity::Open)?;
        }
        Ok(self)
    }

    /// Adds the headers that carry secrets, and has those taken out of whatever comes back. Once for each request; the
    /// bytes are wiped with the last copy of it.
    ///
    /// # Errors
    ///
    /// [`AskFault`] when one is set already or is not header text, which the types of `released` rule out.
    pub fn with_secrets(mut self, released: &[ReleasedHeader]) -> Result<Self, AskFault> {
        for ReleasedHeader { header, secret } in released {
            let name = header.name();
            let scheme = header.scheme().unwrap_or_default();
            let room = scheme.len().saturating_add(secret.expose().len()).saturating_add(1);
            let mut value = Zeroizing::new(String::with_capacity(room));
            if !scheme.is_empty() {
                value.push_str(scheme);
                value.push(' ');
            }
            value.push_str(secret.expose());
            let value = HeaderValue::from_maybe_shared(Bytes::from_owner(value));
            self = self.insert(name, value.map_err(|_| bad_value(name))?, Sensitivity::Secret)?;
        }
        if !released.is_empty() {
            let secrets = released.iter().map(|released| released.secret.expose());
            self.redactor = Some(Arc::new(Redactor::of(secrets)));
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
        self.add(name, value, Sensitivity::Secret)
    }

    /// Adds what a message to the operator's webhook is known by, in the manner of Standard Webhooks: its id, the time of
    /// this try in Unix seconds, and its signature.
    ///
    /// # Errors
    ///
    /// [`AskFault`] when one is set already or is not header text.
    pub fn with_message(self, id: &str, at_s: u64, signature: &str) -> Result<Self, AskFault> {
        self.add("webhook-id", id, Sensitivity::Open)?
            .add("webhook-timestamp", &at_s.to_string(), Sensitivity::Open)?
            .add("webhook-signature", signature, Sensitivity::Secret)
    }

    fn add(self, name: &str, value: &str, sensitivity: Sensitivity) -> Result<Self, AskFault> {
        let value = HeaderValue::from_str(value).map_err(|_| bad_value(name))?;
        self.insert(name, value, sensitivity)
    }

    fn insert(mut self, name: &str, mut value: HeaderValue, sensitivity: Sensitivity) -> Result<Self, AskFault> {
        let key = HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes()).map_err(|_| bad_value(name))?;
        value.set_sensitive(matches!(sensitivity, Sensitivity::Secret));
        if self.headers.iter().any(|(earlier, _)| *earlier == key) {
            return Err(AskFault::Twice { name: name.to_owned() });
        }
        self.headers.push((key, value));
        Ok(self)
    }

    pub(super) const fn method(&self) -> Method {
        self.method
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    pub(super) const fn redactor(&self) -> Option<&Arc<Redactor>> {
        self.redactor.as_ref()
    }

    pub(super) const fn body(&self) -> Option<&(BodyType, Bytes)> {
        self.body.as_ref()
    }
}

/// Whether a header may be shown and indexed (RFC 7541 section 7.1.3).
#[derive(Clone, Copy)]
enum Sensitivity {
    Open,
    Secret,
}

fn bad_value(name: &str) -> AskFault {
    AskFault::BadValue { name: name.to_owned() }
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
