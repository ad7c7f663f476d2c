//! Text on its way to the page. Every text that the console sends is one of these, so that no word of a seller's, of a model's or
//! of `serve`'s gets there with anything in it that a person cannot see.

use std::fmt::Display;

use bursar_policy::unseen::{Lines, written_out};
use serde::Serialize;

/// The most bytes of one text.
const TEXT_BYTES: usize = 1024;

/// One line, everything unseen written out as `\u{…}`, cut to 1 KiB with an ellipsis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub(super) struct Shown(String);

impl Shown {
    /// Makes `text` visible.
    pub(super) fn of(text: &(impl Display + ?Sized)) -> Self {
        let (mut shown, cut) = written_out(&text.to_string(), TEXT_BYTES, Lines::WriteOut);
        if cut {
            shown.push('…');
        }
        Self(shown)
    }

    /// Makes `text` visible and cuts nothing: for what a person says yes to, whose end must not be out of sight.
    pub(super) fn whole(text: &str) -> Self {
        Self(written_out(text, usize::MAX, Lines::WriteOut).0)
    }

    /// The text.
    #[cfg(test)]
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_policy::unseen::is_unseen;

    #[test]
    fn nothing_unseen_gets_through_and_nothing_is_endless() {
        let hostile = format!("<b>\u{202e}\u{200b}\n\u{1b}[2J{}", "é\u{2066}".repeat(5000));
        let shown = Shown::of(hostile.as_str());
        assert!(shown.as_str().starts_with("<b>\\u{202E}\\u{200B}\\u{A}\\u{1B}[2Jé"), "{shown:?}");
        assert!(
            Shown::whole(&hostile).as_str().len() > 5000 && !Shown::whole(&hostile).as_str().chars().any(is_unseen)
        );
        assert!(shown.as_str().len() <= TEXT_BYTES + '…'.len_utf8() && !shown.as_str().chars().any(is_unseen));
    }
}
