//! The first minutes: help, `init`, and what a command says when something before it was left out.

use std::fs;

use bursar_vault::profile::Profile;
use serde_json::Value;
use tokio::process::Command;

use crate::desk::{BURSAR, Desk, PASSPHRASE, run};

/// Runs the program without a sandbox, for what needs none.
async fn bare(words: &[&str]) -> crate::desk::Said {
    let mut command = Command::new(BURSAR);
    command.env_clear().args(words);
    run(command, "").await
}

#[tokio::test]
async fn help_shows_every_command_and_the_exit_codes() {
    let help = bare(&["--help"]).await.done();
    for command in [
        "init",
        "serve",
        "browser",
        "vault",
        "unlock",
        "session",
        "status",
        "freeze",
        "thaw",
        "resume",
        "log",
        "check",
        "explain",
        "install",
        "uninstall",
        "demo",
        "receipts",
        "audit",
        "ledger",
        "backup",
        "restore",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in: {help}");
    }
    assert!(help.contains("Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused, 4 not ready"), "{help}");
    assert!(bare(&["--version"]).await.done().starts_with("bursar "));
    let check = bare(&["check", "--help"]).await.done();
    assert!(check.contains("3 they are wide and `--strict` was given"), "{check}");
    let stories = bare(&["policy", "test", "--help"]).await.done();
    for file in ["ask.json", "reply.http", "rules.toml", "want.toml"] {
        assert!(stories.contains(file), "{file} is not in: {stories}");
    }
    for command in ["init", "session", "explain"] {
        assert!(bare(&[command, "--help"]).await.done().contains("Usage: bursar"), "{command}");
    }
}

#[tokio::test]
async fn a_wrong_command_line_is_exit_code_2_with_the_usage() {
    for words in [
        &[][..],
        &["buy"],
        &["init", "--network"],
        &["session"],
        &["session", "new"],
        &["install", "abacus"],
        &["log", "--limit", "0"],
        &["--profile", "one", "--sandbox", "two", "status"],
    ] {
        let said = bare(words).await;
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains("Usage: bursar") || said.err.contains("'--help'"), "{said:?}");
        assert_eq!(said.out, "", "{said:?}");
    }
    bare(&["--profile", "No/Name", "status"]).await.says(2, &["`No/Name`", "a-z"]);
}

#[tokio::test]
async fn init_tells_the_account_how_to_fund_it_and_what_comes_next() {
    let desk = Desk::empty();
    let said = desk.typing(&["init"], PASSPHRASE).await;
    assert_eq!(said.err, "");
    let out = said.done();
    let rules = desk.rules().display().to_string();
    for part in ["0x", "eip155:84532", "USDC", "fund it", "play money", &rules, "unlock", "session new", " install`"] {
        assert!(out.contains(part), "`{part}` is not in: {out}");
    }
    let text = fs::read_to_string(desk.rules()).unwrap();
    for part in ["max_per_payment = \"0.05 USD\"", "recipients = []", "# ", "[[limit]]"] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[tokio::test]
async fn init_takes_the_choices_of_its_command_line() {
    let desk = Desk::empty();
    let payee = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
    let words = [
        "init",
        "--json",
        "--max-per-payment",
        "0.25 USD",
        "--daily",
        "3.00 USD",
        "--allow",
        "https://api.example.com",
        "--allow",
        "https://b.example:8443",
        "--recipient",
        payee,
    ];
    let told: Value = serde_json::from_str(&desk.typing(&words, PASSPHRASE).await.done()).unwrap();
    assert_eq!(told["network"], "eip155:84532");
    assert_eq!(told["symbol"], "USDC");
    assert_eq!(told["home"], desk.home.to_str().unwrap());
    assert_eq!(told["rules"], desk.rules().to_str().unwrap());
    assert_eq!(told["payer"].as_str().unwrap().len(), 42);
    let text = fs::read_to_string(desk.rules()).unwrap();
    for part in ["\"0.25 USD\"", "\"3.00 USD\"", "\"https://api.example.com\"", "\"https://b.example:8443\"", payee] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[tokio::test]
async fn everything_is_the_owners_alone_whatever_the_umask() {
    let mut desk = Desk::empty();
    let mut command = Command::new("/bin/sh");
    command.env_clear().args(["-c", "umask 000; exec \"$0\" --sandbox \"$1\" init", BURSAR]).arg(&desk.home);
    run(command, PASSPHRASE).await.done();
    desk.is_private();
    desk.start_vault().await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    desk.is_private();
    for (path, bytes) in desk.files() {
        let found = bytes.windows(PASSPHRASE.len()).any(|window| window == PASSPHRASE.as_bytes());
        assert!(!found, "the passphrase is in {}", path.display());
    }
}

#[tokio::test]
async fn init_never_overwrites() {
    let desk = Desk::set_up(&[]).await;
    let before = desk.files();
    for words in [&["init"][..], &["init", "--json", "--any-recipient"]] {
        desk.typing(words, "another passphrase").await.says(2, &[desk.home.to_str().unwrap(), "set up already"]);
    }
    assert_eq!(desk.files(), before);
}

#[tokio::test]
async fn a_choice_that_cannot_be_is_told_by_its_name_and_makes_nothing() {
    let desk = Desk::empty();
    for (words, parts) in [
        (&["--network", "mars"][..], &["`--network mars`", "base-sepolia"][..]),
        (&["--network", "eip155:1234567"], &["eip155:1234567", "base-sepolia"]),
        (&["--max-per-payment", "0,05 USD"], &["`--max-per-payment 0,05 USD`"]),
        (&["--max-per-payment", "5"], &["`--max-per-payment 5`"]),
        (&["--daily=-1.00 USD"], &["`--daily -1.00 USD`"]),
        (&["--allow", "api.example.com"], &["`--allow api.example.com`"]),
        (&["--allow", "https://api.example.com/path"], &["`--allow https://api.example.com/path`"]),
        (&["--recipient", "0x12"], &["`--recipient 0x12`"]),
        // One letter's case is wrong: a typing error that the checksum finds.
        (&["--recipient", "0x209693bc6afc0C5328bA36FaF03C514EF312287C"], &["--recipient"]),
        // A sandbox is for play money.
        (&["--network", "base"], &["sandbox"]),
    ] {
        let words: Vec<&str> = ["init"].iter().chain(words).copied().collect();
        desk.typing(&words, PASSPHRASE).await.says(2, parts);
        assert!(!desk.home.exists(), "{words:?} made something");
    }
    for (typed, part) in [("short", "8"), ("", "nothing was typed")] {
        desk.typing(&["init"], typed).await.says(2, &[part]);
        assert!(!desk.home.exists(), "a passphrase that cannot be made something");
    }
}

#[tokio::test]
async fn no_key_is_brought_into_a_sandbox() {
    let desk = Desk::empty();
    let key = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";
    let said = desk.typing(&["init", "--import"], &format!("{PASSPHRASE}\n{key}")).await;
    said.says(2, &["sandbox"]);
    assert!(!said.err.contains(&key[..8]), "{said:?}");
    assert!(!desk.home.join("keystore.json").exists());
}

#[tokio::test]
async fn before_init_every_command_says_to_run_it() {
    let desk = Desk::empty();
    for words in [
        &["status"][..],
        &["serve"],
        &["vault"],
        &["unlock"],
        &["lock"],
        &["session", "list"],
        &["session", "new", "--budget", "1.00 USD"],
        &["freeze"],
        &["thaw"],
        &["log"],
        &["reload"],
        &["check"],
        &["policy", "replay"],
        &["explain", "https://api.example.com/"],
        &["explain", "p_00000000000000000000000000000000"],
    ] {
        desk.typing(words, PASSPHRASE).await.says(4, &[desk.home.to_str().unwrap(), "`bursar init`"]);
        assert!(!desk.home.exists(), "{words:?} made something");
    }
}

#[tokio::test]
async fn without_a_vault_a_command_starts_one_and_lets_go_of_it() {
    let desk = Desk::set_up(&[]).await;
    // `run` waits until both outputs are closed at the other end, so this also says that the vault keeps neither.
    let shown = desk.run(&["status"]).await.done();
    assert!(shown.contains("locked") && shown.contains("unlock"), "{shown}");
    let profile: Profile = desk.profile();
    let (_, first) = bursar_vault::client::OperatorClient::connect(&profile).unwrap();
    desk.run(&["session", "list"]).await.done();
    let (_, second) = bursar_vault::client::OperatorClient::connect(&profile).unwrap();
    assert_eq!(first.pid, second.pid, "one vault serves every command");
    desk.is_private();
}
