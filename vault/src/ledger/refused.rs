//! Refusals in the log: written without anyone waiting for the disk. Must never change what was refused.
//!
//! At most [`REFUSED_A_MINUTE_MAX`] are written down in a minute, so that whoever asks for nonsense without end cannot
//! fill the disk; how many were left out is told by one event when the minute is over.

use std::sync::{Mutex, PoisonError};

use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::refusal::Refusal;

use super::Ledger;
use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::session;
use super::writer::Tx;

/// The most refusals that are written down in one minute.
pub const REFUSED_A_MINUTE_MAX: u32 = 600;

/// The most reasons that one event spells out.
const REASONS_MAX: usize = 8;

/// The longest reason that is spelt out, in bytes; so one reason cannot push the others out of the event.
const REASON_MAX_BYTES: usize = 512;

/// Who says that something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This vault refused it.
    Vault,
    /// `serve` says that it did. It reads what sellers send, so the log says whose word it is.
    Serve,
}

/// How much of this minute's share of the log is used up.
#[derive(Debug, Default)]
pub(super) struct Flood(Mutex<Count>);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    since_s: u64,
    written: u32,
    left_out: u64,
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
    /// Whether one more may be written down at `now_s`.
    fn has_room(&self, now_s: u64) -> bool {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_over(&count, now_s) {
            *count = Count { since_s: now_s, left_out: count.left_out, written: 0 };
        }
        let room = count.written < REFUSED_A_MINUTE_MAX;
        if room {
            count.written = count.written.saturating_add(1);
        } else {
            count.left_out = count.left_out.saturating_add(1);
        }
        room
    }

    /// How many were left out and not told yet; they count as told from now on.
    fn left_out(&self, which: Minute, now_s: u64) -> Option<u64> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = count.left_out != 0 && (which == Minute::Whatever || is_over(&count, now_s));
        due.then(|| std::mem::take(&mut count.left_out))
    }
}

/// A person may have set the clock back, and then a new minute begins too.
fn is_over(count: &Count, now_s: u64) -> bool {
    now_s.checked_sub(count.since_s).is_none_or(|passed_s| 60 <= passed_s)
}

impl Ledger {
    /// Puts a refusal into the log without waiting; the ledger does so itself for those it makes. A refusal stands
    /// whether or not it can be written down, and one over [`REFUSED_A_MINUTE_MAX`] is only counted.
    pub fn note_refused(&self, source: Source, session: Option<&SessionId>, errand: &Errand, reasons: &[Refusal]) {
        self.tell_left_out(Minute::Over);
        if !self.flood.has_room(self.time().now_s) {
            return;
        }
        let (session, told) = (session.cloned(), told(source, errand, reasons));
        self.writer.tell(move |tx| write_down(tx, session.as_ref(), told));
    }

    /// Tells how many refusals were left out of the log, if any were.
    pub(super) fn tell_left_out(&self, which: Minute) {
        if let Some(left_out) = self.flood.left_out(which, self.time().now_s) {
            self.note(Event::new(EventKind::Note, format!("{left_out} further refusals were not written down")));
        }
    }
}

fn told(source: Source, errand: &Errand, reasons: &[Refusal]) -> String {
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
    told
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
