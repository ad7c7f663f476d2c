//! `bursar policy test` and `replay`: rules held against stories and against the past. Pays nothing, changes nothing.

mod example;
mod known;
mod logged;
mod past;
mod replay;
mod since;
mod story;

use std::path::PathBuf;

use bursar_vault::profile::Profile;
use clap::{Args, Subcommand};

use super::exit::{Exit, Stop};
use super::table;
use story::{Case, Default};

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
/// Exit codes: 0 every story ends as it must, 2 a story cannot be read, 3 one ends otherwise, 4 rules cannot be used.
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
        let mut cases = Vec::new();
        for folder in story::folders(&self.folder)? {
            cases.push(story::judge(&folder, profile.setting(), &mut default)?);
        }
        let differ = cases.iter().filter(|case| !case.as_wanted).count();
        if self.json {
            table::say_json(&cases)?;
        } else {
            table::say(&table::table(&["story", "wanted", "came", ""], &[], cases.iter().map(row).collect()))?;
            table::say(&match (cases.len(), differ) {
                (1, 0) => "1 story, as wanted.".to_owned(),
                (1, _) => "1 story, otherwise.".to_owned(),
                (all, 0) => format!("{all} stories, all as wanted."),
                (all, _) => format!("{all} stories, {differ} otherwise."),
            })?;
        }
        Ok(if differ == 0 { Exit::Done } else { Exit::Refused })
    }
}

fn row(case: &Case) -> Vec<String> {
    let verdict = if case.as_wanted { "as wanted" } else { "OTHERWISE" };
    vec![case.story.clone(), case.wanted.clone(), case.came.clone(), verdict.to_owned()]
}
