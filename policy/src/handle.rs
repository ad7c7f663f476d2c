//! The handle of a payment that a browser makes, and how the browser comes to ask. It must never say what it pays for.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::digest::Digest;
use crate::text_form::text_form;

/// The random part of a [`Handle`], in bytes.
const RANDOM_BYTES: usize = 24;

/// The same in hex digits.
const DIGITS: usize = 48;

/// Stands for money that is set aside for one page: `h_` and 48 lower-case hex digits, drawn at random.
///
/// It is good once, for a short while, and only on the socket of the browser's glue, which a model does not reach. A
/// model holds it all the same, so `Debug` hides it: no log of ours is where somebody else finds it.
#[derive(Clone, PartialEq, Eq)]
pub struct Handle(String);

/// Why a text is not a [`Handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a handle is `h_` and 48 lower-case hex digits, as prepare_browser_payment gave it")]
pub struct HandleFault;

impl Handle {
    /// A handle from 24 bytes, which the caller must have drawn at random.
    #[must_use]
    pub fn from_random(bytes: [u8; RANDOM_BYTES]) -> Self {
        Self(format!("h_{}", hex::encode(bytes)))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is kept of it: its digest, from which nobody makes a handle.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_parts(&[b"bursar handle 1", self.0.as_bytes()])
    }
}

impl FromStr for Handle {
    type Err = HandleFault;

    fn from_str(text: &str) -> Result<Self, HandleFault> {
        let digits = text.strip_prefix("h_").unwrap_or_default();
        let fits = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if fits && digits.len() == DIGITS { Ok(Self(text.into())) } else { Err(HandleFault) }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Handle(withheld)")
    }
}

text_form!(Handle, "a handle");

/// How the browser comes to ask for the page that is paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageOpening {
    /// The glue opens the page itself and waits for its answer.
    #[default]
    Navigate,
    /// The glue waits for the browser to ask: somebody clicks, or a page fetches.
    Wait,
}

impl PageOpening {
    /// Both of them.
    pub const EVERY: [Self; 2] = [Self::Navigate, Self::Wait];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Navigate => "navigate",
            Self::Wait => "wait",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_handle_has_one_text_form_and_debug_hides_it() {
        let handle = Handle::from_random([0xab; RANDOM_BYTES]);
        let text = handle.to_string();
        assert_eq!(text, format!("h_{}", "ab".repeat(24)));
        assert_eq!(text.parse(), Ok(handle.clone()));
        assert_eq!(format!("{handle:?}"), "Handle(withheld)");
        let short = text.strip_suffix('b').unwrap();
        for wrong in ["", "h_", short, &format!("{text}a"), &text.to_uppercase(), &text.replace("h_", "p_"), &text[2..]]
        {
            assert_eq!(wrong.parse::<Handle>(), Err(HandleFault), "{wrong}");
        }
        assert_eq!(PageOpening::EVERY.map(PageOpening::as_str), ["navigate", "wait"]);
        assert_ne!(handle.digest(), Handle::from_random([0xac; RANDOM_BYTES]).digest());
        assert!(!handle.digest().to_string().contains("abab"));
    }
}
