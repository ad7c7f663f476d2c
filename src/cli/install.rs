//! `bursar install` and `bursar uninstall`: registers bursar with MCP clients, in their own configuration files.
//!
//! Shows what would change before anything is written, and asks. Nothing here gives an agent more than the rules and an
//! open budget do: it only tells a client which program to start.

mod client;
mod diff;
mod edit;
mod entry;
mod file;
mod in_json;
mod in_toml;
mod in_yaml;
mod survey;
mod yaml_nodes;

use std::path::{Path, PathBuf};

use bursar_vault::profile;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use serde::Serialize;

use self::client::{CLIENTS, Client, System};
use self::edit::EditFault;
use self::entry::Registration;
use self::file::Config;
pub(super) use self::survey::{Server, Survey, surveys};
use super::exit::{Exit, Stop};
use super::{session, table, terminal};
use crate::spelling;

/// The name of our entry where nobody says another.
const NAME: &str = "bursar";

/// The word for a client that is not in the table.
const ANY: &str = "stdio";

/// Register bursar with MCP clients: shows the change, asks, and keeps a copy of the file.
///
/// Without a client's name: with every client that is here. Exit codes: 0 done, or nothing to do; 3 a file was left alone
/// for a reason that is told; 4 nobody was there to agree.
#[derive(Debug, Args)]
pub(super) struct Install {
    /// The clients; every one that is here when left out
    #[arg(value_name = "CLIENT", value_parser = known())]
    clients: Vec<&'static Client>,
    #[command(flatten)]
    entry: EntryArgs,
    #[command(flatten)]
    how: How,
    /// Print what to paste into CLIENT's configuration by hand, or for `stdio` what any client starts; edits nothing
    #[arg(long, value_name = "CLIENT", value_parser = printable(), conflicts_with_all = ["clients", "file", "dry_run", "yes", "json", "home"])]
    print: Option<String>,
}

/// Take bursar out of MCP clients' configurations; other servers and everything else stay as they are.
#[derive(Debug, Args)]
pub(super) struct Uninstall {
    /// The clients; every one that bursar is registered with when left out
    #[arg(value_name = "CLIENT", value_parser = known())]
    clients: Vec<&'static Client>,
    /// The name of the entry
    #[arg(long = "as", default_value = NAME, value_name = "NAME", value_parser = entry_name)]
    name: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct EntryArgs {
    /// The budget that these clients spend from
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The name of the entry, for a second one beside `bursar`
    #[arg(long = "as", default_value = NAME, value_name = "NAME", value_parser = entry_name)]
    name: String,
}

#[derive(Debug, Args)]
struct How {
    /// This file instead of the client's usual one, for example a project's `.cursor/mcp.json`; with one client
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show what would change and write nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Write without asking
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The folder that stands for your home; only in a sandbox
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// What becomes of one client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// It would be written, or is not yet.
    Pending,
    /// It was written.
    Written,
    /// There was nothing to do.
    Unchanged,
    /// It was left alone for a reason.
    LeftAlone,
}

/// One client, as it is told.
#[derive(Debug, Serialize)]
struct Told {
    client: &'static str,
    file: String,
    action: Action,
    diff: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(skip)]
    change: Option<(Config, String)>,
    #[serde(skip)]
    name: &'static str,
}

/// Which way.
#[derive(Debug)]
enum Aim<'a> {
    In(&'a Registration),
    Out(&'a str),
}

/// What the command line says in front of every command, as far as a client has to repeat it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Global<'a> {
    pub(super) sandbox: Option<&'a Path>,
    pub(super) hardened: Option<&'a Path>,
    pub(super) profile: Option<&'a str>,
}

impl Install {
    pub(super) fn run(&self, global: Global<'_>) -> Result<Exit, Stop> {
        let registration = registration(global, self.entry.session.as_deref(), &self.entry.name)?;
        if let Some(id) = &self.print {
            table::say(&snippet(Client::named(id), &registration)?)?;
            return Ok(Exit::Done);
        }
        self.how.run(&self.clients, global.sandbox, &Aim::In(&registration))
    }
}

impl Uninstall {
    pub(super) fn run(&self, sandbox: Option<&Path>) -> Result<Exit, Stop> {
        self.how.run(&self.clients, sandbox, &Aim::Out(&self.name))
    }
}

impl How {
    fn run(&self, named: &[&'static Client], sandbox: Option<&Path>, aim: &Aim<'_>) -> Result<Exit, Stop> {
        if self.file.is_some() && named.len() != 1 {
            return Err(Stop::usage(
                "`--file` goes with exactly one client, which says how the file is written; name it",
            ));
        }
        let home = home(sandbox, self.home.as_deref())?;
        let clients: Vec<&'static Client> = if named.is_empty() { here(&home) } else { named.to_vec() };
        if clients.is_empty() {
            let known: Vec<&str> = CLIENTS.iter().map(|client| client.id).collect();
            return Err(Stop::not_ready(format!(
                "no MCP client was found under `{}`; name one of {}, or see `bursar install --print {ANY}`",
                home.display(),
                known.join(", ")
            )));
        }
        let mut told: Vec<Told> =
            clients.into_iter().map(|client| planned(client, &home, self.file.as_deref(), aim)).collect();
        if named.is_empty() && matches!(aim, Aim::Out(_)) {
            // Where it never was there is nothing to say.
            told.retain(|told| told.action != Action::Unchanged);
        }
        self.carried_out(&mut told, aim)?;
        let was_left = told.iter().any(|told| told.action == Action::LeftAlone);
        Ok(if was_left { Exit::Refused } else { Exit::Done })
    }

    fn carried_out(&self, told: &mut [Told], aim: &Aim<'_>) -> Result<(), Stop> {
        if !self.json {
            told.iter().try_for_each(|told| shown(told, aim))?;
            if told.is_empty() {
                table::say("bursar is registered with no client here.")?;
            }
        }
        let pending = told.iter().filter(|told| told.action == Action::Pending).count();
        if 0 < pending && !self.dry_run && self.agreed(pending)? {
            for one in told.iter_mut() {
                written(one);
                if !self.json {
                    outcome(one)?;
                }
            }
        }
        if self.json { table::say_json(&told) } else { Ok(()) }
    }

    fn agreed(&self, pending: usize) -> Result<bool, Stop> {
        if self.yes {
            return Ok(true);
        }
        let what =
            if pending == 1 { "Write this change?".to_owned() } else { format!("Write these {pending} changes?") };
        let agrees = terminal::yes(&what, terminal::Answer::No).map_err(|stop| match stop.exit {
            Exit::NotReady => Stop::not_ready(
                "nobody is at a terminal to agree, so nothing was written; add `--yes` to write without asking",
            ),
            _ => stop,
        })?;
        if agrees {
            return Ok(true);
        }
        table::say("Nothing was written.")?;
        Ok(false)
    }
}

/// Shows what registering with these clients would change, and asks.
///
/// # Errors
///
/// A [`Stop`] when nobody can answer.
pub(super) fn offer(ids: &[&str], global: Global<'_>, home: &Path) -> Result<(), Stop> {
    let registration = registration(global, None, NAME)?;
    let how = How { file: None, dry_run: false, yes: false, json: false, home: None };
    let clients = ids.iter().filter_map(|id| Client::named(id));
    let mut told: Vec<Told> = clients.map(|client| planned(client, home, None, &Aim::In(&registration))).collect();
    how.carried_out(&mut told, &Aim::In(&registration))
}

/// What to register for these arguments of the command line.
///
/// # Errors
///
/// A [`Stop`] with exit code 2 where a path cannot be written into a configuration.
fn registration(global: Global<'_>, session: Option<&str>, name: &str) -> Result<Registration, Stop> {
    let program = std::env::current_exe()?;
    let program = program.to_str().ok_or_else(|| {
        Stop::usage(
            "bursar is installed under a path that is not UTF-8 text, which no client configuration can hold; move it",
        )
    })?;
    if program.ends_with(" (deleted)") {
        return Err(Stop::usage("this program was replaced while it ran; run the new one"));
    }
    let mut arguments = Vec::new();
    for (flag, path) in [("--sandbox", global.sandbox), ("--hardened", global.hardened)] {
        let Some(path) = path else { continue };
        let path = std::path::absolute(path)?;
        let path = path.to_str().ok_or_else(|| {
            Stop::usage(format!("the path of `{flag}` is not UTF-8 text, which no client configuration can hold"))
        })?;
        arguments.extend([flag.to_owned(), path.to_owned()]);
    }
    if let Some(name) = global.profile {
        arguments.extend(["--profile".to_owned(), name.to_owned()]);
    }
    arguments.push("serve".to_owned());
    if let Some(name) = session {
        arguments.extend(["--session".to_owned(), session::name(name)?.to_string()]);
    }
    Ok(Registration { name: name.to_owned(), program: program.to_owned(), arguments })
}

/// The home folder: the account's, or in a sandbox the one that is named.
///
/// # Errors
///
/// A [`Stop`] with exit code 2 where one is named outside a sandbox.
pub(super) fn home(sandbox: Option<&Path>, named: Option<&Path>) -> Result<PathBuf, Stop> {
    match (named, sandbox) {
        (None, _) => Ok(profile::account_home()?),
        (Some(home), Some(_)) => Ok(std::path::absolute(home)?),
        (Some(_), None) => {
            Err(Stop::usage("`--home` is for sandboxes; outside of one the home folder is the account's"))
        }
    }
}

/// The clients that are here.
fn here(home: &Path) -> Vec<&'static Client> {
    CLIENTS.iter().filter(|client| file::is_here(client, home, System::here())).collect()
}

fn planned(client: &'static Client, home: &Path, named: Option<&Path>, aim: &Aim<'_>) -> Told {
    let path = named.map_or_else(|| file::place(client, home, System::here()), Path::to_owned);
    let mut told = Told {
        client: client.id,
        file: path.display().to_string(),
        action: Action::Unchanged,
        diff: Vec::new(),
        copy: None,
        fault: None,
        change: None,
        name: client.name,
    };
    match change(client, home, &path, named.is_some(), aim) {
        Ok(None) => {}
        Ok(Some((config, after))) => {
            told.diff = diff::lines(config.text(), &after);
            told.action = Action::Pending;
            told.change = Some((config, after));
        }
        Err(fault) => {
            told.fault = Some(fault);
            told.action = Action::LeftAlone;
        }
    }
    told
}

fn change(
    client: &Client,
    home: &Path,
    path: &Path,
    is_named: bool,
    aim: &Aim<'_>,
) -> Result<Option<(Config, String)>, String> {
    let config = Config::read(path).map_err(|fault| fault.to_string())?;
    let after = match aim {
        Aim::In(registration) => {
            if !is_named {
                file::may_appear(client, home, System::here(), &config).map_err(|fault| fault.to_string())?;
            }
            edit::registered(client, config.text(), registration)
        }
        Aim::Out(name) => edit::unregistered(client, config.text(), name),
    };
    let after =
        after.map_err(|fault| format!("`{}` was left alone: {fault}; {}", path.display(), remedy(client, &fault)))?;
    Ok(after.map(|after| (config, after)))
}

/// What to do where a file is not edited.
fn remedy(client: &Client, fault: &EditFault) -> String {
    match fault {
        EditFault::Unreadable { .. } | EditFault::NotServers { .. } | EditFault::Doubled { .. } => {
            "mend it, then run this again".to_owned()
        }
        EditFault::Taken { .. } => "choose another name with `--as NAME`".to_owned(),
        EditFault::NoPlace => format!("edit it by hand, `bursar install --print {}` shows the entry", client.id),
    }
}

fn shown(told: &Told, aim: &Aim<'_>) -> Result<(), Stop> {
    table::say(&format!("{}  {}", told.name, told.file))?;
    for line in &told.diff {
        table::say(&format!("    {line}"))?;
    }
    match (&told.fault, told.action, aim) {
        (Some(fault), ..) => table::say(&format!("    {fault}")),
        (None, Action::Unchanged, Aim::In(_)) => table::say("    registered already; nothing to change"),
        (None, Action::Unchanged, Aim::Out(_)) => table::say("    not registered; nothing to change"),
        _ => Ok(()),
    }
}

/// Writes what is pending.
fn written(told: &mut Told) {
    let Some((config, after)) = told.change.take() else { return };
    match config.write(&after) {
        Ok(copy) => {
            told.action = Action::Written;
            told.copy = copy.map(|copy| copy.display().to_string());
        }
        Err(fault) => {
            told.action = Action::LeftAlone;
            told.fault = Some(fault.to_string());
        }
    }
}

fn outcome(told: &Told) -> Result<(), Stop> {
    match (told.action, &told.fault, &told.copy) {
        (Action::Written, _, Some(copy)) => table::say(&format!(
            "{}: written; the file as it was is `{copy}`. Restart the client, or have it load its servers again.",
            told.name
        )),
        (Action::Written, _, None) => {
            table::say(&format!("{}: written. Restart the client, or have it load its servers again.", told.name))
        }
        (Action::LeftAlone, Some(fault), _) if !told.diff.is_empty() => table::say(&format!("{}: {fault}", told.name)),
        _ => Ok(()),
    }
}

/// What to paste by hand.
fn snippet(client: Option<&Client>, registration: &Registration) -> Result<String, Stop> {
    let words = std::iter::once(&registration.program).chain(&registration.arguments);
    match client {
        Some(Client { own_command: Some(command), .. }) => {
            let words: Vec<String> = words.map(|word| spelling::shell_word(word)).collect();
            Ok(format!("{command} {} -- {}", registration.name, words.join(" ")))
        }
        Some(client) => {
            let text = edit::registered(client, "", registration)
                .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
            Ok(text.unwrap_or_default().trim_end().to_owned())
        }
        None => {
            let entry = serde_json::json!({ "command": registration.program, "args": registration.arguments });
            Ok(format!("{entry:#}"))
        }
    }
}

fn known() -> impl clap::builder::TypedValueParser<Value = &'static Client> {
    let ids = CLIENTS.iter().map(|client| PossibleValue::new(client.id).help(client.name));
    PossibleValuesParser::new(ids).try_map(|id| Client::named(&id).ok_or("no such client"))
}

fn printable() -> PossibleValuesParser {
    let ids = CLIENTS.iter().map(|client| PossibleValue::new(client.id).help(client.name));
    PossibleValuesParser::new(ids.chain([PossibleValue::new(ANY).help("any client that starts a program")]))
}

/// A name that every client and every format takes as it is.
fn entry_name(typed: &str) -> Result<String, String> {
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let begins = typed.starts_with(|first: char| first.is_ascii_alphabetic());
    if begins && typed.len() <= 40 && typed.chars().all(is_fine) {
        return Ok(typed.to_owned());
    }
    Err("a name is a letter and then letters, digits, `-` and `_`, at most 40 in all".to_owned())
}

#[cfg(test)]
mod tests;
