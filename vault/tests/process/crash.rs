//! A vault as a process of its own: killed at every step, ended by a signal, stopped by a key in its environment.
//!
//! Each test plays both parts: it starts this very test again as a child, and the child runs the vault.

use crate::world::{Sandbox, authorize, errand, terms};
use bursar_vault::chain::NoChains;
use bursar_vault::client::{AgentClient, ClientFault};
use bursar_vault::process::{self, Ended, Options};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{AgentReply, Claimed};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Names the child's sandbox; a variable only the tests set.
const PLACE: &str = "BURSAR_TEST_SANDBOX";

/// In the child: runs a vault to its end and says why it ended.
fn play_vault() -> Option<Ended> {
    let place = PathBuf::from(std::env::var_os(PLACE)?);
    let profile = Profile::open_sandbox(&place).unwrap();
    match process::run(&profile, Options { idle_exit: None, detach: true }, Arc::new(NoChains)) {
        Ok(ended) => Some(ended),
        Err(fault) => panic!("{fault}"),
    }
}

fn command(test: &str, sandbox: &Sandbox) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(PLACE, sandbox.profile.home()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts the vault and waits until it answers.
fn spawn(test: &str, sandbox: &Sandbox) -> Child {
    let mut child = command(test, sandbox).spawn().unwrap();
    let begun = Instant::now();
    while let Err(fault) = AgentClient::connect(&sandbox.profile, None) {
        assert!(child.try_wait().unwrap().is_none(), "the vault ended: {fault}");
        assert!(begun.elapsed() < Duration::from_secs(60), "the vault does not answer: {fault}");
        std::thread::yield_now();
    }
    child
}

fn prepared() -> Sandbox {
    let (sandbox, running) = Sandbox::with_a_dollar();
    running.stop();
    sandbox
}

#[test]
fn a_killed_vault_has_counted_whatever_may_have_been_signed() {
    if play_vault().is_some() {
        return;
    }
    for (step, counted, retry) in [
        ("vault-exposed-uncommitted", "0.00 USD", "new"),
        ("vault-exposed-committed", "0.05 USD", "repeat"),
        ("vault-signed", "0.05 USD", "repeat"),
        ("vault-signature-uncommitted", "0.05 USD", "repeat"),
        ("vault-signature-committed", "0.05 USD", "resend"),
    ] {
        let sandbox = prepared();
        let mut child = spawn("crash::a_killed_vault_has_counted_whatever_may_have_been_signed", &sandbox);
        let agent = sandbox.agent();
        assert!(matches!(agent.claim(&errand("a")), Claimed::New));
        std::fs::write(sandbox.profile.failpoint(), step).unwrap();
        let answer = agent.0.ask(&authorize(terms(5)));
        assert!(!matches!(answer, Ok(AgentReply::Authorized(_))), "{step}: nobody was answered");
        assert_eq!(child.wait().unwrap().signal(), Some(9), "{step}");

        let _running = sandbox.start();
        assert_eq!(sandbox.operator().spent(), counted, "{step}");
        let again = sandbox.agent();
        let heard = match again.claim(&errand("a")) {
            Claimed::New => "new",
            Claimed::Repeat(past) => {
                assert_eq!(past.receipt.outcome, "unresolved", "{step}");
                "repeat"
            }
            Claimed::Resend(_) => "resend",
        };
        assert_eq!(heard, retry, "{step}");
    }
}

#[test]
fn a_vault_killed_from_outside_leaves_a_lock_and_sockets_that_stop_nobody() {
    if play_vault().is_some() {
        return;
    }
    let sandbox = prepared();
    let test = "crash::a_vault_killed_from_outside_leaves_a_lock_and_sockets_that_stop_nobody";
    let mut child = spawn(test, &sandbox);
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let signed = agent.authorize(terms(5));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(sandbox.profile.agent_sock().exists() && sandbox.profile.lock().exists());
    assert!(matches!(AgentClient::connect(&sandbox.profile, None), Err(ClientFault::NoVault { .. })));

    let mut child = spawn(test, &sandbox);
    assert_eq!(sandbox.operator().spent(), "0.05 USD");
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::Resend(again) if *again == signed));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_signal_ends_it_in_order() {
    if let Some(ended) = play_vault() {
        assert_eq!(ended, Ended::Signal);
        return;
    }
    let sandbox = prepared();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut child = spawn("crash::a_signal_ends_it_in_order", &sandbox);
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        assert!(child.wait().unwrap().success(), "{signal:?}");
        assert!(!sandbox.profile.agent_sock().exists() && !sandbox.profile.operator_sock().exists());
    }
}

#[test]
fn a_wallet_key_in_the_environment_stops_the_start_and_only_its_name_is_said() {
    if play_vault().is_some() {
        return;
    }
    let sandbox = prepared();
    let key = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";
    let test = "crash::a_wallet_key_in_the_environment_stops_the_start_and_only_its_name_is_said";
    let output = command(test, &sandbox).env("AGENT_PRIVATE_KEY", key).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(!output.status.success());
    assert!(text.contains("AGENT_PRIVATE_KEY"), "{text}");
    assert!(!text.contains(&key[..8]), "{text}");
    assert!(!sandbox.profile.agent_sock().exists());
}

#[test]
fn its_memory_is_out_of_reach_while_it_runs() {
    if play_vault().is_some() {
        return;
    }
    let sandbox = prepared();
    let mut child = spawn("crash::its_memory_is_out_of_reach_while_it_runs", &sandbox);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().filter(|word| *word == "0").count(), 2, "{core}");
    child.kill().unwrap();
    child.wait().unwrap();
}
