//! How many requests in a while: a purse that fills by itself. Must never let one kind of guest empty another's.

use std::time::{Duration, Instant};

/// A purse of requests.
#[derive(Debug)]
pub(crate) struct Pace {
    burst: u32,
    each: Duration,
    left: u32,
    filled: Instant,
}

impl Pace {
    /// Full: `burst` requests, and `per_second` a second after that.
    pub(crate) fn new(burst: u32, per_second: u32, now: Instant) -> Self {
        let each = Duration::from_secs(1).checked_div(per_second).unwrap_or(Duration::from_secs(1));
        Self { burst, each, left: burst, filled: now }
    }

    /// Takes one request out, if there is one.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let waited = now.saturating_duration_since(self.filled);
        let earned = waited.as_nanos().checked_div(self.each.as_nanos()).unwrap_or_default();
        let earned = u32::try_from(earned).unwrap_or(u32::MAX);
        if self.burst <= self.left.saturating_add(earned) {
            (self.left, self.filled) = (self.burst, now);
        } else if 0 < earned {
            self.left = self.left.saturating_add(earned);
            self.filled = self.filled.checked_add(self.each.saturating_mul(earned)).unwrap_or(now);
        }
        let some = 0 < self.left;
        self.left = self.left.saturating_sub(1);
        some
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_so_many_a_second() {
        let now = Instant::now();
        let later = |millis| now.checked_add(Duration::from_millis(millis)).unwrap();
        let mut pace = Pace::new(3, 10, now);
        assert_eq!([(); 4].map(|()| pace.take(now)), [true, true, true, false]);
        assert!(!pace.take(later(99)));
        assert!(pace.take(later(100)) && !pace.take(later(150)) && pace.take(later(200)));
        assert_eq!([(); 4].map(|()| pace.take(later(60_000))), [true, true, true, false]);
    }
}
