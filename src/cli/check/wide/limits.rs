//! Where limits leave more open, or less, than their operator may think. Warns; it never refuses and never repairs.

use std::collections::BTreeSet;

use bursar_policy::limit::{Scope, Window};
use bursar_policy::{Currency, Limit, Money, Tag};
use bursar_vault::rules_file::Table;

use super::{Reading, Told};

/// A rolling window of this length, seconds, or more holds what may be spent around a midnight.
const AROUND_MIDNIGHT_S: u64 = 3_600;
/// A window beyond this length, seconds, is most likely a slip of the pen: a leap year.
const YEAR_S: u64 = 366 * 86_400;

/// Every warning about limits: what is missing first, then in the order of the file.
pub(super) fn of(read: &Reading<'_>, told: &mut Vec<Told>) {
    nothing_for_all(read, told);
    let limits = &read.draft.limits;
    for (row, limit) in limits.iter().enumerate() {
        let mut tell = |about, says, key| {
            told.push(Told { about, says, place: Some(read.lines.place(Table::Limit(row), key)) });
        };
        match limit.window {
            Window::Calendar { .. } if !is_held_around_midnight(limit, limits) => {
                let says = format!(
                    "the limit `{}` over `{}` is full again at midnight, so twice as much may be spent within the hour around it; a rolling window beside it (`24h`) holds that too",
                    whose(limit),
                    limit.window
                );
                tell("twice_at_midnight", says, "window");
            }
            Window::Rolling { secs } if YEAR_S < secs => {
                let says = format!(
                    "the window `{}` is longer than a year, so what is spent now counts for all that time; `lifetime` is for ever",
                    limit.window
                );
                tell("long_window", says, "window");
            }
            _ => {}
        }
        if let (Some(tag), Some(max)) = (limit.tag, limit.max)
            && let Some(ceiling) = smallest_ceiling(read, tag, max.currency())
            && !ceiling.is_within(max)
        {
            let says = format!(
                "one payment that carries the tag `{tag}` may cost {ceiling}, but the limit of that tag over `{}` is {max}: a payment that dear is never made",
                limit.window
            );
            tell("tag_below_ceiling", says, "max");
        }
    }
}

fn nothing_for_all(read: &Reading<'_>, told: &mut Vec<Told>) {
    let currencies: BTreeSet<_> = read.rules.ceilings().map(Money::currency).collect();
    for currency in currencies {
        let of_all = read.rules.limits().iter().filter(|limit| matches!(limit.scope, Scope::All));
        if of_all.filter_map(|limit| limit.max).all(|max| max.currency() != currency) {
            let says = format!(
                "no limit of scope `all` holds the sum of all payments in {currency}; only each session's budget does"
            );
            told.push(Told { about: "no_limit", says, place: None });
        }
    }
}

/// Whether rolling limits of the same payments hold all that `limit` does, and to no more.
fn is_held_around_midnight(limit: &Limit, limits: &[Limit]) -> bool {
    let beside = || {
        limits.iter().filter(|other| {
            let is_rolling = matches!(other.window, Window::Rolling { secs } if AROUND_MIDNIGHT_S <= secs);
            is_rolling && other.scope == limit.scope && other.tag == limit.tag
        })
    };
    let holds_money = |max: Money| beside().filter_map(|other| other.max).any(|held| held.is_within(max));
    let holds_count = |count: u32| beside().filter_map(|other| other.count).any(|held| held <= count);
    limit.max.is_none_or(holds_money) && limit.count.is_none_or(holds_count)
}

/// The lowest ceiling, in `currency`, of one payment that carries `tag`.
fn smallest_ceiling(read: &Reading<'_>, tag: Tag, currency: Currency) -> Option<Money> {
    let general = read.rules.ceiling(currency);
    // A payee carries its tags wherever it is paid.
    let by_payee = read.draft.payees.iter().any(|payee| payee.tags.contains(&tag));
    let carriers = read.rules.host_rules().filter(|(_, rule)| by_payee || rule.tags().contains(&tag));
    let own = carriers.filter_map(|(_, rule)| rule.ceiling(currency).or(general));
    own.min_by_key(|ceiling| ceiling.atto()).or(general)
}

fn whose(limit: &Limit) -> String {
    limit.tag.map_or_else(|| limit.scope.to_string(), |tag| format!("{} {tag}", limit.scope))
}
