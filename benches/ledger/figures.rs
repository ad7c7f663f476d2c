//! Times and rates, and how they are printed.

use std::fmt;
use std::time::Duration;

/// What each of many took, in order of length.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn of(mut each: Vec<Duration>) -> Self {
        each.sort_unstable();
        Self(each)
    }

    pub(crate) fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    pub(crate) fn most(&self) -> Duration {
        self.0[self.0.len() - 1]
    }

    pub(crate) fn median_ratio(&self, other: &Self) -> f64 {
        self.median().as_secs_f64() / other.median().as_secs_f64()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |hundredths: usize| ms(self.0[(self.0.len() - 1) * hundredths / 100]);
        write!(f, "median {}, 95th of 100 {}, most {}", at(50), at(95), ms(self.most()))
    }
}

pub(crate) fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

pub(crate) fn per_second(rate: f64) -> String {
    format!("{rate:.0}/s")
}
