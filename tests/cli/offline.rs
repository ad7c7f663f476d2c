//! Nothing is sent home: the program runs on a network of its own that has nothing but loopback, and the kernel counts what
//! it tried to reach beyond.
//!
//! No name is asked for and no packet is without a way, while `bursar demo` buys three dozen things by way of `serve` and a
//! vault. Needs root, for the network, and python3.

use serde_json::{Value, json};
use tokio::process::Command;

use crate::desk::{BURSAR, Desk, run};

const WATCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/offline/watch.py");

/// What a command tried to reach.
async fn watched(command: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let resolv = folder.path().join("resolv.conf");
    std::fs::write(&resolv, "").unwrap();
    let mut watch = Command::new("unshare");
    watch.args(["--net", "--mount", "python3", WATCH]).arg(&resolv).args(command);
    let said = run(watch, "").await;
    assert_eq!(said.code, Some(0), "this test needs root, `unshare` (util-linux) and python3: {said:?}");
    serde_json::from_str(&said.out).unwrap_or_else(|fault| panic!("{fault}: {said:?}"))
}

/// A sandbox whose vault is started by whoever needs it.
async fn sandbox() -> (Desk, String) {
    let desk = Desk::set_up(&[]).await;
    let home = desk.home.to_str().unwrap().to_owned();
    (desk, home)
}

#[tokio::test]
async fn the_demo_with_all_its_purchases_asks_for_no_name_and_reaches_for_nothing_beyond_this_machine() {
    let found = watched(&[BURSAR, "demo"]).await;
    assert_eq!(found, json!({ "status": 0, "names": 0, "beyond": 0 }));
}

#[tokio::test]
async fn a_vault_that_is_started_and_asked_how_it_stands_reaches_for_nothing_either() {
    let (_desk, home) = sandbox().await;
    for command in [&["status"][..], &["check"], &["doctor", "--offline"], &["vault", "--stop"]] {
        let words = [&[BURSAR, "--sandbox", &home][..], command].concat();
        let found = watched(&words).await;
        assert_eq!((&found["names"], &found["beyond"]), (&json!(0), &json!(0)), "{command:?}: {found}");
    }
}

#[tokio::test]
async fn the_watch_notices_a_name_a_connection_and_a_datagram() {
    let python = |what: &'static str| ["python3", "-c", what];
    let found =
        watched(&python("import socket\ntry: socket.getaddrinfo('home.example', 443)\nexcept OSError: pass")).await;
    assert_ne!(found["names"], 0, "{found}");
    let dial = "import socket\ntry: socket.create_connection(('192.0.2.1', 443), 2)\nexcept OSError: pass";
    let say = "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 53))";
    for what in [dial, say] {
        let found = watched(&python(what)).await;
        assert_ne!(found["beyond"], 0, "{what}: {found}");
    }
    // bursar itself is noticed where it has a reason to go out: asked to look at a seller.
    let (_desk, home) = sandbox().await;
    let found = watched(&[BURSAR, "--sandbox", &home, "explain", "https://seller.example/thing"]).await;
    assert_ne!(found["names"], 0, "{found}");
}
