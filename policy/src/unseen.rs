//! The characters a reader cannot see, or that change what a reader sees: a table, one question to it, and the one way in
//! which a stranger's words are made visible, for models and for people. It must never grow a list of "bad words".
//!
//! Source: Unicode 17 `Default_Ignorable_Code_Point`, `Bidi_Control`, general categories Cc, Cf, Zl, Zp, Co and the
//! noncharacters; and four letters or signs that render as nothing (Hangul fillers, Braille blank).

use alloc::format;
use alloc::string::String;

/// What to do with line feeds and tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Text: they are layout.
    Keep,
    /// A sentence: they would forge a second line.
    WriteOut,
}

/// Copies `words` until `cap_bytes` of output are full, everything unseen written as `\u{200B}`; tells whether anything
/// was left out. A cut falls between characters; nothing is normalised.
#[must_use]
pub fn written_out(words: &str, cap_bytes: usize, lines: Lines) -> (String, bool) {
    let mut shown = String::with_capacity(words.len().min(cap_bytes));
    let mut characters = words.chars().peekable();
    while let Some(character) = characters.next() {
        let layout = matches!(character, '\n' | '\t') && lines == Lines::Keep;
        if character == '\r' && lines == Lines::Keep && characters.peek() == Some(&'\n') {
            continue;
        }
        let mut buffer = [0_u8; 4];
        let escape;
        let piece: &str = if !layout && is_unseen(character) {
            escape = format!("\\u{{{:X}}}", u32::from(character));
            &escape
        } else {
            character.encode_utf8(&mut buffer)
        };
        if cap_bytes < shown.len().saturating_add(piece.len()) {
            return (shown, true);
        }
        shown.push_str(piece);
    }
    (shown, false)
}

/// Whether `character` is invisible, moves other characters about, or is a control.
///
/// Line feed and tab count as controls; the caller decides where they are welcome.
#[must_use]
pub fn is_unseen(character: char) -> bool {
    let point = u32::from(character);
    if point & 0xFFFE == 0xFFFE {
        return true;
    }
    UNSEEN
        .binary_search_by(|(first, last)| {
            if *last < point {
                core::cmp::Ordering::Less
            } else if point < *first {
                core::cmp::Ordering::Greater
            } else {
                core::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

/// Ranges of code points, both ends included, in ascending order.
const UNSEEN: &[(u32, u32)] = &[
    (0x0000, 0x001F),    // C0 controls, with escape
    (0x007F, 0x009F),    // delete and C1 controls
    (0x00AD, 0x00AD),    // soft hyphen
    (0x034F, 0x034F),    // combining grapheme joiner
    (0x0600, 0x0605),    // Arabic number signs
    (0x061C, 0x061C),    // Arabic letter mark
    (0x06DD, 0x06DD),    // Arabic end of ayah
    (0x070F, 0x070F),    // Syriac abbreviation mark
    (0x0890, 0x0891),    // Arabic pound and piastre marks
    (0x08E2, 0x08E2),    // Arabic disputed end of ayah
    (0x115F, 0x1160),    // Hangul fillers
    (0x17B4, 0x17B5),    // Khmer inherent vowels
    (0x180B, 0x180F),    // Mongolian variation selectors and vowel separator
    (0x200B, 0x200F),    // zero width space, joiners, directional marks
    (0x2028, 0x202E),    // line and paragraph separator, bidirectional embeddings and overrides
    (0x2060, 0x206F),    // word joiner, invisible operators, bidirectional isolates
    (0x2800, 0x2800),    // Braille blank
    (0x3164, 0x3164),    // Hangul filler
    (0xE000, 0xF8FF),    // private use
    (0xFDD0, 0xFDEF),    // noncharacters
    (0xFE00, 0xFE0F),    // variation selectors
    (0xFEFF, 0xFEFF),    // zero width no-break space, byte order mark
    (0xFFA0, 0xFFA0),    // halfwidth Hangul filler
    (0xFFF0, 0xFFFB),    // unassigned ignorables, interlinear annotation
    (0x110BD, 0x110BD),  // Kaithi number sign
    (0x110CD, 0x110CD),  // Kaithi number sign above
    (0x13430, 0x1343F),  // Egyptian hieroglyph format controls
    (0x1BCA0, 0x1BCA3),  // shorthand format controls
    (0x1D173, 0x1D17A),  // musical format controls
    (0xE0000, 0xE0FFF),  // tags, more variation selectors, ignorables
    (0xF0000, 0x10FFFF), // private use planes
];

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{Lines, UNSEEN, is_unseen, written_out};

    #[test]
    fn what_nobody_sees_is_written_out_and_everything_else_stays_as_it_is() {
        for (words, kept, on_one_line) in [
            ("plain words, \u{e9}", "plain words, \u{e9}", "plain words, \u{e9}"),
            ("a\u{200b}b", r"a\u{200B}b", r"a\u{200B}b"),
            ("\u{1b}[2J", r"\u{1B}[2J", r"\u{1B}[2J"),
            ("a\nb\tc", "a\nb\tc", r"a\u{A}b\u{9}c"),
            ("a\r\nb", "a\nb", r"a\u{D}\u{A}b"),
            ("a\rb\r", r"a\u{D}b\u{D}", r"a\u{D}b\u{D}"),
            ("", "", ""),
        ] {
            assert_eq!(written_out(words, 100, Lines::Keep), (kept.to_string(), false), "{words:?}");
            assert_eq!(written_out(words, 100, Lines::WriteOut), (on_one_line.to_string(), false), "{words:?}");
        }
    }

    #[test]
    fn a_cut_falls_between_characters_and_is_told() {
        for (words, cap_bytes, shown, cut) in [
            ("abc", 3, "abc", false),
            ("abc", 2, "ab", true),
            ("abc", 0, "", true),
            ("", 0, "", false),
            ("a\u{e9}", 2, "a", true),
            ("a\u{e9}", 3, "a\u{e9}", false),
            ("a\u{200b}", 8, "a", true),
            ("a\u{200b}", 9, r"a\u{200B}", false),
        ] {
            assert_eq!(
                written_out(words, cap_bytes, Lines::Keep),
                (shown.to_string(), cut),
                "{words:?} in {cap_bytes}"
            );
        }
    }

    #[test]
    fn the_last_two_of_every_plane_are_no_characters() {
        for plane in 0..=0x10_u32 {
            for last in [0xFFFE, 0xFFFF] {
                let point = plane.checked_mul(0x1_0000).unwrap() | last;
                assert!(is_unseen(char::from_u32(point).unwrap()), "{point:X}");
            }
        }
        assert!(!is_unseen('\u{1FFFD}') && !is_unseen('\u{FFFD}'));
    }

    #[test]
    fn the_table_is_in_order_and_has_no_overlap() {
        for (first, last) in UNSEEN {
            assert!(first <= last, "{first:X}");
        }
        for pair in UNSEEN.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{:X}", pair[1].0);
        }
    }

    #[test]
    fn both_ends_of_each_range_are_unseen_and_letters_are_not() {
        for (first, last) in UNSEEN {
            for point in [first, last] {
                assert!(char::from_u32(*point).is_none_or(is_unseen), "{point:X}");
            }
        }
        for seen in ['a', 'é', 'ß', '漢', '🙂', ' ', '~', '¡', '\u{0301}', '\u{00A0}', '\u{2010}', '\u{3000}'] {
            assert!(!is_unseen(seen), "{seen:?}");
        }
    }
}
