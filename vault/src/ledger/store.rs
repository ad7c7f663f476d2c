//! What the rules of the ledger need of a database: statements with values, and rows. Must never know a rule.
//!
//! The rules are written once, in SQL that every engine takes, with their places numbered `?1`, `?2` and so on. An engine
//! says what it calls its own faults ([`LedgerFault`]), and keeps every statement prepared.

use std::ops::Deref;

pub(super) use self::value::{Bind, Cell, Places, Row, Value, bound};
use super::fault::LedgerFault;
use super::postgres::{Seen, Session, Tenure};

mod sqlite;
mod value;

/// An open database.
#[derive(Debug)]
pub(super) enum Store {
    /// A file of this machine.
    Sqlite(rusqlite::Connection),
    /// A server that several machines share.
    Postgres(Box<Session>),
}

impl Store {
    /// Runs a statement that finds no rows; how many it changed.
    ///
    /// # Errors
    ///
    /// What the engine says.
    pub(super) fn execute(&self, sql: &str, bound: &[Value<'_>]) -> Result<usize, LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::execute(conn, sql, bound),
            Self::Postgres(session) => session.execute(sql, bound),
        }
    }

    /// Hands every row that `sql` finds to `visit`, in the query's order, one at a time, however many there are.
    ///
    /// # Errors
    ///
    /// The first fault of the engine or of `visit`.
    pub(super) fn each(
        &self,
        sql: &str,
        bound: &[Value<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<(), LedgerFault>,
    ) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::each(conn, sql, bound, &mut visit),
            Self::Postgres(session) => session.each(sql, bound, &mut visit),
        }
    }

    /// What `read` makes of every row that `sql` finds. Not for a table without an end.
    ///
    /// # Errors
    ///
    /// The first fault of the engine or of `read`.
    pub(super) fn every<T>(
        &self,
        sql: &str,
        bound: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, LedgerFault>,
    ) -> Result<Vec<T>, LedgerFault> {
        let mut found = Vec::new();
        let mut visit = |row: &Row<'_>| {
            found.push(read(row)?);
            Ok(())
        };
        match self {
            Self::Sqlite(conn) => sqlite::each(conn, sql, bound, &mut visit)?,
            Self::Postgres(session) => session.every(sql, bound, &mut visit)?,
        }
        Ok(found)
    }

    /// What `read` makes of the first row that `sql` finds; `None` where it finds none.
    ///
    /// # Errors
    ///
    /// A fault of the engine or of `read`.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        bound: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, LedgerFault>,
    ) -> Result<Option<T>, LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::first(conn, sql, bound, read),
            Self::Postgres(session) => session.first(sql, bound, read),
        }
    }

    /// [`Store::first`] of what is always there.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Unreadable`] where it is not, or a fault of the engine or of `read`.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        bound: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, LedgerFault>,
    ) -> Result<T, LedgerFault> {
        self.first(sql, bound, read)?.ok_or(LedgerFault::Unreadable { what: "row" })
    }

    /// Whether `sql` finds anything.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn has(&self, sql: &str, bound: &[Value<'_>]) -> Result<bool, LedgerFault> {
        Ok(self.first(sql, bound, |_row| Ok(()))?.is_some())
    }

    /// The connection to the file, for what is done to a file only.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Rule`] where the ledger is no file.
    pub(super) fn file(&self) -> Result<&rusqlite::Connection, LedgerFault> {
        match self {
            Self::Sqlite(conn) => Ok(conn),
            Self::Postgres(_) => Err(LedgerFault::NoFile),
        }
    }

    /// The first table with a row that names one which is not there; `None` where every one is.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn stranger(&self) -> Result<Option<String>, LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::stranger(conn),
            Self::Postgres(session) => session.stranger(),
        }
    }

    /// How many rows were changed since it was opened.
    pub(super) fn changes(&self) -> u64 {
        match self {
            Self::Sqlite(conn) => conn.total_changes(),
            Self::Postgres(session) => session.changes(),
        }
    }

    /// Begins a transaction that nobody else can write in before it ends.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Busy`] where somebody else writes for too long, or another fault of the engine.
    pub(super) fn begin(&self) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::step(conn, "BEGIN IMMEDIATE"),
            Self::Postgres(session) => session.begin(),
        }
    }

    /// Begins a transaction that holds on to one state of everything.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn begin_to_look(&self) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::step(conn, "BEGIN"),
            Self::Postgres(session) => session.begin_to_look(),
        }
    }

    /// Ends the open transaction; everything in it is durable when this returns.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn commit(&self) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::step(conn, "COMMIT"),
            Self::Postgres(session) => session.commit(),
        }
    }

    /// Ends the open transaction without waiting for a disk, where that frees the ledger for others: then a crash may lose
    /// it. Where nobody else waits, as [`Store::commit`].
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn commit_lazily(&self) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(_) => self.commit(),
            Self::Postgres(session) => session.commit_lazily(),
        }
    }

    /// Gives the open transaction up, where there is one; `false` where not even that can be done any more.
    pub(super) fn give_up(&self) -> bool {
        match self {
            Self::Sqlite(conn) => conn.is_autocommit() || conn.execute_batch("ROLLBACK").is_ok(),
            Self::Postgres(session) => session.give_up(),
        }
    }

    /// Whether a transaction is open.
    pub(super) fn is_in_transaction(&self) -> bool {
        match self {
            Self::Sqlite(conn) => !conn.is_autocommit(),
            Self::Postgres(session) => session.is_in_transaction(),
        }
    }

    /// Begins a part of the open transaction that can be undone by itself.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn begin_part(&self) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::step(conn, "SAVEPOINT ask"),
            Self::Postgres(session) => session.begin_part(),
        }
    }

    /// Ends that part; it stands or falls with the transaction from now on.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn end_part(&self) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(conn) => sqlite::step(conn, "RELEASE ask"),
            Self::Postgres(session) => session.end_part(),
        }
    }

    /// Undoes that part.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn undo_part(&self) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(conn) => {
                sqlite::step(conn, "ROLLBACK TO ask")?;
                sqlite::step(conn, "RELEASE ask")
            }
            Self::Postgres(session) => session.undo_part(),
        }
    }

    /// What the open transaction found when it had the ledger for itself; `None` where nobody else ever has it.
    pub(super) fn seen(&self) -> Option<Seen> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(session) => session.seen(),
        }
    }

    /// Who this vault is in the open transaction, among those that share the ledger; `None` where there is one vault.
    pub(super) fn tenure(&self) -> Option<Tenure> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(session) => session.tenure(),
        }
    }

    /// Whether several vaults may have it open. Then nothing is told before it is committed.
    pub(super) const fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Whether nothing more will come of it, so that another has to be opened.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(session) => session.is_lost(),
        }
    }

    /// [`Store::begin`], given up where it is dropped before [`Transaction::commit`].
    ///
    /// # Errors
    ///
    /// As [`Store::begin`].
    pub(super) fn transaction(&self) -> Result<Transaction<'_>, LedgerFault> {
        self.begin()?;
        Ok(Transaction(self))
    }

    /// Closes it in order.
    ///
    /// # Errors
    ///
    /// A fault of the engine.
    pub(super) fn close(self) -> Result<(), LedgerFault> {
        match self {
            Self::Sqlite(conn) => conn.close().map_err(|(_conn, fault)| fault.into()),
            Self::Postgres(session) => session.close(),
        }
    }
}

/// A transaction of its own.
#[derive(Debug)]
pub(super) struct Transaction<'s>(&'s Store);

impl Transaction<'_> {
    /// Ends it; everything in it is durable when this returns.
    ///
    /// # Errors
    ///
    /// A fault of the engine; then nothing of it is there.
    pub(super) fn commit(self) -> Result<(), LedgerFault> {
        self.0.commit()
    }
}

impl Deref for Transaction<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        self.0
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.0.is_in_transaction() && !self.0.give_up() {
            tracing::warn!("a transaction of the ledger could not be given up");
        }
    }
}
