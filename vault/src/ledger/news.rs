//! How far the log has come, for whoever waits for more of it. Must never hold an event, nor hold up the writer.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Ledger;

/// The place of the newest event that is committed, as far as this process knows.
#[derive(Debug, Default)]
pub(super) struct News {
    seq: Mutex<u64>,
    changed: Condvar,
}

impl News {
    /// Tells everybody who waits that the log has come to `seq`. One that is lower than before changes nothing.
    pub(super) fn tell(&self, seq: u64) {
        let mut known = self.lock();
        if *known < seq {
            *known = seq;
            drop(known);
            self.changed.notify_all();
        }
    }

    /// Waits until the log is past `after`, at most for `patience`; whether it is.
    fn wait(&self, after: u64, patience: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.lock(), patience, |seq| *seq <= after);
        let (seq, _) = waited.unwrap_or_else(PoisonError::into_inner);
        after < *seq
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.seq.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger {
    /// The sequence number of the newest event that is known to be committed.
    #[must_use]
    pub fn came_to(&self) -> u64 {
        *self.shared.news.lock()
    }

    /// Waits until the log may have events after sequence number `after`, at most for `patience`; whether it is worth
    /// looking. What other vaults write into a ledger that is shared is not heard of, so there it always is.
    #[must_use]
    pub fn wait_past(&self, after: u64, patience: Duration) -> bool {
        self.shared.news.wait(after, patience) || self.place.server.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn whoever_waits_is_woken_by_the_next_event_and_by_no_older_one() {
        let news = Arc::new(News::default());
        news.tell(4);
        assert!(news.wait(3, Duration::ZERO));
        assert!(!news.wait(4, Duration::ZERO));
        news.tell(2);
        assert!(!news.wait(4, Duration::ZERO), "the log does not go back");
        let waiting = thread::spawn({
            let news = Arc::clone(&news);
            move || news.wait(4, Duration::from_secs(60))
        });
        news.tell(5);
        assert!(waiting.join().unwrap());
    }
}
