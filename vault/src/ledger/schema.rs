//! The ledger's schema and the settings it needs from SQLite. Must never be changed without a new version number.

use std::collections::BTreeSet;
use std::time::Duration;

use bursar_policy::quoted::Quoted;
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::events::EventKind;
use super::fault::LedgerFault;

/// Marks a SQLite file as a ledger of this program: the letters `burs`.
pub(super) const APPLICATION_ID: i64 = 0x6275_7273;

/// The version this program reads and writes.
pub(super) const VERSION: i64 = 6;

/// How long a lock of a foreign process is waited for before the ask is refused. Longer would stop everybody else.
pub(super) const BUSY_PATIENCE: Duration = Duration::from_secs(2);

/// What each version added to the one before; what is written here once is never changed.
const VERSIONS: [&str; 6] = [
    include_str!("schema.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
];

/// What every connection needs, and what must be read back. The first two make a commit one write, and it is
/// writer/journal.rs that waits until it is on the disk; the third (KiB) lets a payment find its pages without reading
/// them anew, and the fourth (pages) lets the journal grow to 16 MiB before they are moved, for which the disk is waited
/// twice more; the rest narrow what a file that was changed by hand can do to us.
const PRAGMAS: [(&str, &str, &str); 10] = [
    ("journal_mode", "WAL", "wal"),
    ("synchronous", "NORMAL", "1"),
    ("cache_size", "-16384", "-16384"),
    ("wal_autocheckpoint", "4000", "4000"),
    ("foreign_keys", "ON", "1"),
    ("recursive_triggers", "ON", "1"),
    ("trusted_schema", "OFF", "0"),
    ("cell_size_check", "ON", "1"),
    ("temp_store", "MEMORY", "2"),
    ("mmap_size", "0", "0"),
];

/// Prepares a fresh connection and reads every setting back.
pub(super) fn configure(conn: &Connection) -> Result<(), LedgerFault> {
    conn.set_prepared_statement_cache_capacity(64);
    for (switch, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
        // A plan never depends on what is bound. Else SQLite plans a cached statement anew at each use.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ] {
        if conn.set_db_config(switch, on)? != on {
            return Err(LedgerFault::Pragma { name: "db_config", wanted: on.to_string(), got: (!on).to_string() });
        }
    }
    for (name, set, wanted) in PRAGMAS {
        conn.pragma_update_and_check(None, name, set, |_row| Ok(())).or_else(|fault| match fault {
            // Some pragmas answer with a row and some with none.
            rusqlite::Error::QueryReturnedNoRows => Ok(()),
            other => Err(other),
        })?;
        let got = pragma(conn, name)?;
        // A build without memory mapping has no such setting to read back.
        if got != wanted && !(name == "mmap_size" && got.is_empty()) {
            return Err(LedgerFault::Pragma { name, wanted: wanted.to_owned(), got });
        }
    }
    Ok(())
}

/// Writes the schema into an empty database, in one transaction.
pub(super) fn write(conn: &mut Connection) -> Result<(), LedgerFault> {
    let transaction = conn.transaction()?;
    add(&transaction, 0)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    Ok(())
}

/// Adds what came after `version` and the kinds of events that are new, and marks the file as current.
pub(super) fn add(conn: &Connection, version: i64) -> Result<(), LedgerFault> {
    for (_, added) in (0..).zip(VERSIONS).filter(|(known, _)| version <= *known) {
        conn.execute_batch(added)?;
    }
    for kind in EventKind::EVERY {
        conn.execute("INSERT INTO event_kind (name) VALUES (?1) ON CONFLICT DO NOTHING", params![kind.name()])?;
    }
    conn.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}

/// The first table, index or trigger that is not exactly the one of this program at `version`: missing, changed or added.
pub(super) fn odd_one(conn: &Connection, version: i64) -> Result<Option<String>, LedgerFault> {
    let model = Connection::open_in_memory()?;
    for (_, added) in (0..).zip(VERSIONS).filter(|(known, _)| *known < version) {
        model.execute_batch(added)?;
    }
    let (found, ours) = (objects(conn)?, objects(&model)?);
    let odd = ours.symmetric_difference(&found).next();
    Ok(odd.map(|(kind, name, _)| format!("the {kind} `{}`", Quoted::of(name).as_str())))
}

/// One pragma's value as text.
pub(super) fn pragma(conn: &Connection, name: &str) -> Result<String, LedgerFault> {
    let value = conn.pragma_query_value(None, name, |row| row.get::<_, Value>(0));
    match value {
        Ok(Value::Integer(number)) => Ok(number.to_string()),
        Ok(Value::Text(text)) => Ok(text),
        Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => Ok(String::new()),
        Err(fault) => Err(fault.into()),
    }
}

fn objects(conn: &Connection) -> Result<BTreeSet<(String, String, String)>, LedgerFault> {
    let mut statement =
        conn.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.map(|row| row.map_err(LedgerFault::from)).collect()
}
