//! SIGKILL from outside, at moments drawn from a seed: before, in the middle of and after a purchase.

use std::time::{Duration, Instant};

use bursar_vault::protocol::RowState;
use tokio::time::timeout;

use crate::books::Books;
use crate::seller::Hold;
use crate::stand::Stand;

const SEED: u64 = 0x6275_7273_6172_0001;
const RUNS: u64 = 20;

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
    // Exactly enough for one purchase a run and the first one: whatever is signed twice or counted twice shows.
    let mut stand = Stand::with_budget("1.05 USD").await;
    let mut serve = stand.serve();
    let started = Instant::now();
    assert_eq!(serve.buy(&stand.seller.url("/first"), None).await["outcome"], "paid");
    let usual = started.elapsed();

    let mut dice = Dice(SEED);
    let mut interrupted = 0;
    for run in 0..RUNS {
        let victim = [Victim::Serve, Victim::Vault, Victim::Both][usize::try_from(dice.below(3)).unwrap()];
        let moment = Duration::from_micros(dice.below(micros(usual)));
        let what = format!("run {run}: {victim:?} after {moment:?}");
        let url = stand.seller.url(&format!("/run/{run}"));

        let call = serve.fetch(&url, None).await;
        if timeout(moment, serve.answer(call)).await.is_err() {
            interrupted += 1;
        }
        if victim != Victim::Vault {
            serve.kill().await;
            serve = stand.serve();
        }
        if victim != Victim::Serve {
            stand.kill_vault().await;
            Books::of_the_disk(&stand.profile).hold_against(&stand.seller);
            stand.start_vault().await;
        }
        let again = serve.buy(&url, None).await;
        let outcome = again["outcome"].as_str().unwrap();
        assert!(["paid", "unresolved"].contains(&outcome), "{what}: {again}");
        let books = Books::of_the_vault(&stand.profile);
        books.hold_against(&stand.seller);
        assert_eq!(u64::try_from(books.rows.len()).unwrap(), run + 2, "{what}: one purchase, one row");
    }
    assert!(0 < interrupted, "every call was over before its process was killed");
    stand.close().await.hold_against(&stand.seller);
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap().max(1)
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
    assert_eq!((&told["outcome"], &told["receipt"]["state"]), (&"paid".into(), &"exposed".into()), "{told}");
    stand.start_vault().await;
    let again = serve.buy(&url, None).await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&"paid".into(), &true.into()), "{again}");
    assert_eq!(stand.seller.nonces().len(), 1);
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    assert_eq!(books.states(), [RowState::Settled]);
}
