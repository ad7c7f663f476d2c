//! Money that waits for a browser: who may let go of it, for what, how often and how long.

use std::sync::Arc;
use std::time::Duration;

use bursar_policy::digest::Digest;
use bursar_policy::errand::SessionId;
use bursar_policy::quoted::Quoted;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::rules::draft::Setting;
use bursar_policy::terms::Terms;

use super::world::{
    CENT, LIFE_S, PAYER, REPEAT_S, World, answer, drawn, errand, money, named, redeemer, rules_with, settled, silence,
    terms,
};
use crate::ledger::{
    Claim, Counted, HANDLE_LIFE_S, Held, LedgerFault, Prepared, Redeemed, Reservation, RowState, Unredeemable,
};
use crate::protocol::{Delivery, Report};

fn world() -> World {
    World::new("", "10 USD")
}

fn first(redeemed: Redeemed) -> Box<Reservation> {
    match redeemed {
        Redeemed::First { reservation, .. } => reservation,
        other => panic!("{other:?}"),
    }
}

fn not(redeemed: Redeemed) -> Unredeemable {
    match redeemed {
        Redeemed::Not(why) => why,
        other => panic!("{other:?}"),
    }
}

fn codes(redeemed: Redeemed) -> Vec<&'static str> {
    match redeemed {
        Redeemed::Refused(reasons) => reasons.iter().map(Refusal::code).collect(),
        other => panic!("{other:?}"),
    }
}

fn under(world: &World, handle: Digest, path: &str, rules: &Arc<Rules>) -> Redeemed {
    world.ledger().redeem(&redeemer(handle, path), rules, Duration::ZERO).unwrap()
}

#[test]
fn held_money_counts_and_lives_from_the_moment_it_is_redeemed() {
    let world = world();
    let (handle, Prepared { receipt, expires_in_s }) = world.hold(errand("a"), CENT).unwrap();
    assert_eq!((receipt.state, expires_in_s), (RowState::Held, HANDLE_LIFE_S));
    assert_eq!(world.spent(), money("0.01 USD"), "held money counts");
    world.time.pass(HANDLE_LIFE_S - 1);
    let reservation = first(world.redeem(handle, "a"));
    let authorization = reservation.exposed().authorization().clone();
    assert_eq!(authorization.valid_before, world.time.now_s() + LIFE_S, "the wait does not eat the life");
    assert_eq!(reservation.exposed().payer(), PAYER);
    let signed = world.sign(&reservation);
    assert_eq!((&signed.authorization, signed.domain), (&authorization, reservation.exposed().domain()));
    world.settle(&reservation);
    assert_eq!(world.kinds().get("held"), Some(&1));
    world.ledger().verify().unwrap();
}

#[test]
fn a_handle_is_redeemed_once_for_one_page_by_one_session() {
    let world = world();
    let (handle, _) = world.hold(errand("page?id=1"), CENT).unwrap();
    for elsewhere in ["page?id=2", "page", "page?id=1&x", "other?id=1", "page/?id=1"] {
        assert_eq!(not(world.redeem(handle, elsewhere)), Unredeemable::OtherPage, "{elsewhere}");
    }
    let mut who = redeemer(handle, "page?id=1");
    who.site = None;
    assert_eq!(not(world.ledger().redeem(&who, &world.rules, Duration::ZERO).unwrap()), Unredeemable::OtherPage);
    who = redeemer(handle, "page?id=1");
    who.session = "other".parse().unwrap();
    assert_eq!(not(world.ledger().redeem(&who, &world.rules, Duration::ZERO).unwrap()), Unredeemable::Unknown);
    assert_eq!(not(world.redeem(Digest::of(b"made up"), "page?id=1")), Unredeemable::Unknown);
    let taken = first(world.redeem(handle, "page?id=1"));
    for path in ["page?id=1", "page?id=2"] {
        assert_eq!(not(world.redeem(handle, path)), Unredeemable::Used, "{path}");
    }
    drop(taken);
    assert_eq!(not(world.redeem(handle, "page?id=1")), Unredeemable::Used);
    assert_eq!(world.spent(), money("0.01 USD"));
}

#[test]
fn a_handle_that_runs_out_gives_the_money_back_with_proof() {
    let world = world();
    let (handle, prepared) = world.hold(errand("a"), CENT).unwrap();
    world.time.pass(HANDLE_LIFE_S);
    assert_eq!(not(world.redeem(handle, "a")), Unredeemable::Expired, "to the second, swept or not");
    assert_eq!(world.ledger().sweep().unwrap(), 1);
    let detail = world.ledger().payment(&prepared.receipt.payment).unwrap();
    assert_eq!(detail.receipt.state, RowState::Voided);
    assert_eq!(world.spent(), money("0.00 USD"), "nobody was ever asked to sign it");
    assert_eq!(not(world.redeem(handle, "a")), Unredeemable::Expired);
    world.ledger().verify().unwrap();
}

#[test]
fn a_restart_ends_every_handle_that_is_open() {
    let mut world = world();
    let (held, prepared) = world.hold(errand("held"), CENT).unwrap();
    let exposed = world.authorize(errand("signed"), CENT).unwrap();
    world.sign(&exposed);
    let again = drawn(&prepared.receipt.payment);
    let again = crate::ledger::Drawn { digest: Digest::of(b"again"), ..again };
    let handle = again.digest;
    world.ledger().prepare_again(exposed, again).unwrap();
    world.reopen();
    assert_eq!(not(world.redeem(held, "held")), Unredeemable::Expired);
    assert_eq!(not(world.redeem(handle, "signed")), Unredeemable::Expired);
    assert_eq!(world.spent(), money("0.01 USD"), "what is signed stays counted");
    world.ledger().verify().unwrap();
}

#[test]
fn a_clock_that_is_set_back_ends_what_was_drawn_in_the_mistaken_future() {
    let world = world();
    world.time.set_wall(world.time.now_s() + 86_400);
    assert!(matches!(world.claim(errand("a")), Claim::Refused(_)), "a leap shuts the ledger");
    world.ledger().unlatch().unwrap();
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    world.time.set_wall(world.time.now_s() - 86_400);
    world.ledger().sweep().unwrap();
    world.ledger().unlatch().unwrap();
    assert_eq!(not(world.redeem(handle, "a")), Unredeemable::Expired);
    assert_eq!(world.spent(), money("0.00 USD"));
    world.ledger().verify().unwrap();
}

#[test]
fn everything_is_asked_again_when_a_handle_is_redeemed() {
    let world = World::new("", "10 USD");
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    let refused = |rules: &Arc<Rules>| codes(under(&world, handle, "a", rules));
    let any = "allow_any_host = true";
    let with = |payment: &str, tables: &str| rules_with(&format!("{any}\n{payment}"), tables);
    assert_eq!(refused(&with("hours = \"00:00-00:01\"\ntime_zone = \"UTC\"", "")), ["outside_hours"]);
    let lower = rules_with(any, "[[limit]]\nscope = \"all\"\nwindow = \"lifetime\"\nmax = \"0.001 USD\"");
    assert_eq!(refused(&lower), ["over_limit"]);
    let listed = rules_with("", "[[host]]\norigin = \"https://other.example.com\"");
    assert_eq!(refused(&listed), ["host_not_allowed"]);
    assert_eq!(refused(&with("approve_over = \"0.001 USD\"", "")), ["needs_approval"]);
    assert_eq!(refused(&with("mandate = \"required\"", "")), ["mandate_missing"]);
    world.ledger().freeze("odd bills").unwrap();
    assert_eq!(refused(&world.rules), ["frozen"]);
    world.ledger().thaw().unwrap();
    world.ledger().latch("a test");
    assert_eq!(refused(&world.rules), ["ledger_latched"]);
    world.ledger().unlatch().unwrap();
    let tagged = with("", "[[payee]]\naddress = \"0x2222222222222222222222222222222222222222\"\ntags = [\"news\"]");
    assert_eq!(not(under(&world, handle, "a", &tagged)), Unredeemable::OtherRules);
    assert_eq!(world.kinds().get("exposed"), None, "none of these used it up");
    drop(first(world.redeem(handle, "a")));
}

#[test]
fn money_that_is_worth_something_else_by_now_is_not_let_go() {
    let contract = "0x1c7d4b196cb0c7b01d743fbc6116a902379c7239";
    let rules = |decimals: u8| -> Arc<Rules> {
        let text = format!(
            "[payment]\nmax_per_payment = \"1.00 USD\"\nnetworks = [\"eip155:11155111\"]\n\
             assets = [\"eip155:11155111/erc20:{contract}\"]\nallow_any_recipient = true\nallow_any_host = true\n\
             [[asset]]\nid = \"eip155:11155111/erc20:{contract}\"\nsymbol = \"PLAY\"\ndecimals = {decimals}\n\
             currency = \"USD\"\neip712_name = \"Play\"\neip712_version = \"1\"\n"
        );
        Arc::new(Rules::new(toml::from_str(&text).unwrap(), Setting::Sandbox).unwrap())
    };
    let mut world = world();
    world.rules = rules(6);
    let play = Terms {
        chain: "eip155:11155111".parse().unwrap(),
        asset: contract.parse().unwrap(),
        domain_name: "Play".to_owned(),
        domain_version: "1".to_owned(),
        ..terms(CENT)
    };
    let (guard, ask) = (world.new_claim(errand("a")), world.ask(play));
    let drawn = drawn(&ask.payment);
    let handle = drawn.digest;
    assert!(matches!(world.ledger().hold(guard, ask, drawn, &world.rules).unwrap(), Held::Yes(_)));
    assert_eq!(world.spent(), money("0.01 USD"));
    assert_eq!(not(under(&world, handle, "a", &rules(4))), Unredeemable::OtherRules, "a dollar, and a cent is counted");
    drop(first(world.redeem(handle, "a")));
}

#[test]
fn a_session_that_is_closed_lets_nothing_go() {
    let world = world();
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    world.ledger().close_session("default".parse().unwrap()).unwrap();
    assert_eq!(codes(world.redeem(handle, "a")), ["no_session"]);
    let opened = world.ledger().open_session(
        SessionId::from_random([9; 16]),
        "default".parse().unwrap(),
        money("5 USD"),
        3600,
        None,
    );
    opened.unwrap();
    assert_eq!(codes(world.redeem(handle, "a")), ["no_session"], "a later session of the name pays for nothing of it");
}

#[test]
fn a_host_in_quarantine_and_a_later_no_hold_back_what_is_held() {
    let mut world = world();
    world.rules = rules_with("allow_any_host = true\nquarantine_after = 1", "");
    let (handle, _) = world.hold(errand("held"), CENT).unwrap();
    let failed = world.authorize(errand("failed"), CENT).unwrap();
    world.sign(&failed);
    let report = Report { delivery: answer(500), settlement: None };
    world.ledger().report(&failed, report, world.rules.breaker()).unwrap();
    assert_eq!(codes(world.redeem(handle, "held")), ["host_quarantined"]);

    let world = World::new("", "10 USD");
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    // Asking for the same with a doubt buys it anew, so what is held comes back and a person is asked.
    let doubt = bursar_policy::Errand { suspicious: Some(Quoted::of("odd")), ..errand("a") };
    assert!(matches!(world.authorize(doubt, CENT).unwrap_err()[..], [Refusal::NeedsApproval { .. }]));
    assert_eq!(not(world.redeem(handle, "a")), Unredeemable::Expired);
    assert_eq!(world.spent(), money("0.00 USD"));
}

#[test]
fn a_yes_is_used_up_when_the_money_is_held_and_good_until_it_is_redeemed() {
    let mut world = world();
    world.rules = rules_with("allow_any_host = true\napprove_over = \"0.001 USD\"", "");
    let refused = world.hold(errand("a"), CENT).unwrap_err();
    let [Refusal::NeedsApproval { approval: Some(question), .. }] = &refused[..] else { panic!("{refused:?}") };
    let shown = world.ledger().approvals().unwrap().remove(0);
    world.ledger().approve(question.id.clone(), shown.binding, 600).unwrap();
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    assert!(world.ledger().approvals().unwrap().is_empty(), "used up");
    drop(first(world.redeem(handle, "a")));
    assert!(world.hold(errand("b"), CENT).is_err());
    world.ledger().verify().unwrap();
}

#[test]
fn a_payment_does_not_stand_in_its_own_way() {
    let limits = "[[limit]]\nscope = \"all\"\nwindow = \"1h\"\nmax = \"0.01 USD\"\ncount = 1";
    let mut world = World::new("", "0.01 USD");
    world.rules =
        rules_with("", &format!("[[host]]\norigin = \"https://api.example.com\"\nno_recurring = \"1h\"\n{limits}"));
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    assert!(world.hold(errand("b"), CENT).is_err(), "it stands in the way of every other");
    drop(first(world.redeem(handle, "a")));
}

#[test]
fn the_same_asked_again_gives_the_first_handle_up_and_counts_once() {
    let mut world = world();
    world.rules =
        rules_with("allow_any_host = true", "[[limit]]\nscope = \"all\"\nwindow = \"1h\"\nmax = \"0.01 USD\"");
    let (one, first_held) = world.hold(errand("a"), CENT).unwrap();
    let (two, _) = world.hold(errand("a"), CENT).unwrap();
    assert_eq!(world.spent(), money("0.01 USD"), "the first came back before the second was judged");
    assert_eq!(not(world.redeem(one, "a")), Unredeemable::Expired);
    let detail = world.ledger().payment(&first_held.receipt.payment).unwrap();
    assert_eq!(detail.receipt.state, RowState::Voided);
    drop(first(world.redeem(two, "a")));
    world.ledger().verify().unwrap();
}

#[test]
fn bought_over_the_wire_what_was_held_comes_back_and_the_other_way_round() {
    let world = world();
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    assert_eq!(world.spent(), money("0.01 USD"));
    assert_eq!(not(world.redeem(handle, "a")), Unredeemable::Expired);
    world.sign(&exposed);
    world.settle(&exposed);
    drop(exposed);
    assert!(matches!(world.claim(errand("a")), Claim::Repeat(_)), "held or fetched, it is one purchase");

    let (handle, _) = world.hold(errand("b"), CENT).unwrap();
    let reservation = first(world.redeem(handle, "b"));
    assert!(matches!(world.claim(errand("b")), Claim::InFlight), "a browser has it in hand");
    let signed = world.sign(&reservation);
    drop(reservation);
    match world.claim(errand("b")) {
        Claim::Resend { signed: again, .. } => assert_eq!(*again, signed),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fetch_in_flight_keeps_the_handle_from_being_redeemed() {
    let world = world();
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    let fetching = world.new_claim(errand("a"));
    assert!(matches!(world.redeem(handle, "a"), Redeemed::InFlight));
    drop(fetching);
    drop(first(world.redeem(handle, "a")));
}

#[test]
fn what_was_redeemed_and_never_answered_is_offered_again_with_the_same_bytes() {
    let world = world();
    let (handle, _) = world.hold(named("a", "once"), CENT).unwrap();
    let reservation = first(world.redeem(handle, "a"));
    let signed = world.sign(&reservation);
    world.ledger().report(&reservation, silence(), world.rules.breaker()).unwrap();
    drop(reservation);
    for round in 1..=2_u8 {
        let Claim::Resend { reservation, .. } = world.claim(named("a", "once")) else { panic!("no resend") };
        let fresh = crate::ledger::Drawn { digest: Digest::of(&[round]), ..drawn(reservation.payment()) };
        let handle = fresh.digest;
        let prepared = world.ledger().prepare_again(*reservation, fresh).unwrap();
        assert_eq!((prepared.receipt.state, prepared.receipt.identical_repeat), (RowState::Exposed, true));
        assert_eq!(not(world.redeem(handle, "other")), Unredeemable::OtherPage);
        match world.redeem(handle, "a") {
            Redeemed::Again { signed: again, .. } => assert_eq!(*again, signed),
            other => panic!("{other:?}"),
        }
        assert_eq!(not(world.redeem(handle, "a")), Unredeemable::Used);
    }
    assert_eq!(world.kinds().get("signed"), Some(&1), "nothing is signed twice");
    assert_eq!(world.spent(), money("0.01 USD"));
    world.ledger().verify().unwrap();
}

#[test]
fn an_old_payment_is_not_offered_again_frozen_answered_or_run_out() {
    let world = world();
    let reservation = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&reservation);
    let fresh = drawn(reservation.payment());
    let handle = fresh.digest;
    world.ledger().prepare_again(reservation, fresh).unwrap();
    world.ledger().freeze("odd bills").unwrap();
    assert_eq!(codes(world.redeem(handle, "a")), ["frozen"]);
    world.ledger().thaw().unwrap();
    let Claim::Resend { reservation, .. } = world.claim(errand("a")) else { panic!("no resend") };
    let report = Report { delivery: answer(402), settlement: None };
    world.ledger().report(&reservation, report, world.rules.breaker()).unwrap();
    drop(reservation);
    assert_eq!(not(world.redeem(handle, "a")), Unredeemable::Expired, "the seller answered");
}

#[test]
fn a_handle_of_a_payment_that_is_settled_is_over_and_shuts_nothing() {
    let limit = "[[limit]]\nscope = \"all\"\nwindow = \"day\"\ntime_zone = \"UTC\"\nmax = \"1.00 USD\"";
    let world = World::new(limit, "10 USD");
    world.time.pass(86_400 - world.time.now_s() % 86_400 - 30);
    let reservation = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&reservation);
    let fresh = drawn(reservation.payment());
    let handle = fresh.digest;
    world.ledger().prepare_again(reservation, fresh).unwrap();
    let Claim::Resend { reservation, .. } = world.claim(errand("a")) else { panic!("no resend") };
    world.settle(&reservation);
    drop(reservation);
    // It was bought over the wire meanwhile, on a day that is over.
    world.time.pass(60);
    let redeemed = world.ledger().redeem(&redeemer(handle, "a"), &world.rules, Duration::ZERO);
    assert!(matches!(redeemed, Ok(Redeemed::Not(Unredeemable::Expired))), "{redeemed:?}");
    assert_eq!(world.ledger().latched(), None);
    world.ledger().verify().unwrap();
}

#[test]
fn paid_in_a_browser_is_told_as_paid_and_not_bought_again() {
    let world = world();
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    let reservation = first(world.redeem(handle, "a"));
    world.sign(&reservation);
    let delivery = Delivery::Answer { status: 200, content: None, content_error: None };
    let report = Report { delivery, settlement: Some(settled()) };
    let receipt = world.ledger().report(&reservation, report, world.rules.breaker()).unwrap();
    assert_eq!((receipt.state, receipt.outcome.as_str()), (RowState::Settled, "paid"));
    drop(reservation);
    let handled = world.ledger().handled(handle, "default".parse().unwrap()).unwrap().unwrap();
    assert_eq!((handled.past.receipt.outcome.as_str(), handled.open_for_s), ("paid", None));
    assert!(matches!(world.claim(errand("a")), Claim::Repeat(past) if past.receipt.outcome == "paid"));
    world.time.pass(REPEAT_S);
    assert!(matches!(world.claim(errand("a")), Claim::New(_)));
}

#[test]
fn what_is_held_teaches_nothing_of_a_host() {
    let mut world = world();
    world.rules = rules_with("allow_any_host = true\nfirst_payee = \"approve\"", "");
    assert!(world.hold(errand("a"), CENT).is_err(), "a host that nobody paid before");
    world.rules = rules_with("allow_any_host = true", "");
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    world.rules = rules_with("allow_any_host = true\nfirst_payee = \"approve\"", "");
    assert!(world.hold(errand("b"), CENT).is_err(), "held is not paid");
    assert_eq!(codes(world.redeem(handle, "a")), ["needs_approval"]);
    world.ledger().verify().unwrap();
}

#[test]
fn only_a_plain_get_is_held() {
    let world = world();
    let post = bursar_policy::Errand { method: bursar_policy::Method::Post, ..errand("a") };
    let (guard, ask) = (world.new_claim(post), world.ask(terms(CENT)));
    let handle = drawn(&ask.payment);
    let rules = rules_with("", "[[host]]\norigin = \"https://api.example.com\"\nmethods = [\"GET\", \"POST\"]");
    match world.ledger().hold(guard, ask, handle, &rules) {
        Err(LedgerFault::Rule { .. }) | Ok(Held::No { .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stored_handle_is_not_rewritten() {
    let world = world();
    let (_handle, _) = world.hold(errand("a"), CENT).unwrap();
    world.ledger().flush().unwrap();
    let other = world.by_hand();
    for change in [
        "UPDATE handle SET expires_s = expires_s + 1",
        "UPDATE handle SET blank = '[]'",
        "UPDATE handle SET digest = replace(replace(digest, '0', '1'), 'a', 'b')",
        "UPDATE handle SET state = 'redeemed', ended_s = created_s",
        "UPDATE payment SET state = 'voided', ended_s = 1",
        "DELETE FROM handle",
        "INSERT INTO handle SELECT replace(digest, '1', '2'), payment, 'open', blank, created_s, expires_s, NULL FROM handle",
        "INSERT INTO handle SELECT replace(digest, '1', '2'), payment, 'redeemed', blank, created_s, expires_s, 1 FROM handle",
    ] {
        assert!(!other.tries(change), "{change}");
    }
    other.run("UPDATE handle SET state = 'over', ended_s = 1");
    drop(other);
    assert!(matches!(world.ledger().verify(), Err(LedgerFault::Books { .. })), "held for nobody is found");
}

#[test]
fn held_and_exposed_under_the_race_for_one_budget_never_count_twice() {
    let world = World::new("", "0.05 USD");
    let handles: Vec<_> = (0..8).map(|at| world.hold(errand(&format!("p{at}")), CENT)).collect();
    assert_eq!(handles.iter().filter(|held| held.is_ok()).count(), 5);
    let fetched = world.new_claim(errand("more"));
    assert!(matches!(
        world.ledger().authorize(fetched, world.ask(terms(CENT)), &world.rules).unwrap(),
        Counted::No { .. }
    ));
    world.time.pass(HANDLE_LIFE_S);
    assert!(world.authorize(errand("more"), 5 * CENT).is_ok(), "the whole budget is back at once");
    world.ledger().verify().unwrap();
}
