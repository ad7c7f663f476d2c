//! The demo seller's own clock, as a real seller has one of its own.
//!
//! It must never reach bursar's side of the demo.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970; zero on a clock set before that.
#[expect(clippy::disallowed_methods, reason = "the demo seller stands for another machine, which has its own clock")]
pub(crate) fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
