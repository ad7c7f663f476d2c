//! The rules' statements on a server. Must never commit a transaction in which a statement was refused, nor go on after
//! the line was lost.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bursar_postgres::{Fault, Line, Row as LineRow, Value as LineValue};

use super::tenure::{self, Seen, Tenure};
use crate::ledger::fault::LedgerFault;
use crate::ledger::store::{Row, Value};

/// How many rows of a long list are fetched at once.
const FETCH: &str = "FETCH 256 FROM";

/// How often taking the lock is tried again where the server asks for that.
const TRIES: u32 = 3;

/// One round trip: the transaction with its ends, and the lock that everybody takes first.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '8s';
    SET LOCAL idle_in_transaction_session_timeout = '15s';
    SELECT 1 FROM meta WHERE id = 1 FOR UPDATE";

/// A line to the server with what is known of the transaction on it.
#[derive(Debug)]
pub(in crate::ledger) struct Session {
    line: Line,
    /// `None` on a line that only looks.
    vault: Option<Arc<str>>,
    changes: Cell<u64>,
    is_open: Cell<bool>,
    /// A statement was refused since the transaction, or the part of it, began.
    is_spoilt: Cell<bool>,
    cursors: Cell<u32>,
    brake: Arc<AtomicBool>,
    seen: RefCell<Option<(Seen, Tenure)>>,
}

impl Session {
    /// On a line that was checked.
    pub(super) fn new(line: Line, vault: Option<Arc<str>>) -> Self {
        Self {
            line,
            vault,
            changes: Cell::new(0),
            is_open: Cell::new(false),
            is_spoilt: Cell::new(false),
            cursors: Cell::new(0),
            brake: Arc::default(),
            seen: RefCell::new(None),
        }
    }

    pub(in crate::ledger) fn execute(&self, sql: &str, bound: &[Value<'_>]) -> Result<usize, LedgerFault> {
        let changed = self.noted(self.line.execute(sql, &values(bound)))?;
        self.changes.set(self.changes.get().saturating_add(changed));
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// What breaks off a long look from another thread: no further query is made.
    pub(in crate::ledger) fn brake(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.brake)
    }

    /// Every row at once.
    pub(in crate::ledger) fn every(
        &self,
        sql: &str,
        bound: &[Value<'_>],
        visit: &mut dyn FnMut(&Row<'_>) -> Result<(), LedgerFault>,
    ) -> Result<(), LedgerFault> {
        let found = self.found(sql, bound)?;
        found.iter().try_for_each(|row| visit(&Row::Postgres(row)))
    }

    /// The first row.
    pub(in crate::ledger) fn first<T>(
        &self,
        sql: &str,
        bound: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, LedgerFault>,
    ) -> Result<Option<T>, LedgerFault> {
        let found = self.found(sql, bound)?;
        found.first().map(|row| read(&Row::Postgres(row))).transpose()
    }

    /// Every row, some at a time, so that other statements may run in between and a long list needs no room.
    pub(in crate::ledger) fn each(
        &self,
        sql: &str,
        bound: &[Value<'_>],
        visit: &mut dyn FnMut(&Row<'_>) -> Result<(), LedgerFault>,
    ) -> Result<(), LedgerFault> {
        let depth = self.cursors.get();
        let declare = format!("DECLARE walk_{depth} NO SCROLL CURSOR FOR {sql}");
        self.noted(self.line.execute_once(&declare, &values(bound)))?;
        self.cursors.set(depth.saturating_add(1));
        let walked = self.walk(depth, visit);
        self.cursors.set(depth);
        walked?;
        self.noted(self.line.batch(&format!("CLOSE walk_{depth}")))
    }

    fn found(&self, sql: &str, bound: &[Value<'_>]) -> Result<Vec<LineRow>, LedgerFault> {
        if self.brake.load(Ordering::Relaxed) {
            return Err(LedgerFault::Unreachable { detail: "the look at it was broken off".to_owned() });
        }
        self.noted(self.line.query(sql, &values(bound)))
    }

    fn walk(&self, depth: u32, visit: &mut dyn FnMut(&Row<'_>) -> Result<(), LedgerFault>) -> Result<(), LedgerFault> {
        loop {
            let page: Vec<LineRow> = self.noted(self.line.query_once(&format!("{FETCH} walk_{depth}")))?;
            if page.is_empty() {
                return Ok(());
            }
            page.iter().try_for_each(|row| visit(&Row::Postgres(row)))?;
        }
    }

    /// What names a row that is not there, as far as the server's own guards were down.
    pub(in crate::ledger) fn stranger(&self) -> Result<Option<String>, LedgerFault> {
        const REFERENCES: &str = "SELECT CAST(one.relname AS text), CAST(a.attname AS text), CAST(two.relname AS text),
                CAST(b.attname AS text)
             FROM pg_constraint c JOIN pg_class one ON one.oid = c.conrelid JOIN pg_class two ON two.oid = c.confrelid
             JOIN pg_attribute a ON a.attrelid = one.oid AND a.attnum = c.conkey[1]
             JOIN pg_attribute b ON b.attrelid = two.oid AND b.attnum = c.confkey[1]
             WHERE c.contype = 'f' AND one.relnamespace = CAST('bursar' AS regnamespace) ORDER BY 1, 2";
        let mut references: Vec<[String; 4]> = Vec::new();
        self.every(REFERENCES, &[], &mut |row| {
            references.push([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
            Ok(())
        })?;
        for [table, column, other, key] in references {
            let sql = format!(
                "SELECT {column} FROM {table} WHERE {column} IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM {other} WHERE {other}.{key} = {table}.{column}) LIMIT 1"
            );
            if !self.noted(self.line.query_once(&sql))?.is_empty() {
                return Ok(Some(format!("`{table}`")));
            }
        }
        Ok(None)
    }

    pub(in crate::ledger) fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// Begins a transaction, waits for the ledger, and looks around.
    pub(in crate::ledger) fn begin(&self) -> Result<(), LedgerFault> {
        let mut tried: u32 = 1;
        loop {
            match self.try_begin() {
                // Nothing was done and nothing was told, so the same may be asked for again.
                Err(LedgerFault::Again) if tried < TRIES => tried = tried.saturating_add(1),
                Err(LedgerFault::Again) => return Err(LedgerFault::Busy),
                begun => return begun,
            }
        }
    }

    fn try_begin(&self) -> Result<(), LedgerFault> {
        self.start(BEGIN)?;
        let Some(vault) = &self.vault else { return Ok(()) };
        match tenure::hold(&self.line, vault).map_err(LedgerFault::from) {
            Ok((seen, tenure, wrote)) => {
                self.changes.set(self.changes.get().saturating_add(u64::from(wrote)));
                *self.seen.borrow_mut() = Some((seen, tenure));
                Ok(())
            }
            Err(fault) => {
                self.give_up();
                Err(fault)
            }
        }
    }

    /// Begins a transaction that reads one state and locks nothing.
    pub(in crate::ledger) fn begin_to_look(&self) -> Result<(), LedgerFault> {
        self.start("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    fn start(&self, sql: &str) -> Result<(), LedgerFault> {
        self.is_spoilt.set(false);
        // Set first: a part of it may have been done when it is refused.
        self.is_open.set(true);
        let begun = self.line.batch(sql).map_err(LedgerFault::from);
        if begun.is_err() {
            self.give_up();
        }
        begun
    }

    /// Ends the transaction; it is on the server's disk when this returns, and on its standby's where that is waited for.
    pub(in crate::ledger) fn commit(&self) -> Result<(), LedgerFault> {
        self.finish("COMMIT")
    }

    /// Ends the transaction without waiting for any disk: a crash of the server may lose it, and then nothing of it counts.
    pub(in crate::ledger) fn commit_lazily(&self) -> Result<(), LedgerFault> {
        self.finish("SET LOCAL synchronous_commit = off; COMMIT")
    }

    fn finish(&self, sql: &str) -> Result<(), LedgerFault> {
        if self.is_spoilt.get() {
            self.give_up();
            return Err(LedgerFault::Rule { detail: "a statement before its end was refused".to_owned() });
        }
        let done = self.noted(self.line.batch(sql));
        self.is_open.set(false);
        done
    }

    /// Gives the transaction up; `false` where the line is lost.
    pub(in crate::ledger) fn give_up(&self) -> bool {
        *self.seen.borrow_mut() = None;
        if self.is_open.replace(false) && !self.line.is_lost() && self.line.batch("ROLLBACK").is_err() {
            return false;
        }
        self.is_spoilt.set(false);
        !self.line.is_lost()
    }

    pub(in crate::ledger) fn is_in_transaction(&self) -> bool {
        self.is_open.get()
    }

    pub(in crate::ledger) fn begin_part(&self) -> Result<(), LedgerFault> {
        self.noted(self.line.batch("SAVEPOINT ask"))
    }

    pub(in crate::ledger) fn end_part(&self) -> Result<(), LedgerFault> {
        self.noted(self.line.batch("RELEASE ask"))
    }

    pub(in crate::ledger) fn undo_part(&self) -> Result<(), LedgerFault> {
        self.noted(self.line.batch("ROLLBACK TO ask; RELEASE ask"))?;
        self.is_spoilt.set(false);
        Ok(())
    }

    /// What the open transaction found when it had the ledger for itself.
    pub(in crate::ledger) fn seen(&self) -> Option<Seen> {
        self.seen.borrow().as_ref().map(|(seen, _)| seen.clone())
    }

    /// Who this vault is in the open transaction.
    pub(in crate::ledger) fn tenure(&self) -> Option<Tenure> {
        self.seen.borrow().as_ref().map(|(_, tenure)| tenure.clone())
    }

    /// Whether nothing more will come of it.
    pub(in crate::ledger) fn is_lost(&self) -> bool {
        self.line.is_lost()
    }

    /// Ends the lease, so that nobody has to wait for its end.
    pub(in crate::ledger) fn close(self) -> Result<(), LedgerFault> {
        if self.vault.is_none() || self.line.is_lost() {
            return Ok(());
        }
        self.begin()?;
        if let Some(tenure) = self.tenure() {
            self.noted(tenure::end(&self.line, &tenure))?;
        }
        self.commit()
    }

    fn noted<T>(&self, said: Result<T, Fault>) -> Result<T, LedgerFault> {
        said.map_err(|fault| {
            self.is_spoilt.set(true);
            match fault.into() {
                // What was begun is not begun again for anybody: whoever asked may ask again.
                LedgerFault::Again => LedgerFault::Busy,
                other => other,
            }
        })
    }
}

fn values<'a>(bound: &'a [Value<'a>]) -> Vec<LineValue<'a>> {
    let each = |value: &Value<'a>| match value {
        Value::Null => LineValue::Null,
        Value::Number(number) => LineValue::Number(*number),
        Value::Text(text) => LineValue::Text(text),
    };
    bound.iter().map(each).collect()
}

impl From<Fault> for LedgerFault {
    fn from(fault: Fault) -> Self {
        let detail = fault.to_string();
        let Fault::Said { state, .. } = &fault else {
            return match fault {
                Fault::Lost { .. } => Self::Unreachable { detail },
                Fault::Authority | Fault::NoSocket => Self::Server { detail },
                Fault::Kind { .. } | Fault::Said { .. } => Self::Unreadable { what: "row" },
            };
        };
        match (state.class(), state.as_str()) {
            // A guard or a grant refused one change, or a value is none that the server takes.
            ("22" | "23" | "44", _) | (_, "42501") => Self::Rule { detail },
            (_, "40001" | "40P01") => Self::Again,
            // Somebody else has the ledger for too long.
            (_, "55P03" | "57014") => Self::Busy,
            // Connections, memory or disk are used up, it is being shut down, or it is no longer the one that writes: what
            // was asked for was not done, and may be asked for again.
            ("08" | "53" | "57" | "28" | "3D", _) | (_, "25006" | "25P03") => Self::Unreachable { detail },
            _ => Self::Storage { detail: format!("{} {detail}", state.as_str()) },
        }
    }
}
