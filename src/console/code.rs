//! The code that a person types to log in: shown in the terminal, good once, for a few minutes and a few tries. Must never be in
//! an address, a log or an answer.

use std::fmt;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::secret::same;

/// Letters and digits that nobody takes for one another (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// How many of them a code has: 80 bits.
const LETTERS: usize = 16;
/// Wrong ones after which a code is good for nothing.
const WRONG_MAX: u8 = 5;

/// A code for the terminal that asked for it.
#[derive(Clone)]
pub struct Code(Zeroizing<String>);

impl Code {
    /// In groups of four, as it is shown.
    #[must_use]
    pub fn spelled(&self) -> Zeroizing<String> {
        let mut spelled = Zeroizing::new(String::with_capacity(LETTERS.saturating_mul(2)));
        for (at, letter) in self.0.chars().enumerate() {
            if at != 0 && at.is_multiple_of(4) {
                spelled.push('-');
            }
            spelled.push(letter);
        }
        spelled
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(withheld)")
    }
}

/// The one code that is good now, if one is.
#[derive(Debug)]
pub(super) struct Codes {
    life: Duration,
    good: Option<Good>,
}

#[derive(Debug)]
struct Good {
    code: Code,
    issued: Instant,
    wrong: u8,
}

/// Why a code did not let anybody in. What is told of it does not depend on how near it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotLetIn {
    /// There is no good one: used, over, or tried too often.
    None,
    /// It was another one.
    Wrong,
    /// It was another one, for the last time.
    Spent,
}

impl Codes {
    pub(super) const fn new(life: Duration) -> Self {
        Self { life, good: None }
    }

    /// Draws a code, in place of the one before.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    pub(super) fn issue(&mut self, now: Instant) -> Result<Code, getrandom::Error> {
        let mut bytes = Zeroizing::new([0_u8; LETTERS]);
        getrandom::fill(bytes.as_mut())?;
        // Five of the eight bits of each byte: no letter is likelier than another.
        let letters = bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(byte & 31)).copied().map(char::from));
        let mut text = Zeroizing::new(String::with_capacity(LETTERS));
        text.extend(letters);
        let code = Code(text);
        self.good = Some(Good { code: code.clone(), issued: now, wrong: 0 });
        Ok(code)
    }

    /// Uses the code up, if `typed` is it. Spaces, hyphens and small letters are nobody's mistake.
    pub(super) fn redeem(&mut self, typed: &str, now: Instant) -> Result<(), NotLetIn> {
        let good = self.good.as_mut().ok_or(NotLetIn::None)?;
        if self.life <= now.saturating_duration_since(good.issued) {
            self.good = None;
            return Err(NotLetIn::None);
        }
        let mut read = Zeroizing::new(String::with_capacity(LETTERS.saturating_add(1)));
        for letter in typed.chars().filter(|letter| !matches!(letter, '-' | ' ')).take(LETTERS.saturating_add(1)) {
            read.push(letter.to_ascii_uppercase());
        }
        if same(&good.code.0, &read) {
            self.good = None;
            return Ok(());
        }
        good.wrong = good.wrong.saturating_add(1);
        if WRONG_MAX <= good.wrong {
            self.good = None;
            return Err(NotLetIn::Spent);
        }
        Err(NotLetIn::Wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Duration = Duration::from_secs(300);

    fn issued(now: Instant) -> (Codes, String) {
        let mut codes = Codes::new(LIFE);
        let code = codes.issue(now).unwrap();
        (codes, code.spelled().to_string())
    }

    #[test]
    fn a_code_is_good_once_however_it_is_typed() {
        let now = Instant::now();
        for typed in [str::to_owned, str::to_lowercase, |code: &str| code.replace('-', " ")] {
            let (mut codes, code) = issued(now);
            assert_eq!(code.len(), 19);
            assert_eq!(codes.redeem(&typed(&code), now), Ok(()));
            assert_eq!(codes.redeem(&code, now), Err(NotLetIn::None), "a code was good twice");
        }
    }

    #[test]
    fn a_code_ends_with_its_time_and_with_the_next_one() {
        let now = Instant::now();
        let (mut codes, code) = issued(now);
        assert_eq!(codes.redeem(&code, now.checked_add(LIFE).unwrap()), Err(NotLetIn::None));
        let (mut codes, code) = issued(now);
        let next = codes.issue(now).unwrap();
        assert_eq!(codes.redeem(&code, now), Err(NotLetIn::Wrong));
        assert_eq!(codes.redeem(&next.spelled(), now), Ok(()));
    }

    #[test]
    fn five_wrong_ones_are_the_end_of_a_code() {
        let now = Instant::now();
        let (mut codes, code) = issued(now);
        for _ in 1..WRONG_MAX {
            assert_eq!(codes.redeem("0000-0000-0000-0000", now), Err(NotLetIn::Wrong));
        }
        assert_eq!(codes.redeem(&format!("{code}0"), now), Err(NotLetIn::Spent));
        assert_eq!(codes.redeem(&code, now), Err(NotLetIn::None));
    }

    #[test]
    fn codes_differ_use_the_whole_alphabet_and_are_shown_nowhere_else() {
        let mut codes = Codes::new(LIFE);
        let drawn: Vec<String> = (0..64).map(|_| codes.issue(Instant::now()).unwrap().spelled().to_string()).collect();
        for letter in ALPHABET {
            assert!(drawn.iter().any(|code| code.contains(char::from(*letter))), "{letter}");
        }
        assert!(drawn.iter().all(|code| drawn.iter().filter(|other| *other == code).count() == 1));
        let code = codes.issue(Instant::now()).unwrap();
        assert!(!format!("{code:?}{codes:?}").contains(code.spelled().as_str()));
    }
}
