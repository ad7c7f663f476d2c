//! Vaults that split their limits, by the commands of docs/shares.md.

use std::fs;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::desk::{Desk, PASSPHRASE, write};

/// A machine with a ledger of its own whose rules name `center`, and a vault.
async fn machine(center: &str) -> Desk {
    let mut desk = Desk::set_up(&[]).await;
    let rules = fs::read_to_string(desk.rules()).unwrap();
    write(&desk.rules(), &format!("{rules}\n[shares]\ncenter = \"{center}\"\n"));
    desk.start_vault().await;
    desk
}

async fn shares(desk: &Desk) -> Value {
    let status: Value = serde_json::from_str(&desk.run(&["status", "--json"]).await.done()).unwrap();
    status["shares"].clone()
}

#[tokio::test]
async fn machines_agree_in_a_center_that_is_made_by_one_command() {
    let cluster = Cluster::start(&[]);
    let center = format!("postgres://vaults@:{}/postgres?host={}", cluster.port, cluster.folder.display());
    let migrate = ["ledger", "migrate", "--shares", "--owner", "keeper", center.as_str()];
    let made = Desk::empty().typing(&migrate, "").await.done();
    assert!(made.contains("a center of shares") && made.contains("`vaults` is new"), "{made}");
    let again = Desk::empty().typing(&migrate, "").await.done();
    assert!(!again.contains("is new"), "{again}");

    let desk = machine(&center).await;
    assert!(desk.run(&["check"]).await.done().contains("are split between vaults"));
    // The vault looks after its parts by itself as soon as it runs.
    while shares(&desk).await["trouble"] != Value::Null {}
    let told = desk.run(&["status"]).await.done();
    assert!(told.contains("shares      0 parts are held here"), "{told}");
    // By the rules of the machine: the command finds the center there.
    desk.typing(&["ledger", "migrate", "--shares", "--owner", "keeper"], "").await.done();
}

#[tokio::test]
async fn a_center_that_is_not_there_is_told_and_rules_that_came_later_wait_for_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = format!("postgres://vaults@/postgres?host={}", folder.path().display());
    let desk = machine(&nowhere).await;
    while shares(&desk).await["trouble"] == Value::Null {}
    let told = desk.run(&["status"]).await.done();
    assert!(told.contains("SHARES") && told.contains("does not answer"), "{told}");

    let late = Desk::with_vault().await;
    let rules = fs::read_to_string(late.rules()).unwrap();
    write(&late.rules(), &format!("{rules}\n[shares]\ncenter = \"{nowhere}\"\n"));
    late.typing(&["reload"], PASSPHRASE).await.done();
    let told = late.run(&["status"]).await.done();
    assert!(told.contains("start it again"), "{told}");
}
