//! Limits: their text, their windows, the keys that their totals are read with.

use bursar_policy::limit::WindowFault;
use bursar_policy::*;

use crate::builders::{PAYEE, address, money, usdc};

fn facts() -> PaymentFacts {
    PaymentFacts {
        session: SessionId::from_random([1; 16]),
        site: "https://api.merchant.test/v1".parse().unwrap(),
        payee: address(PAYEE),
        asset: usdc(),
        money: money("0.01 USD"),
        tags: Vec::new(),
    }
}

fn key(scope: Scope, max: Option<&str>) -> String {
    Limit { scope, tag: None, window: Window::Lifetime, max: max.map(money), count: None }.key(&facts()).to_string()
}

#[test]
fn windows_are_lengths_of_time_or_lifetime() {
    assert_eq!("90m".parse(), Ok(Window::Rolling { secs: 5400 }));
    assert_eq!("lifetime".parse(), Ok(Window::Lifetime));
    for text in ["", "0s", "24", "Lifetime", "day", "1 d"] {
        assert_eq!(text.parse::<Window>(), Err(WindowFault), "{text}");
    }
    for text in ["30s", "90m", "1d", "7d", "lifetime"] {
        assert_eq!(text.parse::<Window>().unwrap().to_string(), text);
    }
}

#[test]
fn calendar_windows_name_their_zone() {
    let zone: Zone = "Europe/Berlin".parse().unwrap();
    for (unit, text) in [(Unit::Day, "day"), (Unit::Week, "week"), (Unit::Month, "month")] {
        let window = Window::Calendar { unit, zone };
        assert_eq!(window.to_string(), format!("{text} in Europe/Berlin"));
        assert_eq!(window.to_string().parse(), Ok(window));
        let written = format!("scope = \"all\"\nwindow = \"{text}\"\ntime_zone = \"Europe/Berlin\"\ncount = 3");
        let limit: Limit = toml::from_str(&written).unwrap();
        assert_eq!(limit.window, window);
        let crossed = serde_json::to_string(&limit).unwrap();
        assert_eq!(serde_json::from_str::<Limit>(&crossed).unwrap(), limit);
    }
    for text in ["day in Mars", "day in", "year in UTC", " in UTC", "24h in UTC", "day in europe/berlin"] {
        assert_eq!(text.parse::<Window>(), Err(WindowFault), "{text}");
    }
}

#[test]
fn a_window_begins_where_it_says() {
    let limits = "[[limit]]\nscope = \"all\"\nwindow = \"day\"\ntime_zone = \"Europe/Berlin\"\ncount = 3\n";
    let mut draft = crate::builders::draft();
    draft.limits = vec![toml::from_str(limits.trim_start_matches("[[limit]]\n")).unwrap()];
    let rules = crate::builders::rules(draft);
    let begins = |window: &str, now_s| rules.window_begins_s(window.parse().unwrap(), now_s);
    // Thursday, 27 February 2025, 16:00 UTC; an hour later in Berlin.
    let now_s = crate::builders::NOW_S;
    assert_eq!(begins("day in Europe/Berlin", now_s), Some(now_s - 17 * 3_600));
    assert_eq!(begins("week in Europe/Berlin", now_s), Some(now_s - 17 * 3_600 - 3 * 86_400));
    assert_eq!(begins("month in Europe/Berlin", now_s), Some(now_s - 17 * 3_600 - 26 * 86_400));
    assert_eq!(begins("90m", now_s), Some(now_s - 5_400 + 1));
    assert_eq!(begins("90m", 5_399), None, "from the beginning of time");
    assert_eq!(begins("lifetime", now_s), None);
    assert_eq!(begins("day in UTC", now_s), None, "a zone that the rules do not name counts everything");
    assert_eq!(begins("day in Europe/Berlin", u64::MAX), None, "a time beyond the calendar counts everything");
}

#[test]
fn keys_name_scope_subject_and_currency() {
    let dollars = Some("1 USD");
    let session = format!("session|s_{}|USD", "01".repeat(16));
    let asset = format!("asset|{}|USD", usdc());
    assert_eq!(key(Scope::All, dollars), "all|USD");
    assert_eq!(key(Scope::All, None), "all|*");
    assert_eq!(key(Scope::All, Some("1 EUR")), "all|EUR");
    assert_eq!(key(Scope::Session, dollars), session);
    assert_eq!(key(Scope::Host, dollars), "host|https://api.merchant.test|USD");
    assert_eq!(key(Scope::Payee, dollars), format!("payee|eip155:8453:{PAYEE}|USD"));
    assert_eq!(key(Scope::Asset, dollars), asset);
}

#[test]
fn only_limits_of_everything_and_of_a_session_can_be_read_for_a_session() {
    let session = facts().session;
    for scope in [Scope::All, Scope::Session] {
        for max in [None, Some(money("5 USD"))] {
            let limit = Limit { scope, tag: None, window: Window::Lifetime, max, count: Some(1) };
            assert_eq!(limit.key_of_session(&session), Some(limit.key(&facts())), "{limit:?}");
        }
    }
    for scope in [Scope::Host, Scope::Payee, Scope::Asset, Scope::Tag] {
        let limit = Limit { scope, tag: None, window: Window::Lifetime, max: None, count: Some(1) };
        assert_eq!(limit.key_of_session(&session), None, "{limit:?}");
    }
    let spent = TallyKey::of_session(&session, Currency::USD);
    assert_eq!(spent.as_str(), format!("session|{session}|USD"));
}

#[test]
fn a_payment_counts_under_exactly_the_keys_that_limits_read() {
    let data: Tag = "data".parse().unwrap();
    let facts = PaymentFacts { tags: vec![data], ..facts() };
    let keys = facts.keys();
    assert_eq!(keys.len(), 12);
    for scope in Scope::EVERY {
        let tag = (scope == Scope::Tag).then_some(data);
        for max in [None, Some(money("5 USD"))] {
            let limit = Limit { scope, tag, window: Window::Lifetime, max, count: Some(1) };
            assert_eq!(keys.iter().filter(|key| **key == limit.key(&facts)).count(), 1);
        }
        let euro = Limit { scope, tag, window: Window::Lifetime, max: Some(money("5 EUR")), count: None };
        assert!(!keys.contains(&euro.key(&facts)));
    }
}

#[test]
fn a_payment_counts_for_every_tag_that_it_carries() {
    let tags = ["data", "search"].map(|tag| tag.parse().unwrap());
    let tagged = PaymentFacts { tags: tags.to_vec(), ..facts() };
    let keys: Vec<String> = tagged.keys().iter().map(ToString::to_string).collect();
    assert_eq!(keys[..10], facts().keys().iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(keys[10..], ["tag|data|USD", "tag|data|*", "tag|search|USD", "tag|search|*"]);
    for (tag, concerned) in [("data", true), ("search", true), ("dat", false)] {
        let written = format!("scope = \"tag\"\ntag = \"{tag}\"\nwindow = \"24h\"\nmax = \"5 USD\"");
        let limit: Limit = toml::from_str(&written).unwrap();
        assert_eq!(limit.concerns(&tagged), concerned, "{tag}");
        assert_eq!(tagged.keys().contains(&limit.key(&tagged)), concerned, "{tag}");
        assert!(!limit.concerns(&facts()));
        assert_eq!(limit.key_of_session(&facts().session), None);
        let crossed = serde_json::to_string(&limit).unwrap();
        assert_eq!(serde_json::from_str::<Limit>(&crossed).unwrap(), limit);
    }
}

#[test]
fn a_limit_is_read_from_rules_and_crosses_a_socket() {
    let limit: Limit = toml::from_str("scope = \"all\"\nwindow = \"24h\"\nmax = \"5.00 USD\"").unwrap();
    assert_eq!(limit.window, Window::Rolling { secs: 86_400 });
    assert_eq!((limit.max, limit.count), (Some(money("5 USD")), None));
    let text = serde_json::to_string(&limit).unwrap();
    assert_eq!(serde_json::from_str::<Limit>(&text).unwrap(), limit);
    for bad in [
        "scope = \"all\"\nwindow = \"24h\"\nmax = 5.0",
        "scope = \"all\"\nwindow = \"24h\"\nmaximum = \"5 USD\"",
        "scope = \"everything\"\nwindow = \"24h\"\nmax = \"5 USD\"",
        "scope = \"all\"\nwindow = 24\nmax = \"5 USD\"",
        "scope = \"all\"\nwindow = \"24h\"\ncount = -1",
        "scope = \"all\"\nmax = \"5 USD\"",
    ] {
        assert!(toml::from_str::<Limit>(bad).is_err(), "{bad}");
    }
    let key = limit.key(&facts());
    assert_eq!(serde_json::from_str::<TallyKey>(&serde_json::to_string(&key).unwrap()).unwrap(), key);
}
