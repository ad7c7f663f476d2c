//! Damaged ledgers: what can be rebuilt is rebuilt whole, what cannot is left as it is.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rusqlite::Connection;

use super::world::{CENT, World, errand, money, place};
use crate::ledger::{Begun, HANDLE_LIFE_S, Inspector, LedgerFault, Lock, Redeemed, RowState};
use crate::protocol::{ChainProof, ChainVerdict};

fn file(world: &World) -> PathBuf {
    world.dir.path().join("ledger.sqlite")
}

fn recover(world: &World) -> Result<Begun, LedgerFault> {
    let place = place(world.dir.path());
    Lock::take(&place.lock).unwrap().recover(&place, Box::new(world.time.clone()))
}

/// A ledger with a bit of everything, closed.
fn lived() -> World {
    let mut world = World::new("", "10 USD");
    for number in 0..30 {
        world.buy(errand(&format!("paid-{number}")), CENT);
    }
    let lost = world.authorize(errand("lost"), 2 * CENT).unwrap();
    world.sign(&lost);
    drop(lost);
    world.time.pass(1000);
    world.ledger().sweep().unwrap();
    let open = world.authorize(errand("open"), 3 * CENT).unwrap();
    world.sign(&open);
    drop(open);
    world.ledger().freeze("odd bills").unwrap();
    world.ledger().verify().unwrap();
    world.close();
    world
}

#[test]
fn what_a_chain_proved_is_recovered_and_stays_out_of_every_total() {
    let mut world = lived();
    world.reopen();
    let chain = bursar_policy::ChainId::BASE_SEPOLIA;
    let far_s = world.time.now_s().saturating_add(100_000);
    let lost = world.ledger().doubts(chain, far_s, 100).unwrap().into_iter().find(|doubt| doubt.claimed.is_none());
    let proof = ChainProof {
        verdict: ChainVerdict::Unused,
        block: 7,
        hash: format!("0x{}", "7".repeat(64)),
        block_s: far_s,
        transaction: None,
        witnesses: 1,
        denies: false,
        proved_s: 0,
    };
    world.ledger().prove(&lost.unwrap().of, proof, world.rules.breaker()).unwrap();
    assert_eq!(world.spent(), money("0.33 USD"));
    world.close();
    spoil(&world, "tally");
    recover(&world).unwrap();
    world.reopen();
    world.ledger().verify().unwrap();
    assert_eq!(world.spent(), money("0.33 USD"));
    assert_eq!(world.ledger().doubts(chain, far_s, 100).unwrap().len(), 31, "the rest can still be proved");
}

/// Spoils every page of one index or table, as a bad sector does.
fn spoil(world: &World, name: &str) {
    let conn = Connection::open(file(world)).unwrap();
    let root: u32 =
        conn.query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0)).unwrap();
    let size: u32 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    conn.close().unwrap();
    let mut bytes = fs::read(file(world)).unwrap();
    let page =
        bytes.chunks_mut(usize::try_from(size).unwrap()).nth(usize::try_from(root).unwrap().saturating_sub(1)).unwrap();
    page[..200].fill(0xA5);
    fs::write(file(world), bytes).unwrap();
}

#[test]
fn a_spoilt_index_is_rebuilt_with_everything_in_it_and_the_damaged_file_is_kept() {
    for index in ["payment_identity", "event_payment", "payment_nonce", "approval_due"] {
        let mut world = lived();
        spoil(&world, index);
        let damaged = fs::read(file(&world)).unwrap();
        assert!(Inspector::open(&place(world.dir.path())).and_then(|found| found.pages()).is_err(), "{index}");
        let begun = recover(&world).unwrap();
        assert_eq!((begun.epoch, begun.payments, begun.counted), (2, 32, 1), "{index}");
        assert_eq!(fs::read(begun.kept.unwrap()).unwrap(), damaged);
        world.reopen();
        assert_eq!(world.ledger().latched(), None);
        assert_eq!(world.spent(), money("0.35 USD"));
        assert_eq!(world.ledger().verify().unwrap().epoch, 2);
        let overview = world.ledger().overview(None, &world.rules).unwrap();
        assert_eq!(overview.frozen.as_deref(), Some("odd bills"), "what a person stopped stays stopped");
        assert!(world.ledger().sessions().unwrap().iter().all(|session| session.closed));
    }
}

#[test]
fn totals_that_were_lost_are_worked_out_anew() {
    for table in ["tally", "spent", "familiar", "likeness", "breaker"] {
        let mut world = lived();
        spoil(&world, table);
        recover(&world).unwrap();
        world.reopen();
        assert_eq!(world.spent(), money("0.35 USD"), "{table}");
        world.ledger().verify().unwrap();
    }
}

#[test]
fn what_the_log_cannot_prove_is_not_recovered_and_nothing_is_touched() {
    for table in ["event", "payment", "session"] {
        let world = lived();
        spoil(&world, table);
        let damaged = fs::read(file(&world)).unwrap();
        let fault = recover(&world).unwrap_err();
        assert!(
            matches!(fault, LedgerFault::BeyondRepair { .. } | LedgerFault::Books { .. } | LedgerFault::Corrupt { .. }),
            "{table}: {fault:?}"
        );
        assert_eq!(fs::read(file(&world)).unwrap(), damaged);
        let names = fs::read_dir(world.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        assert!(!names.iter().any(|name| name.contains(".kept-") || name.contains(".new")), "{names:?}");
    }
}

#[test]
fn a_row_that_was_changed_by_hand_is_not_made_good_by_a_recovery() {
    let world = lived();
    let conn = Connection::open(file(&world)).unwrap();
    super::tamper::forge(&conn, &["payment_story"], "UPDATE payment SET payee = payer WHERE seq = 3");
    conn.close().unwrap();
    assert!(matches!(recover(&world), Err(LedgerFault::Books { .. })));
}

#[test]
fn a_whole_ledger_is_left_alone() {
    let world = lived();
    assert!(matches!(recover(&world), Err(LedgerFault::Whole { .. })));
}

#[test]
fn a_ledger_that_lost_its_write_ahead_log_goes_on_by_hand_only() {
    let mut world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    world.close();
    let early = fs::read(file(&world)).unwrap();
    world.reopen();
    world.buy(errand("b"), CENT);
    world.close();
    fs::write(file(&world), early).unwrap();
    assert!(Inspector::open(&place(world.dir.path())).unwrap().set_back().is_some());
    let begun = recover(&world).unwrap();
    assert_eq!((begun.epoch, begun.payments), (2, 1));
    assert!(0 < begun.missing, "{begun:?}");
    world.reopen();
    assert_eq!(world.ledger().latched(), None);
    assert!(world.ledger().sessions().unwrap().iter().all(|session| session.closed));
}

/// A ledger that was put back from before a handle was redeemed and signed for, as it is opened.
fn put_back_to_before_a_handle_was_redeemed() -> World {
    let mut world = World::new("", "10 USD");
    let (handle, _) = world.hold(errand("a"), CENT).unwrap();
    world.ledger().flush().unwrap();
    let wal = file(&world).with_extension("sqlite-wal");
    let early = (fs::read(file(&world)).unwrap(), fs::read(&wal).unwrap());
    let Redeemed::First { reservation, .. } = world.redeem(handle, "a") else { panic!("not redeemed") };
    world.sign(&reservation);
    drop(reservation);
    world.close();
    super::backups::lose(&world);
    fs::write(file(&world), early.0).unwrap();
    fs::write(&wal, early.1).unwrap();
    for path in [file(&world), wal] {
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
    world
}

#[test]
fn in_a_ledger_that_was_set_back_what_was_held_stays_counted() {
    for put_right in [recover_and_reopen, unlatch] {
        let mut world = put_back_to_before_a_handle_was_redeemed();
        world.reopen();
        assert!(world.ledger().latched().is_some());
        for _ in 0..2 {
            world.ledger().flush().unwrap();
            assert_eq!(world.spent(), money("0.01 USD"), "the signature of another time can be cashed");
            world.time.pass(HANDLE_LIFE_S);
            world.ledger().sweep().unwrap();
        }
        put_right(&mut world);
        assert_eq!(world.ledger().latched(), None);
        world.time.pass(1000);
        world.ledger().sweep().unwrap();
        assert_eq!(world.spent(), money("0.01 USD"));
        let states: Vec<RowState> = world.ledger().payments(10, None).unwrap().iter().map(|past| past.state).collect();
        assert_eq!(states, [RowState::PresumedSpent]);
        world.ledger().verify().unwrap();
    }
}

fn recover_and_reopen(world: &mut World) {
    world.close();
    recover(world).unwrap();
    world.reopen();
    unlatch(world);
}

fn unlatch(world: &mut World) {
    world.ledger().unlatch().unwrap();
}

#[test]
fn a_torn_write_ahead_log_gives_what_was_whole_in_it_and_nothing_of_the_rest() {
    let mut world = World::new("", "10 USD");
    for number in 0..20 {
        world.buy(errand(&format!("paid-{number}")), CENT);
    }
    world.ledger().flush().unwrap();
    let (whole, log) = (fs::read(file(&world)).unwrap(), fs::read(file(&world).with_extension("sqlite-wal")).unwrap());
    world.close();
    fs::write(file(&world), whole).unwrap();
    fs::remove_file(file(&world).with_extension("sqlite-shm")).unwrap_or_default();
    let torn = file(&world).with_extension("sqlite-wal");
    fs::write(&torn, &log[..log.len().div_euclid(2).saturating_sub(77)]).unwrap();
    let begun = recover(&world).unwrap();
    assert!(0 < begun.missing && begun.payments < 20 && 0 < begun.payments, "{begun:?}");
    world.reopen();
    assert_eq!(world.ledger().latched(), None);
    world.ledger().verify().unwrap();
}
