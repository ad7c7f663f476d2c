//! A server that goes away at any word, dies and comes back: no payment is lost or counted twice, and nothing stays shut.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::line_cutter::{Cut, LineCutter};
use super::on_a_server::keys::hand_over;
use super::server::Database;
use super::server::cluster::Cluster;
use super::world::{CENT, PAYER, World, answered, errand, money, settled, signature, terms};
use crate::ledger::store::bound;
use crate::ledger::{Answer, Claim, Counted, LedgerFault, Redeemed, Rotated, ServerPlace};
use bursar_policy::chain::Address;

/// A vault whose line can be cut, with its budget of 100 USD.
fn at_the_end_of_a_line() -> (World, LineCutter) {
    let database = Database::new();
    let first = World::begin(Some(database.clone()), "", "100 USD", None);
    let way = LineCutter::to(database.port);
    let world = first.beside(ServerPlace { server: database.server_at(way.port), ..database.place() });
    // Nothing of its beginning is still on the way.
    world.ledger().flush().unwrap();
    (world, way)
}

fn unreachable<T: std::fmt::Debug>(said: &Result<T, LedgerFault>) -> bool {
    match said {
        Ok(_) => false,
        Err(LedgerFault::Unreachable { .. }) => true,
        Err(other) => panic!("{other:?}"),
    }
}

/// How far a purchase came over a line that may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// Nobody heard that it was counted.
    NotCounted,
    /// It was signed, and nobody heard that the signature was stored.
    NotStored,
    /// The signature was stored, and whatever came back may not have been told.
    Signed,
    /// To its end.
    Whole,
}

fn buy(world: &World, path: &str) -> Came {
    let claimed = world.ledger().claim(&world.session, errand(path), &world.rules, Duration::ZERO);
    if unreachable(&claimed) {
        return Came::NotCounted;
    }
    let Ok(Claim::New(guard)) = claimed else { panic!("{claimed:?}") };
    let counted = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules);
    if unreachable(&counted) {
        return Came::NotCounted;
    }
    let Ok(Counted::Yes(exposed)) = counted else { panic!("{counted:?}") };
    if unreachable(&world.ledger().store_signature(&exposed, &signature())) {
        return Came::NotStored;
    }
    let told = world.ledger().report(&exposed, answered(Some(settled())), world.rules.breaker());
    if unreachable(&told) { Came::Signed } else { Came::Whole }
}

#[test]
fn a_line_that_is_cut_at_any_word_of_a_purchase_frees_nothing_that_may_be_signed_and_latches_nothing() {
    for cut in [Cut::Before, Cut::After] {
        let (world, way) = at_the_end_of_a_line();
        let hand = world.by_hand();
        assert_eq!(buy(&world, "warm"), Came::Whole);
        let mut words = 0;
        loop {
            way.cut_after(words, cut);
            let path = format!("{cut:?}-{words}");
            let came = buy(&world, &path);
            assert_eq!(way.mend(), came != Came::Whole, "{path}");
            if came == Came::Whole {
                break;
            }
            assert_eq!(world.ledger().latched(), None, "{path}");
            world.ledger().sweep().unwrap_or_else(|fault| panic!("{path}: {fault}"));
            let unsigned = hand.number("SELECT count(*) FROM payment WHERE state = 'exposed' AND signature IS NULL");
            match (came, world.claim(errand(&path))) {
                // Whatever was counted without anybody hearing it is back, and the same can be bought.
                (Came::NotCounted, Claim::New(_)) => assert_eq!(unsigned, 0, "{path}"),
                // There was a signature, so it counts; where it was stored the same bytes are sent again.
                (Came::NotStored, Claim::Repeat(past)) => {
                    assert_eq!((unsigned, &*past.receipt.outcome), (1, "unresolved"), "{path}");
                }
                (Came::NotStored | Came::Signed, Claim::Resend { signed, reservation }) => {
                    assert_eq!((unsigned, signed.signature), (0, signature()), "{path}");
                    world.settle(&reservation);
                }
                (Came::Signed, Claim::Repeat(past)) => assert_eq!(past.receipt.outcome, "paid", "{path}"),
                (came, claim) => panic!("{path}: {came:?}, {claim:?}"),
            }
            // What stays unresolved runs out before the next.
            world.time.pass(1_000);
            world.ledger().sweep().unwrap();
            // Of the words that never arrive every other is enough.
            words += if cut == Cut::Before { 2 } else { 1 };
        }
        assert!(20 < words, "only {words} words make a purchase");
        world.ledger().verify().unwrap();
        let kinds = world.kinds();
        assert_eq!(kinds.get("latched"), None);
        if cut == Cut::After {
            assert!(1 <= kinds["voided"], "a commit whose answer was lost was given back: {kinds:?}");
        }
    }
}

#[test]
fn a_line_that_is_cut_at_any_word_of_redeeming_lets_nothing_go_unheard() {
    for cut in [Cut::Before, Cut::After] {
        let (world, way) = at_the_end_of_a_line();
        let mut words = 0;
        loop {
            let path = format!("page-{words}");
            let (handle, _) = world.hold(errand(&path), CENT).unwrap();
            let who = super::world::redeemer(handle, &path);
            way.cut_after(words, cut);
            let redeemed = world.ledger().redeem(&who, &world.rules, Duration::ZERO);
            let was_cut = way.mend();
            assert_eq!(unreachable(&redeemed), was_cut, "{path}");
            drop(redeemed);
            world.ledger().sweep().unwrap();
            let state =
                |of: &str| world.by_hand().number(&format!("SELECT count(*) FROM payment WHERE state = '{of}'"));
            if !was_cut {
                break;
            }
            assert_eq!(state("exposed"), 0, "{path}: nobody heard of it, so it is back");
            match world.redeem(handle, &path) {
                // It had not been redeemed.
                Redeemed::First { reservation, .. } => {
                    world.sign(&reservation);
                    world.settle(&reservation);
                }
                Redeemed::Not(_) => {}
                other => panic!("{path}: {other:?}"),
            }
            words += 1;
        }
        assert!(10 < words, "only {words} words redeem a handle");
        world.ledger().verify().unwrap();
        assert_eq!(world.ledger().latched(), None);
    }
}

#[test]
fn a_line_that_is_cut_at_any_word_of_a_change_of_the_account_leaves_a_ledger_that_says_whether_it_was_made() {
    let account = |changes: u8| if changes == 0 { PAYER } else { Address::from_bytes([changes; 20]) };
    for cut in [Cut::Before, Cut::After] {
        let (world, way) = at_the_end_of_a_line();
        world.ledger().bind_key(PAYER).unwrap();
        let (mut changes, mut words, mut unheard) = (0_u8, 0, 0);
        let rotate =
            |changes: u8| world.ledger().rotate(hand_over(changes + 1, account(changes), changes + 1, changes + 2));
        loop {
            way.cut_after(words, cut);
            let rotated = rotate(changes);
            let was_cut = way.mend();
            assert_eq!(unreachable(&rotated), was_cut, "{cut:?} {words}: {rotated:?}");
            // Whatever was heard of it, what the ledger says now is so.
            let known = world.ledger().key_address().unwrap();
            if known == Some(account(changes + 1)) {
                unheard += u32::from(was_cut);
            } else {
                assert_eq!(known, Some(account(changes)), "{cut:?} {words}");
                assert_eq!(rotate(changes).unwrap(), Rotated::Done, "{cut:?} {words}");
            }
            changes += 1;
            words += 1;
            if !was_cut {
                break;
            }
        }
        assert!(10 < words, "only {words} words change the account");
        assert_eq!(0 < unheard, cut == Cut::After, "the answer of the commit is what is lost");
        assert_eq!(world.ledger().accounts().unwrap().len(), usize::from(changes) + 1);
        world.ledger().verify().unwrap();
        assert_eq!(world.ledger().latched(), None);
    }
}

#[test]
fn a_backend_that_is_ended_by_hand_refuses_the_ask_of_that_moment_and_nothing_else() {
    let database = Database::new();
    let world = World::begin(Some(database.clone()), "", "100 USD", None);
    let end_every = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'vaults' AND datname = '{}'",
        database.name
    );
    let hand = world.by_hand();
    let ended: Result<(), _> = world.ledger().writer.ask(move |tx| {
        assert!(1 <= hand.number(&end_every));
        tx.conn.execute("UPDATE meta SET frozen = 'x' WHERE id = 1", bound![])?;
        Ok(Answer::Durable(()))
    });
    assert!(unreachable(&ended), "{ended:?}");
    assert_eq!(world.ledger().latched(), None);
    world.buy(errand("a"), CENT);
    world.ledger().verify().unwrap();
}

#[test]
fn a_server_that_dies_under_purchases_and_comes_back_has_every_one_that_was_answered() {
    let cluster = Cluster::start(&[]);
    let database = Database::on(&cluster);
    let world = World::begin(Some(database), "", "100 USD", None);
    let (heard, over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        for caller in 0..4 {
            let (world, heard, over) = (&world, &heard, &over);
            scope.spawn(move || {
                let mut number = 0;
                while !over.load(Ordering::SeqCst) {
                    number += 1;
                    let path = format!("{caller}-{number}");
                    if matches!(buy(world, &path), Came::Signed | Came::Whole) {
                        heard.lock().unwrap().push(path);
                    }
                }
            });
        }
        let count = || heard.lock().unwrap().len();
        let wait_for = |more: usize| {
            let until = count() + more;
            while count() < until {
                thread::yield_now();
            }
        };
        for _ in 0..2 {
            wait_for(10);
            cluster.crash();
            cluster.start_again();
        }
        wait_for(10);
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(world.ledger().latched(), None, "what was lost was never promised");
    world.ledger().sweep().unwrap();
    let hand = world.by_hand();
    // Neither a signature nor a report is waited for by the disk, so a row may have lost them; it counts the same.
    for path in heard.into_inner().unwrap() {
        let counted =
            format!("SELECT count(*) FROM payment WHERE url LIKE '%/{path}' AND state IN ('exposed', 'settled')");
        assert_eq!(hand.number(&counted), 1, "{path} was answered");
    }
    assert_eq!(hand.number("SELECT count(*) - count(DISTINCT url) FROM payment WHERE signature IS NOT NULL"), 0);
    world.ledger().verify().unwrap();
}

#[test]
fn a_server_that_has_forgotten_what_it_committed_is_noticed_and_pays_nothing_until_a_person_looks() {
    let database = Database::new();
    let mut world = World::begin(Some(database.clone()), "", "100 USD", None);
    world.buy(errand("a"), CENT);
    world.close();
    // A standby that was behind takes over.
    let hand = Database { name: "postgres".to_owned(), ..database.clone() }.keeper();
    let name = &database.name;
    hand.batch(&format!("CREATE DATABASE {name}_behind TEMPLATE {name}")).unwrap();
    world.reopen();
    let lost = world.buy(errand("b"), CENT);
    world.close();
    hand.batch(&format!("ALTER DATABASE {name} RENAME TO {name}_lost")).unwrap();
    hand.batch(&format!("ALTER DATABASE {name}_behind RENAME TO {name}")).unwrap();
    world.reopen();
    assert!(world.ledger().latched().unwrap().contains("it was set back"));
    assert!(matches!(world.claim(errand("c")), Claim::Refused(reasons) if reasons[0].code() == "ledger_latched"));
    assert!(matches!(world.ledger().payment(&lost.payment), Err(LedgerFault::NoSuchPayment { .. })));
    world.ledger().unlatch().unwrap();
    assert!(
        matches!(world.claim(errand("c")), Claim::Refused(reasons) if reasons[0].code() == "no_session"),
        "sessions are closed"
    );
    assert_eq!(world.spent(), money("0.01 USD"));
}

#[test]
fn another_ledger_that_answers_in_the_place_of_this_one_is_left_alone() {
    let (one, other) = (Database::new(), Database::new());
    let stranger = World::begin(Some(other.clone()), "", "100 USD", None);
    let world = World::begin(Some(one.clone()), "", "100 USD", None);
    stranger.by_hand().forge(&["meta_story"], "UPDATE meta SET ledger_id = repeat('0', 32)");
    let hand = Database { name: "postgres".to_owned(), ..one.clone() }.keeper();
    world.ledger().flush().unwrap();
    drop(stranger);
    for (from, to) in [(&one.name, "elsewhere"), (&other.name, &*one.name)] {
        let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{from}'");
        hand.batch(&end).unwrap();
        hand.batch(&format!("ALTER DATABASE {from} RENAME TO {to}_swapped")).unwrap();
    }
    hand.batch(&format!("ALTER DATABASE {}_swapped RENAME TO {}", one.name, one.name)).unwrap();
    let events =
        || one.keeper().query("SELECT count(*) FROM event", &[]).map(|found| format!("{:?}", found[0].cell(0)));
    let before = events();
    let asked = (0..1_000_000).map(|_| world.ledger().flush()).find(|said| !unreachable_or_ok(said));
    assert!(
        matches!(&asked, Some(Err(LedgerFault::Server { detail })) if detail.contains("another ledger")),
        "{asked:?}"
    );
    assert_eq!(events(), before, "nothing was written there");
}

fn unreachable_or_ok(said: &Result<(), LedgerFault>) -> bool {
    matches!(said, Ok(()) | Err(LedgerFault::Unreachable { .. }))
}

#[test]
fn while_the_server_is_away_everybody_hears_so_at_once_and_nothing_is_shut() {
    let (world, way) = at_the_end_of_a_line();
    way.cut_after(0, Cut::Before);
    assert!(unreachable(&world.ledger().flush()));
    way.cut_after(0, Cut::Before);
    let begun = std::time::Instant::now();
    for _ in 0..20 {
        assert!(unreachable(&world.ledger().sweep()));
        way.cut_after(0, Cut::Before);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "each looked for it by itself");
    way.mend();
    while world.ledger().flush().is_err() {
        thread::yield_now();
    }
    world.buy(errand("a"), CENT);
}
