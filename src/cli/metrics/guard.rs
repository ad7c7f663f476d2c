//! How often tokens may be shown. It must never know a token, and lets nobody in: the vault does that.

use std::time::Instant;

use bursar_policy::Digest;

use crate::pace::Pace;

/// How many tokens that nobody knows are looked at: so many at once, and so many a second after that.
const STRANGERS: (u32, u32) = (10, 2);
/// The same for the one token that was right the last time.
const KNOWN: (u32, u32) = (20, 10);

/// Two purses, so that who guesses does not empty that of who knows.
#[derive(Debug)]
pub(super) struct Guard {
    right: Option<Digest>,
    known: Pace,
    strangers: Pace,
}

impl Guard {
    pub(super) fn new(now: Instant) -> Self {
        let pace = |(burst, per_second)| Pace::new(burst, per_second, now);
        Self { right: None, known: pace(KNOWN), strangers: pace(STRANGERS) }
    }

    /// Whether the token with this digest is looked at now.
    pub(super) fn lets_ask(&mut self, shown: Digest, now: Instant) -> bool {
        let pace = if self.right == Some(shown) { &mut self.known } else { &mut self.strangers };
        pace.take(now)
    }

    /// The vault said that this one is right.
    pub(super) fn was_right(&mut self, shown: Digest) {
        self.right = Some(shown);
    }

    /// The vault said that this one is wrong: it may have been right before it was changed.
    pub(super) fn was_wrong(&mut self, shown: Digest) {
        self.right = self.right.filter(|right| *right != shown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_guesses_does_not_keep_out_who_knows() {
        let now = Instant::now();
        let (right, wrong) = (Digest::of(b"right"), Digest::of(b"wrong"));
        let mut guard = Guard::new(now);
        assert!(guard.lets_ask(right, now));
        guard.was_right(right);
        let looked_at = (0..1000).filter(|_| guard.lets_ask(wrong, now)).count();
        assert_eq!(looked_at, 9);
        assert!(guard.lets_ask(right, now) && !guard.lets_ask(wrong, now));
        guard.was_wrong(wrong);
        assert!(guard.lets_ask(right, now), "another's guess changes nothing");
        guard.was_wrong(right);
        assert!(!guard.lets_ask(right, now), "a token that was changed is a guess like any other");
    }
}
