//! JSON pointers (RFC 6901): which value of a document is meant. It must never look into a document.

use core::fmt;
use core::str::FromStr;

use alloc::string::{String, ToString as _};

use crate::text_form::text_form;

/// The longest pointer, in bytes.
const BYTES_MAX: usize = 256;

/// A pointer in its text form: empty for the whole document, else `/` and a token for each level, with `~0` for `~`
/// and `~1` for `/`. At most 256 bytes, no control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its tokens from the outside in, each with `~1` and `~0` read back.
    pub fn tokens(&self) -> impl Iterator<Item = String> {
        // The order is RFC 6901 section 4's: `~01` means `~1`, never `/`.
        self.0.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
    }

    /// The place in an array that `token` names: `0`, or digits without a leading zero (RFC 6901 section 4).
    #[must_use]
    pub fn index(token: &str) -> Option<usize> {
        let number: usize = token.parse().ok()?;
        (number.to_string() == token).then_some(number)
    }
}

/// Why a text is not a [`Pointer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a JSON pointer starts with `/`, as in `/items/0/price`, has `~0` for `~` and at most 256 bytes")]
pub struct PointerFault;

impl FromStr for Pointer {
    type Err = PointerFault;

    fn from_str(text: &str) -> Result<Self, PointerFault> {
        let begins = text.is_empty() || text.starts_with('/');
        let escaped = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        if !begins || !escaped || BYTES_MAX < text.len() || text.chars().any(char::is_control) {
            return Err(PointerFault);
        }
        Ok(Self(text.to_string()))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, out)
    }
}

text_form!(Pointer, "a JSON pointer such as \"/items/0/price\"");

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_examples_of_the_rfc_are_read_as_it_says() {
        for (text, tokens) in [
            ("", &[][..]),
            ("/foo", &["foo"]),
            ("/foo/0", &["foo", "0"]),
            ("/", &[""]),
            ("/a~1b", &["a/b"]),
            ("/c%d", &["c%d"]),
            ("/i\\j", &["i\\j"]),
            ("/ ", &[" "]),
            ("/m~0n", &["m~n"]),
            ("/~01", &["~1"]),
        ] {
            let pointer: Pointer = text.parse().unwrap();
            assert_eq!(pointer.tokens().collect::<Vec<_>>(), tokens, "{text}");
            assert_eq!(pointer.to_string(), text);
            assert_eq!((pointer.as_str(), alloc::format!("{pointer:?}")), (text, alloc::format!("{text:?}")));
        }
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        let long = alloc::format!("/{}", "a".repeat(256));
        for text in ["price", "#/price", "/a~", "/a~2", "/a\nb", "/a\u{7f}", "$.price", &long] {
            assert_eq!(text.parse::<Pointer>(), Err(PointerFault), "{text}");
        }
        assert!(long[..256].parse::<Pointer>().is_ok());
    }

    #[test]
    fn only_a_number_in_its_one_form_is_a_place_in_an_array() {
        assert_eq!(Pointer::index("0"), Some(0));
        assert_eq!(Pointer::index("10"), Some(10));
        for token in ["", "-", "-1", "+1", "01", "1.0", "1e0", " 1", "99999999999999999999"] {
            assert_eq!(Pointer::index(token), None, "{token}");
        }
    }
}
