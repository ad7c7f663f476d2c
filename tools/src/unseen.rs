//! The characters a reader cannot see, or that change what a reader sees. A table, and one question to it.
//!
//! Must never grow a list of "bad words": it is about characters only.
//!
//! Source: Unicode 17 `Default_Ignorable_Code_Point`, `Bidi_Control`, general categories Cc, Cf, Zl, Zp, Co and the
//! noncharacters; and four letters or signs that render as nothing (Hangul fillers, Braille blank).

/// Whether `character` is invisible, moves other characters about, or is a control.
///
/// Line feed and tab count as controls; the caller decides where they are welcome.
#[must_use]
pub(crate) fn is_unseen(character: char) -> bool {
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
    use super::{UNSEEN, is_unseen};

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
