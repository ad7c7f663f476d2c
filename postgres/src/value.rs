//! Values on their way to the server and back, in the server's own binary form. Must never turn one kind into another.

use std::error::Error;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::fault::Fault;

/// A value that is bound to a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// A whole number; yes and no where the statement wants that.
    Number(i64),
    /// A text.
    Text(&'a str),
}

impl ToSql for Value<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, kind) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Number(number), &Type::INT8) => number.to_sql(kind, out),
            (Self::Number(number), &Type::INT4) => i32::try_from(*number)?.to_sql(kind, out),
            (Self::Number(number), &Type::BOOL) => (*number != 0).to_sql(kind, out),
            (Self::Text(text), &Type::TEXT | &Type::NAME) => text.to_sql(kind, out),
            _ => Err(format!("a statement wants a value of the type `{kind}`").into()),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::INT4 | Type::BOOL | Type::TEXT | Type::NAME)
    }

    to_sql_checked!();
}

/// A value as a row has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'r> {
    /// Nothing.
    Null,
    /// A whole number; 0 and 1 for no and yes.
    Number(i64),
    /// A text.
    Text(&'r str),
}

impl<'r> FromSql<'r> for Cell<'r> {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => Self::Number(i64::from_sql(kind, raw)?),
            Type::INT4 => Self::Number(i32::from_sql(kind, raw)?.into()),
            Type::BOOL => Self::Number(bool::from_sql(kind, raw)?.into()),
            _ => Self::Text(<&str>::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::INT4 | Type::BOOL | Type::TEXT | Type::NAME)
    }
}

/// One row that a query found.
#[derive(Debug)]
pub struct Row(pub(crate) tokio_postgres::Row);

impl Row {
    /// The value in `column`, from 0.
    ///
    /// # Errors
    ///
    /// [`Fault::Kind`] where it is neither text nor a whole number, or there is no such column.
    pub fn cell(&self, column: usize) -> Result<Cell<'_>, Fault> {
        self.0.try_get(column).map_err(|fault| Fault::Kind { detail: fault.to_string() })
    }

    /// How many columns there are.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.len()
    }
}
