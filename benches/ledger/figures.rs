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

    /// Those of all rounds.
    pub(crate) fn all(rounds: &[Self]) -> Self {
        Self::of(rounds.iter().flat_map(|round| round.0.iter().copied()).collect())
    }

    pub(crate) fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    pub(crate) fn most(&self) -> Duration {
        self.0[self.0.len() - 1]
    }
}

/// The median of the ratios of medians, round by round: what slows one round down slows both of its sides.
pub(crate) fn paired(here: &[Times], there: &[Times]) -> f64 {
    let ratio = |(here, there): (&Times, &Times)| millis(here.median()) / millis(there.median());
    median(&here.iter().zip(there).map(ratio).collect::<Vec<_>>())
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |hundredths: usize| ms(self.0[(self.0.len() - 1) * hundredths / 100]);
        write!(f, "median {}, 95th of 100 {}, most {}", at(50), at(95), ms(self.most()))
    }
}

/// The middle one of some rates or ratios.
pub(crate) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

pub(crate) fn ms(time: Duration) -> String {
    format!("{:.2} ms", millis(time))
}

pub(crate) fn per_second(rate: f64) -> String {
    format!("{rate:.0}/s")
}

/// Digits in groups of three.
pub(crate) fn spaced(rows: u64) -> String {
    let digits = rows.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
