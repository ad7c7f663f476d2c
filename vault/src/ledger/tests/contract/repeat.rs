//! Identity, repeats, conflicts and re-sends: one purchase, one signature.

use std::thread;
use std::time::Duration;

use bursar_policy::errand::{Body, BodyType, Errand, Method, SessionId, SessionName};
use bursar_policy::refusal::Refusal;

use super::world::{CENT, LIFE_S, REPEAT_S, World, answer, errand, money, named, silence, terms};
use crate::ledger::{Claim, Counted, EXPIRY_MARGIN_S, RowState};
use crate::protocol::{Delivery, Past};

fn repeat(claim: Claim) -> Past {
    match claim {
        Claim::Repeat(past) => *past,
        other => panic!("not a repeat: {other:?}"),
    }
}

#[test]
fn an_identical_call_within_the_window_gets_the_first_result() {
    let world = World::new("", "10 USD");
    let first = world.buy(errand("a"), CENT);
    assert_eq!((first.state, first.outcome.as_str()), (RowState::Settled, "paid"));
    world.time.pass(REPEAT_S - 1);
    let past = repeat(world.claim(errand("a")));
    assert_eq!(past.receipt.payment, first.payment);
    assert!(past.receipt.identical_repeat);
    assert_eq!(past.delivery, Some(answer(200)));
    world.time.pass(1);
    assert!(matches!(world.claim(errand("a")), Claim::New(_)), "the window is over");
}

#[test]
fn a_purchase_id_names_one_purchase_for_ever() {
    let mut world = World::new("", "10 USD");
    let first = world.buy(named("a", "order-1"), CENT);
    world.time.pass(10 * 86_400);
    world.reopen();
    assert_eq!(repeat(world.claim(named("a", "order-1"))).receipt.payment, first.payment);
    assert!(matches!(world.claim(named("a", "order-2")), Claim::New(_)), "a new id means a second purchase");
}

#[test]
fn a_purchase_id_for_something_else_is_a_conflict_even_after_a_restart() {
    let mut world = World::new("", "10 USD");
    drop(world.new_claim(named("a", "order-1")));
    world.reopen();
    let body = Body { digest: bursar_policy::Digest::of(b"x"), bytes: 1, kind: BodyType::Json };
    let others = [
        named("b", "order-1"),
        named("a?query=1", "order-1"),
        Errand { method: Method::Head, ..named("a", "order-1") },
        Errand { method: Method::Post, body: Some(body), ..named("a", "order-1") },
    ];
    for other in others {
        let claim = world.claim(other);
        assert!(matches!(&claim, Claim::Refused(why) if why[..] == [Refusal::IdempotencyConflict]), "{claim:?}");
    }
    assert!(matches!(world.claim(named("a", "order-1")), Claim::New(_)), "the same again is no conflict");
    assert_eq!(world.kinds()["refused"], 4);
}

#[test]
fn two_queries_on_one_path_and_two_sessions_are_different_purchases() {
    let world = World::new("", "10 USD");
    world.buy(errand("a?q=1"), CENT);
    assert!(matches!(world.claim(errand("a?q=2")), Claim::New(_)));
    let other = SessionId::from_random([2; 16]);
    let name: SessionName = "other".parse().unwrap();
    world.ledger().open_session(other.clone(), name, money("1 USD"), 3_600, None).unwrap();
    let claim = world.ledger().claim(&other, errand("a?q=1"), &world.rules, Duration::ZERO).unwrap();
    assert!(matches!(claim, Claim::New(_)));
}

#[test]
fn what_was_signed_and_not_answered_is_sent_again_byte_for_byte() {
    let mut world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    let first = world.sign(&exposed);
    world.ledger().report(&exposed, silence(), world.rules.breaker()).unwrap();
    drop(exposed);
    world.reopen();
    let (again, reservation) = match world.claim(errand("a")) {
        Claim::Resend { signed, reservation } => (*signed, reservation),
        other => panic!("{other:?}"),
    };
    assert_eq!(again, first);
    assert_eq!(again.envelope, "{\"opaque\":true}");
    assert!(matches!(world.claim(errand("a")), Claim::InFlight), "a re-send is a claim like any other");
    let receipt = world.settle(&reservation);
    assert_eq!(receipt.state, RowState::Settled);
    assert_eq!(world.spent(), money("0.01 USD"), "counted once");
    assert_eq!(world.kinds()["signed"], 1);
}

#[test]
fn an_answer_even_a_bad_one_ends_the_sending() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    let report = crate::protocol::Report { delivery: answer(500), settlement: None };
    assert_eq!(world.ledger().report(&exposed, report, world.rules.breaker()).unwrap().outcome, "unresolved");
    drop(exposed);
    let past = repeat(world.claim(errand("a")));
    assert_eq!(past.delivery, Some(answer(500)));
    assert_eq!(past.receipt.state, RowState::Exposed, "an answer proves nothing about money");
}

#[test]
fn what_was_never_answered_and_ran_out_stays_unresolved_and_counted() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    let signed = world.sign(&exposed);
    drop(exposed);
    world.time.pass(LIFE_S - 1);
    assert!(matches!(world.claim(errand("a")), Claim::Resend { .. }), "one second is left");
    world.time.pass(1);
    let past = repeat(world.claim(errand("a")));
    assert_eq!((past.receipt.state, past.receipt.outcome.as_str()), (RowState::Exposed, "unresolved"));
    assert_eq!(past.delivery, None);
    world.time.pass(EXPIRY_MARGIN_S);
    let past = repeat(world.claim(errand("a")));
    assert_eq!(past.receipt.state, RowState::PresumedSpent);
    assert_eq!(past.receipt.payment, signed.payment);
    world.time.pass(100 * REPEAT_S);
    let past = repeat(world.claim(errand("a")));
    assert_eq!(
        past.receipt.outcome, "unresolved",
        "nobody knows how it ended, so it is not bought again by the same call"
    );
    let meant = Errand { purchase_id: Some("another".parse().unwrap()), ..errand("a") };
    assert!(matches!(world.claim(meant), Claim::New(_)), "a new purchase id says that a second one is meant");
    assert_eq!(world.spent(), money("0.01 USD"), "and it counts for ever");
}

#[test]
fn a_row_without_a_signature_is_never_signed_later() {
    let mut world = World::new("", "10 USD");
    drop(world.authorize(errand("a"), CENT).unwrap());
    world.reopen();
    let past = repeat(world.claim(errand("a")));
    assert_eq!((past.receipt.state, past.receipt.outcome.as_str()), (RowState::Exposed, "unresolved"));
    assert_eq!(world.spent(), money("0.01 USD"));
}

#[test]
fn an_identical_claim_waits_for_the_first_and_gets_its_result() {
    let world = World::new("", "10 USD");
    let guard = world.new_claim(errand("a"));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            world.ledger().claim(&world.session, errand("a"), &world.rules, Duration::from_secs(60)).unwrap()
        });
        let Counted::Yes(exposed) = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules).unwrap()
        else {
            panic!("refused");
        };
        world.sign(&exposed);
        let first = world.settle(&exposed);
        drop(exposed);
        assert_eq!(repeat(waiting.join().unwrap()).receipt.payment, first.payment);
    });
}

#[test]
fn a_dropped_claim_wakes_the_next_and_nobody_waits_for_ever() {
    let world = World::new("", "10 USD");
    let guard = world.new_claim(errand("a"));
    assert!(matches!(world.claim(errand("a")), Claim::InFlight), "no patience, no wait");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            world.ledger().claim(&world.session, errand("a"), &world.rules, Duration::from_secs(60)).unwrap()
        });
        drop(guard);
        assert!(matches!(waiting.join().unwrap(), Claim::New(_)));
    });
}

#[test]
fn a_refused_ask_gives_the_claim_back_for_another_try() {
    let world = World::new("", "10 USD");
    let guard = world.new_claim(errand("a"));
    let too_dear = world.ask(terms(101 * CENT));
    let Counted::No { claim, reasons } = world.ledger().authorize(guard, too_dear, &world.rules).unwrap() else {
        panic!("over the ceiling and counted");
    };
    assert!(reasons.iter().any(|reason| reason.code() == "over_payment_cap"), "{reasons:?}");
    assert_eq!(world.spent(), money("0.00 USD"));
    let fair = world.ask(terms(CENT));
    assert!(matches!(world.ledger().authorize(claim, fair, &world.rules).unwrap(), Counted::Yes(_)));
}

#[test]
fn a_repeat_is_answered_when_the_session_is_over_and_nothing_new_is() {
    let world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    let exposed = world.authorize(errand("b"), CENT).unwrap();
    world.sign(&exposed);
    drop(exposed);
    world.ledger().close_session(SessionName::default()).unwrap().unwrap();
    assert_eq!(repeat(world.claim(errand("a"))).receipt.outcome, "paid");
    assert_eq!(repeat(world.claim(errand("b"))).receipt.outcome, "unresolved", "nothing more is sent");
    let claim = world.claim(errand("c"));
    assert!(matches!(&claim, Claim::Refused(why) if why[..] == [Refusal::NoSession]), "{claim:?}");
}

#[test]
fn silence_may_become_an_answer_and_an_answer_never_changes() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    world.ledger().report(&exposed, silence(), world.rules.breaker()).unwrap();
    let report = |status| crate::protocol::Report { delivery: answer(status), settlement: None };
    world.ledger().report(&exposed, report(200), world.rules.breaker()).unwrap();
    world.ledger().report(&exposed, report(500), world.rules.breaker()).unwrap();
    world.ledger().report(&exposed, silence(), world.rules.breaker()).unwrap();
    let detail = world.ledger().payment(exposed.payment()).unwrap();
    assert!(matches!(detail.delivery, Some(Delivery::Answer { status: 200, .. })), "{:?}", detail.delivery);
    world.ledger().verify().unwrap();
}
