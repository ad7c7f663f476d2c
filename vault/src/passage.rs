//! How purchases went by: a stopwatch for each, and the newest of them kept for whoever measures. Must never decide
//! anything, hold anything up or reach the disk.

use crate::clock;
use crate::protocol::{Leg, LegName, Passage, PassageEnd, Receipt, Sender};
use bursar_policy::{Money, PaymentId, Refusal, Rules, Site, Terms};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many purchases are kept. Whoever measures asks after each event, and at the least every 20 seconds.
const KEPT_MAX: usize = 1024;

/// The newest purchases that are over.
#[derive(Debug)]
pub(crate) struct Passages {
    since_us: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    last: u64,
    newest: VecDeque<Passage>,
}

impl Passages {
    pub(crate) fn new() -> Self {
        Self { since_us: clock::wall_us(), kept: Mutex::default() }
    }

    /// When it was begun, Unix microseconds.
    pub(crate) const fn since_us(&self) -> u64 {
        self.since_us
    }

    /// The number of the newest, and those after number `after` that are kept, oldest first.
    pub(crate) fn after(&self, after: u64) -> (u64, Vec<Passage>) {
        let kept = self.lock();
        (kept.last, kept.newest.iter().filter(|passage| after < passage.number).cloned().collect())
    }

    fn keep(&self, passage: Passage) {
        let mut kept = self.lock();
        kept.last = kept.last.saturating_add(1);
        if KEPT_MAX <= kept.newest.len() {
            kept.newest.pop_front();
        }
        let number = kept.last;
        kept.newest.push_back(Passage { number, ..passage });
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One conversation's stopwatch. Whatever it is told while no purchase goes by is nothing.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    passages: Arc<Passages>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    began: Instant,
    /// Where the part that runs began, microseconds after the purchase did.
    marked_us: u64,
    passage: Passage,
}

impl Stopwatch {
    pub(crate) const fn new(passages: Arc<Passages>) -> Self {
        Self { passages, running: None }
    }

    /// A purchase begins. One that is not over is given up.
    pub(crate) fn begin(&mut self, by: Sender, site: &Site, now: Instant) {
        self.give_up(now);
        let passage = Passage {
            number: 0,
            by,
            host: site.authority(),
            began_us: clock::wall_us(),
            took_us: 0,
            legs: Vec::new(),
            end: PassageEnd::Unpaid,
            codes: Vec::new(),
            payment: None,
            money: None,
        };
        self.running = Some(Running { began: now, marked_us: 0, passage });
    }

    /// The part `name` is over; the next one begins.
    pub(crate) fn mark(&mut self, name: LegName, now: Instant) {
        let Some(running) = &mut self.running else { return };
        let (from_us, now_us) = (running.marked_us, microseconds(now.saturating_duration_since(running.began)));
        running.passage.legs.push(Leg { name, from_us, took_us: now_us.saturating_sub(from_us) });
        running.marked_us = now_us;
    }

    /// Its money is counted as this payment, under these terms.
    pub(crate) fn counted(&mut self, payment: &PaymentId, terms: &Terms, rules: &Rules) {
        let asset = rules.asset(&terms.asset_id());
        self.cost(payment, asset.and_then(|asset| Money::of(terms.amount, asset)));
    }

    fn cost(&mut self, payment: &PaymentId, money: Option<Money>) {
        let Some(running) = &mut self.running else { return };
        running.passage.payment = Some(payment.clone());
        running.passage.money = money;
    }

    /// A signature leaves the vault: who hears no more of it knows that it may be paid.
    pub(crate) fn signed(&mut self) {
        if let Some(running) = &mut self.running {
            running.passage.end = PassageEnd::Unreported;
        }
    }

    /// It is over, and this is its payment.
    pub(crate) fn told(&mut self, end: PassageEnd, receipt: &Receipt, now: Instant) {
        self.cost(&receipt.payment, Some(receipt.money));
        self.end(end, Vec::new(), now);
    }

    /// It is over: what came back is written down.
    pub(crate) fn reported(&mut self, receipt: &Receipt, now: Instant) {
        let end = match receipt.outcome.as_str() {
            "paid" => PassageEnd::Paid,
            "paid_content_lost" => PassageEnd::PaidContentLost,
            _ => PassageEnd::Unresolved,
        };
        self.told(end, receipt, now);
    }

    /// It is over: the answer is no.
    pub(crate) fn refused(&mut self, reasons: &[Refusal], now: Instant) {
        let person = matches!(reasons, [Refusal::NeedsApproval { .. }]);
        let end = if person { PassageEnd::NeedsApproval } else { PassageEnd::Refused };
        let mut codes: Vec<String> = Vec::new();
        for code in reasons.iter().map(Refusal::code) {
            if !codes.iter().any(|known| known == code) {
                codes.push(code.to_owned());
            }
        }
        self.end(end, codes, now);
    }

    /// It is over by a fault.
    pub(crate) fn failed(&mut self, code: &str, now: Instant) {
        self.end(PassageEnd::Failed, vec![code.to_owned()], now);
    }

    /// It is over: nobody goes on with it.
    pub(crate) fn give_up(&mut self, now: Instant) {
        if let Some(running) = &self.running {
            self.end(running.passage.end, Vec::new(), now);
        }
    }

    fn end(&mut self, end: PassageEnd, codes: Vec<String>, now: Instant) {
        if let Some(Running { began, passage, .. }) = self.running.take() {
            let took_us = microseconds(now.saturating_duration_since(began));
            self.passages.keep(Passage { took_us, end, codes, ..passage });
        }
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        self.give_up(Instant::now());
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::parse("https://api.example.com/private?of=mine").unwrap()
    }

    #[test]
    fn the_parts_of_a_purchase_follow_one_another_and_it_is_told_once() {
        let passages = Arc::new(Passages::new());
        let began = Instant::now();
        let at = |micros| began.checked_add(Duration::from_micros(micros)).unwrap();
        let mut stopwatch = Stopwatch::new(Arc::clone(&passages));
        stopwatch.mark(LegName::Claim, at(0));
        stopwatch.begin(Sender::Serve, &site(), at(0));
        for (name, micros) in [(LegName::Claim, 200), (LegName::Visit, 70_000), (LegName::Authorize, 75_500)] {
            stopwatch.mark(name, at(micros));
        }
        stopwatch.refused(&[Refusal::Frozen, Refusal::NoSession, Refusal::Frozen], at(75_501));
        stopwatch.failed("late", at(80_000));
        drop(stopwatch);
        let (last, kept) = passages.after(0);
        let [passage] = &kept[..] else { panic!("{kept:?}") };
        assert_eq!((last, passage.number, passage.took_us, passage.end), (1, 1, 75_501, PassageEnd::Refused));
        assert_eq!(
            (passage.host.as_str(), &passage.codes[..]),
            ("api.example.com", &["frozen", "no_session"].map(str::to_owned)[..])
        );
        let legs: Vec<_> = passage.legs.iter().map(|leg| (leg.name.word(), leg.from_us, leg.took_us)).collect();
        assert_eq!(legs, [("claim", 0, 200), ("visit", 200, 69_800), ("authorize", 70_000, 5_500)]);
        assert_eq!(passages.after(1), (1, Vec::new()));
    }

    #[test]
    fn what_nobody_ended_is_given_up_and_says_whether_a_signature_was_let_go() {
        let passages = Arc::new(Passages::new());
        let mut stopwatch = Stopwatch::new(Arc::clone(&passages));
        stopwatch.begin(Sender::Serve, &site(), Instant::now());
        stopwatch.begin(Sender::Browser, &site(), Instant::now());
        stopwatch.cost(&PaymentId::from_random([7; 16]), None);
        stopwatch.signed();
        drop(stopwatch);
        let ends: Vec<_> = passages.after(0).1.into_iter().map(|passage| (passage.by, passage.end)).collect();
        assert_eq!(ends, [(Sender::Serve, PassageEnd::Unpaid), (Sender::Browser, PassageEnd::Unreported)]);
    }

    #[test]
    fn only_the_newest_are_kept_and_their_numbers_tell_how_many_are_gone() {
        let passages = Arc::new(Passages::new());
        for _ in 0..KEPT_MAX.checked_add(5).unwrap() {
            let mut stopwatch = Stopwatch::new(Arc::clone(&passages));
            stopwatch.begin(Sender::Serve, &site(), Instant::now());
        }
        let (last, kept) = passages.after(2);
        assert_eq!((kept.len(), kept[0].number), (KEPT_MAX, 6));
        assert_eq!(kept.last().unwrap().number, last);
    }
}
