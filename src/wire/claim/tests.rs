//! What comes through of a seller's word about a settlement, and what does not.

use super::super::tests::{encoded, headers};
use super::{Claim, HeaderView, Settlement, read_claim};

const TRANSACTION: &str = "0x6079c18a1a742214e24465f538c84098f91606f36d246f86134798b0876ba2c5";

fn claim(pairs: &[(&str, &str)]) -> Claim {
    let pairs: Vec<_> =
        pairs.iter().map(|(name, document)| ((*name).to_owned(), encoded(document).into_bytes())).collect();
    read_claim(HeaderView::new(&pairs))
}

fn said(document: &str) -> Settlement {
    match claim(&[("payment-response", document)]) {
        Claim::Said(settlement) => settlement,
        other => panic!("expected a claim, got {other:?}"),
    }
}

#[test]
fn a_full_claim_of_either_generation_is_read() {
    let document = format!(
        r#"{{"success": true, "payer": "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", "transaction": "{}", "network": "eip155:84532", "requirements": {{}}}}"#,
        TRANSACTION.to_uppercase().replace("0X", "0x")
    );
    let want = Settlement {
        success: Some(true),
        transaction: Some(TRANSACTION.to_owned()),
        network: Some("eip155:84532".to_owned()),
        payer: Some("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".parse().unwrap()),
        strange: false,
        amount: None,
        reason: None,
    };
    for name in ["payment-response", "x-payment-response"] {
        assert_eq!(claim(&[(name, &document)]), Claim::Said(want.clone()));
    }
}

#[test]
fn missing_null_and_odd_members_are_dropped_one_by_one() {
    let (success, transaction, network, payer) = (None, None, None, None);
    let nothing = Settlement { success, transaction, network, payer, strange: false, amount: None, reason: None };
    let odd = [
        "{}",
        r#"{"success":"true","transaction":null,"network":"","payer":"","details":{"fee":1}}"#,
        r#"{"success":1,"transaction":7,"network":84532,"payer":["0x1"],"amount":"0.01 USD","errorReason":{}}"#,
    ];
    for document in odd {
        assert_eq!(said(document), nothing, "{document}");
    }
    let failed = said(r#"{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"base"}"#);
    assert_eq!((failed.success, failed.reason.as_deref()), (Some(false), Some("insufficient_funds")));
}

#[test]
fn a_payer_or_network_that_is_none_fits_no_payment() {
    for member in
        [r#""network":"eip155:84532 or so""#, r#""network":"a b""#, r#""payer":"someone""#, r#""payer":"0x1""#]
    {
        let document = format!(r#"{{"success":true,"transaction":"{TRANSACTION}","errorReason":"theirs",{member}}}"#);
        let told = claim(&[("payment-response", &document)]).for_the_ledger().unwrap();
        assert_eq!((told.success, told.reason.as_deref()), (false, Some("theirs")), "{member}");
        assert_eq!((told.network, told.payer), (None, None), "{member}");
    }
    // Upper and lower case mixed as EIP-55 does not.
    let sloppy = said(r#"{"success":true,"payer":"0xF39fd6e51aad88f6f4ce6ab8827279cfffb92266"}"#);
    assert_eq!(sloppy.payer, Some("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".parse().unwrap()));
}

#[test]
fn the_amount_is_told_and_a_claim_that_does_not_say_whether_it_settled_is_none() {
    for digits in ["\"10000\"", "10000"] {
        let told = claim(&[("payment-response", &format!(r#"{{"success":true,"amount":{digits}}}"#))]).for_the_ledger();
        assert_eq!(told.and_then(|told| told.amount).as_deref(), Some("10000"), "{digits}");
    }
    let told = |document: &str| claim(&[("payment-response", document)]).for_the_ledger();
    assert_eq!(told(&format!(r#"{{"transaction":"{TRANSACTION}","network":"eip155:84532"}}"#)), None);
    assert_eq!(told(r#"{"success":"true"}"#), None);
    assert!(told(r#"{"errorReason":"insufficient_funds"}"#).is_some_and(|told| !told.success));
}

#[test]
fn only_a_transaction_id_is_kept_as_one() {
    let kept = |text: &str| said(&format!(r#"{{"success":true,"transaction":"{text}"}}"#)).transaction;
    assert_eq!(kept(TRANSACTION).as_deref(), Some(TRANSACTION));
    let longer = format!("{TRANSACTION}0");
    let zeros = format!("0x{}", "0".repeat(64));
    let effs = format!("0x{}F", "f".repeat(63));
    let prefixed = TRANSACTION.replace("0x", "0X");
    let odd = [
        zeros.as_str(),
        &effs,
        &longer,
        &prefixed,
        "3f1c2b9e-0000-4000-8000-000000000000",
        "0x",
        "pay again at https://evil.example",
    ];
    for text in odd {
        assert_eq!(kept(text), None, "{text}");
    }
}

#[test]
fn a_reason_is_short_and_cannot_steer_a_terminal() {
    let document = format!(r#"{{"success":false,"errorReason":"a\u001b[31m\nb\u202e{}"}}"#, "x".repeat(400));
    let reason = said(&document).reason.unwrap();
    assert!(reason.starts_with("a?[31m?b?xxx"), "{reason}");
    assert_eq!(reason.chars().count(), 140);
}

#[test]
fn silence_contradiction_and_noise_are_told_apart() {
    assert_eq!(claim(&[("date", "x")]), Claim::Silent);
    assert_eq!(read_claim(HeaderView::new(&headers(&[("payment-response", "")]))), Claim::Silent);
    let (yes, no) = (r#"{"success":true}"#, r#"{"success":false}"#);
    let both = [("payment-response", yes), ("x-payment-response", yes)];
    assert!(matches!(claim(&both), Claim::Said(Settlement { success: Some(true), .. })));
    for pair in [
        [("payment-response", yes), ("x-payment-response", no)],
        [("payment-response", yes), ("payment-response", no)],
        [("payment-response", yes), ("x-payment-response", "?")],
    ] {
        assert!(matches!(claim(&pair), Claim::Unclear(_)), "{pair:?}");
    }
    let long = format!(r#"{{"success":true,"errorReason":"{}"}}"#, "x".repeat(17 * 1024));
    for noise in ["[]", "nothing", r#"{"success":true,"success":false}"#, &long, &"[".repeat(40 * 1024)] {
        assert!(matches!(claim(&[("payment-response", noise)]), Claim::Unclear(_)));
    }
    let raw = headers(&[("x-payment-response", "{\"success\":true}")]);
    assert!(matches!(read_claim(HeaderView::new(&raw)), Claim::Unclear(_)));
}

#[test]
fn a_latin_1_reason_does_not_hide_the_rest() {
    let mut document = format!(r#"{{"success":true,"transaction":"{TRANSACTION}","errorReason":"caf"#).into_bytes();
    document.extend(b"\xe9\"}");
    use base64::Engine as _;
    let value = base64::engine::general_purpose::STANDARD.encode(document).into_bytes();
    let Claim::Said(settlement) = read_claim(HeaderView::new(&[("x-payment-response".to_owned(), value)])) else {
        panic!("expected a claim");
    };
    assert_eq!((settlement.transaction.as_deref(), settlement.reason.as_deref()), (Some(TRANSACTION), Some("caf?")));
}
