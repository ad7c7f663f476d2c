//! Lives a life and says what went wrong with it: what must hold after every call and after every schedule.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use bursar_policy::money::Money;
use bursar_policy::{Errand, Method, Site};
use bursar_tools::Progress;
use bursar_tools::payments::{Payments as _, Purchase};
use bursar_vault::protocol::{PaymentDetail, RowState};
use tokio::join;

use crate::act::{Call, Life, Moment, Schedule, Strike};
use crate::books::{Books, money};
use crate::house::{HOST_MAX_UNITS, House, session};
use crate::seller::{Script, Seller, host, price};

/// How long the same call without a name is the same purchase, in seconds.
const REPEAT_S: u64 = 120;

/// What happened, so that a test can say that all of it did.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    calls: usize,
    told: BTreeMap<&'static str, usize>,
    reasons: BTreeMap<&'static str, usize>,
    states: BTreeMap<String, usize>,
    struck: BTreeSet<Strike>,
    repeats: usize,
    sent_again: usize,
}

impl Seen {
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.repeats += other.repeats;
        self.sent_again += other.sent_again;
        self.struck.extend(&other.struck);
        for (told, times) in &other.told {
            *self.told.entry(told).or_default() += times;
        }
        for (reason, times) in &other.reasons {
            *self.reasons.entry(reason).or_default() += times;
        }
        for (state, times) in &other.states {
            *self.states.entry(state.clone()).or_default() += times;
        }
    }

    /// Fails where something never happened that these lives are there for.
    pub(crate) fn must_be_everything(&self) {
        for told in ["free", "paid", "unresolved", "unknown", "refused", "failed", "nothing"] {
            assert!(self.told.contains_key(told), "nobody was told `{told}`: {self:?}");
        }
        for state in ["Exposed", "Settled", "PresumedSpent"] {
            assert!(self.states.contains_key(state), "no row is {state}: {self:?}");
        }
        for reason in ["over_limit", "over_session_budget", "payee_not_allowed", "terms_unreadable"] {
            assert!(self.reasons.contains_key(reason), "nobody was refused for `{reason}`: {self:?}");
        }
        for moment in [Moment::Asked, Moment::Paid, Moment::Answered] {
            for strike in [Strike::ServeDies(moment), Strike::VaultDies(moment), Strike::BothDie(moment)] {
                assert!(self.struck.contains(&strike), "{strike:?} never happened");
            }
        }
        assert!(0 < self.repeats && 0 < self.sent_again, "{self:?}");
    }
}

/// Lives `life` to its end, or to the first thing that must not be.
pub(crate) fn lived(life: &Life) -> Result<Seen, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lived = catch_unwind(AssertUnwindSafe(|| runtime.block_on(live(life))));
    lived.map_err(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        words.or_else(|| panic.downcast_ref::<&str>().map(|&words| words.to_owned())).unwrap_or_default()
    })
}

/// The life with all left out that it does not need to fail, and how that fails.
pub(crate) fn shortened(mut life: Life, mut fault: String) -> (Life, String) {
    let mut try_without = |life: &mut Life, shorter: Life| match lived(&shorter) {
        Ok(_) => false,
        Err(other) => {
            (*life, fault) = (shorter, other);
            true
        }
    };
    for at in (0..life.schedules.len()).rev() {
        let mut shorter = life.clone();
        shorter.schedules.remove(at);
        try_without(&mut life, shorter);
    }
    for at in 0..life.schedules.len() {
        for call in (0..life.schedules[at].calls.len()).rev() {
            let mut shorter = life.clone();
            shorter.schedules[at].calls.remove(call);
            try_without(&mut life, shorter);
        }
    }
    (life, fault)
}

async fn live(life: &Life) -> Seen {
    let mut seller = Seller::open().await;
    let mut house = House::open(seller.port);
    let mut seen = Seen::default();
    for schedule in &life.schedules {
        for call in &schedule.calls {
            house.pass(call.wait_s);
            make(&mut house, &mut seller, schedule.host, call, &mut seen).await;
        }
        check(&house, &seller, schedule);
    }
    let books = Books::of_the_vault(&house.profile);
    for row in &books.rows {
        *seen.states.entry(format!("{:?}", row.receipt.state)).or_default() += 1;
    }
    let nonces = seller.nonces().len();
    seen.sent_again = seller.presented().len() - nonces;
    house.close();
    seen
}

/// Where a call goes: a purchase with a name has a page of its own, so that pages tell them apart.
fn path(call: &Call) -> String {
    format!("/{}/{}", if call.named { "named" } else { "plain" }, call.page)
}

fn errand(seller: &Seller, number: usize, call: &Call) -> Errand {
    let site = Site::parse(&format!("http://{}:{}{}", host(number), seller.port, path(call))).unwrap();
    let named = call.named.then(|| format!("p-{number}-{}", call.page).parse().unwrap());
    Errand { purchase_id: named, ..Errand::new(site, Method::Get) }
}

/// Makes one call, and holds what it is told against what the seller saw.
async fn make(house: &mut House, seller: &mut Seller, number: usize, call: &Call, seen: &mut Seen) {
    let stop = match call.strike {
        Strike::ServeDies(moment) | Strike::VaultDies(moment) | Strike::BothDie(moment) => Some(moment),
        Strike::Nothing | Strike::NoWrite(_) | Strike::Twin => None,
    };
    seller.play(Script { host: number, bare: call.bare, paid: call.paid, stop });
    if let Strike::NoWrite(write) = call.strike {
        house.refuse(write);
    }
    let before = seller.presented().len();
    let (buyer, ask) = (house.buyer(call.session), errand(seller, number, call));
    let told = if call.strike == Strike::Twin {
        let (twin, again) = (house.buyer(call.session), errand(seller, number, call));
        let (one, other) =
            join!(buyer.fetch(ask, None, Progress::silent()), twin.fetch(again, None, Progress::silent()));
        vec![one.answer, other.answer]
    } else {
        struck(house, seller, call, &buyer, ask, seen).await.into_iter().collect()
    };
    if matches!(call.strike, Strike::NoWrite(_)) {
        house.write_again();
        assert_eq!(house.latched(), None, "one write that was refused shuts nothing");
    }
    let shown = seller.presented().split_off(before);
    if told.is_empty() {
        *seen.told.entry("nothing").or_default() += 1;
    }
    let nothing_was_paid = told.iter().all(|told| {
        seen.calls += 1;
        heard(told, number, call, seller, seen)
    });
    assert!(told.is_empty() || !nothing_was_paid || shown.is_empty(), "{told:?}, and the seller has {shown:?}");
}

/// The call, in the middle of which somebody may die. What it is told; nothing where its own process died.
async fn struck<R: bursar::net::Resolver + 'static>(
    house: &mut House,
    seller: &mut Seller,
    call: &Call,
    buyer: &bursar::flow::Buyer<R>,
    errand: Errand,
    seen: &mut Seen,
) -> Option<Purchase> {
    let mut fetching = Box::pin(buyer.fetch(errand, None, Progress::silent()));
    loop {
        let stopped = pin!(seller.stopped());
        let go_on = tokio::select! {
            biased;
            go_on = stopped => go_on,
            told = &mut fetching => return Some(told.answer),
        };
        seen.struck.insert(call.strike);
        let (serve_dies, vault_dies) = match call.strike {
            Strike::ServeDies(_) => (true, false),
            Strike::BothDie(_) => (true, true),
            _ => (false, true),
        };
        if serve_dies {
            drop(fetching);
            if vault_dies {
                house.die_and_come_back();
            }
            go_on.send(()).unwrap_or_default();
            return None;
        }
        house.die_and_come_back();
        go_on.send(()).unwrap_or_default();
    }
}

/// Whether a call is told that nothing was paid; fails where it is told what cannot be.
fn heard(told: &Purchase, number: usize, call: &Call, seller: &Seller, seen: &mut Seen) -> bool {
    let path = path(call);
    let (word, receipt) = match told {
        Purchase::Free { .. } => ("free", None),
        Purchase::Paid { receipt, .. } => ("paid", Some(receipt)),
        Purchase::PaidContentLost { receipt, .. } => ("paid_content_lost", Some(receipt)),
        Purchase::Unresolved { receipt, .. } => ("unresolved", Some(receipt)),
        Purchase::Unknown(_) => ("unknown", None),
        Purchase::Refused { .. } => ("refused", None),
        Purchase::NeedsApproval { .. } => ("needs_approval", None),
        Purchase::Failed(_) => ("failed", None),
    };
    *seen.told.entry(word).or_default() += 1;
    let excused = matches!(call.strike, Strike::VaultDies(_) | Strike::NoWrite(_));
    assert!(excused || word != "unknown", "the vault lives and does not say what became of it: {told:?}");
    if let Purchase::Refused { refusals } = told {
        *seen.reasons.entry(refusals[0].code()).or_default() += 1;
    }
    if let Some(receipt) = receipt {
        assert_eq!(receipt.money, money(price(&path)), "{told:?}");
        seen.repeats += usize::from(receipt.repeat);
    }
    if word.starts_with("paid") {
        let has_it = seller.presented().iter().any(|shown| shown.host == number && shown.path == path);
        assert!(has_it, "the seller never saw the payment: {told:?}");
    }
    !matches!(word, "paid" | "paid_content_lost" | "unresolved" | "unknown")
}

/// What holds between any two schedules.
fn check(house: &House, seller: &Seller, schedule: &Schedule) {
    assert_eq!(house.latched(), None, "nothing that a seller does, and no death, shuts the ledger");
    let books = Books::of_the_vault(&house.profile);
    books.hold_against(seller);
    let here = |row: &&PaymentDetail| row.site.origin().to_string().contains(&format!("//{}:", host(schedule.host)));
    let counted: Vec<&PaymentDetail> = books
        .rows
        .iter()
        .filter(here)
        .filter(|row| !matches!(row.receipt.state, RowState::Voided | RowState::Lapsed))
        .collect();
    // Nothing that is counted here is ever given back, so what is within the limit now always was.
    let sum: u128 = counted.iter().map(|row| row.receipt.amount.units()).sum();
    assert!(sum <= HOST_MAX_UNITS, "{sum} units at one host");
    let mut purchases: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for row in counted {
        let purchase = (row.session.as_str().to_owned(), row.site.path().to_owned());
        purchases.entry(purchase).or_default().push(row.receipt.created_s);
    }
    for ((session, path), mut times) in purchases {
        times.sort_unstable();
        let apart = times.windows(2).all(|pair| pair[0] + REPEAT_S <= pair[1]);
        assert!(
            apart && (times.len() == 1 || path.starts_with("/plain")),
            "bought twice from {session}: {path}, {times:?}"
        );
    }
    let spent: Vec<Money> = books.sessions.iter().map(|known| known.spent).collect();
    assert!(spent.iter().zip(&books.sessions).all(|(spent, known)| spent.is_within(known.budget)), "{spent:?}");
    assert!(books.sessions.iter().any(|known| known.name.as_str() == session(0)));
}
