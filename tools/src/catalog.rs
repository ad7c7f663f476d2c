//! The tools as a client sees them: names, schemas, annotations. Built from the argument and answer types.
//!
//! Must never differ between two clients, and must stay readable by strict ones: the root of every schema is an
//! object, nothing is referred to elsewhere, nothing is nullable.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{attach, fetch, prepare, quote, status};

/// A line of the table of tools in the README.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolRow {
    /// The name by which a model calls it.
    pub name: &'static str,
    /// What it does, the first sentence of its description.
    pub does: String,
    /// Its arguments, the required ones first.
    pub arguments: Vec<&'static str>,
    /// What a client is told about its effects, for example `read-only`.
    pub effects: &'static str,
}

/// The tools, in the order in which clients list them. The README's table is made from this and checked against it.
#[must_use]
pub fn tool_table() -> Vec<ToolRow> {
    ENTRIES
        .iter()
        .map(|entry| ToolRow {
            name: entry.name,
            does: entry.description.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned(),
            arguments: entry.arguments.to_vec(),
            effects: entry.effects.words(),
        })
        .collect()
}

/// Each tool's name and its whole definition as JSON, as `tools/list` sends it. For the snapshots.
///
/// # Errors
///
/// When a definition cannot be written as JSON, which is a fault of this crate.
pub fn tool_schemas() -> Result<Vec<(&'static str, String)>, serde_json::Error> {
    let pretty = |tool: &Tool| serde_json::to_string_pretty(tool).map(|text| text + "\n");
    ENTRIES.iter().map(|entry| Ok((entry.name, pretty(&entry.tool())?))).collect()
}

/// The tools for `tools/list`.
pub(crate) fn tools() -> Vec<Tool> {
    ENTRIES.iter().map(Entry::tool).collect()
}

/// The names of the tools, for a sentence.
pub(crate) fn names() -> String {
    ENTRIES.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// Which tool a call means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Fetch,
    Quote,
    Prepare,
    Attach,
    Status,
}

impl Which {
    /// The tool of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            fetch::NAME => Some(Self::Fetch),
            quote::NAME => Some(Self::Quote),
            prepare::NAME => Some(Self::Prepare),
            attach::NAME => Some(Self::Attach),
            status::NAME => Some(Self::Status),
            _ => None,
        }
    }

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fetch => fetch::NAME,
            Self::Quote => quote::NAME,
            Self::Prepare => prepare::NAME,
            Self::Attach => attach::NAME,
            Self::Status => status::NAME,
        }
    }
}

struct Entry {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [&'static str],
    effects: Effects,
    input: fn() -> Map<String, Value>,
    output: fn() -> Map<String, Value>,
}

/// What a call may change. Told to clients as hints.
#[derive(Clone, Copy)]
enum Effects {
    /// Spends money: a second call may be a second purchase.
    Spends,
    /// Asks a site, changes nothing.
    Asks,
    /// Looks at the wallet, changes nothing, leaves the machine alone.
    Looks,
}

impl Effects {
    const fn words(self) -> &'static str {
        match self {
            Self::Spends => "destructive, not idempotent, open world",
            Self::Asks => "read-only, open world",
            Self::Looks => "read-only, closed world",
        }
    }

    fn annotations(self, title: &str) -> ToolAnnotations {
        let hints = ToolAnnotations::with_title(title);
        match self {
            Self::Spends => hints.read_only(false).destructive(true).idempotent(false).open_world(true),
            Self::Asks => hints.read_only(true).open_world(true),
            Self::Looks => hints.read_only(true).open_world(false),
        }
    }
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: fetch::NAME,
        title: "Fetch a URL and pay for it",
        description: fetch::DESCRIPTION,
        arguments: fetch::ARGUMENTS,
        effects: Effects::Spends,
        input: taken::<fetch::FetchArguments>,
        output: given::<fetch::FetchAnswer>,
    },
    Entry {
        name: quote::NAME,
        title: "Ask what a URL costs",
        description: quote::DESCRIPTION,
        arguments: quote::ARGUMENTS,
        effects: Effects::Asks,
        input: taken::<quote::QuoteArguments>,
        output: given::<quote::QuoteAnswer>,
    },
    Entry {
        name: prepare::NAME,
        title: "Set the money for a web page aside",
        description: prepare::DESCRIPTION,
        arguments: prepare::ARGUMENTS,
        effects: Effects::Spends,
        input: taken::<prepare::PrepareArguments>,
        output: given::<prepare::PrepareAnswer>,
    },
    Entry {
        name: attach::NAME,
        title: "Have the browser pay for a web page",
        description: attach::DESCRIPTION,
        arguments: attach::ARGUMENTS,
        effects: Effects::Spends,
        input: taken::<attach::AttachArguments>,
        output: given::<attach::AttachAnswer>,
    },
    Entry {
        name: status::NAME,
        title: "See what is left to spend",
        description: status::DESCRIPTION,
        arguments: status::ARGUMENTS,
        effects: Effects::Looks,
        input: taken::<status::StatusArguments>,
        output: given::<status::StatusAnswer>,
    },
];

impl Entry {
    fn tool(&self) -> Tool {
        Tool::new(self.name, self.description, Arc::new((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new((self.output)()))
            .with_annotations(self.effects.annotations(self.title))
    }
}

/// The schema of what a call may hold.
fn taken<T: JsonSchema>() -> Map<String, Value> {
    schema::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of what an answer holds.
fn given<T: JsonSchema>() -> Map<String, Value> {
    schema::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// The schema of `T`, made plain for strict clients.
fn schema<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut root = settings.into_generator().into_root_schema_for::<T>();
    let members = root.ensure_object();
    plain(members);
    // The tool itself has a title and a description.
    members.remove("title");
    members.remove("description");
    // A schema of an object without members may leave them out; some clients miss them.
    members.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    members.clone()
}

/// Removes nullability, number formats and one-of-constants, in place and all the way down.
fn plain(schema: &mut Map<String, Value>) {
    for combined in ["anyOf", "oneOf"] {
        if let Some(Value::Array(arms)) = schema.get_mut(combined) {
            arms.retain(|arm| arm.get("type") != Some(&Value::from("null")));
            if let [only] = arms.as_slice() {
                let only = only.as_object().cloned().unwrap_or_default();
                schema.remove(combined);
                for (key, value) in only {
                    schema.entry(key).or_insert(value);
                }
            }
        }
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(constants)) = schema.get_mut("enum") {
        constants.retain(|constant| !constant.is_null());
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    schema.remove("format");
    for (key, value) in schema.iter_mut() {
        match value {
            Value::Object(children) if key == "properties" => {
                children.values_mut().filter_map(Value::as_object_mut).for_each(plain);
            }
            Value::Object(child) if key == "items" => plain(child),
            _ => {}
        }
    }
}
