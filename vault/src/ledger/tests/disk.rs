//! What is called durable is on the disk, and what need not be is not waited for.

use std::fs;

use super::world::{CENT, Fake, World, errand, place};
use crate::ledger::{Answer, Event, EventKind, KeyFile, Ledger, LedgerFault, events, mark, open};

/// A ledger whose journal has no name any more: commits go to it all the same, and nothing can bring it to the disk.
fn out_of_reach(dir: &std::path::Path) -> Ledger {
    let (place, time) = (place(dir), Box::new(Fake::new()));
    Ledger::create(&place, KeyFile::Absent, [7; 16], time.clone()).unwrap();
    let lock = open::lock(&place.lock).unwrap();
    let conn = open::open(&place, open::Pages::All).unwrap();
    fs::remove_file(dir.join("ledger.sqlite-wal")).unwrap();
    Ledger::begin(conn, lock, &place, time).unwrap()
}

fn noted<T>(ledger: &Ledger, answer: fn(()) -> Answer<()>, then: fn(()) -> T) -> Result<T, LedgerFault> {
    let note = Event::new(EventKind::Note, "written");
    ledger.writer.ask(move |tx| tx.event(&note).map(answer)).map(then)
}

#[test]
fn nothing_is_called_durable_that_did_not_reach_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = out_of_reach(dir.path());
    let refused = noted(&ledger, Answer::Durable, |()| ());
    assert!(matches!(&refused, Err(LedgerFault::Storage { detail }) if detail.contains("to the disk")), "{refused:?}");
    assert!(ledger.latched().is_some(), "whatever else is asked, nothing is paid");
    assert!(ledger.flush().is_err(), "and it does not get better by asking again");
}

#[test]
fn what_only_has_to_outlive_the_process_does_not_wait_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = out_of_reach(dir.path());
    noted(&ledger, Answer::AfterCommit, |()| ()).unwrap();
    assert!(ledger.log(500, Some(0)).unwrap().iter().any(|entry| entry.detail == "written"));
}

#[test]
fn what_was_written_and_not_waited_for_reaches_the_disk_by_itself_or_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = out_of_reach(dir.path());
    noted(&ledger, Answer::AfterCommit, |()| ()).unwrap();
    // Nobody asks for the disk; the thread does when it is time, and finds that it is out of reach.
    while ledger.latched().is_none() {
        std::thread::yield_now();
    }
}

#[test]
fn whatever_is_durable_is_behind_the_mark() {
    let world = World::new("", "1 USD");
    let exposed = world.authorize(errand("a"), CENT).unwrap();
    let head = world.ledger().writer.ask(|tx| events::head(tx.conn).map(Answer::AtOnce)).unwrap();
    let marked = mark::read_beside(&place(world.dir.path()).file).unwrap().1;
    assert!(marked.seq != 0 && head.seq <= marked.seq, "{marked:?} is behind {head:?}");
    world.sign(&exposed);
    world.ledger().flush().unwrap();
    let head = world.ledger().writer.ask(|tx| events::head(tx.conn).map(Answer::AtOnce)).unwrap();
    assert_eq!(mark::read_beside(&place(world.dir.path()).file).unwrap().1, head);
}
