//! A ledger that is too long for a look at all of it before the vault serves: the rest is looked at meanwhile.

use std::time::{Duration, Instant};

use bursar_vault::clock::MachineTime;
use bursar_vault::ledger::{Event, EventKind, Ledger};
use bursar_vault::protocol::{AgentAsk, OperatorAsk, OperatorReply};
use rusqlite::Connection;

use crate::world::{Sandbox, delivered, errand, terms};

/// More than a start looks at wholly.
const EVENTS: usize = 20_000;

/// How long the check may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A sandbox with one purchase and a long log after it.
fn after_a_long_time() -> Sandbox {
    let (sandbox, running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    agent.claim(&errand("old"));
    agent.authorize(terms(1));
    agent.report(delivered());
    drop(running);
    let ledger = Ledger::open(&sandbox.profile.ledger_place(), Box::new(MachineTime)).unwrap();
    for _ in 0..EVENTS {
        ledger.note(Event::new(EventKind::Note, "time goes by"));
    }
    ledger.close();
    sandbox
}

/// Waits until `seen` of the vault's status and newest log entries.
fn wait_until(sandbox: &Sandbox, seen: impl Fn(Option<String>, &str) -> bool) {
    let give_up = Instant::now().checked_add(PATIENCE).unwrap();
    loop {
        let operator = sandbox.operator();
        let OperatorReply::Log(entries) = operator.ask(&OperatorAsk::Log { limit: 20, after: None }) else {
            panic!("out of turn")
        };
        let newest: String = entries.into_iter().map(|entry| entry.detail).collect();
        if seen(operator.status().latched, &newest) {
            return;
        }
        assert!(Instant::now() < give_up, "the check does not end: {newest}");
    }
}

#[test]
fn a_large_ledger_is_served_at_once_and_checked_wholly_meanwhile() {
    let sandbox = after_a_long_time();
    let running = sandbox.start();
    let agent = sandbox.agent();
    agent.claim(&errand("new"));
    agent.authorize(terms(1));
    wait_until(&sandbox, |latched, log| latched.is_none() && log.contains("the whole ledger is in order"));
    drop(running);
    // The next one may be told to end while it is looking.
    drop(sandbox.start());
}

#[test]
fn what_was_changed_long_ago_in_a_large_ledger_shuts_it_when_it_is_found() {
    let sandbox = after_a_long_time();
    let conn = Connection::open(sandbox.profile.ledger()).unwrap();
    let sql = "SELECT sql FROM sqlite_schema WHERE name = 'payment_story'";
    let guard: String = conn.query_row(sql, [], |row| row.get(0)).unwrap();
    conn.execute_batch(&format!("DROP TRIGGER payment_story; UPDATE payment SET payee = payer; {guard}")).unwrap();
    drop(conn);
    let running = sandbox.start();
    wait_until(&sandbox, |latched, _log| latched.is_some_and(|why| why.contains("is not as the log says")));
    let agent = sandbox.agent();
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("new") }), ["ledger_latched"]);
    drop(running);
}
