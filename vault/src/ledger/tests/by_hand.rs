//! Somebody who changes a ledger by hand, past every vault. Must never be what a vault can do.

use std::path::Path;

use bursar_postgres::{Cell, Line};
use rusqlite::Connection;

use super::tamper;
use super::world::World;

/// A way into the database that knows no rule.
pub(super) enum Hand {
    /// Into the file.
    File(Connection, std::path::PathBuf),
    /// To the server, as somebody who may do anything there.
    Server(Line),
}

impl World {
    /// Somebody who has the database before them.
    pub(super) fn by_hand(&self) -> Hand {
        match &self.server {
            Some(database) => Hand::Server(database.keeper()),
            None => Hand::file(self.dir.path()),
        }
    }
}

impl Hand {
    fn file(folder: &Path) -> Self {
        let conn = Connection::open(folder.join("ledger.sqlite")).unwrap();
        conn.execute_batch("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON").unwrap();
        Self::File(conn, folder.to_owned())
    }

    /// Whether the database lets `sql` through, with its guards up.
    pub(super) fn tries(&self, sql: &str) -> bool {
        match self {
            Self::File(conn, _) => conn.execute_batch(sql).is_ok(),
            Self::Server(line) => line.batch(sql).is_ok(),
        }
    }

    /// Does `sql`, which the database lets through.
    pub(super) fn run(&self, sql: &str) {
        assert!(self.tries(sql), "the database refused: {sql}");
    }

    /// Does `sql` with the guards taken down and put up again, as somebody would who wants no trace.
    pub(super) fn forge(&self, triggers: &[&str], sql: &str) {
        match self {
            Self::File(conn, _) => tamper::forge(conn, triggers, sql),
            Self::Server(line) => line
                .batch(&format!(
                    "SET session_replication_role = replica; {sql}; SET session_replication_role = DEFAULT"
                ))
                .unwrap(),
        }
    }

    /// Keeps everybody else from writing until [`Hand::unlock`].
    pub(super) fn lock(&self) {
        self.run(match self {
            Self::File(..) => "BEGIN IMMEDIATE",
            Self::Server(_) => "BEGIN; SELECT 1 FROM meta FOR UPDATE",
        });
    }

    pub(super) fn unlock(&self) {
        self.run("COMMIT");
    }

    /// The number that `sql` finds.
    pub(super) fn number(&self, sql: &str) -> i64 {
        match self {
            Self::File(conn, _) => conn.query_row(sql, [], |row| row.get(0)).unwrap(),
            Self::Server(line) => match line.query(sql, &[]).unwrap()[0].cell(0).unwrap() {
                Cell::Number(number) => number,
                other => panic!("{other:?}"),
            },
        }
    }

    /// How many events of this kind are committed.
    pub(super) fn events(&self, kind: &str) -> i64 {
        self.number(&format!("SELECT count(*) FROM event WHERE kind = '{kind}'"))
    }

    /// How much of the disk the ledger takes.
    pub(super) fn bytes(&self) -> i64 {
        match self {
            Self::File(_, folder) => {
                let files = std::fs::read_dir(folder).unwrap();
                files.map(|entry| i64::try_from(entry.unwrap().metadata().unwrap().len()).unwrap()).sum()
            }
            Self::Server(_) => self.number("SELECT pg_database_size(current_database())"),
        }
    }
}
