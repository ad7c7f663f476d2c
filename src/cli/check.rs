//! `bursar check`: what the rules say, in sentences, and where they are wide. Asks no vault and changes nothing.

mod caution;
mod chains;
mod routes;
mod secrets;
mod sentences;
mod wide;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bursar_policy::{Draft, Rules, Setting};
use bursar_vault::guarded;
use bursar_vault::profile::Profile;
use bursar_vault::rules_file::{self, Lines, Place, TextFault};
use clap::Args;
use serde::Serialize;

use super::exit::{Exit, Stop};
use super::table;

/// The JSON schema of a rules file, for editors.
pub(super) const SCHEMA: &str = include_str!("../../schema/bursar.schema.json");

/// Say what the rules say, in sentences, and warn about wide ones; no vault is asked.
///
/// Exit codes: 0 the rules can be used, 3 they are wide and `--strict` was given, 4 they cannot be used.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// A rules file; the profile's when left out
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// End with code 3 when there is a warning
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "schema")]
    json: bool,
    /// Print the JSON schema of rules files, for a line `#:schema FILE` in one, and look at none
    #[arg(long, conflicts_with_all = ["file", "strict"])]
    schema: bool,
}

/// Rules as they were read: as they are written, as they hold, and where each key is.
pub(super) struct Reading<'t> {
    pub(super) draft: Draft,
    pub(super) rules: Rules,
    pub(super) lines: Lines<'t>,
}

/// One thing to tell about the rules, and where it is written.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Told {
    /// What it is about; for a warning its stable code.
    about: &'static str,
    /// The sentence.
    pub(super) says: String,
    /// The key and its line; absent where it is about something that is missing.
    #[serde(flatten)]
    place: Option<Place>,
}

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    rules: Vec<Told>,
    warnings: Vec<Told>,
}

/// Rules that cannot be used.
#[derive(Debug, Serialize)]
struct Unusable {
    file: String,
    /// From 1; absent when something is missing altogether.
    line: Option<usize>,
    error: String,
}

impl Unusable {
    fn of(path: &Path, fault: &TextFault) -> Self {
        let (line, error) = match fault {
            TextFault::Toml { line, said } => (Some(*line), said.clone()),
            TextFault::Rule { line, fault } => (*line, fault.to_string()),
        };
        Self { file: path.display().to_string(), line, error }
    }
}

impl Check {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        if self.schema {
            table::say(SCHEMA.trim_end())?;
            return Ok(Exit::Done);
        }
        let (path, text) = match &self.file {
            Some(path) => (path.clone(), text_of(path)?),
            None => (profile.rules(), text_of_profile(profile)?),
        };
        let read = match Reading::of(&text, profile.setting()) {
            Ok(read) => read,
            Err(fault) if self.json => {
                table::say_json(&Unusable::of(&path, &fault))?;
                return Ok(Exit::NotReady);
            }
            Err(fault) => return Err(refused(&path, &fault)),
        };
        let warnings = if self.file.is_none() { warnings(&read, profile) } else { wide::of(&read) };
        let report = Report { file: path.display().to_string(), rules: sentences::of(&read), warnings };
        let wide = !report.warnings.is_empty();
        if self.json {
            table::say_json(&report)?
        } else {
            show(&report)?
        }
        Ok(if wide && self.strict { Exit::Refused } else { Exit::Done })
    }
}

impl<'t> Reading<'t> {
    /// Reads `text` as rules of `setting`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub(super) fn of(text: &'t str, setting: Setting) -> Result<Self, TextFault> {
        let rules = rules_file::parse(text, setting)?;
        let draft = rules_file::draft(text)?;
        let lines = Lines::of(text).ok_or_else(|| TextFault::Toml { line: 1, said: "it is not TOML".to_owned() })?;
        Ok(Self { draft, rules, lines })
    }
}

/// What rules say, in sentences, each behind what it is about.
pub(super) fn sentences(read: &Reading<'_>) -> Vec<(&'static str, String)> {
    sentences::of(read).into_iter().map(|told| (told.about, told.says)).collect()
}

/// What is wide in the profile's rules, or missing for them.
pub(super) fn warnings(read: &Reading<'_>, profile: &Profile) -> Vec<Told> {
    let mut warnings = wide::of(read);
    warnings.extend(secrets::missing(read, profile));
    warnings
}

/// The text of the profile's rules, read as the vault reads it: a file that others could change is refused.
pub(super) fn text_of_profile(profile: &Profile) -> Result<String, Stop> {
    profile.check_vault()?;
    let path = profile.rules();
    let bytes = guarded::read(&path, guarded::FILE_MAX_BYTES).map_err(|fault| Stop::not_ready(fault.to_string()))?;
    utf8(&path, bytes.to_vec())
}

/// The text of a rules file anywhere.
///
/// # Errors
///
/// A [`Stop`] with exit code 4 and one sentence.
pub(super) fn text_of(path: &Path) -> Result<String, Stop> {
    let unreadable =
        |why: &dyn std::fmt::Display| Stop::not_ready(format!("`{}` cannot be read: {why}", path.display()));
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(guarded::FILE_MAX_BYTES.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|fault| unreadable(&fault))?;
    if guarded::FILE_MAX_BYTES < u64::try_from(bytes.len()).unwrap_or(u64::MAX) {
        return Err(unreadable(&format!("it has more than {} bytes", guarded::FILE_MAX_BYTES)));
    }
    utf8(path, bytes)
}

fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, Stop> {
    String::from_utf8(bytes).map_err(|fault| {
        let at = fault.utf8_error().valid_up_to();
        Stop::not_ready(format!("`{}` is not UTF-8 text (byte {at}); save it as UTF-8", path.display()))
    })
}

/// Rules that cannot be used, told with their file.
pub(super) fn refused(path: &Path, fault: &TextFault) -> Stop {
    Stop::not_ready(format!("`{}`: {fault}", path.display()))
}

fn show(report: &Report) -> Result<(), Stop> {
    table::say(&format!("rules  {}", report.file))?;
    let line = |told: &Told| {
        told.place.as_ref().map_or_else(String::new, |place| match place.line {
            Some(line) => line.to_string(),
            None => "default".to_owned(),
        })
    };
    let rows =
        |all: &[Told]| all.iter().map(|told| vec![line(told), told.about.to_owned(), told.says.clone()]).collect();
    table::say(&table::table(&["line", "about", "what holds"], &[0], rows(&report.rules)))?;
    if report.warnings.is_empty() {
        return table::say("Nothing here is wider than it looks.");
    }
    table::say(&table::table(&["line", "wide", "what to think about"], &[0], rows(&report.warnings)))
}
