//! The inputs that fuzzing and people found worth keeping: `fuzz/corpus/TARGET/`, one file each.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// The fewest files that are worth a replay.
const LEAST: usize = 10;

/// Checks every saved input of `target`.
///
/// # Panics
///
/// Names the first file for which `holds` stops, and stops where the folder is missing or nearly empty.
pub fn replayed(target: &str, holds: fn(&[u8])) {
    let paths = paths(target);
    assert!(paths.len() >= LEAST, "only {} inputs are saved in fuzz/corpus/{target}", paths.len());
    for path in paths {
        let bytes = fs::read(&path).unwrap();
        assert!(catch_unwind(|| holds(&bytes)).is_ok(), "it does not hold for {}", path.display());
    }
}

/// Every saved input of `target`.
pub fn inputs(target: &str) -> Vec<Vec<u8>> {
    paths(target).iter().map(|path| fs::read(path).unwrap()).collect()
}

fn paths(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}
