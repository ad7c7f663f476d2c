//! How many payments ran out unresolved, by host and by payee. Must never count what is in flight.
//!
//! A payment is overdue when its authorization ran out, no claim settled it, and nothing was delivered for it that its
//! seller does not contradict: nobody knows whether the money moved. A late answer or settlement ends that.

use bursar_policy::budget::Unresolved;
use bursar_policy::limit::{PaymentFacts, Scope};
use rusqlite::Connection;

use super::fault::LedgerFault;
use super::rows::Payment;
use super::standing;
use super::states::RowState;
use super::tally;
use crate::protocol::Lost;

const HOST: &str = "overdue-host|";
const PAYEE: &str = "overdue-payee|";
/// They are counted whatever their currency.
const CURRENCY: &str = "|*";

/// What begins with `overdue-`, by the index of the keys.
const LIST: &str = "SELECT key, pending_count FROM tally
     WHERE key >= 'overdue-' AND key < 'overdue.' AND pending_count > 0 ORDER BY pending_count DESC, key LIMIT 20";

/// Whether `payment` is overdue.
pub(super) fn is(payment: &Payment) -> bool {
    payment.state == RowState::PresumedSpent && payment.is_unresolved()
}

/// Counts one more.
pub(super) fn begins(conn: &Connection, payment: &Payment) -> Result<(), LedgerFault> {
    keys(&payment.facts()).iter().try_for_each(|key| tally::one_more(conn, key))
}

/// Counts what became of `before`.
pub(super) fn changed(conn: &Connection, before: &Payment, after: &Payment) -> Result<(), LedgerFault> {
    match (is(before), is(after)) {
        (false, true) => begins(conn, after),
        (true, false) => keys(&after.facts()).iter().try_for_each(|key| tally::one_less(conn, key)),
        _ => Ok(()),
    }
}

/// How many there are for the host and the payee of a payment with `facts`: two index look-ups.
pub(super) fn read(conn: &Connection, facts: &PaymentFacts) -> Result<Unresolved, LedgerFault> {
    let [host, payee] = keys(facts);
    let count = |key: &str| tally::read(conn, key).map(|found| standing::count(found.pending));
    Ok(Unresolved { host: count(&host)?, payee: count(&payee)? })
}

/// Every host and payee that has any, the most first.
pub(super) fn list(conn: &Connection) -> Result<Vec<Lost>, LedgerFault> {
    let mut statement = conn.prepare_cached(LIST)?;
    let found = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?)))?;
    let mut lost = Vec::new();
    for row in found {
        let (key, count) = row?;
        let (scope, of) = match (key.strip_prefix(HOST), key.strip_prefix(PAYEE)) {
            (Some(of), _) => (Scope::Host, of),
            (_, Some(of)) => (Scope::Payee, of),
            _ => return Err(LedgerFault::Unreadable { what: "tally" }),
        };
        lost.push(Lost { scope, of: of.strip_suffix(CURRENCY).unwrap_or(of).to_owned(), count });
    }
    Ok(lost)
}

/// The keys of running totals that only this file writes; no limit reads them.
pub(super) fn keys(facts: &PaymentFacts) -> [String; 2] {
    let (host, chain, payee) = (facts.site.origin(), &facts.asset.chain, &facts.payee);
    [format!("{HOST}{host}{CURRENCY}"), format!("{PAYEE}{chain}:{payee}{CURRENCY}")]
}
