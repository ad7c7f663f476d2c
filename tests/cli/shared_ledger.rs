//! Two machines with one ledger on a PostgreSQL server, by the commands of docs/postgres.md.

use std::fs;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::desk::{Desk, PASSPHRASE, write};

/// The address of a ledger in a server of the test's own.
fn address(cluster: &Cluster) -> String {
    format!("postgres://vaults@:{}/postgres?host={}", cluster.port, cluster.folder.display())
}

/// A machine with an unlocked vault on the ledger at `address`, whose tables are there.
async fn first(address: &str) -> Desk {
    let mut desk = Desk::empty();
    desk.typing(&["init", "--ledger", address], &format!("{PASSPHRASE}\n")).await.done();
    desk.start_vault().await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk
}

/// Another machine, with a copy of what docs/postgres.md says.
async fn second(first: &Desk) -> Desk {
    let mut desk = Desk::empty();
    fs::create_dir(&desk.home).unwrap();
    fs::set_permissions(&desk.home, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for name in ["bursar.toml", "keystore.json", "operator.json", "operator.attempts", "rules.accepted"] {
        write(&desk.home.join(name), &fs::read_to_string(first.home.join(name)).unwrap());
    }
    fs::create_dir(desk.home.join("content")).unwrap();
    fs::set_permissions(desk.home.join("content"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    desk.start_vault().await;
    desk
}

async fn json(desk: &Desk, words: &[&str]) -> Value {
    serde_json::from_str(&desk.run(words).await.done()).unwrap()
}

#[tokio::test]
async fn two_machines_share_a_budget_a_freeze_and_a_log() {
    let cluster = Cluster::start(&[]);
    let address = address(&cluster);
    let made = Desk::empty().typing(&["ledger", "migrate", "--owner", "keeper", &address], "").await.done();
    assert!(made.contains("Made the tables of a ledger, version 2") && made.contains("`vaults` is new"), "{made}");

    let one = first(&address).await;
    one.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    let other = second(&one).await;
    let sessions = json(&other, &["session", "list", "--json"]).await;
    assert_eq!(sessions[0]["budget"], "1.00 USD", "{sessions}");
    other.run(&["freeze", "--reason", "something is off"]).await.done();
    let status = one.run(&["status"]).await.done();
    assert!(status.contains("something is off"), "{status}");
    one.typing(&["thaw"], PASSPHRASE).await.done();

    // Everything that only looks works from each, and says the same of one log.
    for desk in [&one, &other] {
        let checks = desk.run(&["ledger", "verify"]).await.done();
        assert!(checks.contains("server") && !checks.contains("WRONG") && !checks.contains("pages"), "{checks}");
        assert!(desk.run(&["audit", "verify"]).await.done().contains("events"));
        assert!(desk.run(&["log"]).await.done().contains("something is off"));
        desk.run(&["receipts"]).await.done();
    }
    let says = one.run(&["check"]).await.done();
    assert!(says.contains("is kept in postgres://vaults@"), "{says}");
    let again = one.typing(&["ledger", "migrate", "--owner", "keeper"], "").await.done();
    assert!(again.contains("no row was touched"), "{again}");
}

#[tokio::test]
async fn what_is_for_files_only_and_what_is_not_there_is_said_in_one_sentence() {
    let cluster = Cluster::start(&[]);
    let address = address(&cluster);
    let init = Desk::empty().typing(&["init", "--ledger", &address], &format!("{PASSPHRASE}\n")).await;
    init.says(2, &["vaults"]);
    let nobody = Desk::empty().typing(&["ledger", "migrate", "--owner", "nobody", &address], "").await;
    nobody.says(4, &["nobody"]);
    let unnamed = Desk::set_up(&[]).await;
    unnamed.typing(&["ledger", "migrate", "--owner", "keeper"], "").await.says(2, &["the rules name no such database"]);
    let worded = address.replace("vaults@", "vaults:word@");
    let worded = Desk::empty().run(&["init", "--ledger", &worded]).await;
    assert!(worded.code == Some(2) && worded.err.contains("ledger.password"), "{worded:?}");

    Desk::empty().typing(&["ledger", "migrate", "--owner", "keeper", &address], "").await.done();
    let one = first(&address).await;
    for words in [&["ledger", "recover"][..], &["restore", "nowhere"], &["backup", "copy.age"]] {
        let typed = format!(
            "{}\n{PASSPHRASE}\n{PASSPHRASE}\n{PASSPHRASE}",
            words[words.len() - 1].replace("nowhere", "restore")
        );
        let said = one.typing(words, &typed).await;
        assert!(said.code != Some(0) && said.err.contains("PostgreSQL's own tools"), "{said:?}");
    }
    fs::remove_file("copy.age").unwrap_or_default();
    let taken = Desk::empty().typing(&["init", "--ledger", &address], &format!("{PASSPHRASE}\n")).await;
    taken.says(2, &["there is a ledger in", "docs/postgres.md"]);
    // Another ledger is not put under a vault that runs.
    let rules = fs::read_to_string(one.rules()).unwrap();
    write(&one.rules(), &rules.replace("ledger = \"postgres://vaults@", "# ledger = \"postgres://vaults@"));
    let reloaded = one.typing(&["reload"], PASSPHRASE).await;
    assert!(reloaded.code == Some(1) && reloaded.err.contains("another ledger than the one"), "{reloaded:?}");
}

#[tokio::test]
async fn a_server_that_is_away_is_said_plainly_and_comes_back_by_itself() {
    let cluster = Cluster::start(&[]);
    let address = address(&cluster);
    Desk::empty().typing(&["ledger", "migrate", "--owner", "keeper", &address], "").await.done();
    let one = first(&address).await;
    cluster.crash();
    let away = one.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await;
    assert!(away.code != Some(0) && away.err.contains("the ledger's server cannot be used now"), "{away:?}");
    cluster.start_again();
    let mut opened = one.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await;
    while opened.code != Some(0) {
        opened = one.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await;
    }
    let status = one.run(&["status"]).await.done();
    assert!(status.contains("1.00 USD") && !status.contains("shut"), "{status}");
}
