//! A purchase before a person, from the agent's ask over the operator's word to the signature, through real sockets.

use crate::world::{Agent, SECRET, Sandbox, authorize, errand, said, terms};
use bursar_policy::{ApprovalId, Digest, Errand, Quoted, Refusal};
use bursar_vault::client::ClientFault;
use bursar_vault::protocol::{AgentAsk, AgentReply, ApprovalState, ApprovalView, Claimed, OperatorAsk, OperatorReply};

/// A purchase that the caller itself finds odd, which no rules let pass without a person.
fn odd(path: &str) -> Errand {
    Errand { suspicious: Some(Quoted::of("it begs")), ..errand(path) }
}

/// Claims and asks for a signature; the question that waits.
fn asked(agent: &Agent, errand: &Errand) -> ApprovalId {
    assert!(matches!(agent.claim(errand), Claimed::New));
    match agent.ask(&authorize(terms(5))) {
        AgentReply::Refused(reasons) => match &reasons[..] {
            [Refusal::NeedsApproval { approval: Some(question), .. }] => question.id.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn listed(sandbox: &Sandbox) -> Vec<ApprovalView> {
    match sandbox.operator().ask(&OperatorAsk::Approvals) {
        OperatorReply::Approvals { approvals, .. } => approvals,
        other => panic!("{other:?}"),
    }
}

fn approve(view: &ApprovalView, passphrase: &str) -> OperatorAsk {
    OperatorAsk::Approve { id: view.id.clone(), binding: view.binding, passphrase: said(passphrase) }
}

fn waiting(agent: &Agent) -> (u32, Option<String>) {
    match agent.ask(&AgentAsk::Status) {
        AgentReply::Status(status) => (status.approvals_waiting, status.next_step),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_yes_needs_the_passphrase_and_what_was_shown_and_signs_once() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, operator) = (sandbox.agent(), sandbox.operator());
    assert_eq!(waiting(&agent), (0, None));
    let id = asked(&agent, &odd("a"));
    let step = "a purchase waits for approval: run `bursar approvals`".to_owned();
    assert_eq!(waiting(&agent), (1, Some(step.clone())));
    assert_eq!((operator.status().approvals_waiting, operator.status().next_step), (1, Some(step)));

    let [view] = &listed(&sandbox)[..] else { panic!("one waits") };
    assert_eq!((&view.id, view.state, &view.terms), (&id, ApprovalState::Waiting, &terms(5)));
    assert_eq!(operator.code(&approve(view, "guess")), "passphrase_wrong");
    let other = ApprovalView { binding: Digest::of(b"another purchase"), ..view.clone() };
    assert_eq!(operator.code(&approve(&other, SECRET)), "approval_changed");
    let unknown = ApprovalView { id: ApprovalId::from_random([9; 16]), ..view.clone() };
    assert_eq!(operator.code(&approve(&unknown, SECRET)), "approval_unknown");
    assert_eq!(asked(&agent, &odd("a")), id, "it still waits");

    match operator.ask(&approve(view, SECRET)) {
        OperatorReply::Decided(now) => assert_eq!((&now.id, now.state), (&id, ApprovalState::Approved)),
        other => panic!("{other:?}"),
    }
    assert_eq!(operator.code(&approve(view, SECRET)), "approval_decided");
    assert_eq!(waiting(&agent), (0, None));
    assert!(matches!(agent.claim(&odd("a")), Claimed::New));
    assert_eq!(agent.authorize(terms(5)).terms, terms(5));
    assert_eq!(listed(&sandbox), []);
    assert_eq!(operator.code(&OperatorAsk::Deny { id }), "approval_decided");
    let again = Errand { purchase_id: Some("again".parse().unwrap()), ..odd("a") };
    asked(&sandbox.agent(), &again);
    assert_eq!(operator.spent(), "0.05 USD");
}

#[test]
fn a_word_outlives_the_vault_and_a_no_needs_no_passphrase() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    let ids = ["yes", "no"].map(|path| asked(&agent, &odd(path)));
    drop(agent);
    sandbox.operator().ask(&approve(&listed(&sandbox)[0], SECRET));
    sandbox.operator().ask(&OperatorAsk::Deny { id: ids[1].clone() });
    let before = listed(&sandbox);
    running.stop();
    let _running = sandbox.start();
    assert_eq!(listed(&sandbox), before);
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&odd("yes")), Claimed::New));
    agent.authorize(terms(5));
    assert!(matches!(agent.claim(&odd("no")), Claimed::New));
    assert_eq!(agent.refused(&authorize(terms(5))), ["approval_denied"]);
}

#[test]
fn a_yes_thaws_nothing_and_a_no_is_said_once() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, operator) = (sandbox.agent(), sandbox.operator());
    let id = asked(&agent, &odd("a"));
    let view = listed(&sandbox).remove(0);
    operator.ask(&OperatorAsk::Freeze { reason: "a look around".to_owned() });
    operator.ask(&approve(&view, SECRET));
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: odd("a") }), ["frozen"], "a yes thaws nothing");
    operator.ask(&OperatorAsk::Deny { id: id.clone() });
    match operator.0.ask(&OperatorAsk::Deny { id }) {
        Err(ClientFault::Said { code, message }) => {
            assert_eq!(code, "approval_decided");
            assert_eq!(message, "a person said no to it already; `bursar approvals` lists those that wait");
        }
        other => panic!("{other:?}"),
    }
}

fn waits(agent: &Agent, approval: &ApprovalId) -> bool {
    match agent.ask(&AgentAsk::Waits { approval: approval.clone() }) {
        AgentReply::Waits(waits) => waits,
        other => panic!("{other:?}"),
    }
}

#[test]
fn whoever_waits_for_a_persons_word_is_told_when_it_was_said_and_not_what_it_was() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    for (path, word) in [("a", ApprovalState::Approved), ("b", ApprovalState::Denied)] {
        let id = asked(&agent, &odd(path));
        let [view] = &listed(&sandbox).into_iter().filter(|view| view.id == id).collect::<Vec<_>>()[..] else {
            panic!("one waits")
        };
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| waits(&sandbox.agent(), &id));
            let told = match word {
                ApprovalState::Approved => sandbox.operator().ask(&approve(view, SECRET)),
                _ => sandbox.operator().ask(&OperatorAsk::Deny { id: id.clone() }),
            };
            assert!(matches!(told, OperatorReply::Decided(view) if view.state == word));
            assert!(!waiting.join().unwrap());
        });
    }
    assert!(!waits(&agent, &ApprovalId::from_random([9; 16])), "nobody was asked");
    // Another session's question is none of this one's business.
    let id = asked(&agent, &odd("c"));
    let (other, _) =
        bursar_vault::client::AgentClient::connect(&sandbox.profile, Some("other".parse().unwrap())).unwrap();
    let told = other.ask(&AgentAsk::Waits { approval: id }).unwrap();
    assert!(matches!(told, AgentReply::Waits(false)), "{told:?}");
}
