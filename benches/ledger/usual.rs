//! What is compared with: a bare durable commit, and a budget checked the usual way, by adding up the window inside the
//! transaction that writes the reservation. Both in a file of their own beside the ledger, with its settings.

use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior, params};

/// The schema that most budgets have: one row a reservation, whole numbers, and an index on what is asked for.
const SCHEMA: &str = "CREATE TABLE reservation (
        id        INTEGER PRIMARY KEY,
        session   TEXT    NOT NULL,
        url       TEXT    NOT NULL,
        payee     TEXT    NOT NULL,
        nonce     TEXT    NOT NULL UNIQUE,
        amount    INTEGER NOT NULL,
        created_s INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX reservation_window ON reservation (session, created_s);";

const SUM: &str = "SELECT coalesce(sum(amount), 0) FROM reservation WHERE session = 'default' AND created_s >= ?1";

const RESERVE: &str = "INSERT INTO reservation (session, url, payee, nonce, amount, created_s)
    VALUES ('default', 'https://api.merchant.test/v1/data', '0x1111111111111111111111111111111111111111', ?1, 1000, ?2)";

/// A moment; the window of everything here ends at it.
const NOW_S: i64 = 2_000_000_000;
const WINDOW_S: i64 = 24 * 60 * 60;

/// A file with `rows` reservations in the window.
fn file(folder: &Path, name: &str, rows: u64) -> std::path::PathBuf {
    let file = folder.join(format!("{name}-{rows}.db"));
    if file.exists() {
        std::fs::remove_file(&file).unwrap();
    }
    let mut conn = connect(&file);
    conn.execute_batch(SCHEMA).unwrap();
    let filling = conn.transaction().unwrap();
    for row in 0..rows {
        filling.prepare_cached(RESERVE).unwrap().execute(params![format!("{row:064x}"), NOW_S - 1]).unwrap();
    }
    filling.commit().unwrap();
    file
}

fn connect(file: &Path) -> Connection {
    let mut conn = Connection::open(file).unwrap();
    // As the ledger has it: a commit that returned survives a power cut.
    conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").unwrap();
    // However long it takes: under a crowd somebody may have no luck for a minute.
    conn.busy_handler(Some(|_tried| {
        std::thread::sleep(Duration::from_millis(1));
        true
    }))
    .unwrap();
    conn
}

/// What a commit of one row takes that waits for the disk and does nothing else.
pub(crate) fn bare_commits(folder: &Path, times: usize) -> Vec<Duration> {
    let conn = connect(&file(folder, "bare", 0));
    let commit = |number: usize| {
        let begun = Instant::now();
        conn.prepare_cached(RESERVE).unwrap().execute(params![format!("{number:064x}"), NOW_S]).unwrap();
        begun.elapsed()
    };
    (0..times).map(commit).collect()
}

/// One caller with a file of its own.
pub(crate) struct Alone {
    conn: Connection,
    made: usize,
}

impl Alone {
    /// With `rows` in the window.
    pub(crate) fn new(folder: &Path, rows: u64) -> Self {
        Self { conn: connect(&file(folder, "alone", rows)), made: 0 }
    }

    /// One reservation after another; what each took.
    pub(crate) fn reserve(&mut self, times: usize) -> Vec<Duration> {
        let one = |conn: &mut Connection, number: usize| {
            let begun = Instant::now();
            reserve(conn, &format!("{:032x}{number:032x}", 1));
            begun.elapsed()
        };
        let first = self.made;
        self.made += times;
        (first..self.made).map(|number| one(&mut self.conn, number)).collect()
    }
}

/// How many reservations a second `callers` get, each on a connection of its own, with `rows` in the window.
pub(crate) fn rate(folder: &Path, rows: u64, callers: usize, each: usize) -> f64 {
    let file = file(folder, "crowd", rows);
    let gate = Barrier::new(callers + 1);
    let begun = thread::scope(|scope| {
        for caller in 0..callers {
            let (file, gate) = (&file, &gate);
            scope.spawn(move || {
                let mut conn = connect(file);
                gate.wait();
                for number in 0..each {
                    reserve(&mut conn, &format!("{:032x}{number:032x}", caller + 1));
                }
            });
        }
        gate.wait();
        Instant::now()
    });
    (callers * each) as f64 / begun.elapsed().as_secs_f64()
}

/// One reservation: the sum over the window, the comparison, the row, the commit.
fn reserve(conn: &mut Connection, nonce: &str) {
    // The lock first, so that nobody reserves between the sum and the row.
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let sum: i64 = transaction.prepare_cached(SUM).unwrap().query_row([NOW_S - WINDOW_S], |row| row.get(0)).unwrap();
    assert!(sum + 1000 <= i64::MAX / 2, "over the budget");
    transaction.prepare_cached(RESERVE).unwrap().execute(params![nonce, NOW_S]).unwrap();
    transaction.commit().unwrap();
}
