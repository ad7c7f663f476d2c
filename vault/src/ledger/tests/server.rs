//! A database with the tables of a ledger for each test that wants one, on a server that all of them share. Must never be
//! somebody's own server.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bursar_postgres::{Host, Line, Password, Security, Server};

use crate::ledger::{ServerClock, ServerPlace, migrate};

#[path = "../../../../tests/postgres/cluster.rs"]
pub(super) mod cluster;

use self::cluster::Cluster;

/// The role that vaults have.
pub(super) const VAULTS: &str = "vaults";

const TEMPLATE: &str = "empty_ledger";

/// One database.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub(super) name: String,
    pub(super) folder: std::path::PathBuf,
    pub(super) port: u16,
}

impl Database {
    /// An empty ledger's tables in a database of the shared server.
    pub(super) fn new() -> Self {
        Self::of_template(shared(), TEMPLATE)
    }

    /// No tables at all in a database of the shared server.
    pub(super) fn bare() -> Self {
        Self::of_template(shared(), "template1")
    }

    /// The only one on a server of its own.
    pub(super) fn on(cluster: &Cluster) -> Self {
        Self::prepare(cluster);
        Self::of_template(cluster, TEMPLATE)
    }

    fn of_template(cluster: &Cluster, template: &str) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let name = format!("ledger_{}", MADE.fetch_add(1, Ordering::SeqCst));
        run_on(cluster, &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        Self { name, folder: cluster.folder.clone(), port: cluster.port }
    }

    fn prepare(cluster: &Cluster) {
        run_on(cluster, &format!("CREATE DATABASE {TEMPLATE}"));
        let template = Self { name: TEMPLATE.to_owned(), folder: cluster.folder.clone(), port: cluster.port };
        let made = migrate(&template.server("keeper"), VAULTS).unwrap();
        assert_eq!((made.from, made.made_role), (0, true));
        run_on(cluster, &format!("ALTER ROLE {VAULTS} PASSWORD '{VAULTS}'"));
    }

    /// This database for a role that is not asked for a password.
    pub(super) fn server(&self, user: &str) -> Server {
        Server {
            hosts: vec![(Host::Socket(self.folder.clone()), self.port)],
            user: user.to_owned(),
            password: None,
            database: self.name.clone(),
            security: Security::Plain,
            application: "test".to_owned(),
        }
    }

    /// The ledger for a vault that begins now, by the test's own clock.
    pub(super) fn place(&self) -> ServerPlace {
        ServerPlace { clock: ServerClock::Given, ..self.place_in_earnest() }
    }

    /// The ledger for a vault that begins now, by the server's clock.
    pub(super) fn place_in_earnest(&self) -> ServerPlace {
        ServerPlace::new(self.server(VAULTS)).unwrap()
    }

    /// This database by way of a port on loopback.
    pub(super) fn server_at(&self, port: u16) -> Server {
        Server {
            hosts: vec![(Host::Name("127.0.0.1".to_owned()), port)],
            password: Some(Password::new(VAULTS.as_bytes().to_vec().into())),
            ..self.server(VAULTS)
        }
    }

    /// Somebody who may do anything.
    pub(super) fn keeper(&self) -> Line {
        open(&self.server("keeper"))
    }
}

/// The server that all tests share which need none of their own.
fn shared() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| {
        let cluster = Cluster::start(&[]);
        Database::prepare(&cluster);
        cluster
    })
}

/// A line to a database whose tables are found without naming their schema.
pub(super) fn open(server: &Server) -> Line {
    let line = Line::open(server, Duration::from_secs(20)).unwrap();
    line.batch("SET search_path TO bursar, pg_catalog, pg_temp").unwrap();
    line
}

fn run_on(cluster: &Cluster, sql: &str) {
    let nowhere = Database { name: "postgres".to_owned(), folder: cluster.folder.clone(), port: cluster.port };
    Line::open(&nowhere.server("keeper"), Duration::from_secs(60)).unwrap().batch(sql).unwrap();
}
