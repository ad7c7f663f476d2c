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

/// So many lives, each of [`deal::SCHEDULES`] schedules: in every run of the tests, and with `--release`.
const LIVES: u64 = if cfg!(debug_assertions) { 16 } else { 4_000 };

#[test]
fn no_life_of_a_buyer_loses_money_pays_twice_or_goes_over_a_limit() {
    let mut seen = live::Seen::default();
    let mut schedules = 0;
    for seed in 0..LIVES {
        let life = deal::life(seed);
        schedules += life.schedules.len();
        match live::lived(&life) {
            Ok(more) => seen.add(&more),
            Err(fault) => {
                let (story, fault) = live::shortened(life, fault);
                panic!("seed {seed}: {fault}\n\nput this into tests/lives/stories.rs:\n{story:#?}");
            }
        }
    }
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
