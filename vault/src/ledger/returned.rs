//! What was counted as spent and is proved not to have moved. Must never give back more than was counted, nor to a
//! window that did not count it.
//!
//! Spent money stays written down. What a proof frees is written beside it under the same keys and at the same second,
//! with the sum so far, so that it leaves exactly those windows that it was in: a window is what was spent since its
//! beginning less what was returned of that, two more index look-ups whatever the number of payments. A proof
//! that comes late puts its entry between others, and the sums after it are raised; proofs come in about the order of
//! the payments, so these are few.

use bursar_policy::limit::PaymentFacts;

use super::fault::LedgerFault;
use super::number::{from_sql, narrow, to_sql, wide};
use super::store::{Row, Store, Value, bound};
use super::tally::{self, Used};

pub(super) const LAST: &str =
    "SELECT total, count FROM returned WHERE key = ?1 ORDER BY at_s DESC, payment DESC LIMIT 1";
pub(super) const LAST_BY: &str =
    "SELECT total, count FROM returned WHERE key = ?1 AND at_s <= ?2 ORDER BY at_s DESC, payment DESC LIMIT 1";
const BEFORE: &str = "SELECT total, count FROM returned WHERE key = ?1 AND (at_s, payment) < (?2, ?3)
     ORDER BY at_s DESC, payment DESC LIMIT 1";
const AFTER: &str = "SELECT at_s, payment, total, count FROM returned WHERE key = ?1 AND (at_s, payment) > (?2, ?3)";
const RAISE: &str = "UPDATE returned SET total = ?1, count = ?2 WHERE key = ?3 AND at_s = ?4 AND payment = ?5";
const INSERT: &str = "INSERT INTO returned (key, at_s, payment, total, count) VALUES (?1, ?2, ?3, ?4, ?5)";
/// The entry of a payment is at the second in which it ended, or soon after where others were written down by then.
pub(super) const SPENT_AT: &str =
    "SELECT at_s FROM spent WHERE key = ?1 AND ?2 <= at_s AND payment = ?3 ORDER BY at_s, seq LIMIT 1";
const ANY: &str = "SELECT 1 FROM returned WHERE payment = ?1";
const ENTRIES: &str = "SELECT returned.key, returned.total, returned.count, payment.money, payment.state = 'lapsed' AND
         EXISTS (SELECT 1 FROM spent WHERE spent.key = returned.key AND spent.at_s = returned.at_s
                 AND spent.payment = returned.payment)
     FROM returned JOIN payment ON payment.id = returned.payment
     ORDER BY returned.key, returned.at_s, returned.payment";

/// What of the spending under `key` was returned: all of it, or of that up to the second `until_s`.
pub(super) fn sum(conn: &Store, key: &str, until_s: Option<u64>) -> Result<Used, LedgerFault> {
    match until_s {
        None => one(conn, LAST, bound![key]),
        Some(until_s) => one(conn, LAST_BY, bound![key, to_sql(until_s)?]),
    }
}

/// Whether a payment that lapsed was counted as spent before.
pub(super) fn holds(conn: &Store, payment: &str) -> Result<bool, LedgerFault> {
    conn.has(ANY, bound![payment])
}

/// Gives a lapsed payment that was counted as spent from `ended_s` on back to every total that counted it.
pub(super) fn give_back(conn: &Store, facts: &PaymentFacts, payment: &str, ended_s: u64) -> Result<(), LedgerFault> {
    for key in facts.keys() {
        let key = key.as_str();
        let amount = tally::one(key, facts);
        let at_s: i64 = conn.one(SPENT_AT, bound![key, to_sql(ended_s)?, payment], |row| row.get(0))?;
        let total = tally::plus(one(conn, BEFORE, bound![key, at_s, payment])?, amount)?;
        conn.execute(INSERT, bound![key, at_s, payment, wide(total.atto), to_sql(total.count)?])?;
        for (later_s, later, total) in after(conn, key, at_s, payment)? {
            let raised = tally::plus(total, amount)?;
            let count = to_sql(raised.count)?;
            conn.execute(RAISE, bound![wide(raised.atto), count, key, later_s, later])?;
        }
    }
    Ok(())
}

/// The first thing that does not fit: an entry with a wrong sum, of a payment that did not lapse, or of one that was not
/// spent at that second.
pub(super) fn misfit(conn: &Store) -> Result<Option<String>, LedgerFault> {
    let mut last: (String, Used) = (String::new(), Used::default());
    let mut wrong = None;
    conn.each(ENTRIES, bound![], |row| {
        let key: String = row.get(0)?;
        let total = Used { atto: narrow(&row.get::<String>(1)?)?, count: from_sql(row.get(2)?)? };
        let atto = if key.ends_with("|*") { 0 } else { narrow(&row.get::<String>(3)?)? };
        let before = if key == last.0 { last.1 } else { Used::default() };
        let fits = row.get::<bool>(4)? && tally::plus(before, Used { atto, count: 1 })? == total;
        if !fits && wrong.is_none() {
            wrong = Some(key.clone());
        }
        last = (key, total);
        Ok(())
    })?;
    Ok(wrong)
}

fn after(conn: &Store, key: &str, at_s: i64, payment: &str) -> Result<Vec<(i64, String, Used)>, LedgerFault> {
    conn.every(AFTER, bound![key, at_s, payment], |row| {
        let total = Used { atto: narrow(&row.get::<String>(2)?)?, count: from_sql(row.get(3)?)? };
        Ok((row.get(0)?, row.get(1)?, total))
    })
}

fn one(conn: &Store, sql: &str, bound: &[Value<'_>]) -> Result<Used, LedgerFault> {
    let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?));
    match conn.first(sql, bound, read)? {
        None => Ok(Used::default()),
        Some((total, count)) => Ok(Used { atto: narrow(&total)?, count: from_sql(count)? }),
    }
}
