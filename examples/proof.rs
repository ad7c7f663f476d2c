//! Holds SECURITY.md against what ran: every claim names code that exists and a test that passed in this run.
//!
//! `cargo run --example proof -- LOG…`, where each LOG is what `cargo test` printed. The tables of SECURITY.md have the
//! columns claim, enforced by (`file.rs`: `name`), test (`name`, several separated by commas).

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::{env, fs, io};

/// One row of a table of claims.
struct Claim {
    text: String,
    enforced_by: Vec<String>,
    tests: Vec<String>,
}

fn main() -> ExitCode {
    match check() {
        Ok(sentence) => {
            say(&sentence);
            ExitCode::SUCCESS
        }
        Err(faults) => {
            for fault in &faults {
                say(fault);
            }
            say(&format!("{} claims of SECURITY.md are not proven", faults.len()));
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<String, Vec<String>> {
    let read = |path: &str| fs::read_to_string(path).map_err(|fault| vec![format!("`{path}`: {fault}")]);
    let claims = claims(&read("SECURITY.md")?);
    let mut passed = BTreeSet::new();
    for log in env::args().skip(1) {
        passed.extend(read(&log)?.lines().filter_map(passed_test).map(str::to_owned));
    }
    let mut faults = Vec::new();
    if claims.is_empty() || passed.is_empty() {
        faults.push(format!("{} claims and {} passed tests were found", claims.len(), passed.len()));
    }
    let mut named = BTreeSet::new();
    for claim in &claims {
        if claim.tests.is_empty() || claim.enforced_by.is_empty() {
            faults.push(format!("no code or no test is named for: {}", claim.text));
        }
        for place in &claim.enforced_by {
            if let Err(fault) = exists(place) {
                faults.push(format!("{fault}, named for: {}", claim.text));
            }
        }
        for test in &claim.tests {
            named.insert(test.as_str());
            if !passed.contains(test.as_str()) {
                faults.push(format!("test `{test}` did not pass in this run, named for: {}", claim.text));
            }
        }
    }
    if faults.is_empty() {
        return Ok(format!(
            "{} claims hold, by {} tests of the {} that passed",
            claims.len(),
            named.len(),
            passed.len()
        ));
    }
    Err(faults)
}

/// The last segment of the name of a test that passed, from a line `test a::b::name ... ok`.
fn passed_test(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... ok")?.split(' ').next()?;
    name.rsplit("::").next()
}

/// The rows of every three-column table whose head starts with `claim`.
fn claims(text: &str) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        if !line.trim_start().starts_with('|') {
            inside = false;
        } else if let [first, _, _] = cells.as_slice() {
            if first.eq_ignore_ascii_case("claim") {
                inside = true;
                continue;
            }
            if inside && !first.starts_with("--") {
                claims.push(Claim {
                    text: (*first).to_owned(),
                    enforced_by: cells.get(1).map(|cell| quoted(cell)).unwrap_or_default(),
                    tests: cells.get(2).map(|cell| quoted(cell)).unwrap_or_default(),
                });
            }
        }
    }
    claims
}

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// `path/to/file.rs::name`: the file is there and defines the name.
fn exists(place: &str) -> Result<(), String> {
    let Some((path, name)) = place.split_once("::") else {
        return Err(format!("`{place}` is not of the form `file.rs::name`"));
    };
    let text = fs::read_to_string(path).map_err(|fault| format!("`{path}`: {fault}"))?;
    let defined = ["fn", "struct", "enum", "const", "static", "trait", "TRIGGER", "CHECK"]
        .iter()
        .any(|kind| text.contains(&format!("{kind} {name}")));
    if defined { Ok(()) } else { Err(format!("`{path}` does not define `{name}`")) }
}

fn say(text: &str) {
    use io::Write;
    if writeln!(io::stdout().lock(), "{text}").is_err() {}
}
