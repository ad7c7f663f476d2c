//! Backups: what comes back is the same books, begun anew; nothing older takes the place of anything newer, and no second
//! ledger gets beside a key.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::world::{CENT, World, errand, money, place};
use crate::ledger::{Begun, Inspector, Kept, LedgerFault, Lock, Redeemed, RowState, Unredeemable, write_backup};
use crate::protocol::Passphrase;

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(Zeroizing::new(text.to_owned()))
}

fn back_up(world: &World, name: &str) -> PathBuf {
    let path = world.dir.path().join(name);
    write_backup(&place(world.dir.path()), &passphrase("sealed"), &mut File::create(&path).unwrap()).unwrap();
    path
}

fn restore_with(world: &World, from: &Path, id: &str, with: &str) -> Result<Begun, LedgerFault> {
    let place = place(world.dir.path());
    let lock = Lock::take(&place.lock).unwrap();
    lock.restore(&place, id, from, &passphrase(with), Box::new(world.time.clone()))
}

fn restore(world: &World, from: &Path) -> Result<Begun, LedgerFault> {
    restore_with(world, from, &"07".repeat(16), "sealed")
}

/// Takes the ledger and its side files away, as a lost disk does.
pub(super) fn lose(world: &World) {
    for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
        fs::remove_file(world.dir.path().join(name)).unwrap_or_default();
    }
}

#[test]
fn a_backup_of_a_running_ledger_comes_back_with_its_open_payments_spent_and_its_sessions_closed() {
    let mut world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    let exposed = world.authorize(errand("b"), 2 * CENT).unwrap();
    world.sign(&exposed);
    let (handle, _prepared) = world.hold(errand("c"), 3 * CENT).unwrap();
    world.ledger().flush().unwrap();
    let before = world.ledger().verify().unwrap();
    let file = back_up(&world, "one.age");
    let sealed = fs::read(&file).unwrap();
    assert!(sealed.starts_with(b"age-encryption.org/v1\n"));
    drop(exposed);
    world.close();
    lose(&world);

    let begun = restore(&world, &file).unwrap();
    assert_eq!((begun.epoch, begun.payments, begun.counted), (2, 3, 2));
    assert_eq!((begun.events, begun.kept), (before.events, None));
    world.reopen();
    assert_eq!(world.ledger().latched(), None);
    let books = world.ledger().verify().unwrap();
    assert_eq!((books.payments, books.epoch), (3, 2));
    assert_eq!(world.spent(), money("0.06 USD"));
    assert!(matches!(world.redeem(handle, "c"), Redeemed::Not(Unredeemable::Expired)), "nobody knows who has it");
    assert!(world.ledger().sessions().unwrap().iter().all(|session| session.closed));
    let states: Vec<RowState> = world.ledger().payments(10, None).unwrap().iter().map(|past| past.state).collect();
    assert_eq!(states, [RowState::Settled, RowState::PresumedSpent, RowState::PresumedSpent]);
    assert_eq!(
        fs::read_dir(world.dir.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(),
        0
    );
}

#[test]
fn money_that_is_held_for_a_host_never_paid_before_is_in_a_backup_too() {
    let mut world = World::new("", "10 USD");
    world.hold(errand("first"), 3 * CENT).unwrap();
    let backup = back_up(&world, "one.age");
    lose(&world);
    world.close();
    let begun = restore(&world, &backup).unwrap();
    assert_eq!((begun.payments, begun.counted), (1, 1));
    world.reopen();
    assert_eq!(world.spent(), money("0.03 USD"));
    world.ledger().verify().unwrap();
}

#[test]
fn a_backup_takes_the_place_of_an_earlier_state_only_and_that_is_kept() {
    let mut world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    world.ledger().flush().unwrap();
    let early = back_up(&world, "early.age");
    world.close();
    let same = restore(&world, &early);
    assert!(matches!(same, Err(LedgerFault::NotOlder { .. })), "{same:?}");
}

#[test]
fn a_newer_backup_replaces_an_older_ledger_which_is_kept() {
    let mut world = World::new("", "10 USD");
    world.ledger().flush().unwrap();
    world.close();
    let file = world.dir.path().join("ledger.sqlite");
    let old = fs::read(&file).unwrap();
    world.reopen();
    world.buy(errand("a"), CENT);
    world.ledger().flush().unwrap();
    let late = back_up(&world, "late.age");
    world.close();
    fs::write(&file, &old).unwrap();
    let begun = restore(&world, &late).unwrap();
    assert_eq!(fs::read(begun.kept.unwrap()).unwrap(), old);
    world.reopen();
    assert_eq!((world.ledger().latched(), world.spent()), (None, money("0.01 USD")));
}

#[test]
fn a_backup_of_another_ledger_with_another_passphrase_or_changed_changes_nothing() {
    let mut world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    world.ledger().flush().unwrap();
    let file = back_up(&world, "one.age");
    world.close();
    let kept = fs::read(world.dir.path().join("ledger.sqlite")).unwrap();
    lose(&world);
    let code = |found: Result<Begun, LedgerFault>| found.unwrap_err().code();
    assert_eq!(code(restore_with(&world, &file, &"08".repeat(16), "sealed")), "other_ledger");
    assert_eq!(code(restore_with(&world, &file, &"07".repeat(16), "guessed")), "backup_passphrase");
    let mut cut = fs::read(&file).unwrap();
    cut.truncate(cut.len() - 100);
    fs::write(&file, &cut).unwrap();
    assert_eq!(code(restore(&world, &file)), "backup_damaged");
    fs::write(&file, b"nothing of the kind\n").unwrap();
    assert_eq!(code(restore(&world, &file)), "backup_foreign");
    assert!(matches!(Inspector::open(&place(world.dir.path())), Err(LedgerFault::Missing { .. })));
    fs::write(world.dir.path().join("ledger.sqlite"), kept).unwrap();
}

#[test]
fn nothing_is_restored_or_recovered_while_a_vault_has_the_ledger() {
    let world = World::new("", "10 USD");
    let taken = Lock::take(&place(world.dir.path()).lock).unwrap_err();
    assert!(matches!(taken, LedgerFault::InUse { .. }), "{taken:?}");
}

#[test]
fn a_ledger_whose_books_do_not_balance_is_not_backed_up() {
    let world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    world.ledger().flush().unwrap();
    let conn = rusqlite::Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
    super::tamper::forge(&conn, &["payment_story"], "UPDATE payment SET payee = payer");
    let path = world.dir.path().join("x.age");
    let place = place(world.dir.path());
    let found = write_backup(&place, &passphrase("sealed"), &mut File::create(&path).unwrap());
    assert!(matches!(found, Err(LedgerFault::Books { .. })), "{found:?}");
    assert!(Inspector::open(&place).unwrap().verify(Kept::default(), &mut |_progress| ()).is_err());
}

#[test]
fn what_an_interrupted_backup_left_is_not_taken_for_anything_and_not_removed_unseen() {
    let world = World::new("", "10 USD");
    let folder = world.dir.path().join("ledger.sqlite.copy");
    fs::create_dir(&folder).unwrap();
    let path = world.dir.path().join("x.age");
    let found = write_backup(&place(world.dir.path()), &passphrase("sealed"), &mut File::create(&path).unwrap());
    assert!(found.unwrap_err().to_string().contains("an interrupted one left this folder"));
    assert!(folder.exists());
}

#[test]
fn the_journal_of_a_lost_ledger_is_not_taken_for_the_restored_ones() {
    let mut world = World::new("", "10 USD");
    world.buy(errand("a"), CENT);
    world.ledger().flush().unwrap();
    let backup = back_up(&world, "one.age");
    world.buy(errand("b"), 50 * CENT);
    world.ledger().flush().unwrap();
    let wal = world.dir.path().join("ledger.sqlite-wal");
    let stale = fs::read(&wal).unwrap();
    world.close();
    lose(&world);
    fs::write(&wal, &stale).unwrap();
    let begun = restore(&world, &backup).unwrap();
    assert!(0 < begun.missing, "{begun:?}");
    assert_eq!(fs::read(begun.kept.unwrap().with_extension("kept-1-wal")).unwrap(), stale);
    world.reopen();
    assert_eq!(world.spent(), money("0.01 USD"));
    world.ledger().verify().unwrap();
}

#[test]
fn a_backup_that_went_another_way_than_the_ledger_here_changes_nothing() {
    let mut world = World::new("", "10 USD");
    world.ledger().flush().unwrap();
    let early = back_up(&world, "early.age");
    for number in 0..9 {
        world.buy(errand(&format!("lost-{number}")), CENT);
    }
    world.ledger().flush().unwrap();
    let late = back_up(&world, "late.age");
    world.close();
    lose(&world);
    restore(&world, &early).unwrap();
    let begun_anew = fs::read(world.dir.path().join("ledger.sqlite")).unwrap();
    let apart = restore(&world, &late);
    assert!(matches!(apart, Err(LedgerFault::WentApart { .. })), "{apart:?}");
    assert_eq!(fs::read(world.dir.path().join("ledger.sqlite")).unwrap(), begun_anew);
}
