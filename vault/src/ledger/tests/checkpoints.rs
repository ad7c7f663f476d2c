//! Signed checkpoints: when they are made, and that nothing before one can be changed, moved or cut unnoticed.

use rusqlite::Connection;

use super::tamper::forge;
use super::world::{CENT, World, errand, place};
use crate::audit_key::{AuditKey, AuditPublic};
use crate::ledger::{
    CHECKPOINT_EVENTS, CHECKPOINT_S, Checkpointed, Inspector, Kept, LedgerFault, SignedCheckpoint, When,
};
use crate::sign::Key;

pub(super) fn key(byte: u8) -> AuditKey {
    AuditKey::of(&Key::from_bytes(&[byte; 32]).unwrap()).unwrap()
}

fn public(byte: u8) -> AuditPublic {
    key(byte).public()
}

pub(super) fn checkpoint(world: &World) -> SignedCheckpoint {
    match world.ledger().checkpoint(key(7), When::Now).unwrap() {
        Checkpointed::Made(signed) => signed,
        other => panic!("not made: {other:?}"),
    }
}

#[test]
fn a_checkpoint_signs_the_event_before_it_and_names_its_ledger() {
    let world = World::new("", "10 USD");
    let before = world.ledger().verify().unwrap();
    let signed = checkpoint(&world);
    assert!(signed.holds());
    assert_eq!((signed.checkpoint.seq, signed.checkpoint.hash), (before.events, before.head));
    assert_eq!((signed.checkpoint.ledger.as_str(), signed.checkpoint.epoch), ("07".repeat(16).as_str(), 1));
    assert_eq!(SignedCheckpoint::read(&signed.line()), Some(signed.clone()));
    let books = world.ledger().verify().unwrap();
    assert_eq!((books.checkpoints, books.epoch), (1, 1));
    assert_eq!(books.signed, Some(signed.clone()));
    assert_eq!(world.ledger().checkpoint(key(7), When::Now).unwrap(), Checkpointed::Already(signed));
}

#[test]
fn one_is_due_after_so_many_events_or_so_long_with_anything_new() {
    let world = World::new("", "10 USD");
    let due = || world.ledger().checkpoint(key(7), When::Due).unwrap();
    assert!(matches!(due(), Checkpointed::Made(_)), "the first one at once");
    world.time.pass(CHECKPOINT_S);
    assert!(matches!(due(), Checkpointed::Already(_)), "nothing is new");
    world.ledger().freeze("x").unwrap();
    assert!(matches!(due(), Checkpointed::Made(_)));
    world.ledger().freeze("y").unwrap();
    world.time.pass(CHECKPOINT_S - 1);
    assert_eq!(due(), Checkpointed::NotDue);
    world.time.pass(1);
    assert!(matches!(due(), Checkpointed::Made(_)));
    for _ in 1..CHECKPOINT_EVENTS {
        world.ledger().note(crate::ledger::Event::new(crate::ledger::EventKind::Note, "one more"));
    }
    assert_eq!(due(), Checkpointed::NotDue);
    world.ledger().freeze("z").unwrap();
    assert!(matches!(due(), Checkpointed::Made(_)));
    world.ledger().verify().unwrap();
}

#[test]
fn nobody_vouches_for_a_ledger_that_is_shut_and_no_other_key_for_this_one() {
    let world = World::new("", "10 USD");
    checkpoint(&world);
    world.ledger().freeze("x").unwrap();
    let other = world.ledger().checkpoint(key(8), When::Now);
    assert_eq!(other, Err(LedgerFault::OtherAuditKey));
    assert_eq!(world.ledger().latched(), None);
    world.ledger().latch("odd books");
    assert_eq!(world.ledger().checkpoint(key(7), When::Now), Ok(Checkpointed::Shut));
}

#[test]
fn a_log_that_was_written_anew_before_a_checkpoint_is_found_and_a_kept_hash_finds_the_rest() {
    let world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    checkpoint(&world);
    let kept = world.ledger().verify().unwrap().head;
    world.ledger().freeze("x").unwrap();
    world.ledger().flush().unwrap();
    let conn = Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
    rewrite(&conn, 2, "nothing of note");
    let found = Inspector::open(&place(world.dir.path())).unwrap().verify(Kept::default(), &mut |_progress| ());
    assert!(found.unwrap_err().to_string().contains("is of another log than this one"));

    let world = World::new("", "10 USD");
    checkpoint(&world);
    let hash = world.ledger().verify().unwrap().head;
    let inspector = Inspector::open(&place(world.dir.path())).unwrap();
    let verify = |kept| inspector.verify(kept, &mut |_progress| ());
    verify(Kept { key: Some(public(7)), head: Some(hash) }).unwrap();
    let other = verify(Kept { key: Some(public(8)), head: None }).unwrap_err().to_string();
    assert!(other.contains("is by another key"), "{other}");
    let cut = verify(Kept { key: None, head: Some(kept) }).unwrap_err().to_string();
    assert!(cut.contains("cut off before it, or written anew"), "{cut}");
}

/// Changes the words of one event and works out every later hash anew, as a forger without the key would.
pub(super) fn rewrite(conn: &Connection, seq: u64, words: &str) {
    use crate::ledger::Logged;
    use crate::ledger::audit::chain::COLUMNS;
    use crate::ledger::events::{Link, link};
    use crate::ledger::store::Row;
    conn.execute_batch("DROP TRIGGER event_story").unwrap();
    let mut statement = conn.prepare(&format!("SELECT {COLUMNS} FROM event ORDER BY seq")).unwrap();
    let events: Vec<Logged> =
        statement.query_map([], |row| Ok(Logged::read(&Row::Sqlite(row)).unwrap())).unwrap().flatten().collect();
    drop(statement);
    let mut prev = bursar_policy::Digest::of(b"");
    for mut event in events {
        if event.seq == seq {
            event.detail = words.to_owned();
        }
        let hash = link(&Link {
            prev: &prev,
            seq: event.seq,
            at_s: event.at_s,
            kind: &event.kind,
            payment: event.payment.as_deref(),
            session: event.session.as_deref(),
            detail: &event.detail,
            fact: event.fact.as_deref(),
        });
        let sql = "UPDATE event SET detail = ?1, prev = ?2, hash = ?3 WHERE seq = ?4";
        let place = i64::try_from(event.seq).unwrap();
        conn.execute(sql, rusqlite::params![event.detail, prev.to_string(), hash.to_string(), place]).unwrap();
        prev = hash;
    }
    conn.execute("UPDATE meta SET event_hash = ?1", [prev.to_string()]).unwrap();
    let trigger = "CREATE TRIGGER event_story BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'an event is never rewritten'); END";
    conn.execute_batch(trigger).unwrap();
}

#[test]
fn the_first_thing_that_was_changed_removed_or_cut_off_is_named() {
    let last = "(SELECT max(seq) FROM event)";
    for (triggers, sql, named) in [
        (&["event_story"][..], "UPDATE event SET detail = 'x' WHERE seq = 2".to_owned(), "event 2 was changed"),
        (&["event_stays"], "DELETE FROM event WHERE seq = 3".to_owned(), "event 3 is missing"),
        (&["event_stays"], format!("DELETE FROM event WHERE seq = {last}"), "and had 7: what came after was cut off"),
        (&["event_story"], "UPDATE event SET prev = hash WHERE seq = 4".to_owned(), "event 4 does not follow"),
        (&["payment_stays"], "DELETE FROM payment".to_owned(), "names a row that is not there"),
        (&["payment_story"], "UPDATE payment SET payee = payer".to_owned(), "payment `p_"),
        (&["audit_story"], "UPDATE audit SET key = NULL".to_owned(), "the checkpoints and epochs are not those"),
        (&["audit_story"], "UPDATE audit SET epoch = 3".to_owned(), "the checkpoints and epochs are not those"),
    ] {
        let world = World::new("", "10 USD");
        world.buy(errand("a"), CENT);
        checkpoint(&world);
        world.ledger().flush().unwrap();
        assert_eq!(world.ledger().verify().unwrap().events, 7);
        let conn = Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
        conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        forge(&conn, triggers, &sql);
        let found = Inspector::open(&place(world.dir.path())).unwrap().verify(Kept::default(), &mut |_progress| ());
        let told = found.unwrap_err().to_string();
        assert!(told.contains(named), "{sql}: {told}");
    }
}

#[test]
fn a_trigger_that_was_taken_away_is_named() {
    let world = World::new("", "10 USD");
    let conn = Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
    conn.execute_batch("DROP TRIGGER payment_moves").unwrap();
    let told = Inspector::open(&place(world.dir.path())).unwrap_err().to_string();
    assert!(told.contains("the trigger `payment_moves` is not as this program makes it"), "{told}");
}
