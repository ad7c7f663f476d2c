//! What a chain's proof moves: states, totals, windows, the record of a seller; and what it never moves.

use bursar_policy::errand::PaymentId;
use proptest::prelude::*;

use super::world::{
    CENT, LIFE_S, START, TRANSACTION, World, answer, answered, errand, money, named, rules_with, settled, signature,
    silence,
};
use crate::ledger::store::bound;
use crate::ledger::{Answer, EXPIRY_MARGIN_S, LedgerFault, Moved, RowState, tally};
use crate::protocol::{ChainOutcome, ChainProof, ChainVerdict, Report};

const OTHER_TRANSACTION: &str = "0x00000000000000000000000000000000000000000000000000000000feedf00d";

fn proof(verdict: ChainVerdict, block_s: u64) -> ChainProof {
    let transaction = (verdict != ChainVerdict::Unused).then(|| OTHER_TRANSACTION.to_owned());
    let hash = format!("0x{}", "5".repeat(64));
    ChainProof { verdict, block: 77, hash, block_s, transaction, witnesses: 2, denies: false, proved_s: 0 }
}

/// A payment of so many cents that was sent and that nothing came back for.
fn sent(world: &World, path: &str, cents: u128) -> PaymentId {
    let exposed = world.authorize(errand(path), cents.saturating_mul(CENT)).unwrap();
    world.sign(&exposed);
    let id = exposed.payment().clone();
    world.ledger().report(&exposed, silence(), world.rules.breaker()).unwrap();
    id
}

fn run_out(world: &World) {
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S);
    world.ledger().sweep().unwrap();
}

fn prove(world: &World, id: &PaymentId, verdict: ChainVerdict) -> Moved {
    world.ledger().prove(id, proof(verdict, world.time.now_s()), world.rules.breaker()).unwrap()
}

fn state(world: &World, id: &PaymentId) -> RowState {
    world.ledger().payment(id).unwrap().receipt.state
}

#[test]
fn what_was_presumed_spent_and_never_moved_is_back_in_budget_and_limits() {
    let world = World::new("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"0.05 USD\"\ncount = 2", "0.05 USD");
    let (kept, freed) = (sent(&world, "a", 1), sent(&world, "b", 3));
    run_out(&world);
    assert_eq!((state(&world, &kept), state(&world, &freed)), (RowState::PresumedSpent, RowState::PresumedSpent));
    assert!(world.authorize(errand("c"), 2 * CENT).is_err(), "budget and limits are used up");

    assert_eq!(prove(&world, &freed, ChainVerdict::Unused), Moved::Now(ChainOutcome::Lapsed));
    assert_eq!((state(&world, &freed), world.spent()), (RowState::Lapsed, money("0.01 USD")));
    let overview = world.ledger().overview(None, &world.rules).unwrap();
    assert_eq!(overview.lost.iter().map(|lost| lost.count).collect::<Vec<_>>(), [1, 1], "one is lost, not two");
    world.ledger().verify().unwrap();
    // All of it can be spent again, and no more.
    drop(world.authorize(errand("c"), 4 * CENT).unwrap());
    assert!(world.authorize(errand("d"), CENT).is_err());
    world.ledger().verify().unwrap();
}

#[test]
fn what_is_pending_and_never_moved_is_back_at_once() {
    for verdict in [ChainVerdict::Unused, ChainVerdict::Cancelled] {
        let world = World::new("", "0.05 USD");
        let id = sent(&world, "a", 5);
        // The chain's time ran ahead of ours; it is the one that the contract goes by.
        let ahead = proof(verdict, world.time.now_s() + LIFE_S + EXPIRY_MARGIN_S);
        let moved = world.ledger().prove(&id, ahead, world.rules.breaker()).unwrap();
        assert_eq!((moved, state(&world, &id)), (Moved::Now(ChainOutcome::Lapsed), RowState::Lapsed));
        assert_eq!(world.spent(), money("0 USD"));
        world.ledger().verify().unwrap();
        // It never happened, so the same call buys it, and nothing settles what lapsed.
        drop(world.new_claim(errand("a")));
        run_out(&world);
        assert_eq!(state(&world, &id), RowState::Lapsed);
    }
}

#[test]
fn no_proof_of_disuse_is_taken_that_was_read_before_the_end() {
    let world = World::new("", "1 USD");
    let id = sent(&world, "a", 1);
    let end_s = START + LIFE_S + EXPIRY_MARGIN_S;
    let early = world.ledger().prove(&id, proof(ChainVerdict::Unused, end_s - 1), world.rules.breaker());
    assert!(matches!(early, Err(LedgerFault::Rule { .. })), "{early:?}");
    assert_eq!((state(&world, &id), world.spent()), (RowState::Exposed, money("0.01 USD")));
    assert_eq!(
        world.ledger().doubts(bursar_policy::ChainId::BASE_SEPOLIA, end_s, 10).unwrap().len(),
        1,
        "it stays due"
    );
    world.ledger().prove(&id, proof(ChainVerdict::Unused, end_s), world.rules.breaker()).unwrap();
    assert_eq!(state(&world, &id), RowState::Lapsed);
}

#[test]
fn a_payment_that_the_chain_shows_is_settled_early_or_late_and_counts_once() {
    for late in [false, true] {
        let world = World::new("", "1 USD");
        let id = sent(&world, "a", 3);
        if late {
            run_out(&world);
        }
        assert_eq!(prove(&world, &id, ChainVerdict::Paid), Moved::Now(ChainOutcome::Settled));
        let detail = world.ledger().payment(&id).unwrap();
        assert_eq!(detail.receipt.state, RowState::Settled);
        assert_eq!(detail.receipt.transaction.as_deref(), Some(OTHER_TRANSACTION));
        assert_eq!(world.spent(), money("0.03 USD"));
        assert!(world.ledger().overview(None, &world.rules).unwrap().lost.is_empty(), "it is lost no longer");
        assert_eq!(prove(&world, &id, ChainVerdict::Unused), Moved::Nothing, "a proof is for good");
        world.ledger().verify().unwrap();
    }
}

#[test]
fn a_true_claim_is_confirmed_and_the_chains_transaction_counts() {
    let world = World::new("", "1 USD");
    let id = world.buy(errand("a"), CENT).payment;
    assert_eq!(world.ledger().payment(&id).unwrap().receipt.transaction.as_deref(), Some(TRANSACTION));
    assert_eq!(prove(&world, &id, ChainVerdict::Paid), Moved::Now(ChainOutcome::Confirmed));
    let detail = world.ledger().payment(&id).unwrap();
    assert_eq!(detail.receipt.transaction.as_deref(), Some(OTHER_TRANSACTION));
    assert!(detail.proof.is_some_and(|proof| !proof.denies && proof.witnesses == 2));
    assert_eq!(detail.settlement.unwrap().transaction.as_deref(), Some(TRANSACTION), "what was claimed stays told");
    world.ledger().verify().unwrap();
}

#[test]
fn a_false_claim_stays_counted_and_is_told_and_is_a_strike() {
    let mut world = World::new("", "1 USD");
    world.rules = rules_with("allow_any_host = true\nmax_unresolved = 1000\nquarantine_after = 2", "");
    let ids: Vec<PaymentId> = ["a", "b"].iter().map(|path| world.buy(errand(path), CENT).payment).collect();
    run_out(&world);
    for (id, verdict) in ids.iter().zip([ChainVerdict::Unused, ChainVerdict::Cancelled]) {
        assert_eq!(prove(&world, id, verdict), Moved::Now(ChainOutcome::Denied));
        let detail = world.ledger().payment(id).unwrap();
        assert_eq!((detail.receipt.state, detail.receipt.transaction), (RowState::Settled, None));
        assert!(detail.proof.is_some_and(|proof| proof.denies));
    }
    assert_eq!(world.spent(), money("0.02 USD"), "settled never regresses");
    assert_eq!(world.kinds().get("chain_disagrees"), Some(&2));
    let overview = world.ledger().overview(None, &world.rules).unwrap();
    assert_eq!(overview.denied.len(), 2);
    assert_eq!(overview.quarantined.iter().map(|host| host.strikes).collect::<Vec<_>>(), [2]);
    assert!(world.ledger().overview(Some(&world.session), &world.rules).unwrap().denied.is_empty(), "not for an agent");
    world.ledger().verify().unwrap();
}

#[test]
fn goods_that_were_never_cashed_are_told_again_and_nothing_is_lost() {
    let world = World::new("", "1 USD");
    let exposed = world.authorize(named("a", "one"), CENT).unwrap();
    world.sign(&exposed);
    let id = exposed.payment().clone();
    world.ledger().report(&exposed, answered(None), world.rules.breaker()).unwrap();
    drop(exposed);
    run_out(&world);
    prove(&world, &id, ChainVerdict::Unused);
    assert_eq!(world.spent(), money("0 USD"));
    let crate::ledger::Claim::Repeat(past) = world.claim(named("a", "one")) else { panic!("not told") };
    assert_eq!((past.receipt.state, past.receipt.outcome.as_str()), (RowState::Lapsed, "paid"));
}

#[test]
fn a_failed_delivery_that_was_never_cashed_may_be_bought_again_under_its_name() {
    let world = World::new("", "1 USD");
    let exposed = world.authorize(named("a", "one"), CENT).unwrap();
    world.sign(&exposed);
    let id = exposed.payment().clone();
    let failed = Report { delivery: answer(500), settlement: None };
    world.ledger().report(&exposed, failed, world.rules.breaker()).unwrap();
    drop(exposed);
    run_out(&world);
    assert!(matches!(world.claim(named("a", "one")), crate::ledger::Claim::Repeat(_)));
    prove(&world, &id, ChainVerdict::Unused);
    drop(world.new_claim(named("a", "one")));
}

#[test]
fn nothing_signs_or_settles_what_lapsed() {
    let world = World::new("", "1 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    let ahead = proof(ChainVerdict::Unused, START + LIFE_S + EXPIRY_MARGIN_S);
    world.ledger().prove(exposed.payment(), ahead, world.rules.breaker()).unwrap();
    assert!(world.ledger().store_signature(&exposed, &signature()).is_err());
    let receipt = world.ledger().report(&exposed, answered(Some(settled())), world.rules.breaker()).unwrap();
    assert_eq!((receipt.state, world.spent()), (RowState::Lapsed, money("0 USD")));
    world.ledger().verify().unwrap();
}

#[test]
fn what_is_due_follows_the_chains_own_time() {
    let mut world = World::new("", "1 USD");
    let id = sent(&world, "a", 1);
    let chain = bursar_policy::ChainId::BASE_SEPOLIA;
    let due = |world: &World, chain_s| world.ledger().doubts(chain, chain_s, 10).unwrap().len();
    assert_eq!((due(&world, START + 59), due(&world, START + 60)), (0, 1));
    world.ledger().doubt_later(&id, START + 500).unwrap();
    assert_eq!((due(&world, START + 499), due(&world, START + 500)), (0, 1));
    assert_eq!(world.ledger().doubts(bursar_policy::ChainId::BASE, START + 500, 10).unwrap(), [], "of this chain only");
    world.reopen();
    assert_eq!((due(&world, START + 499), due(&world, START + 500)), (0, 1), "also after a restart");
    run_out(&world);
    prove(&world, &id, ChainVerdict::Unused);
    assert_eq!(due(&world, u64::MAX >> 1), 0, "what is proved is not asked again");
}

#[test]
fn a_shut_ledger_takes_no_proof() {
    let world = World::new("", "1 USD");
    let id = sent(&world, "a", 1);
    run_out(&world);
    world.ledger().latch("a test wants it so");
    assert_eq!(prove(&world, &id, ChainVerdict::Unused), Moved::Nothing);
    assert_eq!(state(&world, &id), RowState::PresumedSpent);
}

#[test]
fn the_database_itself_lets_nothing_lapse_without_a_proof() {
    let world = World::new("", "1 USD");
    let (open, over) = (sent(&world, "a", 1), sent(&world, "b", 1));
    run_out(&world);
    prove(&world, &over, ChainVerdict::Unused);
    let other = world.by_hand();
    let hash = format!("'0x{}'", "5".repeat(64));
    for sql in [
        format!("UPDATE payment SET state = 'lapsed' WHERE id = '{open}'"),
        format!("INSERT INTO proof VALUES ('{open}', 'unused', 1, {hash}, {START}, NULL, 1, 0, 1)"),
        format!("INSERT INTO proof VALUES ('{open}', 'paid', 1, {hash}, 9999999999, NULL, 1, 0, 1)"),
        format!("INSERT INTO proof VALUES ('{open}', 'unused', 1, {hash}, 9999999999, NULL, 0, 0, 1)"),
        format!("INSERT INTO proof VALUES ('{open}', 'unused', 1, {hash}, 9999999999, NULL, 1, 1, 1)"),
        format!("INSERT INTO proof VALUES ('{over}', 'unused', 1, {hash}, 9999999999, NULL, 1, 0, 1)"),
        "DELETE FROM proof".to_owned(),
        "UPDATE proof SET block = 78".to_owned(),
        "DELETE FROM returned".to_owned(),
        "UPDATE returned SET at_s = at_s + 1".to_owned(),
        "UPDATE returned SET total = replace(total, '1', '0')".to_owned(),
        "INSERT INTO returned SELECT key, at_s, payment, total, seq FROM spent".to_owned(),
    ] {
        assert!(!other.tries(&sql), "went through: {sql}");
    }
    world.ledger().verify().unwrap();
}

#[test]
fn every_forgery_of_a_proof_with_the_guards_down_is_found() {
    let forgeries: [(&[&str], &str); 7] = [
        (&["proof_story"], "UPDATE proof SET witnesses = 3"),
        (&["proof_story"], "UPDATE proof SET block_s = block_s + 1"),
        (&["proof_stays"], "DELETE FROM proof"),
        (&["returned_stays"], "DELETE FROM returned WHERE key = 'all|USD'"),
        (&["returned_grows"], "UPDATE returned SET at_s = at_s - 1000 WHERE key = 'all|USD'"),
        (&["returned_grows"], "UPDATE returned SET total = '1' || substr(total, 2) WHERE key = 'all|USD'"),
        (
            &["returned_begins"],
            "INSERT INTO returned SELECT key, at_s, payment, total, seq FROM spent
             WHERE payment = (SELECT id FROM payment WHERE state = 'presumed_spent') AND key = 'all|USD'",
        ),
    ];
    for (triggers, sql) in forgeries {
        let world = World::new("", "1 USD");
        let (over, _lost) = (sent(&world, "a", 1), sent(&world, "b", 1));
        run_out(&world);
        prove(&world, &over, ChainVerdict::Unused);
        world.ledger().verify().unwrap();
        world.by_hand().forge(triggers, sql);
        let found = world.ledger().verify();
        assert!(matches!(found, Err(LedgerFault::Books { .. })), "not found: {sql}: {found:?}");
    }
}

/// What is spent since a second, by the rows alone.
fn by_hand(spent: &[(u64, u128, bool)], since_s: u64) -> (u128, u64) {
    let kept = spent.iter().filter(|(at_s, _, freed)| since_s <= *at_s && !freed);
    let kept: Vec<u128> = kept.map(|(_, cents, _)| cents.saturating_mul(10_000_000_000_000_000)).collect();
    (kept.iter().sum(), kept.len().try_into().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::world::cases(24), ..ProptestConfig::default() })]

    /// Whatever is proved in whatever order, each window has what it counted less what of that never moved.
    #[test]
    fn every_window_leaves_out_exactly_what_it_counted(
        payments in proptest::collection::vec((1_u128..9, 0_u64..400, any::<bool>()), 1..12),
        order in any::<u64>(),
    ) {
        let world = World::new("", "100 USD");
        let mut ids = Vec::new();
        for (number, (cents, pause_s, _)) in payments.iter().enumerate() {
            world.time.pass(*pause_s);
            ids.push(sent(&world, &format!("n{number}"), *cents));
        }
        run_out(&world);
        let mut shuffled: Vec<usize> = (0..ids.len()).collect();
        shuffled.sort_by_key(|number| u64::try_from(*number).unwrap().wrapping_mul(order | 1).rotate_left(17));
        for number in shuffled {
            if payments[number].2 {
                prop_assert_eq!(prove(&world, &ids[number], ChainVerdict::Unused), Moved::Now(ChainOutcome::Lapsed));
            }
        }
        let spent: Vec<(u64, u128, bool)> = world
            .ledger()
            .writer
            .ask(|tx| {
                let sql = "SELECT at_s FROM spent WHERE key = 'all|USD' ORDER BY seq";
                let times = tx.conn.every(sql, bound![], |row| row.get::<i64>(0))?;
                Ok(Answer::AtOnce(times.into_iter().map(i64::unsigned_abs).collect::<Vec<u64>>()))
            })
            .unwrap()
            .into_iter()
            .zip(&payments)
            .map(|(at_s, (cents, _, freed))| (at_s, *cents, *freed))
            .collect();
        let mut seconds: Vec<u64> = spent.iter().flat_map(|(at_s, ..)| [*at_s, at_s.saturating_add(1)]).collect();
        seconds.push(0);
        for since_s in seconds {
            let used = world.ledger().writer.ask(move |tx| Ok(Answer::AtOnce(tally::used(tx.conn, "all|USD", Some(since_s))?)));
            let used = used.unwrap();
            prop_assert_eq!((used.atto, used.count), by_hand(&spent, since_s), "since {}", since_s);
        }
        world.ledger().verify().unwrap();
    }
}
