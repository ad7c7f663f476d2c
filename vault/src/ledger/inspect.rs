//! A ledger for looking only, beside the vault that runs on it or without one. Must never change or lock anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bursar_policy::chain::Address;
use bursar_policy::digest::Digest;
use rusqlite::InterruptHandle;

use super::audit::chain::Kept;
use super::audit::{self, Books, Progress};
use super::fault::LedgerFault;
use super::open::{self, LedgerPlace};
use super::store::Store;
use super::{checkpoint, mark, meta};
use crate::audit_key::AuditPublic;

/// One state of a ledger: what is committed later is not in it.
#[derive(Debug)]
pub struct Inspector {
    pub(super) conn: Store,
    identity: Identity,
    place: LedgerPlace,
    set_back: Option<String>,
}

/// Breaks off what an [`Inspector`] is reading at this moment.
pub struct Brake(Pedal);

enum Pedal {
    File(InterruptHandle),
    Server(Arc<AtomicBool>),
}

impl Brake {
    /// Breaks it off; it ends with a fault. Does nothing where nothing is being read.
    pub fn pull(&self) {
        match &self.0 {
            Pedal::File(connection) => connection.interrupt(),
            Pedal::Server(brake) => brake.store(true, Ordering::Relaxed),
        }
    }
}

impl std::fmt::Debug for Brake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Brake")
    }
}

/// Whose ledger it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its id: 32 lower-case hex digits.
    pub ledger: String,
    /// `real` or `sandbox`.
    pub setting: String,
    /// The account that it counts for, once it was bound to one.
    pub account: Option<Address>,
    /// How often the books were begun anew, from 1.
    pub epoch: u64,
    /// The key that signs its checkpoints, once there is one.
    pub key: Option<AuditPublic>,
    /// The last event.
    pub events: u64,
    /// Its hash.
    pub head: Digest,
    /// Why payments are shut, if they are.
    pub latched: Option<String>,
}

impl Inspector {
    /// Opens the file read-only after the checks of its owner, its kind and its schema, and holds on to what is committed
    /// at this moment.
    ///
    /// # Errors
    ///
    /// What is wrong with the file; [`LedgerFault::Older`] for one that an earlier program made.
    pub fn open(place: &LedgerPlace) -> Result<Self, LedgerFault> {
        Self::over(place, open::open_to_inspect)
    }

    /// Whose ledger it is, and why it was set back if it was: [`Inspector::open`] for a look that is over at once, waits for
    /// no writer and keeps none waiting, and leaves no file behind where no vault runs.
    ///
    /// # Errors
    ///
    /// As [`Inspector::open`].
    pub fn glance(place: &LedgerPlace) -> Result<(Identity, Option<String>), LedgerFault> {
        Self::over(place, open::open_to_glance).map(|inspector| (inspector.identity, inspector.set_back))
    }

    fn over(
        place: &LedgerPlace,
        connect: impl FnOnce(&LedgerPlace) -> Result<Store, LedgerFault>,
    ) -> Result<Self, LedgerFault> {
        // The mark first: it may go on while this looks, and what is committed is never behind it.
        let marked = mark::read_beside(&place.file);
        let conn = connect(place)?;
        conn.begin_to_look()?;
        let (known, vouched) = (meta::read(&conn)?, checkpoint::vouched(&conn)?);
        let set_back = match marked {
            Some(marked) => mark::against(marked, &known.ledger_id, &conn, &known.head)?,
            None => None,
        };
        let identity = Identity {
            ledger: known.ledger_id,
            setting: known.setting,
            account: known.key_address,
            epoch: vouched.epoch,
            key: vouched.key,
            events: known.head.seq,
            head: known.head.hash,
            latched: known.latched,
        };
        Ok(Self { conn, identity, place: place.clone(), set_back })
    }

    /// Whose ledger it is.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Why it is not the one that was here last, but an older state of it; `None` where it is, or nothing was marked.
    #[must_use]
    pub fn set_back(&self) -> Option<&str> {
        self.set_back.as_deref()
    }

    /// Reads every page and compares every index with its table.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Corrupt`] with the first thing that SQLite finds.
    pub fn pages(&self) -> Result<(), LedgerFault> {
        let damaged = |detail| LedgerFault::Corrupt { path: self.place.file.clone(), detail };
        let verdict = self.conn.file()?.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        let verdict = verdict.map_err(|fault| damaged(fault.to_string()))?;
        if verdict == "ok" { Ok(()) } else { Err(damaged(verdict)) }
    }

    /// Reads every page, and then checks everything as [`Inspector::verify`] does: what a start leaves for later.
    ///
    /// # Errors
    ///
    /// As those of both.
    pub fn whole(&self) -> Result<Books, LedgerFault> {
        // A server looks after its own pages.
        if self.place.server.is_none() {
            open::check_pages(self.conn.file()?, &self.place.file)?;
        }
        self.verify(Kept::default(), &mut |_progress| ())
    }

    /// What breaks off a long look from another thread.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn brake(&self) -> Result<Brake, LedgerFault> {
        Ok(Brake(match &self.conn {
            Store::Sqlite(conn) => Pedal::File(conn.get_interrupt_handle()),
            Store::Postgres(session) => Pedal::Server(session.brake()),
        }))
    }

    /// Checks the log, every row, every total, every session and every checkpoint, as a vault does at its start.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Books`] with the first thing that does not fit, or a fault of the storage.
    pub fn verify(&self, kept: Kept, progress: &mut dyn FnMut(Progress)) -> Result<Books, LedgerFault> {
        audit::everything(&self.conn, kept, progress)
    }
}
