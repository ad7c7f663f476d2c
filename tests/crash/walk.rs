//! The walk of fail points: a fresh sandbox for each step of a purchase, one process killed exactly there, then the same
//! call again.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use bursar_vault::failpoint::FAILPOINTS;
use bursar_vault::protocol::RowState;

use crate::aside;
use crate::books::{Books, money};
use crate::browser;
use crate::seller::PRICE_UNITS;
use crate::stand::Stand;

pub(crate) const BUDGET: &str = "1.00 USD";
const PURCHASE: &str = "walk-1";

/// Whose process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dies {
    Vault,
    Serve,
}

/// What must become of a purchase that is killed at one step.
pub(crate) struct Step {
    name: &'static str,
    pub(crate) dies: Dies,
    /// What the call in the middle of which it happens is told; nothing where its own process dies.
    first: Option<&'static str>,
    /// The rows that the crash leaves on the disk.
    left: &'static [&'static [RowState]],
    /// What the same call is told afterwards, and whether as a repeat.
    second: (&'static str, bool),
    /// How often the seller was sent the payment in all.
    sent: RangeInclusive<usize>,
}

const NO_ROW: &[&[RowState]] = &[&[]];
const EXPOSED: &[&[RowState]] = &[&[RowState::Exposed]];
const SETTLED: &[&[RowState]] = &[&[RowState::Settled]];
const EXPOSED_OR_SETTLED: &[&[RowState]] = &[&[RowState::Exposed], &[RowState::Settled]];

/// A signature that was never made: the money stays counted and the same call says so.
const NEVER_SIGNED: (&str, bool) = ("unresolved", true);
/// The first attempt left nothing: the same call is the purchase.
const BOUGHT: (&str, bool) = ("paid", false);
/// The first attempt's signature was sent, or sent again, or its result is told.
const COLLECTED: (&str, bool) = ("paid", true);

macro_rules! walk {
    ($($test:ident $name:literal $dies:ident $first:expr, $left:ident, $second:ident, $sent:expr;)+) => {
        /// Every step on a purchase's path.
        pub(crate) const ON_THE_PATH: &[Step] = &[$(
            Step { name: $name, dies: Dies::$dies, first: $first, left: $left, second: $second, sent: $sent }
        ),+];

        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let step = ON_THE_PATH.iter().find(|step| step.name == $name).unwrap();
                step.play(Stand::with_budget(BUDGET).await).await;
            }
        )+
    };
}

#[rustfmt::skip]
walk! {
    killed_when_the_purchase_id_is_bound         "vault-claim-bound"            Vault Some("failed"), NO_ROW, BOUGHT, 1..=1;
    killed_when_the_claim_is_answered            "serve-claimed"                Serve None, NO_ROW, BOUGHT, 1..=1;
    killed_when_the_row_is_inserted              "vault-exposed-uncommitted"    Vault Some("unresolved"), NO_ROW, BOUGHT, 1..=1;
    killed_when_the_row_is_on_the_disk           "vault-exposed-committed"      Vault Some("unresolved"), EXPOSED, NEVER_SIGNED, 0..=0;
    killed_when_it_is_signed                     "vault-signed"                 Vault Some("unresolved"), EXPOSED, NEVER_SIGNED, 0..=0;
    killed_when_the_signature_is_on_the_row      "vault-signature-uncommitted"  Vault Some("unresolved"), EXPOSED, NEVER_SIGNED, 0..=0;
    killed_when_the_signature_is_on_the_disk     "vault-signature-committed"    Vault Some("unresolved"), EXPOSED, COLLECTED, 1..=1;
    killed_when_the_signed_payment_has_arrived   "serve-authorized"             Serve None, EXPOSED, COLLECTED, 1..=1;
    killed_when_the_payment_is_sent              "serve-sent"                   Serve None, EXPOSED, COLLECTED, 2..=2;
    killed_when_the_answer_is_read               "serve-answered"               Serve None, EXPOSED, COLLECTED, 2..=2;
    killed_when_the_content_is_stored            "serve-content-stored"         Serve None, EXPOSED, COLLECTED, 2..=2;
    killed_when_the_report_is_on_the_row         "vault-report-uncommitted"     Vault Some("unresolved"), EXPOSED, COLLECTED, 2..=2;
    killed_when_the_report_is_taken              "vault-reported"               Vault Some("unresolved"), EXPOSED_OR_SETTLED, COLLECTED, 1..=2;
    killed_when_the_report_is_answered           "serve-reported"               Serve None, SETTLED, COLLECTED, 1..=1;
}

#[test]
fn the_walk_and_the_steps_aside_are_every_fail_point() {
    let path = ON_THE_PATH.iter().map(|step| step.name);
    let walked: BTreeSet<&str> = path.chain(aside::STEPS).chain(browser::STEPS).collect();
    assert_eq!(walked, FAILPOINTS.into_iter().collect());
}

impl Step {
    /// Buys once on a stand of its own, whose process dies at this step, and once more.
    pub(crate) async fn play(&self, mut stand: Stand) {
        let mut serve = stand.serve();
        let url = stand.seller.url("/page");
        stand.arm(self.name);

        let call = serve.fetch(&url, Some(PURCHASE)).await;
        let told = serve.told(call).await;
        let outcome = told.as_ref().map(|told| told["outcome"].as_str().unwrap());
        assert_eq!(outcome, self.first, "{}: {told:?}", self.name);

        let left = match self.dies {
            Dies::Vault => {
                let ended = stand.vault_ended().await;
                stand.was_killed_at(self.name, ended);
                let left = Books::of_the_disk(&stand.profile);
                stand.start_vault().await;
                left
            }
            Dies::Serve => {
                stand.was_killed_at(self.name, serve.ended().await);
                serve = stand.serve();
                Books::of_the_vault(&stand.profile)
            }
        };
        left.hold_against(&stand.seller);
        assert!(self.left.contains(&left.states().as_slice()), "{} left {:?}", self.name, left.states());

        let again = serve.buy(&url, Some(PURCHASE)).await;
        assert_eq!((again["outcome"].as_str().unwrap(), again["repeat"].as_bool().unwrap()), self.second, "{again}");
        assert!(self.sent.contains(&stand.seller.payments()), "sent {} times", stand.seller.payments());
        assert!(stand.seller.nonces().len() <= 1);

        let books = Books::of_the_vault(&stand.profile);
        books.hold_against(&stand.seller);
        let end = if self.second == NEVER_SIGNED { RowState::Exposed } else { RowState::Settled };
        assert_eq!(books.states(), [end], "one purchase, one row");
        let left = money(1_000_000 - PRICE_UNITS).to_string();
        assert_eq!(serve.status().await["session"]["left"], left.as_str());

        serve.hang_up();
        assert!(serve.ended().await.success());
        stand.close().await.hold_against(&stand.seller);
    }
}
