//! A corpus of attacks from outside this repository, where a checkout has one beside it: every row that is about terms,
//! documents, URLs or a seller's answers is run against this buyer. Without the corpus there is nothing to do here.
//!
//! A row that runs must come out as it says. A row that does not run is named with the reason.

#[path = "cases/document.rs"]
mod document;
#[path = "cases/names.rs"]
mod names;
#[path = "cases/place.rs"]
mod place;
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
#[path = "cases/set_aside.rs"]
mod set_aside;

use std::collections::BTreeMap;
use std::path::Path;

use self::row::Row;

/// Where the corpus is, if it is there.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/cases");

/// What became of a row.
enum Fate {
    /// It came out as it says.
    Right,
    /// It came out otherwise.
    Wrong(String),
    /// It was not run, for this reason.
    Aside(&'static str),
}

#[test]
fn every_row_of_the_corpus_that_can_run_comes_out_right() {
    let Some(rows) = Row::all(Path::new(CORPUS)) else {
        println!("no corpus beside this checkout: nothing to run");
        return;
    };
    let mut fates: Vec<(String, Fate)> = Vec::new();
    let mut replays = Vec::new();
    for row in rows {
        match set_aside::reason(&row) {
            Some(reason) => fates.push((row.id, Fate::Aside(reason))),
            None => match scene::of(&row) {
                Some(scene) => replays.push((row, scene)),
                None => fates.push((row.id.clone(), judged(&row))),
            },
        }
    }
    fates.extend(replay::play_all(replays));
    summarise(&fates);
}

/// Runs a row that needs no seller.
fn judged(row: &Row) -> Fate {
    let came_out = place::run(row).or_else(|| document::run(row));
    match came_out {
        Some(Ok(())) => Fate::Right,
        Some(Err(difference)) => Fate::Wrong(difference),
        None => Fate::Wrong("it is neither run nor set aside".to_owned()),
    }
}

fn summarise(fates: &[(String, Fate)]) {
    let mut aside: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut wrong: Vec<String> = Vec::new();
    for (id, fate) in fates {
        match fate {
            Fate::Right => {}
            Fate::Wrong(difference) => wrong.push(format!("{id}: {difference}")),
            Fate::Aside(reason) => aside.entry(reason).or_default().push(id),
        }
    }
    let left: usize = aside.values().map(Vec::len).sum();
    println!("{} rows: {} ran, {left} do not apply yet", fates.len(), fates.len() - left);
    for (reason, ids) in &aside {
        println!("  {reason}: {}", ids.join(" "));
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{} rows came out otherwise:\n{}", wrong.len(), wrong.join("\n"));
    assert!(fates.len() > left, "no row was run");
}
