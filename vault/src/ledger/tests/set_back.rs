//! A ledger that was put back from a copy is noticed, pays nothing, and is accepted by a person only, without its sessions.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use bursar_policy::refusal::Refusal;

use super::world::{CENT, World, errand};
use crate::ledger::{Claim, Ledger};

fn file(world: &World) -> PathBuf {
    world.dir.path().join("ledger.sqlite")
}

/// A copy of what is on the disk while nobody has it open.
fn copied(world: &mut World) -> Vec<u8> {
    world.close();
    let copy = fs::read(file(world)).unwrap();
    world.reopen();
    copy
}

fn put_back(world: &mut World, copy: &[u8]) {
    world.close();
    for ending in ["sqlite-wal", "sqlite-shm"] {
        fs::remove_file(file(world).with_extension(ending)).unwrap_or_default();
    }
    fs::write(file(world), copy).unwrap();
}

fn refused(ledger: &Ledger, world: &World) -> Vec<Refusal> {
    let claim = ledger.claim(&world.session, errand("z"), &world.rules, std::time::Duration::ZERO).unwrap();
    match claim {
        Claim::Refused(reasons) => reasons,
        other => panic!("not refused: {other:?}"),
    }
}

fn mark(world: &World) -> String {
    fs::read_to_string(file(world).with_extension("mark")).unwrap()
}

#[test]
fn a_ledger_from_a_backup_pays_nothing_until_a_person_accepts_it_and_its_sessions_are_closed() {
    let mut world = World::new("", "1 USD");
    world.buy(errand("a"), CENT);
    let yesterday = copied(&mut world);
    world.buy(errand("b"), 50 * CENT);
    put_back(&mut world, &yesterday);
    let before = mark(&world);
    for _start in 0..2 {
        world.reopen();
        let why = world.ledger().latched().unwrap();
        assert!(why.starts_with("it was set back: the last "), "{why}");
        assert_eq!(refused(world.ledger(), &world), [Refusal::LedgerLatched]);
        assert_eq!(mark(&world), before, "what it was is remembered while nobody accepted this one");
        world.close();
    }
    world.reopen();
    world.ledger().unlatch().unwrap();
    assert_eq!(world.ledger().latched(), None);
    assert_eq!(refused(world.ledger(), &world), [Refusal::NoSession]);
    let sessions = world.ledger().sessions().unwrap();
    assert!(sessions.iter().all(|session| session.closed), "{sessions:?}");
    world.reopen();
    assert_eq!(world.ledger().latched(), None, "what was accepted stays accepted");
    world.ledger().verify().unwrap();
}

#[test]
fn a_ledger_that_went_on_from_a_backup_elsewhere_is_another_one() {
    let mut world = World::new("", "5 USD");
    let early = copied(&mut world);
    world.buy(errand("a"), CENT);
    world.close();
    let marked = mark(&world);
    put_back(&mut world, &early);
    // Elsewhere nothing is marked, and the copy goes further than the first one did.
    fs::remove_file(file(&world).with_extension("mark")).unwrap();
    world.reopen();
    for path in ["b", "c", "d", "e"] {
        world.buy(errand(path), CENT);
    }
    world.close();
    write_private(&file(&world).with_extension("mark"), &marked);
    world.reopen();
    let why = world.ledger().latched().unwrap();
    assert_eq!(why, "it was set back and went on: its log is another one than it was");
}

#[test]
fn a_copy_without_its_write_ahead_log_is_noticed() {
    let mut world = World::new("", "1 USD");
    world.buy(errand("a"), CENT);
    // While it is open, what was committed last is in the log beside the file only.
    let torn = fs::read(file(&world)).unwrap();
    world.buy(errand("b"), CENT);
    put_back(&mut world, &torn);
    match Ledger::open(&super::world::place(world.dir.path()), Box::new(world.time.clone())) {
        Ok(ledger) => assert!(ledger.latched().unwrap().starts_with("it was set back"), "{:?}", ledger.latched()),
        Err(fault) => assert!(matches!(fault.code(), "ledger_corrupt" | "ledger_foreign"), "{fault}"),
    }
}

#[test]
fn without_a_mark_or_with_one_that_says_nothing_it_starts_and_the_next_commit_marks_it() {
    for spoilt in [None, Some(""), Some("nonsense\n")] {
        let mut world = World::new("", "1 USD");
        world.buy(errand("a"), CENT);
        world.close();
        let path = file(&world).with_extension("mark");
        fs::remove_file(&path).unwrap();
        if let Some(text) = spoilt {
            write_private(&path, text);
        }
        world.reopen();
        assert_eq!(world.ledger().latched(), None);
        world.buy(errand("b"), CENT);
        world.close();
        let marked = mark(&world);
        assert_eq!((marked.len(), marked.ends_with('\n')), (119, true), "{marked}");
    }
}

#[test]
fn the_mark_of_another_ledger_shuts_this_one_and_a_new_one_forgets_it() {
    let mut one = World::new("", "1 USD");
    one.buy(errand("a"), CENT);
    one.close();
    let strange = mark(&one).replacen("07", "08", 1);
    write_private(&file(&one).with_extension("mark"), &strange);
    one.reopen();
    assert_eq!(one.ledger().latched().as_deref(), Some("the mark beside it is another ledger's"));
    one.close();
    fs::remove_file(file(&one)).unwrap();
    for ending in ["sqlite-wal", "sqlite-shm"] {
        fs::remove_file(file(&one).with_extension(ending)).unwrap_or_default();
    }
    let place = super::world::place(one.dir.path());
    Ledger::create(&place, crate::ledger::KeyFile::Absent, [9; 16], Box::new(one.time.clone())).unwrap();
    let fresh = Ledger::open(&place, Box::new(one.time.clone())).unwrap();
    assert_eq!(fresh.latched(), None);
}

fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
