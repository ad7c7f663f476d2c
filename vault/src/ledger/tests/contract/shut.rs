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

#[test]
fn a_lock_of_somebody_else_refuses_the_ask_of_that_moment_and_nothing_else() {
    let world = World::new("", "10 USD");
    let guard = world.new_claim(errand("a"));
    world.ledger().flush().unwrap();
    let other = world.by_hand();
    other.lock();
    let refused = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules);
    assert!(matches!(refused, Err(LedgerFault::Busy)), "{refused:?}");
    assert_eq!(LedgerFault::Busy.code(), "ledger_busy");
    assert_eq!(world.ledger().latched(), None);
    other.unlock();
    assert_eq!(world.spent(), money("0.00 USD"));
    world.buy(errand("a"), CENT);
    assert_eq!(world.kinds().get("latched"), None);
    world.ledger().verify().unwrap();
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
    world.by_hand().run("UPDATE tally SET pending_count = 5 WHERE key = 'all|*'");
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
