//! Running totals: what is pending and what was spent under every key a limit may ask for. Must never look at payments.
//!
//! A total costs two index look-ups whatever the number of payments: `tally` has the sums as they are now, and `spent`
//! has, for every spent payment in order of time, the sum so far, so that a window is the sum now less the sum at its
//! beginning, wherever that is. What is pending is never part of that subtraction: it counts in every window at any age.

use std::collections::BTreeMap;

use bursar_policy::errand::SessionId;
use bursar_policy::limit::PaymentFacts;
use bursar_policy::money::{Currency, Money};

use super::fault::LedgerFault;
use super::number::{from_sql, narrow, to_sql, wide};
use super::returned;
use super::store::{Bind as _, Places, Row, Store, Value, bound};

/// What a key adds up to within a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// Steps of 10^-18 of the key's currency; 0 for a key that only counts.
    pub(super) atto: u128,
    /// Payments.
    pub(super) count: u64,
}

/// One payment under a key that counts only.
pub(super) const ONE: Used = Used { atto: 0, count: 1 };

/// One row of `tally`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) pending: Used,
    pub(super) spent: Used,
    pub(super) spent_last_s: u64,
}

pub(super) const TALLY: &str =
    "SELECT pending, pending_count, spent, spent_count, spent_last_s FROM tally WHERE key = ?1";

pub(super) const SPENT_BEFORE: &str =
    "SELECT total, seq FROM spent WHERE key = ?1 AND at_s <= ?2 ORDER BY at_s DESC, seq DESC LIMIT 1";

const TALLIES: &str = "SELECT key, pending, pending_count, spent, spent_count, spent_last_s FROM tally WHERE key IN ";

const WRITE: &str = "INSERT INTO tally (key, pending, pending_count, spent, spent_count, spent_last_s) VALUES ";

const OR_CHANGE: &str =
    " ON CONFLICT (key) DO UPDATE SET pending = excluded.pending, pending_count = excluded.pending_count,
     spent = excluded.spent, spent_count = excluded.spent_count, spent_last_s = excluded.spent_last_s";

const SPEND: &str = "INSERT INTO spent (key, seq, at_s, payment, total) VALUES ";

/// What `key` adds up to: everything pending, and what was spent from the second `since_s` on, or ever, less what of
/// that is proved not to have moved. What was spent in a future that a mistaken clock made up counts.
pub(super) fn used(conn: &Store, key: &str, since_s: Option<u64>) -> Result<Used, LedgerFault> {
    let tally = read(conn, key)?;
    let mut spent = tally.spent;
    let mut returned = returned::sum(conn, key, None)?;
    if let Some(last_s) = since_s.and_then(|since_s| since_s.checked_sub(1)) {
        spent = less(spent, spent_by(conn, key, last_s)?)?;
        if returned != Used::default() {
            returned = less(returned, returned::sum(conn, key, Some(last_s))?)?;
        }
    }
    plus(tally.pending, less(spent, returned)?)
}

/// `used` of `key` without one payment with `own` facts, where that is counted under it.
pub(super) fn without(used: Used, key: &str, own: Option<&PaymentFacts>) -> Result<Used, LedgerFault> {
    match own.filter(|own| own.keys().iter().any(|counted| counted.as_str() == key)) {
        Some(own) => less(used, one(key, own)),
        None => Ok(used),
    }
}

/// Counts one more pending payment under every key of `facts`.
pub(super) fn set_aside(conn: &Store, facts: &PaymentFacts) -> Result<(), LedgerFault> {
    each(conn, facts, |tally, one| Ok(Tally { pending: plus(tally.pending, one)?, ..tally })).map(drop)
}

/// Takes a pending payment that provably did not move out of every total.
pub(super) fn release(conn: &Store, facts: &PaymentFacts) -> Result<(), LedgerFault> {
    each(conn, facts, |tally, one| Ok(Tally { pending: less(tally.pending, one)?, ..tally })).map(drop)
}

/// Moves a pending payment to what was spent, at `at_s` or at the last such entry's time if that is later.
pub(super) fn spend(conn: &Store, facts: &PaymentFacts, at_s: u64, payment: &str) -> Result<(), LedgerFault> {
    let after = each(conn, facts, |tally, one| {
        let spent = plus(tally.spent, one)?;
        Ok(Tally { pending: less(tally.pending, one)?, spent, spent_last_s: at_s.max(tally.spent_last_s) })
    })?;
    let totals: Vec<String> = after.iter().map(|(_, tally)| wide(tally.spent.atto)).collect();
    let mut bound = Vec::new();
    for ((key, tally), total) in after.iter().zip(&totals) {
        let (seq, at_s) = (to_sql(tally.spent.count)?, to_sql(tally.spent_last_s)?);
        bound.extend([key.value(), Value::Number(seq), Value::Number(at_s), payment.value(), total.value()]);
    }
    conn.execute(&format!("{SPEND}{}", Places::rows(after.len(), 5)), &bound)?;
    Ok(())
}

/// Counts one more under a key that counts only.
pub(super) fn one_more(conn: &Store, key: &str) -> Result<(), LedgerFault> {
    let tally = read(conn, key)?;
    write(conn, &[(key, Tally { pending: plus(tally.pending, ONE)?, ..tally })])
}

/// Counts one less under a key that counts only.
pub(super) fn one_less(conn: &Store, key: &str) -> Result<(), LedgerFault> {
    let tally = read(conn, key)?;
    write(conn, &[(key, Tally { pending: less(tally.pending, ONE)?, ..tally })])
}

/// The sums of `key`; nothing for a key that was never used.
pub(super) fn read(conn: &Store, key: &str) -> Result<Tally, LedgerFault> {
    Ok(conn.first(TALLY, bound![key], |row| sums(row, 0))?.unwrap_or_default())
}

/// The sums in five columns of `row` from `at` on.
fn sums(row: &Row<'_>, at: usize) -> Result<Tally, LedgerFault> {
    let column = |offset: usize| at.saturating_add(offset);
    let used = |atto, count| -> Result<Used, LedgerFault> {
        let atto = narrow(&row.get::<String>(column(atto))?)?;
        Ok(Used { atto, count: from_sql(row.get(column(count))?)? })
    };
    Ok(Tally { pending: used(0, 1)?, spent: used(2, 3)?, spent_last_s: from_sql(row.get(column(4))?)? })
}

/// What one payment with `facts` adds under `key`: a key over all currencies counts, and adds no money.
pub(super) fn one(key: &str, facts: &PaymentFacts) -> Used {
    let atto = if key.ends_with("|*") { 0 } else { facts.money.atto() };
    Used { atto, count: 1 }
}

/// The sum; a fault when it cannot be counted.
pub(super) fn plus(a: Used, b: Used) -> Result<Used, LedgerFault> {
    let sum = a.atto.checked_add(b.atto).zip(a.count.checked_add(b.count));
    let (atto, count) =
        sum.ok_or_else(|| LedgerFault::Rule { detail: "a total is too large to be counted".to_owned() })?;
    Ok(Used { atto, count })
}

fn less(a: Used, b: Used) -> Result<Used, LedgerFault> {
    let difference = a.atto.checked_sub(b.atto).zip(a.count.checked_sub(b.count));
    let (atto, count) =
        difference.ok_or_else(|| LedgerFault::Books { detail: "a total went below zero".to_owned() })?;
    Ok(Used { atto, count })
}

fn spent_by(conn: &Store, key: &str, until_s: u64) -> Result<Used, LedgerFault> {
    let found =
        conn.first(SPENT_BEFORE, bound![key, to_sql(until_s)?], |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?)))?;
    match found {
        None => Ok(Used::default()),
        Some((total, count)) => Ok(Used { atto: narrow(&total)?, count: from_sql(count)? }),
    }
}

/// Changes the sums of every key of `facts`, read and written in one statement each: on a server each is a journey. What
/// they are now.
fn each<F>(conn: &Store, facts: &PaymentFacts, change: F) -> Result<Vec<(String, Tally)>, LedgerFault>
where
    F: Fn(Tally, Used) -> Result<Tally, LedgerFault>,
{
    let keys = facts.keys();
    let bound: Vec<Value<'_>> = keys.iter().map(|key| key.as_str().value()).collect();
    let mut found = BTreeMap::new();
    conn.each(&format!("{TALLIES}{}", Places::rows(1, keys.len())), &bound, |row| {
        found.insert(row.get::<String>(0)?, sums(row, 1)?);
        Ok(())
    })?;
    let mut after = Vec::with_capacity(keys.len());
    for key in &keys {
        let before = found.get(key.as_str()).copied().unwrap_or_default();
        after.push((key.as_str().to_owned(), change(before, one(key.as_str(), facts))?));
    }
    write(conn, &after)?;
    Ok(after)
}

fn write<K: AsRef<str>>(conn: &Store, tallies: &[(K, Tally)]) -> Result<(), LedgerFault> {
    let sums: Vec<[String; 2]> =
        tallies.iter().map(|(_, tally)| [wide(tally.pending.atto), wide(tally.spent.atto)]).collect();
    let mut bound = Vec::new();
    for ((key, tally), [pending, spent]) in tallies.iter().zip(&sums) {
        let [pending_count, spent_count] = [to_sql(tally.pending.count)?, to_sql(tally.spent.count)?];
        let last_s = to_sql(tally.spent_last_s)?;
        bound.extend([key.as_ref().value(), pending.value(), Value::Number(pending_count)]);
        bound.extend([spent.value(), Value::Number(spent_count), Value::Number(last_s)]);
    }
    conn.execute(&format!("{WRITE}{}{OR_CHANGE}", Places::rows(tallies.len(), 6)), &bound)?;
    Ok(())
}

pub(super) const PENDING: &str = "SELECT key, pending, pending_count FROM tally WHERE key > 'all|' AND key < 'all}'";

/// What is pending of every session, one entry a currency that has any.
pub(super) fn pending(conn: &Store) -> Result<Vec<Money>, LedgerFault> {
    let mut found = Vec::new();
    conn.each(PENDING, bound![], |row| {
        let (key, atto) = (row.get::<String>(0)?, narrow(&row.get::<String>(1)?)?);
        let currency = key.strip_prefix("all|").and_then(|currency| currency.parse().ok());
        if let Some(currency) = currency.filter(|_currency| atto != 0) {
            found.push(Money::new(currency, atto));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Money in the pending payments of one session; a session has one currency.
pub(super) fn pending_of_session(conn: &Store, id: &SessionId, currency: Currency) -> Result<Vec<Money>, LedgerFault> {
    let pending = read(conn, &format!("session|{id}|{currency}"))?.pending.atto;
    Ok(if pending == 0 { Vec::new() } else { vec![Money::new(currency, pending)] })
}

/// How many payments are pending, of every session and currency.
pub(super) fn pending_count(conn: &Store) -> Result<u64, LedgerFault> {
    Ok(read(conn, "all|*")?.pending.count)
}
