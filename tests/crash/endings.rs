//! A client that hangs up, a process that is told to go, a call that is cancelled: the purchase is brought to its end
//! and written down first, and what nobody paid for yet is given up.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use bursar_vault::protocol::RowState;
use rustix::process::Signal;
use tokio::time::timeout;

use crate::books::Books;
use crate::client::Client;
use crate::seller::Hold;
use crate::stand::Stand;

const BUDGET: &str = "1.00 USD";
/// How long a slow seller takes.
const SLOW: Duration = Duration::from_secs(6);

/// A purchase whose seller has the payment and keeps the goods back: where, of which URL, by whom, and its call.
async fn paid_and_waiting() -> (Stand, String, Client, u64) {
    let stand = Stand::with_budget(BUDGET).await;
    let url = stand.seller.url("/page");
    let mut serve = stand.serve();
    stand.seller.hold(Hold::Goods);
    let call = serve.fetch(&url, None).await;
    stand.seller.was_paid(1).await;
    (stand, url, serve, call)
}

/// After its end, the purchase of `url` is one settled row, and another `serve` tells its result without paying.
async fn is_written_down(mut stand: Stand, url: &str) {
    let books = Books::of_the_vault(&stand.profile);
    assert_eq!(books.states(), [RowState::Settled]);
    books.hold_against(&stand.seller);
    let again = stand.serve().buy(url, None).await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&"paid".into(), &true.into()), "{again}");
    assert_eq!(stand.seller.payments(), 1, "nothing was sent again");
    stand.close().await.hold_against(&stand.seller);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_hangs_up_right_after_the_call() {
    let stand = Stand::with_budget(BUDGET).await;
    let url = stand.seller.url("/page");
    let mut serve = stand.serve();
    let call = serve.fetch(&url, None).await;
    serve.hang_up();
    let told = serve.told(call).await;
    assert_eq!(told.as_ref().unwrap()["outcome"], "paid", "who reads on still hears it: {told:?}");
    assert!(serve.ended().await.success());
    is_written_down(stand, &url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_hangs_up_and_a_slow_seller_is_waited_for() {
    let (stand, url, mut serve, call) = paid_and_waiting().await;
    serve.hang_up();
    // Longer than the MCP library waits for its handlers at the end.
    let early = timeout(SLOW, serve.answer(call)).await;
    assert!(early.is_err(), "the purchase was given up: {early:?}");
    stand.seller.hold(Hold::Nothing);
    assert_eq!(serve.told(call).await.unwrap()["outcome"], "paid");
    assert!(serve.ended().await.success());
    is_written_down(stand, &url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_hangs_up_and_hears_nothing_more() {
    let (stand, url, serve, _) = paid_and_waiting().await;
    // Both pipes are closed before the answer comes; only then may the seller give it.
    let ended = serve.abandon();
    stand.seller.hold(Hold::Nothing);
    let ended = ended.await;
    assert_eq!(ended.signal(), None, "{ended:?}");
    is_written_down(stand, &url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_is_told_to_stop_while_the_seller_has_the_payment() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (stand, url, mut serve, call) = paid_and_waiting().await;
        serve.signal(signal);
        stand.seller.hold(Hold::Nothing);
        let told = serve.told(call).await;
        assert_eq!(told.as_ref().unwrap()["outcome"], "paid", "{signal:?}: {told:?}");
        assert!(serve.ended().await.success(), "{signal:?}");
        is_written_down(stand, &url).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_cancelled_while_the_seller_has_the_payment() {
    let (stand, url, mut serve, cancelled) = paid_and_waiting().await;
    serve.cancel(cancelled).await;
    // The same call waits for the one in flight, and so comes after it.
    let again = serve.fetch(&url, None).await;
    stand.seller.hold(Hold::Nothing);
    let told = serve.told(again).await.unwrap();
    assert_eq!((&told["outcome"], &told["repeat"]), (&"paid".into(), &true.into()), "{told}");
    serve.hang_up();
    assert_eq!(serve.told(cancelled).await, None, "nobody waited for that answer");
    assert!(serve.ended().await.success());
    is_written_down(stand, &url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_cancelled_before_anything_is_signed() {
    let mut stand = Stand::with_budget(BUDGET).await;
    let url = stand.seller.url("/page");
    let mut serve = stand.serve();
    stand.seller.hold(Hold::Terms);
    let cancelled = serve.fetch(&url, None).await;
    stand.seller.was_asked(1).await;
    serve.cancel(cancelled).await;
    // Lines are taken in order: when this is answered, the one before it was understood.
    assert_eq!(serve.status().await["session"]["left"], BUDGET);
    stand.seller.hold(Hold::Nothing);
    serve.hang_up();
    assert_eq!(serve.told(cancelled).await, None, "nobody waited for that answer");
    assert!(serve.ended().await.success());
    assert_eq!(stand.seller.payments(), 0, "nothing was signed, nothing was sent");

    let bought = stand.serve().buy(&url, None).await;
    assert_eq!((&bought["outcome"], &bought["repeat"]), (&"paid".into(), &false.into()), "{bought}");
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    assert_eq!(books.states(), [RowState::Settled], "one row: the cancelled call left none");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_vault_is_told_to_stop_while_the_seller_has_the_payment() {
    let (mut stand, url, mut serve, call) = paid_and_waiting().await;
    stand.signal_vault(Signal::TERM);
    assert!(stand.vault_ended().await.success());
    let left = Books::of_the_disk(&stand.profile);
    left.hold_against(&stand.seller);
    assert_eq!(left.states(), [RowState::Exposed]);

    stand.seller.hold(Hold::Nothing);
    let told = serve.told(call).await.unwrap();
    assert_eq!(told["receipt"]["state"], "exposed", "{told}");
    stand.start_vault().await;
    let again = serve.buy(&url, None).await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&"paid".into(), &true.into()), "{again}");
    assert_eq!(stand.seller.nonces().len(), 1);
    stand.close().await.hold_against(&stand.seller);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vault_whose_folder_is_gone_still_ends_when_it_is_told_to() {
    let mut stand = Stand::without_vault().await;
    stand.start_vault().await;
    std::fs::remove_dir_all(stand.profile.home()).unwrap();
    stand.signal_vault(Signal::TERM);
    let ended = stand.vault_ended().await;
    assert_eq!(ended.signal(), None, "{ended:?}");
}
