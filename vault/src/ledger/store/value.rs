//! Values on their way into a statement, and out of a row. Must never turn one kind into another.

use std::fmt;

use crate::ledger::fault::LedgerFault;

/// A value that is bound to a statement. There are no other kinds in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ledger) enum Value<'a> {
    /// Nothing.
    Null,
    /// A count, a time, or yes and no.
    Number(i64),
    /// Everything else.
    Text(&'a str),
}

/// What can be bound to a statement.
pub(in crate::ledger) trait Bind {
    /// As the value that is bound.
    fn value(&self) -> Value<'_>;
}

impl Bind for str {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Bind for String {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Bind for i64 {
    fn value(&self) -> Value<'_> {
        Value::Number(*self)
    }
}

impl Bind for u32 {
    fn value(&self) -> Value<'_> {
        Value::Number(Self::into(*self))
    }
}

impl Bind for u8 {
    fn value(&self) -> Value<'_> {
        Value::Number(Self::into(*self))
    }
}

impl Bind for bool {
    fn value(&self) -> Value<'_> {
        Value::Number(Self::into(*self))
    }
}

impl<T: Bind> Bind for Option<T> {
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Bind::value)
    }
}

impl<T: Bind + ?Sized> Bind for &T {
    fn value(&self) -> Value<'_> {
        (**self).value()
    }
}

/// The values of a statement, in order.
macro_rules! bound {
    ($($value:expr),* $(,)?) => { &[$($crate::ledger::store::Bind::value(&$value)),*] };
}

pub(in crate::ledger) use bound;

/// The places of a statement for several rows of so many values: `(?1, ?2), (?3, ?4)`.
pub(in crate::ledger) struct Places {
    rows: usize,
    width: usize,
}

impl Places {
    /// For `rows` rows of `width` values.
    pub(in crate::ledger) const fn rows(rows: usize, width: usize) -> Self {
        Self { rows, width }
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut place = 0_usize;
        for row in 0..self.rows {
            f.write_str(if row == 0 { "(" } else { ", (" })?;
            for column in 0..self.width {
                place = place.saturating_add(1);
                write!(f, "{}?{place}", if column == 0 { "" } else { ", " })?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// A value as a row has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ledger) enum Cell<'r> {
    /// Nothing.
    Null,
    /// A whole number.
    Number(i64),
    /// A text.
    Text(&'r str),
}

/// One row that a query found.
#[derive(Debug)]
pub(in crate::ledger) enum Row<'r> {
    /// Of SQLite.
    Sqlite(&'r rusqlite::Row<'r>),
    /// Of a server.
    Postgres(&'r bursar_postgres::Row),
}

impl Row<'_> {
    /// The value in `column`, from 0.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Unreadable`] where it is of another kind.
    pub(in crate::ledger) fn get<T: Column>(&self, column: usize) -> Result<T, LedgerFault> {
        T::of(self.cell(column)?).ok_or(LedgerFault::Unreadable { what: "row" })
    }

    /// The value in `column`, from 0, whatever it is.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Unreadable`] for a kind that the ledger does not have.
    pub(in crate::ledger) fn cell(&self, column: usize) -> Result<Cell<'_>, LedgerFault> {
        match self {
            Self::Sqlite(row) => super::sqlite::cell(row, column),
            Self::Postgres(row) => Ok(match row.cell(column)? {
                bursar_postgres::Cell::Null => Cell::Null,
                bursar_postgres::Cell::Number(number) => Cell::Number(number),
                bursar_postgres::Cell::Text(text) => Cell::Text(text),
            }),
        }
    }

    /// How many columns there are.
    pub(in crate::ledger) fn width(&self) -> usize {
        match self {
            Self::Sqlite(row) => row.as_ref().column_count(),
            Self::Postgres(row) => row.width(),
        }
    }
}

/// What can be read from a row.
pub(in crate::ledger) trait Column: Sized {
    /// From a value of its kind; `None` for another.
    fn of(cell: Cell<'_>) -> Option<Self>;
}

impl Column for String {
    fn of(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(text.to_owned()),
            Cell::Null | Cell::Number(_) => None,
        }
    }
}

impl Column for i64 {
    fn of(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Number(number) => Some(number),
            Cell::Null | Cell::Text(_) => None,
        }
    }
}

impl Column for u32 {
    fn of(cell: Cell<'_>) -> Option<Self> {
        i64::of(cell).and_then(|number| Self::try_from(number).ok())
    }
}

impl Column for bool {
    fn of(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Number(0) => Some(false),
            Cell::Number(1) => Some(true),
            Cell::Null | Cell::Number(_) | Cell::Text(_) => None,
        }
    }
}

impl<T: Column> Column for Option<T> {
    fn of(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            some => T::of(some).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_numbered_through_all_rows() {
        assert_eq!(Places::rows(1, 3).to_string(), "(?1, ?2, ?3)");
        assert_eq!(Places::rows(3, 2).to_string(), "(?1, ?2), (?3, ?4), (?5, ?6)");
    }
}
