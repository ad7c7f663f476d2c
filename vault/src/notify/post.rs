//! Messages that wait to be sent, each with a few tries. Must never grow without bound, nor try for ever.

use std::collections::VecDeque;
use std::time::Duration;

use super::change::Notice;

/// How long after a try that failed the next one comes. After the last one a message is given up.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_secs(120), Duration::from_secs(600)];
/// The most messages that wait; of more the oldest are given up.
const LETTERS_MAX: usize = 64;
/// How long a message waits at all, also for a wallet that is locked.
const LIFE: Duration = Duration::from_secs(3600);

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) notice: Notice,
    since: Duration,
    due: Duration,
    tried: usize,
}

/// Those that wait, the oldest first. All times are since any one moment.
#[derive(Debug, Default)]
pub(super) struct Post(VecDeque<Letter>);

impl Post {
    /// Takes a message in; how many had to be given up for it.
    pub(super) fn add(&mut self, notice: Notice, now: Duration) -> usize {
        self.0.push_back(Letter { notice, since: now, due: now, tried: 0 });
        let over = self.0.len().saturating_sub(LETTERS_MAX);
        self.0.drain(..over).count()
    }

    /// The first message that is to be tried now, taken out.
    pub(super) fn due(&mut self, now: Duration) -> Option<Letter> {
        let at = self.0.iter().position(|letter| letter.due <= now)?;
        self.0.remove(at)
    }

    /// Puts back a message that was not tried, because it cannot be signed now.
    pub(super) fn keep(&mut self, letter: Letter) {
        self.0.push_front(letter);
    }

    /// Puts back a message whose try failed; whether it was the last one, and it is given up.
    pub(super) fn failed(&mut self, letter: Letter, now: Duration) -> bool {
        let Some(pause) = PAUSES.get(letter.tried) else { return true };
        let (due, tried) = (now.saturating_add(*pause), letter.tried.saturating_add(1));
        self.0.push_back(Letter { due, tried, ..letter });
        false
    }

    /// Gives up what waited too long; how many.
    pub(super) fn forget_old(&mut self, now: Duration) -> usize {
        let before = self.0.len();
        self.0.retain(|letter| now.saturating_sub(letter.since) < LIFE);
        before.saturating_sub(self.0.len())
    }

    /// Gives everything up.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn notice(id: &str) -> Notice {
        Notice { id: id.to_owned(), body: "{}".to_owned() }
    }

    #[test]
    fn a_message_is_tried_five_times_and_given_up() {
        let mut post = Post::default();
        post.add(notice("a"), S(0));
        let mut now = S(0);
        for pause in [5, 30, 120, 600] {
            let letter = post.due(now).unwrap();
            assert!(!post.failed(letter, now));
            now = now.saturating_add(S(pause));
            assert_eq!(post.due(now.saturating_sub(S(1))), None, "not before {pause} seconds");
        }
        let letter = post.due(now).unwrap();
        assert!(post.failed(letter, now), "the fifth try was the last");
        assert_eq!(post.due(S(1_000_000)), None);
    }

    #[test]
    fn one_that_fails_holds_no_other_up_and_what_cannot_be_signed_waits_for_its_turn() {
        let mut post = Post::default();
        post.add(notice("a"), S(0));
        post.add(notice("b"), S(0));
        let first = post.due(S(0)).unwrap();
        post.failed(first, S(0));
        assert_eq!(post.due(S(0)).unwrap().notice, notice("b"));
        let first = post.due(S(5)).unwrap();
        post.keep(first);
        assert_eq!(post.forget_old(S(3599)), 0);
        assert_eq!(post.due(S(5)).unwrap().notice, notice("a"));
    }

    #[test]
    fn however_many_there_are_only_the_newest_wait_and_not_for_ever() {
        let mut post = Post::default();
        let given_up: usize = (0..70).map(|number: u32| post.add(notice(&number.to_string()), S(0))).sum();
        assert_eq!(given_up, 6);
        assert_eq!(post.due(S(0)).unwrap().notice, notice("6"));
        assert_eq!(post.forget_old(S(3600)), 63);
        assert_eq!(post.due(S(3600)), None);
    }
}
