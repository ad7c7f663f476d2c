//! Refusals in the log: written without anyone waiting for the disk. Must never change what was refused.
//!
//! At most [`REFUSED_A_MINUTE_MAX`] of each source are written down in a minute, so that whoever asks for nonsense
//! without end cannot fill the disk; of each reason the first few in a minute always are, so that nonsense of one kind
//! hides no reason of another. How many were left out is told by one event when the minute is over, reason by reason.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::refusal::Refusal;
use bursar_policy::terms::Terms;

use super::Ledger;
use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::session;
use super::writer::Tx;
use crate::protocol::{SOUGHT_MAX, Sought};

/// The most refusals of one source that are written down in one minute, beside the first of each reason.
pub const REFUSED_A_MINUTE_MAX: u32 = 600;

/// How many of each reason are written down in every minute, whatever else there is.
const FIRST_OF_A_REASON: u32 = 20;

/// The most reasons that one event spells out.
const REASONS_MAX: usize = 8;

/// The longest reason that is spelt out, in bytes; so one reason cannot push the others out of the event.
const REASON_MAX_BYTES: usize = 512;

/// Who says that something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// This vault refused it.
    Vault,
    /// `serve` says that it did. It reads what sellers send, so the log says whose word it is.
    Serve,
}

/// What was to be paid when it was refused, as far as anybody knew.
#[derive(Clone, Copy, Debug)]
pub enum Price<'a> {
    /// Nobody had said: the refusal came before any terms.
    Unsaid,
    /// The terms that this vault judged.
    Judged(&'a Terms),
    /// The seller's own words, by way of `serve`; the first [`SOUGHT_MAX`] are kept.
    Said(&'a [Sought]),
}

/// How much of this minute's share of the log is used up.
#[derive(Debug, Default)]
pub(super) struct Flood(Mutex<Count>);

#[derive(Debug, Default)]
struct Count {
    since_s: u64,
    written: BTreeMap<Source, u32>,
    reasons: BTreeMap<(Source, &'static str), u32>,
    left_out: BTreeMap<&'static str, u64>,
    /// Since the ledger was opened: of each code, how many refusals had it, written down or not.
    ever: BTreeMap<&'static str, u64>,
}

/// Which minute's remainder is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Minute {
    /// One that is over.
    Over,
    /// Whichever it is.
    Whatever,
}

impl Flood {
    /// Whether one more of `source` with this first reason may be written down at `now_s`.
    fn has_room(&self, source: Source, code: &'static str, now_s: u64) -> bool {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_over(&count, now_s) {
            let (left_out, ever) = (std::mem::take(&mut count.left_out), std::mem::take(&mut count.ever));
            *count = Count { since_s: now_s, left_out, ever, ..Count::default() };
        }
        let of_this_reason = count.reasons.entry((source, code)).or_default();
        *of_this_reason = of_this_reason.saturating_add(1);
        let is_early = *of_this_reason <= FIRST_OF_A_REASON;
        let written = count.written.entry(source).or_default();
        if is_early || *written < REFUSED_A_MINUTE_MAX {
            *written = written.saturating_add(1);
            return true;
        }
        let left_out = count.left_out.entry(code).or_default();
        *left_out = left_out.saturating_add(1);
        false
    }

    /// Counts one refusal under each of its codes.
    fn count(&self, reasons: &[Refusal]) {
        let codes: BTreeSet<&'static str> = reasons.iter().map(Refusal::code).collect();
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for code in codes {
            let ever = count.ever.entry(code).or_default();
            *ever = ever.saturating_add(1);
        }
    }

    /// What was left out and not told yet; it counts as told from now on.
    fn left_out(&self, which: Minute, now_s: u64) -> Option<String> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if count.left_out.is_empty() || !(which == Minute::Whatever || is_over(&count, now_s)) {
            return None;
        }
        let left_out = std::mem::take(&mut count.left_out);
        let all = left_out.values().fold(0_u64, |sum, each| sum.saturating_add(*each));
        let each: Vec<String> = left_out.iter().map(|(code, times)| format!("{code} {times}")).collect();
        Some(format!("{all} further refusals were not written down ({})", each.join(", ")))
    }
}

/// A person may have set the clock back, and then a new minute begins too.
fn is_over(count: &Count, now_s: u64) -> bool {
    now_s.checked_sub(count.since_s).is_none_or(|passed_s| 60 <= passed_s)
}

impl Ledger {
    /// Puts a refusal into the log without waiting; the ledger does so itself for those it makes. A refusal stands
    /// whether or not it can be written down, and one over [`REFUSED_A_MINUTE_MAX`] is only counted.
    pub fn note_refused(
        &self,
        source: Source,
        session: Option<&SessionId>,
        errand: &Errand,
        price: Price<'_>,
        reasons: &[Refusal],
    ) {
        self.flood.count(reasons);
        self.tell_left_out(Minute::Over);
        let code = reasons.first().map_or("none", Refusal::code);
        if !self.flood.has_room(source, code, self.time().now_s) {
            return;
        }
        let (session, told) = (session.cloned(), told(source, errand, price, reasons));
        self.writer.tell(move |tx| write_down(tx, session.as_ref(), told));
    }

    /// How many refusals had each code since the ledger was opened, those that the log has no room for included. A refusal
    /// with several codes is counted under each of them, once.
    #[must_use]
    pub fn refusals(&self) -> BTreeMap<String, u64> {
        let count = self.flood.0.lock().unwrap_or_else(PoisonError::into_inner);
        count.ever.iter().map(|(code, times)| ((*code).to_owned(), *times)).collect()
    }

    /// Tells how many refusals were left out of the log, if any were.
    pub(super) fn tell_left_out(&self, which: Minute) {
        if let Some(told) = self.flood.left_out(which, self.time().now_s) {
            self.note(Event::new(EventKind::Note, told));
        }
    }
}

fn told(source: Source, errand: &Errand, price: Price<'_>, reasons: &[Refusal]) -> String {
    let whose = match source {
        Source::Vault => "",
        Source::Serve => "as reported by serve: ",
    };
    let mut told = format!("{whose}{} {}", errand.method, errand.site.origin());
    for reason in reasons.iter().take(REASONS_MAX) {
        let mut sentence = reason.to_string();
        sentence.truncate(sentence.floor_char_boundary(REASON_MAX_BYTES));
        told.push_str("; ");
        told.push_str(reason.code());
        told.push_str(": ");
        told.push_str(&sentence);
    }
    told + &in_words(price)
}

/// The price at the end of an event; the seller's words stand in backticks.
fn in_words(price: Price<'_>) -> String {
    match price {
        Price::Unsaid | Price::Said([]) => String::new(),
        Price::Judged(terms) => {
            format!("; asked was {} of {} to {}", terms.amount, terms.asset_id(), terms.payee)
        }
        Price::Said(sought) => {
            let offers = sought.iter().take(SOUGHT_MAX);
            let offers = offers.map(|Sought { amount, asset, network, payee }| {
                format!("`{amount}` of `{asset}` on `{network}` to `{payee}`")
            });
            format!("; asked, in the seller's words, was {}", offers.collect::<Vec<_>>().join(", or "))
        }
    }
}

/// Adds the event. A session that does not exist is left out of it.
fn write_down(tx: &Tx<'_>, session: Option<&SessionId>, told: String) -> Result<(), LedgerFault> {
    let event = Event::new(EventKind::Refused, told);
    let known = match session {
        None => None,
        Some(id) => session::by_id(tx.conn, id)?.map(|found| found.id),
    };
    tx.event(&match known {
        Some(id) => event.session(&id),
        None => event,
    })
}
