//! What a 402 is that carries no x402 terms: a bill in plain words, another payment protocol, a page for a browser.
//!
//! None of these is ever paid from here; the answer only learns their name.

use super::header::HeaderView;

/// A 402 that asks for money in another way than x402.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotX402 {
    /// No terms that a program could read.
    Plain,
    /// The Machine Payments Protocol: `WWW-Authenticate: Payment`.
    Mpp,
    /// Lightning: `WWW-Authenticate: L402`, or its old name `LSAT`.
    L402,
    /// A page meant for a browser; a first-generation x402 seller hides its terms behind one.
    Html,
}

impl NotX402 {
    /// Every kind, in the order of the type.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Mpp, Self::L402, Self::Html];

    /// The stable code told with the answer. Never renamed, never reused.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Plain => "not_x402",
            Self::Mpp => "not_x402_mpp",
            Self::L402 => "not_x402_l402",
            Self::Html => "not_x402_html",
        }
    }

    /// The code in one sentence for a person.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Plain => "the seller answered 402 without x402 terms, so there is nothing that can be paid here",
            Self::Mpp => "the seller asks for a payment by the machine payments protocol, which is not x402",
            Self::L402 => "the seller asks for a lightning payment (l402), which is not x402",
            Self::Html => "the seller answered 402 with a page for a browser and without x402 terms",
        }
    }

    /// Names a 402 that carries neither terms nor a challenge of another protocol.
    pub(super) fn name(headers: HeaderView<'_>, body: &[u8]) -> Self {
        let page = headers.all("content-type").any(|value| starts_with(value, b"text/html"));
        if page || body.trim_ascii_start().starts_with(b"<") { Self::Html } else { Self::Plain }
    }

    /// The other payment protocol that the `WWW-Authenticate` headers name, if any (RFC 9110 section 11.6.1).
    pub(super) fn challenge(headers: HeaderView<'_>) -> Option<Self> {
        let named = |wanted: &str| {
            headers
                .all("www-authenticate")
                .any(|value| schemes(value).any(|scheme| scheme.eq_ignore_ascii_case(wanted)))
        };
        if named("payment") {
            Some(Self::Mpp)
        } else if named("l402") || named("lsat") {
            Some(Self::L402)
        } else {
            None
        }
    }
}

/// The first word of every part of a challenge list, schemes among them. Parameters and commas inside quotes yield words
/// that are no scheme anybody asks for here.
fn schemes(value: &[u8]) -> impl Iterator<Item = &str> {
    value.split(|byte| *byte == b',').filter_map(|part| {
        let word = part.trim_ascii().split(|byte| byte.is_ascii_whitespace()).next()?;
        std::str::from_utf8(word).ok()
    })
}

fn starts_with(value: &[u8], prefix: &[u8]) -> bool {
    value.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}
