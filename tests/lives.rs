//! Whole lives of a buyer, drawn from seeds: the real purchase code against a real vault and ledger in this process, with
//! time that is moved by hand, a seller that lies, fails and falls silent at any byte, and processes that die between any
//! two things that last. Whatever happens: no money leaves uncounted, no purchase is signed twice, no limit is passed, and
//! nobody is told that nothing was paid where something was.
//!
//! A seed that fails prints its story, cut down to the calls that it needs, as Rust: put it into `lives/stories.rs`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stderr,
    dead_code,
    reason = "a test that cannot go on says so and stops; the books that are shared have more than is needed here"
)]

#[path = "lives/act.rs"]
mod act;
#[path = "crash/books.rs"]
mod books;
#[path = "lives/deal.rs"]
mod deal;
#[path = "lives/house.rs"]
mod house;
#[path = "lives/live.rs"]
mod live;
#[path = "lives/seller.rs"]
mod seller;
#[path = "lives/stories.rs"]
mod stories;

use std::thread;

/// So many lives, each of [`deal::SCHEDULES`] schedules: in every run of the tests, and with `--release`.
const LIVES: u64 = if cfg!(debug_assertions) { 16 } else { 4_000 };

/// How many lives go on at once.
const THREADS: usize = 4;

/// Lives the life of a seed; how many schedules it had.
fn live_seed(seed: u64, seen: &mut live::Seen) -> usize {
    let life = deal::life(seed);
    let schedules = life.schedules.len();
    match live::lived(&life) {
        Ok(more) => seen.add(&more),
        Err(fault) => {
            let (story, fault) = live::shortened(life, fault);
            panic!("seed {seed}: {fault}\n\nput this into tests/lives/stories.rs:\n{story:#?}");
        }
    }
    schedules
}

#[test]
fn no_life_of_a_buyer_loses_money_pays_twice_or_goes_over_a_limit() {
    // Lives share nothing; while one waits for an answer another one goes on.
    let of_each = |first: u64| {
        let mut seen = live::Seen::default();
        let schedules: usize = (first..LIVES).step_by(THREADS).map(|seed| live_seed(seed, &mut seen)).sum();
        (seen, schedules)
    };
    let (mut seen, mut schedules) = (live::Seen::default(), 0);
    thread::scope(|scope| {
        let lives: Vec<_> = (0..).take(THREADS).map(|first| scope.spawn(move || of_each(first))).collect();
        for of_one in lives {
            let (more, lived) = of_one.join().unwrap();
            seen.add(&more);
            schedules += lived;
        }
    });
    eprintln!("{LIVES} lives, {schedules} schedules: {seen:?}");
    seen.must_be_everything();
}

#[test]
fn every_story_that_once_failed_is_lived_to_its_end() {
    for (name, life) in stories::stories() {
        if let Err(fault) = live::lived(&life) {
            panic!("{name}: {fault}");
        }
    }
}
