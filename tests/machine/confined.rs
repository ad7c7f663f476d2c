//! Real processes, looked at from outside: what they took away from themselves, and that their own user cannot look into them.

use std::fs;
use std::io::ErrorKind;

use bursar_vault::confine::{Held, seen};
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::plant::{AGENT, Machine, VAULT, as_user, rules};

/// Fails unless process `pid` of user `uid` is confined and closed to its own user.
fn closed(pid: u32, uid: u32) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let layers = seen(&status);
    assert!(layers.iter().all(|layer| layer.held == Held::Whole), "{layers:?}");
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    as_user(uid, || {
        for name in ["mem", "environ", "maps"] {
            let fault = fs::read(format!("/proc/{pid}/{name}")).unwrap_err();
            assert_eq!(fault.kind(), ErrorKind::PermissionDenied, "{name}");
        }
        let fault = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::PermissionDenied);
    });
}

#[tokio::test]
async fn the_vault_and_serve_are_confined_and_closed_to_their_own_users() {
    assert!(getrlimit(Resource::Core).maximum != Some(0), "the tests' own limit would hide the vault's");
    let machine = Machine::with_a_dollar(&rules(1, "")).await;
    closed(machine.pid(), VAULT);
    let held = "confined: no new privileges: held; files (Landlock): held; system calls (seccomp): held";
    assert!(machine.words().contains(held), "{}", machine.words());

    let mut serve = machine.command(AGENT, &["serve"]);
    serve.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = serve.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    // An answer, whatever it says: by then it is set up.
    keyboard.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
    child.stdout.as_mut().unwrap().read_u8().await.unwrap();
    closed(child.id().unwrap(), AGENT);
    drop(keyboard);
    let said = child.wait_with_output().await.unwrap();
    assert!(String::from_utf8_lossy(&said.stderr).contains(held), "{said:?}");
}

/// Where each user has a vault of their own, `serve` starts it; both are confined all the same.
#[tokio::test]
async fn an_embedded_vault_is_confined_by_itself_and_by_who_started_it() {
    let machine = Machine::set_up(&rules(1, ""));
    let home = machine.home(VAULT);
    let mut serve = machine.bare(VAULT);
    serve.arg("--sandbox").arg(&home).arg("serve");
    serve.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut child = serve.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"payment_session_status","arguments":{}}}"#;
    keyboard.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    child.stdout.as_mut().unwrap().read_u8().await.unwrap();
    closed(child.id().unwrap(), VAULT);

    let profile = bursar_vault::profile::Profile::locate_sandbox(&home).unwrap();
    let (operator, welcome) = as_user(VAULT, || bursar_vault::client::OperatorClient::connect(&profile)).unwrap();
    closed(welcome.pid, VAULT);
    let status = fs::read_to_string(format!("/proc/{}/status", welcome.pid)).unwrap();
    let filters = status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:")).unwrap().trim();
    assert_eq!(filters, "4", "two of its own, and two of the `serve` that started it");
    let said = fs::read_to_string(home.join("vault.log")).unwrap();
    assert!(said.contains("files (Landlock): held; system calls (seccomp): held"), "{said}");
    operator.ask(&bursar_vault::protocol::OperatorAsk::Shutdown).unwrap();
    drop(keyboard);
    child.wait().await.unwrap();
}
