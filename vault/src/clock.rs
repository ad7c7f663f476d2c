//! Ledger time: never backwards, never fooled by a moved wall clock. Must never hear of a seller's `Date`.
//!
//! Ledger time is the later of the wall clock and the last recorded time. Beside the wall clock runs the boot clock,
//! which nobody can set: when the two drift more than [`JUMP_S`] apart, or the wall clock stands more than that behind
//! the recorded time after a restart, the reading is [`Trust::Jumped`] until a person confirms the wall clock. Until
//! then time goes on by the boot clock alone, so that windows and expiries neither stop nor leap.
//!
//! What it cannot see: a wall clock that was moved forwards while the machine was off. Nothing on the machine knows
//! how long that was.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::platform;

/// How far wall clock and boot clock may drift apart before a person is asked, in seconds.
pub const JUMP_S: u64 = 120;

/// How long a look at both clocks may take, in milliseconds.
const LOOK_MS: u64 = 1_000;

/// Where time comes from. The one real source is [`MachineTime`]; tests bring their own.
pub trait TimeSource: Send + Sync + fmt::Debug {
    /// Unix seconds by the wall clock; `None` when it stands before 1970.
    fn wall_s(&self) -> Option<u64>;
    /// Milliseconds since boot, suspend included; it cannot be set.
    fn boot_ms(&self) -> u64;
    /// Names this boot; another boot has another name. Empty when unknown.
    fn boot_id(&self) -> String;
}

/// The machine's own clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineTime;

impl TimeSource for MachineTime {
    fn wall_s(&self) -> Option<u64> {
        since_1970().map(|since| since.as_secs()).filter(|seconds| *seconds != 0)
    }

    fn boot_ms(&self) -> u64 {
        platform::boot_ms()
    }

    fn boot_id(&self) -> String {
        platform::boot_id()
    }
}

/// Unix microseconds by the wall clock, to be told and never decided by; 0 before 1970.
pub(crate) fn wall_us() -> u64 {
    u64::try_from(since_1970().unwrap_or_default().as_micros()).unwrap_or(u64::MAX)
}

/// The wall clock; `None` when it stands before 1970.
#[expect(clippy::disallowed_methods, reason = "the vault's one look at the wall clock")]
fn since_1970() -> Option<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok()
}

/// What the ledger remembers of time across a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockMemory {
    /// The last ledger time that was written down, Unix seconds.
    pub recorded_s: u64,
    /// The boot during which the two clocks were compared last.
    pub boot_id: String,
    /// What the wall clock said then, Unix seconds.
    pub wall_s: u64,
    /// What the boot clock said then, milliseconds.
    pub boot_ms: u64,
}

/// One look at the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Ledger time, Unix seconds; never less than an earlier reading unless a person confirmed an earlier clock.
    pub now_s: u64,
    /// Whether payments may rest on it.
    pub trust: Trust,
}

/// Whether payments may rest on a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The clocks agree.
    Steady,
    /// They did not, at some moment since the last confirmation.
    Jumped(Jump),
}

/// How the wall clock left the track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// It ran ahead of the boot clock by this many seconds.
    Forwards {
        /// Seconds ahead.
        by_s: u64,
    },
    /// It fell behind the boot clock, or behind the recorded time across a restart, by this many seconds.
    Backwards {
        /// Seconds behind.
        by_s: u64,
    },
    /// It stands before 1970.
    Unset,
}

impl fmt::Display for Jump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forwards { by_s } => write!(f, "the wall clock jumped {by_s} s forwards"),
            Self::Backwards { by_s } => write!(f, "the wall clock jumped {by_s} s backwards"),
            Self::Unset => f.write_str("the wall clock is not set"),
        }
    }
}

impl<T: TimeSource> TimeSource for std::sync::Arc<T> {
    fn wall_s(&self) -> Option<u64> {
        (**self).wall_s()
    }

    fn boot_ms(&self) -> u64 {
        (**self).boot_ms()
    }

    fn boot_id(&self) -> String {
        (**self).boot_id()
    }
}

/// What a person's confirmation changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// Ledger time before, Unix seconds.
    pub from_s: u64,
    /// Ledger time from now on, Unix seconds.
    pub to_s: u64,
}

/// Ledger time, shared by every thread of the vault.
#[derive(Debug)]
pub struct LedgerClock {
    source: Box<dyn TimeSource>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    recorded_s: u64,
    boot_id: String,
    base_wall_s: u64,
    base_boot_ms: u64,
    jumped: Option<Jump>,
}

impl LedgerClock {
    /// Starts a clock without a past, for a ledger that is being made.
    #[must_use]
    pub fn first(source: Box<dyn TimeSource>) -> Self {
        let (wall_s, boot_ms) = both(&*source);
        let state = State {
            recorded_s: wall_s.unwrap_or(0),
            boot_id: source.boot_id(),
            base_wall_s: wall_s.unwrap_or(0),
            base_boot_ms: boot_ms,
            jumped: wall_s.is_none().then_some(Jump::Unset),
        };
        Self { source, state: Mutex::new(state) }
    }

    /// Goes on from what was written down before a restart.
    ///
    /// Within the same boot the old comparison of the clocks still stands; after another boot only a wall clock that
    /// is behind the recorded time can be noticed.
    #[must_use]
    pub fn resume(source: Box<dyn TimeSource>, memory: ClockMemory) -> Self {
        let boot_id = source.boot_id();
        let (wall_s, boot_ms) = both(&*source);
        let same_boot = !boot_id.is_empty() && boot_id == memory.boot_id && memory.boot_ms <= boot_ms;
        let state = if same_boot {
            State {
                recorded_s: memory.recorded_s,
                boot_id,
                base_wall_s: memory.wall_s,
                base_boot_ms: memory.boot_ms,
                jumped: None,
            }
        } else {
            let (base_wall_s, jumped) = match wall_s {
                None => (memory.recorded_s, Some(Jump::Unset)),
                Some(wall_s) => match memory.recorded_s.checked_sub(wall_s).filter(|behind| JUMP_S < *behind) {
                    Some(by_s) => (memory.recorded_s, Some(Jump::Backwards { by_s })),
                    None => (wall_s, None),
                },
            };
            State { recorded_s: memory.recorded_s, boot_id, base_wall_s, base_boot_ms: boot_ms, jumped }
        };
        Self { source, state: Mutex::new(state) }
    }

    /// Looks at the clock and remembers what it saw.
    ///
    /// A jump sticks: once seen, every reading says so until [`LedgerClock::confirm`].
    #[must_use]
    pub fn read(&self) -> Reading {
        let mut state = self.state();
        let (wall_s, boot_ms) = both(&*self.source);
        let run_s = boot_ms.saturating_sub(state.base_boot_ms).div_euclid(1000);
        let expected_s = state.base_wall_s.saturating_add(run_s);
        if state.jumped.is_none() {
            state.jumped = jump(expected_s, wall_s);
        }
        let seen_s = match (state.jumped, wall_s) {
            (None, Some(wall_s)) => wall_s,
            _ => expected_s,
        };
        state.recorded_s = state.recorded_s.max(seen_s);
        let trust = state.jumped.map_or(Trust::Steady, Trust::Jumped);
        Reading { now_s: state.recorded_s, trust }
    }

    /// Ledger time is `recorded_s` at least: another vault of the same ledger wrote that down.
    pub(crate) fn not_before(&self, recorded_s: u64) {
        let mut state = self.state();
        state.recorded_s = state.recorded_s.max(recorded_s);
    }

    /// Takes a person's word that the wall clock is right now: it becomes ledger time, even when that is earlier.
    ///
    /// This is the only way that ledger time goes back. Windows stay safe: what was spent in a mistaken future counts
    /// until that future has passed. `None`, and nothing changes, while the wall clock is not set at all.
    #[must_use]
    pub fn confirm(&self) -> Option<Confirmed> {
        let mut state = self.state();
        let (wall_s, boot_ms) = both(&*self.source);
        let wall_s = wall_s?;
        let from_s = state.recorded_s;
        // Small steps back are the ordinary business of a clock service and need no rewinding.
        let rewinds = from_s.checked_sub(wall_s).is_some_and(|behind| JUMP_S < behind);
        state.recorded_s = if rewinds { wall_s } else { from_s.max(wall_s) };
        state.base_wall_s = wall_s;
        state.base_boot_ms = boot_ms;
        state.boot_id = self.source.boot_id();
        state.jumped = None;
        Some(Confirmed { from_s, to_s: state.recorded_s })
    }

    /// What to write down.
    #[must_use]
    pub fn memory(&self) -> ClockMemory {
        let state = self.state();
        ClockMemory {
            recorded_s: state.recorded_s,
            boot_id: state.boot_id.clone(),
            wall_s: state.base_wall_s,
            boot_ms: state.base_boot_ms,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every update above leaves the state whole, so a thread that died elsewhere left nothing half done here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Both clocks at one moment, the wall clock in seconds and the boot clock in milliseconds. Whoever was stopped between the two
/// looks, or slept with the machine, looks again: it would see a jump that no clock made.
fn both(source: &dyn TimeSource) -> (Option<u64>, u64) {
    let mut before_ms = source.boot_ms();
    loop {
        let wall_s = source.wall_s();
        let after_ms = source.boot_ms();
        if after_ms.saturating_sub(before_ms) <= LOOK_MS {
            return (wall_s, after_ms);
        }
        before_ms = after_ms;
    }
}

fn jump(expected_s: u64, wall_s: Option<u64>) -> Option<Jump> {
    let Some(wall_s) = wall_s else {
        return Some(Jump::Unset);
    };
    let ahead = wall_s.saturating_sub(expected_s);
    let behind = expected_s.saturating_sub(wall_s);
    if JUMP_S < ahead {
        Some(Jump::Forwards { by_s: ahead })
    } else if JUMP_S < behind {
        Some(Jump::Backwards { by_s: behind })
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
