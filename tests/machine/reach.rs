//! What each user can reach: the agent the agent's socket, the operator theirs, a stranger nothing, and nobody the key.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;

use bursar_vault::client::{AgentClient, ClientFault, GlueClient, OperatorClient};
use bursar_vault::profile::ProfileFault;
use rustix::process::{Pid, Signal, kill_process};

use crate::plant::{AGENT, Machine, OPERATOR, PASSPHRASE, STRANGER, VAULT, as_user, rules};

#[tokio::test]
async fn no_user_but_the_vaults_reaches_the_key_or_the_ledger() {
    let machine = Machine::with_a_dollar(&rules(1, "")).await;
    let home = machine.home(VAULT);
    let files: Vec<_> = fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(
        files.iter().any(|path| path.ends_with("keystore.json"))
            && files.iter().any(|path| path.ends_with("ledger.db"))
    );
    for uid in [AGENT, OPERATOR, STRANGER] {
        as_user(uid, || {
            let denied = |fault: std::io::Error| assert_eq!(fault.kind(), ErrorKind::PermissionDenied, "{uid}");
            denied(fs::read_dir(&home).unwrap_err());
            denied(fs::File::create(home.join("bursar.toml")).unwrap_err());
            for path in &files {
                denied(fs::File::open(path).unwrap_err());
                denied(fs::File::options().append(true).open(path).unwrap_err());
                denied(fs::rename(path, path.with_extension("moved")).unwrap_err());
            }
            // Nor its memory, nor what it has open, nor its end.
            let of = |name: &str| format!("/proc/{}/{name}", machine.pid());
            denied(fs::File::open(of("mem")).unwrap_err());
            denied(fs::read(of("environ")).unwrap_err());
            denied(fs::read_dir(of("fd")).unwrap_err());
            let pid = Pid::from_raw(machine.pid().try_into().unwrap()).unwrap();
            assert_eq!(kill_process(pid, Signal::KILL), Err(rustix::io::Errno::PERM));
        });
    }
}

#[tokio::test]
async fn each_socket_is_for_those_who_are_listed_and_the_kernel_knows_it() {
    let machine = Machine::with_a_dollar(&rules(1, "")).await;
    let sockets = machine.path("sockets");
    let enters = |uid: u32, name: &str| {
        let path = sockets.join(format!("{name}.sock"));
        match as_user(uid, || UnixStream::connect(path)) {
            Ok(_) => true,
            Err(fault) => {
                assert_eq!(fault.kind(), ErrorKind::PermissionDenied, "{uid} {name}");
                false
            }
        }
    };
    for (uid, agent, operator, glue) in
        [(AGENT, true, false, false), (OPERATOR, false, true, true), (STRANGER, false, false, false)]
    {
        assert_eq!(
            (enters(uid, "agent"), enters(uid, "operator"), enters(uid, "glue")),
            (agent, operator, glue),
            "{uid}"
        );
    }
    // Root passes every list of the kernel's, and the vault does not speak to it.
    let root = machine.profile(AGENT);
    let mut planted = UnixStream::connect(sockets.join("agent.sock")).unwrap();
    assert_eq!(std::io::Read::read(&mut planted, &mut [0]).unwrap_or(0), 0, "root was spoken to");
    assert!(matches!(
        AgentClient::connect(&root, None),
        Err(ClientFault::Profile(ProfileFault::NotListed { uid: 0, .. }))
    ));

    // Nobody else can put anything in the sockets' place.
    for uid in [AGENT, OPERATOR, STRANGER] {
        as_user(uid, || {
            assert!(fs::remove_file(sockets.join("agent.sock")).is_err());
            assert!(fs::File::create(sockets.join("another")).is_err());
            assert!(fs::rename(&sockets, machine.path("elsewhere")).is_err());
        });
    }
}

#[tokio::test]
async fn an_agent_can_raise_nothing_and_hears_in_one_sentence_why() {
    let machine = Machine::with_a_dollar(&rules(1, "")).await;
    for words in [
        &["status"][..],
        &["unlock"],
        &["lock"],
        &["freeze"],
        &["thaw"],
        &["unlatch"],
        &["reload"],
        &["approvals"],
        &["approve", "a_1"],
        &["session", "list"],
        &["session", "new", "--budget", "1.00 USD"],
        &["session", "close", "default"],
        &["secret", "set", "shop-key"],
        &["resume", "shop.crash.test"],
        &["log"],
        &["receipts"],
        &["vault", "--stop"],
    ] {
        for uid in [AGENT, STRANGER] {
            let said = machine.typing(uid, words, PASSPHRASE).await;
            said.says(3, &["is not listed under `operators`", machine.file().to_str().unwrap()]);
        }
    }
    for words in [
        &["init"][..],
        &["vault"],
        &["check"],
        &["audit", "verify"],
        &["ledger", "verify"],
        &["ledger", "recover"],
        &["backup", "/tmp/never-made.age"],
    ] {
        for uid in [AGENT, OPERATOR] {
            let said = machine.typing(uid, words, &format!("recover\n{PASSPHRASE}")).await;
            assert_ne!(said.code, Some(0), "{words:?}: {said:?}");
            assert!(
                said.err.contains("run this command as that user") && said.err.contains("61001"),
                "{words:?}: {said:?}"
            );
        }
    }
    let profile = machine.profile(AGENT);
    as_user(AGENT, || {
        assert!(matches!(OperatorClient::connect(&profile), Err(ClientFault::Profile(ProfileFault::NotListed { .. }))));
        assert!(matches!(
            GlueClient::connect(&profile, None),
            Err(ClientFault::Profile(ProfileFault::NotListed { .. }))
        ));
        assert!(AgentClient::connect(&profile, None).is_ok());
    });
    let said = machine.run(STRANGER, &["serve"]).await;
    said.says(3, &["is not listed under `agents`"]);
    // An operator, who was given the passphrase, can do what an operator does, and needs it.
    let said =
        machine.typing(OPERATOR, &["session", "new", "--name", "second", "--budget", "0.50 USD"], "a wrong one").await;
    said.says(3, &["passphrase"]);
    let said =
        machine.typing(OPERATOR, &["session", "new", "--name", "second", "--budget", "0.50 USD"], PASSPHRASE).await;
    assert_eq!(said.code, Some(0), "{said:?}");
}
