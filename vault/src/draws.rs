//! How many handles may be drawn: each stays in the ledger for ever, and one that is never redeemed costs nothing. Must
//! never hold a handle.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most handles that are drawn within [`WITHIN`], by every session together. Each takes at most about 160 KiB of the
/// disk.
pub(crate) const DRAWS_MAX: usize = 60;

/// How far back draws are counted.
const WITHIN: Duration = Duration::from_secs(600);

/// When handles were drawn lately. In memory only.
#[derive(Debug, Default)]
pub(crate) struct Draws(Mutex<VecDeque<Instant>>);

impl Draws {
    /// Whether one more may be drawn at `now`. Those who ask at the same time are all told yes.
    pub(crate) fn has_room(&self, now: Instant) -> bool {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while drawn.front().is_some_and(|at| WITHIN <= now.saturating_duration_since(*at)) {
            drawn.pop_front();
        }
        drawn.len() < DRAWS_MAX
    }

    /// Counts one that was drawn at `now` and is in the ledger.
    pub(crate) fn note(&self, now: Instant) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_again_when_the_first_was_drawn_long_enough_ago() {
        let (draws, start) = (Draws::default(), Instant::now());
        for second in 0..DRAWS_MAX {
            let now = start + Duration::from_secs(u64::try_from(second).unwrap());
            assert!(draws.has_room(now), "{second}");
            draws.note(now);
        }
        assert!(!draws.has_room(start + WITHIN - Duration::from_secs(1)));
        assert!(draws.has_room(start + WITHIN));
        draws.note(start + WITHIN);
        assert!(!draws.has_room(start + WITHIN), "the second one was drawn a second later");
    }
}
