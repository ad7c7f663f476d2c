//! Tags: words of the operator's for hosts and payees, so that a limit can be over a kind of spending.

use core::fmt;
use core::str::FromStr;

use alloc::string::ToString as _;

use crate::digest::Digest;
use crate::path_prefix::PathPrefix;
use crate::site::Origin;
use crate::text_form::text_form;

/// The longest tag, in bytes.
const BYTES_MAX: usize = 24;

/// A tag: 1 to 24 of `a` to `z`, `0` to `9` and `-`. It means what the operator means by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Filled up with zeros, so that the order is that of the texts.
    bytes: [u8; BYTES_MAX],
}

impl Tag {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let text = self.bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        core::str::from_utf8(text).unwrap_or_default()
    }
}

impl Tag {
    /// The mark of one `[[host]]` entry: what the payments of an entry with limits of its own carry, so that they can be
    /// added up. `host-` and 19 hex digits of a digest of origin and path.
    #[must_use]
    pub fn of_entry(origin: &Origin, path: &PathPrefix) -> Self {
        let digest =
            Digest::of_parts(&[b"bursar host entry 1", origin.to_string().as_bytes(), path.as_str().as_bytes()]);
        let mut bytes = [0; BYTES_MAX];
        let mark = b"host-".iter().copied().chain(digest.to_string().into_bytes());
        bytes.iter_mut().zip(mark).for_each(|(byte, letter)| *byte = letter);
        Self { bytes }
    }
}

/// Why a text is not a [`Tag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tag is 1 to 24 of the letters a to z, digits and `-`")]
pub struct TagFault;

impl FromStr for Tag {
    type Err = TagFault;

    fn from_str(text: &str) -> Result<Self, TagFault> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.is_empty() || !text.bytes().all(plain) {
            return Err(TagFault);
        }
        let mut bytes = [0; BYTES_MAX];
        bytes.get_mut(..text.len()).ok_or(TagFault)?.copy_from_slice(text.as_bytes());
        Ok(Self { bytes })
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(Tag, "a tag such as \"data\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_short_plain_word() {
        for text in ["a", "data", "web-search-2", "abcdefghijklmnopqrstuvwx"] {
            let tag: Tag = text.parse().unwrap();
            assert_eq!(tag.as_str(), text);
        }
        for text in ["", "Data", "a b", "a|b", "a_b", "é", "abcdefghijklmnopqrstuvwxy", "a\0"] {
            assert_eq!(text.parse::<Tag>(), Err(TagFault), "{text}");
        }
        let (short, long): (Tag, Tag) = ("ab".parse().unwrap(), "abc".parse().unwrap());
        assert!(short < long);
    }
}
