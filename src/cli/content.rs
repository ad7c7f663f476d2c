//! `bursar content`: what was fetched and bought, for the operator: list it, look at it, copy it out, make room.

mod inventory;
mod prune;

use std::path::{Path, PathBuf};

use bursar_policy::Digest;
use bursar_vault::platform::private_file;
use bursar_vault::profile::Profile;
use clap::{Args, Subcommand};

use super::connect::Operator;
use super::exit::{Exit, Stop};
use super::table;
use crate::content::{ContentFault, ContentKind, ContentStore};
use inventory::{Inventory, Item};

/// How much of a body is shown at most, in bytes.
const SHOWN_BYTES: usize = 10 * 1024;

/// The fewest digits by which a body is named.
const PREFIX_DIGITS: usize = 8;

/// How many digits of a digest a table shows.
const TABLE_DIGITS: usize = 12;

#[derive(Debug, Subcommand)]
pub(super) enum Content {
    /// List what is stored, with where it came from
    List(List),
    /// Show a stored text, made safe for a terminal
    Show(Show),
    /// Copy a stored body to a new file, byte for byte
    Export(Export),
    /// Remove what is old or too much; what was paid for only with `--paid`
    Prune(prune::Prune),
}

/// List what is stored, with where it came from.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Show a stored text, made safe for a terminal.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The SHA-256 of the body, or its first 8 digits or more
    #[arg(value_name = "DIGEST")]
    digest: String,
}

/// Copy a stored body to a new file, byte for byte.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The SHA-256 of the body, or its first 8 digits or more
    #[arg(value_name = "DIGEST")]
    digest: String,
    /// The file to make; one that is there already is left alone
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Content {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        profile.check_own()?;
        let store = ContentStore::open(&profile.content_dir()).map_err(|fault| Stop::not_ready(fault.to_string()))?;
        match self {
            Self::List(list) => list.run(profile, &store),
            Self::Show(show) => show.run(profile, &store),
            Self::Export(export) => export.run(&store),
            Self::Prune(prune) => prune.run(profile, &store),
        }
    }
}

impl List {
    fn run(&self, profile: &Profile, store: &ContentStore) -> Result<Exit, Stop> {
        let inventory = Inventory::read(&Operator::connect_or_start(profile)?, store)?;
        if self.json {
            for item in inventory.items() {
                table::say_json(item)?;
            }
            return Ok(Exit::Done);
        }
        let head = ["sha256", "bytes", "type", "when", "paid by", "from"];
        table::say(&table::table(&head, &[1], inventory.items().iter().map(row).collect()))?;
        Ok(Exit::Done)
    }
}

fn row(item: &Item) -> Vec<String> {
    let digits: String = item.digest.to_string().chars().take(TABLE_DIGITS).collect();
    vec![
        digits,
        item.bytes.to_string(),
        item.kind.clone().unwrap_or_else(|| "unknown".to_owned()),
        table::time(item.at_s),
        item.payments.last().map_or_else(|| "nothing".to_owned(), ToString::to_string),
        item.url.as_deref().map_or_else(|| "unknown".to_owned(), table::remark),
    ]
}

impl Show {
    fn run(&self, profile: &Profile, store: &ContentStore) -> Result<Exit, Stop> {
        let digest = named(store, &self.digest)?;
        let head = store.head(&digest, SHOWN_BYTES).map_err(lost)?;
        let inventory = Inventory::read(&Operator::connect_or_start(profile)?, store)?;
        let item = inventory.items().iter().find(|item| item.digest == digest);
        let kind = item.and_then(|item| item.kind.as_deref()).unwrap_or("unknown");
        if !ContentKind::ALL.iter().any(|known| known.as_str() == kind && known.is_textual()) {
            let told = format!("`{digest}` is no text ({kind}); copy it out with `bursar content export`");
            return Err(Stop::refused(told));
        }
        let more = if head.more { ", cut here" } else { "" };
        table::say(&format!("{digest} ({kind}, untrusted{more}):"))?;
        table::say_untrusted(&String::from_utf8_lossy(&head.bytes))?;
        Ok(Exit::Done)
    }
}

impl Export {
    fn run(&self, store: &ContentStore) -> Result<Exit, Stop> {
        let digest = named(store, &self.digest)?;
        let mut file = private_file()
            .write(true)
            .create_new(true)
            .open(&self.file)
            .map_err(|fault| Stop::usage(format!("`{}` cannot be made: {fault}", self.file.display())))?;
        let copied = store.copy_into(&digest, &mut file).map_err(lost).and_then(|()| Ok(file.sync_all()?));
        if let Err(stop) = copied {
            return Err(taken_back(&self.file, stop));
        }
        table::say(&format!("Copied {digest} to {}.", self.file.display()))?;
        Ok(Exit::Done)
    }
}

/// Removes a file that this command made and could not fill.
fn taken_back(file: &Path, stop: Stop) -> Stop {
    match std::fs::remove_file(file) {
        Ok(()) => stop,
        Err(fault) => Stop::new(stop.exit, format!("{stop}; `{}` is left, incomplete: {fault}", file.display())),
    }
}

/// The one stored body that `digits` begin the digest of.
fn named(store: &ContentStore, digits: &str) -> Result<Digest, Stop> {
    let is_hex = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hex || digits.len() < PREFIX_DIGITS {
        let told = format!("`{}` is no digest; give at least {PREFIX_DIGITS} digits of it", digits.escape_debug());
        return Err(Stop::usage(told));
    }
    let kept = store.kept().map_err(lost)?;
    let mut found = kept.iter().map(|kept| kept.digest).filter(|digest| digest.to_string().starts_with(digits));
    match (found.next(), found.next()) {
        (Some(digest), None) => Ok(digest),
        (None, _) => Err(Stop::refused(format!("nothing is stored whose SHA-256 begins with `{digits}`"))),
        (Some(_), Some(_)) => Err(Stop::usage(format!("several bodies begin with `{digits}`; give more digits"))),
    }
}

fn lost(fault: ContentFault) -> Stop {
    let exit = match fault {
        ContentFault::Missing { .. } | ContentFault::Damaged { .. } => Exit::Refused,
        _ => Exit::Failed,
    };
    Stop::new(exit, fault.to_string())
}
