//! A damaged ledger, rebuilt by hand from what can still be read of it. Must never heal by itself, leave out a payment or
//! an event, or touch the damaged file but to keep it.
//!
//! Tables are read without their indexes, and what follows from payments (totals, what is known of hosts) is worked out
//! anew. The result has to be whole: the log's chain holds to its end, and every row is as its last event says. What the
//! log cannot prove is not recovered, and then only a backup helps.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::anew::{self, Begun};
use super::audit::chain::Kept;
use super::fault::LedgerFault;
use super::inspect::Inspector;
use super::open::{self, LedgerPlace, Lock};
use super::rows;
use super::states::{self, Counts};
use super::store::{Store, bound};
use super::{acquaintance, overdue, prove, schema, tally};
use crate::clock::TimeSource;

/// Tables that are worked out anew. What lapsed is not counted then, so that nothing of it is returned.
const WORKED_OUT: [&str; 6] = ["tally", "spent", "returned", "familiar", "likeness", "unproved"];

/// Tables that a recovery does without where they cannot be read: a quarantine is forgotten then.
const EXPENDABLE: [&str; 1] = ["breaker"];

/// The schema's own list of kinds, which a new file has.
const KINDS: &str = "event_kind";

/// In the order in which what ended counts in rolling windows.
const ENDED: &str = "SELECT id FROM payment WHERE ended_s IS NOT NULL ORDER BY ended_s, seq";

impl Lock {
    /// Rebuilds the ledger at `place` into a new file and begins an epoch there; the damaged files are kept beside it.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Whole`] when nothing is wrong; what cannot be repaired; or a fault of the storage. Then nothing was
    /// changed.
    pub(crate) fn recover(&self, place: &LedgerPlace, time: Box<dyn TimeSource>) -> Result<Begun, LedgerFault> {
        if let Ok(inspector) = Inspector::open(place)
            && inspector.set_back().is_none()
            && inspector.pages().is_ok()
            && inspector.verify(Kept::default(), &mut |_progress| ()).is_ok()
        {
            return Err(LedgerFault::Whole { path: place.file.clone() });
        }
        let damaged = open::open_damaged(place)?;
        let (draft, conn, triggers) = anew::bare(&place.file)?;
        let rebuilt = rebuild(&damaged, conn, &triggers, place, time);
        drop(damaged);
        let begun = rebuilt.and_then(|begun| {
            let kept = anew::put_in_place(&draft, place)?;
            Ok(Begun { kept, ..begun })
        });
        anew::clear(&draft);
        begun
    }
}

fn rebuild(
    damaged: &Connection,
    conn: Store,
    triggers: &[String],
    place: &LedgerPlace,
    time: Box<dyn TimeSource>,
) -> Result<Begun, LedgerFault> {
    let transaction = conn.transaction()?;
    let file = conn.file()?;
    // In the order in which the schema made them.
    for table in tables(file)? {
        if WORKED_OUT.contains(&table.as_str()) || table == KINDS {
            continue;
        }
        match copy(damaged, file, &table) {
            Err(fault) if EXPENDABLE.contains(&table.as_str()) => {
                tracing::warn!(table, %fault, "a table is left out");
            }
            copied => copied?,
        }
    }
    work_out(&transaction)?;
    for trigger in triggers {
        file.execute_batch(trigger)?;
    }
    transaction.commit()?;
    file.execute_batch("PRAGMA foreign_keys = ON")?;
    if let Some(odd) = schema::odd_one(file, schema::VERSION)? {
        return Err(LedgerFault::Rule { detail: format!("{odd} was not rebuilt") });
    }
    let begun = anew::begin(&conn, place, time, "it was rebuilt from a damaged ledger")?;
    conn.close()?;
    Ok(begun)
}

fn tables(conn: &Connection) -> Result<Vec<String>, LedgerFault> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid";
    let mut statement = conn.prepare(sql)?;
    let found = statement.query_map([], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Copies every row of a table, or says after which one it cannot be read.
fn copy(from: &Connection, to: &Connection, table: &str) -> Result<(), LedgerFault> {
    let mut copied: u64 = 0;
    copy_rows(from, to, table, &mut copied).map_err(|fault| LedgerFault::BeyondRepair {
        detail: format!("the table `{table}` cannot be read after {copied} rows: {fault}"),
    })
}

fn copy_rows(from: &Connection, to: &Connection, table: &str, copied: &mut u64) -> Result<(), rusqlite::Error> {
    let mut statement = from.prepare(&format!("SELECT * FROM {table} NOT INDEXED"))?;
    let width = statement.column_count();
    let marks = vec!["?"; width].join(", ");
    // What the fresh schema put there gives way to what was.
    to.execute(&format!("DELETE FROM {table}"), [])?;
    let mut insert = to.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let values = (0..width).map(|column| row.get::<_, Value>(column)).collect::<Result<Vec<_>, _>>()?;
        insert.execute(params_from_iter(values))?;
        *copied = copied.saturating_add(1);
    }
    Ok(())
}

/// Works out from the payments what follows from them.
fn work_out(conn: &Store) -> Result<(), LedgerFault> {
    rows::each(conn, |payment| {
        if states::counts(payment.state) != Counts::Not {
            tally::set_aside(conn, &payment.facts())?;
        }
        if acquaintance::counts(&payment) {
            acquaintance::learn(conn, &payment)?;
        }
        if overdue::is(&payment) {
            overdue::begins(conn, &payment)?;
        }
        prove::remember(conn, &payment)
    })?;
    conn.each(ENDED, bound![], |row| {
        let id = row.get::<String>(0)?.parse().map_err(|_fault| LedgerFault::Unreadable { what: "payment" })?;
        let payment = rows::by_id(conn, &id)?;
        if let (Counts::AsSpent, Some(at_s)) = (states::counts(payment.state), payment.ended_s) {
            tally::spend(conn, &payment.facts(), at_s, payment.id.as_str())?;
        }
        Ok(())
    })
}
