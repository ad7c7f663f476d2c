//! The journal that commits go to, and the wait until it is on the disk. Must never call anything durable that is not.
//!
//! SQLite runs with `synchronous = NORMAL`: a commit is in the journal file and survives the end of the process, and it is
//! this file that says when it survives a power cut too. With `FULL` every commit would wait for the disk, also the one
//! that stores a signature, which needs no such wait: its money is counted on the disk already. SQLite itself still
//! waits for the journal before it moves pages from there into the database (sqlite.org/wal.html, "Checkpointing").

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::ledger::fault::LedgerFault;
use crate::ledger::schema;
use crate::ledger::store::Store;
use crate::platform;

/// The journal of one ledger.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// `None` until there was a commit: before that SQLite may have made none.
    file: Option<File>,
}

impl Journal {
    /// The journal that is `path` once something is committed.
    pub(super) const fn at(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// Forgets the file: another connection makes its own.
    pub(super) fn forget(&mut self) {
        self.file = None;
    }

    /// Waits until everything that was committed in `store` is on the disk. A server waits in its commits. A connection that is set to wait for nothing
    /// (`synchronous = OFF`, which only tests of something else do) is not waited for.
    ///
    /// # Errors
    ///
    /// What the file system says; then nobody knows what is on the disk.
    pub(super) fn sync(&mut self, store: &Store) -> Result<(), LedgerFault> {
        if store.is_shared() || schema::pragma(store.file()?, "synchronous")? == "0" {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            // Opened once: SQLite keeps one journal for as long as a connection lives.
            none => none.insert(open(&self.path).map_err(unsynced)?),
        };
        file.sync_data().map_err(unsynced)
    }
}

fn unsynced(fault: std::io::Error) -> LedgerFault {
    LedgerFault::Storage { detail: format!("the journal could not be brought to the disk: {fault}") }
}

fn open(path: &Path) -> std::io::Result<File> {
    platform::private_file_no_link().read(true).write(true).open(path)
}
