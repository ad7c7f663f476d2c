//! Times as a histogram, in whole microseconds. No time passes a float.

/// The upper ends of the buckets, in microseconds.
pub(crate) const BUCKETS_US: [u64; 17] = [
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
];

/// How long something took, each time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// How many fell into each bucket, the last one without an upper end.
    pub(crate) counts: [u64; BUCKETS_US.len() + 1],
    pub(crate) sum_us: u64,
}

impl Times {
    pub(crate) fn note(&mut self, took_us: u64) {
        let place = BUCKETS_US.iter().position(|end| took_us <= *end).unwrap_or(BUCKETS_US.len());
        if let Some(count) = self.counts.get_mut(place) {
            *count = count.saturating_add(1);
        }
        self.sum_us = self.sum_us.saturating_add(took_us);
    }

    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Seconds as an exact decimal.
pub(crate) fn seconds(micros: u64) -> String {
    let (whole, rest) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let text = format!("{whole}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact_and_a_time_falls_into_the_first_bucket_that_holds_it() {
        let written = [0, 500, 1_000_000, 2_500_000, 10_000_000, 1_234_567].map(seconds);
        assert_eq!(written, ["0", "0.0005", "1", "2.5", "10", "1.234567"]);
        let mut times = Times::default();
        for took_us in [500, 501, 120_000_001] {
            times.note(took_us);
        }
        assert_eq!((times.counts[0], times.counts[1], times.counts[17], times.count()), (1, 1, 1, 3));
        assert!(BUCKETS_US.is_sorted());
    }
}
