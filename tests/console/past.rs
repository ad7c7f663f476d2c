//! A ledger with more payments than the page shows: the newest are there at the first look, and what a chart leaves out is said.

use bursar_policy::{Amount, ChainId, Errand, Method, Site, Terms, Version};
use bursar_vault::client::AgentClient;
use bursar_vault::protocol::{AgentAsk, AgentReply, Claimed, Delivery, Report, SettlementClaim};

use crate::house::House;

/// How many payments the page shows.
const SHOWN: usize = 400;

fn terms() -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: ChainId::BASE_SEPOLIA,
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
        payee: "0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e".parse().unwrap(),
        amount: Amount::new(1_000).unwrap(),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

/// Has the vault count and sign a payment for each of the pages, and tells it that all went well.
fn pay(house: &House, pages: std::ops::Range<usize>) {
    let (agent, welcome) = AgentClient::connect(house.profile(), None).unwrap();
    for page in pages {
        let errand = Errand::new(Site::parse(&format!("https://shop.console.test/{page}")).unwrap(), Method::Get);
        let claimed = agent.ask(&AgentAsk::Claim { errand }).unwrap();
        assert!(matches!(claimed, AgentReply::Claimed(Claimed::New)), "{claimed:?}");
        let ask = AgentAsk::Authorize { terms: terms(), envelope: String::new(), rules: welcome.rules_digest };
        let AgentReply::Authorized(signed) = agent.ask(&ask).unwrap() else { panic!("payment {page} was not signed") };
        let settlement = SettlementClaim {
            success: true,
            transaction: Some(format!("0x{}", "5a".repeat(32))),
            network: Some(ChainId::BASE_SEPOLIA.to_string()),
            payer: Some(signed.payer.to_string()),
            amount: None,
            reason: None,
        };
        let delivery = Delivery::Answer { status: 200, content: None, content_error: None };
        agent.ask(&AgentAsk::Report(Report { delivery, settlement: Some(settlement) })).unwrap();
    }
}

#[tokio::test]
async fn the_newest_payments_are_shown_at_the_first_look_however_many_there_are() {
    let house = House::with_vault().await;
    house.opens_a_budget();
    pay(&house, 0..SHOWN);
    let keys = house.enter().await;
    let state = house.send(&keys.on(house.get("state"))).await.json();
    let shown = |state: &serde_json::Value| -> Vec<String> {
        let payments = state["payments"].as_array().unwrap().iter();
        payments.map(|payment| payment["what"].as_str().unwrap().to_owned()).collect()
    };
    let expected = |pages: std::ops::Range<usize>| -> Vec<String> {
        pages.rev().map(|page| format!("GET https://shop.console.test/{page}")).collect()
    };
    assert_eq!(shown(&state), expected(0..SHOWN));
    assert_eq!(state["charts_from_s"], serde_json::Value::Null, "every payment is drawn");

    pay(&house, SHOWN..SHOWN + 3);
    let state = house.send(&keys.on(house.get("state"))).await.json();
    assert_eq!(shown(&state), expected(3..SHOWN + 3));
    assert_eq!(state["charts_from_s"], state["payments"][SHOWN - 1]["at_s"], "the oldest one that is drawn");
    // Whoever comes later sees no more and no less.
    let fresh = House::beside(&house);
    let keys = fresh.enter().await;
    assert_eq!(shown(&fresh.send(&keys.on(fresh.get("state"))).await.json()), expected(3..SHOWN + 3));
}
