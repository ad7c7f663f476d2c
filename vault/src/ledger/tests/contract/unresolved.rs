//! Payments that ran out unresolved shut their host and their payee, and nobody else.

use std::sync::Arc;

use bursar_policy::chain::Address;
use bursar_policy::errand::Errand;
use bursar_policy::limit::Scope;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;

use super::world::{
    CENT, LIFE_S, World, answered, errand, errand_at, named, rules_with, settled, signature, silence, terms,
};
use crate::ledger::{Counted, EXPIRY_MARGIN_S, Reservation};
use crate::protocol::{Report, SettlementClaim};

fn any_host(line: &str) -> Arc<Rules> {
    rules_with(&format!("allow_any_host = true\n{line}"), "")
}

/// A world where one unresolved payment of a host or payee is one too many.
fn strict() -> World {
    let mut world = World::new("", "100 USD");
    world.rules = any_host("");
    world
}

/// Buys a cent's worth from `payee`; or which scopes are shut.
pub(super) fn ask(world: &World, errand: Errand, payee: u8) -> Result<Reservation, Vec<Scope>> {
    let mut wanted = terms(CENT);
    wanted.payee = Address::from_bytes([payee; 20]);
    let guard = world.new_claim(errand);
    match world.ledger().authorize(guard, world.ask(wanted), &world.rules).unwrap() {
        Counted::Yes(exposed) => Ok(*exposed),
        Counted::No { reasons, .. } => {
            let scope = |reason: &Refusal| match reason {
                Refusal::TooManyUnresolved { scope, .. } => Some(*scope),
                // Another payee at a known host: a person looks, and nothing is shut.
                Refusal::NeedsApproval { .. } => None,
                other => panic!("{other:?}"),
            };
            Err(reasons.iter().filter_map(scope).collect())
        }
    }
}

pub(super) fn shut(world: &World, errand: Errand, payee: u8) -> Vec<Scope> {
    ask(world, errand, payee).err().unwrap_or_default()
}

fn run_out(world: &World) {
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S);
}

#[test]
fn nothing_in_flight_counts_and_what_ran_out_shuts_host_and_payee_whatever_the_purchase_id() {
    let world = strict();
    for path in ["a", "b", "c"] {
        drop(ask(&world, errand(path), 0x22).unwrap());
    }
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S - 1);
    drop(ask(&world, errand("d"), 0x22).unwrap());
    world.time.pass(1);
    assert_eq!(shut(&world, named("e", "another-purchase"), 0x22), [Scope::Host, Scope::Payee]);
    assert_eq!(shut(&world, errand("f"), 0x33), [Scope::Host]);
    assert_eq!(shut(&world, errand_at("https://other.example.com/"), 0x22), [Scope::Payee]);
    assert_eq!(shut(&world, errand_at("https://other.example.com/"), 0x33), []);
    // The fourth is in flight still.
    let overview = world.ledger().overview(None, &world.rules).unwrap();
    let lost: Vec<_> = overview.lost.into_iter().map(|lost| (lost.scope, lost.of, lost.count)).collect();
    let payee = format!("eip155:84532:{}", Address::from_bytes([0x22; 20]));
    assert_eq!(lost, [(Scope::Host, "https://api.example.com".to_owned(), 3), (Scope::Payee, payee, 3)]);
    world.ledger().verify().unwrap();
}

#[test]
fn a_delivery_or_a_settlement_is_resolved_and_a_contradiction_is_not() {
    let failed = SettlementClaim { success: false, ..settled() };
    for (report, resolved) in
        [(answered(None), true), (answered(Some(settled())), true), (silence(), false), (answered(Some(failed)), false)]
    {
        let world = strict();
        let exposed = ask(&world, errand("a"), 0x22).unwrap();
        world.ledger().store_signature(&exposed, &signature()).unwrap();
        world.ledger().report(&exposed, report.clone(), world.rules.breaker()).unwrap();
        drop(exposed);
        run_out(&world);
        assert_eq!(shut(&world, errand("b"), 0x33).is_empty(), resolved, "{report:?}");
        world.ledger().verify().unwrap();
    }
}

#[test]
fn a_late_word_opens_the_host_again() {
    let late: [Report; 2] = [answered(None), Report { settlement: Some(settled()), ..silence() }];
    for report in late {
        let mut world = strict();
        let exposed = ask(&world, errand("a"), 0x22).unwrap();
        world.ledger().store_signature(&exposed, &signature()).unwrap();
        run_out(&world);
        assert_eq!(shut(&world, errand("b"), 0x22), [Scope::Host, Scope::Payee]);
        world.ledger().report(&exposed, report, world.rules.breaker()).unwrap();
        assert_eq!(shut(&world, errand("c"), 0x22), []);
        drop(exposed);
        world.ledger().verify().unwrap();
        world.reopen();
        world.ledger().verify().unwrap();
    }
}

#[test]
fn as_many_as_the_rules_say_and_more_for_one_host() {
    let mut world = strict();
    let patient = "[[host]]\norigin = \"https://api.example.com\"\nmax_unresolved = 3\nallow_any_recipient = true\n";
    let other = "[[host]]\norigin = \"https://other.example.com\"\n";
    world.rules = rules_with("max_unresolved = 2", &[patient, other].concat());
    for (path, payee) in [("a", 0x21), ("b", 0x22), ("c", 0x23)] {
        drop(ask(&world, errand(path), payee).unwrap());
        run_out(&world);
    }
    assert_eq!(shut(&world, errand("d"), 0x24), [Scope::Host]);
    for path in ["a", "b"] {
        drop(ask(&world, errand_at(&format!("https://other.example.com/{path}")), 0x25).unwrap());
        run_out(&world);
    }
    assert_eq!(shut(&world, errand_at("https://other.example.com/c"), 0x25), [Scope::Host, Scope::Payee]);
    world.rules = any_host("max_unresolved = 4");
    assert_eq!(shut(&world, errand("d"), 0x24), [], "a person raised it");
}

#[test]
fn what_was_never_signed_and_given_back_is_not_unresolved() {
    let world = strict();
    let exposed = ask(&world, errand("a"), 0x22).unwrap();
    world.ledger().void(exposed, crate::ledger::NotSigned::by_the_signer()).unwrap();
    run_out(&world);
    assert_eq!(shut(&world, errand("b"), 0x22), []);
}
