//! Lengths of time, sizes and percentages as people write them in rules, and moments as people read them. It must never accept a bare
//! number.

use core::fmt;
use core::str::FromStr;

use crate::text_form::text_form;

/// A length of time in whole seconds, written `30s`, `90m`, `24h` or `7d`; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// Units of a [`Span`], largest first.
const SPAN_UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

impl Span {
    /// `seconds`; `None` for zero.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Option<Self> {
        if seconds == 0 { None } else { Some(Self(seconds)) }
    }

    /// Its length in seconds.
    #[must_use]
    pub const fn secs(self) -> u64 {
        self.0
    }
}

/// A moment in Unix seconds, for people: in UTC, as in `2026-11-30T14:57:22Z` (RFC 3339).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u64);

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = i64::try_from(self.0).ok().and_then(|at_s| jiff::Timestamp::from_second(at_s).ok());
        match at {
            Some(at) => at.fmt(out),
            None => out.write_str("beyond the calendar"),
        }
    }
}

/// Why a text is not a [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a length of time is a whole number above zero with one of s, m, h, d, as in `90m`")]
pub struct SpanFault;

impl FromStr for Span {
    type Err = SpanFault;

    fn from_str(text: &str) -> Result<Self, SpanFault> {
        let unit = |(letter, seconds): (&str, u64)| {
            let count = whole_number(text.strip_suffix(letter)?)?;
            count.checked_mul(seconds)
        };
        SPAN_UNITS.into_iter().find_map(unit).and_then(Self::from_secs).ok_or(SpanFault)
    }
}

impl fmt::Display for Span {
    /// In the largest unit that divides it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, seconds): &(&str, u64)| self.0.checked_rem(*seconds) == Some(0);
        let (letter, seconds) = SPAN_UNITS.into_iter().find(fits).unwrap_or(("s", 1));
        write!(out, "{}{letter}", self.0.checked_div(seconds).unwrap_or_default())
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(Span, "a length of time as a string such as \"5m\"");

/// A number of bytes, written `512 B`, `256 KiB`, `4 MiB` or `1 GiB`; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

/// Units of a [`ByteSize`], largest first.
const SIZE_UNITS: [(&str, u64); 4] = [(" GiB", 1 << 30), (" MiB", 1 << 20), (" KiB", 1 << 10), (" B", 1)];

impl ByteSize {
    /// `bytes`; `None` for zero.
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Option<Self> {
        if bytes == 0 { None } else { Some(Self(bytes)) }
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// Why a text is not a [`ByteSize`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a size is a whole number above zero, a space and one of B, KiB, MiB, GiB, as in `256 KiB`")]
pub struct ByteSizeFault;

impl FromStr for ByteSize {
    type Err = ByteSizeFault;

    fn from_str(text: &str) -> Result<Self, ByteSizeFault> {
        let unit = |(suffix, bytes): (&str, u64)| {
            let count = whole_number(text.strip_suffix(suffix)?)?;
            count.checked_mul(bytes)
        };
        SIZE_UNITS.into_iter().find_map(unit).and_then(Self::from_bytes).ok_or(ByteSizeFault)
    }
}

impl fmt::Display for ByteSize {
    /// In the largest unit that divides it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, bytes): &(&str, u64)| self.0.checked_rem(*bytes) == Some(0);
        let (suffix, bytes) = SIZE_UNITS.into_iter().find(fits).unwrap_or((" B", 1));
        write!(out, "{}{suffix}", self.0.checked_div(bytes).unwrap_or_default())
    }
}

impl fmt::Debug for ByteSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(ByteSize, "a size as a string such as \"256 KiB\"");

/// A number of hundredths, written `20%`; from 1 to 1000.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u16);

/// The most that a [`Percent`] can be.
const PERCENT_MAX: u16 = 1000;

impl Percent {
    /// `atto` and so many hundredths of it on top, the fraction of a step left out; `None` above what can be counted.
    #[must_use]
    pub fn on_top_of(self, atto: u128) -> Option<u128> {
        let more = u128::from(self.0).checked_mul(atto)?.checked_div(100)?;
        atto.checked_add(more)
    }
}

/// Why a text is not a [`Percent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a percentage is a whole number from 1 to 1000 and a percent sign, as in `20%`")]
pub struct PercentFault;

impl FromStr for Percent {
    type Err = PercentFault;

    fn from_str(text: &str) -> Result<Self, PercentFault> {
        let count = text.strip_suffix('%').and_then(whole_number).and_then(|count| u16::try_from(count).ok());
        count.filter(|count| (1..=PERCENT_MAX).contains(count)).map(Self).ok_or(PercentFault)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}%", self.0)
    }
}

impl fmt::Debug for Percent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(Percent, "a percentage as a string such as \"20%\"");

/// A decimal number in its one canonical text: digits only, no leading zero.
fn whole_number(text: &str) -> Option<u64> {
    let canonical = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    if canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn spans_are_read_and_written_in_their_largest_unit() {
        for (text, secs, shown) in
            [("30s", 30, "30s"), ("90m", 5400, "90m"), ("24h", 86400, "1d"), ("7d", 604_800, "7d"), ("60s", 60, "1m")]
        {
            let span: Span = text.parse().unwrap();
            assert_eq!((span.secs(), span.to_string().as_str()), (secs, shown));
            assert_eq!(alloc::format!("{span:?}"), shown);
        }
    }

    #[test]
    fn sizes_are_read_and_written_in_their_largest_unit() {
        for (text, bytes, shown) in [
            ("1 B", 1, "1 B"),
            ("256 KiB", 262_144, "256 KiB"),
            ("2048 KiB", 2_097_152, "2 MiB"),
            ("3 GiB", 3_221_225_472, "3 GiB"),
            ("1000 B", 1000, "1000 B"),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (bytes, shown));
            assert_eq!(alloc::format!("{size:?}"), shown);
        }
    }

    #[test]
    fn a_percentage_is_added_exactly() {
        for (text, atto, sum) in
            [("1%", 100, 101), ("20%", 5, 6), ("20%", 4, 4), ("100%", 3, 6), ("1000%", 7, 77), ("33%", 0, 0)]
        {
            let percent: Percent = text.parse().unwrap();
            assert_eq!((percent.on_top_of(atto), percent.to_string().as_str()), (Some(sum), text), "{text} on {atto}");
            assert_eq!(alloc::format!("{percent:?}"), text);
        }
        let most: Percent = "1000%".parse().unwrap();
        assert_eq!(most.on_top_of(u128::MAX), None);
        for text in ["", "%", "5", "0%", "05%", "1001%", "65537%", "-5%", "+5%", "5 %", " 5%", "5%%", "1.5%"] {
            assert_eq!(text.parse::<Percent>(), Err(PercentFault), "{text}");
        }
    }

    #[test]
    fn nothing_is_zero_long_and_a_moment_is_told_in_utc() {
        assert_eq!((Span::from_secs(0), ByteSize::from_bytes(0)), (None, None));
        assert_eq!(Span::from_secs(7).map(Span::secs), Some(7));
        assert_eq!(ByteSize::from_bytes(7).map(ByteSize::bytes), Some(7));
        assert_eq!(Moment(1_796_000_000).to_string(), "2026-11-30T00:53:20Z");
        assert_eq!(Moment(u64::MAX).to_string(), "beyond the calendar");
    }

    #[test]
    fn anything_else_is_refused() {
        let spans = [
            "",
            "5",
            "0s",
            "05m",
            "5 m",
            " 5m",
            "5m ",
            "-5m",
            "+5m",
            "1e3s",
            "1.5h",
            "5M",
            "5w",
            "5ms",
            "٥m",
            "999999999999999d",
        ];
        for text in spans {
            assert_eq!(text.parse::<Span>(), Err(SpanFault), "{text}");
        }
        for text in ["", "5", "0 B", "05 B", "5B", "5 KB", "5 kib", "5  B", "-5 B", "1.5 MiB", "99999999999999999999 B"]
        {
            assert_eq!(text.parse::<ByteSize>(), Err(ByteSizeFault), "{text}");
        }
    }
}
