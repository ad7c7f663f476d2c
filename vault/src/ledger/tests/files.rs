//! Which files open as a ledger and which do not; what a restart keeps.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use bursar_policy::chain::Address;
use bursar_policy::rules::Setting;
use rusqlite::Connection;

use super::world::{CENT, Fake, World, errand, money, named, place};
use crate::ledger::{Inspector, KeyFile, Ledger, LedgerFault, LedgerPlace};

fn open(dir: &Path) -> Result<Ledger, LedgerFault> {
    Ledger::open(&place(dir), Box::new(Fake::new()))
}

fn create(dir: &Path, key: KeyFile) -> Result<(), LedgerFault> {
    Ledger::create(&place(dir), key, [7; 16], Box::new(Fake::new()))
}

/// A closed ledger with one purchase in it, and its file.
fn closed() -> (World, PathBuf) {
    let mut world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    world.close();
    let file = place(world.dir.path()).file;
    (world, file)
}

fn change(file: &Path, sql: &str) {
    Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn opening_never_creates() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(open(dir.path()), Err(LedgerFault::Missing { .. })));
    assert!(!place(dir.path()).file.exists());
}

#[test]
fn creating_refuses_to_forget() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(create(dir.path(), KeyFile::Present), Err(LedgerFault::KeyWithoutLedger { .. })));
    create(dir.path(), KeyFile::Absent).unwrap();
    assert!(matches!(create(dir.path(), KeyFile::Absent), Err(LedgerFault::Exists { .. })));
    let stray = tempfile::tempdir().unwrap();
    fs::write(stray.path().join("ledger.sqlite-wal"), b"of another ledger").unwrap();
    assert!(matches!(create(stray.path(), KeyFile::Absent), Err(LedgerFault::Exists { .. })));
}

#[test]
fn an_interrupted_creation_leaves_nothing_and_can_be_done_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("ledger.sqlite.new")).unwrap();
    fs::write(dir.path().join("ledger.sqlite.new/ledger"), b"half").unwrap();
    assert!(matches!(open(dir.path()), Err(LedgerFault::Missing { .. })));
    create(dir.path(), KeyFile::Absent).unwrap();
    drop(open(dir.path()).unwrap());
    let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["ledger.lock", "ledger.mark", "ledger.sqlite"], "no journal is left by an orderly end");
}

#[test]
fn every_file_is_for_the_owner_alone() {
    let mut world = World::new("", "10 USD");
    for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.lock"] {
        let mode = fs::metadata(world.dir.path().join(name)).unwrap().mode() & 0o7777;
        assert_eq!(mode, 0o600, "{name}");
    }
    world.close();
    let file = place(world.dir.path()).file;
    for mode in [0o644, 0o660, 0o400, 0o700, 0o4600] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let fault = open(world.dir.path()).unwrap_err();
        assert_eq!(fault, LedgerFault::Loose { path: fs::canonicalize(&file).unwrap(), mode });
    }
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    drop(open(world.dir.path()).unwrap());
}

#[test]
fn one_vault_at_a_time() {
    let world = World::new("", "10 USD");
    assert!(matches!(open(world.dir.path()), Err(LedgerFault::InUse { .. })));
    assert!(matches!(create(world.dir.path(), KeyFile::Absent), Err(LedgerFault::Exists { .. })));
    let dir = world.dir;
    assert!(dir.path().join("ledger.lock").exists(), "the file stays");
    let other = LedgerPlace { file: dir.path().join("other.sqlite"), ..place(dir.path()) };
    drop(Ledger::create(&other, KeyFile::Absent, [1; 16], Box::new(Fake::new())));
}

#[test]
fn links_and_odd_names_are_refused() {
    let (world, file) = closed();
    let dir = world.dir.path();
    let hard = dir.join("hard.sqlite");
    fs::hard_link(&file, &hard).unwrap();
    assert!(matches!(open(dir), Err(LedgerFault::NotAFile { .. })), "two names");
    fs::remove_file(&hard).unwrap();
    let moved = dir.join("moved.sqlite");
    fs::rename(&file, &moved).unwrap();
    symlink(&moved, &file).unwrap();
    assert!(matches!(open(dir), Err(LedgerFault::NotAFile { .. })), "a link");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(matches!(open(dir), Err(LedgerFault::NotAFile { .. })), "a folder");
    for name in [":memory:", "", "ledger.sqlite", "file:ledger.sqlite?mode=memory", "/", "/.."] {
        let odd = LedgerPlace { file: PathBuf::from(name), ..place(dir) };
        let fault = Ledger::open(&odd, Box::new(Fake::new())).unwrap_err();
        assert!(matches!(fault, LedgerFault::NotAFileName { .. }), "{name}: {fault:?}");
        assert!(Ledger::create(&odd, KeyFile::Absent, [7; 16], Box::new(Fake::new())).is_err(), "{name}");
    }
}

#[test]
fn what_is_not_a_ledger_is_not_opened() {
    for content in [&b""[..], b"SQLite format 3\0", b"hello, world, this is text and no ledger at all\n"] {
        let dir = tempfile::tempdir().unwrap();
        let file = place(dir.path()).file;
        fs::write(&file, content).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        let fault = open(dir.path()).unwrap_err();
        assert!(matches!(fault, LedgerFault::Foreign { .. } | LedgerFault::Corrupt { .. }), "{fault:?}");
        assert_eq!(fs::read(&file).unwrap(), content, "and it is left as it was");
    }
    let dir = tempfile::tempdir().unwrap();
    let file = place(dir.path()).file;
    change(&file, "CREATE TABLE someone_elses (x)");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(open(dir.path()), Err(LedgerFault::Foreign { .. })));
}

#[test]
fn a_newer_schema_is_not_touched() {
    let (world, file) = closed();
    change(&file, "PRAGMA user_version = 99");
    assert!(matches!(open(world.dir.path()), Err(LedgerFault::Newer { version: 99, .. })));
    change(&file, "PRAGMA user_version = 0");
    assert!(matches!(open(world.dir.path()), Err(LedgerFault::Corrupt { .. })));
}

#[test]
fn a_missing_guard_or_an_extra_table_is_noticed() {
    for sql in
        ["DROP TRIGGER payment_moves", "CREATE TABLE extra (x)", "DROP INDEX payment_live", "CREATE VIEW v AS SELECT 1"]
    {
        let (world, file) = closed();
        change(&file, sql);
        assert!(matches!(open(world.dir.path()), Err(LedgerFault::Corrupt { .. })), "{sql}");
    }
}

#[test]
fn damaged_pages_are_noticed() {
    let (world, file) = closed();
    let mut bytes = fs::read(&file).unwrap();
    for page in bytes.chunks_mut(4096).skip(1) {
        // The head of every b-tree page but the first.
        page[..8].fill(0xff);
    }
    fs::write(&file, &bytes).unwrap();
    assert!(matches!(open(world.dir.path()), Err(LedgerFault::Corrupt { .. })));
    let (world, file) = closed();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(open(world.dir.path()), Err(LedgerFault::Corrupt { .. })));
}

#[test]
fn a_sandbox_and_real_money_never_share_a_ledger() {
    let (world, _file) = closed();
    let real = LedgerPlace { setting: Setting::Real, ..place(world.dir.path()) };
    let fault = Ledger::open(&real, Box::new(Fake::new())).unwrap_err();
    assert!(matches!(fault, LedgerFault::Setting { found: "sandbox", .. }), "{fault:?}");
}

#[test]
fn a_ledger_counts_for_one_key() {
    let mut world = World::new("", "10 USD");
    let (mine, other) = (Address::from_bytes([1; 20]), Address::from_bytes([2; 20]));
    assert_eq!(world.ledger().key_address().unwrap(), None);
    world.ledger().bind_key(mine).unwrap();
    world.ledger().bind_key(mine).unwrap();
    world.reopen();
    assert!(matches!(world.ledger().bind_key(other), Err(LedgerFault::OtherKey { .. })));
    assert_eq!(world.ledger().key_address().unwrap(), Some(mine));
    assert_eq!(world.kinds()["key_bound"], 1);
}

#[test]
fn a_restart_keeps_everything() {
    let mut world = World::new("", "10 USD");
    let paid = world.buy(named("a", "one"), CENT);
    let open = world.authorize(named("a", "two"), 2 * CENT).unwrap();
    let open_id = open.payment().clone();
    drop(open);
    let before = (world.ledger().payment(&paid.payment).unwrap(), world.ledger().payment(&open_id).unwrap());
    world.reopen();
    let after = (world.ledger().payment(&paid.payment).unwrap(), world.ledger().payment(&open_id).unwrap());
    assert_eq!(before, after);
    assert_eq!(world.spent(), money("0.03 USD"), "what was unfinished counts");
    world.ledger().verify().unwrap();
}

#[test]
fn settings_that_safety_rests_on_are_in_force() {
    let world = World::new("", "10 USD");
    let read = world.ledger().writer.ask(|tx| {
        let mut found = Vec::new();
        for name in ["journal_mode", "synchronous", "foreign_keys", "trusted_schema", "recursive_triggers"] {
            found.push(crate::ledger::schema::pragma(tx.conn.file()?, name)?);
        }
        Ok(crate::ledger::Answer::AtOnce(found))
    });
    assert_eq!(read.unwrap(), ["wal", "1", "1", "0", "1"]);
}

#[test]
fn the_database_knows_every_kind_of_event() {
    let (_world, file) = closed();
    let conn = Connection::open(file).unwrap();
    let mut known: Vec<String> = conn
        .prepare("SELECT name FROM event_kind")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut ours: Vec<String> = crate::ledger::EventKind::EVERY.iter().map(|kind| kind.name().to_owned()).collect();
    known.sort();
    ours.sort();
    assert_eq!(known, ours);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_glance_waits_for_no_writer_and_keeps_none_waiting() {
    let world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    let place = place(world.dir.path());
    let account = world.ledger().key_address().unwrap();
    let writer = Connection::open(&place.file).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (identity, set_back) = Inspector::glance(&place).unwrap();
    assert_eq!((identity.account, set_back), (account, None));
    writer.execute_batch("ROLLBACK").unwrap();
    // Only when nobody reads any more can the log be emptied.
    let is_busy: i64 = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(is_busy, 0);
    world.buy(errand("b"), CENT);
    let (later, _) = Inspector::glance(&place).unwrap();
    assert!(identity.events < later.events, "what is only in the log is seen too");
}

#[test]
fn a_glance_at_a_ledger_that_nobody_has_open_leaves_nothing_behind() {
    let (world, file) = closed();
    let folder = world.dir.path().join("odd ?#%é name");
    fs::create_dir(&folder).unwrap();
    let moved = LedgerPlace { file: folder.join("ledger.sqlite"), ..place(world.dir.path()) };
    fs::copy(&file, &moved.file).unwrap();
    fs::set_permissions(&moved.file, Permissions::from_mode(0o600)).unwrap();
    for place in [place(world.dir.path()), moved] {
        let folder = place.file.parent().unwrap();
        let before = (names(folder), fs::read(&place.file).unwrap());
        let (identity, _) = Inspector::glance(&place).unwrap();
        assert!(2 < identity.events);
        assert_eq!((names(folder), fs::read(&place.file).unwrap()), before);
    }
    fs::write(&file, b"not a ledger").unwrap();
    assert!(Inspector::glance(&place(world.dir.path())).is_err());
}
