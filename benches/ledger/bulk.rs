//! A ledger with as many rows as wanted, written in bulk, as if they had been bought one after another in the last weeks.
//!
//! One real purchase is the pattern. What the others differ in is drawn from their number: ids, identities, nonces, times.
//! Rows, running totals, what was spent under every key and the chain of events fit together: the ledger's own check finds
//! nothing, which [`build`] has it say. Indexes and triggers are taken away for the while and put back as they were.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Instant;

use bursar_policy::Digest;
use bursar_vault::clock::{MachineTime, TimeSource};
use bursar_vault::ledger::{Inspector, Kept, KeyFile, Ledger};
use bursar_vault::profile::Profile;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use crate::figures::ms;
use crate::stage::Stage;

/// When the first one was bought, in seconds before now, and when the last one was.
const FIRST_AGO_S: u64 = 40 * 24 * 60 * 60;
const LAST_AGO_S: u64 = 60 * 60;

/// Of so many rows one was paid; the others were set aside for a browser that never came, and given back. With all of them
/// paid ten million would take 70 GB.
const PAID_EVERY: u64 = 8;

/// The machine's clock as it was when the first one was bought, before the machine was started anew.
#[derive(Debug)]
struct Weeks;

impl TimeSource for Weeks {
    fn wall_s(&self) -> Option<u64> {
        MachineTime.wall_s()?.checked_sub(FIRST_AGO_S)
    }

    fn boot_ms(&self) -> u64 {
        MachineTime.boot_ms()
    }

    fn boot_id(&self) -> String {
        "an earlier boot".to_owned()
    }
}

/// Makes a profile in `home` whose ledger has `rows` rows, or takes the one that was built there before.
pub(crate) fn build(home: &Path, rows: u64) {
    let built = home.join("built");
    if built.exists() {
        return;
    }
    if home.exists() {
        std::fs::remove_dir_all(home).unwrap();
    }
    std::fs::create_dir_all(home).unwrap();
    std::fs::set_permissions(home, std::fs::Permissions::from_mode(0o700)).unwrap();
    let begun = Instant::now();
    Stage::initialise(home);
    begin_weeks_ago(home);
    let (stage, _) = Stage::open(home, Box::new(Weeks));
    stage.buy_alone(1);
    stage.close();
    let place = Profile::locate_sandbox(home).unwrap().ledger_place();
    fill(&place.file, rows - 1);
    let filled = begun.elapsed();
    let checking = Instant::now();
    let books = Inspector::open(&place).unwrap().verify(Kept::default(), &mut |_progress| ()).unwrap();
    assert_eq!(books.payments, rows);
    let bytes = std::fs::metadata(&place.file).unwrap().len();
    println!(
        "a ledger of {rows} rows and {} events: {} MB, built in {}, wholly checked in {}",
        books.events,
        bytes / 1_000_000,
        ms(filled),
        ms(checking.elapsed())
    );
    std::fs::write(built, "").unwrap();
}

/// Puts a ledger that was made weeks ago in the place of the one that was just made, under the same id.
fn begin_weeks_ago(home: &Path) {
    let place = Profile::locate_sandbox(home).unwrap().ledger_place();
    let mut id = [0; 16];
    hex::decode_to_slice(Ledger::open(&place, Box::new(MachineTime)).unwrap().id(), &mut id).unwrap();
    std::fs::remove_file(&place.file).unwrap();
    Ledger::create(&place, KeyFile::Absent, id, Box::new(Weeks)).unwrap();
}

/// Adds `more` rows to the one that is there.
fn fill(file: &Path, more: u64) {
    let conn = Connection::open(file).unwrap();
    conn.execute_batch(
        "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA cache_size = -1000000; PRAGMA foreign_keys = OFF; PRAGMA threads = 1;",
    )
    .unwrap();
    let set_aside = take_away(&conn);
    let pattern = Pattern::of(&conn);
    conn.execute_batch("BEGIN").unwrap();
    pattern.write_payments(&conn, more);
    pattern.write_totals(&conn, more);
    conn.execute_batch("COMMIT").unwrap();
    for sql in set_aside {
        conn.execute_batch(&sql).unwrap();
    }
    conn.execute_batch("PRAGMA journal_mode = WAL;").unwrap();
    conn.close().unwrap();
}

/// Drops every trigger and every index that has a text of its own; the texts, indexes first.
fn take_away(conn: &Connection) -> Vec<String> {
    let mut statement =
        conn.prepare("SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type").unwrap();
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let found: Vec<(String, String, String)> = found.map(Result::unwrap).collect();
    for (kind, name, _) in &found {
        conn.execute_batch(&format!("DROP {kind} {name}")).unwrap();
    }
    found.into_iter().map(|(_, _, sql)| sql).collect()
}

/// The one purchase that is there.
struct Pattern {
    columns: Vec<String>,
    row: Vec<Value>,
    /// Kind and detail of each of its events.
    events: Vec<(String, String)>,
    head: (u64, Digest),
    begun_s: u64,
}

impl Pattern {
    fn of(conn: &Connection) -> Self {
        let mut statement = conn.prepare("SELECT * FROM payment").unwrap();
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let row = statement.query_row([], |row| (0..columns.len()).map(|at| row.get(at)).collect()).unwrap();
        let mut statement =
            conn.prepare("SELECT kind, detail FROM event WHERE payment IS NOT NULL ORDER BY seq").unwrap();
        let events =
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
        let head = conn.query_row("SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((u64::try_from(row.get::<_, i64>(0)?).unwrap(), row.get::<_, String>(1)?))
        });
        let (seq, hash) = head.unwrap();
        let begun_s: i64 = conn.query_row("SELECT max(at_s) FROM event", [], |row| row.get(0)).unwrap();
        let head = (seq, Digest::parse(&hash).unwrap());
        Self { columns, row, events, head, begun_s: u64::try_from(begun_s).unwrap() }
    }

    fn at(&self, column: &str) -> usize {
        self.columns.iter().position(|known| known == column).unwrap()
    }

    fn text(&self, column: &str) -> String {
        match &self.row[self.at(column)] {
            Value::Text(text) => text.clone(),
            other => panic!("{column} is {other:?}"),
        }
    }

    /// When row number `number` of `more` was bought.
    fn bought_s(&self, number: u64, more: u64) -> u64 {
        self.begun_s + (FIRST_AGO_S - LAST_AGO_S) * number / more
    }

    /// The rows and their events, each with the digest of the row as it is.
    fn write_payments(&self, conn: &Connection, more: u64) {
        let places = vec!["?"; self.columns.len()].join(", ");
        let mut insert = conn.prepare(&format!("INSERT INTO payment VALUES ({places})")).unwrap();
        let mut log = Log::after(conn, self.head, self.text("session"));
        for number in 1..=more {
            let row = self.vary(number, more);
            insert.execute(params_from_iter(&row)).unwrap();
            let fact = fact(&row);
            let at_s = self.bought_s(number, more);
            if is_paid(number) {
                for (kind, detail) in &self.events {
                    log.add(at_s, kind, &id(number), detail, fact);
                }
            } else {
                log.add(at_s, "held", &id(number), &self.events[0].1, fact);
                log.add(at_s, "voided", &id(number), "the handle ran out", fact);
            }
        }
        log.end(self.bought_s(more, more));
    }

    fn vary(&self, number: u64, more: u64) -> Vec<Value> {
        let drawn = |what: &str| Digest::of(format!("{what} {number}").as_bytes()).to_string();
        let at_s = i64::try_from(self.bought_s(number, more)).unwrap();
        let mut row = self.row.clone();
        let mut set = |column: &str, value: Value| row[self.at(column)] = value;
        set("seq", Value::Integer(i64::try_from(number).unwrap() + 1));
        set("id", Value::Text(id(number)));
        for column in ["identity", "subject", "nonce"] {
            set(column, Value::Text(drawn(column)));
        }
        for column in ["created_s", "updated_s", "signed_s", "ended_s"] {
            set(column, Value::Integer(at_s));
        }
        set("valid_before", Value::Integer(at_s + 60));
        set("tx", Value::Text(format!("0x{}", drawn("transaction"))));
        if !is_paid(number) {
            set("state", Value::Text("voided".to_owned()));
            for column in ["signature", "signed_s", "delivery", "claim", "tx"] {
                set(column, Value::Null);
            }
        }
        row
    }

    /// What was spent under every key, one key after another, and the running totals.
    fn write_totals(&self, conn: &Connection, more: u64) {
        let mut statement = conn.prepare("SELECT key, total FROM spent ORDER BY key").unwrap();
        let keys = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let keys: Vec<(String, String)> = keys.map(Result::unwrap).collect();
        let mut insert =
            conn.prepare("INSERT INTO spent (key, seq, at_s, payment, total) VALUES (?, ?, ?, ?, ?)").unwrap();
        for (key, price) in keys {
            let price: u128 = price.parse().unwrap();
            let mut count: u64 = 1;
            for number in (1..=more).filter(|number| is_paid(*number)) {
                count += 1;
                let total = format!("{:039}", price * u128::from(count));
                let at_s = i64::try_from(self.bought_s(number, more)).unwrap();
                insert.execute(params![key, i64::try_from(count).unwrap(), at_s, id(number), total]).unwrap();
            }
            conn.execute(
                "UPDATE tally SET spent = last.total, spent_count = last.seq, spent_last_s = last.at_s
                 FROM (SELECT * FROM spent WHERE key = ?1 ORDER BY at_s DESC, seq DESC LIMIT 1) AS last WHERE tally.key = ?1",
                [key],
            )
            .unwrap();
        }
    }
}

fn is_paid(number: u64) -> bool {
    number.is_multiple_of(PAID_EVERY)
}

fn id(number: u64) -> String {
    format!("p_{}", &Digest::of(format!("id {number}").as_bytes()).to_string()[..32])
}

/// The digest of a row without tags and without a proof, as the ledger has it (`rows::fact`).
fn fact(row: &[Value]) -> Digest {
    let part = |value: &Value| match value {
        Value::Null => Vec::new(),
        Value::Integer(number) => [&b"i"[..], &number.to_be_bytes()].concat(),
        Value::Text(text) => [&b"t"[..], text.as_bytes()].concat(),
        other => panic!("no column holds {other:?}"),
    };
    let parts: Vec<Vec<u8>> = row.iter().map(part).collect();
    Digest::of_parts(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The log as it goes on.
struct Log<'c> {
    conn: &'c Connection,
    insert: rusqlite::Statement<'c>,
    head: (u64, Digest),
    session: String,
}

impl<'c> Log<'c> {
    fn after(conn: &'c Connection, head: (u64, Digest), session: String) -> Self {
        let insert = conn
            .prepare(
                "INSERT INTO event (seq, at_s, kind, payment, session, detail, fact, prev, hash)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .unwrap();
        Self { conn, insert, head, session }
    }

    /// One more event, with the hash that the ledger gives it (`events::link`).
    fn add(&mut self, at_s: u64, kind: &str, payment: &str, detail: &str, fact: Digest) {
        let (before, prev) = self.head;
        let (seq, fact) = (before + 1, fact.to_string());
        let hash = Digest::of_parts(&[
            b"bursar event 1",
            prev.as_bytes(),
            &seq.to_be_bytes(),
            &at_s.to_be_bytes(),
            kind.as_bytes(),
            &[1, 1, 1],
            payment.as_bytes(),
            self.session.as_bytes(),
            detail.as_bytes(),
            fact.as_bytes(),
        ]);
        let signed = |number| i64::try_from(number).unwrap();
        self.insert
            .execute(params![
                signed(seq),
                signed(at_s),
                kind,
                payment,
                self.session,
                detail,
                fact,
                prev.to_string(),
                hash.to_string()
            ])
            .unwrap();
        self.head = (seq, hash);
    }

    /// Writes down where it ends.
    fn end(self, at_s: u64) {
        let (seq, hash) = self.head;
        let sql = "UPDATE meta SET event_seq = ?, event_hash = ?, recorded_s = ?";
        let seq = i64::try_from(seq).unwrap();
        self.conn.execute(sql, params![seq, hash.to_string(), i64::try_from(at_s).unwrap()]).unwrap();
    }
}
