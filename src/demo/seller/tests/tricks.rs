//! Hostile wares: each trick is really played, so that a step which refuses it refuses something.

use bursar_policy::money::Amount;
use reqwest::StatusCode;
use tokio::join;

use super::buyer::encode;
use super::{earned, left_of, opened};
use crate::demo::seller::shelf::{Edition, FIVE_CENTS, TWENTY_CENTS};
use crate::demo::seller::world::{self, host};

#[tokio::test]
async fn each_hostile_offer_differs_from_the_honest_one_as_it_says() {
    let (_seller, buyer) = opened().await;
    let honest = buyer.get("/v2/report", None).await.asked()["accepts"][0].clone();
    for (path, member, said) in [
        ("/v2/swapped-payee", "payTo", world::stranger().to_string()),
        ("/v2/other-network", "network", "eip155:8453".to_owned()),
        ("/v2/decimal-amount", "amount", "0.05".to_owned()),
        ("/v2/yacht", "amount", "9000000".to_owned()),
        ("/v2/header-against-body", "amount", "9000000".to_owned()),
        ("/v2/dear-first", "amount", TWENTY_CENTS.to_string()),
    ] {
        let answer = buyer.get(path, None).await;
        let offer = &answer.asked()["accepts"][0];
        assert_eq!(offer[member], said, "{path}");
        assert_ne!(offer[member], honest[member], "{path}");
    }
    let conflict = buyer.get("/v2/header-against-body", None).await;
    assert_eq!(conflict.body["accepts"][0]["maxAmountRequired"], FIVE_CENTS.to_string());
    assert_eq!(buyer.get("/v2/dear-first", None).await.asked()["accepts"][1]["amount"], FIVE_CENTS.to_string());
    assert_eq!(buyer.get("/v2/redirect", None).await.status, StatusCode::FOUND);
}

#[tokio::test]
async fn a_thief_cashes_what_it_is_given_on_either_chain() {
    let (seller, buyer) = opened().await;
    let mut stolen = buyer.authorization(FIVE_CENTS, 1);
    stolen.to = world::stranger();
    let header = buyer.header(Edition::V2, &serde_json::Value::Null, &stolen);
    let answer = buyer.get("/v2/swapped-payee", Some((Edition::V2, header))).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(seller.balances(world::stranger()).0, FIVE_CENTS);

    let lured = buyer.authorization(FIVE_CENTS, 2);
    let signature = buyer.sign(&lured, &world::main_domain());
    let header = encode(Edition::V2, &serde_json::Value::Null, &lured, &signature);
    let answer = buyer.get("/v2/other-network", Some((Edition::V2, header))).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(seller.balances(world::merchant()).1, FIVE_CENTS);
}

#[tokio::test]
async fn an_offer_further_down_can_be_paid_in_version_2_only() {
    let (seller, buyer) = opened().await;
    for (edition, path, status) in
        [(Edition::V2, "/v2/dear-first", StatusCode::OK), (Edition::V1, "/v1/dear-first", StatusCode::PAYMENT_REQUIRED)]
    {
        let cheap = buyer.get(path, None).await.asked()["accepts"][1].clone();
        let header = buyer.header(edition, &cheap, &buyer.authorization(FIVE_CENTS, 1));
        assert_eq!(buyer.get(path, Some((edition, header))).await.status, status, "{path}");
    }
    assert_eq!(earned(&seller), FIVE_CENTS);
}

#[tokio::test]
async fn a_seller_that_lies_or_asks_again_moves_nothing() {
    let (seller, buyer) = opened().await;
    let cheap = |path: &'static str| {
        let buyer = &buyer;
        async move {
            let requirement = buyer.get(path, None).await.asked()["accepts"][0].clone();
            let header = buyer.header(Edition::V2, &requirement, &buyer.authorization(FIVE_CENTS, 1));
            buyer.get(path, Some((Edition::V2, header))).await
        }
    };
    let lie = cheap("/v2/false-receipt").await;
    assert_eq!(lie.status, StatusCode::OK);
    assert_eq!(lie.settlement.unwrap()["network"], "eip155:8453");
    let more = cheap("/v2/ask-again").await;
    assert_eq!(more.status, StatusCode::PAYMENT_REQUIRED);
    assert_eq!(more.asked()["accepts"][0]["amount"], TWENTY_CENTS.to_string());
    assert_eq!(left_of(&seller, &buyer), 0);
}

#[tokio::test]
async fn hanging_up_settles_once_and_delivers_when_shown_again() {
    let (seller, buyer) = opened().await;
    let requirement = buyer.get("/v2/hang-up", None).await.asked()["accepts"][0].clone();
    let header = buyer.header(Edition::V2, &requirement, &buyer.authorization(FIVE_CENTS, 1));
    let pay = || Some((Edition::V2, header.clone()));
    assert!(buyer.send(reqwest::Method::GET, "/v2/hang-up", pay()).await.is_none());
    assert_eq!(buyer.get("/v2/hang-up", pay()).await.status, StatusCode::OK);
    assert_eq!(left_of(&seller, &buyer), FIVE_CENTS);
    let tally = seller.tally(host::SHOP, "/v2/hang-up");
    assert_eq!((tally.payments, tally.signatures()), (2, 1));
    // Another ware does not honour the sale.
    let elsewhere = buyer.get("/v2/report", pay()).await;
    assert_eq!(elsewhere.status, StatusCode::PAYMENT_REQUIRED);
}

#[tokio::test]
async fn an_answer_held_back_waits_for_its_release() {
    let (seller, buyer) = opened().await;
    let requirement = buyer.get("/v2/hold-back", None).await.asked()["accepts"][0].clone();
    let mut authorization = buyer.authorization(FIVE_CENTS, 1);
    authorization.value = Amount::new(FIVE_CENTS).unwrap();
    let header = buyer.header(Edition::V2, &requirement, &authorization);
    let paying = buyer.get("/v2/hold-back", Some((Edition::V2, header)));
    let letting_go = async {
        seller.payment_held().await;
        assert_eq!(left_of(&seller, &buyer), FIVE_CENTS, "settled before the answer");
        seller.release();
    };
    let (answer, ()) = join!(paying, letting_go);
    assert_eq!(answer.status, StatusCode::OK);
}
