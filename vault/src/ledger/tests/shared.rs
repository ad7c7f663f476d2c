//! Several vaults on one server: they share every budget, none signs what another took over, and no purchase is made twice.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use bursar_policy::errand::Errand;

use super::line_cutter::LineCutter;
use super::server::Database;
use super::world::{CENT, World, errand, money, named, signature, terms};
use crate::ledger::{Claim, Counted, LedgerFault, Redeemed, RowState, ServerPlace, Unredeemable};

const DAY: &str = "[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1.00 USD\"";

fn world(limits: &str, budget: &str) -> (World, Database) {
    let database = Database::new();
    (World::begin(Some(database.clone()), limits, budget, None), database)
}

/// How many of `errands` are counted and signed when each has a thread of its own at one of the vaults in turn.
fn winners(vaults: &[&World], errands: Vec<Errand>, units: u128) -> usize {
    let gate = Barrier::new(errands.len());
    let try_to = |vault: &World, errand: Errand| {
        Ok(match vault.ledger().claim(&vault.session, errand, &vault.rules, Duration::from_secs(60))? {
            Claim::New(guard) => match vault.ledger().authorize(guard, vault.ask(terms(units)), &vault.rules)? {
                Counted::Yes(exposed) => loop {
                    match vault.ledger().store_signature(&exposed, &signature()) {
                        Err(LedgerFault::Busy) => {}
                        stored => break stored.map(|_signed| true)?,
                    }
                },
                Counted::No { .. } => false,
            },
            Claim::Repeat(_) | Claim::Resend { .. } | Claim::InFlight => false,
            other => panic!("{other:?}"),
        })
    };
    let buy = |vault: &World, errand: Errand| {
        gate.wait();
        loop {
            match try_to(vault, errand.clone()) {
                Ok(won) => return won,
                Err(LedgerFault::Meanwhile) => return false,
                // On a slow machine the others may take too long.
                Err(LedgerFault::Busy) => {}
                Err(fault) => panic!("{fault}"),
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = errands
            .into_iter()
            .zip(vaults.iter().cycle())
            .map(|(errand, vault)| scope.spawn(|| buy(vault, errand)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
    })
}

/// As if so long a time had passed that every lease of before is over.
fn leases_pass(world: &World) {
    world.by_hand().run("UPDATE vault SET until_s = 0");
}

#[test]
fn two_vaults_with_sixty_four_callers_stay_within_one_budget() {
    let (one, database) = world(DAY, "100 USD");
    let other = one.beside(database.place());
    let errands = (0..64).map(|n| named("page", &format!("n-{n}"))).collect();
    assert_eq!(winners(&[&one, &other], errands, 5 * CENT), 20, "0.05 USD fits twenty times into 1.00 USD");
    assert_eq!((one.spent(), other.spent()), (money("1.00 USD"), money("1.00 USD")));
    assert_eq!(other.ledger().verify().unwrap().payments, 20);
    assert_eq!((one.ledger().latched(), other.ledger().latched()), (None, None));
}

#[test]
fn the_same_purchase_at_two_vaults_at_once_is_made_once() {
    let (one, database) = world("", "100 USD");
    let other = one.beside(database.place());
    for round in 0..5 {
        let errands = (0..8).map(|_n| errand(&format!("same-{round}"))).collect();
        assert_eq!(winners(&[&one, &other], errands, CENT), 1);
    }
    assert_eq!(one.kinds()["signed"], 5);
    one.ledger().verify().unwrap();
}

#[test]
fn what_was_bought_at_another_vault_since_it_was_claimed_here_is_not_bought_again() {
    let (one, database) = world("", "100 USD");
    let other = one.beside(database.place());
    let early = one.new_claim(named("a", "the-same"));
    other.buy(named("a", "the-same"), CENT);
    let late = one.ledger().authorize(early, one.ask(terms(CENT)), &one.rules);
    assert!(matches!(late, Err(LedgerFault::Meanwhile)), "{late:?}");
    assert!(
        matches!(one.claim(named("a", "the-same")), Claim::Repeat(past) if past.receipt.state == RowState::Settled)
    );
    assert_eq!(one.spent(), money("0.01 USD"));
    assert_eq!(one.ledger().latched(), None);
}

#[test]
fn what_another_vault_has_in_hand_is_not_sent_a_second_time_until_that_one_is_silent() {
    let (one, database) = world("", "100 USD");
    let other = one.beside(database.place());
    let exposed = one.authorize(errand("a"), CENT).unwrap();
    let signed = one.sign(&exposed);
    assert!(matches!(other.claim(errand("a")), Claim::InFlight), "the first may be sending it");
    leases_pass(&one);
    other.ledger().sweep().unwrap();
    match other.claim(errand("a")) {
        Claim::Resend { signed: again, reservation } => {
            assert_eq!(again.signature, signed.signature, "the same bytes");
            other.settle(&reservation);
        }
        claim => panic!("{claim:?}"),
    }
    // The answer to the first one's own sending changes nothing.
    assert_eq!(one.settle(&exposed).state, RowState::Settled);
    assert_eq!((one.kinds()["signed"], one.kinds()["settled"]), (1, 1));
    assert_eq!(one.spent(), money("0.01 USD"));
    one.ledger().verify().unwrap();
}

#[test]
fn a_vault_that_was_cut_off_signs_nothing_that_another_took_over() {
    let (keeper, database) = world("", "100 USD");
    let way = LineCutter::to(database.port);
    let place = ServerPlace { patience: Duration::from_millis(700), ..database.place() };
    let cut_off = keeper.beside(ServerPlace { server: database.server_at(way.port), ..place });
    let exposed = cut_off.authorize(errand("a"), CENT).unwrap();
    let (handle, _) = cut_off.hold(errand("page"), CENT).unwrap();
    // From here on nothing of it is heard, and it hears nothing.
    way.fall_silent();
    let unheard = cut_off.ledger().store_signature(&exposed, &signature());
    assert!(matches!(unheard, Err(LedgerFault::Unreachable { .. })), "{unheard:?}");
    let paid = cut_off.ledger().claim(&cut_off.session, errand("b"), &cut_off.rules, Duration::ZERO);
    assert!(matches!(paid, Err(LedgerFault::Unreachable { .. })), "{paid:?}");
    assert_eq!(cut_off.ledger().latched(), None, "a partition shuts nothing for good");
    leases_pass(&keeper);
    assert_eq!(keeper.ledger().sweep().unwrap(), 2, "the payment and the page are taken over");
    assert_eq!(keeper.ledger().sweep().unwrap(), 0, "once");
    assert_eq!(keeper.spent(), money("0.01 USD"), "what was held is back, and what may be signed counts");
    // It comes back, with the signature still in its hands.
    way.mend();
    way.hang_up();
    while cut_off.ledger().flush().is_err() {
        thread::yield_now();
    }
    let late = cut_off.ledger().store_signature(&exposed, &signature());
    assert!(matches!(late, Err(LedgerFault::Elsewhere)), "{late:?}");
    let late = cut_off.ledger().void(exposed, crate::ledger::NotSigned::by_the_signer());
    assert!(matches!(late, Err(LedgerFault::Elsewhere)), "nor does its word free the money: {late:?}");
    assert!(matches!(cut_off.redeem(handle, "page"), Redeemed::Not(Unredeemable::Expired)));
    assert!(matches!(cut_off.claim(errand("a")), Claim::Repeat(past) if past.receipt.outcome == "unresolved"));
    assert!(matches!(keeper.claim(errand("a")), Claim::Repeat(past) if past.receipt.outcome == "unresolved"));
    assert_eq!(keeper.kinds().get("signed"), None);
    // Registered anew it buys like any other.
    cut_off.buy(errand("b"), CENT);
    assert_eq!(keeper.by_hand().number("SELECT max(epoch) FROM vault"), 2);
    keeper.ledger().verify().unwrap();
}

#[test]
fn a_vault_that_died_leaves_its_pages_to_the_next_and_one_that_ended_in_order_at_once() {
    let (mut one, database) = world("", "100 USD");
    let other = one.beside(database.place());
    one.hold(errand("page"), CENT).unwrap();
    assert_eq!(other.ledger().sweep().unwrap(), 0, "it lives");
    assert_eq!(other.spent(), money("0.01 USD"));
    one.close();
    assert_eq!(other.ledger().sweep().unwrap(), 1);
    assert_eq!(other.spent(), money("0 USD"));
    other.ledger().verify().unwrap();
}

#[test]
fn a_freeze_and_a_latch_at_one_vault_hold_at_every_other() {
    let (one, database) = world("", "100 USD");
    let other = one.beside(database.place());
    one.ledger().freeze("something is off").unwrap();
    assert!(matches!(other.claim(errand("a")), Claim::Refused(reasons) if reasons[0].code() == "frozen"));
    other.ledger().thaw().unwrap();
    other.ledger().latch("a suspicion");
    other.ledger().flush().unwrap();
    assert!(matches!(one.claim(errand("a")), Claim::Refused(reasons) if reasons[0].code() == "ledger_latched"));
    one.ledger().unlatch().unwrap();
    other.buy(errand("a"), CENT);
    assert_eq!(other.ledger().latched(), None);
}

#[test]
fn time_is_never_earlier_than_another_vault_wrote_it_down() {
    let (one, database) = world("", "100 USD");
    one.time.pass(50);
    one.buy(errand("a"), CENT);
    let recorded = one.by_hand().number("SELECT recorded_s FROM meta");
    let other = one.beside(database.place());
    one.by_hand().run("UPDATE meta SET recorded_s = recorded_s + 60");
    other.buy(errand("b"), CENT);
    assert_eq!(other.ledger().time().now_s, u64::try_from(recorded).unwrap() + 60);
}
