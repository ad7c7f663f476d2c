//! The rules' statements on SQLite. Must never open a file: `open.rs` does.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql};

use super::value::{Cell, Row, Value};
use crate::ledger::fault::LedgerFault;

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

pub(super) fn execute(conn: &Connection, sql: &str, bound: &[Value<'_>]) -> Result<usize, LedgerFault> {
    let mut statement = conn.prepare_cached(sql)?;
    bind(&mut statement, bound)?;
    Ok(statement.raw_execute()?)
}

pub(super) fn each(
    conn: &Connection,
    sql: &str,
    bound: &[Value<'_>],
    visit: &mut dyn FnMut(&Row<'_>) -> Result<(), LedgerFault>,
) -> Result<(), LedgerFault> {
    let mut statement = conn.prepare_cached(sql)?;
    bind(&mut statement, bound)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        visit(&Row::Sqlite(row))?;
    }
    Ok(())
}

pub(super) fn first<T>(
    conn: &Connection,
    sql: &str,
    bound: &[Value<'_>],
    read: impl FnOnce(&Row<'_>) -> Result<T, LedgerFault>,
) -> Result<Option<T>, LedgerFault> {
    let mut statement = conn.prepare_cached(sql)?;
    bind(&mut statement, bound)?;
    let mut rows = statement.raw_query();
    rows.next()?.map(|row| read(&Row::Sqlite(row))).transpose()
}

/// A statement that is no more than a word or two.
pub(super) fn step(conn: &Connection, sql: &str) -> Result<(), LedgerFault> {
    conn.prepare_cached(sql)?.execute([])?;
    Ok(())
}

pub(super) fn cell<'r>(row: &'r rusqlite::Row<'_>, column: usize) -> Result<Cell<'r>, LedgerFault> {
    let unreadable = LedgerFault::Unreadable { what: "row" };
    match row.get_ref(column)? {
        ValueRef::Null => Ok(Cell::Null),
        ValueRef::Integer(number) => Ok(Cell::Number(number)),
        ValueRef::Text(text) => core::str::from_utf8(text).map(Cell::Text).map_err(|_fault| unreadable),
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(unreadable),
    }
}

pub(super) fn stranger(conn: &Connection) -> Result<Option<String>, LedgerFault> {
    let mut statement = conn.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (table, place): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
    let place = place.map(|place| format!(" {place}")).unwrap_or_default();
    Ok(Some(format!("`{table}`{place}")))
}

fn bind(statement: &mut Statement<'_>, bound: &[Value<'_>]) -> Result<(), LedgerFault> {
    // As for an array of another length than the statement has places.
    let (wanted, given) = (statement.parameter_count(), bound.len());
    if wanted != given {
        return Err(rusqlite::Error::InvalidParameterCount(given, wanted).into());
    }
    for (place, value) in (1..).zip(bound) {
        statement.raw_bind_parameter(place, value)?;
    }
    Ok(())
}
