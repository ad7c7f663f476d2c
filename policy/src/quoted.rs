//! A foreign text made safe to show. It must never let a control, bidirectional, invisible or
//! non-ASCII character through.

use alloc::string::String;
use core::fmt::{self, Write as _};
use core::str::FromStr;

use crate::text_form::text_form;

/// The most characters that are shown of a foreign text.
const SHOWN_MAX: usize = 80;
/// What stands for the rest of a text that is longer.
const REST: &str = "...";

/// At most 80 printable ASCII characters that stand for a foreign text.
///
/// Everything else is written as `\u{…}`; a backtick too, so that the quotes around it hold. Made
/// for operators and logs: it keeps a text recognisable, not reversible. Quoting twice changes
/// nothing, so a quoted text survives the way over a socket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quoted(String);

impl Quoted {
    /// Quotes `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut shown = String::new();
        for letter in text.chars() {
            let before = shown.len();
            if letter == ' ' || (letter.is_ascii_graphic() && letter != '`') {
                shown.push(letter);
            } else if write!(shown, "\\u{{{:x}}}", u32::from(letter)).is_err() {
                break;
            }
            if shown.len() > SHOWN_MAX {
                shown.truncate(before.min(SHOWN_MAX.saturating_sub(REST.len())));
                shown.push_str(REST);
                break;
            }
        }
        Self(shown)
    }

    /// The characters, without the backticks that `Display` puts around them.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Quoted {
    type Err = core::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::of(text))
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

text_form!(Quoted, "a short text");

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn plain_text_stays_and_everything_else_is_spelt_out() {
        assert_eq!(Quoted::of("USD Coin v2!").as_str(), "USD Coin v2!");
        assert_eq!(Quoted::of("a`b\n\u{202e}é").as_str(), r"a\u{60}b\u{a}\u{202e}\u{e9}");
    }

    #[test]
    fn long_text_is_cut_to_eighty() {
        let quoted = Quoted::of(&"x".repeat(81));
        assert_eq!(quoted.as_str().len(), 80);
        assert!(quoted.as_str().ends_with("x..."));
        assert_eq!(Quoted::of(&"x".repeat(80)).as_str(), "x".repeat(80));
    }

    proptest::proptest! {
        #[test]
        fn any_text_becomes_short_printable_ascii_and_quoting_again_changes_nothing(text: String) {
            let quoted = Quoted::of(&text);
            assert!(quoted.as_str().len() <= SHOWN_MAX);
            assert!(quoted.as_str().chars().all(|c| c == ' ' || (c.is_ascii_graphic() && c != '`')));
            assert_eq!(Quoted::of(&quoted.to_string()), quoted);
        }
    }
}
