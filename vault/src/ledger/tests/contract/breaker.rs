//! A host that fails or cheats is left alone for a while, and no other host is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use bursar_policy::chain::Address;
use bursar_policy::errand::{Errand, QuoteId, SessionId};
use bursar_policy::quoted::Quoted;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;

use super::world::{
    CENT, PAYER, REPEAT_S, START, World, answer, answered, errand, errand_at, money, rules_with, settled, silence,
    terms,
};
use crate::ledger::breaker::{self, Record};
use crate::ledger::writer::Tx;
use crate::ledger::{Answer, Claim, Counted, SessionOpened};
use crate::protocol::{Delivery, Quarantine, Report, SettlementClaim};

const HOUR_S: u64 = 3_600;
const ORIGIN: &str = "https://api.example.com";

/// Rules under which `0x22…` is the one payee, with these lines under `[payment]`.
fn picky(payment: &str) -> Arc<Rules> {
    let tables = "[[host]]\norigin = \"https://api.example.com\"\nrecipients = [\"0x2222222222222222222222222222222222222222\"]\n\
                  [[host]]\norigin = \"https://other.example.com\"\n";
    rules_with(&format!("max_unresolved = 1000\n{payment}"), tables)
}

fn world(payment: &str) -> World {
    let mut world = World::new("", "100 USD");
    world.rules = picky(payment);
    world
}

fn failed(status: u16) -> Report {
    Report { delivery: answer(status), settlement: None }
}

fn cut_off() -> Report {
    let Delivery::Answer { status, content, .. } = answer(200) else { panic!("no answer") };
    let content_error = Some("it broke off".to_owned());
    Report { delivery: Delivery::Answer { status, content, content_error }, settlement: Some(settled()) }
}

/// One purchase that ends in `report`.
fn buy(world: &World, errand: Errand, report: Report) {
    let exposed = world.authorize(errand, CENT).unwrap();
    world.sign(&exposed);
    world.ledger().report(&exposed, report, world.rules.breaker()).unwrap();
}

/// One purchase that the seller spoils by naming somebody else as payee.
fn swap_payee(world: &World, errand: Errand) -> Vec<&'static str> {
    let mut swapped = terms(CENT);
    swapped.payee = Address::from_bytes([0x66; 20]);
    let claim = world.new_claim(errand);
    match world.ledger().authorize(claim, world.ask(swapped), &world.rules).unwrap() {
        Counted::No { reasons, .. } => reasons.iter().map(Refusal::code).collect(),
        Counted::Yes(_) => panic!("a swapped payee was paid"),
    }
}

fn record(world: &World, origin: &str) -> Record {
    let origin = origin.to_owned();
    let read = move |tx: &Tx<'_>| breaker::read(tx.conn, &origin).map(Answer::AtOnce);
    world.ledger().writer.ask(read).unwrap().unwrap_or_default()
}

/// When the quarantine ends that stops a new purchase now.
fn stopped_until(world: &World, errand: Errand) -> Option<u64> {
    match world.claim(errand) {
        Claim::New(_) => None,
        Claim::Refused(reasons) => match reasons.as_slice() {
            [Refusal::HostQuarantined { until_s, .. }] => Some(*until_s),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn three_failed_deliveries_in_a_row_quarantine_the_host_and_no_other() {
    let world = world("");
    for (path, report) in [("a", silence()), ("b", failed(500)), ("c", cut_off())] {
        assert_eq!(stopped_until(&world, errand("probe")), None);
        buy(&world, errand(path), report);
    }
    assert_eq!(stopped_until(&world, errand("d")), Some(START + HOUR_S));
    assert_eq!(stopped_until(&world, errand_at("https://other.example.com/d")), None);
    let listed = world.ledger().overview(None, &world.rules).unwrap().quarantined;
    let wanted = Quarantine { origin: ORIGIN.to_owned(), until_s: START + HOUR_S, failures: 3, strikes: 0 };
    assert_eq!(listed, [wanted]);
    assert_eq!(world.ledger().overview(Some(&world.session), &world.rules).unwrap().quarantined, []);
    assert_eq!(world.kinds().get("quarantined"), Some(&1));
    world.ledger().verify().unwrap();
}

#[test]
fn a_good_delivery_in_between_forgets_the_failures() {
    let world = world("");
    for (path, report) in
        [("a", silence()), ("b", silence()), ("c", answered(None)), ("d", silence()), ("e", failed(402))]
    {
        buy(&world, errand(path), report);
    }
    assert_eq!(record(&world, ORIGIN), Record { failures: 2, strikes: 0, until_s: 0 });
    // Goods with a word on the payment that does not fit it are neither a failure nor a reason to trust.
    let contradicted = SettlementClaim { success: false, ..settled() };
    buy(&world, errand("f"), answered(Some(contradicted)));
    assert_eq!(record(&world, ORIGIN).failures, 2);
    assert_eq!(stopped_until(&world, errand("g")), None);
}

#[test]
fn a_payment_fails_once_and_a_late_answer_takes_it_back() {
    let world = world("");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    let report = |report| world.ledger().report(&exposed, report, world.rules.breaker()).unwrap();
    for _again in 0..3 {
        report(silence());
        assert_eq!(record(&world, ORIGIN).failures, 1);
    }
    report(answered(None));
    assert_eq!(record(&world, ORIGIN), Record::default());
    report(silence());
    assert_eq!(record(&world, ORIGIN), Record::default(), "the first answer stays");
    let exposed = world.authorize(errand("b"), CENT).unwrap();
    world.sign(&exposed);
    for said in [silence(), failed(500), failed(500), silence()] {
        world.ledger().report(&exposed, said, world.rules.breaker()).unwrap();
    }
    assert_eq!(record(&world, ORIGIN).failures, 1);
}

#[test]
fn after_its_time_a_host_is_half_open() {
    let world = world("quarantine_after = 2\nquarantine = \"10m\"");
    buy(&world, errand("a"), silence());
    buy(&world, errand("b"), silence());
    world.time.pass(599);
    assert_eq!(stopped_until(&world, errand("c")), Some(START + 600));
    world.time.pass(1);
    assert_eq!(stopped_until(&world, errand("c")), None);
    assert_eq!(world.ledger().overview(None, &world.rules).unwrap().quarantined, []);
    buy(&world, errand("c"), failed(503));
    assert_eq!(stopped_until(&world, errand("d")), Some(START + 1_200), "one more is enough");
    world.time.pass(600);
    assert_eq!(swap_payee(&world, errand("d")), ["payee_not_allowed"]);
    assert_eq!(stopped_until(&world, errand("e")), Some(START + 1_800), "one strike is, too");
    world.time.pass(600);
    buy(&world, errand("e"), answered(Some(settled())));
    buy(&world, errand("f"), silence());
    assert_eq!(stopped_until(&world, errand("g")), None, "a good delivery closed it");
    assert_eq!(record(&world, ORIGIN).failures, 1);
    assert_eq!(world.kinds().get("quarantined"), Some(&3));
}

#[test]
fn strikes_come_from_payments_from_quotes_and_from_serves_own_word() {
    let world = world("");
    assert_eq!(swap_payee(&world, errand("a")), ["payee_not_allowed"]);
    let mut swapped = terms(CENT);
    swapped.payee = Address::from_bytes([0x66; 20]);
    let quote = QuoteId::from_random([9; 16]);
    let reasons = world.ledger().quote(quote, &world.session, &errand("a"), swapped, PAYER, &world.rules).unwrap();
    assert_eq!(reasons.iter().map(Refusal::code).collect::<Vec<_>>(), ["payee_not_allowed"]);
    assert_eq!(record(&world, ORIGIN).strikes, 2);
    // One call is one strike, whatever else is said and however often it is blamed.
    let why = || Quoted::of("x");
    let said = [
        Refusal::PriceAboveCeiling { asked: money("1 USD"), ceiling: money("0.01 USD") },
        Refusal::TermsConflicting { why: why() },
        Refusal::ResourceMismatch { named: why(), asked: "api.example.com".to_owned() },
    ];
    world.ledger().strike(None, &errand("a"), &said, &world.rules).unwrap();
    assert_eq!(record(&world, ORIGIN), Record { failures: 0, strikes: 3, until_s: START + HOUR_S });
    let until_s = START + HOUR_S;
    let stopped = Refusal::HostQuarantined { origin: ORIGIN.to_owned(), until_s };
    assert_eq!(world.ledger().unasked(None, &errand("b"), &world.rules).unwrap(), [stopped]);
    assert_eq!(world.ledger().unasked(None, &errand_at("https://other.example.com/"), &world.rules).unwrap(), []);
}

#[test]
fn mistakes_dear_things_and_hosts_that_no_rule_covers_are_no_strikes() {
    let world = world("quarantine_after = 1");
    let asked = || Quoted::of("97.00 USD");
    let said = [
        Refusal::OverPaymentCap { asked: asked(), cap: Some(money("1 USD")) },
        Refusal::NoOffers,
        Refusal::QuoteChanged,
        Refusal::RedirectRefused { status: 302, location: asked() },
        Refusal::TermsUnreadable { why: asked() },
    ];
    for _again in 0..5 {
        world.ledger().strike(Some(&world.session), &errand("a"), &said, &world.rules).unwrap();
        let dear = world.authorize(errand("a"), 200 * CENT).unwrap_err();
        assert_eq!(dear[0].code(), "over_payment_cap");
    }
    assert_eq!(record(&world, ORIGIN), Record::default());
    let unlisted = errand_at("https://unlisted.example.com/");
    let blamed = [Refusal::TermsConflicting { why: asked() }];
    world.ledger().strike(Some(&world.session), &unlisted, &blamed, &world.rules).unwrap();
    assert_eq!(record(&world, "https://unlisted.example.com"), Record::default());
    assert_eq!(world.kinds().get("quarantined"), None);
}

#[test]
fn what_was_bought_is_told_and_what_was_signed_is_sent_again_in_a_quarantine() {
    let world = world("quarantine_after = 1");
    let first = world.buy(errand("bought"), CENT);
    let claimed = world.new_claim(errand("claimed"));
    buy(&world, errand("lost"), silence());
    assert!(stopped_until(&world, errand("new")).is_some());
    assert!(matches!(world.claim(errand("bought")), Claim::Repeat(past) if past.receipt.payment == first.payment));
    assert!(matches!(world.claim(errand("lost")), Claim::Resend { .. }));
    let Counted::No { reasons, .. } = world.ledger().authorize(claimed, world.ask(terms(CENT)), &world.rules).unwrap()
    else {
        panic!("a purchase that was claimed before was paid")
    };
    assert_eq!(reasons.iter().map(Refusal::code).collect::<Vec<_>>(), ["host_quarantined"]);
    world.time.pass(REPEAT_S);
    assert!(stopped_until(&world, errand("bought")).is_some(), "buying it anew is a new purchase");
}

#[test]
fn a_strike_closes_the_session_that_met_it_where_the_rules_say_so() {
    let world = world("on_security_refusal = \"close_session\"");
    let other = SessionId::from_random([2; 16]);
    let opened =
        world.ledger().open_session(other.clone(), "other".parse().unwrap(), money("1 USD"), 1_000, None).unwrap();
    assert!(matches!(opened, SessionOpened::Opened(_)));
    let dear = world.authorize(errand("dear"), 200 * CENT).unwrap_err();
    assert_eq!(dear[0].code(), "over_payment_cap");
    assert_eq!(stopped_until(&world, errand("a")), None, "a dear thing closes nothing");
    assert_eq!(swap_payee(&world, errand("a")), ["payee_not_allowed"]);
    assert!(matches!(world.claim(errand("b")), Claim::Refused(reasons) if reasons == [Refusal::NoSession]));
    let claim = world.ledger().claim(&other, errand("b"), &world.rules, Duration::ZERO).unwrap();
    assert!(matches!(claim, Claim::New(_)), "nobody else's session is closed");
    let log = world.ledger().log(500, Some(0)).unwrap();
    let closed: Vec<_> = log.iter().filter(|entry| entry.kind == "session_closed").collect();
    assert_eq!(closed.len(), 1);
    assert!(closed[0].detail.contains("payee_not_allowed at https://api.example.com"), "{}", closed[0].detail);
    assert_eq!(record(&world, ORIGIN).strikes, 1, "and it counts as well");
}

#[test]
fn a_restart_keeps_counts_and_quarantine() {
    let mut world = world("");
    buy(&world, errand("a"), silence());
    buy(&world, errand("b"), silence());
    world.reopen();
    buy(&world, errand("c"), silence());
    world.reopen();
    assert_eq!(stopped_until(&world, errand("d")), Some(START + HOUR_S));
    world.ledger().verify().unwrap();
}

#[test]
fn strikes_and_failures_at_once_are_all_counted_and_trip_once() {
    let world = world("quarantine_after = 20");
    let lost = AtomicU32::new(0);
    thread::scope(|scope| {
        for thread in 0..8 {
            let (world, lost) = (&world, &lost);
            scope.spawn(move || {
                for turn in 0..5 {
                    let bought = match world.claim(errand(&format!("f-{thread}-{turn}"))) {
                        Claim::New(claim) => {
                            Some(world.ledger().authorize(claim, world.ask(terms(CENT)), &world.rules).unwrap())
                        }
                        _ => None,
                    };
                    let blamed = [Refusal::TermsConflicting { why: Quoted::of("two headers") }];
                    world.ledger().strike(Some(&world.session), &errand("s"), &blamed, &world.rules).unwrap();
                    if let Some(Counted::Yes(exposed)) = bought {
                        world.ledger().report(&exposed, silence(), world.rules.breaker()).unwrap();
                        lost.fetch_add(1, Ordering::SeqCst);
                    }
                    let good = errand_at(&format!("https://other.example.com/{thread}-{turn}"));
                    buy(world, good, answered(None));
                }
            });
        }
    });
    let Record { failures, strikes, until_s } = record(&world, ORIGIN);
    assert_eq!((strikes, until_s), (40, START + HOUR_S));
    assert_eq!(failures, lost.into_inner());
    assert_eq!(world.kinds().get("quarantined"), Some(&1));
    assert_eq!(record(&world, "https://other.example.com"), Record::default());
    world.ledger().verify().unwrap();
}
