//! The books begun anew: what a restore and a recovery have in common. Must never make more spendable than it was.
//!
//! Nobody knows what was signed after the state that the books go on from. So every payment that was open counts as spent,
//! every session is closed, and an epoch begins, which the log says.

use std::fs;
use std::path::{Path, PathBuf};

use super::audit::chain::Kept;
use super::fault::LedgerFault;
use super::mark::{self, Mark};
use super::open::{self, LedgerPlace};
use super::purse::Purse;
use super::rows;
use super::store::{Store, bound};
use super::writer::Tx;
use super::{audit, checkpoint, handle, meta, schema, session, sweep};
use crate::clock::{LedgerClock, TimeSource};

/// What was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Which epoch, from 2.
    pub epoch: u64,
    /// Payments in the books.
    pub payments: u64,
    /// The last event of before that is in them.
    pub events: u64,
    /// How many payments were open and count as spent.
    pub counted: u64,
    /// How many events were here after that and are in none of the books any more, as far as the mark tells.
    pub missing: u64,
    /// Where the files that were here before are kept, if any were.
    pub kept: Option<PathBuf>,
}

/// The most open payments that are read at once.
const AT_ONCE: u32 = 64;

/// Begins the next epoch in the whole ledger on `conn`, which will be the one at `place`, in one transaction.
pub(super) fn begin(
    conn: &Store,
    place: &LedgerPlace,
    time: Box<dyn TimeSource>,
    why: &str,
) -> Result<Begun, LedgerFault> {
    let books = audit::everything(conn, Kept::default(), &mut |_progress| ())?;
    let known = meta::read(conn)?;
    let missing = mark::missing(&place.file, &known.ledger_id, books.events);
    let clock = LedgerClock::resume(time, known.clock);
    let transaction = conn.transaction()?;
    let purse = Purse::default();
    let tx = Tx { conn: &transaction, now_s: clock.read().now_s, latched: false, purse: &purse };
    handle::presume_redeemed(&tx)?;
    let mut counted: u64 = 0;
    loop {
        let open = rows::list(tx.conn, rows::OPEN, bound![AT_ONCE])?;
        if open.is_empty() {
            break;
        }
        for payment in &open {
            counted = counted.saturating_add(1);
            sweep::presume_spent(&tx, payment, format!("the books begin anew: {why}"))?;
        }
    }
    session::close_every(&tx, &format!("the books begin anew: {why}"))?;
    let epoch = checkpoint::next_epoch(tx.conn, tx.now_s, why)?;
    meta::stamp(tx.conn, &clock.memory())?;
    transaction.commit()?;
    audit::everything(conn, Kept::default(), &mut |_progress| ())?;
    Ok(Begun { epoch, payments: books.payments, events: books.events, counted, missing, kept: None })
}

/// Puts the closed ledger `draft` in the place of whatever is there, which is kept under another name, and marks it.
///
/// A crash in between leaves no ledger under the name: then nothing is paid, and a person puts one of the two back.
pub(super) fn put_in_place(draft: &Path, place: &LedgerPlace) -> Result<Option<PathBuf>, LedgerFault> {
    open::sync(draft)?;
    let kept = open::put_away(&place.file)?;
    open::put_in(draft, &place.file)?;
    let conn = open::open(place, open::Pages::All)?;
    let known = meta::read(&conn)?;
    Mark::open(&place.file, known.ledger_id).accept(&known.head);
    drop(conn);
    Ok(kept)
}

/// An empty database with this program's tables in a fresh folder beside `file`, its triggers put away: what is copied
/// into it is not what a payment does. The folder is removed by whoever comes next.
pub(super) fn bare(file: &Path) -> Result<(PathBuf, Store, Vec<String>), LedgerFault> {
    let draft = open::draft(file)?;
    let mut conn = open::connect(&draft)?;
    schema::configure(&conn)?;
    schema::write(&mut conn)?;
    let triggers = {
        let mut statement = conn.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?;
        let found = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        found.collect::<Result<Vec<_>, _>>()?
    };
    for (name, _) in &triggers {
        conn.execute_batch(&format!("DROP TRIGGER {name}"))?;
    }
    conn.execute_batch("PRAGMA foreign_keys = OFF")?;
    Ok((draft, Store::Sqlite(conn), triggers.into_iter().map(|(_, sql)| sql).collect()))
}

/// Removes the folder of a draft.
pub(super) fn clear(draft: &Path) {
    if let Some(folder) = draft.parent()
        && let Err(fault) = fs::remove_dir_all(folder)
    {
        tracing::warn!(%fault, "a half-made ledger is left");
    }
}
