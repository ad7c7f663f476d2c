//! The header goes onto the page that was paid for, once.

use bursar_policy::PageOpening::{Navigate, Wait};
use bursar_vault::protocol::Delivery;

use crate::scripted_vault::{Did, Word, header};
use crate::stage::Stage;

/// A good answer, and the settlement that the seller claims with it.
fn is_paid(report: &bursar_vault::protocol::Report) {
    assert!(
        matches!(report.delivery, Delivery::Answer { status: 200, content: None, content_error: None }),
        "{report:?}"
    );
    assert!(report.settlement.as_ref().is_some_and(|claim| claim.success), "{report:?}");
}

#[tokio::test]
async fn the_page_opens_with_the_payment_on_its_one_request() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/page?a=1&b=*");
    stage.vault.attach(&url, Navigate, Word::Good);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    is_paid(&stage.vault.heard().await);
    let paid = stage.seller.paid();
    assert_eq!(paid.len(), 1, "{paid:?}");
    assert_eq!((paid[0].payment.as_deref(), paid[0].dest.as_str()), (Some(header().as_str()), "document"));
    let page = stage.browser.page_at(&url).await;
    assert_eq!(page.text().await, "the page that was paid for");
    // Whoever looks at the page again asks without it, and nothing that runs in the page can read it.
    page.go(&url).await;
    assert_eq!(page.text().await, "pay first");
    assert_eq!(stage.seller.paid().len(), 1);
    assert!(!stage.glue.words().contains(&header()), "{}", stage.glue.words());
}

#[tokio::test]
async fn the_page_of_the_seller_is_used_and_no_other() {
    let mut stage = Stage::set().await;
    let elsewhere = stage.browser.open(&stage.seller.elsewhere("/free")).await;
    let shop = stage.browser.open(&stage.seller.url("/free")).await;
    let before = stage.browser.targets().await.len();
    let url = stage.seller.url("/page?a=1");
    stage.vault.attach(&url, Navigate, Word::Good);
    is_paid(&{
        stage.vault.was_armed().await;
        stage.vault.was_redeemed(&url).await;
        stage.vault.heard().await
    });
    assert_eq!(stage.browser.targets().await.len(), before);
    assert_eq!(shop.run("location.href").await, url.as_str());
    assert_eq!(elsewhere.run("location.pathname").await, "/free");
    // It went somewhere else since it was prepared: then there is a page of its own for it.
    shop.go(&stage.seller.elsewhere("/free?again")).await;
    let url = stage.seller.url("/page?a=2");
    stage.vault.attach(&url, Navigate, Word::Good);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    is_paid(&stage.vault.heard().await);
    assert_eq!(stage.browser.targets().await.len(), before + 1);
    assert_eq!(shop.run("location.search").await, "?again");
}

#[tokio::test]
async fn a_page_that_the_browser_has_kept_is_asked_for_again() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/kept");
    let page = stage.browser.open(&url).await;
    assert_eq!(page.text().await, "an older page");
    stage.vault.attach(&url, Navigate, Word::Good);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    is_paid(&stage.vault.heard().await);
    assert_eq!(stage.seller.paid().len(), 1);
}

#[tokio::test]
async fn whoever_clicks_or_fetches_first_is_waited_for() {
    let mut stage = Stage::set().await;
    let shop = stage.browser.open(&stage.seller.url("/free")).await;
    let elsewhere = stage.browser.open(&stage.seller.elsewhere("/free")).await;

    // A link that opens a window of its own.
    let url = stage.seller.url("/page?click");
    stage.vault.attach(&url, Wait, Word::Good);
    stage.vault.was_armed().await;
    shop.start("Object.assign(document.createElement('a'), {href: '/page?click', target: '_blank'}).click()").await;
    stage.vault.was_redeemed(&url).await;
    is_paid(&stage.vault.heard().await);

    // The page goes there itself.
    let url = stage.seller.url("/page?go");
    stage.vault.attach(&url, Wait, Word::Good);
    stage.vault.was_armed().await;
    elsewhere.start(&format!("location.href = '{url}'")).await;
    stage.vault.was_redeemed(&url).await;
    is_paid(&stage.vault.heard().await);

    // The page's own script, and not that of another site; and once, however often it asks.
    let url = stage.seller.url("/page?fetch");
    let stranger = stage.browser.open(&stage.seller.elsewhere("/free")).await;
    stage.vault.attach(&url, Wait, Word::Good);
    stage.vault.was_armed().await;
    stranger.run(&format!("fetch('{url}', {{mode: 'no-cors'}}).then(() => 0)")).await;
    stranger.run(&format!("fetch('{url}').then(() => 0, () => 0)")).await;
    assert!(stage.seller.requests("/page?fetch").iter().all(|seen| seen.payment.is_none()));
    let twice = "Promise.all([1, 2].map(() => fetch('/page?fetch').then(r => r.status))).then(s => s.sort().join())";
    assert_eq!(shop.run(twice).await, "200,402");
    stage.vault.was_redeemed(&url).await;
    is_paid(&stage.vault.heard().await);

    let paid: Vec<String> =
        stage.seller.paid().into_iter().map(|seen| format!("{} {}", seen.path, seen.dest)).collect();
    assert_eq!(paid, ["/page?click document", "/page?go document", "/page?fetch empty"]);
}

#[tokio::test]
async fn a_payment_that_the_vault_withholds_leaves_the_request_as_it_was() {
    let mut stage = Stage::set().await;
    let url = stage.seller.url("/page?a=1");
    stage.vault.attach(&url, Navigate, Word::Frozen);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    stage.glue.said("it is frozen").await;
    stage.seller.saw("the page", |seen| seen.path == "/page?a=1").await;
    assert_eq!(stage.seller.paid(), []);
    // The next one is made as ever, and nothing was reported of the one before.
    stage.vault.attach(&url, Navigate, Word::Good);
    stage.vault.was_armed().await;
    stage.vault.was_redeemed(&url).await;
    let did = stage.vault.did().await;
    assert!(matches!(&did, Did::Reported(report) if report.settlement.is_some()), "{did:?}");
}
