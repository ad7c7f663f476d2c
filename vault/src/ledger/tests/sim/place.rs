//! The disk and the clocks of a simulated life. Must never be used where money is real: nothing waits for the disk here.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use tempfile::TempDir;

use super::super::world::{START, place};
use crate::clock::TimeSource;
use crate::ledger::store::Store;
use crate::ledger::{KeyFile, Ledger, LedgerPlace, open, schema};

/// What a ledger is on the disk. The index of its journal is made anew from the journal.
const FILES: [&str; 3] = ["ledger.sqlite", "ledger.sqlite-wal", "ledger.mark"];

/// A folder with a ledger.
#[derive(Debug)]
pub(super) struct Disk {
    dir: TempDir,
}

/// The files as they were at one moment between two transactions.
#[derive(Debug)]
pub(super) struct Copy([Option<Vec<u8>>; 3]);

impl Disk {
    pub(super) fn new(wall: &Wall) -> Self {
        // Every life begins at the same moment with the same empty ledger, which is made once.
        static EMPTY: OnceLock<Copy> = OnceLock::new();
        let empty = EMPTY.get_or_init(|| {
            let first = Self { dir: tempfile::tempdir().unwrap() };
            Ledger::create(&first.place(), KeyFile::Absent, [7; 16], Box::new(wall.clone())).unwrap();
            first.copy()
        });
        let new = Self { dir: tempfile::tempdir().unwrap() };
        new.put_back(empty);
        new
    }

    fn place(&self) -> LedgerPlace {
        place(self.dir.path())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The ledger itself, but on a connection that waits neither for the disk nor for a lock. The checks of a file that is
    /// opened are left out: they would take longer than a life, and have tests of their own.
    pub(super) fn open(&self, wall: &Wall) -> Ledger {
        let place = self.place();
        let lock = open::lock(&place.lock).unwrap();
        let conn = open::connect(&place.file).unwrap();
        schema::configure(&conn).unwrap();
        conn.pragma_update(None, "synchronous", "OFF").unwrap();
        conn.busy_timeout(Duration::ZERO).unwrap();
        Ledger::begin(Store::Sqlite(conn), lock, &place, Box::new(wall.clone())).unwrap()
    }

    /// Another process that looks: it sees what is committed, and nothing else.
    pub(super) fn witness(&self) -> Connection {
        open::open_for_reading(&self.place()).unwrap()
    }

    /// Another process that holds the file until this is dropped.
    pub(super) fn lock(&self) -> Connection {
        let mut other = Connection::open(self.file(FILES[0])).unwrap();
        let mut held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        held.set_drop_behavior(rusqlite::DropBehavior::Ignore);
        drop(held);
        other
    }

    pub(super) fn copy(&self) -> Copy {
        Copy(FILES.map(|name| fs::read(self.file(name)).ok()))
    }

    pub(super) fn put_back(&self, copy: &Copy) {
        for name in FILES.into_iter().chain(["ledger.sqlite-shm"]) {
            fs::remove_file(self.file(name)).unwrap_or_default();
        }
        for (name, bytes) in FILES.iter().zip(&copy.0) {
            if let Some(bytes) = bytes {
                fs::write(self.file(name), bytes).unwrap();
            }
        }
        let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(self.file(FILES[0]), owner).unwrap();
    }
}

#[derive(Debug, Default)]
struct Hands {
    wall_s: AtomicU64,
    boot_ms: AtomicU64,
    boots: AtomicU64,
}

/// Both clocks of a machine.
#[derive(Clone, Debug)]
pub(super) struct Wall(Arc<Hands>);

impl Wall {
    pub(super) fn new() -> Self {
        let hands = Hands { wall_s: AtomicU64::new(START), ..Hands::default() };
        Self(Arc::new(hands))
    }

    pub(super) fn pass(&self, seconds: u64) {
        self.0.wall_s.fetch_add(seconds, Ordering::SeqCst);
        self.0.boot_ms.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    pub(super) fn leap(&self, on: bool, seconds: u64) {
        if on {
            self.0.wall_s.fetch_add(seconds, Ordering::SeqCst);
        } else {
            self.0.wall_s.fetch_sub(seconds, Ordering::SeqCst);
        }
    }

    pub(super) fn reboot(&self) {
        self.0.boots.fetch_add(1, Ordering::SeqCst);
        self.0.boot_ms.store(0, Ordering::SeqCst);
    }
}

impl TimeSource for Wall {
    fn wall_s(&self) -> Option<u64> {
        Some(self.0.wall_s.load(Ordering::SeqCst))
    }

    fn boot_ms(&self) -> u64 {
        self.0.boot_ms.load(Ordering::SeqCst)
    }

    fn boot_id(&self) -> String {
        format!("boot {}", self.0.boots.load(Ordering::SeqCst))
    }
}
