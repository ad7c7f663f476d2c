//! An operator waits for the next events: they come as they happen, and nobody is held up by the waiting.

use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply};
use bursar_vault::setup::Unlocking;
use std::thread;

use crate::world::{Operator, Sandbox};

fn next(operator: &Operator, after: u64) -> Vec<LogEntry> {
    match operator.ask(&OperatorAsk::Next { after }) {
        OperatorReply::Log(entries) => entries,
        other => panic!("{other:?}"),
    }
}

/// The last event that is there.
fn last(operator: &Operator) -> u64 {
    match operator.ask(&OperatorAsk::Log { limit: 1, after: None }) {
        OperatorReply::Log(entries) => entries.first().unwrap().seq,
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_waits_hears_of_an_event_while_another_operator_makes_it() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let running = sandbox.start();
    let (watching, acting) = (sandbox.operator(), sandbox.operator());
    let seen = last(&acting);
    let heard = thread::spawn(move || next(&watching, seen));
    let froze = acting.ask(&OperatorAsk::Freeze { reason: "to be heard of".to_owned() });
    assert!(matches!(froze, OperatorReply::Done), "{froze:?}");
    let heard = heard.join().unwrap();
    assert_eq!(heard.first().unwrap().seq.checked_sub(seen), Some(1));
    assert!(heard.iter().any(|entry| entry.kind == "frozen" && entry.detail == "to be heard of"), "{heard:?}");
    assert_eq!(next(&acting, seen).first(), heard.first(), "what is there already is not waited for");
    running.stop();
}

#[test]
fn a_vault_that_ends_lets_everybody_go_who_waits() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let running = sandbox.start();
    let watching = sandbox.operator();
    let far = last(&watching).saturating_add(1000);
    let heard = thread::spawn(move || watching.0.ask(&OperatorAsk::Next { after: far }).is_ok());
    running.stop();
    // With an empty answer or without one, but not after the 20 seconds that it may wait: a stop waits for 10.
    heard.join().unwrap();
}
