//! The books by hand: what is wrong is told, a damaged ledger is rebuilt, a lost one comes back from a backup.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::desk::{Desk, PASSPHRASE, Said};

const BUDGET: [&str; 4] = ["session", "new", "--budget", "1.00 USD"];

fn found(said: &Said, check: &str) -> (bool, String) {
    let checks: Value = serde_json::from_str(&said.out).unwrap();
    let one = checks.as_array().unwrap().iter().find(|one| one["check"] == check).unwrap_or_else(|| panic!("{checks}"));
    (one["in_order"].as_bool().unwrap(), one["found"].as_str().unwrap().to_owned())
}

/// A desk with a budget and a log, whose vault has ended.
async fn closed() -> Desk {
    let mut desk = Desk::with_vault().await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&BUDGET, PASSPHRASE).await.done();
    desk.run(&["freeze", "--reason", "odd bills"]).await.done();
    desk.typing(&["thaw"], PASSPHRASE).await.done();
    desk.stop_vault().await;
    desk
}

fn backup(desk: &Desk) -> PathBuf {
    desk.home.with_file_name("books.age")
}

#[tokio::test]
async fn a_ledger_in_order_says_so_check_by_check_with_and_without_a_vault() {
    let mut desk = closed().await;
    let report: Value = serde_json::from_str(&desk.run(&["audit", "verify", "--json"]).await.done()).unwrap();
    let after = report["events"].as_u64().unwrap().checked_sub(report["signed_to"].as_u64().unwrap());
    assert_eq!((&report["checkpoints"], after), (&Value::from(2), Some(2)), "signed at the unlocking and at the end");
    for with_vault in [false, true] {
        if with_vault {
            desk.start_vault().await;
        }
        let page = desk.run(&["ledger", "verify"]).await.done();
        for check in ["file", "schema", "pages", "books", "mark", "latch", "key"] {
            assert!(page.contains(&format!("{check:<10}ok")), "{check}: {page}");
        }
        desk.is_private();
    }
    let said = desk.typing(&["ledger", "recover"], PASSPHRASE).await;
    assert!(said.code == Some(4) && said.err.contains("another vault is using the ledger"), "{said:?}");
}

#[tokio::test]
async fn one_changed_letter_is_found_and_named() {
    let desk = closed().await;
    let file = desk.profile().ledger();
    let bytes = fs::read(&file).unwrap();
    let place = bytes.windows(9).position(|part| part == b"odd bills").unwrap();
    let mut changed = bytes.clone();
    changed[place] = b'a';
    fs::write(&file, &changed).unwrap();
    let said = desk.run(&["ledger", "verify", "--json"]).await;
    assert_eq!(said.code, Some(3), "{said:?}");
    let (in_order, told) = found(&said, "books");
    assert!(!in_order && told.contains("was changed: it does not have the hash that it had"), "{told}");
    assert!(found(&said, "pages").0);
    desk.run(&["audit", "verify"]).await.says(3, &["event ", "was changed"]);
    // What somebody changed is not made good by a recovery.
    let said = desk.typing(&["ledger", "recover"], PASSPHRASE).await;
    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!(fs::read(&file).unwrap(), changed);
}

#[tokio::test]
async fn a_ledger_that_was_set_back_goes_on_by_hand_with_every_budget_closed() {
    let mut desk = Desk::with_vault().await;
    desk.stop_vault().await;
    let file = desk.profile().ledger();
    let early = fs::read(&file).unwrap();
    desk.start_vault().await;
    desk.typing(&BUDGET, PASSPHRASE).await.done();
    desk.stop_vault().await;
    fs::write(&file, &early).unwrap();
    let said = desk.run(&["ledger", "verify", "--json"]).await;
    assert!(!found(&said, "mark").0 && found(&said, "books").0, "{said:?}");
    desk.run(&["audit", "verify"]).await.says(3, &["it was set back"]);
    let wrong = desk.typing(&["ledger", "recover"], "a wrong passphrase").await;
    assert!(wrong.code == Some(3) && wrong.err.contains("4 more wrong"), "{wrong:?}");
    let said = desk.typing(&["ledger", "recover"], PASSPHRASE).await.done();
    assert!(said.contains("epoch 2 begins") && said.contains(".kept-1"), "{said}");
    desk.run(&["ledger", "verify"]).await.done();
    desk.start_vault().await;
    let status: Value = serde_json::from_str(&desk.run(&["status", "--json"]).await.done()).unwrap();
    assert_eq!(status["latched"], Value::Null);
    desk.is_private();
}

#[tokio::test]
async fn a_lost_ledger_comes_back_from_a_backup_without_its_budgets() {
    let mut desk = Desk::with_vault().await;
    desk.typing(&BUDGET, PASSPHRASE).await.done();
    let file = backup(&desk);
    let name = file.to_str().unwrap();
    let said = desk.typing(&["backup", name], "words for the copy").await.done();
    assert!(said.contains("It holds no key"), "{said}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    let sealed = fs::read(&file).unwrap();
    assert!(sealed.starts_with(b"age-encryption.org/v1\n-> scrypt "));
    assert!(!sealed.windows(6).any(|part| part == b"SQLite"));
    desk.typing(&["backup", name], "words for the copy").await.says(2, &["cannot be made"]);
    let short = desk.home.with_file_name("short.age");
    desk.typing(&["backup", short.to_str().unwrap()], "short").await.says(2, &["8 characters"]);
    assert!(!short.exists(), "half a backup is none");

    let typed = format!("words for the copy\n{PASSPHRASE}");
    let restore = ["restore", name];
    assert!(desk.typing(&restore, &typed).await.err.contains("another vault is using the ledger"));
    desk.stop_vault().await;
    let newer = desk.typing(&restore, &typed).await;
    assert!(newer.code == Some(3) && newer.err.contains("a lost ledger only"), "{newer:?}");
    fs::remove_file(desk.profile().ledger()).unwrap();
    assert_eq!(desk.run(&["ledger", "verify"]).await.code, Some(3));
    let guessed = desk.typing(&restore, &format!("guessed words\n{PASSPHRASE}")).await;
    assert!(guessed.code == Some(3) && guessed.err.contains("does not open the backup"), "{guessed:?}");
    let wrong = desk.typing(&restore, "words for the copy\na wrong passphrase").await;
    assert!(wrong.code == Some(3) && wrong.err.contains("not the operator's passphrase"), "{wrong:?}");
    assert!(!desk.profile().ledger().exists());

    let said = desk.typing(&restore, &typed).await.done();
    assert!(said.contains("Restored: 0 payments") && said.contains("epoch 2 begins"), "{said}");
    desk.run(&["ledger", "verify"]).await.done();
    desk.start_vault().await;
    let listed: Value = serde_json::from_str(&desk.run(&["session", "list", "--json"]).await.done()).unwrap();
    assert_eq!(listed[0]["closed"], true);
    desk.is_private();
}

#[tokio::test]
async fn a_backup_of_another_profile_is_refused() {
    let (one, mut other) = (Desk::with_vault().await, Desk::with_vault().await);
    let file = backup(&one);
    one.typing(&["backup", file.to_str().unwrap()], "words for the copy").await.done();
    other.stop_vault().await;
    fs::remove_file(other.profile().ledger()).unwrap();
    let said = other.typing(&["restore", file.to_str().unwrap()], &format!("words for the copy\n{PASSPHRASE}")).await;
    assert!(said.code == Some(3) && said.err.contains("a key has one ledger"), "{said:?}");
    assert!(!other.profile().ledger().exists());
}
