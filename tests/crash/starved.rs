//! Processes that may open hardly anything more: what cannot be opened is not bought, and no money is lost from sight.

use crate::client::{Client, starve};
use crate::shared::pid;
use crate::stand::Stand;

/// Descriptors of a process: fewer than forty purchases at once want.
const DESCRIPTORS: u64 = 32;

/// Forty purchases at once, each told an end; then one more, which is paid; then the books, against the seller.
async fn forty(mut stand: Stand, mut serve: Client) {
    let mut calls = Vec::new();
    for number in 0..40 {
        calls.push(serve.fetch(&stand.seller.url(&format!("/page/{number}")), None).await);
    }
    for call in calls {
        let told = serve.told(call).await.unwrap();
        let outcome = told["outcome"].as_str().unwrap();
        assert!(["paid", "paid_content_lost", "failed", "unresolved"].contains(&outcome), "{told}");
    }
    let after = serve.buy(&stand.seller.url("/after"), None).await;
    assert_eq!(after["outcome"], "paid", "it lives on: {after}");
    stand.close().await.hold_against(&stand.seller);
}

/// A vault with a budget, and a `serve` that has opened all that it opens once.
async fn both() -> (Stand, Client) {
    let stand = Stand::with_budget("5.00 USD").await;
    let mut serve = stand.serve();
    serve.status().await;
    (stand, serve)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_serve_without_descriptors_to_spare_loses_no_money_from_sight() {
    let (stand, serve) = both().await;
    serve.starve(DESCRIPTORS);
    forty(stand, serve).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vault_without_descriptors_to_spare_loses_no_money_from_sight() {
    let (stand, serve) = both().await;
    starve(pid(&stand), DESCRIPTORS);
    forty(stand, serve).await;
}
