//! Limits and hours as written become those that are read. It must never keep one that holds nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use jiff::tz::TimeZone;

use super::RuleFault;
use crate::calendar::Zone;
use crate::hours::{Days, Hours, Opening};
use crate::limit::{Limit, Scope, Window};
use crate::money::Money;
use crate::tag::Tag;

/// Checks limits and takes apart those with both an amount and a count.
pub(super) fn limits_of(limits: Vec<Limit>) -> Result<Vec<Limit>, RuleFault> {
    let mut single: Vec<Limit> = Vec::new();
    for limit in limits {
        let Limit { scope, tag, window, max, count } = limit;
        if max.is_none() && count.is_none() {
            return Err(RuleFault::EmptyLimit { scope, window });
        }
        if count == Some(0) {
            return Err(RuleFault::ZeroCount { scope, window });
        }
        let amount = max.map(|max| Limit { scope, tag, window, max: Some(max), count: None });
        let number = count.map(|count| Limit { scope, tag, window, max: None, count: Some(count) });
        for one in amount.into_iter().chain(number) {
            let subject = |limit: &Limit| (limit.scope, limit.tag, limit.window, limit.max.map(Money::currency));
            if single.iter().any(|known| subject(known) == subject(&one)) {
                return Err(RuleFault::LimitTwice { scope, window });
            }
            single.push(one);
        }
    }
    Ok(single)
}

/// The rules of every time zone that a limit names, read once.
pub(super) fn zones_of(limits: &[Limit]) -> Result<BTreeMap<Zone, TimeZone>, RuleFault> {
    let named = limits.iter().filter_map(|limit| match limit.window {
        Window::Calendar { zone, .. } => Some(zone),
        Window::Rolling { .. } | Window::Lifetime => None,
    });
    named.map(|zone| zone.rules().map(|rules| (zone, rules)).ok_or(RuleFault::Zone(zone))).collect()
}

/// A tag that nothing carries is a typing mistake, and a limit over it would hold nothing.
pub(super) fn check_tags_of_limits(limits: &[Limit], carried: &BTreeSet<Tag>) -> Result<(), RuleFault> {
    let idle = limits
        .iter()
        .filter(|limit| limit.scope == Scope::Tag)
        .filter_map(|limit| limit.tag)
        .find(|tag| !carried.contains(tag));
    idle.map_or(Ok(()), |tag| Err(RuleFault::IdleTag(tag)))
}

/// When payments are made, where that is said at all.
pub(super) fn opening_of(
    hours: Option<Hours>,
    days: Option<Vec<Days>>,
    zone: Option<Zone>,
) -> Result<Option<Opening>, RuleFault> {
    let days_given = days.as_deref().unwrap_or_default();
    if days.is_some() && days_given.is_empty() {
        return Err(RuleFault::NoDay);
    }
    if let Some(day) = Opening::day_twice(days_given) {
        return Err(RuleFault::Twice { what: "days", value: day.into() });
    }
    match (hours.is_some() || days.is_some(), zone) {
        (false, None) => Ok(None),
        (false, Some(_)) => Err(RuleFault::ZoneWithoutHours),
        (true, None) => Err(RuleFault::HoursWithoutZone),
        (true, Some(zone)) => Opening::new(hours, days, zone).map(Some).ok_or(RuleFault::Zone(zone)),
    }
}
