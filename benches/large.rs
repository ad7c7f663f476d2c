//! How much memory and time a purchase of 256 MiB takes, from a seller on loopback TLS into a file.
//!
//! The seller runs in this process and makes its bytes as they go out, so the time is that of both ends on one machine.
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
#[path = "../tests/cli/stall.rs"]
mod stall;
#[path = "../tests/stories/tls.rs"]
mod tls;

use std::time::Instant;

use stall::Stall;

/// The most memory that `serve` may take, in KiB.
const PEAK_KIB: u64 = 32 * 1024;

/// How much is bought, in MiB.
const SIZES: [u64; 3] = [1, 64, 256];

fn main() {
    // `cargo test --benches` starts benches too; they have nothing to test.
    if std::env::args().any(|word| word == "--bench") {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(measure());
    }
}

async fn measure() {
    let stall = Stall::open().await;
    let desk = large::desk(&stall).await;
    for mebibytes in SIZES {
        let begun = Instant::now();
        let bought = large::bought(&desk, &stall, mebibytes).await;
        let took = begun.elapsed();
        assert_eq!(bought.told["content"]["sha256"], large::digest(mebibytes), "{}", bought.told);
        // Not in a debug build, whose program alone is nearly as large.
        assert!(cfg!(debug_assertions) || bought.peak_kib < PEAK_KIB, "{} KiB of memory", bought.peak_kib);
        let rate = f64::from(u32::try_from(mebibytes).unwrap()) / took.as_secs_f64();
        println!("{mebibytes:>4} MiB: at most {} KiB of memory, {took:.2?}, {rate:.0} MiB a second", bought.peak_kib);
    }
}
