//! What a session is for: kept with it, told with it, and held against everything new.

use bursar_policy::gate::Asked;
use bursar_policy::mandate::{Mandate, Payees};
use bursar_policy::refusal::{MandatePart, Refusal};
use bursar_policy::rules::Rules;
use bursar_policy::{Address, SessionId, SessionName};
use std::sync::Arc;
use std::time::Duration;

use super::world::{CENT, World, errand, errand_at, money, rules_with, terms};
use crate::ledger::{Claim, Counted, LedgerFault, SessionOpened};

/// For the test host, the test payee and 0.05 USD a payment.
fn mandate() -> Mandate {
    let origins = vec!["https://api.example.com".parse().unwrap()];
    let payees = Payees::Listed(vec![Address::from_bytes([0x22; 20])]);
    Mandate::new("weather for the trip".to_owned(), origins, payees, money("0.05 USD")).unwrap()
}

fn world() -> World {
    World::with_mandate("", "1 USD", Some(mandate()))
}

fn outside(part: MandatePart) -> Refusal {
    Refusal::OutsideMandate { part }
}

fn wanting() -> Arc<Rules> {
    rules_with("allow_any_host = true\nmax_unresolved = 1000000\nmandate = \"required\"", "")
}

fn refused(claim: Claim) -> Vec<Refusal> {
    match claim {
        Claim::Refused(reasons) => reasons,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_mandate_stays_with_its_session_and_is_told_with_it() {
    let mut world = world();
    let told = world.ledger().log(500, Some(0)).unwrap();
    let opened = told.iter().find(|entry| entry.kind == "session_opened").unwrap();
    let words = "for `weather for the trip`: at most 0.05 USD a payment, to 0x2222222222222222222222222222222222222222, \
                 at https://api.example.com";
    assert!(opened.detail.starts_with("session `default` with 1.00 USD until"), "{}", opened.detail);
    assert!(opened.detail.ends_with(words), "{}", opened.detail);
    world.buy(errand("a"), CENT);
    world.reopen();
    let session = world.ledger().session_named(SessionName::default()).unwrap().unwrap();
    assert_eq!(session.mandate, Some(mandate()));
    assert_eq!(world.ledger().sessions().unwrap()[0].mandate, Some(mandate()));
    let overview = world.ledger().overview(Some(&world.session), &world.rules).unwrap();
    assert_eq!(overview.session.unwrap().mandate, Some(mandate()));
    assert_eq!(world.ledger().payments(10, None).unwrap()[0].mandate, Some(mandate()));
    world.ledger().verify().unwrap();
    let closed = world.ledger().close_session(SessionName::default()).unwrap().unwrap();
    assert_eq!(closed.mandate, Some(mandate()), "what it was for stays known");
    let id = SessionId::from_random([2; 16]);
    let next = world.ledger().open_session(id, SessionName::default(), money("1 USD"), 60, None).unwrap();
    let SessionOpened::Opened(next) = next else { panic!("{next:?}") };
    assert_eq!(next.mandate, None, "the next of that name has its own word");
}

#[test]
fn what_a_session_is_not_for_is_refused_before_a_byte_goes_out() {
    let world = world();
    let elsewhere = || errand_at("https://other.example.com/a");
    assert_eq!(refused(world.claim(elsewhere())), [outside(MandatePart::Origin)]);
    assert_eq!(refused(world.claim(errand_at("https://api.example.com:8443/a"))), [outside(MandatePart::Origin)]);
    // What the rules have against the errand stands beside it: the operator reads everything at once.
    let codes: Vec<&str> = refused(world.claim(errand_at("http://10.0.0.1/a"))).iter().map(Refusal::code).collect();
    assert_eq!(codes, ["outside_mandate", "https_required", "address_not_public"]);
    assert!(matches!(world.claim(errand("a")), Claim::New(_)));
    assert_eq!(world.kinds().get("refused"), Some(&3));
    assert_eq!(world.kinds().get("exposed"), None);
}

#[test]
fn payee_and_price_are_held_against_it_when_it_is_counted() {
    let world = world();
    let ask = |units, payee| {
        let mut terms = terms(units);
        terms.payee = Address::from_bytes([payee; 20]);
        let guard = world.new_claim(errand("a"));
        match world.ledger().authorize(guard, world.ask(terms), &world.rules).unwrap() {
            Counted::Yes(_) => Vec::new(),
            Counted::No { reasons, .. } => reasons,
        }
    };
    assert_eq!(ask(CENT, 0x33), [outside(MandatePart::Payee)]);
    assert_eq!(ask(5 * CENT + 1, 0x22), [outside(MandatePart::Price)]);
    assert_eq!(ask(6 * CENT, 0x33), [outside(MandatePart::Payee), outside(MandatePart::Price)]);
    assert_eq!(world.spent(), money("0 USD"));
    assert_eq!(ask(5 * CENT, 0x22), [], "to exactly its ceiling");
}

#[test]
fn rules_that_want_a_mandate_from_now_on_stop_a_session_without_one() {
    let mut world = World::new("", "1 USD");
    let first = world.buy(errand("a"), CENT);
    let claimed = world.new_claim(errand("b"));
    world.rules = wanting();
    let Counted::No { claim, reasons } =
        world.ledger().authorize(claimed, world.ask(terms(CENT)), &world.rules).unwrap()
    else {
        panic!("a session without a mandate paid")
    };
    drop(claim);
    assert_eq!(reasons, [Refusal::MandateMissing]);
    assert_eq!(refused(world.claim(errand("c"))), [Refusal::MandateMissing]);
    assert!(matches!(world.claim(errand("a")), Claim::Repeat(past) if past.receipt.payment == first.payment));
    world.ledger().close_session(SessionName::default()).unwrap();
    assert_eq!(refused(world.claim(errand("c"))), [Refusal::NoSession, Refusal::MandateMissing]);
    world.session = SessionId::from_random([2; 16]);
    let (id, name) = (world.session.clone(), SessionName::default());
    world.ledger().open_session(id, name, money("1 USD"), 60, Some(mandate())).unwrap();
    assert!(matches!(world.claim(errand("c")), Claim::New(_)));
}

#[test]
fn a_person_may_ask_what_stands_against_a_payment_that_the_gate_refuses() {
    let world = World::with_mandate(
        "[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"24.00 USD\"\n",
        "20 USD",
        Some(mandate()),
    );
    let payee = Address::from_bytes([0x33; 20]);
    let asked = Asked { payee, asset: terms(CENT).asset_id(), money: money("97 USD") };
    let against = |name: SessionName| {
        let errand = errand_at("https://stranger.example.com/thing");
        let reasons = world.ledger().against(name, errand, asked, &world.rules).unwrap();
        reasons.iter().map(Refusal::code).collect::<Vec<_>>()
    };
    let expected = ["outside_mandate", "outside_mandate", "outside_mandate", "over_session_budget", "over_limit"];
    assert_eq!(against(SessionName::default()), expected);
    assert_eq!(against("nobody".parse().unwrap()), ["no_session"]);
    assert_eq!(world.spent(), money("0 USD"));
    assert_eq!(world.kinds().get("refused"), None, "a question is no refusal");
}

#[test]
fn a_mandate_that_was_changed_by_hand_is_found() {
    let wider = "replace(mandate, '\"max_per_payment\":\"0.', '\"max_per_payment\":\"1.')";
    let forgeries: [(&[&str], &str); 3] = [
        (&["mandate_stays"], "DELETE FROM mandate"),
        (&["mandate_story"], &format!("UPDATE mandate SET mandate = {wider}")),
        (
            &["mandate_begins"],
            "INSERT INTO mandate SELECT id, (SELECT mandate FROM mandate) FROM session WHERE name = 'second'",
        ),
    ];
    for (triggers, sql) in forgeries {
        let world = world();
        world.buy(errand("a"), CENT);
        let (id, name) = (SessionId::from_random([2; 16]), "second".parse().unwrap());
        world.ledger().open_session(id, name, money("1 USD"), 60, None).unwrap();
        world.ledger().verify().unwrap();
        let other = world.by_hand();
        if triggers != ["mandate_begins"] {
            assert!(!other.tries(sql), "went through: {sql}");
        }
        other.forge(triggers, sql);
        let found = world.ledger().verify();
        assert!(matches!(found, Err(LedgerFault::Books { .. })), "not found: {sql}: {found:?}");
    }
}

#[test]
fn a_mandate_that_cannot_be_read_lets_nothing_be_paid() {
    let world = world();
    world.by_hand().forge(&["mandate_story"], "UPDATE mandate SET mandate = '{}'");
    let asked = world.ledger().claim(&world.session, errand("a"), &world.rules, Duration::ZERO);
    assert!(matches!(asked, Err(LedgerFault::Unreadable { what: "mandate" })), "{asked:?}");
}
