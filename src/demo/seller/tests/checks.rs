//! Honest wares: a payment that answers is taken once; one that differs anywhere is not.

use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::buyer::encode;
use super::{earned, left_of, opened};
use crate::demo::seller::shelf::{Edition, FIVE_CENTS};
use crate::demo::seller::world::{self, host};

const EDITIONS: [(Edition, &str); 2] = [(Edition::V1, "/v1/report"), (Edition::V2, "/v2/report")];

#[tokio::test]
async fn both_versions_sell_by_get_and_post_and_say_what_they_settled() {
    let (seller, buyer) = opened().await;
    let mut seed = 0;
    for (edition, path) in EDITIONS {
        for method in [Method::GET, Method::POST] {
            seed += 1;
            let bare = buyer.send(method.clone(), path, None).await.unwrap();
            assert_eq!(bare.status, StatusCode::PAYMENT_REQUIRED);
            assert_eq!(bare.asked()["x402Version"], edition.number());
            let requirement = &bare.asked()["accepts"][0];
            let authorization = buyer.authorization(FIVE_CENTS, seed);
            let header = buyer.header(edition, requirement, &authorization);
            let paid = buyer.send(method.clone(), path, Some((edition, header))).await.unwrap();
            assert_eq!(paid.status, StatusCode::OK, "{}", paid.body);
            let settlement = paid.settlement.unwrap();
            assert_eq!(settlement["success"], true);
            assert_eq!(settlement["network"], requirement["network"]);
            assert_eq!(settlement["payer"], buyer.address().to_string());
            assert_eq!(settlement["transaction"].as_str().unwrap().len(), 66);
            let sent = if method == Method::POST { "{\"pages\":3}" } else { "" };
            assert_eq!(paid.body["you_sent"], sent);
        }
    }
    assert_eq!(left_of(&seller, &buyer), 4 * FIVE_CENTS);
    assert_eq!(earned(&seller), 4 * FIVE_CENTS);
    assert_eq!(seller.signatures(), 4);
    let tally = seller.tally(host::SHOP, "/v2/report");
    assert_eq!((tally.requests, tally.payments, tally.signatures()), (4, 2, 2));
}

#[tokio::test]
async fn the_same_payment_is_taken_once() {
    let (seller, buyer) = opened().await;
    for (edition, path) in EDITIONS {
        let requirement = requirement(&buyer.get(path, None).await);
        let header = buyer.header(edition, &requirement, &buyer.authorization(FIVE_CENTS, 1));
        let first = buyer.get(path, Some((edition, header.clone()))).await;
        let again = buyer.get(path, Some((edition, header))).await;
        let expected = if edition == Edition::V1 { StatusCode::OK } else { StatusCode::PAYMENT_REQUIRED };
        // Both versions sign the same six fields here, so the nonce is used up by the first of them.
        assert_eq!(first.status, expected);
        assert_eq!(again.status, StatusCode::PAYMENT_REQUIRED);
        assert_eq!(again.reason(), "invalid_exact_evm_nonce_already_used");
    }
    assert_eq!(left_of(&seller, &buyer), FIVE_CENTS);
}

#[tokio::test]
async fn a_field_bent_after_signing_breaks_the_signature() {
    let (seller, buyer) = opened().await;
    for (edition, path) in EDITIONS {
        let requirement = requirement(&buyer.get(path, None).await);
        let honest = buyer.authorization(FIVE_CENTS, 1);
        let signature = buyer.sign(&honest, &world::test_domain());
        let mut later = honest.clone();
        later.valid_before += 1;
        let mut other_nonce = honest.clone();
        other_nonce.nonce = [2; 32];
        let mut other_payer = honest.clone();
        other_payer.from = world::stranger();
        for bent in [later, other_nonce, other_payer] {
            let header = encode(edition, &requirement, &bent, &signature);
            let answer = buyer.get(path, Some((edition, header))).await;
            assert_eq!(answer.reason(), "invalid_exact_evm_payload_signature");
        }
        let foreign = buyer.sign(&honest, &world::main_domain());
        for wrong in [foreign, signature.replacen("0x", "0y", 1), "0x00".to_owned(), high_s(&signature)] {
            let header = encode(edition, &requirement, &honest, &wrong);
            let answer = buyer.get(path, Some((edition, header))).await;
            assert_eq!(answer.reason(), "invalid_exact_evm_payload_signature", "{wrong}");
        }
    }
    assert_eq!(left_of(&seller, &buyer), 0);
}

#[tokio::test]
async fn payee_amount_window_and_balance_are_checked() {
    let (seller, buyer) = opened().await;
    for (edition, path) in EDITIONS {
        let requirement = requirement(&buyer.get(path, None).await);
        let honest = buyer.authorization(FIVE_CENTS, 1);
        let mut elsewhere = honest.clone();
        elsewhere.to = world::stranger();
        let mut expired = honest.clone();
        expired.valid_before = 1_000_000_000;
        let mut early = honest.clone();
        early.valid_after = honest.valid_before;
        for (bent, reason) in [
            (elsewhere, "invalid_exact_evm_recipient_mismatch"),
            (buyer.authorization(FIVE_CENTS - 1, 1), "invalid_exact_evm_payload_authorization_value_mismatch"),
            (buyer.authorization(FIVE_CENTS + 1, 1), "invalid_exact_evm_payload_authorization_value_mismatch"),
            (expired, "invalid_exact_evm_payload_authorization_valid_before"),
            (early, "invalid_exact_evm_payload_authorization_valid_after"),
        ] {
            let header = buyer.header(edition, &requirement, &bent);
            assert_eq!(buyer.get(path, Some((edition, header))).await.reason(), reason);
        }
    }
    assert_eq!(left_of(&seller, &buyer), 0);

    let requirement = requirement(&buyer.get("/v2/yacht", None).await);
    let units = 9_000_000;
    let pay = |seed| (Edition::V2, buyer.header(Edition::V2, &requirement, &buyer.authorization(units, seed)));
    assert_eq!(buyer.get("/v2/yacht", Some(pay(1))).await.status, StatusCode::OK);
    assert_eq!(buyer.get("/v2/yacht", Some(pay(2))).await.reason(), "insufficient_funds");
    assert_eq!(left_of(&seller, &buyer), units);
}

#[tokio::test]
async fn the_echo_of_the_offer_must_be_whole_and_unchanged() {
    let (seller, buyer) = opened().await;
    let honest = requirement(&buyer.get("/v2/report", None).await);
    let authorization = buyer.authorization(FIVE_CENTS, 1);
    let mut dropped = honest.clone();
    dropped.as_object_mut().unwrap().remove("shelfMark").unwrap();
    let mut cheaper = honest.clone();
    cheaper["amount"] = "1".into();
    let mut lower_case = honest.clone();
    lower_case["asset"] = honest["asset"].as_str().unwrap().to_lowercase().into();
    for echo in [dropped, cheaper, lower_case, Value::Null] {
        let header = buyer.header(Edition::V2, &echo, &authorization);
        let answer = buyer.get("/v2/report", Some((Edition::V2, header))).await;
        assert_eq!(answer.reason(), "No matching payment requirements");
    }
    let v1 = buyer.header(Edition::V1, &serde_json::json!({"scheme": "exact", "network": "base"}), &authorization);
    let answer = buyer.get("/v1/report", Some((Edition::V1, v1))).await;
    assert_eq!(answer.reason(), "No matching payment requirements");
    assert_eq!(left_of(&seller, &buyer), 0);
}

#[tokio::test]
async fn a_header_that_cannot_be_read_is_turned_down_and_still_counted() {
    let (seller, buyer) = opened().await;
    for (header, reason) in [
        ("not base64!", "invalid_payload"),
        ("e30=", "invalid_x402_version"),
        ("eyJ4NDAyVmVyc2lvbiI6Mn0=", "invalid_payload"),
    ] {
        let answer = buyer.get("/v2/report", Some((Edition::V2, header.to_owned()))).await;
        assert_eq!(answer.reason(), reason);
    }
    assert_eq!(seller.signatures(), 3);
    assert_eq!(buyer.get("/nothing", None).await.status, StatusCode::NOT_FOUND);
}

fn requirement(answer: &super::Answer) -> Value {
    answer.asked()["accepts"][0].clone()
}

/// The other signature that the curve's symmetry allows: same r, the order minus s, the other parity.
fn high_s(signature: &str) -> String {
    let bytes = hex::decode(signature.trim_start_matches("0x")).unwrap();
    let pair = k256::ecdsa::Signature::from_slice(&bytes[..64]).unwrap();
    let (r, s) = pair.split_scalars();
    let flipped = k256::ecdsa::Signature::from_scalars(r.to_bytes(), (-*s).to_bytes()).unwrap();
    format!("0x{}{:02x}", hex::encode(flipped.to_bytes()), 55 - bytes[64])
}
