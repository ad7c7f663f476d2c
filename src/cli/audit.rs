//! `bursar audit verify`, `export`, `checkpoint` and `key`: the log for people who do not take our word. Reads the ledger
//! beside a running vault; only a checkpoint asks the vault.

mod csv;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use bursar_policy::Digest;
use bursar_vault::audit_key::AuditPublic;
use bursar_vault::ledger::{
    Books, ExportBooks, ExportFault, Exported, Kept, Progress, SignedCheckpoint, verify_export,
};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{since, table};
use crate::{books, clock};

/// Check, export and sign the log.
#[derive(Debug, Subcommand)]
pub(super) enum Audit {
    /// Check every event, payment, total and checkpoint; names the first that is changed, removed or cut off (exit code 3)
    Verify(Verify),
    /// Write the log with what each payment was about, as CSV for people or as lines of JSON that can be verified
    Export(Export),
    /// Sign how far the log has come, and print it: keep it elsewhere
    Checkpoint(Checkpoint),
    /// Print the key that checkpoints are signed with
    Key(Key),
}

/// Check the ledger, also while a vault runs, or an export without the ledger.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Check this export (lines of JSON) instead of the ledger
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The key that has to have signed every checkpoint, as `bursar audit key` printed it
    #[arg(long, value_name = "HEX")]
    key: Option<AuditPublic>,
    /// The hash of an event that you kept: the log has to hold it still
    #[arg(long, value_name = "HASH")]
    head: Option<Digest>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Write the log.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    /// Only what happened since then: `7d`, `2026-11-01`, `2026-11-01T10:00` or `2026-11-01T10:00:00Z`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// A file to make, for you alone; standard output when left out
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Sign how far the log has come.
#[derive(Debug, Args)]
pub(super) struct Checkpoint {}

/// Print the key that checkpoints are signed with.
#[derive(Debug, Args)]
pub(super) struct Key {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a spreadsheet (RFC 4180); what could be taken for a formula begins with an apostrophe
    Csv,
    /// One object a line, with everything that the hashes cover
    Jsonl,
}

impl Audit {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        match self {
            Self::Verify(command) => command.run(profile),
            Self::Export(command) => command.run(profile),
            Self::Checkpoint(command) => command.run(profile),
            Self::Key(command) => command.run(profile),
        }
    }
}

/// What was in order.
#[derive(Debug, Serialize)]
struct Report {
    ledger: String,
    epoch: u64,
    events: u64,
    /// Absent for an export, which has no rows of payments to check.
    payments: Option<u64>,
    /// The hash of the last event.
    head: Digest,
    checkpoints: u64,
    /// The event up to which the log is signed; absent when it is not.
    signed_to: Option<u64>,
    key: Option<String>,
}

impl Report {
    fn of_ledger(ledger: String, books: Books) -> Self {
        let Books { payments, events, head, epoch, checkpoints, signed } = books;
        let (signed_to, key) = signer(signed);
        Self { ledger, epoch, events, payments: Some(payments), head, checkpoints, signed_to, key }
    }

    fn of_export(books: ExportBooks) -> Self {
        let ExportBooks { head, events, checkpoints, signed } = books;
        let (signed_to, key) = signer(signed);
        let (ledger, epoch, head) = (head.ledger, head.epoch, head.to_hash);
        Self { ledger, epoch, events, payments: None, head, checkpoints, signed_to, key }
    }

    fn show(&self) -> Result<(), Stop> {
        let payments = self.payments.map(|payments| format!(", {payments} payments")).unwrap_or_default();
        table::say(&format!("In order: {} events{payments}, epoch {}.", self.events, self.epoch))?;
        table::say(&format!("ledger  {}\nhead    {}", self.ledger, self.head))?;
        match (self.signed_to, &self.key) {
            (Some(seq), Some(key)) => {
                table::say(&format!("signed  up to event {seq}, {} checkpoints, by {key}", self.checkpoints))
            }
            _ => table::say("signed  by nobody: there is no checkpoint in it"),
        }
    }
}

fn signer(signed: Option<SignedCheckpoint>) -> (Option<u64>, Option<String>) {
    signed.map(|signed| (signed.checkpoint.seq, signed.checkpoint.key.to_string())).unzip()
}

impl Verify {
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let kept = Kept { key: self.key, head: self.head };
        let report = match &self.file {
            Some(file) => {
                let opened = File::open(file);
                let opened = opened.map_err(|fault| Stop::usage(format!("`{}`: {fault}", file.display())))?;
                Report::of_export(verify_export(&mut BufReader::new(opened), kept)?)
            }
            None => {
                let (ledger, books) = books::verified(profile, kept, &mut told)?;
                Report::of_ledger(ledger, books)
            }
        };
        if self.json {
            table::say_json(&report)?;
        } else {
            report.show()?;
        }
        Ok(Exit::Done)
    }
}

/// Tells a waiting person how far a check has come.
pub(super) fn told(progress: Progress) {
    let (done, all, what) = books::come_to(progress);
    table::progress(&format!("checked {done} of {all} {what}"));
}

impl From<ExportFault> for Stop {
    fn from(fault: ExportFault) -> Self {
        let exit = match fault {
            ExportFault::Changed(_) => Exit::Refused,
            ExportFault::Form { .. } => Exit::Usage,
            ExportFault::Read(_) => Exit::Failed,
        };
        Self::new(exit, fault.to_string())
    }
}

/// Where an export goes: the standard output, or a file that is on the disk when it is done.
struct Sink {
    to: BufWriter<Box<dyn Write>>,
    file: Option<File>,
}

impl Sink {
    fn of(out: Option<&Path>) -> Result<Self, Stop> {
        let Some(path) = out else { return Ok(Self { to: BufWriter::new(table::plain_output()), file: None }) };
        let file = table::new_file(path)?;
        Ok(Self { to: BufWriter::new(Box::new(file.try_clone()?)), file: Some(file) })
    }

    fn line(&mut self, line: &str) -> Result<(), Stop> {
        Ok(writeln!(self.to, "{line}")?)
    }

    fn end(mut self) -> Result<(), Stop> {
        self.to.flush()?;
        Ok(self.file.as_ref().map_or(Ok(()), File::sync_all)?)
    }
}

impl Export {
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let since = self.since.as_deref().map(|text| since::read(text, clock::now_s()));
        let since = since.transpose().map_err(Stop::usage)?;
        let inspector = books::inspector(profile)?;
        let after = since.map_or(Ok(0), |since| inspector.last_before(since))?;
        let mut sink = Sink::of(self.out.as_deref())?;
        match self.format {
            Format::Csv => sink.line(&csv::head())?,
            Format::Jsonl => sink.line(&json(&inspector.export_head(after)?)?)?,
        }
        let mut written: u64 = 0;
        inspector.export(after, |exported: Exported| {
            written = written.saturating_add(1);
            sink.line(&match self.format {
                Format::Csv => csv::row(&exported),
                Format::Jsonl => json(&exported)?,
            })
        })?;
        sink.end()?;
        if let Some(out) = &self.out {
            table::say(&format!("Wrote {written} events to {}.", out.display()))?;
        }
        Ok(Exit::Done)
    }
}

fn json(value: &impl Serialize) -> Result<String, Stop> {
    Ok(table::json_line(value).map_err(std::io::Error::from)?)
}

impl Checkpoint {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        match Operator::connect_or_start(profile)?.ask(&OperatorAsk::Checkpoint)? {
            OperatorReply::Checkpoint { line } => {
                table::say(&line)?;
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}

impl Key {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        match books::inspector(profile)?.identity().key {
            Some(key) => {
                table::say(&key.to_string())?;
                Ok(Exit::Done)
            }
            None => Err(Stop::not_ready("nothing was signed yet; the first `bursar unlock` makes the audit key")),
        }
    }
}
