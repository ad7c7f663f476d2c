//! What `bursar metrics` knows, from the log as it grows and from what the vault measures. It must never let anybody in without
//! the vault's word where a token is wanted.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Instant;

use bursar_policy::Digest;
use bursar_policy::rules::{self, Labels, Traces};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, OperatorStatus, Passage, SecretValue};
use zeroize::Zeroizing;

use super::super::feed::{Heard, Seen};
use super::guard::Guard;
use super::line::Line;
use crate::clock;
use crate::metrics::{Admission, Counts, Mark, Shelf, Trace, otlp_request, prometheus_text, trace_request};

/// The most traces that wait for the collector; the oldest go first.
const TRACES_MAX: usize = 2048;

/// Whether readers have to show a token.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Token,
    Nothing,
}

/// What is known.
#[derive(Debug)]
pub(super) struct Board {
    line: Line,
    asked: Asked,
    labels: Labels,
    traces: Traces,
    began_s: u64,
    guard: Mutex<Guard>,
    known: Mutex<Known>,
    mark: Mutex<Mark>,
    waiting: Mutex<VecDeque<Trace>>,
}

#[derive(Debug)]
struct Known {
    counts: Counts,
    status: Option<OperatorStatus>,
}

impl Board {
    pub(super) fn new(profile: &Profile, rules: &rules::Metrics) -> Self {
        Self {
            line: Line::new(profile),
            asked: if rules.token().is_some() { Asked::Token } else { Asked::Nothing },
            labels: rules.labels(),
            traces: rules.traces(),
            began_s: clock::now_s(),
            guard: Mutex::new(Guard::new(Instant::now())),
            known: Mutex::new(Known { counts: Counts::new(rules.labels()), status: None }),
            mark: Mutex::default(),
            waiting: Mutex::default(),
        }
    }

    /// Counts what the vault tells for as long as it does.
    pub(super) fn count(&self, heard: &mpsc::Receiver<Heard>) {
        for heard in heard {
            match heard {
                Heard::Seen(seen) => self.see(*seen),
                Heard::Gone(why) => {
                    tracing::warn!(why, "no vault answers; gauges are left out until one does");
                    lock(&self.known).status = None;
                }
                Heard::Resized | Heard::Leave => {}
            }
        }
    }

    fn see(&self, seen: Seen) {
        for event in seen.events.iter().filter(|event| Counts::is_an_end(event)) {
            let Some(id) = event.payment.clone() else { continue };
            match self.line.ask(&OperatorAsk::Payment { id }) {
                Ok(Ok(OperatorReply::Payment(detail))) => lock(&self.known).counts.ended(event, &detail),
                Ok(_) => tracing::warn!("a payment was not counted: the vault answered out of turn"),
                Err(fault) => tracing::warn!(%fault, "a payment was not counted"),
            }
        }
        self.measure();
        lock(&self.known).status = Some(seen.status);
    }

    /// Asks the vault what it measured since the last time. May block.
    pub(super) fn measure(&self) {
        // Held from the ask to the count, so that nothing is counted by two at once.
        let mut mark = lock(&self.mark);
        loop {
            let measures = match self.line.ask(&OperatorAsk::Measures { after: mark.after() }) {
                Ok(Ok(OperatorReply::Measures(measures))) => *measures,
                Ok(_) => return tracing::warn!("no times were counted: the vault answered out of turn"),
                Err(fault) => return tracing::debug!(%fault, "no times were counted"),
            };
            let fresh = mark.read(measures);
            lock(&self.known).counts.measured(&fresh);
            if let Traces::Sent = self.traces {
                self.trace(fresh.passages);
            }
            if !fresh.more {
                return;
            }
        }
    }

    fn trace(&self, passages: Vec<Passage>) {
        for passage in passages {
            match Trace::of(passage) {
                Ok(trace) => lock(&self.waiting).push_back(trace),
                Err(fault) => tracing::warn!(%fault, "a purchase has no trace"),
            }
        }
        self.forget();
    }

    fn forget(&self) {
        let mut waiting = lock(&self.waiting);
        let over = waiting.len().saturating_sub(TRACES_MAX);
        if over != 0 {
            waiting.drain(..over);
            tracing::warn!(over, "traces were dropped: no collector took them");
        }
    }

    /// What a collector is sent of counts.
    pub(super) fn counts(&self) -> String {
        let known = lock(&self.known);
        let families = known.counts.families(known.status.as_ref());
        otlp_request(&families, &known.counts.spreads(), self.began_s, clock::now_s())
    }

    /// The oldest traces that wait, `most` of them at most.
    pub(super) fn take(&self, most: usize) -> Vec<Trace> {
        let mut waiting = lock(&self.waiting);
        let most = most.min(waiting.len());
        waiting.drain(..most).collect()
    }

    /// What a collector is sent of these.
    pub(super) fn told(&self, traces: &[Trace]) -> String {
        trace_request(traces, self.labels)
    }

    /// Traces that were taken and not delivered wait again.
    pub(super) fn put_back(&self, traces: Vec<Trace>) {
        let mut waiting = lock(&self.waiting);
        for trace in traces.into_iter().rev() {
            waiting.push_front(trace);
        }
        drop(waiting);
        self.forget();
    }

    /// Whether the vault takes this token, where it is asked at all.
    fn compare(&self, shown: &str) -> Admission {
        let digest = Digest::of(shown.as_bytes());
        let Ok(shown) = SecretValue::new(Zeroizing::new(shown.to_owned())) else { return Admission::No };
        if !lock(&self.guard).lets_ask(digest, Instant::now()) {
            return Admission::TooMany;
        }
        match self.line.ask(&OperatorAsk::MetricsToken { shown }) {
            Ok(Ok(OperatorReply::Done)) => {
                lock(&self.guard).was_right(digest);
                Admission::Yes
            }
            Ok(Err(said)) if said.code == "token_wrong" => {
                lock(&self.guard).was_wrong(digest);
                Admission::No
            }
            _ => Admission::NotNow,
        }
    }
}

impl Shelf for Board {
    fn page(&self) -> String {
        let known = lock(&self.known);
        prometheus_text(&known.counts.families(known.status.as_ref()), &known.counts.spreads())
    }

    fn admits(&self, shown: Option<&str>) -> Admission {
        let admission = match (self.asked, shown) {
            (Asked::Nothing, _) => Admission::Yes,
            (Asked::Token, None) => Admission::No,
            (Asked::Token, Some(shown)) => self.compare(shown),
        };
        if let Admission::Yes = admission {
            self.measure();
        }
        admission
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
