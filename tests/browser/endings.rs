//! Payments that end badly: what was redeemed is reported as silence, and what was not is refused.

use bursar_policy::PageOpening::{Navigate, Wait};
use bursar_vault::protocol::{Delivery, GlueRefusal, Report};

use crate::scripted_vault::{Did, Word};
use crate::stage::Stage;

fn silence(report: Report) -> String {
    match report.delivery {
        Delivery::Silence { why } => why,
        delivery @ Delivery::Answer { .. } => panic!("{delivery:?}"),
    }
}

#[tokio::test]
async fn a_seller_that_hangs_up_is_silence() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/silent");
    stage.vault.attach(&url, Navigate, Word::Good);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    assert_eq!(silence(stage.vault.heard().await), "browser_failed");
}

#[tokio::test]
async fn a_page_that_is_closed_before_the_answer_is_silence() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/slow");
    let page = stage.browser.open(&stage.seller.url("/free")).await;
    stage.vault.attach(&url, Navigate, Word::Good);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    stage.seller.saw("the payment", |seen| seen.payment.is_some()).await;
    page.close().await;
    assert_eq!(silence(stage.vault.heard().await), "page_gone");
}

#[tokio::test]
async fn a_page_that_nobody_asks_for_is_refused_when_its_time_is_over() {
    let mut stage = Stage::set().await;
    let page = stage.browser.open(&stage.seller.url("/free")).await;
    let url = stage.seller.url("/page?a=1");
    stage.vault.attach_for(&url, Wait, Word::Good, 1);
    stage.vault.was_armed().await;
    let did = stage.vault.did().await;
    assert!(matches!(did, Did::Refused(GlueRefusal::Timeout)), "{did:?}");
    stage.glue.said("nothing was paid").await;
    page.go(&url).await;
    assert_eq!(stage.seller.paid(), []);
}

#[tokio::test]
async fn a_browser_that_has_gone_ends_the_command() {
    let mut stage = Stage::set().await;
    stage.browser.kill().await;
    let (ended, words) = stage.glue.ended().await;
    assert_eq!(ended.code(), Some(4), "{words}");
    assert!(
        words.ends_with("bursar: the browser was closed; start `bursar browser` again\n")
            || words.contains("start `bursar --sandbox"),
        "{words}"
    );
}

#[tokio::test]
async fn an_interrupt_ends_the_command_and_leaves_a_joined_browser_alone() {
    let stage = Stage::set().await;
    stage.glue.interrupt();
    let (ended, words) = stage.glue.ended().await;
    assert_eq!(ended.code(), Some(0), "{words}");
    assert_eq!(stage.browser.targets().await.len(), 1);
}
