//! Pages and sellers that try to have the header sent twice, to somebody else, or for something else.

use bursar_policy::PageOpening::{Navigate, Wait};
use bursar_vault::protocol::Delivery;

use crate::scripted_vault::Word;
use crate::stage::Stage;

fn status(report: &bursar_vault::protocol::Report) -> Option<u16> {
    match report.delivery {
        Delivery::Answer { status, .. } => Some(status),
        Delivery::Silence { .. } => None,
    }
}

#[tokio::test]
async fn frames_service_workers_prefetches_and_forms_get_no_header() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/page?a=1");
    stage.vault.attach(&url, Wait, Word::Good);
    stage.vault.was_armed().await;
    let page = stage.browser.open(&stage.seller.url("/hostile?a=1")).await;
    for done in ["/service-worker-done", "/head-done"] {
        stage.seller.saw(done, |seen| seen.path == done).await;
    }
    for (method, dest) in [("GET", "iframe"), ("GET", "image"), ("POST", "iframe"), ("HEAD", "empty")] {
        let what = format!("{method} {dest}");
        stage.seller.saw(&what, |seen| seen.path == "/page?a=1" && seen.method == method && seen.dest == dest).await;
    }
    assert_eq!(stage.seller.paid(), []);
    // The page itself still gets it, past the service worker that now stands in between.
    assert_eq!(page.run("navigator.serviceWorker.controller !== null").await, true);
    page.start("location.href = '/page?a=1'").await;
    stage.vault.was_redeemed(&url).await;
    assert_eq!(status(&stage.vault.heard().await), Some(200));
    let paid = stage.seller.paid();
    assert_eq!(paid.len(), 1, "{paid:?}");
    assert_eq!(paid[0].dest, "document");
}

#[tokio::test]
async fn a_redirect_that_answers_a_payment_is_told_and_not_followed() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/moves?a=1");
    stage.vault.attach(&url, Navigate, Word::Good);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    let report = stage.vault.heard().await;
    assert_eq!(status(&report), Some(302));
    assert!(report.settlement.is_some_and(|claim| claim.success));
    // Something later goes through, so what did not come until then does not come.
    stage.browser.open(&stage.seller.url("/free")).await;
    assert_eq!(stage.seller.requests("/after"), []);
    assert_eq!(stage.seller.paid().len(), 1);
}

#[tokio::test]
async fn a_redirect_that_leads_to_the_page_is_not_the_page() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/page?a=1");
    let page = stage.browser.open(&stage.seller.url("/free")).await;
    stage.vault.attach(&url, Wait, Word::Good);
    stage.vault.was_armed().await;
    page.start("location.href = '/old?a=1'").await;
    stage.seller.saw("the page", |seen| seen.path == "/page?a=1").await;
    assert_eq!(stage.seller.paid(), []);
    stage.browser.blank().await.start(&format!("location.href = '{url}'")).await;
    stage.vault.was_redeemed(&url).await;
    assert_eq!(status(&stage.vault.heard().await), Some(200));
}

#[tokio::test]
async fn a_seller_that_asks_for_a_password_hears_the_payment_once() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/locked?a=1");
    stage.vault.attach(&url, Navigate, Word::Good);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    assert_eq!(status(&stage.vault.heard().await), Some(401));
    assert_eq!(stage.seller.requests("/locked?a=1").len(), 1);
}

#[tokio::test]
async fn the_same_page_in_other_words_is_another_page() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/page?a=1");
    stage.vault.attach(&url, Wait, Word::Good);
    stage.vault.was_armed().await;
    let page = stage.browser.blank().await;
    for other in [
        stage.seller.url("/page"),
        stage.seller.url("/page?a=1&"),
        stage.seller.url("/page?a=2"),
        stage.seller.url("/page/?a=1"),
        stage.seller.url("/page?A=1"),
        stage.seller.elsewhere("/page?a=1"),
    ] {
        page.go(&other).await;
    }
    assert_eq!(stage.seller.paid(), []);
    // A fragment is not sent, so it makes no other request.
    page.start(&format!("location.href = '{url}#part'")).await;
    stage.vault.was_redeemed(&url).await;
    assert_eq!(status(&stage.vault.heard().await), Some(200));
}
