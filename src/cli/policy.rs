//! `bursar policy test` and `replay`: rules held against stories and against the past. Pays nothing, changes nothing.

mod example;
mod known;
mod logged;
mod past;
mod replay;
mod story;

use std::path::PathBuf;

use bursar_vault::profile::Profile;
use clap::{Args, Subcommand};

use super::exit::{Exit, Stop};
use super::table;
use story::{Case, Default, End};

/// Try rules out: on your own stories, and on the ledger's past.
#[derive(Debug, Subcommand)]
pub(super) enum Policy {
    // Each says what it does by itself, in more than one paragraph.
    Test(Test),
    Replay(replay::Replay),
}

/// Judge your own stories: what was asked, what a seller answered, how it must end.
///
/// Each story is a folder in DIR: `ask.json` is a call of the tool, `{"tool": "x402_fetch", "arguments": {"url": "…"}}`;
/// `reply.http` is the answer that a seller gave, recorded (status line, header, body); `rules.toml` are the rules, those
/// of the profile when left out; `want.toml` is how it must end: `outcome = "pay"`, `"refuse"` or `"nothing"` (the answer
/// asks for no payment), for a refusal the first `code`, for a payment `money` and `payee` if you like. Nothing is sent
/// and no vault is asked. The time is that of the answer's `Date`, or now without one.
///
/// A story that cannot be judged is told in its place, and the others are judged all the same.
///
/// Exit codes: 0 every story ends as it must, 2 a story cannot be read, 3 one ends otherwise, 4 rules cannot be used; of
/// several, that of the first story that could not be judged.
#[derive(Debug, Args)]
pub(super) struct Test {
    /// The folder with the stories
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write two stories that end as they must into DIR, which must not be there, and judge them
    #[arg(long)]
    example: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Policy {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        match self {
            Self::Test(test) => test.run(profile),
            Self::Replay(replay) => replay.run(profile),
        }
    }
}

impl Test {
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        if self.example {
            example::write(&self.folder)?;
        }
        let mut default = Default::of(profile);
        let folders = story::folders(&self.folder)?;
        let cases: Vec<Case> =
            folders.iter().map(|folder| story::judge(folder, profile.setting(), &mut default)).collect();
        if self.json {
            table::say_json(&cases)?;
        } else {
            table::say(&table::table(&["story", "wanted", "came", ""], &[], cases.iter().map(row).collect()))?;
            table::say(&summary(&cases))?;
        }
        Ok(exit(&cases))
    }
}

/// A story that could not be judged says nothing about the rules, so it comes before one that ends otherwise.
fn exit(cases: &[Case]) -> Exit {
    let unjudged = cases.iter().find_map(|case| match &case.end {
        End::Unjudged { exit, .. } => Some(*exit),
        End::Judged { .. } => None,
    });
    let otherwise = cases.iter().any(|case| matches!(case.end, End::Judged { as_wanted: false, .. }));
    unjudged.unwrap_or(if otherwise { Exit::Refused } else { Exit::Done })
}

fn summary(cases: &[Case]) -> String {
    let count = |is_one: fn(&End) -> bool| cases.iter().filter(|case| is_one(&case.end)).count();
    let otherwise = count(|end| matches!(end, End::Judged { as_wanted: false, .. }));
    let unjudged = count(|end| matches!(end, End::Unjudged { .. }));
    let stories = if cases.len() == 1 { "1 story".to_owned() } else { format!("{} stories", cases.len()) };
    match (cases.len(), otherwise, unjudged) {
        (1, 0, 0) => format!("{stories}, as wanted."),
        (1, _, 0) => format!("{stories}, otherwise."),
        (1, _, _) => format!("{stories}, not judged."),
        (_, 0, 0) => format!("{stories}, all as wanted."),
        (_, _, 0) => format!("{stories}, {otherwise} otherwise."),
        (_, 0, _) => format!("{stories}, {unjudged} not judged."),
        _ => format!("{stories}, {otherwise} otherwise, {unjudged} not judged."),
    }
}

fn row(case: &Case) -> Vec<String> {
    let (wanted, came, verdict) = match &case.end {
        End::Judged { wanted, came, as_wanted: true, .. } => (wanted.as_str(), came, "as wanted"),
        End::Judged { wanted, came, .. } => (wanted.as_str(), came, "OTHERWISE"),
        End::Unjudged { error, .. } => ("", error, "NOT JUDGED"),
    };
    vec![case.story.clone(), wanted.to_owned(), came.clone(), verdict.to_owned()]
}
