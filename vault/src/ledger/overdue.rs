//! How many payments ran out unresolved, by host and by payee. Must never count what is in flight.
//!
//! A payment is overdue when its authorization ran out, no claim settled it, and nothing was delivered for it that its
//! seller does not contradict: nobody knows whether the money moved. A late answer or settlement ends that. A person may
//! put up with it, for the host or for the payee: then it stays what it is, and is no longer counted there.

use bursar_policy::budget::Unresolved;
use bursar_policy::errand::PaymentId;
use bursar_policy::limit::{PaymentFacts, Scope};

use super::fault::LedgerFault;
use super::rows::Payment;
use super::standing;
use super::states::RowState;
use super::store::{Store, bound};
use super::tally;
use crate::protocol::Lost;

/// How every key begins.
const LOST: &str = "overdue-";
/// They are counted whatever their currency.
const CURRENCY: &str = "|*";

/// What begins with `overdue-`, by the index of the keys.
const LIST: &str = "SELECT key, pending_count FROM tally
     WHERE key >= 'overdue-' AND key < 'overdue.' AND pending_count > 0 ORDER BY pending_count DESC, key LIMIT ?1";

pub(super) const PARDONED: &str = "SELECT 1 FROM pardon WHERE payment = ?1 AND scope = ?2";
const PARDONED_AT_ALL: &str = "SELECT 1 FROM pardon WHERE payment = ?1";
const PARDON: &str = "INSERT INTO pardon (payment, scope) VALUES (?1, ?2)";

/// Whom a lost payment is counted against.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Subject {
    /// A host or a payee.
    pub(super) scope: Scope,
    /// Which: an origin, or `chain:address`.
    pub(super) of: String,
}

impl Subject {
    /// The key of running totals that only this file writes; no limit reads it.
    pub(super) fn key(&self) -> String {
        format!("{LOST}{}|{}{CURRENCY}", self.scope.name(), self.of)
    }

    fn of_key(key: &str) -> Option<Self> {
        let (scope, of) = key.strip_prefix(LOST)?.strip_suffix(CURRENCY)?.split_once('|')?;
        let scope = [Scope::Host, Scope::Payee].into_iter().find(|known| known.name() == scope)?;
        Some(Self { scope, of: of.to_owned() })
    }
}

/// The host and the payee of a payment with `facts`.
pub(super) fn subjects(facts: &PaymentFacts) -> [Subject; 2] {
    let (host, chain, payee) = (facts.site.origin(), &facts.asset.chain, &facts.payee);
    [
        Subject { scope: Scope::Host, of: host.to_string() },
        Subject { scope: Scope::Payee, of: format!("{chain}:{payee}") },
    ]
}

/// Whether `payment` is overdue.
pub(super) fn is(payment: &Payment) -> bool {
    payment.state == RowState::PresumedSpent && payment.is_unresolved()
}

/// Whether an overdue `payment` is counted against its `scope`: nobody put up with it there.
pub(super) fn counts(conn: &Store, payment: &PaymentId, scope: Scope) -> Result<bool, LedgerFault> {
    Ok(!conn.has(PARDONED, bound![payment.as_str(), scope.name()])?)
}

/// Whether a person put up with `payment`, for its host or for its payee.
pub(super) fn is_pardoned(conn: &Store, payment: &PaymentId) -> Result<bool, LedgerFault> {
    conn.has(PARDONED_AT_ALL, bound![payment.as_str()])
}

/// Counts one more.
pub(super) fn begins(conn: &Store, payment: &Payment) -> Result<(), LedgerFault> {
    each_counted(conn, payment, tally::one_more)
}

/// Counts what became of `before`.
pub(super) fn changed(conn: &Store, before: &Payment, after: &Payment) -> Result<(), LedgerFault> {
    match (is(before), is(after)) {
        (false, true) => begins(conn, after),
        (true, false) => each_counted(conn, after, tally::one_less),
        _ => Ok(()),
    }
}

/// Counts an overdue `payment` no longer against `subject`; whether it was.
pub(super) fn pardon(conn: &Store, payment: &PaymentId, subject: &Subject) -> Result<bool, LedgerFault> {
    if !counts(conn, payment, subject.scope)? {
        return Ok(false);
    }
    conn.execute(PARDON, bound![payment.as_str(), subject.scope.name()])?;
    tally::one_less(conn, &subject.key())?;
    Ok(true)
}

/// How many are counted against `subject`: one index look-up.
pub(super) fn count(conn: &Store, subject: &Subject) -> Result<u32, LedgerFault> {
    Ok(standing::count(tally::read(conn, &subject.key())?.pending))
}

/// How many there are for the host and the payee of a payment with `facts`: two index look-ups.
pub(super) fn read(conn: &Store, facts: &PaymentFacts) -> Result<Unresolved, LedgerFault> {
    let [host, payee] = subjects(facts);
    Ok(Unresolved { host: count(conn, &host)?, payee: count(conn, &payee)? })
}

/// Every host and payee that has any, the most first, at most `most` of them.
pub(super) fn list(conn: &Store, most: u32) -> Result<Vec<Lost>, LedgerFault> {
    conn.every(LIST, bound![most], |row| {
        let (key, count) = (row.get::<String>(0)?, row.get::<u32>(1)?);
        let Subject { scope, of } = Subject::of_key(&key).ok_or(LedgerFault::Unreadable { what: "tally" })?;
        Ok(Lost { scope, of, count })
    })
}

fn each_counted(
    conn: &Store,
    payment: &Payment,
    change: fn(&Store, &str) -> Result<(), LedgerFault>,
) -> Result<(), LedgerFault> {
    for subject in subjects(&payment.facts()) {
        if counts(conn, &payment.id, subject.scope)? {
            change(conn, &subject.key())?;
        }
    }
    Ok(())
}
