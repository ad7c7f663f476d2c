//! `bursar watch`: how everything stands while it changes: redrawn in place on a terminal, else a line for each event.
//! It must never change, decide or answer anything.

mod desktop;
mod picture;
mod screen;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use bursar_policy::ApprovalId;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ApprovalState, ApprovalView, LogEntry};
use clap::Args;

use self::picture::Picture;
use self::screen::Screen;
use super::connect::Operator;
use super::exit::{Exit, Stop};
use super::feed::{self, Begin, Heard};
use super::table;
use crate::spelling;

/// How often a countdown on the screen moves.
const TICK: Duration = Duration::from_secs(1);

/// Watch budgets, payments, approvals and events as they change.
///
/// On a terminal it is redrawn in place until you press q or Ctrl-C. Elsewhere it writes one line for each event.
#[derive(Debug, Args)]
pub(super) struct Watch {
    /// Write one JSON object for each event, as `bursar log --json` does, also at a terminal
    #[arg(long)]
    json: bool,
    /// Show a notification on this desktop for each purchase that waits for you
    #[arg(long)]
    notify: bool,
    /// Where events are written line by line: begin after the event with this number, not with the next one
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
}

impl Watch {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let mut bell = if self.notify { Bell::Desktop(desktop::find()?, BTreeSet::new()) } else { Bell::Silent };
        let operator = Operator::connect_or_start(profile)?;
        if self.json || self.after.is_some() || !std::io::stdout().is_terminal() {
            return self.follow(profile, operator, &mut bell);
        }
        redraw(profile, operator, &mut bell)
    }

    /// One line an event, for as long as there is somebody to read.
    fn follow(&self, profile: &Profile, operator: Operator, bell: &mut Bell) -> Result<Exit, Stop> {
        let (to, heard) = mpsc::channel();
        feed::start(profile, operator, Begin::After(self.after), to)?;
        for heard in heard {
            match heard {
                Heard::Seen(seen) => {
                    bell.ring(&seen.approvals);
                    for event in &seen.events {
                        if self.json { table::say_json(event)? } else { table::say(&line(event))? }
                    }
                }
                Heard::Gone(why) => table::complain(&spelling::advice(profile, &why)),
                Heard::Leave => break,
                Heard::Resized => {}
            }
        }
        Ok(Exit::Done)
    }
}

/// The whole screen, until the person leaves.
fn redraw(profile: &Profile, operator: Operator, bell: &mut Bell) -> Result<Exit, Stop> {
    let (to, heard) = mpsc::channel();
    let mut screen = Screen::enter(&to)?;
    feed::start(profile, operator, Begin::Newest, to)?;
    let mut picture = Picture::new(profile);
    let mut seen_at = Instant::now();
    loop {
        match heard.recv_timeout(TICK) {
            Ok(Heard::Seen(seen)) => {
                bell.ring(&seen.approvals);
                picture.see(*seen);
                seen_at = Instant::now();
            }
            Ok(Heard::Gone(why)) => picture.lose(why),
            Ok(Heard::Resized) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Heard::Leave) | Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Done),
        }
        screen.draw(&picture.parts(seen_at.elapsed().as_secs()))?;
    }
}

/// Whether a person is called, and for what they were already.
#[derive(Debug)]
enum Bell {
    Silent,
    Desktop(desktop::Notifier, BTreeSet<ApprovalId>),
}

impl Bell {
    /// Calls the person once for each purchase that waits.
    fn ring(&mut self, approvals: &[ApprovalView]) {
        let Self::Desktop(notifier, called) = self else { return };
        let waiting = || approvals.iter().filter(|view| view.state == ApprovalState::Waiting);
        for view in waiting().filter(|view| !called.contains(&view.id)) {
            notifier.show(view);
        }
        *called = waiting().map(|view| view.id.clone()).collect();
    }
}

/// An event in one line.
fn line(event: &LogEntry) -> String {
    let LogEntry { seq, at_s, kind, payment, session, detail } = event;
    let payment = payment.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    let session = session.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{} {seq} {kind}{payment}{session}: {detail}", table::time(*at_s))
}
