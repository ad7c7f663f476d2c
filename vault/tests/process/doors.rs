//! The three sockets: private, with rights that do not mix, and with room for the operator whatever agents do.

use crate::world::{Sandbox, errand, said};
use bursar_policy::{ApprovalId, Digest};
use bursar_vault::chain::NoChains;
use bursar_vault::client::{ClientFault, OperatorClient};
use bursar_vault::protocol::frame::{self, ASK_MAX_BYTES, REPLY_MAX_BYTES};
use bursar_vault::protocol::{AgentAsk, AgentReply, Claimed, OperatorAsk, OperatorReply, PROTOCOL};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

fn fault_code(stream: &UnixStream) -> String {
    let content = frame::read(stream, REPLY_MAX_BYTES, None).unwrap().unwrap();
    let reply: serde_json::Value = serde_json::from_slice(&content).unwrap();
    reply.pointer("/fault/code").unwrap().as_str().unwrap().to_owned()
}

#[test]
fn sockets_and_their_directory_are_private() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let mode = |path| std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(sandbox.profile.run_dir()), 0o700);
    assert_eq!(mode(sandbox.profile.agent_sock()), 0o600);
    assert_eq!(mode(sandbox.profile.operator_sock()), 0o600);
    assert_eq!(mode(sandbox.profile.glue_sock()), 0o600);
}

#[test]
fn an_operators_words_mean_nothing_on_the_agents_socket_and_the_reverse() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    for ask in [
        OperatorAsk::Shutdown,
        OperatorAsk::Lock,
        OperatorAsk::SessionList,
        OperatorAsk::Freeze { reason: String::new() },
        OperatorAsk::Resumable { whom: "https://api.example.com".to_owned() },
        OperatorAsk::Resume {
            whom: "https://api.example.com".to_owned(),
            passphrase: crate::world::said(crate::world::SECRET),
        },
        crate::world::session_new("x", "1.00 USD", crate::world::SECRET),
        OperatorAsk::Approvals,
        OperatorAsk::Approve {
            id: ApprovalId::from_random([1; 16]),
            binding: Digest::of(b""),
            passphrase: said(crate::world::SECRET),
        },
        OperatorAsk::Deny { id: ApprovalId::from_random([1; 16]) },
    ] {
        let stream = UnixStream::connect(sandbox.profile.agent_sock()).unwrap();
        frame::write(&stream, &AgentAsk::Hello { protocol: PROTOCOL, session: None }, ASK_MAX_BYTES).unwrap();
        frame::read(&stream, REPLY_MAX_BYTES, None).unwrap().unwrap();
        frame::write(&stream, &ask, ASK_MAX_BYTES).unwrap();
        assert_eq!(fault_code(&stream), "bad_frame", "{ask:?}");
        assert!(frame::read(&stream, REPLY_MAX_BYTES, None).unwrap().is_none(), "the connection is closed");
    }
    let stream = UnixStream::connect(sandbox.profile.operator_sock()).unwrap();
    frame::write(&stream, &AgentAsk::Claim { errand: errand("a") }, ASK_MAX_BYTES).unwrap();
    assert_eq!(fault_code(&stream), "bad_frame");
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::New));
}

#[test]
fn hello_comes_first_and_in_the_right_version() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    for (first, code) in [
        (AgentAsk::Status, "out_of_order"),
        (AgentAsk::Claim { errand: errand("a") }, "out_of_order"),
        (AgentAsk::Hello { protocol: PROTOCOL + 1, session: None }, "protocol_version"),
    ] {
        let stream = UnixStream::connect(sandbox.profile.agent_sock()).unwrap();
        frame::write(&stream, &first, ASK_MAX_BYTES).unwrap();
        assert_eq!(fault_code(&stream), code);
        assert!(frame::read(&stream, REPLY_MAX_BYTES, None).unwrap().is_none());
    }
    let stream = UnixStream::connect(sandbox.profile.operator_sock()).unwrap();
    frame::write(&stream, &OperatorAsk::Lock, ASK_MAX_BYTES).unwrap();
    assert_eq!(fault_code(&stream), "out_of_order");
    assert!(!sandbox.operator().status().locked, "nothing was done");
}

#[test]
fn a_full_door_says_so_and_the_other_door_is_not_full() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let mut inside: Vec<_> = (0..16).map(|_| sandbox.operator()).collect();
    match OperatorClient::connect(&sandbox.profile) {
        Err(ClientFault::Said { code, .. }) => assert_eq!(code, "vault_busy"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::New));
    inside.pop();
    // The seat is free as soon as the vault has noticed.
    let mut again = OperatorClient::connect(&sandbox.profile);
    while matches!(&again, Err(ClientFault::Said { code, .. }) if code == "vault_busy") {
        again = OperatorClient::connect(&sandbox.profile);
    }
    assert!(matches!(again.unwrap().0.ask(&OperatorAsk::SessionList), Ok(OperatorReply::Sessions(_))));
}

#[test]
fn two_hundred_and_fifty_six_agents_fit_and_the_operator_still_gets_in() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agents: Vec<_> = (0..256).map(|_| sandbox.agent()).collect();
    let stream = UnixStream::connect(sandbox.profile.agent_sock()).unwrap();
    assert_eq!(fault_code(&stream), "vault_busy");
    sandbox.operator().ask(&OperatorAsk::Freeze { reason: "a crowd".to_owned() });
    for agent in &agents {
        assert!(matches!(agent.ask(&AgentAsk::Status), AgentReply::Status(status) if status.frozen));
    }
}

#[test]
fn a_vault_whose_sockets_were_deleted_still_ends_in_order() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    std::fs::remove_dir_all(sandbox.profile.run_dir()).unwrap();
    running.stop();
    assert!(agent.0.ask(&AgentAsk::Status).is_err());
    let _running = sandbox.start();
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::New));
}

#[test]
fn a_dead_vaults_sockets_are_replaced_and_a_planted_file_is_not() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    running.stop();
    // What a killed vault leaves behind: socket files that nobody listens on.
    for path in [sandbox.profile.agent_sock(), sandbox.profile.operator_sock()] {
        drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    }
    let running = sandbox.start();
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::New));
    running.stop();
    std::fs::write(sandbox.profile.agent_sock(), "planted").unwrap();
    let started = bursar_vault::process::start(
        &sandbox.profile,
        None,
        Box::new(bursar_vault::clock::MachineTime),
        Arc::new(NoChains),
    );
    assert!(matches!(started, Err(bursar_vault::process::StartFault::Socket(_))));
}
