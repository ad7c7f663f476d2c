//! A corpus of attacks from outside this repository, where a checkout has one beside it: every row is run against this
//! buyer, bound to tests that do what it tells, or named with the reason. Without the corpus there is nothing to run.
//!
//! A row that runs must come out as it says, or as `otherwise.rs` decides. A row of no kind that is known is wrong.

#[path = "cases/bench.rs"]
mod bench;
#[path = "cases/bound.rs"]
mod bound;
#[path = "cases/config.rs"]
mod config;
#[path = "cases/document.rs"]
mod document;
#[path = "cases/later.rs"]
mod later;
#[path = "cases/names.rs"]
mod names;
#[path = "cases/otherwise.rs"]
mod otherwise;
#[path = "cases/place.rs"]
mod place;
#[path = "cases/planted.rs"]
mod planted;
#[path = "cases/policy.rs"]
mod policy;
#[path = "cases/real.rs"]
mod real;
#[path = "cases/replay.rs"]
mod replay;
#[path = "cases/row.rs"]
mod row;
#[path = "cases/scene.rs"]
mod scene;
#[path = "cases/signer.rs"]
mod signer;
#[path = "cases/surroundings.rs"]
mod surroundings;

use std::collections::BTreeMap;
use std::path::Path;

use self::row::Row;

/// Where the corpus is, if it is there.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/cases");

/// What became of a row.
enum Fate {
    /// It came out as it says, or as it is decided here.
    Right,
    /// It came out otherwise.
    Wrong(String),
    /// Tests of this repository do what it tells.
    Bound,
    /// It waits for what is not built yet.
    Later(&'static str),
}

#[test]
fn every_row_of_the_corpus_comes_out_right_or_is_named_with_the_reason() {
    let Some(rows) = Row::all(Path::new(CORPUS)) else {
        println!("no corpus beside this checkout: nothing to run");
        return;
    };
    let mut fates: Vec<(String, Fate)> = Vec::new();
    let mut replays = Vec::new();
    for mut row in rows {
        if let Some(reason) = later::reason(&row.id) {
            fates.push((row.id, Fate::Later(reason)));
            continue;
        }
        row.expected = otherwise::ending(&row.id).unwrap_or(row.expected);
        match scene::of(&row) {
            Some(scene) => replays.push((row, scene)),
            None => fates.push((row.id.clone(), judged(&row))),
        }
    }
    fates.extend(replay::play_all(replays));
    summarise(&fates);
}

/// Runs a row that needs no seller.
fn judged(row: &Row) -> Fate {
    let kinds = [place::run, document::run, config::run, planted::run, surroundings::run, signer::run];
    match kinds.iter().find_map(|run| run(row)) {
        Some(Ok(())) => Fate::Right,
        Some(Err(difference)) => Fate::Wrong(difference),
        None if bound::tests(&row.id).is_some() => Fate::Bound,
        // What is decided otherwise and cannot run has tests too.
        None if otherwise::kind(&row.id).is_some() => Fate::Bound,
        None => Fate::Wrong("it is of no kind that is run here, and bound to no test".to_owned()),
    }
}

fn summarise(fates: &[(String, Fate)]) {
    let mut wrong: Vec<String> = Vec::new();
    let mut ends: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, fate) in fates {
        match (fate, otherwise::kind(id)) {
            (Fate::Wrong(difference), _) => wrong.push(format!("{id}: {difference}")),
            (Fate::Later(reason), _) => ends.entry(reason).or_default().push(id),
            (Fate::Right | Fate::Bound, Some(kind)) => ends.entry(kind).or_default().push(id),
            (Fate::Bound, None) => ends.entry("bound to tests").or_default().push(id),
            (Fate::Right, None) => ends.entry("ran").or_default().push(id),
        }
    }
    let count = |is_of: &dyn Fn(&str) -> bool| -> usize {
        ends.iter().filter(|(end, _)| is_of(end)).map(|(_, ids)| ids.len()).sum()
    };
    let (ran, bound) = (count(&|end| end == "ran"), count(&|end| end == "bound to tests"));
    let later = count(&|end| end.starts_with("not built yet"));
    let otherwise = fates.len() - wrong.len() - ran - bound - later;
    println!(
        "{} rows: {ran} ran, {bound} are bound to tests, {otherwise} are decided otherwise, {later} wait for later",
        fates.len()
    );
    for (end, ids) in ends.iter().filter(|(end, _)| **end != "ran") {
        println!("  {end}: {}", ids.join(" "));
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{} rows came out otherwise:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran + otherwise > fates.len() / 2, "hardly a row was run");
}
