//! Writes inputs that are right, for a fuzzer to begin from: `cargo run --example fuzz_seeds -- DIR` fills `DIR/TARGET/`.

#[path = "../tests/properties/answer.rs"]
#[expect(dead_code, unreachable_pub, reason = "shared with a test")]
mod answer;
#[path = "../tests/properties/base64.rs"]
#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, unreachable_pub, reason = "shared with a test")]
mod base64;
#[path = "../tests/properties/seeds.rs"]
#[expect(clippy::unwrap_used, clippy::panic, unreachable_pub, reason = "shared with a test")]
mod seeds;

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let dir = env::args_os().nth(1).map(PathBuf::from).ok_or_else(|| io::Error::other("name a folder"))?;
    for target in seeds::TARGETS {
        let dir = dir.join(target);
        fs::create_dir_all(&dir)?;
        for (number, seed) in seeds::of(target).iter().enumerate() {
            fs::write(dir.join(format!("seed-{number:03}")), seed)?;
        }
    }
    Ok(())
}
