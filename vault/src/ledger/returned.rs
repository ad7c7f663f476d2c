//! What was counted as spent and is proved not to have moved. Must never give back more than was counted, nor to a
//! window that did not count it.
//!
//! Spent money stays written down. What a proof frees is written beside it under the same keys and at the same second,
//! with the sum so far, so that it leaves exactly those windows that it was in: a window is what was spent since its
//! beginning less what was returned of that, two more index look-ups whatever the number of payments. A proof
//! that comes late puts its entry between others, and the sums after it are raised; proofs come in about the order of
//! the payments, so these are few.

use bursar_policy::limit::PaymentFacts;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault::LedgerFault;
use super::number::{from_sql, narrow, to_sql, wide};
use super::query;
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
pub(super) const SPENT_AT: &str = "SELECT at_s FROM spent WHERE payment = ?1 AND key = ?2";
const ANY: &str = "SELECT 1 FROM returned WHERE payment = ?1";

/// What of the spending under `key` was returned: all of it, or of that up to the second `until_s`.
pub(super) fn sum(conn: &Connection, key: &str, until_s: Option<u64>) -> Result<Used, LedgerFault> {
    match until_s {
        None => one(conn, LAST, params![key]),
        Some(until_s) => one(conn, LAST_BY, params![key, to_sql(until_s)?]),
    }
}

/// Whether a payment that lapsed was counted as spent before.
pub(super) fn holds(conn: &Connection, payment: &str) -> Result<bool, LedgerFault> {
    Ok(conn.prepare_cached(ANY)?.exists([payment])?)
}

/// Gives a lapsed payment that was counted as spent back to every total that counted it.
pub(super) fn give_back(conn: &Connection, facts: &PaymentFacts, payment: &str) -> Result<(), LedgerFault> {
    for key in facts.keys() {
        let key = key.as_str();
        let amount = tally::one(key, facts);
        let at_s: i64 = conn.prepare_cached(SPENT_AT)?.query_row([payment, key], |row| row.get(0))?;
        let total = tally::plus(one(conn, BEFORE, params![key, at_s, payment])?, amount)?;
        conn.prepare_cached(INSERT)?.execute(params![key, at_s, payment, wide(total.atto), to_sql(total.count)?])?;
        for (later_s, later, total) in after(conn, key, at_s, payment)? {
            let raised = tally::plus(total, amount)?;
            let entry = params![wide(raised.atto), to_sql(raised.count)?, key, later_s, later];
            conn.prepare_cached(RAISE)?.execute(entry)?;
        }
    }
    Ok(())
}

/// The first thing that does not fit: an entry with a wrong sum, of a payment that did not lapse, or of one that was not
/// spent at that second.
pub(super) fn misfit(conn: &Connection) -> Result<Option<String>, LedgerFault> {
    let mut statement = conn.prepare(
        "SELECT returned.key, returned.total, returned.count, payment.money, payment.state = 'lapsed' AND EXISTS
             (SELECT 1 FROM spent WHERE spent.payment = returned.payment AND spent.key = returned.key
              AND spent.at_s = returned.at_s)
         FROM returned JOIN payment ON payment.id = returned.payment
         ORDER BY returned.key, returned.at_s, returned.payment",
    )?;
    let mut rows = statement.query([])?;
    let mut last: (String, Used) = (String::new(), Used::default());
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        let total = Used { atto: narrow(&row.get::<_, String>(1)?)?, count: from_sql(row.get(2)?)? };
        let atto = if key.ends_with("|*") { 0 } else { narrow(&row.get::<_, String>(3)?)? };
        let before = if key == last.0 { last.1 } else { Used::default() };
        if !row.get::<_, bool>(4)? || tally::plus(before, Used { atto, count: 1 })? != total {
            return Ok(Some(key));
        }
        last = (key, total);
    }
    Ok(None)
}

fn after(conn: &Connection, key: &str, at_s: i64, payment: &str) -> Result<Vec<(i64, String, Used)>, LedgerFault> {
    query::every(conn, AFTER, params![key, at_s, payment], |row| {
        let total = Used { atto: narrow(&row.get::<_, String>(2)?)?, count: from_sql(row.get(3)?)? };
        Ok((row.get(0)?, row.get(1)?, total))
    })
}

fn one(conn: &Connection, sql: &str, bound: impl rusqlite::Params) -> Result<Used, LedgerFault> {
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
    match conn.prepare_cached(sql)?.query_row(bound, read).optional()? {
        None => Ok(Used::default()),
        Some((total, count)) => Ok(Used { atto: narrow(&total)?, count: from_sql(count)? }),
    }
}
