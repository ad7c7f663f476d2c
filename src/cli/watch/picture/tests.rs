//! Pictures of a household, without a terminal.

use bursar_policy::Digest;
use bursar_vault::protocol::OperatorStatus;

use super::*;

fn status() -> OperatorStatus {
    let told = serde_json::json!({
        "payer": null, "locked": false, "frozen": null, "latched": null, "sessions": [
            { "name": "old", "budget": "1.00 USD", "spent": "1.00 USD", "created_s": 1, "expires_s": 900, "closed": true },
            { "name": "open", "budget": "1.00 USD", "spent": "0.25 USD", "created_s": 1, "expires_s": 5000, "closed": false },
        ],
        "limits": [], "held": ["0.05 USD"], "unresolved": [], "lost": [],
        "quarantined": [{ "origin": "https://shop.example", "until_s": 1060, "failures": 3, "strikes": 0 }],
        "shares": null, "approvals_waiting": 0, "secrets_missing": [], "rules_digest": Digest::of(b"").to_string(),
        "rules_changed": false, "now_s": 1000, "next_step": null,
    });
    serde_json::from_value(told).unwrap()
}

fn event(seq: u64, kind: &str) -> LogEntry {
    let detail = "by the operator".to_owned();
    LogEntry { seq, at_s: 1000, kind: kind.to_owned(), payment: None, session: None, detail }
}

fn shown(picture: &Picture, passed_s: u64) -> String {
    let told = picture.parts(passed_s).into_iter().map(|part| match part {
        Part::Marked(mark, _, says) => format!("{mark}  {says}"),
        Part::Plain(text) => text,
    });
    told.collect::<Vec<_>>().join("\n")
}

fn picture() -> Picture {
    let folder = tempfile::tempdir().unwrap();
    Picture::new(&Profile::locate_sandbox(&folder.path().join("play")).unwrap())
}

#[test]
fn what_is_open_is_shown_with_bars_and_the_newest_event_comes_first() {
    let mut picture = picture();
    assert_eq!(picture.parts(0), Vec::new());
    let events = vec![event(1, "frozen"), event(2, "thawed")];
    picture.see(Seen { status: status(), approvals: Vec::new(), events });
    let first = shown(&picture, 0);
    assert!(first.contains("####............") && first.contains("0.05 USD in payments"), "{first}");
    assert!(!first.contains("old") && first.contains("open"), "{first}");
    assert!(first.find("thawed").unwrap() < first.find("frozen").unwrap(), "{first}");
    assert!(first.contains("60 s left"), "{first}");
    assert!(shown(&picture, 20).contains("40 s left"), "time goes on between two words of the vault");
    picture.see(Seen { status: status(), approvals: Vec::new(), events: vec![event(3, "locked")] });
    let next = shown(&picture, 0);
    assert!(next.find("locked").unwrap() < next.find("thawed").unwrap(), "{next}");
}

#[test]
fn a_vault_that_is_gone_is_told_above_what_was_known_of_it() {
    let mut picture = picture();
    picture.see(Seen { status: status(), approvals: Vec::new(), events: Vec::new() });
    picture.lose("no vault answers; start one with `bursar vault`".to_owned());
    let gone = shown(&picture, 0);
    assert!(gone.starts_with("NO VAULT    no vault answers") && gone.contains("--sandbox"), "{gone}");
    assert!(gone.contains("0.25 USD"), "{gone}");
    picture.see(Seen { status: status(), approvals: Vec::new(), events: Vec::new() });
    assert!(!shown(&picture, 0).contains("NO VAULT"));
}
