//! Keys in the environment: neither process starts, and the sentence has the name and never the value.

use crate::desk::{Desk, PASSPHRASE, run};

const KEY: &str = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";

#[tokio::test]
async fn neither_process_starts_beside_a_wallet_key() {
    let desk = Desk::set_up(&[]).await;
    let before = desk.files();
    for process in ["serve", "vault"] {
        for (name, value) in [
            ("WALLET_PRIVATE_KEY", "0xdeadbeefcafe"),
            ("EVM_PRIVATE_KEY", KEY),
            ("MNEMONIC", "test test test test test test test test test test test junk"),
            ("BUYER_KEY", KEY),
        ] {
            let mut command = desk.command();
            command.arg(process).env(name, value).env("PATH", "/usr/bin");
            let said = run(command, "").await;
            said.says(4, &[&format!("`{name}`"), "unset it"]);
            assert!(!said.err.contains(&value[..8]), "{process} shows the value of {name}");
        }
    }
    assert_eq!(desk.files(), before, "nothing was touched");
    assert!(!desk.home.join("run").exists(), "no socket was made");
}

#[tokio::test]
async fn a_variable_that_is_no_key_is_no_reason() {
    let desk = Desk::with_vault().await;
    let mut command = desk.command();
    command.arg("serve").env("API_KEY", "sk-1234567890").env("WALLET_PRIVATE_KEY", "").env("BUILD_SHA256", KEY);
    command.env("RUST_LOG", "trace").env("RUST_BACKTRACE", "1");
    assert_eq!(run(command, "").await.done(), "", "standard output carries answers and nothing else");
}

#[tokio::test]
async fn no_variable_moves_the_profile_or_answers_for_a_person() {
    let desk = Desk::with_vault().await;
    let elsewhere = desk.home.with_file_name("elsewhere");
    let mut command = desk.command();
    command
        .args(["unlock"])
        .env("BURSAR_PASSPHRASE", PASSPHRASE)
        .env("HOME", &elsewhere)
        .env("XDG_CONFIG_HOME", &elsewhere);
    run(command, "").await.says(2, &["nothing was typed"]);
    assert!(!elsewhere.exists());
}
