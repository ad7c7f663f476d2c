//! An entry put into, or taken out of, the text of a client's configuration. Everything else stays as it is, to the byte.
//!
//! The three editors work on the text, each with a parser of its format. None is trusted: what they wrote is read again,
//! and has to mean what the file meant before with that one entry more, less or changed. Otherwise nothing is written.

use serde_json::{Map, Value};

use super::client::{Client, Keeping};
use super::entry::{self, Member, Registration};
use super::{in_json, in_toml, in_yaml};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, with comments and trailing commas where a client takes them.
    Json,
    Toml,
    Yaml,
}

impl Format {
    /// Its name for people.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }
}

/// Why a text is not edited. The sentences end in what to do, which the caller adds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EditFault {
    /// It is not of its format.
    #[error("line {line} is not {format} ({said})")]
    Unreadable {
        /// From 1.
        line: usize,
        /// Which format.
        format: &'static str,
        /// What the parser said.
        said: String,
    },
    /// Something else stands where the servers belong.
    #[error("`{key}` holds something else than servers")]
    NotServers {
        /// The key.
        key: String,
    },
    /// A key that matters is there twice.
    #[error("`{key}` is there twice, and programs differ in which one counts")]
    Doubled {
        /// The key.
        key: String,
    },
    /// The entry is somebody else's.
    #[error("`{name}` is another server's entry")]
    Taken {
        /// Its name.
        name: String,
    },
    /// It is written in a way that cannot be edited without touching something else.
    #[error("the servers are written in a way that leaves no safe place for an edit")]
    NoPlace,
}

/// Every server by its name.
pub(super) type Servers = Vec<(String, Map<String, Value>)>;

/// What an editor is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ask<'a> {
    /// Put a new entry in.
    Add(&'a [Member]),
    /// Change these members of the entry that is there.
    Change(&'a [Member]),
    /// Take the entry out.
    Remove,
}

/// The text with bursar registered; `None` where it is so already.
///
/// An entry of ours that is there keeps every member but those that say what is started.
///
/// # Errors
///
/// [`EditFault`].
pub(super) fn registered(
    client: &Client,
    text: &str,
    registration: &Registration,
) -> Result<Option<String>, EditFault> {
    let (mark, body) = without_mark(text);
    let body = if body.trim().is_empty() { client.preamble } else { body };
    let before = tree(client.format, body)?;
    let name = &registration.name;
    let (asked, entry) = match find(client, &before, name)? {
        Some(there) => {
            if !entry::is_bursar(&entry::words(there, client.shape)) {
                return Err(EditFault::Taken { name: name.clone() });
            }
            let members = registration.starting(client.shape);
            let mut entry = there.clone();
            entry.extend(members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
            if entry == *there {
                return Ok(None);
            }
            (Asked::Change(members), entry)
        }
        None => {
            let members = registration.members(client.shape);
            let entry = members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
            (Asked::Add(members), entry)
        }
    };
    let wanted = with(client, before, name, Some(entry));
    let after = match &asked {
        Asked::Add(members) => edited(client, body, name, Ask::Add(members))?,
        Asked::Change(members) => edited(client, body, name, Ask::Change(members))?,
    };
    checked(client, &after, wanted)?;
    Ok(Some(format!("{mark}{after}")))
}

enum Asked {
    Add(Vec<Member>),
    Change(Vec<Member>),
}

/// The text without the entry `name`; `None` where there is none.
///
/// # Errors
///
/// [`EditFault`]; an entry of this name that does not start bursar stays.
pub(super) fn unregistered(client: &Client, text: &str, name: &str) -> Result<Option<String>, EditFault> {
    let (mark, body) = without_mark(text);
    let before = tree(client.format, body)?;
    match find(client, &before, name)? {
        None => return Ok(None),
        Some(there) if entry::is_bursar(&entry::words(there, client.shape)) => {}
        Some(_) => return Err(EditFault::Taken { name: name.to_owned() }),
    }
    let wanted = with(client, before, name, None);
    let after = edited(client, body, name, Ask::Remove)?;
    checked(client, &after, wanted)?;
    Ok(Some(format!("{mark}{after}")))
}

/// The name and the entry of every server in the text.
///
/// # Errors
///
/// [`EditFault`].
pub(super) fn servers(client: &Client, text: &str) -> Result<Servers, EditFault> {
    let tree = tree(client.format, without_mark(text).1)?;
    let found = match (tree.get(client.servers), client.keeping) {
        (Some(Value::Object(servers)), Keeping::ByName) => {
            servers.iter().filter_map(|(name, entry)| Some((name.clone(), entry.as_object()?.clone()))).collect()
        }
        (Some(Value::Array(servers)), Keeping::Listed) => servers
            .iter()
            .filter_map(|entry| Some((entry.get("name")?.as_str()?.to_owned(), entry.as_object()?.clone())))
            .collect(),
        _ => Vec::new(),
    };
    Ok(found)
}

/// A member of the text's top, whatever it is; `None` too where the text cannot be read.
pub(super) fn member(format: Format, text: &str, key: &str) -> Option<Value> {
    tree(format, without_mark(text).1).ok()?.remove(key)
}

/// A byte order mark, and what comes behind it.
fn without_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    }
}

/// What a text means. An empty one is an empty table.
fn tree(format: Format, body: &str) -> Result<Map<String, Value>, EditFault> {
    let value = match format {
        Format::Json => in_json::tree(body)?,
        Format::Toml => in_toml::tree(body)?,
        Format::Yaml => in_yaml::tree(body)?,
    };
    match value {
        Value::Object(members) => Ok(members),
        Value::Null => Ok(Map::new()),
        _ => Err(EditFault::NotServers { key: "the file".to_owned() }),
    }
}

fn edited(client: &Client, body: &str, name: &str, ask: Ask<'_>) -> Result<String, EditFault> {
    match client.format {
        Format::Json => in_json::edited(body, client.servers, name, ask),
        Format::Toml => in_toml::edited(body, client.servers, name, ask),
        Format::Yaml => in_yaml::edited(body, client.servers, client.keeping, name, ask),
    }
}

/// Refuses a text that means anything else than it should.
fn checked(client: &Client, after: &str, mut wanted: Map<String, Value>) -> Result<(), EditFault> {
    let mut found = tree(client.format, after).map_err(|_fault| EditFault::NoPlace)?;
    if client.format == Format::Toml {
        // A table is there as long as something is in it.
        for tree in [&mut found, &mut wanted] {
            if tree.get(client.servers).and_then(Value::as_object).is_some_and(Map::is_empty) {
                drop(tree.remove(client.servers));
            }
        }
    }
    if found == wanted { Ok(()) } else { Err(EditFault::NoPlace) }
}

/// The entry `name`, if it is there.
fn find<'t>(
    client: &Client,
    tree: &'t Map<String, Value>,
    name: &str,
) -> Result<Option<&'t Map<String, Value>>, EditFault> {
    let not_servers = || EditFault::NotServers { key: client.servers.to_owned() };
    let taken = || EditFault::Taken { name: name.to_owned() };
    match (tree.get(client.servers), client.keeping) {
        (None | Some(Value::Null), _) => Ok(None),
        (Some(Value::Object(servers)), Keeping::ByName) => match servers.get(name) {
            None => Ok(None),
            Some(entry) => entry.as_object().map(Some).ok_or_else(taken),
        },
        (Some(Value::Array(servers)), Keeping::Listed) => {
            let mut named = servers.iter().filter_map(Value::as_object).filter(|entry| names(entry, name));
            match (named.next(), named.next()) {
                (found, None) => Ok(found),
                _ => Err(EditFault::Doubled { key: name.to_owned() }),
            }
        }
        _ => Err(not_servers()),
    }
}

fn names(entry: &Map<String, Value>, name: &str) -> bool {
    entry.get("name").and_then(Value::as_str) == Some(name)
}

/// The tree with the entry in place of the one of its name, or without one.
fn with(
    client: &Client,
    mut tree: Map<String, Value>,
    name: &str,
    entry: Option<Map<String, Value>>,
) -> Map<String, Value> {
    let empty = || match client.keeping {
        Keeping::ByName => Value::Object(Map::new()),
        Keeping::Listed => Value::Array(Vec::new()),
    };
    let servers = tree.entry(client.servers).or_insert(Value::Null);
    if servers.is_null() {
        *servers = empty();
    }
    match servers {
        Value::Object(servers) => match entry {
            Some(entry) => drop(servers.insert(name.to_owned(), Value::Object(entry))),
            None => drop(servers.remove(name)),
        },
        Value::Array(servers) => {
            let at = servers.iter().position(|there| there.as_object().is_some_and(|there| names(there, name)));
            match (at.and_then(|at| servers.get_mut(at)), entry) {
                (Some(there), Some(entry)) => *there = Value::Object(entry),
                (None, Some(entry)) => servers.insert(0, Value::Object(entry)),
                (_, None) => servers.retain(|there| !there.as_object().is_some_and(|there| names(there, name))),
            }
        }
        _ => {}
    }
    tree
}

/// A stretch of a text, and what stands there instead.
#[derive(Debug)]
pub(super) struct Splice {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) text: String,
}

/// The text with every splice done. They may not overlap; where one does not fit the text, there is no place for it.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> Result<String, EditFault> {
    splices.sort_by_key(|splice| splice.from);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for splice in splices {
        out.push_str(text.get(at..splice.from).ok_or(EditFault::NoPlace)?);
        out.push_str(&splice.text);
        at = splice.to;
    }
    out.push_str(text.get(at..).ok_or(EditFault::NoPlace)?);
    Ok(out)
}

/// The line end that a text uses.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Where the line begins that `at` is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end.saturating_add(1))
}

/// Where the line ends that `at` is in, its line end included.
pub(super) fn line_stop(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |end| at.saturating_add(end).saturating_add(1))
}

/// The number of the line, from 1, that byte `at` is in.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count().saturating_add(1)
}

#[cfg(test)]
mod tests;
