//! What a watcher looks at, as parts of a screen. It must never touch a terminal.

use std::collections::VecDeque;

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ApprovalState, LogEntry, SessionView};

use crate::cli::approval;
use crate::cli::feed::Seen;
use crate::cli::status::{self, Part};
use crate::cli::table::{self, Paint};
use crate::spelling;

/// The most events that are kept for the screen.
const EVENTS_MAX: usize = 200;

/// All that is known.
#[derive(Debug)]
pub(super) struct Picture {
    profile: Profile,
    seen: Option<Seen>,
    /// The newest first.
    events: VecDeque<LogEntry>,
    gone: Option<String>,
}

impl Picture {
    pub(super) fn new(profile: &Profile) -> Self {
        Self { profile: profile.clone(), seen: None, events: VecDeque::new(), gone: None }
    }

    /// Takes what the vault told.
    pub(super) fn see(&mut self, mut seen: Seen) {
        for event in seen.events.drain(..) {
            self.events.push_front(event);
        }
        self.events.truncate(EVENTS_MAX);
        seen.status.sessions = worth_watching(std::mem::take(&mut seen.status.sessions), seen.status.now_s);
        self.seen = Some(seen);
        self.gone = None;
    }

    /// Notes that no vault answers.
    pub(super) fn lose(&mut self, why: String) {
        self.gone = Some(why);
    }

    /// Everything from top to bottom, `passed_s` seconds after it was told: what is last can be left out first.
    pub(super) fn parts(&self, passed_s: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        if let Some(why) = &self.gone {
            let says = spelling::advice(&self.profile, &format!("{why}; this goes on when a vault is there again"));
            parts.push(Part::marked("NO VAULT", Paint::Bad, &says));
        }
        let Some(Seen { status, approvals, .. }) = &self.seen else { return parts };
        let mut status = status.clone();
        status.now_s = status.now_s.saturating_add(passed_s);
        parts.extend(status::parts(&self.profile, &status));
        let waiting = approvals.iter().filter(|view| view.state == ApprovalState::Waiting);
        let rows: Vec<_> = waiting.map(|view| approval::row(view, status.now_s)).collect();
        if !rows.is_empty() {
            parts.push(Part::Plain(table::table(approval::HEADS, &[2], rows)));
        }
        parts.push(Part::Plain(String::new()));
        parts.extend(self.events.iter().map(|event| Part::Plain(line(event))));
        parts
    }
}

/// Those that are open, or the newest where none is.
fn worth_watching(sessions: Vec<SessionView>, now_s: u64) -> Vec<SessionView> {
    let is_open = |session: &SessionView| !session.closed && now_s < session.expires_s;
    let newest = sessions.first().cloned();
    let open: Vec<SessionView> = sessions.into_iter().filter(is_open).collect();
    if open.is_empty() { newest.into_iter().collect() } else { open }
}

/// An event in one line of a screen that is known to be of today, most often.
fn line(event: &LogEntry) -> String {
    let at = table::time(event.at_s);
    let clock = at.split(' ').nth(1).unwrap_or(&at);
    format!("{clock}  {:<16}{}", event.kind, event.detail)
}

#[cfg(test)]
mod tests;
