//! Sharing and restarting: many agents on one vault, one vault on one ledger, and nothing forgotten in between.

use crate::world::{SECRET, Sandbox, authorize, delivered, errand, named, said, terms};
use bursar_vault::chain::NoChains;
use bursar_vault::client::{AgentClient, ClientFault};
use bursar_vault::clock::MachineTime;
use bursar_vault::ledger::LedgerFault;
use bursar_vault::process::{self, Ended, StartFault};
use bursar_vault::protocol::frame::{self, ASK_MAX_BYTES, REPLY_MAX_BYTES};
use bursar_vault::protocol::{AgentAsk, AgentReply, Claimed, OperatorAsk, OperatorReply};
use bursar_vault::setup::Unlocking;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn a_second_vault_on_the_same_ledger_is_refused_and_the_first_lives_on() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let fault =
        process::start(&sandbox.profile, None, Box::new(MachineTime), Arc::new(NoChains)).map(drop).unwrap_err();
    assert!(matches!(fault, StartFault::Ledger(LedgerFault::InUse { .. })), "{fault}");
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::New), "its sockets are untouched");
}

#[test]
fn what_was_signed_still_counts_after_a_restart() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let signed = agent.authorize(terms(80));
    running.stop();
    assert!(agent.0.ask(&AgentAsk::Status).is_err(), "the old conversation is over");
    assert!(matches!(AgentClient::connect(&sandbox.profile, None), Err(ClientFault::NoVault { .. })));

    let _running = sandbox.start();
    assert_eq!(sandbox.operator().spent(), "0.80 USD");
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::Resend(again) if *again == signed));
    assert!(matches!(agent.claim(&errand("b")), Claimed::New));
    let more = authorize(terms(21));
    assert_eq!(agent.refused(&more), ["over_session_budget"]);
    agent.authorize(terms(20));
}

#[test]
fn books_that_do_not_balance_start_a_vault_that_pays_nothing_and_still_tells_why() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    agent.authorize(terms(80));
    agent.report(delivered());
    running.stop();
    let file = rusqlite::Connection::open(sandbox.profile.ledger()).unwrap();
    file.execute("UPDATE tally SET pending_count = 5 WHERE key = 'all|*'", []).unwrap();
    drop(file);

    let _running = sandbox.start();
    let operator = sandbox.operator();
    let why = operator.status().latched.unwrap();
    assert!(why.contains("do not balance (the total `all|*` is not the sum of its payments)"), "{why}");
    match operator.ask(&OperatorAsk::Log { limit: 1, after: None }) {
        OperatorReply::Log(log) => assert_eq!(log.len(), 1),
        other => panic!("{other:?}"),
    }
    let agent = sandbox.agent();
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("b") }), ["ledger_latched"]);
    assert!(matches!(agent.claim(&errand("a")), Claimed::Repeat(_)), "what was bought is still told");
    assert_eq!(operator.code(&OperatorAsk::Unlatch { passphrase: said(SECRET) }), "ledger_books");
}

#[test]
fn ten_agents_at_once_spend_one_budget_and_not_a_cent_more() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let signed: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..10)
            .map(|number| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let agent = sandbox.agent();
                    assert!(matches!(agent.claim(&named("a", &format!("n{number}"))), Claimed::New));
                    let ask = authorize(terms(20));
                    usize::from(matches!(agent.ask(&ask), AgentReply::Authorized(_)))
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert_eq!(signed, 5);
    assert_eq!(sandbox.operator().spent(), "1.00 USD");
}

#[test]
fn ten_identical_calls_at_once_sign_once() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let signed: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..10)
            .map(|_| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let agent = sandbox.agent();
                    match agent.claim(&errand("a")) {
                        Claimed::New => {
                            agent.authorize(terms(20));
                            agent.report(crate::world::delivered());
                            1
                        }
                        Claimed::Repeat(_) => 0,
                        Claimed::Resend(_) => panic!("the first was answered"),
                    }
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert_eq!(signed, 1);
    assert_eq!(sandbox.operator().spent(), "0.20 USD");
}

#[test]
fn a_waiting_agent_that_hangs_up_leaves_its_seat_and_takes_no_claim() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let first = sandbox.agent();
    assert!(matches!(first.claim(&errand("a")), Claimed::New));
    let waiting = sandbox.agent();
    let ask = AgentAsk::Claim { errand: errand("a") };
    frame::write(waiting.0.stream(), &ask, ASK_MAX_BYTES).unwrap();
    drop(waiting);
    first.authorize(terms(5));
    drop(first);
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::Resend(_)), "nobody holds the claim");
}

#[test]
fn stopping_ends_a_held_back_answer() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    let first = sandbox.agent();
    assert!(matches!(first.claim(&errand("a")), Claimed::New));
    let waiting = sandbox.agent();
    let stream = waiting.0.stream();
    frame::write(stream, &AgentAsk::Claim { errand: errand("a") }, ASK_MAX_BYTES).unwrap();
    let begun = Instant::now();
    running.stop();
    assert!(begun.elapsed() < Duration::from_secs(9), "the end waits for nobody who waits for somebody else");
    if let Ok(Some(content)) = frame::read(stream, REPLY_MAX_BYTES, None) {
        let reply: AgentReply = frame::decode(&content).unwrap();
        assert!(matches!(reply, AgentReply::Fault { .. }), "{reply:?}");
    }
}

#[test]
fn a_vault_leaves_when_nothing_is_open_and_nobody_asks() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let running =
        process::start(&sandbox.profile, Some(Duration::ZERO), Box::new(MachineTime), Arc::new(NoChains)).unwrap();
    assert_eq!(running.wait(), Ended::Idle);
}

#[test]
fn a_vault_stays_while_a_session_is_open() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    running.stop();
    let running =
        process::start(&sandbox.profile, Some(Duration::ZERO), Box::new(MachineTime), Arc::new(NoChains)).unwrap();
    let operator = sandbox.operator();
    for _ in 0..200 {
        assert!(matches!(operator.ask(&OperatorAsk::SessionList), OperatorReply::Sessions(_)));
    }
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    agent.authorize(terms(5));
    operator.ask(&OperatorAsk::SessionClose { name: crate::world::name("default") });
    for _ in 0..200 {
        let open = operator.status().unresolved;
        assert_eq!(open.len(), 1, "and while a payment is unresolved");
        let asked = format!("{}{}", open[0].origin, open[0].path);
        assert!(asked.starts_with("https://api.example.com/"), "{asked}");
    }
    agent.report(crate::world::delivered());
    assert_eq!(running.wait(), Ended::Idle);
}

#[test]
fn the_operator_can_end_it() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    assert!(matches!(sandbox.operator().ask(&OperatorAsk::Shutdown), OperatorReply::Done));
    assert_eq!(running.wait(), Ended::Asked);
    running.stop();
    assert!(!sandbox.profile.agent_sock().exists() && !sandbox.profile.operator_sock().exists());
}
