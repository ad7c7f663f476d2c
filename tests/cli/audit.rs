//! The log for people who do not take our word: receipts, filters, checkpoints, exports and their check.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::desk::{Desk, PASSPHRASE, Said};
use crate::explain::{beside, live};
use crate::stall::Stall;

fn lines(said: Said) -> Vec<Value> {
    said.done().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A desk at which two things were bought and two were refused.
async fn lived(stall: &Stall) -> Desk {
    let desk = beside(stall).await;
    live(&desk, stall).await;
    desk
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn receipts_and_the_log_are_found_by_what_people_look_for() {
    let stall = Stall::open().await;
    let desk = lived(&stall).await;
    let receipts = lines(desk.run(&["receipts", "--json"]).await);
    assert_eq!(receipts.len(), 2);
    let newest = &receipts[1];
    assert_eq!(
        (&newest["money"], &newest["path"], &newest["state"]),
        (&Value::from("0.05 USD"), &Value::from("/page"), &Value::from("settled"),)
    );
    assert_eq!(newest["proof"], "seller_says");
    for name in ["transaction", "payee", "terms_digest", "content_digest", "nonce", "ended_at"] {
        assert!(newest[name].as_str().is_some_and(|text| text.len() >= 20), "{name}: {newest}");
    }
    let id = newest["payment"].as_str().unwrap();
    let page = desk.run(&["receipts", &id[..12]]).await.done();
    for part in
        [id, "settled (the seller says so, with a transaction)", "0.05 USD (50000 atomic units of USDC)", "/page"]
    {
        assert!(page.contains(part), "`{part}` is not in: {page}");
    }
    assert!(!page.contains("again"), "a query may hold what is nobody's business: {page}");
    assert_eq!(lines(desk.run(&["receipts", "--json", "--limit", "1"]).await)[0], *newest);
    assert!(lines(desk.run(&["receipts", "--json", "--since", "2100-01-01"]).await).is_empty());
    assert!(desk.run(&["receipts"]).await.done().contains("transaction"));
    desk.run(&["receipts", "p_00"]).await.says(3, &["`p_00`"]);

    let refused = lines(desk.run(&["log", "--refused", "--json"]).await);
    assert_eq!(refused.len(), 2);
    assert!(refused.iter().all(|entry| entry["kind"] == "refused"));
    let crooked = refused[1]["detail"].as_str().unwrap();
    assert!(
        crooked.starts_with("as reported by serve: ") && crooked.contains("in the seller's words, was `"),
        "{crooked}"
    );
    let elsewhere = lines(desk.run(&["log", "--host", "other.cli.test", "--json"]).await);
    assert_eq!((elsewhere.len(), &elsewhere[0]["kind"]), (1, &Value::from("refused")));
    let host = stall.origin();
    let host = host.split("//").nth(1).unwrap().split(':').next().unwrap();
    let here = lines(desk.run(&["log", "--host", host, "--json"]).await);
    let kinds: Vec<&str> = here.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["exposed", "signed", "settled", "exposed", "signed", "settled", "refused"]);
    let session = lines(desk.run(&["log", "--session", "default", "--json", "--limit", "3"]).await);
    assert_eq!(session.len(), 3);
    assert!(session.iter().all(|entry| entry["session"] == "default"));
    assert!(lines(desk.run(&["log", "--since", "2100-01-01", "--json"]).await).is_empty());
    assert!(!lines(desk.run(&["log", "--since", "1h", "--json"]).await).is_empty());
    desk.run(&["log", "--since", "soon"]).await.says(2, &["`--since soon`"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_is_checked_without_the_ledger_and_a_touched_one_does_not_pass() {
    let stall = Stall::open().await;
    let desk = lived(&stall).await;
    desk.run(&["freeze", "--reason", "=1+1, \"odd\""]).await.done();
    let line = desk.run(&["audit", "checkpoint"]).await.done();
    assert!(line.starts_with("bursar checkpoint 1: ledger ") && line.contains(" signed "), "{line}");
    let key = desk.run(&["audit", "key"]).await.done().trim().to_owned();
    assert!(line.contains(&format!(" key {key} ")));
    let kept = line.split(" hash ").nth(1).unwrap().split(' ').next().unwrap();

    let file = desk.home.with_file_name("export.jsonl");
    let name = file.to_str().unwrap();
    assert!(desk.run(&["audit", "export", "--format", "jsonl", "--out", name]).await.done().starts_with("Wrote "));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    desk.run(&["audit", "export", "--format", "jsonl", "--out", name]).await.says(2, &["cannot be made"]);
    let verified = ["audit", "verify", "--file", name, "--key", &key, "--head", kept];
    assert!(desk.run(&verified).await.done().contains(&format!("checkpoints, by {key}")));
    let text = fs::read_to_string(&file).unwrap();
    let signature = regex_lite::Regex::new("[0-9a-fA-F]{130}").unwrap();
    let mut payments = text.lines().filter(|line| !line.contains("\"kind\":\"checkpoint\""));
    assert!(payments.all(|line| !signature.is_match(line)) && !text.contains("\"signature\""), "{text}");
    for (from, to, part) in [
        ("\"kind\":\"settled\"", "\"kind\":\"voided\"", "was changed"),
        ("=1+1", "=1+2", "was changed"),
        (kept, &"0".repeat(64), "was changed"),
    ] {
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        desk.run(&["audit", "verify", "--file", name]).await.says(3, &["the export is not what was written", part]);
    }
    let shorter: Vec<&str> = text.lines().collect();
    fs::write(&file, shorter[..shorter.len() - 3].join("\n")).unwrap();
    desk.run(&["audit", "verify", "--file", name]).await.says(3, &["should end at event"]);

    let csv = desk.run(&["audit", "export", "--format", "csv"]).await.done();
    assert!(csv.split_inclusive('\n').all(|line| line.ends_with("\r\n")), "{csv}");
    assert!(csv.starts_with("seq,at,kind,session,payment,state,amount,symbol,money,currency,payee,"));
    assert!(csv.contains(",\"'=1+1, \"\"odd\"\"\","), "{csv}");
    assert_eq!(csv.matches(",settled,default,p_").count(), 2);
    let csv_file = desk.home.with_file_name("export.csv");
    fs::write(&csv_file, &csv).unwrap();
    let said = desk.run(&["audit", "verify", "--file", csv_file.to_str().unwrap()]).await;
    said.says(2, &["line 1", "bursar audit export --format jsonl"]);
    let head = desk.run(&["audit", "export", "--format", "jsonl", "--since", "2100-01-01"]).await.done();
    assert_eq!(head.lines().count(), 1);
}

#[tokio::test]
async fn the_ledger_is_checked_and_signed_beside_a_running_vault() {
    let desk = Desk::with_vault().await;
    let said = desk.run(&["audit", "verify"]).await.done();
    assert!(said.starts_with("In order: ") && said.contains("signed  by nobody"), "{said}");
    desk.run(&["audit", "key"]).await.says(4, &["bursar unlock"]);
    desk.run(&["audit", "checkpoint"]).await.says(4, &["bursar unlock"]);
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    let line = desk.run(&["audit", "checkpoint"]).await.done();
    assert_eq!(desk.run(&["audit", "checkpoint"]).await.done(), line, "nothing happened since");
    let report = &lines(desk.run(&["audit", "verify", "--json"]).await)[0];
    let key = report["key"].as_str().unwrap();
    assert_eq!(report["checkpoints"], 1);
    desk.run(&["audit", "verify", "--key", key]).await.done();
    let other = format!("02{}", "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
    desk.run(&["audit", "verify", "--key", &other]).await.says(3, &["is by another key"]);
    desk.run(&["audit", "verify", "--head", &"0".repeat(64)]).await.says(3, &["cut off before it, or written anew"]);
    assert!(desk.run(&["audit", "verify", "--key", "02"]).await.err.contains("66 hex digits"));
    assert_eq!(desk.run(&["audit", "verify", "--key", "02"]).await.code, Some(2));
    desk.is_private();
}
