//! What one caller waits for a payment that is counted and signed, and how long a vault takes to start, in ledgers of several
//! sizes: beside a bare durable commit, beside the smallest ledger, and beside the usual way with as many rows in its window.

use std::path::Path;
use std::time::Duration;

use bursar_vault::clock::MachineTime;

use crate::figures::{Times, millis, ms, paired, spaced};
use crate::sheet::{Beside, Figure, Goal, Point, Sheet};
use crate::stage::Stage;
use crate::{Effort, bulk, usual};

/// A ledger of more rows is built once and kept, until `cargo clean`.
const UNKEPT_ROWS: u64 = 1_000_000;

/// A vault on a ledger of so many rows.
pub(crate) struct Grown {
    pub(crate) stage: Stage,
    rows: u64,
    starts: Times,
}

impl Grown {
    /// Builds the ledger where it is not kept, starts vaults on it, and waits until the last one has checked all of it.
    pub(crate) fn open(rows: u64, kept: &Path, folder: &Path, effort: &Effort) -> Self {
        let home = if rows <= UNKEPT_ROWS { folder } else { kept }.join(rows.to_string());
        bulk::build(&home, rows);
        let mut starts: Vec<Duration> = (1..effort.rounds).map(|_| Stage::start(&home)).collect();
        let (stage, started) = Stage::open(&home, Box::new(MachineTime));
        starts.push(started);
        if let Some(checked) = stage.wait_for_the_check(rows) {
            println!("the whole ledger of {rows} rows was checked beside the work of its vault in {}", ms(checked));
        }
        Self { stage, rows, starts: Times::of(starts) }
    }

    pub(crate) fn close(self) {
        self.stage.close();
    }
}

/// All in turn, in rounds.
pub(crate) fn measure(ledgers: &[Grown], folder: &Path, effort: &Effort, sheet: &mut Sheet) {
    let mut others: Vec<usual::Alone> = ledgers.iter().map(|of| usual::Alone::new(folder, of.rows)).collect();
    let mut bare = Vec::new();
    let mut waits: Vec<Vec<Times>> = ledgers.iter().map(|_| Vec::new()).collect();
    let mut sums = vec![Vec::new(); ledgers.len()];
    for _ in 0..effort.rounds {
        bare.push(Times::of(usual::bare_commits(folder, effort.alone)));
        for (at, ledger) in ledgers.iter().enumerate() {
            waits[at].push(Times::of(ledger.stage.buy_alone(effort.alone)));
            sums[at].extend(others[at].reserve(effort.alone.div_ceil(10)));
        }
    }
    counted(&waits[0], &bare, sheet);
    for (at, sums) in sums.into_iter().enumerate() {
        grown(&ledgers[at], &waits[at], (ledgers[0].rows, &waits[0]), sheet);
        let usual = Times::of(sums);
        println!("  the usual way, with as many rows in its window: {usual}");
        sheet.add(Figure {
            id: format!("grown-usual-{}", ledgers[at].rows),
            figure: format!("the usual way with {} rows in its window", spaced(ledgers[at].rows)),
            measured: millis(usual.median()),
            unit: "ms",
            series: Some(Point { name: "the usual way: a sum over the window", at: ledgers[at].rows }),
            ..Figure::default()
        });
    }
}

/// One caller beside the disk.
fn counted(rounds: &[Times], commits: &[Times], sheet: &mut Sheet) {
    let (waits, bare) = (Times::all(rounds), Times::all(commits));
    let ratio = paired(rounds, commits);
    let verdict = sheet.add(Figure {
        id: "count-alone".to_owned(),
        figure: "judged, counted, committed, signed and stored: one caller waits, median".to_owned(),
        measured: millis(waits.median()),
        unit: "ms",
        beside: vec![Beside { what: "a bare durable commit", measured: millis(bare.median()), unit: "ms" }],
        ratio: Some(ratio),
        goal: Some(Goal { words: "at most 1.3 bare durable commits", most_times: Some(1.3), ..Goal::default() }),
        ..Figure::default()
    });
    println!("a bare durable commit of one row: {bare}");
    println!("judged, counted, committed, signed, stored: {waits}");
    println!("  {ratio:.2} bare commits (at most 1.3) {verdict}");
}

/// One ledger beside the smallest.
fn grown(ledger: &Grown, rounds: &[Times], (first_rows, firsts): (u64, &[Times]), sheet: &mut Sheet) {
    let rows = ledger.rows;
    let (waits, first) = (Times::all(rounds), Times::all(firsts));
    let ratio = (rows != first_rows).then(|| paired(rounds, firsts));
    let counting = sheet.add(Figure {
        id: format!("grown-count-{rows}"),
        figure: format!("one caller waits for a payment, after {} rows", spaced(rows)),
        measured: millis(waits.median()),
        unit: "ms",
        beside: ratio
            .map(|_| Beside { what: "in the smallest ledger", measured: millis(first.median()), unit: "ms" })
            .into_iter()
            .collect(),
        ratio,
        goal: ratio.map(|_| Goal { words: "at most 1.2 times the smallest", most_times: Some(1.2), ..Goal::default() }),
        series: Some(Point { name: "counting and signing a payment", at: rows }),
        ..Figure::default()
    });
    let start = sheet.add(Figure {
        id: format!("grown-start-{rows}"),
        figure: format!("a vault starts on {} rows, until its sockets accept", spaced(rows)),
        measured: millis(ledger.starts.median()),
        unit: "ms",
        goal: Some(Goal { words: "at most 2 s", most: Some(2_000.0), ..Goal::default() }),
        series: Some(Point { name: "start of the vault", at: rows }),
        ..Figure::default()
    });
    println!("after {rows} rows");
    println!("  start of the vault, until its sockets accept: {} {start}", ledger.starts);
    println!("  judged, counted, committed, signed, stored: {waits}");
    if let Some(ratio) = ratio {
        println!("  {ratio:.2} times what it is after {first_rows} (at most 1.2) {counting}");
    }
}
