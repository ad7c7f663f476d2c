//! Money moved out of an account, and another account that pays: what the ledger holds of both.

use bursar_policy::asset::Asset;
use bursar_policy::chain::{Address, ChainId};
use bursar_policy::errand::SweepId;
use bursar_policy::money::Amount;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Setting;

use super::world::{CENT, PAYER, World, errand, terms};
use crate::audit_key::AuditKey;
use crate::ledger::{
    Checkpointed, Claim, Handover, LedgerFault, Ordered, Ordering, Refused, Rotated, SignedRotation, When,
};
use crate::protocol::{ChainProof, ChainVerdict, SweepState};
use crate::sign::{Key, SignFault, recover};

const TO: Address = Address::from_bytes([0x44; 20]);
const HOUR_S: u64 = 3_600;
/// How long the rules of the tests let an authorization live.
const LIFE_S: u64 = 300;

fn key(byte: u8) -> AuditKey {
    AuditKey::of(&Key::from_bytes(&[byte; 32]).unwrap()).unwrap()
}

/// A ledger that counts for the account of the tests.
pub(in crate::ledger::tests) fn bound() -> World {
    let world = World::new("", "10 USD");
    world.ledger().bind_key(PAYER).unwrap();
    world
}

fn wanted(world: &World, byte: u8, units: u128, balance: Option<u128>) -> Ordering {
    Ordering {
        id: SweepId::from_random([byte; 16]),
        account: PAYER,
        to: TO,
        asset: world.rules.asset(&terms(1).asset_id()).unwrap().clone(),
        amount: Amount::new(units).unwrap(),
        nonce: [byte; 32],
        life_s: HOUR_S,
        balance,
    }
}

pub(in crate::ledger::tests) fn order(world: &World, byte: u8, units: u128) -> Ordered {
    world.ledger().order(wanted(world, byte, units, None)).unwrap().unwrap()
}

fn proof(verdict: ChainVerdict, block_s: u64) -> ChainProof {
    let hash = |digit: &str| format!("0x{}", digit.repeat(64));
    let transaction = (verdict != ChainVerdict::Unused).then(|| hash("e"));
    ChainProof { verdict, block: 7, hash: hash("d"), block_s, transaction, witnesses: 1, denies: true, proved_s: 0 }
}

pub(in crate::ledger::tests) fn hand_over(to: u8, from: Address, before: u8, after: u8) -> Handover {
    Handover { from, to: Address::from_bytes([to; 20]), key: key(before), next: key(after) }
}

#[test]
fn a_sweep_is_written_down_as_it_is_signed_and_freezes_spending_until_it_is_over() {
    let world = bound();
    let ordered = order(&world, 1, 5 * CENT);
    let signed = ordered.authorization();
    assert_eq!((signed.from, signed.to, signed.value.units()), (PAYER, TO, 5 * CENT));
    assert_eq!((signed.valid_after, signed.valid_before), (0, world.time.now_s() + HOUR_S));
    assert_eq!(world.ledger().ordered(&ordered.view().id).unwrap(), ordered, "the same to be signed again");
    let claim = world.claim(errand("a"));
    assert!(matches!(&claim, Claim::Refused(why) if why[..] == [Refusal::Frozen]), "{claim:?}");
    let live = |fault| matches!(fault, LedgerFault::SweepLive { .. });
    assert!(live(world.ledger().thaw().unwrap_err()));
    // A person's own freeze on top of it changes nothing of that.
    world.ledger().freeze("by hand").unwrap();
    assert!(live(world.ledger().thaw().unwrap_err()));
    world.time.pass(HOUR_S + 59);
    assert!(live(world.ledger().thaw().unwrap_err()), "chain time is not wall time");
    assert!(matches!(world.ledger().ordered(&ordered.view().id), Err(LedgerFault::NoSuchSweep { .. })));
    world.time.pass(1);
    world.ledger().thaw().unwrap();
    let [ended] = &world.ledger().sweeps().unwrap()[..] else { panic!("one sweep") };
    assert_eq!((ended.state, ended.ended_s), (SweepState::Presumed, Some(world.time.now_s())));
    drop(world.authorize(errand("a"), CENT).unwrap());
    world.ledger().verify().unwrap();
    let kinds = world.kinds();
    assert_eq!((kinds["sweep_ordered"], kinds["sweep_ended"], kinds["frozen"]), (1, 1, 2));
}

#[test]
fn a_sweep_is_signed_for_its_token_by_its_account_and_in_a_sandbox_on_test_chains_alone() {
    let world = World::new("", "10 USD");
    let (key, other) = (Key::from_bytes(&[9; 32]).unwrap(), Key::from_bytes(&[8; 32]).unwrap());
    world.ledger().bind_key(key.address()).unwrap();
    let account = Ordering { account: key.address(), ..wanted(&world, 1, CENT, None) };
    let ordered = world.ledger().order(account.clone()).unwrap().unwrap();
    let sign = |key: &Key, ordered: &Ordered, asset: &Asset, setting| key.sign_sweep(ordered, asset, setting);
    let (signature, domain) = sign(&key, &ordered, &account.asset, Setting::Sandbox).ok().unwrap();
    assert_eq!(recover(&ordered.authorization().digest(&domain), &signature), Some(key.address()));
    let (again, _) = sign(&key, &ordered, &account.asset, Setting::Real).ok().unwrap();
    assert!(again == signature, "the same row gives the same bytes");
    let fault = sign(&other, &ordered, &account.asset, Setting::Sandbox).err();
    assert_eq!(fault, Some(SignFault::OtherAccount));
    let mut real = account.asset.clone();
    real.id.chain = ChainId::BASE;
    assert_eq!(sign(&key, &ordered, &real, Setting::Real).err(), Some(SignFault::OtherAsset));
    let (id, nonce) = (SweepId::from_random([2; 16]), [2; 32]);
    let ordered = world.ledger().order(Ordering { id, nonce, asset: real.clone(), ..account }).unwrap().unwrap();
    assert_eq!(sign(&key, &ordered, &real, Setting::Sandbox).err(), Some(SignFault::RealChain));
    assert!(sign(&key, &ordered, &real, Setting::Real).is_ok());
}

#[test]
fn a_second_sweep_of_the_same_money_a_bad_destination_and_a_strange_account_are_refused() {
    let world = bound();
    let refused = |wanted: Ordering| world.ledger().order(wanted).unwrap().unwrap_err();
    let first = wanted(&world, 1, CENT, None);
    for to in [PAYER, first.asset.id.contract, Address::from_bytes([0; 20])] {
        assert_eq!(refused(Ordering { to, ..first.clone() }), Refused::Destination);
    }
    assert_eq!(refused(Ordering { account: TO, to: PAYER, ..first.clone() }), Refused::Stranger);
    assert_eq!(world.ledger().sweeps().unwrap(), [], "nothing was written down");
    let ordered = order(&world, 1, CENT);
    assert_eq!(refused(wanted(&world, 2, CENT, None)), Refused::Live(Box::new(ordered.view().clone())));
    assert_eq!(world.ledger().sweeps().unwrap().len(), 1);
}

#[test]
fn what_signed_payments_may_still_take_is_left_where_it_is() {
    let world = bound();
    let asset = terms(1).asset_id();
    let exposed = world.authorize(errand("a"), 2 * CENT).unwrap();
    world.sign(&exposed);
    world.buy(errand("b"), 3 * CENT);
    let until_s = world.time.now_s() + LIFE_S + 60;
    let free = || world.ledger().spoken_for(PAYER, asset).unwrap();
    // A seller's word that it settled is no proof.
    assert_eq!(free(), (5 * CENT, until_s, None));
    let short = world.ledger().order(wanted(&world, 1, 6 * CENT, Some(10 * CENT))).unwrap();
    assert_eq!(short, Err(Refused::Short { free: 5 * CENT, reserved: 5 * CENT }));
    // Where nobody says what there is, no amount is known to leave it.
    let unseen = world.ledger().order(wanted(&world, 1, 1, None)).unwrap();
    assert_eq!(unseen, Err(Refused::Unseen { reserved: 5 * CENT, until_s }));
    let id = exposed.payment().clone();
    drop(exposed);
    world.time.pass(LIFE_S + 60);
    world.ledger().sweep().unwrap();
    assert_eq!(world.ledger().payment(&id).unwrap().receipt.state, crate::ledger::RowState::PresumedSpent);
    assert_eq!(free(), (0, 0, None), "whatever was signed is over");
    world.ledger().order(wanted(&world, 1, 10 * CENT, Some(10 * CENT))).unwrap().unwrap();
    assert!(free().2.is_some());
}

#[test]
fn a_chain_says_once_how_a_sweep_ended_and_never_too_early() {
    let world = bound();
    let id = order(&world, 1, CENT).view().id.clone();
    let chain = terms(1).chain;
    let doubts = |chain_s| world.ledger().sweep_doubts(chain, chain_s).unwrap();
    assert_eq!(doubts(world.time.now_s()).len(), 1);
    let early = proof(ChainVerdict::Unused, world.time.now_s() + HOUR_S + 59);
    assert!(matches!(world.ledger().prove_sweep(&id, early), Err(LedgerFault::Rule { .. })));
    assert!(world.ledger().prove_sweep(&id, proof(ChainVerdict::Paid, world.time.now_s())).unwrap());
    let later = proof(ChainVerdict::Unused, world.time.now_s() + 2 * HOUR_S);
    assert!(!world.ledger().prove_sweep(&id, later).unwrap(), "what is proved stays proved");
    let [moved] = &world.ledger().sweeps().unwrap()[..] else { panic!("one sweep") };
    assert_eq!(moved.state, SweepState::Moved);
    assert!(moved.proof.as_ref().is_some_and(|proof| !proof.denies && proof.transaction.is_some()));
    assert_eq!(doubts(world.time.now_s()), []);
    world.ledger().thaw().unwrap();
    // One that ran out unproved is asked about for a week, and can be proved then.
    let id = order(&world, 2, CENT).view().id.clone();
    world.time.pass(2 * HOUR_S);
    world.ledger().sweep().unwrap();
    assert_eq!(doubts(world.time.now_s()).len(), 1);
    assert_eq!(doubts(world.time.now_s() + 8 * 24 * HOUR_S), []);
    assert!(world.ledger().prove_sweep(&id, proof(ChainVerdict::Unused, world.time.now_s())).unwrap());
    assert_eq!(world.ledger().sweeps().unwrap()[1].state, SweepState::Unmoved);
    world.ledger().verify().unwrap();
}

#[test]
fn another_account_pays_from_then_on_and_rows_keep_who_paid_them() {
    let mut world = bound();
    let Checkpointed::Made(_) = world.ledger().checkpoint(key(7), When::Now).unwrap() else { panic!("signed") };
    let paid = world.buy(errand("a"), CENT).payment;
    assert_eq!(world.ledger().rotate(hand_over(0x55, PAYER, 7, 8)).unwrap(), Rotated::Done);
    let new = Address::from_bytes([0x55; 20]);
    assert_eq!(world.ledger().accounts().unwrap(), [PAYER, new]);
    assert_eq!(world.ledger().key_address().unwrap(), Some(new));
    assert_eq!(world.ledger().payment(&paid).unwrap().payer, PAYER);
    // Nothing is counted for the old account any more, whoever still has its key.
    let old = world.ledger().authorize(world.new_claim(errand("b")), world.ask(terms(CENT)), &world.rules);
    assert!(matches!(old, Err(LedgerFault::OtherKey { .. })), "{old:?}");
    assert!(matches!(world.ledger().bind_key(PAYER), Err(LedgerFault::OtherKey { .. })));
    // The old audit key signs nothing more, the new one does, and the whole log holds.
    assert!(matches!(world.ledger().checkpoint(key(7), When::Now), Err(LedgerFault::OtherAuditKey)));
    assert!(matches!(world.ledger().checkpoint(key(8), When::Now).unwrap(), Checkpointed::Made(_)));
    world.reopen();
    let books = world.ledger().verify().unwrap();
    assert_eq!(books.checkpoints, 2);
    // What is left on the old account can be moved, and freezes nobody.
    let moved = Ordering { to: new, ..wanted(&world, 3, CENT, Some(2 * CENT)) };
    world.ledger().order(moved).unwrap().unwrap();
    assert!(!world.kinds().contains_key("frozen"));
    world.ledger().verify().unwrap();
}

#[test]
fn the_database_itself_takes_no_payment_of_another_account() {
    let world = bound();
    world.buy(errand("a"), CENT);
    assert_eq!(world.ledger().rotate(hand_over(0x55, PAYER, 7, 8)).unwrap(), Rotated::Done);
    let columns = "session, subject, purchase_id, origin, url, method, body, terms, version, chain, asset, symbol,
        payee, amount, money, currency, valid_after, valid_before, envelope, created_s, updated_s";
    let hand = world.by_hand();
    let mut number = 0;
    let mut counted = |payer: &str| {
        number += 1;
        let digits = format!("{number:032x}");
        hand.tries(&format!(
            "INSERT INTO payment (id, state, nonce, identity, payer, {columns})
             SELECT 'p_{digits}', 'exposed', '{digits}{digits}', '{digits}{digits}', {payer}, {columns} FROM payment"
        ))
    };
    assert!(!counted("payer"), "the one that paid before");
    assert!(!counted("payee"));
    assert!(counted("(SELECT key_address FROM meta)"), "and else the row is a good one");
}

#[test]
fn no_account_is_changed_while_a_payment_is_open_or_by_another_key() {
    let world = bound();
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    let (id, until_s) = (exposed.payment().clone(), world.time.now_s() + LIFE_S + 60);
    drop(exposed);
    let rotate = |handover| world.ledger().rotate(handover);
    assert_eq!(rotate(hand_over(0x55, PAYER, 7, 8)).unwrap(), Rotated::Open { payment: id, until_s });
    world.time.pass(LIFE_S + 60);
    assert!(matches!(rotate(hand_over(0x55, TO, 7, 8)), Err(LedgerFault::OtherKey { .. })));
    assert_eq!(rotate(hand_over(0x55, PAYER, 7, 8)).unwrap(), Rotated::Done);
    let new = Address::from_bytes([0x55; 20]);
    assert!(matches!(rotate(hand_over(0x66, new, 7, 9)), Err(LedgerFault::OtherAuditKey)), "signed by the old key");
    assert_eq!(rotate(hand_over(0x66, new, 8, 9)).unwrap(), Rotated::Done);
    assert_eq!(world.ledger().accounts().unwrap().len(), 3);
    world.ledger().verify().unwrap();
    world.ledger().latch("for this test");
    let newest = Address::from_bytes([0x66; 20]);
    assert_eq!(rotate(hand_over(0x77, newest, 9, 10)).unwrap(), Rotated::Shut);
}

#[test]
fn a_change_of_the_account_reads_back_and_holds_by_both_of_its_keys_alone() {
    let world = bound();
    assert_eq!(world.ledger().rotate(hand_over(0x55, PAYER, 7, 8)).unwrap(), Rotated::Done);
    let log = world.ledger().log(500, Some(0)).unwrap();
    let line = &log.iter().find(|entry| entry.kind == "key_rotated").unwrap().detail;
    let signed = SignedRotation::read(line).unwrap();
    assert!(signed.holds() && signed.rotation.from == PAYER);
    for (by_key, by_next) in [(signed.by_next, signed.by_key), (signed.by_key, signed.by_key)] {
        assert!(!SignedRotation { by_key, by_next, ..signed.clone() }.holds());
    }
    let mut bent = signed.clone();
    bent.rotation.to = TO;
    assert!(!bent.holds());
    for text in ["", "bursar rotation 1: ", &format!("{line} "), &line.replace("from", "From")] {
        assert_eq!(SignedRotation::read(text), None, "{text}");
    }
}
