//! What counting a payment costs: beside a bare durable commit, with callers in a crowd, in ledgers that grow, and beside the
//! usual way to check a budget. A real vault, real sockets, one disk. `cargo bench --bench ledger`
//!
//!     cargo bench --bench ledger                           all of it, in ledgers of up to a million rows
//!     cargo bench --bench ledger -- --rows 1000,10000000   in these; one of more than a million is built once and kept
//!     cargo bench --bench ledger -- --folder /mnt/x        on another disk
//!     cargo bench --bench ledger -- --json FILE            the figures in a file too
//!     cargo bench --bench ledger -- --smoke                a handful of each, without figures that mean anything
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
#[path = "ledger/crowd.rs"]
mod crowd;
#[path = "ledger/figures.rs"]
mod figures;
#[path = "ledger/growth.rs"]
mod growth;
#[path = "figures/sheet.rs"]
mod sheet;
#[path = "ledger/stage.rs"]
mod stage;
#[path = "ledger/usual.rs"]
mod usual;

use std::path::Path;

use growth::Grown;
use sheet::Sheet;

/// How many rows the ledgers have where nothing else is said; the others stand beside the first.
const ROWS: &str = "1000,10000,100000,1000000";

/// How much is measured.
struct Effort {
    /// What is compared takes turns, so often.
    rounds: usize,
    /// Purchases of one caller in a round.
    alone: usize,
    /// Purchases of each caller of a crowd in a round.
    each: usize,
    /// Rows in the window that the usual way adds up.
    windows: &'static [u64],
}

const FULL: Effort = Effort { rounds: 5, alone: 80, each: 20, windows: &[100, 1_000, 5_000, 20_000] };
const SMOKE: Effort = Effort { rounds: 1, alone: 3, each: 1, windows: &[20, 40] };

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` starts benches too; they have nothing to test.
    let smoke = words.iter().any(|word| word == "--smoke");
    if !smoke && !words.iter().any(|word| word == "--bench") {
        return;
    }
    let mut sheet = Sheet::new(&words);
    let (usual_rows, effort) = if smoke { ("20,60", SMOKE) } else { (ROWS, FULL) };
    let said = |name: &str| words.iter().position(|word| word == name).map(|at| words[at + 1].as_str());
    let rows: Vec<u64> = said("--rows").unwrap_or(usual_rows).split(',').map(|rows| rows.parse().unwrap()).collect();
    // On the disk that builds are on, where nothing else is said.
    let kept = Path::new(said("--folder").unwrap_or(env!("CARGO_TARGET_TMPDIR"))).join("ledgers");
    std::fs::create_dir_all(&kept).unwrap();
    let folder = tempfile::Builder::new().prefix("new-").tempdir_in(&kept).unwrap();
    let ledgers: Vec<Grown> = rows.iter().map(|rows| Grown::open(*rows, &kept, folder.path(), &effort)).collect();
    growth::measure(&ledgers, folder.path(), &effort, &mut sheet);
    crowd::measure(&ledgers[0].stage, folder.path(), &effort, &mut sheet);
    ledgers.into_iter().for_each(Grown::close);
    sheet.write();
}
