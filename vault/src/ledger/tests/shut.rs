//! Freezes, latches and clocks: what shuts the ledger, and that only a person opens it.

use std::time::Duration;

use bursar_policy::refusal::Refusal;

use super::world::{CENT, START, World, errand, money, terms};
use crate::clock::{JUMP_S, Trust};
use crate::ledger::{Claim, Counted, EXPIRY_MARGIN_S, LedgerFault, RowState};

fn refused(claim: Claim) -> Vec<Refusal> {
    match claim {
        Claim::Refused(reasons) => reasons,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_freeze_stops_new_payments_between_claim_and_count_and_over_a_restart() {
    let mut world = World::new("", "10 USD");
    let guard = world.new_claim(errand("a"));
    world.ledger().freeze("something is off").unwrap();
    let counted = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules).unwrap();
    assert!(matches!(&counted, Counted::No { reasons, .. } if reasons[..] == [Refusal::Frozen]), "{counted:?}");
    drop(counted);
    world.reopen();
    assert_eq!(refused(world.claim(errand("b"))), [Refusal::Frozen]);
    assert_eq!(world.ledger().overview(None, &world.rules).unwrap().frozen.as_deref(), Some("something is off"));
    world.ledger().thaw().unwrap();
    world.buy(errand("b"), CENT);
    let kinds = world.kinds();
    assert_eq!((kinds["frozen"], kinds["thawed"]), (1, 1));
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
fn a_lock_of_somebody_else_refuses_the_ask_of_that_moment_and_nothing_else() {
    let world = World::new("", "10 USD");
    let guard = world.new_claim(errand("a"));
    world.ledger().flush().unwrap();
    let other = rusqlite::Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules);
    assert!(matches!(refused, Err(LedgerFault::Busy)), "{refused:?}");
    assert_eq!(LedgerFault::Busy.code(), "ledger_busy");
    assert_eq!(world.ledger().latched(), None);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(world.spent(), money("0.00 USD"));
    world.buy(errand("a"), CENT);
    assert_eq!(world.kinds().get("latched"), None);
    world.ledger().verify().unwrap();
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
fn a_latch_survives_a_restart_and_a_refused_ask_tells_why() {
    let mut world = World::new("", "10 USD");
    let guard = world.new_claim(errand("a"));
    world.ledger().latch("the signer disagrees with the ledger");
    let counted = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules).unwrap();
    assert!(matches!(&counted, Counted::No { reasons, .. } if reasons[..] == [Refusal::LedgerLatched]), "{counted:?}");
    drop(counted);
    world.reopen();
    assert_eq!(world.ledger().latched().as_deref(), Some("the signer disagrees with the ledger"));
    assert_eq!(refused(world.claim(errand("a"))), [Refusal::LedgerLatched]);
    world.ledger().unlatch().unwrap();
    world.reopen();
    assert_eq!(world.ledger().latched(), None);
    let kinds = world.kinds();
    assert_eq!((kinds["latched"], kinds["unlatched"]), (1, 1));
}

#[test]
fn a_latch_does_not_open_on_books_that_do_not_balance() {
    let world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    world.ledger().latch("a suspicion");
    world.ledger().flush().unwrap();
    let other = rusqlite::Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
    other.execute("UPDATE tally SET pending_count = 5 WHERE key = 'all|*'", []).unwrap();
    drop(other);
    let refused = world.ledger().unlatch();
    assert!(matches!(refused, Err(LedgerFault::Books { .. })), "{refused:?}");
    assert!(world.ledger().latched().is_some());
}

#[test]
fn what_is_reported_while_shut_is_still_written_down() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    world.ledger().latch("later");
    assert_eq!(world.settle(&exposed).state, RowState::Settled);
    world.ledger().verify().unwrap();
}

#[test]
fn a_clock_that_leaps_forwards_shuts_the_ledger_and_frees_no_window() {
    let world = World::new("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"0.10 USD\"", "10 USD");
    world.buy(errand("a"), 10 * CENT);
    let pending = world.ledger().overview(None, &world.rules).unwrap();
    world.time.set_wall(START + 86_400);
    assert!(matches!(world.ledger().time().trust, Trust::Jumped(_)));
    assert_eq!(refused(world.claim(errand("b"))), [Refusal::LedgerLatched]);
    let seen = world.ledger().overview(None, &world.rules).unwrap();
    assert_eq!(seen.limits[0].used, pending.limits[0].used, "the leap did not age anything");
    assert!(seen.latched.unwrap().contains("forwards"));
    world.ledger().unlatch().unwrap();
    assert_eq!(world.ledger().time().now_s, START + 86_400);
    world.buy(errand("b"), 10 * CENT);
    assert_eq!(world.kinds()["clock_confirmed"], 1);
}

#[test]
fn a_leap_is_remembered_over_a_restart_although_nothing_was_written_since() {
    let mut world = World::new("", "10 USD");
    world.time.set_wall(START + JUMP_S + 1);
    world.reopen();
    assert_eq!(refused(world.claim(errand("a"))), [Refusal::LedgerLatched]);
    world.ledger().flush().unwrap();
    world.time.set_wall(START);
    world.reopen();
    assert_eq!(
        refused(world.claim(errand("a"))),
        [Refusal::LedgerLatched],
        "it came back, and a person has not looked"
    );
}

#[test]
fn a_clock_that_goes_back_shuts_the_ledger_and_what_was_spent_in_the_future_counts() {
    let world = World::new("[[limit]]\nscope = \"all\"\nwindow = \"1h\"\nmax = \"0.10 USD\"", "10 USD");
    world.time.pass(1_000_000);
    world.buy(errand("a"), 10 * CENT);
    world.time.set_wall(START);
    assert_eq!(refused(world.claim(errand("b"))), [Refusal::LedgerLatched]);
    world.ledger().unlatch().unwrap();
    assert_eq!(world.ledger().time().now_s, START, "a person said so");
    let claim = world.ledger().claim(&world.session, errand("b"), &world.rules, Duration::ZERO).unwrap();
    // The session was opened at the start, so it is open; the hour that matters lies in the mistaken future.
    let Claim::New(guard) = claim else { panic!("{claim:?}") };
    let counted = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules).unwrap();
    assert!(matches!(&counted, Counted::No { reasons, .. } if reasons[0].code() == "over_limit"), "{counted:?}");
    drop(counted);
    world.ledger().verify().unwrap();
}

#[test]
fn time_goes_on_while_the_clock_is_doubted() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    world.time.set_wall(START - 5_000);
    world.time.pass(super::world::LIFE_S + EXPIRY_MARGIN_S);
    assert_eq!(world.ledger().sweep().unwrap(), 1, "by the boot clock it has run out");
    assert_eq!(world.spent(), money("0.01 USD"));
}

#[test]
fn a_closed_ledger_says_so() {
    let world = World::new("", "10 USD");
    world.ledger().close();
    assert_eq!(world.ledger().flush(), Err(LedgerFault::Closed));
    assert_eq!(world.ledger().sweep(), Err(LedgerFault::Closed));
    world.ledger().close();
}
