//! What a crowd gets done beside one caller, how long each of it waits, and how much the same crowd gets done the usual way:
//! with the sum over the window inside the transaction.

use std::path::Path;
use std::time::Duration;

use crate::figures::{Times, median, millis, ms, per_second, spaced};
use crate::sheet::{Beside, Figure, Goal, Sheet};
use crate::stage::Stage;
use crate::{Effort, usual};

/// Callers at once.
const CROWD: usize = 32;
/// The longest that anybody of the crowd may wait.
const WAIT_MAX: Duration = Duration::from_millis(200);
/// Rows in the window of the usual way that the goal is held against.
const GOAL_ROWS: u64 = 5_000;

/// All in turn, in rounds; ratios are of one round.
pub(crate) fn measure(stage: &Stage, folder: &Path, effort: &Effort, sheet: &mut Sheet) {
    let mut waits = Vec::new();
    let (mut ones, mut manies) = (Vec::new(), Vec::new());
    let mut usuals = vec![Vec::new(); effort.windows.len()];
    for _ in 0..effort.rounds {
        ones.push(stage.buy_in_a_crowd(1, effort.alone).1);
        let (waited, many) = stage.buy_in_a_crowd(CROWD, effort.each);
        waits.extend(waited);
        manies.push(many);
        for (at, rows) in effort.windows.iter().enumerate() {
            usuals[at].push(usual::rate(folder, *rows, CROWD, effort.each));
        }
    }
    beside_one(&Times::of(waits), &manies, &ones, sheet);
    println!("the usual way, {CROWD} callers, with so many rows in the window:");
    let mut smaller = None;
    for (rows, theirs) in effort.windows.iter().zip(&usuals) {
        let ratio = ratio_of_rounds(&manies, theirs);
        let goal = match (*rows, smaller) {
            (GOAL_ROWS, _) => {
                Some(Goal { words: "at least 20 times the usual way", least_times: Some(20.0), ..Goal::default() })
            }
            (rows, Some(before)) if GOAL_ROWS < rows => {
                Some(Goal { words: "more than over fewer rows", least_times: Some(before), ..Goal::default() })
            }
            _ => None,
        };
        let verdict = sheet.add(Figure {
            id: format!("usual-{rows}"),
            figure: format!("{CROWD} callers, beside the usual way with {} rows in its window", spaced(*rows)),
            measured: median(&manies),
            unit: "/s",
            beside: vec![Beside { what: "the usual way", measured: median(theirs), unit: "/s" }],
            ratio: Some(ratio),
            goal,
            ..Figure::default()
        });
        println!("  {rows:>6} rows {:>7}, {ratio:.1} times as many here {verdict}", per_second(median(theirs)));
        smaller = Some(ratio);
    }
}

/// The crowd beside one caller.
fn beside_one(waits: &Times, manies: &[f64], ones: &[f64], sheet: &mut Sheet) {
    let ratio = ratio_of_rounds(manies, ones);
    let many = sheet.add(Figure {
        id: "count-crowd".to_owned(),
        figure: format!("{CROWD} callers buy, in a second"),
        measured: median(manies),
        unit: "/s",
        beside: vec![Beside { what: "one caller", measured: median(ones), unit: "/s" }],
        ratio: Some(ratio),
        goal: Some(Goal { words: "at least 20 times one caller", least_times: Some(20.0), ..Goal::default() }),
        ..Figure::default()
    });
    let longest = sheet.add(Figure {
        id: "count-wait".to_owned(),
        figure: format!("the longest that any of {CROWD} callers waits"),
        measured: millis(waits.most()),
        unit: "ms",
        beside: vec![Beside { what: "the median of them", measured: millis(waits.median()), unit: "ms" }],
        goal: Some(Goal { words: "at most 200 ms", most: Some(millis(WAIT_MAX)), ..Goal::default() }),
        ..Figure::default()
    });
    println!("one caller {}, {CROWD} callers {}", per_second(median(ones)), per_second(median(manies)));
    println!("  {ratio:.1} times as many (at least 20) {many}");
    println!("  each waits {waits} (at most {}) {longest}", ms(WAIT_MAX));
}

/// The median of the ratios of rounds.
fn ratio_of_rounds(here: &[f64], there: &[f64]) -> f64 {
    median(&here.iter().zip(there).map(|(here, there)| here / there).collect::<Vec<_>>())
}
