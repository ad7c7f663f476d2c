//! The writer: asks that share a commit, and each of them failing alone.

use std::path::Path;
use std::sync::mpsc;
use std::thread;

use super::world::World;
use crate::ledger::store::bound;
use crate::ledger::writer::Tx;
use crate::ledger::{Answer, Event, EventKind, LedgerFault};

fn note(words: &'static str) -> Event {
    Event::new(EventKind::Note, words)
}

fn words(world: &World) -> Vec<String> {
    let log = world.ledger().log(500, Some(0)).unwrap();
    log.into_iter().filter(|entry| entry.kind == "note").map(|entry| entry.detail).collect()
}

/// Asks for `work` and has `then` follow it in the same transaction; the answer to the first.
fn followed_by<F, G>(world: &World, work: F, then: G) -> Result<(), LedgerFault>
where
    F: FnOnce(&Tx<'_>) -> Result<Answer<()>, LedgerFault> + Send + 'static,
    G: FnOnce(&Tx<'_>) -> Result<(), LedgerFault> + Send + 'static,
{
    let (started, has_started) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let asked = scope.spawn(|| {
            world.ledger().writer.ask(move |tx| {
                started.send(()).unwrap();
                may_go.recv().unwrap();
                work(tx)
            })
        });
        has_started.recv().unwrap();
        world.ledger().writer.tell(then);
        go.send(()).unwrap();
        asked.join().unwrap()
    })
}

#[test]
fn one_that_fails_takes_nobody_along() {
    let world = World::new("", "1 USD");
    let good = followed_by(
        &world,
        |tx| tx.event(&note("good")).map(Answer::Durable),
        |tx| {
            tx.event(&note("bad"))?;
            tx.conn.execute("DELETE FROM session", bound![])?;
            Ok(())
        },
    );
    assert_eq!(good, Ok(()));
    assert_eq!(words(&world), ["good"]);
    assert_eq!(world.ledger().latched(), None);
    world.ledger().verify().unwrap();
}

#[test]
fn when_the_commit_fails_everyone_who_waits_for_it_hears_so() {
    let world = World::new("", "1 USD");
    let innocent = followed_by(
        &world,
        |tx| tx.event(&note("innocent")).map(Answer::Durable),
        |tx| {
            // A broken reference that SQLite looks at in the commit and not before.
            tx.conn.file()?.execute_batch("PRAGMA defer_foreign_keys = ON")?;
            tx.conn.execute(
                "INSERT INTO purchase (session, purchase_id, subject, bound_s) VALUES ('nobody', 'x', ?1, 0)",
                bound!["0".repeat(64)],
            )?;
            Ok(())
        },
    );
    assert!(innocent.is_err(), "its commit failed");
    assert_eq!(words(&world), Vec::<String>::new(), "nothing of it is there");
    assert!(world.ledger().latched().is_some(), "a commit that fails is a storage fault");
    world.ledger().unlatch().unwrap();
    world.ledger().verify().unwrap();
}

#[test]
fn a_stream_of_asks_that_nobody_waits_for_does_not_hold_up_one_that_waits() {
    let world = World::new("", "1 USD");
    let file = world.dir.path().join("ledger.sqlite");
    let (started, has_started) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let (saw, seen) = mpsc::channel();
    thread::scope(|scope| {
        let asked = scope.spawn(|| {
            world.ledger().writer.ask(move |tx| {
                started.send(()).unwrap();
                may_go.recv().unwrap();
                tx.event(&note("waits")).map(Answer::Durable)
            })
        });
        has_started.recv().unwrap();
        for _ in 0..200 {
            world.ledger().writer.tell(|_tx| Ok(()));
        }
        // Still the same stream, without a gap; and by now the one that waits is on the disk.
        world.ledger().writer.tell(move |_tx| {
            saw.send(committed(&file)).unwrap();
            Ok(())
        });
        go.send(()).unwrap();
        assert_eq!(seen.recv().unwrap(), 1, "its commit was put off");
        assert_eq!(asked.join().unwrap(), Ok(()));
    });
}

#[test]
fn a_panic_is_a_fault_and_not_the_end() {
    let world = World::new("", "1 USD");
    let lost: Result<(), _> = world.ledger().writer.ask(|tx| {
        tx.event(&note("half"))?;
        panic!("on purpose")
    });
    assert!(matches!(lost, Err(LedgerFault::Storage { .. })), "{lost:?}");
    assert!(world.ledger().latched().unwrap().contains("on purpose"));
    assert_eq!(words(&world), Vec::<String>::new());
    world.ledger().unlatch().unwrap();
    world.ledger().note(note("alive"));
    assert_eq!(words(&world), ["alive"]);
}

#[test]
fn what_nobody_waits_for_is_there_after_an_orderly_end() {
    let mut world = World::new("", "1 USD");
    for _ in 0..400 {
        world.ledger().note(note("small"));
    }
    world.reopen();
    assert_eq!(words(&world).len(), 400);
    let kinds = world.kinds();
    assert_eq!((kinds["opened"], kinds["session_opened"]), (2, 1));
    world.ledger().verify().unwrap();
}

/// Notes on the disk, as another connection sees them.
fn committed(file: &Path) -> i64 {
    let other = rusqlite::Connection::open(file).unwrap();
    other.query_row("SELECT count(*) FROM event WHERE kind = 'note'", [], |row| row.get(0)).unwrap()
}

/// Has the writer do `work` and, in the same transaction after it, nothing until the returned sender is dropped. Comes
/// back when the writer is at that nothing.
fn then_busy<'s, 'e, F>(
    scope: &'s thread::Scope<'s, 'e>,
    world: &'e World,
    work: F,
) -> (thread::ScopedJoinHandle<'s, Result<(), LedgerFault>>, mpsc::Sender<()>)
where
    F: FnOnce(&Tx<'_>) -> Result<Answer<()>, LedgerFault> + Send + 'static,
{
    let (started, has_started) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let asked = scope.spawn(move || {
        world.ledger().writer.ask(move |tx| {
            started.send(()).unwrap();
            may_go.recv().unwrap();
            work(tx)
        })
    });
    has_started.recv().unwrap();
    let (free, freed) = mpsc::channel::<()>();
    let (waiting, is_waiting) = mpsc::channel();
    world.ledger().writer.tell(move |_tx| {
        waiting.send(()).unwrap();
        assert!(freed.recv().is_err(), "it is freed by being dropped");
        Ok(())
    });
    go.send(()).unwrap();
    is_waiting.recv().unwrap();
    (asked, free)
}

#[test]
fn a_durable_ask_is_answered_after_the_commit() {
    let world = World::new("", "1 USD");
    let file = world.dir.path().join("ledger.sqlite");
    thread::scope(|scope| {
        let (asked, free) = then_busy(scope, &world, |tx| tx.event(&note("durable")).map(Answer::Durable));
        assert_eq!(committed(&file), 0);
        assert!(!asked.is_finished(), "answered before the commit");
        drop(free);
        assert_eq!(asked.join().unwrap(), Ok(()));
        assert_eq!(committed(&file), 1);
    });
}

#[test]
fn what_nobody_waits_for_is_answered_before_the_commit() {
    let world = World::new("", "1 USD");
    let file = world.dir.path().join("ledger.sqlite");
    thread::scope(|scope| {
        let (asked, free) = then_busy(scope, &world, |tx| tx.event(&note("lazy")).map(Answer::AtOnce));
        assert_eq!(asked.join().unwrap(), Ok(()));
        assert_eq!(committed(&file), 0);
        drop(free);
        world.ledger().flush().unwrap();
        assert_eq!(committed(&file), 1);
    });
}

#[test]
fn a_long_detail_is_cut_and_a_page_has_an_end() {
    let world = World::new("", "1 USD");
    world.ledger().note(Event::new(EventKind::Note, "é".repeat(10_000)));
    let newest = world.ledger().log(1, None).unwrap();
    let most = crate::ledger::DETAIL_MAX_BYTES;
    assert!((most - 8..=most).contains(&newest[0].detail.len()), "one letter is spelt with six characters");
    assert_eq!(world.ledger().log(0, None).unwrap(), []);
    let all = world.ledger().log(u32::MAX, Some(0)).unwrap();
    let after = world.ledger().log(2, Some(all[0].seq)).unwrap();
    assert_eq!(after[..], all[1..3], "oldest first, without gaps");
    assert_eq!(world.ledger().log(5, Some(u64::MAX)).unwrap(), []);
}
