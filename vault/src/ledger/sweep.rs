//! What time does to payments: an authorization that ran out is presumed spent. Must never free counted money.

use bursar_policy::quantity::Moment;

use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::number::to_sql;
use super::refused::Minute;
use super::rows::{self, Payment};
use super::states::{EXPIRY_MARGIN_S, RowState};
use super::store::bound;
use super::writer::{Answer, Tx};
use super::{Ledger, approval, custody, handle, overdue, prove, tally};
use crate::failpoint;

impl Ledger {
    /// Moves every exposed payment whose authorization ran out to presumed spent, and voids what was held for a handle
    /// that ran out, which it does not while the ledger is shut. How many it moved, a handle that was open for a signed
    /// payment included. Nobody has to call this for the sums to be right: every claim and every authorization does the
    /// same first.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn sweep(&self) -> Result<usize, LedgerFault> {
        self.tell_left_out(Minute::Over);
        self.give_back_unsigned()?;
        self.end_sweeps()?;
        let mut moved: usize = 0;
        loop {
            match self.writer.ask(|tx| due(tx).map(Answer::AtOnce))? {
                0 => return Ok(moved),
                some => moved = moved.saturating_add(some),
            }
        }
    }
}

/// Moves at most 64 payments that are due, and ends as many handles and what a person's time is over for; how many
/// payments and handles it moved. Costs an index look-up each when there is nothing to do.
pub(super) fn due(tx: &Tx<'_>) -> Result<usize, LedgerFault> {
    approval::due(tx)?;
    let until_s = to_sql(tx.now_s.saturating_sub(EXPIRY_MARGIN_S))?;
    let found = rows::list(tx.conn, rows::DUE, bound![until_s])?;
    for payment in &found {
        presume_spent(tx, payment, format!("no proof came before {}", Moment(payment.valid_before)))?;
    }
    // A ledger that was set back is shut, and its word that something is only held is an old one.
    let over = if tx.latched { 0 } else { handle::due(tx)?.saturating_add(custody::adopt(tx)?) };
    let moved = found.len().saturating_add(over);
    if moved != 0 {
        failpoint::reach("vault-sweep-uncommitted");
    }
    Ok(moved)
}

/// An exposed payment counts as spent from its end plus margin on, as if it had been settled at that moment.
pub(super) fn presume_spent(tx: &Tx<'_>, payment: &Payment, told: String) -> Result<(), LedgerFault> {
    let at_s = payment.valid_before.saturating_add(EXPIRY_MARGIN_S);
    tally::spend(tx.conn, &payment.facts(), at_s, payment.id.as_str())?;
    end(tx, payment, RowState::PresumedSpent, at_s)?;
    overdue::changed(tx.conn, payment, &Payment { state: RowState::PresumedSpent, ..payment.clone() })?;
    written(tx, payment, EventKind::PresumedSpent, told)
}

/// Takes a payment that provably was not signed out of every total.
pub(super) fn void(tx: &Tx<'_>, payment: &Payment, why: &str) -> Result<(), LedgerFault> {
    tally::release(tx.conn, &payment.facts())?;
    prove::forget(tx.conn, &payment.id)?;
    end(tx, payment, RowState::Voided, tx.now_s)?;
    written(tx, payment, EventKind::Voided, why.to_owned())
}

/// Sets a final state.
pub(super) fn end(tx: &Tx<'_>, payment: &Payment, state: RowState, at_s: u64) -> Result<(), LedgerFault> {
    tx.conn.execute(
        "UPDATE payment SET state = ?1, ended_s = ?2, updated_s = ?3 WHERE id = ?4",
        bound![state.word(), to_sql(at_s)?, to_sql(tx.now_s)?, payment.id.as_str()],
    )?;
    Ok(())
}

/// Writes an event about a payment, with the digest of the row as it is now.
pub(super) fn written(tx: &Tx<'_>, payment: &Payment, kind: EventKind, told: String) -> Result<(), LedgerFault> {
    let fact = rows::fact(tx.conn, &payment.id)?;
    tx.event(&Event::new(kind, told).session(&payment.session).payment(&payment.id).fact(fact))
}
