//! Whole lives of a ledger, drawn from a seed: hundreds of acts of clients, sellers, people and bad luck, each compared with
//! a second bookkeeping that adds everything up from scratch. Must never depend on anything but its seed.
//!
//! A life is one ledger with many schedules in it, each of which begins with a new session. What a schedule leaves behind,
//! be it a payment in flight, a freeze, other rules or a clock that was set, is there when the next begins.
//!
//! After every act: each payment is in the file as the books have it, by state, nonce, signature and times; the running
//! totals are the sums of the books; no session is over its budget, and the limit that is in every rules holds. Whatever may
//! be signed was seen on the disk before, by another process; so was every signature. Every yes, and every no with all its
//! reasons, is what the books say. At the end of a life the whole file is checked, before and after a restart.
//!
//! A seed that fails prints its story, cut down to the acts that it needs, as Rust: put it into `sim/stories.rs`, which is
//! lived in every run.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "the numbers of this test are small and its sums are meant to be plain"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use self::act::{Act, SCHEDULES, story};
use self::life::{Life, Seen};
use self::stories::saved;

mod act;
mod books;
mod check;
mod deal;
mod form;
mod keys;
mod law;
mod life;
mod place;
mod stories;
mod word;

/// How many lives are drawn: a few in an ordinary run, and a hundred thousand schedules with `--release`.
const LIVES: u64 = if cfg!(debug_assertions) { 80 } else { 4_000 };

/// How many lives go on at once.
const THREADS: usize = 4;

/// The first seed.
const FIRST: u64 = 402;

/// How many acts at most are tried to be cut out of a story that fails.
const CUTS: usize = 400;

/// Lives a story to its end.
fn live(story: &[Act]) -> Life {
    let mut life = Life::new();
    for act in story {
        life.step(act);
    }
    life.end_well();
    life
}

fn fails(story: &[Act]) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(live(story)))).is_err()
}

/// A story that still fails with every run of acts cut out that it does not need.
fn cut(mut story: Vec<Act>) -> Vec<Act> {
    let (mut run, mut tried) = (story.len() / 2, 0);
    while 0 < run && tried < CUTS {
        let mut at = 0;
        while at < story.len() && tried < CUTS {
            let shorter: Vec<Act> = story[..at].iter().chain(&story[story.len().min(at + run)..]).cloned().collect();
            tried += 1;
            if fails(&shorter) {
                story = shorter;
            } else {
                at += run;
            }
        }
        run /= 2;
    }
    story
}

fn add(seen: &mut Seen, more: Seen) {
    for (what, count) in more {
        *seen.entry(what).or_default() += count;
    }
}

/// Lives the life of a seed.
fn live_seed(seed: u64, seen: &mut Seen) {
    let whole = story(seed);
    match catch_unwind(AssertUnwindSafe(|| live(&whole))) {
        Ok(life) => add(seen, life.seen),
        Err(_said_already) => {
            let lines: String = cut(whole).iter().map(|act| format!("    Act::{act:?},\n")).collect();
            panic!("seed {seed} fails, and so does this story:\n{lines}");
        }
    }
}

/// Every kind of thing that must have happened in the drawn lives, so that what is proved is proved of something.
const HAPPENS: [&str; 44] = [
    "a claim",
    "a claim that was refused",
    "a clock that jumped",
    "a crash",
    "a crash in an act",
    "a full disk",
    "a handle that was redeemed",
    "a handle that was refused",
    "a locked file",
    "a no",
    "a nonce for the second time",
    "a person who opened the ledger",
    "a proof that came too early",
    "a proof that frees",
    "a proof that a seller lied",
    "a proof that settles",
    "a purchase in flight",
    "a quote",
    "a repeat",
    "a report",
    "a restart",
    "a session",
    "a settlement",
    "a signature",
    "a signature that came too late or differs",
    "a sweep",
    "a sweep beside one that is live",
    "a sweep of what payments may take",
    "a sweep that a chain shows",
    "a thaw that a sweep holds back",
    "a yes",
    "an account that stays while a payment is open",
    "another account",
    "approval_denied",
    "frozen",
    "ledger_latched",
    "money exposed",
    "money held",
    "money that came back",
    "needs_approval",
    "over_limit",
    "over_session_budget",
    "quote_unknown",
    "the same bytes again",
];

#[test]
fn no_life_loses_money_signs_twice_or_goes_over_a_limit() {
    // Lives share nothing; beside one that waits for the disk another one goes on.
    let of_each = |first: u64| {
        let mut seen = Seen::new();
        (FIRST + first..FIRST + LIVES).step_by(THREADS).for_each(|seed| live_seed(seed, &mut seen));
        seen
    };
    let mut seen = Seen::new();
    thread::scope(|scope| {
        let lives: Vec<_> = (0..).take(THREADS).map(|first| scope.spawn(move || of_each(first))).collect();
        for of_one in lives {
            add(&mut seen, of_one.join().unwrap());
        }
    });
    let schedules = LIVES * u64::try_from(SCHEDULES).unwrap();
    assert!(seen.get("a session").is_some_and(|sessions| schedules <= *sessions), "{seen:?}");
    let never: Vec<_> = HAPPENS.into_iter().filter(|what| !seen.contains_key(what)).collect();
    assert!(never.is_empty(), "{never:?} never happened, but {seen:?}");
}

#[test]
fn a_seed_is_one_story_to_the_last_hash() {
    let of_seed = || live(&story(FIRST)).ledger().verify().unwrap();
    assert_eq!(of_seed(), of_seed());
    assert_ne!(story(FIRST), story(FIRST + 1));
}

#[test]
fn what_failed_once_is_lived_again() {
    for (lesson, story) in saved() {
        assert!(!fails(&story), "{lesson}: see what it says above");
    }
}
