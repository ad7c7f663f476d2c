//! What only a file on a disk of ours can do: run full, be locked away from writing, and make a commit fail.

use std::thread;

use bursar_policy::refusal::Refusal;

use super::on_a_file::together::{followed_by, note, then_busy, words};
use super::world::{CENT, World, errand, money, terms};
use crate::ledger::store::bound;
use crate::ledger::{Answer, Claim, Counted, LedgerFault};

fn refused(claim: Claim) -> Vec<Refusal> {
    match claim {
        Claim::Refused(reasons) => reasons,
        other => panic!("not refused: {other:?}"),
    }
}

/// Lets the file grow no further, so that the next commit that needs a page fails.
fn fill(world: &World) {
    let filled = world.ledger().writer.ask(|tx| {
        let pages: i64 = tx.conn.file()?.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        tx.conn.file()?.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_row| Ok(()))?;
        Ok(crate::ledger::Answer::AtOnce(()))
    });
    filled.unwrap();
}

#[test]
fn a_full_disk_latches_until_a_person_looks_and_loses_nothing() {
    let world = World::new("", "1000 USD");
    let first = world.buy(errand("first"), CENT);
    fill(&world);
    let mut bought = 1;
    let fault = loop {
        let guard = match world.claim(errand(&format!("n-{bought}"))) {
            Claim::New(guard) => guard,
            other => panic!("{other:?}"),
        };
        let mut ask = world.ask(terms(CENT));
        ask.envelope = "x".repeat(60_000);
        match world.ledger().authorize(guard, ask, &world.rules) {
            Ok(Counted::Yes(_)) => bought += 1,
            Ok(other) => panic!("{other:?}"),
            Err(fault) => break fault,
        }
        assert!(bought < 100, "the limit on pages has no effect");
    };
    assert!(matches!(fault, LedgerFault::Storage { .. }), "{fault:?}");
    assert!(world.ledger().latched().is_some());
    assert_eq!(refused(world.claim(errand("later"))), [Refusal::LedgerLatched]);
    assert!(matches!(world.claim(errand("first")), Claim::Repeat(past) if past.receipt.payment == first.payment));
    let overview = world.ledger().overview(Some(&world.session), &world.rules).unwrap();
    assert!(overview.latched.is_some());
    let spent = overview.session.unwrap().spent;
    assert_eq!(spent.atto(), u128::try_from(bought).unwrap() * 10_u128.pow(16), "what failed is not half there");
    world.ledger().unlatch().unwrap();
    assert_eq!(world.ledger().latched(), None);
    world.buy(errand("later"), CENT);
    world.ledger().verify().unwrap();
    assert_eq!(world.kinds()["unlatched"], 1);
}

#[test]
fn a_file_that_can_no_longer_be_written_latches_in_memory_alone() {
    let mut world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    let read_only = world.ledger().writer.ask(|tx| {
        tx.conn.file()?.pragma_update(None, "query_only", "ON")?;
        Ok(crate::ledger::Answer::AtOnce(()))
    });
    read_only.unwrap();
    let fault = world.ledger().store_signature(&exposed, &super::world::signature()).unwrap_err();
    assert!(matches!(fault, LedgerFault::Storage { .. }), "{fault:?}");
    assert!(world.ledger().latched().is_some());
    drop(exposed);
    assert!(matches!(world.claim(errand("a")), Claim::Repeat(past) if past.receipt.outcome == "unresolved"));
    assert_eq!(world.ledger().log(1, None).unwrap()[0].kind, "exposed", "the disk does not know of the latch");
    world.ledger().unlatch().unwrap();
    world.buy(errand("b"), CENT);
    world.reopen();
    assert_eq!(world.spent(), money("0.02 USD"), "what was exposed counts");
    assert_eq!(world.ledger().latched(), None);
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
fn what_nobody_waits_for_is_answered_before_the_commit() {
    let world = World::new("", "1 USD");
    let other = world.by_hand();
    thread::scope(|scope| {
        let (asked, free) = then_busy(scope, &world, |tx| tx.event(&note("lazy")).map(Answer::AtOnce));
        assert_eq!(asked.join().unwrap(), Ok(()));
        assert_eq!(other.events("note"), 0);
        drop(free);
        world.ledger().flush().unwrap();
        assert_eq!(other.events("note"), 1);
    });
}
