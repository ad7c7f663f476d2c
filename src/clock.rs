//! The shell's one look at the wall clock. The ledger has a clock of its own, which decides; this one only compares.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970 by this machine's wall clock; 0 where the clock stands before that.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place of the shell that may ask for the time")]
pub(crate) fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
