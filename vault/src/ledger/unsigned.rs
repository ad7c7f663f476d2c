//! Payments of which nobody heard whether they were counted, because the server was lost just then. Must never give money
//! back for which a signature was asked for.
//!
//! An ask that is not answered leads to no signature, whatever became of its row: nothing is signed but what this vault heard
//! to be counted. So it knows of exactly these payments that there is no signature, gives the money back as soon as the
//! server is there again, and does nothing else before.

use std::sync::PoisonError;

use bursar_policy::errand::PaymentId;

use super::fault::LedgerFault;
use super::rows;
use super::states::RowState;
use super::writer::{Answer, Tx};
use super::{Ledger, handle, sweep};

impl Ledger {
    /// Remembers `payment` where it is not known whether it was counted. The answer, as it was.
    pub(super) fn or_unsigned<T>(&self, payment: &PaymentId, answer: Result<T, LedgerFault>) -> Result<T, LedgerFault> {
        if matches!(answer, Err(LedgerFault::Unreachable { .. })) {
            self.unsigned.lock().unwrap_or_else(PoisonError::into_inner).push(payment.clone());
        }
        answer
    }

    /// Gives back what was counted for an ask that nobody heard the answer of. Costs nothing where there is none.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then it is tried again before anything else is counted.
    pub(super) fn give_back_unsigned(&self) -> Result<(), LedgerFault> {
        // Held on to: whoever comes meanwhile must not count for the same handle before this is done.
        let mut unsigned = self.unsigned.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(id) = unsigned.last().cloned() {
            self.writer.ask(move |tx| give_back(tx, &id))?;
            unsigned.pop();
        }
        Ok(())
    }
}

fn give_back(tx: &Tx<'_>, id: &PaymentId) -> Result<Answer<()>, LedgerFault> {
    let row = match rows::by_id(tx.conn, id) {
        // It was not counted after all.
        Err(LedgerFault::NoSuchPayment { .. }) => return Ok(Answer::AtOnce(())),
        found => found?,
    };
    match row.state {
        RowState::Held => handle::close_of(tx, &row)?,
        RowState::Exposed if row.signature.is_none() => {
            handle::close_of(tx, &row)?;
            sweep::void(tx, &row, "the answer that it was counted never came, so nothing was signed")?;
        }
        _ => return Ok(Answer::AtOnce(())),
    }
    Ok(Answer::Durable(()))
}
