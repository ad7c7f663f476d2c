//! From an older version of the ledger to this one, whole or not at all. Must never change what a row says.

use rusqlite::{Connection, TransactionBehavior};

use super::fault::LedgerFault;
use super::rows::{self, Payment};
use super::{overdue, schema};

/// Adds what came after `version` and counts what is counted since, in one transaction.
///
/// The caller has checked the file and holds its lock.
pub(super) fn from(conn: &mut Connection, version: i64) -> Result<(), LedgerFault> {
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::add(&transaction, version)?;
    // New with version 2: what ran out unresolved is counted.
    let mut unresolved: Vec<Payment> = Vec::new();
    rows::each(&transaction, |payment| {
        if overdue::is(&payment) {
            unresolved.push(payment);
        }
        Ok(())
    })?;
    for payment in &unresolved {
        overdue::begins(&transaction, payment)?;
    }
    transaction.commit()?;
    Ok(())
}
