//! From an older version of the ledger to this one, whole or not at all. Must never change what a row says.

use super::fault::LedgerFault;
use super::rows;
use super::store::Store;
use super::{acquaintance, overdue, prove, schema};

/// Adds what came after `version` and counts what is counted since, in one transaction.
///
/// The caller has checked the file and holds its lock.
pub(super) fn from(conn: &Store, version: i64) -> Result<(), LedgerFault> {
    let transaction = conn.transaction()?;
    schema::add(conn.file()?, version)?;
    if 4 <= version {
        // Since then nothing is new that rows are counted for.
        return transaction.commit();
    }
    rows::each(&transaction, |payment| {
        // New with version 2: what ran out unresolved is counted.
        if version < 2 && overdue::is(&payment) {
            overdue::begins(&transaction, &payment)?;
        }
        // New with version 3: what is known of hosts.
        if version < 3 && acquaintance::counts(&payment) {
            acquaintance::learn(&transaction, &payment)?;
        }
        // New with version 4: what a chain is to be asked about.
        prove::remember(&transaction, &payment)
    })?;
    transaction.commit()
}
