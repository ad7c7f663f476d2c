//! Times of day and days of the week in which payments are made. It must never ask what time it is.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::calendar::Zone;
use crate::text_form::text_form;

/// A part of each day, written `08:00-18:00`: from its first minute up to its last, which is not part of it. It ends
/// on the day it begins; `24:00` is the end of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hours {
    from_min: u16,
    to_min: u16,
}

/// Why a text is not [`Hours`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "hours are two times of one day, the earlier one first, without spaces and with two digits each, as in `08:00-18:00`; a night has no form"
)]
pub struct HoursFault;

impl FromStr for Hours {
    type Err = HoursFault;

    fn from_str(text: &str) -> Result<Self, HoursFault> {
        let (from, to) = text.split_once('-').ok_or(HoursFault)?;
        let (from_min, to_min) = (minute_of(from).ok_or(HoursFault)?, minute_of(to).ok_or(HoursFault)?);
        if from_min < to_min { Ok(Self { from_min, to_min }) } else { Err(HoursFault) }
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = |minutes: u16| (minutes.checked_div(60).unwrap_or(0), minutes.checked_rem(60).unwrap_or(0));
        let ((from_h, from_m), (to_h, to_m)) = (parts(self.from_min), parts(self.to_min));
        write!(out, "{from_h:02}:{from_m:02}-{to_h:02}:{to_m:02}")
    }
}

text_form!(Hours, "hours such as \"08:00-18:00\"");

/// The minute of the day that `hh:mm` is, up to 24:00.
fn minute_of(text: &str) -> Option<u16> {
    let two = |digits: &str| {
        let plain = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse::<u16>().ok()).flatten()
    };
    let (hour, minute) = text.split_once(':')?;
    let (hour, minute) = (two(hour)?, two(minute).filter(|minute| *minute < 60)?);
    hour.checked_mul(60)?.checked_add(minute).filter(|all| *all <= 24 * 60)
}

/// The days of a week as the rules name them, from Monday.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A day of the week, or several in a row: `mon`, `mon-fri`. The week begins on Monday.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Days {
    /// Places in [`DAYS`].
    first: usize,
    last: usize,
}

impl Days {
    /// The places of its days in the week, from 0 for Monday.
    fn places(self) -> impl Iterator<Item = usize> {
        self.first..=self.last
    }
}

/// Why a text is not [`Days`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "days are `mon`, `tue`, `wed`, `thu`, `fri`, `sat` and `sun`, or several in a row from `mon` to `sun`, as in `mon-fri`"
)]
pub struct DaysFault;

impl FromStr for Days {
    type Err = DaysFault;

    fn from_str(text: &str) -> Result<Self, DaysFault> {
        let place = |name: &str| DAYS.iter().position(|day| *day == name).ok_or(DaysFault);
        let Some((first, last)) = text.split_once('-') else {
            return place(text).map(|day| Self { first: day, last: day });
        };
        let (first, last) = (place(first)?, place(last)?);
        if first < last { Ok(Self { first, last }) } else { Err(DaysFault) }
    }
}

impl fmt::Display for Days {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |place: usize| DAYS.get(place).copied().unwrap_or_default();
        out.write_str(name(self.first))?;
        if self.first == self.last { Ok(()) } else { write!(out, "-{}", name(self.last)) }
    }
}

text_form!(Days, "a day such as \"mon\", or several in a row such as \"mon-fri\"");

/// When payments are made: on these days, in these hours, there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    hours: Option<Hours>,
    /// `None` for every day.
    days: Option<Vec<Days>>,
    zone: Zone,
    rules: TimeZone,
}

impl Opening {
    /// `None` where the rules of the zone cannot be read.
    pub(crate) fn new(hours: Option<Hours>, days: Option<Vec<Days>>, zone: Zone) -> Option<Self> {
        zone.rules().map(|rules| Self { hours, days, zone, rules })
    }

    /// The first day that is in `days` twice.
    pub(crate) fn day_twice(days: &[Days]) -> Option<&'static str> {
        let on = |place: usize| days.iter().filter(|some| some.places().any(|day| day == place)).count();
        DAYS.iter().enumerate().find(|(place, _)| 1 < on(*place)).map(|(_, name)| *name)
    }

    /// Whether payments are made at `now_s` (Unix seconds); never at a time beyond the calendar.
    #[must_use]
    pub fn is_open(&self, now_s: u64) -> bool {
        let now = i64::try_from(now_s).ok().and_then(|now_s| Timestamp::from_second(now_s).ok());
        let Some(now) = now.map(|now| self.rules.to_datetime(now)) else { return false };
        let today = usize::try_from(now.weekday().to_monday_zero_offset()).unwrap_or(usize::MAX);
        let minute = u16::try_from(now.hour()).ok().zip(u16::try_from(now.minute()).ok());
        let minute = minute.and_then(|(hour, minute)| hour.checked_mul(60)?.checked_add(minute));
        let in_hours = |hours: Hours| minute.is_some_and(|minute| (hours.from_min..hours.to_min).contains(&minute));
        let on_day = |days: &Vec<Days>| days.iter().any(|some| some.places().any(|day| day == today));
        self.hours.is_none_or(in_hours) && self.days.as_ref().is_none_or(on_day)
    }
}

impl fmt::Display for Opening {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.days.as_ref().map(|days| {
            let named: Vec<String> = days.iter().map(ToString::to_string).collect();
            format!("{} ", named.join(", "))
        });
        let hours = self.hours.map(|hours| format!("{hours} "));
        write!(out, "{}{}in {}", days.unwrap_or_default(), hours.unwrap_or_default(), self.zone)
    }
}

#[cfg(test)]
mod tests;
