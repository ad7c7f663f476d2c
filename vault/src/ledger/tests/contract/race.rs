//! Many at once: exactly as many win as the money allows.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::refusal::Refusal;

use super::world::{CENT, World, money, named, terms};
use crate::ledger::{CLAIMS_MAX, Claim, Counted};

const DAY: &str = "[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1.00 USD\"";

/// How many of `errands` are counted when every one has its own thread and all start together.
fn winners(world: &World, errands: Vec<Errand>, units: u128) -> usize {
    let gate = Barrier::new(errands.len());
    thread::scope(|scope| {
        let threads: Vec<_> = errands
            .into_iter()
            .map(|errand| {
                let gate = &gate;
                scope.spawn(move || {
                    gate.wait();
                    let claim =
                        world.ledger().claim(&world.session, errand, &world.rules, Duration::from_secs(60)).unwrap();
                    match claim {
                        Claim::New(guard) => {
                            let ask = world.ask(terms(units));
                            match world.ledger().authorize(guard, ask, &world.rules).unwrap() {
                                Counted::Yes(exposed) => {
                                    world.sign(&exposed);
                                    true
                                }
                                Counted::No { .. } => false,
                            }
                        }
                        Claim::Repeat(_) | Claim::Resend { .. } => false,
                        other => panic!("{other:?}"),
                    }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
    })
}

#[test]
fn fifty_threads_and_exactly_the_limit_wins() {
    let world = World::new(DAY, "100 USD");
    let errands = (0..50).map(|n| named("page", &format!("n-{n}"))).collect();
    assert_eq!(winners(&world, errands, 5 * CENT), 20, "0.05 USD fits twenty times into 1.00 USD");
    assert_eq!(world.spent(), money("1.00 USD"));
    assert_eq!(world.ledger().verify().unwrap().payments, 20);
}

#[test]
fn ten_threads_of_twenty_cents_and_a_budget_of_a_dollar() {
    let world = World::new("", "1.00 USD");
    let errands = (0..10).map(|n| named("page", &format!("n-{n}"))).collect();
    assert_eq!(winners(&world, errands, 20 * CENT), 5);
    world.ledger().verify().unwrap();
}

#[test]
fn ten_identical_calls_at_once_are_one_purchase() {
    let world = World::new("", "100 USD");
    let errands = (0..10).map(|_n| named("page", "the-same")).collect();
    assert_eq!(winners(&world, errands, 20 * CENT), 1);
    assert_eq!(world.spent(), money("0.20 USD"));
    assert_eq!(world.kinds()["signed"], 1);
}

#[test]
fn twenty_of_twenty_five_in_a_row() {
    let world = World::new(DAY, "100 USD");
    let mut refused = Vec::new();
    for n in 0..25 {
        if let Err(reasons) = world.authorize(named("page", &format!("n-{n}")), 5 * CENT) {
            refused.push((n, reasons));
        }
    }
    assert_eq!(refused.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [20, 21, 22, 23, 24]);
    assert!(matches!(refused[0].1[..], [Refusal::OverLimit { .. }]), "{refused:?}");
    assert_eq!(world.kinds()["refused"], 5, "every refusal is in the log");
    world.ledger().verify().unwrap();
}

#[test]
fn a_hundred_single_cents_fit_a_dollar_exactly() {
    let world = World::new(DAY, "100 USD");
    let bought = (0..101).filter(|n| world.authorize(named("page", &format!("n-{n}")), CENT).is_ok()).count();
    assert_eq!(bought, 100);
    let world = World::new("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"0.30 USD\"", "100 USD");
    let bought = (0..4).filter(|n| world.authorize(named("page", &format!("n-{n}")), 10 * CENT).is_ok()).count();
    assert_eq!(bought, 3, "three times ten cents is exactly thirty");
}

#[test]
fn there_is_an_end_to_what_may_be_in_flight() {
    let world = World::new("", "100 USD");
    let guards: Vec<_> = (0..CLAIMS_MAX).map(|n| world.new_claim(named("page", &format!("n-{n}")))).collect();
    let one_more = world.claim(named("page", "one-more"));
    assert!(matches!(&one_more, Claim::Refused(why) if why[..] == [Refusal::TooManyInFlight]), "{one_more:?}");
    drop(guards);
    assert!(matches!(world.claim(named("page", "one-more")), Claim::New(_)));
}

#[test]
fn a_session_that_does_not_exist_buys_nothing() {
    let world = World::new("", "100 USD");
    let nobody = SessionId::from_random([9; 16]);
    let claim = world.ledger().claim(&nobody, named("page", "n"), &world.rules, Duration::ZERO).unwrap();
    assert!(matches!(&claim, Claim::Refused(why) if why[..] == [Refusal::NoSession]), "{claim:?}");
}
