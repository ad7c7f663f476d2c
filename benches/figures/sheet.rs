//! What a bench measured, in the one shape that `benches/speed` reads: an array of figures, written where `--json FILE` asks
//! for it. Says whether a goal is held, and nothing else. For benches in node the same is `sheet.mjs`.

use std::path::PathBuf;

use serde::Serialize;

/// The figures of one run.
pub(crate) struct Sheet {
    file: Option<PathBuf>,
    is_smoke: bool,
    figures: Vec<Figure>,
}

/// One thing that was measured.
#[derive(Default, Serialize)]
pub(crate) struct Figure {
    /// Names it for good, over runs and machines.
    pub(crate) id: String,
    /// What it is, in words.
    pub(crate) figure: String,
    pub(crate) measured: f64,
    pub(crate) unit: &'static str,
    /// Floors and others of the same run.
    pub(crate) beside: Vec<Beside>,
    /// How many times what stands first in `beside`, as the bench compares them.
    pub(crate) ratio: Option<f64>,
    pub(crate) goal: Option<Goal>,
    /// The curve that it is a point of.
    pub(crate) series: Option<Point>,
    /// Whether the goal is held, which [`Sheet::add`] says; nothing where there is none, or where a handful was measured.
    pub(crate) held: Option<bool>,
}

/// What a figure stands beside.
#[derive(Serialize)]
pub(crate) struct Beside {
    pub(crate) what: &'static str,
    pub(crate) measured: f64,
    pub(crate) unit: &'static str,
}

/// What the figure has to be, or its ratio (`times`); bounds are within.
#[derive(Default, Serialize)]
pub(crate) struct Goal {
    pub(crate) words: &'static str,
    pub(crate) most: Option<f64>,
    pub(crate) most_times: Option<f64>,
    pub(crate) least_times: Option<f64>,
}

/// Where on which curve.
#[derive(Serialize)]
pub(crate) struct Point {
    pub(crate) name: &'static str,
    pub(crate) at: u64,
}

impl Sheet {
    /// As the words of the command line say: `--json FILE` and `--smoke`.
    pub(crate) fn new(words: &[String]) -> Self {
        let file = words.iter().skip_while(|word| *word != "--json").nth(1).map(PathBuf::from);
        Self { file, is_smoke: words.iter().any(|word| word == "--smoke"), figures: Vec::new() }
    }

    /// Takes a figure in, and says of its goal what is to be printed behind it.
    pub(crate) fn add(&mut self, mut figure: Figure) -> &'static str {
        let held = figure.goal.as_ref().map(|goal| {
            let times = figure.ratio.unwrap_or(f64::NAN);
            goal.most.is_none_or(|most| figure.measured <= most)
                && goal.most_times.is_none_or(|most| times <= most)
                && goal.least_times.is_none_or(|least| least <= times)
        });
        figure.held = held.filter(|_| !self.is_smoke);
        let verdict = match figure.held {
            Some(true) => "held",
            Some(false) => "MISSED",
            None => "",
        };
        self.figures.push(figure);
        verdict
    }

    /// Writes what was taken in, if a file was named.
    pub(crate) fn write(self) {
        if let Some(file) = self.file {
            let text = serde_json::to_string_pretty(&self.figures).unwrap_or_default();
            std::fs::write(&file, text).unwrap_or_else(|fault| panic!("{}: {fault}", file.display()));
        }
    }
}
