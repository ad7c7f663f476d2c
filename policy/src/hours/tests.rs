//! Hours and days as people write them, and when it is open.

use std::vec;

use proptest::prelude::*;

use super::*;

fn opening(hours: Option<&str>, days: Option<&[&str]>, zone: &str) -> Opening {
    let days = days.map(|days| days.iter().map(|day| day.parse().unwrap()).collect());
    Opening::new(hours.map(|hours| hours.parse().unwrap()), days, zone.parse().unwrap()).unwrap()
}

fn at(text: &str) -> u64 {
    text.parse::<Timestamp>().unwrap().as_second().try_into().unwrap()
}

#[test]
fn hours_are_two_times_of_one_day() {
    for text in ["08:00-18:00", "00:00-24:00", "23:59-24:00", "00:00-00:01"] {
        assert_eq!(text.parse::<Hours>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "8:00-18:00",
        "08:00",
        "08:00-",
        "18:00-08:00",
        "08:00-08:00",
        "08:60-09:00",
        "08:60-10:00",
        "08:00-09:60",
        "24:01-24:02",
        "08:00-24:01",
        "08:00 - 18:00",
        "+8:00-18:00",
        "08.00-18.00",
        "22:00-06:00",
        "08:00-18:00-20:00",
        "99:00-99:59",
    ] {
        assert_eq!(text.parse::<Hours>(), Err(HoursFault), "{text}");
    }
}

#[test]
fn days_are_named_one_by_one_or_in_a_row() {
    for text in ["mon", "sun", "mon-fri", "sat-sun"] {
        assert_eq!(text.parse::<Days>().unwrap().to_string(), text);
    }
    for text in ["", "Mon", "monday", "fri-mon", "mon-mon", "mon-", "-fri", "mon-wed-fri", "1"] {
        assert_eq!(text.parse::<Days>(), Err(DaysFault), "{text}");
    }
    let days = |days: &[&str]| -> Vec<Days> { days.iter().map(|day| day.parse().unwrap()).collect() };
    assert_eq!(Opening::day_twice(&days(&["mon-wed", "fri", "sat-sun"])), None);
    assert_eq!(Opening::day_twice(&days(&["mon-fri", "wed"])), Some("wed"));
}

#[test]
fn it_is_open_from_the_first_minute_to_the_last_where_people_live() {
    let berlin = opening(Some("08:00-18:00"), Some(&["mon-fri"]), "Europe/Berlin");
    // Wednesday, 1 July 2026, two hours ahead of UTC; then winter, one hour ahead.
    for (now, open) in [
        ("2026-07-01T05:59:59Z", false),
        ("2026-07-01T06:00:00Z", true),
        ("2026-07-01T15:59:59Z", true),
        ("2026-07-01T16:00:00Z", false),
        ("2026-12-02T06:59:59Z", false),
        ("2026-12-02T07:00:00Z", true),
        ("2026-07-03T12:00:00Z", true),
        ("2026-07-04T12:00:00Z", false),
        ("2026-07-05T12:00:00Z", false),
        ("2026-07-06T12:00:00Z", true),
    ] {
        assert_eq!(berlin.is_open(at(now)), open, "{now}");
    }
    assert_eq!(berlin.to_string(), "mon-fri 08:00-18:00 in Europe/Berlin");
}

#[test]
fn hours_without_days_are_of_every_day_and_days_without_hours_are_whole() {
    let hours = opening(Some("00:00-24:00"), None, "UTC");
    let days = opening(None, Some(&["sat", "sun"]), "Asia/Kolkata");
    assert!(hours.is_open(at("2026-07-04T23:59:59Z")) && hours.is_open(0));
    assert!(!days.is_open(at("2026-07-03T18:29:59Z")) && days.is_open(at("2026-07-03T18:30:00Z")));
    assert_eq!(
        (hours.to_string().as_str(), days.to_string().as_str()),
        ("00:00-24:00 in UTC", "sat, sun in Asia/Kolkata")
    );
    assert!(!hours.is_open(u64::MAX) && !hours.is_open(400_000_000_000), "never beyond the calendar");
}

proptest! {
    #[test]
    fn shorter_hours_and_fewer_days_are_never_open_for_longer(
        now_s in 0..8_000_000_000_u64,
        cuts in (0..12_u16, 0..12_u16, 12..=24_u16, 12..=24_u16),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"]),
    ) {
        let (a, b, c, d) = cuts;
        let (outer, inner) = ((a.min(b), c.max(d)), (a.max(b), c.min(d)));
        prop_assume!(inner.0 < inner.1);
        let written = |(from, to): (u16, u16)| format!("{from:02}:00-{to:02}:00");
        let wide = opening(Some(&written(outer)), Some(&["mon-sat"]), zone);
        let narrow = opening(Some(&written(inner)), Some(&["mon", "wed-thu"]), zone);
        prop_assert!(wide.is_open(now_s) || !narrow.is_open(now_s));
    }
}
