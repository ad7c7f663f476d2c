//! The server's clock as this ledger's wall clock. Must never be the clock of this machine.
//!
//! The boot clock beside it is this machine's, so that a server whose clock was set, or another server that took over with
//! another time, is noticed as a wall clock that was set is.

use std::sync::{Mutex, PoisonError};

use crate::clock::TimeSource;

/// The server's clock as it was last seen, carried on by the machine's boot clock.
#[derive(Debug)]
pub(in crate::ledger) struct ServerTime {
    machine: Box<dyn TimeSource>,
    seen: Mutex<(u64, u64)>,
}

impl ServerTime {
    /// The server says that it is `now_s`.
    pub(in crate::ledger) fn new(machine: Box<dyn TimeSource>, now_s: u64) -> Self {
        let boot_ms = machine.boot_ms();
        Self { machine, seen: Mutex::new((now_s, boot_ms)) }
    }

    /// The server says that it is `now_s`, later than before or not.
    pub(in crate::ledger) fn see(&self, now_s: u64) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = (now_s, self.machine.boot_ms());
    }
}

impl TimeSource for ServerTime {
    fn wall_s(&self) -> Option<u64> {
        let (now_s, boot_ms) = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let passed_ms = self.machine.boot_ms().saturating_sub(boot_ms);
        Some(now_s.saturating_add(passed_ms.div_euclid(1000)))
    }

    fn boot_ms(&self) -> u64 {
        self.machine.boot_ms()
    }

    fn boot_id(&self) -> String {
        self.machine.boot_id()
    }
}
