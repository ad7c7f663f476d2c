//! A ledger on a PostgreSQL server, which several vaults share. Must never let a vault go on that was silent for too long.
//!
//! Every transaction begins with a lock on the one row about the ledger itself, which the end of the log is in anyway. So
//! vaults write one after another, each statement sees all that was committed, and the rules hold as they do on a file.
//! What the lock was taken under is read right after it: the server's clock, whether payments are shut, and whether this
//! vault still is who it was ([`tenure`]).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bursar_postgres::Server;

pub use self::migrate::{Migrated, migrate};
pub(super) use self::open::{Purpose, connect, create};
pub(super) use self::session::Session;
pub(super) use self::tenure::{Seen, Tenure};
pub(super) use self::time::ServerTime;

mod open;
mod rights;

mod session;
mod tenure;
mod time;

mod migrate;

/// What belongs to whom: the schema that the tables are in.
pub(super) const SCHEMA: &str = "bursar";

/// How long a statement may take: longer than the server itself lets one take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server's clock, Unix seconds.
pub(super) const NOW: &str = "SELECT CAST(floor(extract(epoch FROM clock_timestamp())) AS bigint)";

/// The version of the tables that this program reads and writes.
pub(super) const VERSION: i64 = 2;

/// A ledger on a server, as one vault process knows it.
#[derive(Clone)]
pub struct ServerPlace {
    /// The server, the database, and the role that vaults have.
    pub server: Server,
    /// Who this process is among the vaults that share the ledger: 32 lower-case hex digits, drawn anew for each.
    pub vault: Arc<str>,
    /// Whose clock counts.
    pub clock: ServerClock,
    /// How long a statement is waited for before the server is taken for gone.
    pub patience: Duration,
}

/// Whose clock a shared ledger goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerClock {
    /// The server's: every vault has the same.
    Server,
    /// The one that was handed over; for tests, which move it.
    Given,
}

impl fmt::Debug for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerPlace").field("server", &self.server).field("vault", &self.vault).finish_non_exhaustive()
    }
}

impl ServerPlace {
    /// The ledger on `server` for a process that begins now.
    ///
    /// # Errors
    ///
    /// When the system has no randomness.
    pub fn new(server: Server) -> Result<Self, getrandom::Error> {
        let mut id = [0_u8; 16];
        getrandom::fill(&mut id)?;
        Ok(Self { server, vault: hex::encode(id).into(), clock: ServerClock::Server, patience: PATIENCE })
    }

    /// Where it is, for people: role, server and database.
    #[must_use]
    pub fn shown(&self) -> String {
        self.server.to_string()
    }
}
