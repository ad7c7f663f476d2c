//! A SHA-256 digest: how bodies and errands are told apart. It must never be used as a MAC.

use core::fmt;
use core::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::text_form::text_form;

/// A SHA-256 digest (FIPS 180-4). Its text is 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of `parts` in order. Each part is preceded by its length, so no two different
    /// lists have the same digest for want of a separator.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            hasher.update(length.to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// A digest whose 32 bytes are known already, as when they come back from storage.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 lower-case hex digits.
    ///
    /// # Errors
    ///
    /// [`DigestFault`] for anything else.
    pub fn parse(text: &str) -> Result<Self, DigestFault> {
        let mut bytes = [0; 32];
        let lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        match hex::decode_to_slice(text, &mut bytes) {
            Ok(()) if lower => Ok(Self(bytes)),
            _ => Err(DigestFault),
        }
    }
}

/// Why a text is not a [`Digest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is written with 64 lower-case hex digits")]
pub struct DigestFault;

impl FromStr for Digest {
    type Err = DigestFault;

    fn from_str(text: &str) -> Result<Self, DigestFault> {
        Self::parse(text)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(Digest, "a digest of 64 lower-case hex digits");

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn the_empty_text_has_its_published_digest() {
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), text);
        assert_eq!(Digest::parse(text), Ok(Digest::of(b"")));
        assert_eq!(Digest::parse(&text.to_uppercase()), Err(DigestFault));
        assert_eq!(Digest::parse(&text[1..]), Err(DigestFault));
        assert_eq!(Digest::parse(""), Err(DigestFault));
    }

    #[test]
    fn parts_are_told_apart() {
        assert_ne!(Digest::of_parts(&[b"ab", b"c"]), Digest::of_parts(&[b"a", b"bc"]));
        assert_ne!(Digest::of_parts(&[b"a"]), Digest::of_parts(&[b"a", b""]));
    }
}
