//! Every row that a query finds, read one after the other. Must never be asked for a table without an end.

use rusqlite::{Connection, Params, Row};

use super::fault::LedgerFault;

/// What `read` makes of every row that `sql` finds for `bound`, in the query's order; the statement stays prepared.
///
/// # Errors
///
/// The first fault of the database or of `read`.
pub(super) fn every<T, P: Params>(
    conn: &Connection,
    sql: &str,
    bound: P,
    mut read: impl FnMut(&Row<'_>) -> Result<T, LedgerFault>,
) -> Result<Vec<T>, LedgerFault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(bound)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}
