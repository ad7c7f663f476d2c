//! A ledger of an older version opens as one of this version, with everything that was in it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use bursar_policy::errand::SessionId;
use rusqlite::Connection;

use super::world::{CENT, Fake, PAYER, START, World, drawn, errand, money, place, rules, terms};
use crate::ledger::{Claim, Handover, Held, Inspector, Ledger, LedgerFault, Meant, Rotated, RowState, tally};

/// Written by version 1: four payments, of which one settled, one was lost, one was delivered without a settlement, and
/// one is in flight, 400 seconds after [`START`].
const VERSION_1: &[u8] = include_bytes!("version-1.db");

fn laid_down(dir: &Path) -> std::path::PathBuf {
    let file = place(dir).file;
    fs::write(&file, VERSION_1).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    file
}

fn open(dir: &Path) -> Result<Ledger, LedgerFault> {
    let time = Fake::new();
    time.pass(400);
    assert_eq!(time.now_s(), START + 400);
    Ledger::open(&place(dir), Box::new(time))
}

#[test]
fn version_1_opens_and_balances_and_its_lost_payment_counts() {
    let dir = tempfile::tempdir().unwrap();
    laid_down(dir.path());
    for _opening in 0..2 {
        let ledger = open(dir.path()).unwrap();
        assert_eq!(ledger.verify().unwrap().payments, 4);
        let session = SessionId::from_random([1; 16]);
        let overview = ledger.overview(Some(&session), &rules("")).unwrap();
        assert_eq!(overview.session.unwrap().spent, money("0.10 USD"));
        let open: Vec<RowState> = overview.unresolved.iter().map(|open| open.receipt.state).collect();
        assert_eq!(open, [RowState::Exposed]);
        let overdue = ledger.writer.ask(|tx| {
            let found = tally::read(tx.conn, "overdue-host|https://api.example.com|*")?;
            Ok(crate::ledger::Answer::AtOnce(found.pending.count))
        });
        assert_eq!(overdue.unwrap(), 1);
        let familiar = ledger.writer.ask(|tx| {
            let count = "SELECT count(*) FROM familiar WHERE origin = 'https://api.example.com'";
            Ok(crate::ledger::Answer::AtOnce(tx.conn.file()?.query_row(count, [], |row| row.get::<_, u32>(0))?))
        });
        assert_eq!(familiar.unwrap(), 3);
    }
}

/// The same ledger as version 2 left it, which counted the lost payment against its host and its payee.
fn laid_down_as_version_2(dir: &Path) {
    let conn = Connection::open(laid_down(dir)).unwrap();
    conn.execute_batch(include_str!("../schema_2.sql")).unwrap();
    let zero = "0".repeat(39);
    let lost: (String, String, String) = conn
        .query_row("SELECT origin, chain, payee FROM payment WHERE delivery GLOB '{\"silence\"*'", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    let keys = [format!("overdue-host|{}|*", lost.0), format!("overdue-payee|{}:{}|*", lost.1, lost.2)];
    for key in keys {
        let columns = "key, pending, pending_count, spent, spent_count, spent_last_s";
        conn.execute(&format!("INSERT INTO tally ({columns}) VALUES (?1, ?2, 1, ?2, 0, 0)"), [&key, &zero]).unwrap();
    }
    conn.pragma_update(None, "user_version", 2).unwrap();
}

#[test]
fn version_2_opens_and_balances_and_its_lost_payment_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    laid_down_as_version_2(dir.path());
    for _opening in 0..2 {
        let ledger = open(dir.path()).unwrap();
        assert_eq!(ledger.verify().unwrap().payments, 4);
        let overview = ledger.overview(None, &rules("")).unwrap();
        let lost: Vec<u32> = overview.lost.iter().map(|lost| lost.count).collect();
        assert_eq!((lost, overview.quarantined), (vec![1, 1], Vec::new()));
    }
    // And what is new with version 3 works on it.
    let ledger = open(dir.path()).unwrap();
    let resumed = ledger.resume("api.example.com", &rules("")).unwrap();
    assert!(matches!(resumed, Meant::One(resumed) if resumed.pardoned == 1));
    ledger.verify().unwrap();
}

/// A trigger as a version wrote it.
fn written(schema: &str, trigger: &str) -> String {
    let begin = schema.find(&format!("CREATE TRIGGER {trigger}")).unwrap();
    let (text, _rest) = schema[begin..].split_once("END;").unwrap();
    format!("{text}END;")
}

/// Takes away what version 6 added.
fn as_version_5_left_it(file: &Path) {
    let first = include_str!("../schema.sql");
    let meta = written(first, "meta_story");
    let (_, spent) = first.split_once("CREATE TABLE spent (").unwrap();
    let (spent, _) = spent.split_once("CREATE TABLE event_kind").unwrap();
    let returned = written(include_str!("../schema_4.sql"), "returned_begins");
    let audit = written(include_str!("../schema_4.sql"), "audit_story");
    let later = format!(
        "DROP TRIGGER meta_story; {meta} DROP TRIGGER audit_story; {audit}
         DROP TABLE rotation; DROP TABLE sweep; DROP TRIGGER payment_payer;
         DROP INDEX payment_takeable; DROP INDEX event_sweep; DROP INDEX event_rotated;
         DROP TRIGGER returned_begins; CREATE TEMP TABLE kept AS SELECT * FROM spent; DROP TABLE spent;
         CREATE TABLE spent ({spent}
         INSERT INTO spent SELECT key, seq, at_s, payment, total FROM kept ORDER BY key, seq;
         {returned} PRAGMA user_version = 5"
    );
    Connection::open(file).unwrap().execute_batch(&later).unwrap();
}

#[test]
fn version_5_opens_and_balances_and_its_account_can_be_changed() {
    let mut world = World::new("", "1 USD");
    world.ledger().bind_key(PAYER).unwrap();
    world.buy(errand("a"), CENT);
    let signed = super::checkpoints::checkpoint(&world);
    world.close();
    let file = place(world.dir.path()).file;
    as_version_5_left_it(&file);
    world.reopen();
    let books = world.ledger().verify().unwrap();
    assert_eq!((books.payments, books.signed), (1, Some(signed)));
    let handover = Handover {
        from: PAYER,
        to: bursar_policy::Address::from_bytes([0x55; 20]),
        key: super::checkpoints::key(7),
        next: super::checkpoints::key(8),
    };
    assert_eq!(world.ledger().rotate(handover).unwrap(), Rotated::Done);
    world.reopen();
    assert_eq!(world.ledger().verify().unwrap().payments, 1);
}

/// Takes away what version 5 added.
fn as_version_4_left_it(file: &Path) {
    as_version_5_left_it(file);
    let later = "DROP INDEX event_session; DROP INDEX event_freeze; PRAGMA user_version = 4";
    Connection::open(file).unwrap().execute_batch(later).unwrap();
}

#[test]
fn version_4_opens_and_balances_and_its_rows_are_as_they_were() {
    let mut world = World::new("", "1 USD");
    world.buy(errand("a"), CENT);
    drop(world.authorize(errand("b"), CENT).unwrap());
    world.close();
    let file = place(world.dir.path()).file;
    as_version_4_left_it(&file);
    let rows = || -> Vec<(String, String)> {
        let conn = Connection::open(&file).unwrap();
        let mut statement = conn.prepare("SELECT id, updated_s || state FROM payment ORDER BY seq").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let before = rows();
    for _opening in 0..2 {
        world.reopen();
        assert_eq!(world.ledger().verify().unwrap().payments, 2);
    }
    assert_eq!(rows(), before);
}

/// Written by version 5: seven cents settled in three payments, one cent lost, three lost and proved not to have moved,
/// five in flight, 360 seconds after [`START`].
const VERSION_5: &[u8] = include_bytes!("version-5.db");

#[test]
fn version_5_opens_and_balances_and_its_totals_are_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let file = place(dir.path()).file;
    fs::write(&file, VERSION_5).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let used = |ledger: &Ledger, since_s: Option<u64>| {
        let used =
            ledger.writer.ask(move |tx| Ok(crate::ledger::Answer::AtOnce(tally::used(tx.conn, "all|USD", since_s)?)));
        let used = used.unwrap();
        (used.atto / (CENT * 1_000_000_000_000), used.count)
    };
    for _opening in 0..2 {
        let ledger = open(dir.path()).unwrap();
        assert_eq!(ledger.verify().unwrap().payments, 6);
        assert_eq!(used(&ledger, None), (13, 5));
        assert_eq!(used(&ledger, Some(START + 1)), (12, 4), "the first is out of this window");
        let overview = ledger.overview(Some(&SessionId::from_random([1; 16])), &rules("")).unwrap();
        assert_eq!(overview.session.unwrap().spent, money("0.13 USD"));
    }
}

/// Takes away what version 4 added, and what came later.
fn as_version_3_left_it(file: &Path) {
    as_version_4_left_it(file);
    let later = "DROP TRIGGER payment_held_ends; DROP TABLE handle; DROP TRIGGER payment_lapses; DROP TABLE proof;
        DROP TABLE returned; DROP TABLE unproved; DROP TABLE audit; PRAGMA user_version = 3";
    Connection::open(file).unwrap().execute_batch(later).unwrap();
}

fn laid_down_as_version_3(dir: &Path) {
    let file = laid_down(dir);
    drop(open(dir).unwrap());
    as_version_3_left_it(&file);
}

#[test]
fn version_3_opens_and_balances_and_money_can_be_held_on_it() {
    let dir = tempfile::tempdir().unwrap();
    laid_down_as_version_3(dir.path());
    for _opening in 0..2 {
        let ledger = open(dir.path()).unwrap();
        assert_eq!(ledger.verify().unwrap().payments, 4);
    }
    let ledger = open(dir.path()).unwrap();
    let (session, rules) = (SessionId::from_random([1; 16]), rules(""));
    let Claim::New(claim) = ledger.claim(&session, errand("held"), &rules, Duration::ZERO).unwrap() else {
        panic!("it is new")
    };
    let elsewhere = World::new("", "1 USD");
    // Ids and nonces are of the time they are drawn at.
    elsewhere.time.pass(12_345);
    let ask = elsewhere.ask(terms(CENT));
    let drawn = drawn(&ask.payment);
    assert!(matches!(ledger.hold(claim, ask, drawn, &rules).unwrap(), Held::Yes(_)));
    ledger.verify().unwrap();
}

#[test]
fn version_3_opens_in_the_first_epoch_and_without_a_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    laid_down_as_version_3(dir.path());
    assert!(matches!(Inspector::open(&place(dir.path())), Err(LedgerFault::Older { .. })), "looking changes nothing");
    for _opening in 0..2 {
        let books = open(dir.path()).unwrap().verify().unwrap();
        assert_eq!((books.payments, books.epoch, books.checkpoints), (4, 1, 0));
    }
    assert_eq!(Inspector::open(&place(dir.path())).unwrap().identity().key, None);
}

#[test]
fn a_changed_version_1_is_refused_and_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let file = laid_down(dir.path());
    Connection::open(&file).unwrap().execute_batch("DROP TRIGGER payment_moves").unwrap();
    assert!(matches!(open(dir.path()), Err(LedgerFault::Corrupt { .. })));
    let version: i64 = Connection::open(&file)
        .unwrap()
        .query_row("SELECT user_version FROM pragma_user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, 1);
}

#[test]
fn version_3_opens_and_its_payments_can_be_proved() {
    let mut world = World::new("", "1 USD");
    let settled = world.buy(errand("a"), CENT).payment;
    drop(world.authorize(errand("b"), CENT).unwrap());
    world.close();
    as_version_3_left_it(&place(world.dir.path()).file);
    for _opening in 0..2 {
        world.reopen();
        world.ledger().verify().unwrap();
        let doubts = world.ledger().doubts(bursar_policy::ChainId::BASE_SEPOLIA, START + 1_000, 10).unwrap();
        assert_eq!(doubts.len(), 2);
        assert!(doubts.iter().any(|doubt| doubt.of == settled && doubt.claimed.is_some()));
    }
}

/// Every schema file of a version that was given out, and what it is: a ledger of that version was made with these words, so
/// that a change of them is a new file with a new number.
#[test]
fn what_a_version_wrote_is_what_it_wrote() {
    let files = [
        (include_str!("../schema.sql"), "4f4f85429743c649d0f990639ddb304167ecc2f7c4ff381aa462425a82ac5619"),
        (include_str!("../schema_2.sql"), "23e06f5cb133f01ee3725f1ea8364503c56a8d698181e5367df5f5a868fb412a"),
        (include_str!("../schema_3.sql"), "ddbef1662ea911782d4eb3ce4ad20ee5c855ae86fe2c3568d6f16ed22801fdb1"),
        (include_str!("../schema_4.sql"), "65c383e347059bc92810ff4c9f18f5ca2e301789558b76eea4962ba7ed2d5a4e"),
        (include_str!("../schema_5.sql"), "912fbc75c2ba83538281c1b50f3016c79459187f6cee8725e97b0e0ee0c51a69"),
        (include_str!("../schema_6.sql"), "6fff2d826e3b02f348de8a101d63d15a4d288a765845dc8934e8f731c0419c3a"),
        (include_str!("../postgres/schema.sql"), "3da0950cb60f4a74f4d1cfdb6fab9e8264eb154ea4b77c04a0e52c5c0c242f9d"),
        (include_str!("../postgres/schema_2.sql"), "1a45e4a48bd744473746832a103bba432d57d804000cd4a85eac1a0d28fbf146"),
    ];
    for (text, digest) in files {
        assert_eq!(bursar_policy::Digest::of(text.as_bytes()).to_string(), digest, "{}", text.lines().next().unwrap());
    }
}
