//! SIGKILL from outside, at moments drawn from a seed: before, in the middle of and after a purchase.

use std::time::{Duration, Instant};

use bursar_vault::protocol::RowState;
use tokio::time::timeout;

use crate::books::{Books, money};
use crate::client::Client;
use crate::seller::{Hold, PRICE_UNITS};
use crate::stand::Stand;

const SEED: u64 = 0x6275_7273_6172_0001;
const RUNS: usize = 24;

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Serve,
    Vault,
    Both,
}

/// Numbers that look random and are the same each time (splitmix64).
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment() {
    // Enough for each purchase once, to the cent: whatever is signed twice or counted twice shows.
    let budget = money(PRICE_UNITS * u128::try_from(2 + 2 * RUNS).unwrap());
    let mut stand = Stand::with_budget(&budget.to_string()).await;
    let mut serve = stand.serve();
    let cold = time_of_one(&stand, &mut serve, "/cold").await;
    let warm = time_of_one(&stand, &mut serve, "/warm").await;

    let mut dice = Dice(SEED);
    let (mut usual, mut interrupted) = (warm, 0);
    for run in 0..RUNS {
        let victim = [Victim::Serve, Victim::Vault, Victim::Both][usize::try_from(dice.below(3)).unwrap()];
        let moment = Duration::from_micros(dice.below(u64::try_from(usual.as_micros()).unwrap().max(1)));
        let what = format!("run {run}: {victim:?} after {moment:?}");
        let urls = ["left", "right"].map(|side| stand.seller.url(&format!("/run/{run}/{side}")));

        let mut last = 0;
        for url in &urls {
            last = serve.fetch(url, None).await;
        }
        if timeout(moment, serve.answer(last)).await.is_err() {
            interrupted += 1;
        }
        usual = warm;
        if victim != Victim::Vault {
            serve.kill().await;
            serve = stand.serve();
            usual = cold;
        }
        if victim != Victim::Serve {
            stand.kill_vault().await;
            Books::of_the_disk(&stand.profile).hold_against(&stand.seller);
            stand.start_vault().await;
        }
        for url in &urls {
            let again = serve.buy(url, None).await;
            let outcome = again["outcome"].as_str().unwrap();
            assert!(["paid", "unresolved"].contains(&outcome), "{what}: {again}");
        }
        let books = Books::of_the_vault(&stand.profile);
        books.hold_against(&stand.seller);
        assert_eq!(books.rows.len(), 2 + 2 * (run + 1), "{what}: one purchase, one row");
    }
    assert!(0 < interrupted, "every call was over before its process was killed");
    stand.close().await.hold_against(&stand.seller);
}

/// How long one purchase takes that nobody disturbs.
async fn time_of_one(stand: &Stand, serve: &mut Client, path: &str) -> Duration {
    let started = Instant::now();
    assert_eq!(serve.buy(&stand.seller.url(path), None).await["outcome"], "paid");
    started.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_is_killed_while_the_seller_has_the_payment() {
    let mut stand = Stand::with_budget("1.00 USD").await;
    let url = stand.seller.url("/page");
    let mut serve = stand.serve();
    stand.seller.hold(Hold::Goods);
    serve.fetch(&url, None).await;
    stand.seller.was_paid(1).await;
    serve.kill().await;
    let left = Books::of_the_vault(&stand.profile);
    left.hold_against(&stand.seller);
    assert_eq!(left.states(), [RowState::Exposed]);

    stand.seller.hold(Hold::Nothing);
    let again = stand.serve().buy(&url, None).await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&"paid".into(), &true.into()), "{again}");
    assert_eq!(stand.seller.payments(), 2, "the same bytes, twice");
    assert_eq!(stand.seller.nonces().len(), 1);
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    assert_eq!(books.states(), [RowState::Settled]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_vault_is_killed_while_the_seller_has_the_payment() {
    let mut stand = Stand::with_budget("1.00 USD").await;
    let url = stand.seller.url("/page");
    let mut serve = stand.serve();
    stand.seller.hold(Hold::Goods);
    let call = serve.fetch(&url, None).await;
    stand.seller.was_paid(1).await;
    stand.kill_vault().await;
    let left = Books::of_the_disk(&stand.profile);
    left.hold_against(&stand.seller);
    assert_eq!(left.states(), [RowState::Exposed]);

    stand.seller.hold(Hold::Nothing);
    let told = serve.told(call).await.unwrap();
    assert_eq!((&told["outcome"], &told["receipt"]["state"]), (&"unresolved".into(), &"exposed".into()), "{told}");
    assert!(told["content"]["text"].as_str().unwrap().contains("the page"), "what was delivered is told: {told}");
    stand.start_vault().await;
    let again = serve.buy(&url, None).await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&"paid".into(), &true.into()), "{again}");
    assert_eq!(stand.seller.nonces().len(), 1);
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    assert_eq!(books.states(), [RowState::Settled]);
}
