//! Rules that cannot be used: one sentence with the place, exit code 4, and nothing is touched.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::Value;

use crate::desk::{Desk, PASSPHRASE, write};

/// Says that `bursar vault` does not start, in one sentence with all of `parts`, and leaves every file as it is.
async fn refused(desk: &Desk, parts: &[&str]) {
    let before = desk.files();
    let said = desk.run(&["vault"]).await;
    said.says(4, parts);
    let mut after = desk.files();
    // The ledger is opened before the rules are read, says so in its log, and marks how far that has come.
    for (path, bytes) in &before {
        if path.extension().is_none_or(|ending| ending != "db" && ending != "mark") {
            assert_eq!(after.remove(path).as_ref(), Some(bytes), "{} was touched", path.display());
        }
    }
    assert!(!desk.home.join("run").exists(), "a socket was made");
}

#[tokio::test]
async fn a_text_that_is_no_rules_is_told_with_its_line() {
    let desk = Desk::set_up(&[]).await;
    let good = fs::read_to_string(desk.rules()).unwrap();
    let file = desk.rules().display().to_string();
    let line = |word: &str| {
        format!("line {}", good.lines().position(|line| line.starts_with(word)).unwrap().saturating_add(1))
    };
    for (from, to, parts) in [
        (
            "max_lifetime",
            "max_lifetimes",
            &[&line("max_lifetime"), "`max_lifetimes`", "did you mean `max_lifetime`?"][..],
        ),
        ("max_per_payment = \"0.05 USD\"", "max_per_payment = 0.05", &[&line("max_per_payment")]),
        ("max_per_payment = \"0.05 USD\"", "max_per_payment = 5", &[&line("max_per_payment")]),
        ("max_per_payment = \"0.05 USD\"", "max_per_payment = \"0.05\"", &[&line("max_per_payment")]),
        ("max_per_payment = \"0.05 USD\"", "", &["max_per_payment"]),
        ("recipients = []", "recipients = []\nallow_any_recipient = true", &["allow_any_recipient"]),
        ("recipients = []", "", &["recipient"]),
        ("networks = [\"eip155:84532\"]", "networks = [\"eip155:84532\", \"eip155:8453\"]", &["eip155:8453"]),
        ("scope = \"all\"", "scope = \"everything\"", &[&line("scope")]),
        ("window = \"24h\"", "window = \"a day\"", &[&line("window")]),
        ("[payment]", "[payment", &[&line("[payment]")]),
    ] {
        assert!(good.contains(from), "`{from}` is not in: {good}");
        write(&desk.rules(), &good.replacen(from, to, 1));
        let parts: Vec<&str> = parts.iter().copied().chain([file.as_str()]).collect();
        refused(&desk, &parts).await;
    }
    write(&desk.rules(), &good.replace("max_lifetime", "max_lifetimes"));
    for words in [&["status"][..], &["freeze"], &["session", "list"]] {
        // A command that wants to start a vault passes on what it said.
        desk.run(words).await.says(4, &[&file, "did you mean `max_lifetime`?"]);
    }
    fs::remove_file(desk.profile().vault_log()).unwrap();
    write(&desk.rules(), "");
    refused(&desk, &[&file]).await;
    fs::write(desk.rules(), b"[payment]\n# \xff\n").unwrap();
    refused(&desk, &[&file, "UTF-8"]).await;
    fs::write(desk.rules(), format!("{good}\n# {}", "x".repeat(300_000))).unwrap();
    refused(&desk, &[&file, "bytes"]).await;
}

#[tokio::test]
async fn a_file_that_others_could_change_is_not_read() {
    let desk = Desk::set_up(&[]).await;
    let rules = desk.rules();
    let file = rules.display().to_string();
    for mode in [0o644, 0o620, 0o660] {
        fs::set_permissions(&rules, Permissions::from_mode(mode)).unwrap();
        refused(&desk, &[&file, &format!("mode {mode:04o}"), "chmod 0600"]).await;
    }
    fs::set_permissions(&rules, Permissions::from_mode(0o600)).unwrap();

    let elsewhere = desk.home.with_file_name("rules elsewhere");
    fs::hard_link(&rules, &elsewhere).unwrap();
    refused(&desk, &[&file]).await;
    fs::remove_file(&rules).unwrap();
    symlink(&elsewhere, &rules).unwrap();
    refused(&desk, &[&file, "symbolic link"]).await;
    fs::remove_file(&rules).unwrap();
    refused(&desk, &[&file, "does not exist"]).await;
    fs::create_dir(&rules).unwrap();
    refused(&desk, &[&file, "not a regular file"]).await;
}

#[tokio::test]
async fn a_sandbox_that_others_may_enter_is_not_used() {
    let desk = Desk::set_up(&[]).await;
    let home = desk.home.display().to_string();
    for mode in [0o755, 0o770] {
        fs::set_permissions(&desk.home, Permissions::from_mode(mode)).unwrap();
        refused(&desk, &[&home, "chmod 0700"]).await;
        desk.run(&["serve"]).await.says(4, &[&home, "chmod 0700"]);
    }
    fs::set_permissions(&desk.home, Permissions::from_mode(0o700)).unwrap();
    let link = desk.home.with_file_name("link");
    symlink(&desk.home, &link).unwrap();
    let mut command = tokio::process::Command::new(crate::desk::BURSAR);
    command.env_clear().arg("--sandbox").arg(&link).arg("vault");
    crate::desk::run(command, "").await.says(4, &["symbolic link"]);
    let parent = desk.home.parent().unwrap();
    fs::set_permissions(parent, Permissions::from_mode(0o777)).unwrap();
    refused(&desk, &[parent.to_str().unwrap()]).await;
}

#[tokio::test]
async fn a_running_vault_keeps_its_rules_when_the_new_ones_are_bad() {
    let desk = Desk::with_vault().await;
    let good = fs::read_to_string(desk.rules()).unwrap();
    let status = async || -> Value { serde_json::from_str(&desk.run(&["status", "--json"]).await.done()).unwrap() };
    let digest = status().await["rules_digest"].clone();
    write(&desk.rules(), &good.replace("max_lifetime", "max_lifetimes"));
    assert_eq!(status().await["rules_changed"], true);
    assert!(desk.run(&["status"]).await.done().contains(" reload` loads it"));
    desk.typing(&["reload"], PASSPHRASE).await.says(4, &["did you mean `max_lifetime`?"]);
    assert_eq!(status().await["rules_digest"], digest);

    write(&desk.rules(), &good.replace("\"0.05 USD\"", "\"0.10 USD\""));
    let said = desk.typing(&["reload"], "a wrong passphrase").await;
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.out.contains("max_per_payment = \"0.10 USD\""), "what is agreed to is shown first: {said:?}");
    assert!(said.err.contains("not the operator's passphrase"), "{said:?}");
    assert_eq!(status().await["rules_digest"], digest, "wider rules need the operator");
    assert!(desk.typing(&["reload"], PASSPHRASE).await.done().contains("SHA-256"));
    assert_ne!(status().await["rules_digest"], digest);
    assert_eq!(status().await["rules_changed"], false);
}

#[tokio::test]
async fn a_second_vault_finds_the_first() {
    let desk = Desk::with_vault().await;
    desk.run(&["vault"]).await.says(4, &["another vault"]);
    desk.run(&["status"]).await.done();
}
