//! What this ledger may count by itself of the limits that several vaults split. Must never be on the disk: after a start
//! nothing is held until the center says so again, and nothing is held longer than its word lasts.
//!
//! A vault decides alone as long as what it counted under a limit stays within its part, and the parts of all vaults
//! together never come to more than the limit. So no window, wherever it lies, holds more than the limit allows: what each
//! vault spent in it is within that vault's part. `crate::share` tells how parts are agreed upon.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bursar_policy::digest::Digest;
use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::limit::{Limit, PaymentFacts, Scope, TallyKey, Window};
use bursar_policy::money::Money;
use bursar_policy::rules::Rules;
use bursar_policy::terms::Terms;

use super::Ledger;
use super::fault::LedgerFault;
use super::states::EXPIRY_MARGIN_S;
use super::store::bound;
use super::tally::{self, Used};
use super::writer::{Answer, Tx};
use crate::share::Declared;

/// One total that vaults split: the limit's name and the key that is added up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// [`Limit::name`].
    pub limit: Digest,
    /// The key of the total.
    pub key: TallyKey,
}

/// How one line stands here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineStanding {
    /// Which.
    pub line: Line,
    /// What is counted here within the limit's window, in steps of 10^-18 or payments, as everything below.
    pub used: u128,
    /// What a payment would bring it to; the same as `used` where none is asked about.
    pub needed: u128,
    /// What the limit allows to all vaults together.
    pub max: u128,
    /// For how many seconds after this ledger's last sign of life what it counted may still matter; absent for ever.
    pub lasts_s: Option<u64>,
}

/// The parts that this ledger holds.
#[derive(Debug, Default)]
pub(super) struct Shares(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    parts: BTreeMap<Line, u128>,
    /// The first second of ledger time at which they are nobody's word any more.
    until_s: u64,
}

impl Shares {
    /// How far `limit` may be counted here for payments under `key`; absent where it is not split.
    pub(super) fn part(&self, rules: &Rules, limit: &Limit, key: &TallyKey, now_s: u64) -> Option<u128> {
        is_split(rules, limit).then(|| self.of(&Line { limit: limit.name(), key: key.clone() }, now_s))
    }

    fn of(&self, line: &Line, now_s: u64) -> u128 {
        let held = self.held();
        held.parts.get(line).copied().filter(|_part| now_s < held.until_s).unwrap_or_default()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Each change leaves a map and a number that are whole by themselves.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether vaults split `limit`. A session is one vault's own, and so is a limit on it.
fn is_split(rules: &Rules, limit: &Limit) -> bool {
    rules.shares().is_some() && limit.scope != Scope::Session
}

impl Ledger {
    /// The lines whose part does not reach for a payment on `terms`, out of `session` for `errand`.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn short_of(
        &self,
        session: &SessionId,
        errand: &Errand,
        terms: &Terms,
        rules: &Arc<Rules>,
    ) -> Result<Vec<LineStanding>, LedgerFault> {
        let asset = terms.asset_id();
        let Some(money) = rules.asset(&asset).and_then(|known| Money::of(terms.amount, known)) else {
            return Ok(Vec::new());
        };
        let (site, payee) = (errand.site.clone(), terms.payee);
        let facts =
            PaymentFacts { session: session.clone(), tags: rules.tags(&site, &payee), site, payee, asset, money };
        let rules = Arc::clone(rules);
        self.writer.ask(move |tx| {
            let mut short = Vec::new();
            for limit in rules.limits().iter().filter(|limit| is_split(&rules, limit) && limit.concerns(&facts)) {
                if limit.max.is_some_and(|max| max.currency() != facts.money.currency()) {
                    continue;
                }
                let mut standing = stand(tx, &rules, limit, limit.key(&facts))?;
                let price = in_units(limit, tally::one(standing.line.key.as_str(), &facts));
                standing.needed = standing.used.saturating_add(price);
                if tx.shares.of(&standing.line, tx.now_s) < standing.needed {
                    short.push(standing);
                }
            }
            Ok(Answer::AtOnce(short))
        })
    }

    /// The limits of `rules` that vaults split.
    #[must_use]
    pub fn split(rules: &Rules) -> Vec<Declared> {
        let split = rules.limits().iter().filter(|limit| is_split(rules, limit));
        let declared =
            |limit: &Limit| Declared { limit: limit.name(), lasts_s: lasts_s(limit.window, rules.max_lifetime_s()) };
        split.map(declared).collect()
    }

    /// Everything that is counted here under the limits of `rules` that vaults split: what a center has to hear before
    /// anybody may spend on the strength of what it says.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn counted(&self, rules: &Arc<Rules>) -> Result<Vec<LineStanding>, LedgerFault> {
        let rules = Arc::clone(rules);
        self.writer.ask(move |tx| {
            let mut found = Vec::new();
            for limit in rules.limits().iter().filter(|limit| is_split(&rules, limit)) {
                let prefix = limit.key_prefix();
                let suffix = format!("|{}", limit.max.map_or_else(|| "*".to_owned(), |max| max.currency().to_string()));
                let keys =
                    tx.conn.every(KEYS, bound![prefix, format!("{prefix}\u{7f}")], |row| row.get::<String>(0))?;
                for key in keys.into_iter().filter(|key| key.ends_with(&suffix)) {
                    let Ok(key) = key.parse::<TallyKey>();
                    let standing = stand(tx, &rules, limit, key)?;
                    if standing.used != 0 {
                        found.push(standing);
                    }
                }
            }
            Ok(Answer::AtOnce(found))
        })
    }

    /// Gives up what of `line` is not counted: from here on nothing more is counted on it. How it stands; `None` where the
    /// rules have no such limit.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn lower(&self, line: &Line, rules: &Arc<Rules>) -> Result<Option<LineStanding>, LedgerFault> {
        let (line, rules) = (line.clone(), Arc::clone(rules));
        self.writer.ask(move |tx| {
            let Some(limit) = rules.limits().iter().find(|limit| limit.name() == line.limit) else {
                return Ok(Answer::AtOnce(None));
            };
            let standing = stand(tx, &rules, limit, line.key.clone())?;
            // Inside the transaction: no payment is counted between the look and this.
            if let Some(part) = tx.shares.held().parts.get_mut(&line) {
                *part = (*part).min(standing.used);
            }
            Ok(Answer::AtOnce(Some(standing)))
        })
    }

    /// Keeps what the center says: that `parts` are this ledger's, and that everything it holds is its until the second
    /// `until_s` of ledger time.
    pub fn hold_parts(&self, parts: impl IntoIterator<Item = (Line, u128)>, until_s: u64) {
        let now_s = self.time().now_s;
        let mut held = self.shared.shares.held();
        // What was held too long may be somebody else's by now.
        if held.until_s <= now_s {
            held.parts.clear();
        }
        held.parts.extend(parts);
        held.until_s = held.until_s.max(until_s);
    }

    /// Every part that is held at this moment.
    #[must_use]
    pub fn parts(&self) -> BTreeMap<Line, u128> {
        let now_s = self.time().now_s;
        let held = self.shared.shares.held();
        if now_s < held.until_s { held.parts.clone() } else { BTreeMap::new() }
    }
}

const KEYS: &str = "SELECT key FROM tally WHERE key >= ?1 AND key < ?2 ORDER BY key";

fn stand(tx: &Tx<'_>, rules: &Rules, limit: &Limit, key: TallyKey) -> Result<LineStanding, LedgerFault> {
    let counted = tally::used(tx.conn, key.as_str(), rules.window_begins_s(limit.window, tx.now_s))?;
    let used = in_units(limit, counted);
    let lasts_s = lasts_s(limit.window, rules.max_lifetime_s());
    let line = Line { limit: limit.name(), key };
    Ok(LineStanding { line, used, needed: used, max: limit.allows(), lasts_s })
}

fn in_units(limit: &Limit, used: Used) -> u128 {
    if limit.max.is_some() { used.atto } else { u128::from(used.count) }
}

/// How long something that was counted may lie in a window that begins later: the window, the longest life that an
/// authorization may have before it counts as spent, and an hour for clocks that differ and time zones that shift.
fn lasts_s(window: Window, max_lifetime_s: u64) -> Option<u64> {
    const HOUR_S: u64 = 3_600;
    let length_s = match window {
        Window::Lifetime => return None,
        Window::Rolling { secs } => secs,
        Window::Calendar { unit, .. } => unit.longest_s(),
    };
    Some(length_s.saturating_add(max_lifetime_s).saturating_add(EXPIRY_MARGIN_S).saturating_add(HOUR_S))
}
