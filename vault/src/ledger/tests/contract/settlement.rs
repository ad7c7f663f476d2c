//! What a seller's word is worth, and every way a payment may and may not move.

use bursar_policy::chain::Address;

use super::world::{CENT, LIFE_S, PAYER, TRANSACTION, World, answer, answered, errand, money, settled, silence, terms};
use crate::ledger::{Counted, EXPIRY_MARGIN_S, LedgerFault, NotSigned, RowState};
use crate::protocol::{Delivery, Report, SettlementClaim};

fn after(claim: Option<SettlementClaim>) -> (RowState, Option<String>, String) {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    let receipt = world.ledger().report(&exposed, answered(claim), world.rules.breaker()).unwrap();
    assert_eq!(world.spent(), money("0.01 USD"), "it counts whatever the seller says");
    world.ledger().verify().unwrap();
    (receipt.state, receipt.transaction, receipt.outcome)
}

#[test]
fn a_claim_that_agrees_settles() {
    let says = |change: &dyn Fn(&mut SettlementClaim)| {
        let mut claim = settled();
        change(&mut claim);
        after(Some(claim)).0
    };
    assert_eq!(after(Some(settled())), (RowState::Settled, Some(TRANSACTION.to_owned()), "paid".to_owned()));
    assert_eq!(says(&|claim| claim.payer = None), RowState::Settled);
    assert_eq!(says(&|claim| claim.payer = Some(PAYER.to_string().to_lowercase())), RowState::Settled);
    assert_eq!(says(&|claim| claim.network = None), RowState::Settled);
    assert_eq!(says(&|claim| claim.network = Some(String::new())), RowState::Settled);
    assert_eq!(says(&|claim| claim.network = Some("base-sepolia".to_owned())), RowState::Settled);
}

#[test]
fn a_claim_that_differs_is_not_believed_and_the_money_counts() {
    let says = |change: &dyn Fn(&mut SettlementClaim)| {
        let mut claim = settled();
        change(&mut claim);
        after(Some(claim))
    };
    let unresolved = (RowState::Exposed, None, "unresolved".to_owned());
    assert_eq!(says(&|claim| claim.success = false), unresolved);
    assert_eq!(says(&|claim| claim.payer = Some(Address::from_bytes([0x33; 20]).to_string())), unresolved);
    assert_eq!(says(&|claim| claim.payer = Some("somebody".to_owned())), unresolved);
    assert_eq!(says(&|claim| claim.network = Some("eip155:8453".to_owned())), unresolved);
    assert_eq!(says(&|claim| claim.network = Some("base".to_owned())), unresolved);
    assert_eq!(says(&|claim| claim.network = Some("Base Sepolia".to_owned())), unresolved);
    assert_eq!(says(&|claim| claim.amount = Some("10001".to_owned())), unresolved);
    assert_eq!(says(&|claim| claim.amount = Some("10000".to_owned())).0, RowState::Settled);
}

#[test]
fn a_claim_that_names_no_real_transaction_settles_nothing_and_the_money_counts() {
    for said in [None, Some(String::new()), Some(format!("0x{}", "0".repeat(64))), Some("0x1234".to_owned())] {
        let found = after(Some(SettlementClaim { transaction: said, ..settled() }));
        assert_eq!(found, (RowState::Exposed, None, "paid".to_owned()));
    }
    assert_eq!(after(None), (RowState::Exposed, None, "paid".to_owned()), "no word about settlement is no settlement");
}

#[test]
fn what_was_delivered_is_paid_unless_the_claim_contradicts_our_row() {
    let world = World::new("", "10 USD");
    let outcome = |path, delivery, claim: Option<SettlementClaim>| {
        let exposed = world.authorize(errand(path), CENT).unwrap();
        world.sign(&exposed);
        world.ledger().report(&exposed, Report { delivery, settlement: claim }, world.rules.breaker()).unwrap().outcome
    };
    let vague = Some(SettlementClaim { transaction: None, payer: None, network: None, ..settled() });
    let lost = Delivery::Answer { status: 200, content: None, content_error: Some("the disk is full".to_owned()) };
    assert_eq!(outcome("vague", answer(200), vague.clone()), "paid");
    assert_eq!(outcome("lost", lost, vague.clone()), "paid_content_lost");
    assert_eq!(outcome("undelivered", answer(500), vague), "unresolved");
    let failed = Some(SettlementClaim { success: false, transaction: None, ..settled() });
    assert_eq!(outcome("failed", answer(200), failed), "unresolved");
    let stranger = Some(SettlementClaim { payer: Some(Address::from_bytes([9; 20]).to_string()), ..settled() });
    assert_eq!(outcome("stranger", answer(200), stranger), "unresolved");
    let elsewhere = Some(SettlementClaim { network: Some("eip155:1".to_owned()), ..settled() });
    assert_eq!(outcome("elsewhere", answer(200), elsewhere), "unresolved");
    world.ledger().verify().unwrap();
}

#[test]
fn a_row_without_a_transaction_runs_out_as_presumed_spent_and_stays_paid() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    world
        .ledger()
        .report(&exposed, answered(Some(SettlementClaim { transaction: None, ..settled() })), world.rules.breaker())
        .unwrap();
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S);
    assert_eq!(world.ledger().sweep().unwrap(), 1);
    let receipt = world.ledger().payment(exposed.payment()).unwrap().receipt;
    assert_eq!((receipt.state, receipt.outcome.as_str()), (RowState::PresumedSpent, "paid"));
    assert_eq!(world.kinds().get("settled"), None);
}

#[test]
fn settled_without_content_is_paid_and_lost() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    let lost = Delivery::Answer { status: 200, content: None, content_error: Some("the disk is full".to_owned()) };
    let receipt = world
        .ledger()
        .report(&exposed, Report { delivery: lost, settlement: Some(settled()) }, world.rules.breaker())
        .unwrap();
    assert_eq!(receipt.outcome, "paid_content_lost");
}

#[test]
fn settled_never_regresses() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    world.settle(&exposed);
    let denial = SettlementClaim { success: false, ..settled() };
    let receipt = world.ledger().report(&exposed, answered(Some(denial)), world.rules.breaker()).unwrap();
    assert_eq!((receipt.state, receipt.transaction.as_deref()), (RowState::Settled, Some(TRANSACTION)));
    world.time.pass(LIFE_S * 10);
    assert_eq!(world.ledger().sweep().unwrap(), 0);
    assert_eq!(world.ledger().payment(exposed.payment()).unwrap().receipt.state, RowState::Settled);
}

#[test]
fn a_late_claim_settles_what_was_presumed_spent_and_counts_it_once() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    world.ledger().report(&exposed, silence(), world.rules.breaker()).unwrap();
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S);
    assert_eq!(world.ledger().sweep().unwrap(), 1);
    assert_eq!(world.settle(&exposed).state, RowState::Settled);
    assert_eq!(world.spent(), money("0.01 USD"));
    world.ledger().verify().unwrap();
}

#[test]
fn only_the_signers_word_frees_an_exposed_payment_and_not_after_a_signature() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.ledger().void(exposed, NotSigned::by_the_signer()).unwrap();
    assert_eq!(world.spent(), money("0.00 USD"));
    let exposed = world.authorize(errand("b"), CENT).unwrap();
    world.sign(&exposed);
    let refused = world.ledger().void(exposed, NotSigned::by_the_signer());
    assert!(matches!(refused, Err(LedgerFault::Rule { .. })), "{refused:?}");
    assert_eq!(world.spent(), money("0.01 USD"));
    assert_eq!(world.ledger().latched(), None, "a broken rule is one bad change, not a broken disk");
    world.ledger().verify().unwrap();
}

#[test]
fn a_second_signature_is_refused_and_the_first_stays() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    let first = world.sign(&exposed);
    let other = format!("0x{}1c", "cd".repeat(64));
    let refused = world.ledger().store_signature(&exposed, &other);
    assert!(matches!(refused, Err(LedgerFault::Rule { .. })), "{refused:?}");
    for (n, malformed) in ["", "0x", "ab", &"0".repeat(132)].into_iter().enumerate() {
        let fresh = world.authorize(errand(&format!("m{n}")), CENT).unwrap();
        assert!(matches!(world.ledger().store_signature(&fresh, malformed), Err(LedgerFault::Rule { .. })));
    }
    drop(exposed);
    let crate::ledger::Claim::Resend { signed, .. } = world.claim(errand("a")) else { panic!("no re-send") };
    assert_eq!(signed.signature, first.signature);
}

#[test]
fn one_nonce_is_counted_once() {
    let world = World::new("", "10 USD");
    let mut first = world.ask(terms(CENT));
    first.nonce = [5; 32];
    let mut second = world.ask(terms(CENT));
    second.nonce = [5; 32];
    assert!(world.ledger().authorize(world.new_claim(errand("a")), first, &world.rules).is_ok());
    let refused = world.ledger().authorize(world.new_claim(errand("b")), second, &world.rules);
    assert!(matches!(refused, Err(LedgerFault::Rule { .. })), "{refused:?}");
    assert_eq!(world.spent(), money("0.01 USD"), "and nothing of the second is left behind");
    world.ledger().verify().unwrap();
}

#[test]
fn an_envelope_over_the_cap_is_refused() {
    let world = World::new("", "10 USD");
    let mut ask = world.ask(terms(CENT));
    ask.envelope = "x".repeat(crate::protocol::ENVELOPE_MAX_BYTES + 1);
    let Counted::No { claim, reasons } =
        world.ledger().authorize(world.new_claim(errand("a")), ask, &world.rules).unwrap()
    else {
        panic!("counted");
    };
    assert_eq!(reasons[0].code(), "terms_too_large");
    let mut ask = world.ask(terms(CENT));
    ask.envelope = "x".repeat(crate::protocol::ENVELOPE_MAX_BYTES);
    assert!(matches!(world.ledger().authorize(claim, ask, &world.rules).unwrap(), Counted::Yes(_)));
}

#[test]
fn long_words_of_a_seller_are_cut() {
    let world = World::new("", "10 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    world.sign(&exposed);
    let claim = SettlementClaim { success: false, reason: Some("é".repeat(10_000)), ..settled() };
    world
        .ledger()
        .report(&exposed, Report { delivery: answer(402), settlement: Some(claim) }, world.rules.breaker())
        .unwrap();
    let kept = world.ledger().payment(exposed.payment()).unwrap().settlement.unwrap();
    assert_eq!(kept.reason.unwrap().len(), 512);
}
