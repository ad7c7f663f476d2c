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
//! A seed that fails prints its story, cut down to the acts that it needs, as Rust: put it into a test of its own. Then put
//! the seed into `sim/seeds.txt`, which is run every time.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "the numbers of this test are small and its sums are meant to be plain"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use self::act::{Act, SCHEDULES, story};
use self::life::{Life, Seen};

mod act;
mod books;
mod check;
mod law;
mod life;
mod place;

/// How many lives are drawn: a few in an ordinary run, and a hundred thousand schedules with `--release`.
const LIVES: u64 = if cfg!(debug_assertions) { 12 } else { 4_000 };

/// The first seed.
const FIRST: u64 = 402;

/// How many acts at most are tried to be cut out of a story that fails.
const CUTS: usize = 2_000;

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

/// Lives the life of a seed.
fn live_seed(seed: u64, seen: &mut Seen) {
    let whole = story(seed);
    match catch_unwind(AssertUnwindSafe(|| live(&whole))) {
        Ok(life) => {
            for (what, count) in life.seen {
                *seen.entry(what).or_default() += count;
            }
        }
        Err(_said_already) => {
            let lines: String = cut(whole).iter().map(|act| format!("    Act::{act:?},\n")).collect();
            panic!("seed {seed} fails, and so does this story:\n{lines}");
        }
    }
}

#[test]
fn no_life_loses_money_signs_twice_or_goes_over_a_limit() {
    let mut seen = Seen::new();
    for seed in FIRST..FIRST + LIVES {
        live_seed(seed, &mut seen);
    }
    let schedules = LIVES * u64::try_from(SCHEDULES).unwrap();
    assert_eq!(seen["a session"] >= schedules, true, "{seen:?}");
}

#[test]
fn what_failed_once_is_lived_again() {
    for line in include_str!("sim/seeds.txt").lines().filter(|line| !line.starts_with('#')) {
        live_seed(line.parse().unwrap(), &mut Seen::new());
    }
}
