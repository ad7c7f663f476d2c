//! What the clients here start already: ours and others'. Looks, and changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::client::{Client, Plugins, System};
use super::file::{self, Config};
use super::{edit, entry, here};

/// One client, as its files say.
#[derive(Debug)]
pub(in crate::cli) struct Survey {
    /// What it is called on the command line.
    pub(in crate::cli) id: &'static str,
    /// What it is called by people.
    pub(in crate::cli) name: &'static str,
    /// The file of its servers.
    pub(in crate::cli) file: String,
    /// The mode bits of that file.
    pub(in crate::cli) mode: u32,
    /// What that file registers, or why it cannot be read.
    pub(in crate::cli) servers: Result<Vec<Server>, String>,
    /// The names of its plugins, as far as they are known.
    pub(in crate::cli) plugins: Vec<String>,
}

/// One server of a client.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct Server {
    /// The name of the entry.
    pub(in crate::cli) name: String,
    /// The program and its arguments; none for one that is reached over the network.
    pub(in crate::cli) words: Vec<String>,
    /// Where it is reached over the network.
    pub(in crate::cli) address: Option<String>,
    /// The variables that it is given.
    pub(in crate::cli) variables: BTreeMap<String, String>,
    /// It is bursar.
    pub(in crate::cli) is_ours: bool,
}

/// Every client that is here.
pub(in crate::cli) fn surveys(home: &Path) -> Vec<Survey> {
    here(home).into_iter().map(|client| survey(client, home)).collect()
}

fn survey(client: &'static Client, home: &Path) -> Survey {
    let path = file::place(client, home, System::here());
    let (mode, servers) = match Config::read(&path) {
        Ok(config) => {
            let servers = edit::servers(client, config.text()).map_err(|fault| fault.to_string());
            let servers = servers.map(|found| [found, of_projects(client, config.text())].concat());
            (
                config.mode,
                servers.map(|found| found.into_iter().map(|(name, entry)| server(client, name, &entry)).collect()),
            )
        }
        Err(fault) => (0, Err(fault.to_string())),
    };
    Survey {
        id: client.id,
        name: client.name,
        file: path.display().to_string(),
        mode,
        servers,
        plugins: plugins(client, home, &path),
    }
}

fn server(client: &Client, name: String, entry: &Map<String, Value>) -> Server {
    let words = entry::words(entry, client.shape);
    let text = |key: &&str| entry.get(*key).and_then(Value::as_str).map(str::to_owned);
    let variables = ["env", "envs", "environment"].iter().filter_map(|key| entry.get(*key)?.as_object()).flatten();
    let variables =
        variables.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned())).collect();
    Server {
        is_ours: entry::is_bursar(&words),
        name,
        words,
        address: ["url", "httpUrl", "serverUrl", "uri"].iter().find_map(text),
        variables,
    }
}

/// The servers that a client keeps for single projects in the same file, as Claude Code does.
fn of_projects(client: &Client, text: &str) -> edit::Servers {
    let projects = match edit::member(client.format, text, "projects") {
        Some(Value::Object(projects)) => projects,
        _ => Map::new(),
    };
    let mut found = Vec::new();
    for (project, settings) in &projects {
        let servers = settings.get(client.servers).and_then(Value::as_object).into_iter().flatten();
        found.extend(
            servers.filter_map(|(name, entry)| Some((format!("{name} in {project}"), entry.as_object()?.clone()))),
        );
    }
    found
}

/// A place that cannot be read names no plugin.
fn plugins(client: &Client, home: &Path, own_file: &Path) -> Vec<String> {
    match client.places(System::here()).plugins {
        None => Vec::new(),
        Some(Plugins::Folders(folder)) => {
            let entries = fs::read_dir(home.join(folder)).into_iter().flatten().flatten();
            let mut names: Vec<String> = entries
                .filter(|entry| entry.path().is_dir())
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        }
        Some(Plugins::Members(named, key)) => {
            let path = named.map_or_else(|| own_file.to_owned(), |file| home.join(file));
            let text = Config::read(&path).map(|config| config.text().to_owned()).unwrap_or_default();
            match edit::member(client.format, &text, key) {
                Some(Value::Object(members)) => members
                    .into_iter()
                    .filter(|(_, is_on)| *is_on != Value::Bool(false))
                    .map(|(name, _)| name)
                    .collect(),
                Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                _ => Vec::new(),
            }
        }
    }
}
