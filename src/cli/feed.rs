//! What the vault tells a watcher: a thread that waits for events and asks how everything stands after each. It must never
//! ask for anything but to be told.

use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ApprovalView, LogEntry, OperatorAsk, OperatorReply, OperatorStatus};

use super::connect::{Operator, out_of_turn};
use super::exit::Stop;

/// How many of the newest events a screen begins with.
const NEWEST: u32 = 50;
/// How long to wait before it is looked again whether a vault is there.
const PAUSE: Duration = Duration::from_secs(1);

/// Something to show, or to do.
#[derive(Debug)]
pub(super) enum Heard {
    /// How everything stands now.
    Seen(Box<Seen>),
    /// No vault answers any more; it is looked for again.
    Gone(String),
    /// The terminal has another size.
    Resized,
    /// The person wants to leave, or this process is told to.
    Leave,
}

/// How everything stands, and what happened since the last time.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) status: OperatorStatus,
    pub(super) approvals: Vec<ApprovalView>,
    pub(super) events: Vec<LogEntry>,
}

/// Where to begin.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin {
    /// With the newest events.
    Newest,
    /// After the event of this number, or with the next one that happens.
    After(Option<u64>),
}

/// Why it is not asked any further.
enum Ended {
    /// Nobody listens.
    Unheard,
    /// The vault does not answer.
    Vault(Stop),
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        Self::Vault(stop)
    }
}

/// Starts the thread, which tells `to` until nobody listens there.
///
/// # Errors
///
/// A [`Stop`] where there is no thread to be had, or the vault does not say where its log ends.
pub(super) fn start(profile: &Profile, operator: Operator, begin: Begin, to: Sender<Heard>) -> Result<(), Stop> {
    let (after, first) = match begin {
        Begin::After(Some(after)) => (after, Vec::new()),
        Begin::After(None) => (end(&log(&operator, 1)?), Vec::new()),
        Begin::Newest => {
            let newest = log(&operator, NEWEST)?;
            (end(&newest), newest)
        }
    };
    let profile = profile.clone();
    let work = move || feed(&profile, operator, after, first, &to);
    thread::Builder::new().name("feed".to_owned()).spawn(work)?;
    Ok(())
}

fn feed(profile: &Profile, mut operator: Operator, mut after: u64, mut events: Vec<LogEntry>, to: &Sender<Heard>) {
    loop {
        match follow(&operator, &mut after, std::mem::take(&mut events), to) {
            Ended::Unheard => return,
            Ended::Vault(stop) if to.send(Heard::Gone(stop.sentence.clone())).is_err() => return,
            Ended::Vault(_told) => {}
        }
        operator = loop {
            thread::sleep(PAUSE);
            if let Ok(found) = Operator::connect(profile) {
                break found;
            }
        };
        // Another log than before ends earlier, and nothing after its end was seen.
        if let Ok(newest) = log(&operator, 1) {
            after = after.min(end(&newest));
        }
    }
}

/// Tells what happens until that ends.
fn follow(operator: &Operator, after: &mut u64, events: Vec<LogEntry>, to: &Sender<Heard>) -> Ended {
    let mut told = tell(operator, events, to);
    loop {
        let is_busy = match told {
            Ok(is_busy) => is_busy,
            Err(ended) => return ended,
        };
        let events = match operator.ask(&OperatorAsk::Next { after: *after }) {
            Ok(OperatorReply::Log(events)) => events,
            Ok(_) => return out_of_turn().into(),
            Err(stop) => return stop.into(),
        };
        if let Some(last) = events.last() {
            *after = last.seq;
        }
        // A vault with nothing to do is not kept from ending by being asked how it is.
        told = if events.is_empty() && !is_busy { Ok(is_busy) } else { tell(operator, events, to) };
    }
}

/// Asks how everything stands and tells it; whether anything is open that time changes.
fn tell(operator: &Operator, events: Vec<LogEntry>, to: &Sender<Heard>) -> Result<bool, Ended> {
    let OperatorReply::Status(status) = operator.ask(&OperatorAsk::Status)? else { return Err(out_of_turn().into()) };
    let OperatorReply::Approvals { approvals, .. } = operator.ask(&OperatorAsk::Approvals)? else {
        return Err(out_of_turn().into());
    };
    let is_open = status.sessions.iter().any(|session| !session.closed && status.now_s < session.expires_s);
    let is_busy = is_open || !status.unresolved.is_empty() || !approvals.is_empty();
    to.send(Heard::Seen(Box::new(Seen { status: *status, approvals, events }))).map_err(|_gone| Ended::Unheard)?;
    Ok(is_busy)
}

fn log(operator: &Operator, limit: u32) -> Result<Vec<LogEntry>, Stop> {
    match operator.ask(&OperatorAsk::Log { limit, after: None })? {
        OperatorReply::Log(entries) => Ok(entries),
        _ => Err(out_of_turn()),
    }
}

fn end(newest: &[LogEntry]) -> u64 {
    newest.last().map_or(0, |entry| entry.seq)
}
