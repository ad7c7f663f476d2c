//! One thing that somebody wants from a site, and what makes it the same thing again. It must
//! never contain what a seller said.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::digest::Digest;
use crate::money::Money;
use crate::quoted::Quoted;
use crate::request_header::Headers;
use crate::site::Site;
use crate::terms::Terms;
use crate::text_form::text_form;

/// The method of a request (RFC 9110). Read in exact upper case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
}

impl Method {
    /// Every method that bursar sends.
    pub const EVERY: [Self; 3] = [Self::Get, Self::Head, Self::Post];

    /// The method as HTTP writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
        }
    }
}

/// Why a text is not a [`Method`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a method is one of `GET`, `HEAD` and `POST`, in capitals")]
pub struct MethodFault;

impl FromStr for Method {
    type Err = MethodFault;

    fn from_str(text: &str) -> Result<Self, MethodFault> {
        Self::EVERY.into_iter().find(|method| method.as_str() == text).ok_or(MethodFault)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// What a request body is: a closed list, so that no caller chooses a header value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyType {
    /// `application/json`
    Json,
    /// `application/x-www-form-urlencoded`
    Form,
    /// `text/plain; charset=utf-8`
    Text,
    /// `application/octet-stream`
    Octet,
}

impl BodyType {
    /// The value of the `Content-Type` header.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "application/x-www-form-urlencoded",
            Self::Text => "text/plain; charset=utf-8",
            Self::Octet => "application/octet-stream",
        }
    }
}

/// What is known of a request body without having it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// The digest of its bytes.
    pub digest: Digest,
    /// Its length in bytes.
    pub bytes: u32,
    /// What it is.
    pub kind: BodyType,
}

/// One request that may cost money.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errand {
    /// Where.
    pub site: Site,
    /// How.
    pub method: Method,
    /// What is sent along.
    pub body: Option<Body>,
    /// What the caller chose of how it is asked for.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    /// The most that the caller itself wants to pay.
    pub ceiling: Option<Money>,
    /// The caller's name for this purchase; a new one means that a second purchase is meant.
    pub purchase_id: Option<PurchaseId>,
    /// A quote whose terms the caller wants to pay, and no others.
    pub quote: Option<QuoteId>,
    /// What the caller finds suspicious about it: then a person has to look before anything is paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspicious: Option<Quoted>,
}

impl Errand {
    /// One request without a body, headers, a ceiling of its own, a name, a quote or a doubt.
    #[must_use]
    pub const fn new(site: Site, method: Method) -> Self {
        Self {
            site,
            method,
            body: None,
            headers: Headers::none(),
            ceiling: None,
            purchase_id: None,
            quote: None,
            suspicious: None,
        }
    }

    /// The identity of the purchase: session, method, URL, body, headers and purchase id. Never the
    /// ceiling, the quote, the doubt or the terms: a seller chooses terms, and a retry must find its first.
    #[must_use]
    pub fn identity(&self, session: &SessionId) -> Digest {
        // INVARIANT: a purchase id is never empty, so an empty text is "none".
        let id = self.purchase_id.as_ref().map_or("", PurchaseId::as_str);
        Digest::of_parts(&[
            b"bursar purchase identity 1",
            session.as_str().as_bytes(),
            self.subject().as_bytes(),
            id.as_bytes(),
        ])
    }

    /// What a purchase id is bound to: method, URL, body and headers.
    #[must_use]
    pub fn subject(&self) -> Digest {
        let body = self.body.map(|body| format!("{} {}", body.kind.as_str(), body.digest));
        let url = self.site.url();
        let headers: Vec<String> = self.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let request: [&[u8]; 4] = [
            b"bursar purchase subject 1",
            self.method.as_str().as_bytes(),
            url.as_bytes(),
            body.as_deref().unwrap_or("no body").as_bytes(),
        ];
        let parts: Vec<&[u8]> = request.into_iter().chain(headers.iter().map(String::as_bytes)).collect();
        Digest::of_parts(&parts)
    }

    /// What a person's word about this purchase is bound to: session, method, URL, body, headers and every term, without any
    /// tolerance. The offer's place in the seller's list is no part of it, for nothing of it is signed or paid; nor is
    /// what the caller calls, doubts or caps.
    #[must_use]
    pub fn binding(&self, session: &SessionId, terms: &Terms) -> Digest {
        // Taken apart, so that a new term cannot be forgotten here.
        let Terms { version, offer: _, chain, asset, payee, amount, max_timeout_s, domain_name, domain_version } =
            terms;
        Digest::of_parts(&[
            b"bursar purchase binding 1",
            session.as_str().as_bytes(),
            self.subject().as_bytes(),
            &version.number().to_be_bytes(),
            format!("{chain}").as_bytes(),
            asset.as_bytes(),
            payee.as_bytes(),
            &amount.units().to_be_bytes(),
            &max_timeout_s.to_be_bytes(),
            domain_name.as_bytes(),
            domain_version.as_bytes(),
        ])
    }
}

/// Why a text is not one of the names in this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// Not a [`PurchaseId`].
    #[error("a purchase id has 1 to 64 of the characters A-Z a-z 0-9 _ . : -")]
    PurchaseId,
    /// Not a [`SessionName`].
    #[error("a session name has 1 to 32 of the characters a-z 0-9 -")]
    SessionName,
    /// Not a [`SessionId`], [`PaymentId`], [`QuoteId`], [`ApprovalId`] or [`SweepId`].
    #[error("an id is its letter, an underscore and 32 lower-case hex digits")]
    Id,
}

/// A caller's own name for a purchase: 1 to 64 of `A-Z a-z 0-9 _ . : -`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PurchaseId(String);

/// The name that an operator gives a session: 1 to 32 of `a-z 0-9 -`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionName(String);

impl Default for SessionName {
    /// `default`: the session of a caller that names none.
    fn default() -> Self {
        Self("default".to_owned())
    }
}

/// A session: a budget that a person opened. `s_` and 32 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

/// A payment: one row of the ledger. `p_` and 32 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaymentId(String);

/// A quote: terms that were shown and not paid. `q_` and 32 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuoteId(String);

/// A purchase that waits for a person, or did. `a_` and 32 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalId(String);

/// Money that the operator has moved out of an account. `w_` and 32 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SweepId(String);

/// A checked text: `FromStr`, `Display`, `as_str` and the serde text form.
macro_rules! name {
    ($name:ident, $fault:ident, $expected:literal, $fits:expr) => {
        impl $name {
            /// Its text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameFault;

            fn from_str(text: &str) -> Result<Self, NameFault> {
                let fits: fn(&str) -> bool = $fits;
                if fits(text) { Ok(Self(text.to_owned())) } else { Err(NameFault::$fault) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        text_form!($name, $expected);
    };
}

/// A [`name!`] of a letter and 16 random bytes in hex.
macro_rules! random_id {
    ($name:ident, $letter:literal, $expected:literal) => {
        name!($name, Id, $expected, |text| is_id($letter, text));

        impl $name {
            /// An id from 16 bytes, which the caller must have drawn at random.
            #[must_use]
            pub fn from_random(bytes: [u8; 16]) -> Self {
                Self(format!("{}{}", $letter, hex::encode(bytes)))
            }
        }
    };
}

name!(PurchaseId, PurchaseId, "a purchase id", |text| {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(fits)
});
name!(SessionName, SessionName, "a session name", |text| {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=32).contains(&text.len()) && text.bytes().all(fits)
});
random_id!(SessionId, "s_", "a session id");
random_id!(PaymentId, "p_", "a payment id");
random_id!(QuoteId, "q_", "a quote id");
random_id!(ApprovalId, "a_", "an approval id");
random_id!(SweepId, "w_", "a sweep id");

fn is_id(letter: &str, text: &str) -> bool {
    let digits = text.strip_prefix(letter).unwrap_or_default();
    digits.len() == 32 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests;
