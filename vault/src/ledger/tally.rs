//! Running totals: what is pending and what was spent under every key a limit may ask for. Must never look at payments.
//!
//! A total costs two index look-ups whatever the number of payments: `tally` has the sums as they are now, and `spent`
//! has, for every spent payment in order of time, the sum so far, so that a window is the sum now less the sum at its
//! beginning, wherever that is. What is pending is never part of that subtraction: it counts in every window at any age.

use bursar_policy::errand::SessionId;
use bursar_policy::limit::PaymentFacts;
use bursar_policy::money::{Currency, Money};

use super::fault::LedgerFault;
use super::number::{from_sql, narrow, to_sql, wide};
use super::returned;
use super::store::{Store, bound};

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

const WRITE: &str = "INSERT INTO tally (key, pending, pending_count, spent, spent_count, spent_last_s)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
     ON CONFLICT (key) DO UPDATE SET pending = excluded.pending, pending_count = excluded.pending_count,
         spent = excluded.spent, spent_count = excluded.spent_count, spent_last_s = excluded.spent_last_s";

const SPEND: &str = "INSERT INTO spent (key, seq, at_s, payment, total) VALUES (?1, ?2, ?3, ?4, ?5)";

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
    each(conn, facts, |tally, one| Ok(Tally { pending: plus(tally.pending, one)?, ..tally }))
}

/// Takes a pending payment that provably did not move out of every total.
pub(super) fn release(conn: &Store, facts: &PaymentFacts) -> Result<(), LedgerFault> {
    each(conn, facts, |tally, one| Ok(Tally { pending: less(tally.pending, one)?, ..tally }))
}

/// Moves a pending payment to what was spent, at `at_s` or at the last such entry's time if that is later.
pub(super) fn spend(conn: &Store, facts: &PaymentFacts, at_s: u64, payment: &str) -> Result<(), LedgerFault> {
    for key in facts.keys() {
        let key = key.as_str();
        let (tally, one) = (read(conn, key)?, one(key, facts));
        let spent = plus(tally.spent, one)?;
        let spent_last_s = at_s.max(tally.spent_last_s);
        write(conn, key, &Tally { pending: less(tally.pending, one)?, spent, spent_last_s })?;
        let (seq, at_s) = (to_sql(spent.count)?, to_sql(spent_last_s)?);
        conn.execute(SPEND, bound![key, seq, at_s, payment, wide(spent.atto)])?;
    }
    Ok(())
}

/// Counts one more under a key that counts only.
pub(super) fn one_more(conn: &Store, key: &str) -> Result<(), LedgerFault> {
    let tally = read(conn, key)?;
    write(conn, key, &Tally { pending: plus(tally.pending, ONE)?, ..tally })
}

/// Counts one less under a key that counts only.
pub(super) fn one_less(conn: &Store, key: &str) -> Result<(), LedgerFault> {
    let tally = read(conn, key)?;
    write(conn, key, &Tally { pending: less(tally.pending, ONE)?, ..tally })
}

/// The sums of `key`; nothing for a key that was never used.
pub(super) fn read(conn: &Store, key: &str) -> Result<Tally, LedgerFault> {
    let found = conn.first(TALLY, bound![key], |row| {
        Ok((row.get::<String>(0)?, row.get::<i64>(1)?, row.get::<String>(2)?, row.get::<i64>(3)?, row.get::<i64>(4)?))
    })?;
    let Some((pending, pending_count, spent, spent_count, last)) = found else {
        return Ok(Tally::default());
    };
    Ok(Tally {
        pending: Used { atto: narrow(&pending)?, count: from_sql(pending_count)? },
        spent: Used { atto: narrow(&spent)?, count: from_sql(spent_count)? },
        spent_last_s: from_sql(last)?,
    })
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

fn each<F>(conn: &Store, facts: &PaymentFacts, change: F) -> Result<(), LedgerFault>
where
    F: Fn(Tally, Used) -> Result<Tally, LedgerFault>,
{
    for key in facts.keys() {
        let key = key.as_str();
        let after = change(read(conn, key)?, one(key, facts))?;
        write(conn, key, &after)?;
    }
    Ok(())
}

fn write(conn: &Store, key: &str, tally: &Tally) -> Result<(), LedgerFault> {
    conn.execute(
        WRITE,
        bound![
            key,
            wide(tally.pending.atto),
            to_sql(tally.pending.count)?,
            wide(tally.spent.atto),
            to_sql(tally.spent.count)?,
            to_sql(tally.spent_last_s)?,
        ],
    )?;
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
