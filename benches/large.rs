//! How much memory and time a purchase of 256 MiB takes, from a seller on loopback TLS into a file.
//!
//! The seller runs in this process and makes its bytes as they go out, so the time is that of both ends on one machine.
//! `--json FILE` writes the figures into a file too; `--smoke` buys 1 MiB alone.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_arithmetic,
    clippy::print_stdout,
    dead_code,
    unused_imports,
    reason = "a bench prints, and stops where it cannot go on; the desk and the stall have more than it needs"
)]

#[path = "../tests/cli/desk.rs"]
mod desk;
#[path = "../tests/cli/explain.rs"]
mod explain;
#[path = "../tests/crash/farewell.rs"]
mod farewell;
#[path = "../tests/cli/fidelity.rs"]
mod fidelity;
#[path = "../tests/cli/large.rs"]
mod large;
#[path = "figures/sheet.rs"]
mod sheet;
#[path = "../tests/cli/stall.rs"]
mod stall;
#[path = "../tests/stories/tls.rs"]
mod tls;

use std::time::Instant;

use sheet::{Beside, Figure, Goal, Sheet};
use stall::Stall;

/// The most memory that `serve` may take, in MiB.
const PEAK_MIB: f64 = 32.0;

/// How much is bought, in MiB; the memory of the others stands beside that of the first.
const SIZES: [u32; 3] = [1, 64, 256];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_smoke = words.iter().any(|word| word == "--smoke");
    // `cargo test --benches` starts benches too; they have nothing to test.
    if is_smoke || words.iter().any(|word| word == "--bench") {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let sizes = if is_smoke { &SIZES[..1] } else { &SIZES };
        let mut sheet = Sheet::new(&words);
        runtime.block_on(measure(sizes, &mut sheet));
        sheet.write();
    }
}

async fn measure(sizes: &[u32], sheet: &mut Sheet) {
    let stall = Stall::open().await;
    let desk = large::desk(&stall).await;
    let mut first = None;
    for mebibytes in sizes {
        let begun = Instant::now();
        let bought = large::bought(&desk, &stall, u64::from(*mebibytes)).await;
        let took = begun.elapsed();
        assert_eq!(bought.told["content"]["sha256"], large::digest(u64::from(*mebibytes)), "{}", bought.told);
        let peak = f64::from(u32::try_from(bought.peak_kib).unwrap()) / 1024.0;
        let rate = f64::from(*mebibytes) / took.as_secs_f64();
        let held = sheet.add(Figure {
            id: format!("large-peak-{mebibytes}"),
            figure: format!("memory of `serve` at the peak of a purchase of {mebibytes} MiB"),
            measured: peak,
            unit: "MiB",
            beside: first.map(|measured| Beside { what: "of 1 MiB", measured, unit: "MiB" }).into_iter().collect(),
            goal: Some(Goal { words: "at most 32 MiB", most: Some(PEAK_MIB), ..Goal::default() }),
            ..Figure::default()
        });
        sheet.add(Figure {
            id: format!("large-rate-{mebibytes}"),
            figure: format!("a purchase of {mebibytes} MiB, the start of `serve` and the seller's work with it"),
            measured: rate,
            unit: "MiB/s",
            ..Figure::default()
        });
        println!("{mebibytes:>4} MiB: at most {peak:.1} MiB of memory {held}, {took:.2?}, {rate:.0} MiB a second");
        first = first.or(Some(peak));
    }
}
