//! Killed while a page waits for the user's browser, or has just been let go of: what is signed is counted, what is only
//! held comes back, and the same page is signed for once.

use bursar_policy::Handle;
use bursar_vault::client::GlueClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{PaymentHeader, RowState};
use serde_json::{Value, json};
use tokio::time::{interval, timeout};

use crate::books::{Books, money};
use crate::client::{Client, PATIENCE};
use crate::seller::PRICE_UNITS;
use crate::stand::{LOOK_AGAIN, Stand};

/// The steps that only a browser's payment passes.
pub(crate) const STEPS: [&str; 5] = [
    "vault-held-uncommitted",
    "vault-held-committed",
    "serve-held",
    "vault-redeemed-uncommitted",
    "vault-redeemed-committed",
];

/// What a second preparation of the same page is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// A fresh handle for money that is set aside anew.
    Anew,
    /// A fresh handle for the payment that was signed.
    SameAgain,
    /// That it was let go of and never signed, so it counts and is not offered again.
    NeverSigned,
}

async fn prepare(serve: &mut Client, url: &str) -> Option<Value> {
    let id = serve.call("prepare_browser_payment", &json!({ "url": url })).await;
    serve.told(id).await
}

/// Redeems a handle as the glue of the session; nothing when the vault went away meanwhile.
async fn redeem(profile: &Profile, told: &Value, url: &str) -> Option<PaymentHeader> {
    let handle: Handle = told["handle"].as_str().unwrap().parse().unwrap();
    let (profile, url) = (profile.clone(), url.to_owned());
    let redeemed = tokio::task::spawn_blocking(move || {
        let (glue, _) = GlueClient::connect(&profile, None).unwrap();
        glue.redeem(&handle, &url).ok()
    });
    timeout(PATIENCE, redeemed).await.unwrap().unwrap()
}

/// The page is prepared and redeemed with the vault killed at `step`; then the same again.
async fn killed(step: &str, left: &[RowState], then: Then) {
    let mut stand = Stand::with_budget("1.00 USD").await;
    let mut serve = stand.serve();
    let url = stand.seller.url("/page");
    stand.arm(step);
    let told = prepare(&mut serve, &url).await.unwrap();
    let first = if told.get("handle").is_some() { redeem(&stand.profile, &told, &url).await } else { None };
    assert_eq!(first, None, "nobody was answered");
    let ended = stand.vault_ended().await;
    stand.was_killed_at(step, ended);
    let books = Books::of_the_disk(&stand.profile);
    books.hold_against(&stand.seller);
    assert_eq!(books.states(), left, "{step}");
    stand.start_vault().await;
    goes_on(&mut stand, &mut serve, &url, then).await;
}

/// The same page is prepared again and, where there is a handle, redeemed.
async fn goes_on(stand: &mut Stand, serve: &mut Client, url: &str, then: Then) {
    let again = prepare(serve, url).await.unwrap();
    let (outcome, repeat) = (again["outcome"].as_str().unwrap(), again["repeat"].as_bool().unwrap());
    let expected = match then {
        Then::Anew => ("prepared", false),
        Then::SameAgain => ("prepared", true),
        Then::NeverSigned => ("unresolved", true),
    };
    assert_eq!((outcome, repeat), expected, "{again}");
    if then != Then::NeverSigned {
        assert!(redeem(&stand.profile, &again, url).await.is_some(), "{again}");
    }
    let books = Books::of_the_vault(&stand.profile);
    books.hold_against(&stand.seller);
    assert_eq!(books.rows.iter().filter(|row| row.signed).count(), usize::from(then != Then::NeverSigned));
    assert_eq!(books.session().spent, money(PRICE_UNITS), "one page, counted once");
    serve.hang_up();
    assert!(serve.ended().await.success());
    stand.close().await.hold_against(&stand.seller);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_page_is_held_and_not_on_the_disk() {
    killed("vault-held-uncommitted", &[], Then::Anew).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_page_is_held_on_the_disk() {
    // The books are read by a ledger that was opened anew, which gives back what nobody has the handle of.
    killed("vault-held-committed", &[RowState::Voided], Then::Anew).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_handle_is_redeemed_and_not_on_the_disk() {
    killed("vault-redeemed-uncommitted", &[RowState::Voided], Then::Anew).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_handle_is_redeemed_on_the_disk() {
    killed("vault-redeemed-committed", &[RowState::Exposed], Then::NeverSigned).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_page_is_signed_for() {
    killed("vault-signed", &[RowState::Exposed], Then::NeverSigned).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_signature_for_the_page_is_not_on_the_disk() {
    killed("vault-signature-uncommitted", &[RowState::Exposed], Then::NeverSigned).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_signature_for_the_page_is_on_the_disk() {
    killed("vault-signature-committed", &[RowState::Exposed], Then::SameAgain).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_the_handle_has_arrived() {
    let mut stand = Stand::with_budget("1.00 USD").await;
    let mut serve = stand.serve();
    let url = stand.seller.url("/page");
    stand.arm("serve-held");
    assert_eq!(prepare(&mut serve, &url).await, None);
    stand.was_killed_at("serve-held", serve.ended().await);
    assert_eq!(Books::of_the_vault(&stand.profile).states(), [RowState::Held]);
    let mut serve = stand.serve();
    goes_on(&mut stand, &mut serve, &url, Then::Anew).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_glue_that_is_killed_with_the_payment_in_hand_gives_its_place_and_the_same_bytes_to_the_next() {
    let mut stand = Stand::with_budget("1.00 USD").await;
    let mut serve = stand.serve();
    let url = stand.seller.url("/page");
    let told = prepare(&mut serve, &url).await.unwrap();
    let first = redeem(&stand.profile, &told, &url).await.unwrap();
    let again = prepare(&mut serve, &url).await.unwrap();
    assert_eq!(again["code"], "offered_again", "{again}");
    let mut tick = interval(LOOK_AGAIN);
    let mut second = None;
    while second.is_none() {
        tick.tick().await;
        let handle: Handle = again["handle"].as_str().unwrap().parse().unwrap();
        let Ok((glue, _)) = GlueClient::connect(&stand.profile, None) else { continue };
        second = Some(glue.redeem(&handle, &url).unwrap());
    }
    assert_eq!(second, Some(first));
    assert_eq!(Books::of_the_vault(&stand.profile).states(), [RowState::Exposed]);
    stand.close().await.hold_against(&stand.seller);
}
