//! From the agent's call to the page on the screen: a real vault, a real `serve`, the glue and a browser.

use std::path::Path;

use bursar_vault::protocol::OperatorAsk;
use serde_json::json;

use crate::glue::Glue;
use crate::household::Household;

#[tokio::test]
async fn an_agent_has_a_page_paid_for_and_never_sees_the_proof() {
    let mut house = Household::set_up().await;
    let url = house.seller.url("/page?a=1");
    let page = house.browser.open(&url).await;
    assert_eq!(page.text().await, "pay first");
    drop(page);
    let handle = house.prepare(&url).await;

    // Without a browser the handle survives.
    let told = house.attach(&handle, "navigate").await;
    assert_eq!((&told["outcome"], &told["code"]), (&json!("failed"), &json!("no_browser_glue")), "{told}");

    let glue = Glue::joined(&house.profile, &house.browser.endpoint).await;
    let told = house.attach(&handle, "navigate").await;
    assert_eq!((&told["outcome"], &told["repeat"]), (&json!("paid"), &json!(false)), "{told}");
    assert!(told["receipt"]["transaction"].is_string(), "{told}");
    let page = house.browser.page_at(&url).await;
    assert_eq!(page.text().await, "the page that was paid for");
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tests/browser-page.png");
    page.picture(&picture).await;
    drop(page);

    // The same handle tells and does not pay; the same page again is told and not paid.
    let again = house.attach(&handle, "navigate").await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&json!("paid"), &json!(true)), "{again}");
    let prepared = house.call("prepare_browser_payment", json!({ "url": url })).await;
    assert_eq!((&prepared["outcome"], &prepared["repeat"]), (&json!("paid"), &json!(true)), "{prepared}");
    assert_eq!(house.seller.paid().len(), 1);
    house.nothing_was_told();
    assert!(!glue.words().contains(house.seller.paid()[0].payment.as_deref().unwrap()));
}

#[tokio::test]
async fn an_agent_arms_the_browser_and_clicks_itself() {
    let mut house = Household::set_up().await;
    let _glue = Glue::joined(&house.profile, &house.browser.endpoint).await;
    let url = house.seller.url("/page?a=1");
    let handle = house.prepare(&url).await;
    let told = house.attach(&handle, "wait").await;
    assert_eq!(told["outcome"], "armed", "{told}");
    assert_eq!(house.seller.paid(), []);
    let shop = house.browser.open(&house.seller.url("/free")).await;
    assert_eq!(shop.run("fetch('/page?a=1').then(reply => reply.text())").await, "<h1>the page that was paid for</h1>");
    drop(shop);
    let told = house.attach(&handle, "wait").await;
    assert_eq!(told["outcome"], "paid", "{told}");
    assert_eq!(house.seller.paid().len(), 1);
    house.nothing_was_told();
}

#[tokio::test]
async fn a_glue_that_dies_after_redeeming_leaves_a_payment_that_can_be_offered_again() {
    let mut house = Household::set_up().await;
    let glue = Glue::joined(&house.profile, &house.browser.endpoint).await;
    let url = house.seller.url("/late?a=1");
    let handle = house.prepare(&url).await;
    let (told, ()) = {
        let paid = house.seller.was_paid(1);
        let dies = async move {
            paid.await;
            glue.kill().await;
        };
        tokio::join!(house.attach(&handle, "navigate"), dies)
    };
    assert_eq!(told["outcome"], "unresolved", "{told}");

    let _glue = Glue::joined(&house.profile, &house.browser.endpoint).await;
    let fresh = house.prepare(&url).await;
    assert_ne!(fresh, handle);
    let told = house.attach(&fresh, "navigate").await;
    assert_eq!(told["outcome"], "paid", "{told}");
    let paid = house.seller.paid();
    assert_eq!(paid.len(), 2);
    assert_eq!(paid[0], paid[1], "it was signed twice");
    house.nothing_was_told();
}

#[tokio::test]
async fn a_freeze_between_prepare_and_attach_stops_the_payment() {
    let mut house = Household::set_up().await;
    let glue = Glue::joined(&house.profile, &house.browser.endpoint).await;
    let url = house.seller.url("/page?a=1");
    let handle = house.prepare(&url).await;
    house.operator(&OperatorAsk::Freeze { reason: "a test".to_owned() });
    let told = house.attach(&handle, "navigate").await;
    assert!(told["outcome"] == "refused" || told["outcome"] == "failed", "{told}");
    assert_eq!(house.seller.paid(), [], "{}", glue.words());
}

#[tokio::test]
async fn a_second_glue_of_one_budget_is_refused() {
    let house = Household::set_up().await;
    let _glue = Glue::joined(&house.profile, &house.browser.endpoint).await;
    let (ended, said) = Glue::start(&house.profile, &["--connect", &house.browser.endpoint]).ended().await;
    assert_eq!(ended.code(), Some(3), "{said}");
}

#[tokio::test]
async fn a_vault_that_comes_back_finds_the_browser_waiting() {
    let mut house = Household::set_up().await;
    let glue = Glue::joined(&house.profile, &house.browser.endpoint).await;
    let url = house.seller.url("/page?a=1");
    let lost = house.prepare(&url).await;
    house.change_vaults().await;
    glue.said("waiting for payments again").await;
    // What was held and not redeemed is over with the vault that held it.
    let told = house.attach(&lost, "navigate").await;
    assert_eq!(told["outcome"], "failed", "{told}");
    assert_eq!(house.seller.paid(), []);
    let handle = house.prepare(&url).await;
    let told = house.attach(&handle, "navigate").await;
    assert_eq!(told["outcome"], "paid", "{told}");
    assert_eq!(house.seller.paid().len(), 1);
}
