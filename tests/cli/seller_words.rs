//! Every path by which a seller's words reach a person: the log, explain, status, the content, a claim, a program's log.

use std::fs;

use bursar_policy::unseen::is_unseen;
use serde_json::Value;

use crate::desk::{Desk, PASSPHRASE, Said};
use crate::explain::{beside, fetched};
use crate::stall::{MARK, Stall};

/// The longest that a stranger's words may be inside words of ours, in characters.
const REMARK_CHARS: usize = 140;

/// Where a seller can put its words; each one is asked for once.
const PATHS: [&str; 10] = [
    "/hostile/plain",
    "/hostile/scheme",
    "/hostile/network",
    "/hostile/amount",
    "/hostile/payee",
    "/hostile/asset",
    "/hostile/name",
    "/hostile/version",
    "/hostile/redirect",
    "/free/text",
];

/// Fails where `text` could steer a terminal, hide something, or lets a stranger go on for long.
fn is_tame(what: &str, text: &str) {
    let raw = text.chars().find(|letter| !matches!(letter, '\n' | '\t') && is_unseen(*letter));
    assert_eq!(raw, None, "{what}: {text}");
    let longest = text.split(|letter| letter != 'Q').map(str::len).max().unwrap_or_default();
    assert!(longest <= REMARK_CHARS, "{what}: {longest} letters of a stranger's in one piece: {text}");
    for line in text.lines() {
        assert!(!line.starts_with("line two") && !line.starts_with(MARK), "{what}: a line of a stranger's own: {line}");
    }
}

async fn tame(desk: &Desk, words: &[&str]) -> String {
    let Said { out, err, .. } = desk.run(words).await;
    is_tame(&format!("{words:?}"), &out);
    is_tame(&format!("{words:?}, standard error"), &err);
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_every_path_to_a_person_a_sellers_words_are_short_marked_and_visible() {
    let stall = Stall::open().await;
    let desk = beside(&stall).await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    let mut payments = Vec::new();
    for path in PATHS {
        let url = format!("{}{path}", stall.origin());
        let told = fetched(&desk, &url).await;
        payments.extend(told["receipt"]["payment_id"].as_str().map(str::to_owned));
        tame(&desk, &["explain", &url]).await;
        let json = tame(&desk, &["explain", "--json", &url]).await;
        if !json.is_empty() {
            serde_json::from_str::<Value>(&json).unwrap_or_else(|fault| panic!("{path}: {fault}: {json}"));
        }
    }
    assert_eq!(payments.len(), 1, "the honest offer was paid");

    let log = tame(&desk, &["log"]).await;
    for said in ["refused", "reported"] {
        assert!(log.contains(said), "{log}");
    }
    for line in tame(&desk, &["log", "--json", "--limit", "500"]).await.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    for words in [&["status"][..], &["status", "--json"], &["session", "list"], &["content", "list"]] {
        tame(&desk, words).await;
    }
    let file = desk.home.with_file_name("claim.json");
    let payment = payments[0].as_str();
    tame(&desk, &["explain", payment]).await;
    let told: Value = serde_json::from_str(&tame(&desk, &["explain", "--json", payment]).await).unwrap();
    let reason = told["settlement"]["reason"].as_str().unwrap_or_else(|| panic!("{told}"));
    assert!(reason.starts_with(MARK), "the seller's reason is kept as its own: {told}");
    tame(&desk, &["claim", payment, "--out", file.to_str().unwrap()]).await;
    is_tame("the claim", &fs::read_to_string(&file).unwrap());
    for line in tame(&desk, &["content", "list", "--json"]).await.lines() {
        let item: Value = serde_json::from_str(line).unwrap();
        let shown = desk.run(&["content", "show", item["sha256"].as_str().unwrap()]).await;
        let raw = shown.out.chars().find(|letter| !matches!(letter, '\n' | '\t') && is_unseen(*letter));
        assert_eq!(raw, None, "{shown:?}");
        assert!(shown.out.lines().skip(1).all(|line| line.starts_with("    | ")), "{shown:?}");
    }
    is_tame("the vault's own log", &fs::read_to_string(desk.home.with_file_name("vault words")).unwrap());
}
