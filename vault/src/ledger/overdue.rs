//! How many payments ran out unresolved, by host and by payee. Must never count what is in flight.
//!
//! A payment is overdue when its authorization ran out, no claim settled it, and nothing was delivered for it that its
//! seller does not contradict: nobody knows whether the money moved. A late answer or settlement ends that.

use bursar_policy::budget::Unresolved;
use bursar_policy::limit::PaymentFacts;
use rusqlite::Connection;

use super::fault::LedgerFault;
use super::rows::Payment;
use super::standing;
use super::states::RowState;
use super::tally;

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

/// The keys of running totals that only this file writes; no limit reads them.
pub(super) fn keys(facts: &PaymentFacts) -> [String; 2] {
    let payee = format!("{}:{}", facts.asset.chain, facts.payee);
    [format!("overdue-host|{}|*", facts.site.origin()), format!("overdue-payee|{payee}|*")]
}
