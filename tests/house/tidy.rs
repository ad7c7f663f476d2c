//! Reads the sources as text and holds them to CONTRIBUTING.md.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const LINES_MAX: usize = 500;

/// Every Rust file that is ours.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for room in ["src", "policy", "postgres", "vault", "tools", "tests", "benches", "examples", "fuzz"] {
        walk(&Path::new(ROOT).join(room), &mut found);
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    assert!(found.len() > 50, "the walk found only {} files", found.len());
    found
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "node_modules" && name != "target" && name != "run" {
                walk(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

fn offenders(broken: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    sources()
        .iter()
        .filter(|path| broken(path, &text(path)))
        .map(|path| path.strip_prefix(ROOT).unwrap().display().to_string())
        .collect()
}

#[test]
fn no_source_file_is_longer_than_a_reader_bears() {
    let long = offenders(|_, text| text.lines().count() > LINES_MAX);
    assert!(long.is_empty(), "over {LINES_MAX} lines: {long:?}");
}

#[test]
fn every_source_file_opens_with_its_one_job() {
    let silent = offenders(|_, text| !text.starts_with("//!"));
    assert!(silent.is_empty(), "no `//!` line on top: {silent:?}");
}

#[test]
fn no_file_is_named_after_nothing() {
    let vague = ["utils", "util", "common", "helper", "helpers", "manager", "misc", "part2"];
    let named = offenders(|path, _| path.file_stem().is_some_and(|stem| vague.iter().any(|word| stem == *word)));
    assert!(named.is_empty(), "{named:?}");
}

#[test]
fn no_test_is_ignored_or_sleeps() {
    let marks = [concat!("#[", "ignore"), concat!("thread", "::sleep"), concat!("time", "::sleep(")];
    let lazy = offenders(|path, text| {
        let is_test = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        text.contains(marks[0]) || (is_test && (text.contains(marks[1]) || text.contains(marks[2])))
    });
    assert!(lazy.is_empty(), "{lazy:?}");
}

#[test]
fn no_float_is_named_where_money_is_counted() {
    let floats = offenders(|path, text| {
        let money =
            path.starts_with(Path::new(ROOT).join("policy/src")) || path.starts_with(Path::new(ROOT).join("vault/src"));
        money && text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| word == "f32" || word == "f64")
    });
    assert!(floats.is_empty(), "{floats:?}");
}

#[test]
fn the_judge_has_no_windows() {
    let lib = text(&Path::new(ROOT).join("policy/src/lib.rs"));
    assert!(lib.contains("#![no_std]"), "policy must be no_std");
    let windows = lib.matches("extern crate std;").count();
    let for_tests = lib.matches("#[cfg(test)]\nextern crate std;").count();
    assert_eq!(windows, for_tests, "std may be named by tests only; the compiler then keeps it out of the judge");
}

#[test]
fn the_mouth_knows_neither_network_nor_ledger_nor_key() {
    let manifest = text(&Path::new(ROOT).join("tools/Cargo.toml"));
    for forbidden in ["bursar-vault", "reqwest", "hyper", "rusqlite", "k256"] {
        assert!(!manifest.contains(forbidden), "tools must not depend on {forbidden}");
    }
    let manifest = text(&Path::new(ROOT).join("postgres/Cargo.toml"));
    assert!(!manifest.contains("bursar-policy") && !manifest.contains("bursar-vault"), "the line knows no ledger");
    let manifest = text(&Path::new(ROOT).join("vault/Cargo.toml"));
    for forbidden in ["rmcp", "reqwest", "hyper", "tokio"] {
        assert!(!manifest.contains(forbidden), "vault must not depend on {forbidden}");
    }
}
