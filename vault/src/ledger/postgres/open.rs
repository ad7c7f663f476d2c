//! Finding the ledger on its server, and whether it may be trusted there. Must never make tables: `migrate.rs` does.

use std::sync::Arc;

use bursar_policy::rules::Setting;
use bursar_postgres::{Cell, Line, Row};

use super::rights;
use super::session::Session;
use super::{SCHEMA, ServerPlace, VERSION};
use crate::clock::ClockMemory;
use crate::ledger::events::{self, Event, EventKind};
use crate::ledger::fault::LedgerFault;
use crate::ledger::meta;
use crate::ledger::store::Store;

/// The oldest server that has everything that the tables need.
const SERVER_MIN: i64 = 140_000;

/// Tables are found in one schema, and nobody's temporary ones before them.
const FIND_TABLES: &str = "SET search_path TO bursar, pg_catalog, pg_temp";

/// What a server has to promise so that a commit is one.
const PROMISES: &str =
    "SELECT CAST(current_setting('server_version_num') AS bigint), current_setting('server_encoding'),
    current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
    pg_is_in_recovery(), CAST(to_regclass('bursar.schema_version') AS text)";

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ledger) enum Purpose {
    /// To write, as this vault.
    Write,
    /// To look only.
    Look,
}

/// Connects to the ledger at `place`, which has to be there, after every check of the server, the role and the tables.
pub(in crate::ledger) fn connect(
    place: &ServerPlace,
    setting: Setting,
    purpose: Purpose,
) -> Result<Store, LedgerFault> {
    let line = reach(place)?;
    rights::check(&line, &place.server.user)?;
    let session = Session::new(line, (purpose == Purpose::Write).then(|| Arc::clone(&place.vault)));
    let store = Store::Postgres(Box::new(session));
    let known = store.first("SELECT setting FROM meta WHERE id = 1", &[], |row| row.get::<String>(0))?;
    match known {
        None => Err(LedgerFault::NoLedger { shown: place.shown() }),
        Some(known) if known != meta::setting_word(setting) => Err(server(format!(
            "its ledger is for the setting `{known}`; a ledger of a sandbox opens only there, and no other does"
        ))),
        Some(_) => Ok(store),
    }
}

/// Begins an empty ledger in tables that nobody uses yet.
pub(in crate::ledger) fn create(
    place: &ServerPlace,
    setting: Setting,
    ledger_id: &str,
    clock: &ClockMemory,
) -> Result<(), LedgerFault> {
    let line = reach(place)?;
    rights::check(&line, &place.server.user)?;
    let store = Store::Postgres(Box::new(Session::new(line, None)));
    let begun = store.transaction()?;
    if begun.has("SELECT 1 FROM meta", &[])? {
        return Err(LedgerFault::Taken { shown: place.shown() });
    }
    events::append(&begun, clock.recorded_s, &Event::new(EventKind::LedgerCreated, format!("ledger {ledger_id}")))?;
    meta::begin(&begun, ledger_id, setting, clock)?;
    begun.commit()
}

/// A line to a server that keeps what it says it keeps, with the tables of this version.
fn reach(place: &ServerPlace) -> Result<Line, LedgerFault> {
    let line = Line::open(&place.server, place.patience)?;
    line.batch(FIND_TABLES)?;
    let found = line.query(PROMISES, &[])?;
    let row = found.first().ok_or(LedgerFault::Unreadable { what: "server" })?;
    let version = number(row, 0)?;
    if version < SERVER_MIN {
        return Err(server(format!("it is PostgreSQL {}; use 14 or newer", version.div_euclid(10_000))));
    }
    let encoding = text(row, 1)?;
    if encoding != "UTF8" {
        return Err(server(format!("the database is in {encoding}; make one with the encoding UTF8")));
    }
    for (column, name) in [(2, "fsync"), (3, "full_page_writes"), (4, "synchronous_commit")] {
        if text(row, column)? == "off" {
            return Err(server(format!("`{name}` is off there, so a commit is none after a crash; set it to on")));
        }
    }
    if number(row, 5)? != 0 {
        return Err(LedgerFault::Unreachable { detail: "the server is a standby that takes no writes".to_owned() });
    }
    if row.cell(6)? == Cell::Null {
        return Err(server(format!("the database has no schema `{SCHEMA}`; run `bursar ledger migrate`")));
    }
    check_tables(&line)?;
    Ok(line)
}

/// Whether tables, guards and functions are as the last migration left them.
fn check_tables(line: &Line) -> Result<(), LedgerFault> {
    let found = line.query("SELECT version, fingerprint FROM schema_version ORDER BY version DESC LIMIT 1", &[])?;
    let row = found
        .first()
        .ok_or_else(|| server("no migration of its tables ended; run `bursar ledger migrate`".to_owned()))?;
    let version = number(row, 0)?;
    if VERSION < version {
        return Err(server(format!(
            "its tables are of version {version}, newer than this program; use the newer bursar"
        )));
    }
    if version < VERSION {
        return Err(server(format!("its tables are of version {version}; run `bursar ledger migrate`")));
    }
    if text(row, 1)? != fingerprint(line)? {
        let detail = "a table, index, guard or function is not as the migration made it; check who changed it, and run \
                      `bursar ledger migrate` if it was you";
        return Err(server(detail.to_owned()));
    }
    Ok(())
}

/// A digest of everything that the schema is made of, as the server tells it.
pub(super) fn fingerprint(line: &Line) -> Result<String, LedgerFault> {
    let found = line.query(include_str!("fingerprint.sql"), &[])?;
    text(found.first().ok_or(LedgerFault::Unreadable { what: "schema" })?, 0)
}

pub(super) fn text(row: &Row, column: usize) -> Result<String, LedgerFault> {
    match row.cell(column)? {
        Cell::Text(text) => Ok(text.to_owned()),
        Cell::Null | Cell::Number(_) => Err(LedgerFault::Unreadable { what: "setting" }),
    }
}

fn number(row: &Row, column: usize) -> Result<i64, LedgerFault> {
    match row.cell(column)? {
        Cell::Number(number) => Ok(number),
        Cell::Null | Cell::Text(_) => Err(LedgerFault::Unreadable { what: "setting" }),
    }
}

pub(super) fn server(detail: String) -> LedgerFault {
    LedgerFault::Server { detail }
}
