//! What counting a payment costs: beside a bare durable commit, with callers in a crowd, after ten million rows, and beside
//! the usual way to check a budget. A real vault, real sockets, one disk. `cargo bench --bench ledger`
//!
//!     cargo bench --bench ledger                        all of it, after 1,000 rows
//!     cargo bench --bench ledger -- --rows 10000000     after so many beside 1,000, in a ledger that is built once
//!     cargo bench --bench ledger -- --folder /mnt/x     on another disk
//!     cargo bench --bench ledger -- --smoke             a handful of each, without figures that mean anything
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "a bench prints, computes ratios, and stops where it cannot go on"
)]

#[path = "ledger/bulk.rs"]
mod bulk;
#[path = "ledger/figures.rs"]
mod figures;
#[path = "ledger/stage.rs"]
mod stage;
#[path = "ledger/usual.rs"]
mod usual;

use std::path::Path;
use std::time::Duration;

use bursar_vault::clock::MachineTime;
use figures::{Times, ms, per_second};
use stage::Stage;

/// How many rows the smaller ledger has.
const FEW: u64 = 1_000;
/// Callers at once.
const CROWD: usize = 32;
/// The longest that anybody of the crowd may wait.
const WAIT_MAX: Duration = Duration::from_millis(200);

/// How much is measured.
struct Effort {
    /// Purchases of one caller.
    alone: usize,
    /// Purchases of each caller of a crowd.
    each: usize,
    /// Rows in the window that the usual way adds up.
    windows: &'static [u64],
}

const FULL: Effort = Effort { alone: 400, each: 60, windows: &[100, 1_000, 5_000, 20_000] };
const SMOKE: Effort = Effort { alone: 3, each: 1, windows: &[20] };

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` starts benches too; they have nothing to test.
    let smoke = words.iter().any(|word| word == "--smoke");
    if !smoke && !words.iter().any(|word| word == "--bench") {
        return;
    }
    let (few, effort) = if smoke { (20, SMOKE) } else { (FEW, FULL) };
    let said = |name: &str| words.iter().position(|word| word == name).map(|at| words[at + 1].as_str());
    let many: Option<u64> = said("--rows").map(|rows| rows.parse().unwrap());
    // On the disk that builds are on, where nothing else is said. A large ledger is kept, by default until `cargo clean`.
    let kept = Path::new(said("--folder").unwrap_or(env!("CARGO_TARGET_TMPDIR"))).join("ledgers");
    std::fs::create_dir_all(&kept).unwrap();
    let folder = tempfile::Builder::new().prefix("few-").tempdir_in(&kept).unwrap();
    let (small, alone) = after(few, &folder.path().join("home"), &effort);
    crowd(&small, &effort);
    beside_the_usual_way(&small, folder.path(), &effort);
    small.close();
    if let Some(many) = many {
        let (large, after_many) = after(many, &kept.join(many.to_string()), &effort);
        println!("  {:.2} times what it is after {few} (at most 1.2)", after_many.median_ratio(&alone));
        large.close();
    }
}

/// A vault on a ledger of `rows` rows, and what one caller waits there for a payment that is counted and signed.
fn after(rows: u64, home: &Path, effort: &Effort) -> (Stage, Times) {
    bulk::build(home, rows);
    let (stage, started) = Stage::open(home, Box::new(MachineTime));
    println!("after {rows} rows");
    println!("  start of the vault, until its sockets accept: {}", ms(started));
    if let Some(checked) = stage.wait_for_the_check(rows) {
        println!("  the whole check beside its work: {}", ms(checked));
    }
    let floor = usual::bare_commits(home, effort.alone);
    let alone = stage.buy_alone(effort.alone);
    println!("  a bare durable commit of one row: {floor}");
    println!("  judged, counted, committed, signed, stored: {alone}");
    println!("  {:.2} bare commits (at most 1.3)", alone.median_ratio(&floor));
    (stage, alone)
}

/// What a crowd gets done beside one caller, and how long each of it waits.
fn crowd(stage: &Stage, effort: &Effort) {
    let (_, one) = stage.buy_in_a_crowd(1, effort.alone);
    let (waits, many) = stage.buy_in_a_crowd(CROWD, effort.each);
    println!("one caller {}, {CROWD} callers {}", per_second(one), per_second(many));
    println!("  {:.1} times as many (at least 20)", many / one);
    println!("  each waits {waits} (at most {})", ms(WAIT_MAX));
}

/// The same check the usual way: the sum over the window inside the transaction.
fn beside_the_usual_way(stage: &Stage, folder: &Path, effort: &Effort) {
    let (_, ours) = stage.buy_in_a_crowd(CROWD, effort.each);
    println!("{CROWD} callers, here {}; the usual way, with so many rows in the window:", per_second(ours));
    for rows in effort.windows {
        let theirs = usual::rate(folder, *rows, CROWD, effort.each);
        println!("  {rows:>6} rows {:>7}, {:.1} times as many here", per_second(theirs), ours / theirs);
    }
}
