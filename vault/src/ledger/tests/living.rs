//! What a start sees at once of a large ledger that somebody changed by hand, and what only the check beside the work sees.

use std::fs;

use bursar_policy::errand::SessionId;
use rusqlite::Connection;
use tempfile::TempDir;

use super::tamper::forge;
use super::world::{CENT, World, errand, money, place};
use crate::ledger::audit::living::FEW_EVENTS;
use crate::ledger::{Event, EventKind, Inspector, Ledger, LedgerFault, Looked};

/// A closed ledger with more events than are all looked at: an old settled payment and an old open one, a long log, a new
/// settled payment, and a freeze.
fn large() -> World {
    let mut world = World::new("", "10 USD");
    world.buy(errand("old"), CENT);
    world.sign(&world.authorize(errand("open"), 2 * CENT).unwrap());
    let over = SessionId::from_random([6; 16]);
    world.ledger().open_session(over, "over".parse().unwrap(), money("1 USD"), 100, None).unwrap();
    world.ledger().close_session("over".parse().unwrap()).unwrap();
    assert!(matches!(world.ledger().look(), Ok(Looked::Whole(_))), "a small one is looked at wholly");
    for _ in 0..FEW_EVENTS {
        world.ledger().note(Event::new(EventKind::Note, "time goes by"));
    }
    world.buy(errand("new"), CENT);
    world.ledger().freeze("odd bills").unwrap();
    assert!(matches!(world.ledger().look(), Ok(Looked::Living)));
    world.ledger().verify().unwrap();
    world.close();
    world
}

/// A copy of the ledger, changed by hand.
fn changed(world: &World, guards: &[&str], sql: &str) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let file = place(copy.path()).file;
    fs::copy(place(world.dir.path()).file, &file).unwrap();
    forge(&Connection::open(&file).unwrap(), guards, sql);
    copy
}

const ZERO: &str = "printf('%039d', 0)";

#[test]
fn whatever_decides_what_may_be_spent_now_is_seen_at_the_start_of_a_large_ledger() {
    let world = large();
    let of = |path: &str| format!("url = 'https://api.example.com/{path}'");
    let forgeries: [(&[&str], String); 11] = [
        (&[], format!("UPDATE tally SET pending = {ZERO}, pending_count = 0 WHERE key = 'all|USD'")),
        (&[], format!("UPDATE tally SET pending = {ZERO}, pending_count = 0 WHERE key LIKE 'host|%|USD'")),
        (&["tally_grows"], format!("UPDATE tally SET spent = {ZERO}, spent_count = 0 WHERE key = 'all|USD'")),
        (&["spent_story"], format!("UPDATE spent SET total = {ZERO} WHERE key LIKE 'session|%|USD' AND seq = 2")),
        (&["session_story"], "UPDATE session SET budget = '9' || substr(budget, 2)".to_owned()),
        (&["session_story"], "UPDATE session SET closed_s = NULL WHERE name = 'over'".to_owned()),
        (&[], "UPDATE meta SET frozen = NULL".to_owned()),
        (&["payment_moves"], format!("UPDATE payment SET state = 'voided', ended_s = 1 WHERE {}", of("open"))),
        (&["payment_story"], format!("UPDATE payment SET payee = payer WHERE {}", of("open"))),
        (&["payment_story"], format!("UPDATE payment SET payee = payer WHERE {}", of("new"))),
        (&["event_story"], "UPDATE event SET detail = 'x' WHERE kind = 'frozen'".to_owned()),
    ];
    for (guards, sql) in &forgeries {
        let copy = changed(&world, guards, sql);
        let seen = Ledger::open(&place(copy.path()), Box::new(world.time.clone())).and_then(|ledger| ledger.look());
        assert!(matches!(seen, Err(LedgerFault::Books { .. })), "not seen: {sql}: {seen:?}");
    }
}

#[test]
fn what_is_old_and_over_is_seen_beside_the_work() {
    let world = large();
    let forgeries: [(&[&str], &str); 4] = [
        (&["payment_story"], "UPDATE payment SET payee = payer WHERE seq = 1"),
        (&["event_story"], "UPDATE event SET at_s = at_s + 1 WHERE seq = 3"),
        (&["spent_story"], "UPDATE spent SET at_s = at_s - 86400 WHERE key = 'all|USD' AND seq = 1"),
        (&["familiar_story"], "UPDATE familiar SET kind = 'asset' WHERE kind = 'network'"),
    ];
    for (guards, sql) in forgeries {
        let copy = changed(&world, guards, sql);
        let at = place(copy.path());
        let ledger = Ledger::open(&at, Box::new(world.time.clone())).unwrap();
        assert_eq!(ledger.look(), Ok(Looked::Living), "{sql}");
        let found = Inspector::open(&at).unwrap().whole();
        assert!(matches!(found, Err(LedgerFault::Books { .. })), "not found: {sql}: {found:?}");
    }
}

#[test]
fn a_page_that_makes_no_sense_is_found_beside_the_work_or_when_it_is_read() {
    let world = large();
    let copy = changed(&world, &[], "SELECT 1");
    let file = place(copy.path()).file;
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    // The head of a b-tree page in the middle of the long log.
    bytes[middle..middle + 8].fill(0xff);
    fs::write(&file, &bytes).unwrap();
    let ledger = Ledger::open(&place(copy.path()), Box::new(world.time.clone())).unwrap();
    assert_eq!(ledger.look(), Ok(Looked::Living));
    let found = Inspector::open(&place(copy.path())).unwrap().whole();
    assert!(matches!(found, Err(LedgerFault::Corrupt { .. })), "{found:?}");
    assert!(ledger.verify().is_err());
}
