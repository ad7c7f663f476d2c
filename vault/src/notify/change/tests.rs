//! What is told of a household that changes.

use bursar_policy::{Amount, ChainId, Headers, Method, Site, Terms, Version};
use serde_json::Value;

use super::*;

/// A purchase whose URL, payee and reasons must not get out by themselves.
fn view(id: u8, state: ApprovalState) -> ApprovalView {
    ApprovalView {
        id: ApprovalId::from_random([id; 16]),
        state,
        session: "default".parse().unwrap(),
        binding: Digest::of(b"binding"),
        method: Method::Get,
        site: Site::parse("https://shop.example:8443/private/path?token=hidden").unwrap(),
        body: None,
        headers: Headers::default(),
        terms: Terms {
            version: Version::V2,
            offer: 0,
            chain: ChainId::BASE_SEPOLIA,
            asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
            payee: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C".parse().unwrap(),
            amount: Amount::new(50_000).unwrap(),
            max_timeout_s: 60,
            domain_name: "USDC".to_owned(),
            domain_version: "2".to_owned(),
        },
        symbol: "USDC".to_owned(),
        money: "0.05 USD".parse().unwrap(),
        concerns: vec!["the caller found it suspicious: `a secret reason`".to_owned()],
        asked_s: 1000,
        expires_s: 4600,
    }
}

fn session(life_s: u64) -> SessionView {
    let told = json!({
        "name": "default", "budget": "1.00 USD", "spent": "0.00 USD", "created_s": 1000,
        "expires_s": 1000_u64.saturating_add(life_s), "closed": false
    });
    serde_json::from_value(told).unwrap()
}

fn standing(approvals: Vec<ApprovalView>, now_s: u64) -> Standing {
    Standing { approvals, frozen: None, latched: None, sessions: Vec::new(), now_s }
}

fn kinds(notices: &[Notice]) -> Vec<String> {
    let kind = |notice: &Notice| {
        let body: Value = serde_json::from_str(&notice.body).unwrap();
        body["type"].as_str().unwrap().to_owned()
    };
    notices.iter().map(kind).collect()
}

fn news(told: &mut Told, now: &Standing) -> Vec<String> {
    kinds(&told.news(now, Telling::Little, |_id| None))
}

#[test]
fn a_question_is_told_once_and_so_is_its_end() {
    let mut told = Told::default();
    let waits = standing(vec![view(1, ApprovalState::Waiting)], 1000);
    assert_eq!(news(&mut told, &waits), ["approval.waiting"]);
    assert_eq!(news(&mut told, &waits), Vec::<String>::new());
    for (state, kind) in [(ApprovalState::Approved, "approval.approved"), (ApprovalState::Denied, "approval.denied")] {
        let mut told = told.clone();
        let decided = standing(vec![view(1, state)], 1100);
        assert_eq!(news(&mut told, &decided), [kind]);
        assert_eq!(news(&mut told, &decided), Vec::<String>::new());
    }
    let gone = standing(Vec::new(), 4600);
    let ended = |state| kinds(&told.clone().news(&gone, Telling::Little, |_id| state));
    assert_eq!(ended(Some(ApprovalState::Used)), ["approval.approved"], "bought before anybody looked");
    assert_eq!(ended(Some(ApprovalState::Expired)), ["approval.expired"]);
    assert_eq!(ended(None), ["approval.expired"]);
}

#[test]
fn a_message_says_an_id_a_host_an_amount_and_times_unless_it_may_say_more() {
    let waits = standing(vec![view(1, ApprovalState::Waiting)], 1000);
    let notices = Told::default().news(&waits, Telling::Little, |_id| None);
    let little: Value = serde_json::from_str(&notices[0].body).unwrap();
    let id = ApprovalId::from_random([1; 16]).to_string();
    let data = json!({
        "approval": id, "host": "shop.example:8443", "amount": "0.05 USD", "expires": "1970-01-01T01:16:40Z"
    });
    assert_eq!(little, json!({ "type": "approval.waiting", "timestamp": "1970-01-01T00:16:40Z", "data": data }));
    let details = Told::default().news(&waits, Telling::Details, |_id| None);
    for part in ["private/path?token=hidden", "0x209693", "a secret reason"] {
        assert!(details[0].body.contains(part) && !notices[0].body.contains(part), "{part}");
    }
    assert_eq!(details[0].id, notices[0].id);
}

#[test]
fn a_freeze_and_a_shut_ledger_are_told_when_they_begin_and_when_they_end() {
    let calm = standing(Vec::new(), 1000);
    let mut told = Told::beginning(&calm);
    let stopped = Standing { frozen: Some("why".into()), latched: Some("a fault".into()), ..calm.clone() };
    assert_eq!(news(&mut told.clone(), &stopped), ["spending.frozen", "spending.shut"]);
    assert!(!told.clone().news(&stopped, Telling::Little, |_id| None)[0].body.contains("why"));
    assert!(told.news(&stopped, Telling::Details, |_id| None)[0].body.contains("why"));
    assert_eq!(news(&mut told, &calm), ["spending.thawed", "spending.reopened"]);
    assert_eq!(news(&mut Told::beginning(&stopped), &stopped), ["spending.shut"], "a freeze of before is no news");
}

#[test]
fn a_session_is_told_to_be_ending_once_and_in_time() {
    let at = |now_s, life_s| Standing { sessions: vec![session(life_s)], ..standing(Vec::new(), now_s) };
    let mut told = Told::default();
    assert_eq!(news(&mut told, &at(3999, 3600)), Vec::<String>::new());
    assert_eq!(news(&mut told, &at(4000, 3600)), ["session.ending"]);
    assert_eq!(news(&mut told, &at(4001, 3600)), Vec::<String>::new());
    assert_eq!(news(&mut Told::default(), &at(4600, 3600)), Vec::<String>::new(), "it is over");
    assert_eq!(news(&mut Told::default(), &at(1000, 300)), Vec::<String>::new(), "a short one is not ending at once");
    assert_eq!(news(&mut Told::default(), &at(1150, 300)), ["session.ending"]);
}

#[test]
fn the_same_thing_has_the_same_id_after_a_restart_and_another_has_another() {
    let of = |id: u8, now_s| {
        let waits = standing(vec![view(id, ApprovalState::Waiting)], now_s);
        Told::default().news(&waits, Telling::Little, |_id| None)[0].id.clone()
    };
    assert_eq!(of(1, 1000), of(1, 2000));
    assert_ne!(of(1, 1000), of(2, 1000));
    assert!(of(1, 1000).starts_with("msg_") && of(1, 1000).len() == 36);
}
