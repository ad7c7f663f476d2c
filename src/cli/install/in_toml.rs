//! TOML, edited at the places that a parser names. Text that is not ours is copied, never written anew.

use serde_json::Value;
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table};

use super::edit::{Ask, EditFault, Format, Splice, line_end, line_of, line_start, line_stop, spliced};
use super::entry::Member;

/// What the text means.
pub(super) fn tree(text: &str) -> Result<Value, EditFault> {
    let table: toml::Table = text.parse().map_err(|fault: toml::de::Error| EditFault::Unreadable {
        line: line_of(text, fault.span().map_or(0, |span| span.start)),
        format: Format::Toml.name(),
        said: fault.message().to_owned(),
    })?;
    serde_json::to_value(table).map_err(|_fault| EditFault::NoPlace)
}

/// The text after the edit.
pub(super) fn edited(text: &str, servers: &str, name: &str, ask: Ask<'_>) -> Result<String, EditFault> {
    let document = Document::parse(text).map_err(|_fault| EditFault::NoPlace)?;
    let list = document.get(servers);
    if let Some(Item::Value(list)) = list {
        let inline = inline_table(text, |document| document.get(servers))?;
        return spliced(text, vec![in_place_of(list.span(), &with(inline, name, ask)?)?]);
    }
    let splices = match (ask, list.and_then(|list| list.get(name))) {
        (Ask::Add(members), None) => vec![appended(text, servers, name, members)],
        (Ask::Change(members), Some(Item::Table(entry))) => changed(text, entry, members)?,
        (Ask::Change(members), Some(entry)) => {
            let mut inline = inline_table(text, |document| document.get(servers)?.get(name))?;
            put(&mut inline, members);
            vec![in_place_of(entry.span(), &inline)?]
        }
        (Ask::Remove, Some(Item::Table(entry))) => {
            let mut splices = Vec::new();
            removed(text, entry, &mut splices)?;
            splices
        }
        (Ask::Remove, Some(entry)) => {
            let span = entry.span().ok_or(EditFault::NoPlace)?;
            let from = line_start(text, span.start);
            vec![Splice { from, to: line_stop(text, span.end), text: String::new() }]
        }
        _ => return Err(EditFault::NoPlace),
    };
    spliced(text, splices)
}

/// A table of its own at the end of the file, where it can be in nobody's way.
fn appended(text: &str, servers: &str, name: &str, members: &[Member]) -> Splice {
    let end = line_end(text);
    let mut table = String::new();
    if !text.is_empty() && !text.ends_with('\n') {
        table.push_str(end);
    }
    if !text.trim().is_empty() {
        table.push_str(end);
    }
    table.push_str(&format!("[{servers}.{name}]{end}"));
    for (key, value) in members {
        table.push_str(&format!("{key} = {}{end}", written(value)));
    }
    Splice { from: text.len(), to: text.len(), text: table }
}

fn changed(text: &str, entry: &Table, members: &[Member]) -> Result<Vec<Splice>, EditFault> {
    let mut splices = Vec::new();
    let mut behind = entry.span().ok_or(EditFault::NoPlace)?.end;
    for (key, value) in members {
        match entry.get(key) {
            Some(there) => {
                let span = there.span().ok_or(EditFault::NoPlace)?;
                behind = span.end;
                splices.push(Splice { from: span.start, to: span.end, text: written(value) });
            }
            None => {
                let at = line_stop(text, behind);
                splices.push(Splice {
                    from: at,
                    to: at,
                    text: format!("{key} = {}{}", written(value), line_end(text)),
                });
            }
        }
    }
    Ok(splices)
}

/// The lines of a table from its head to its last member, those of tables inside it likewise, and a blank line before.
fn removed(text: &str, entry: &Table, splices: &mut Vec<Splice>) -> Result<(), EditFault> {
    for (_, inner) in entry {
        if let Item::Table(inner) = inner {
            removed(text, inner, splices)?;
        } else if inner.is_array_of_tables() {
            return Err(EditFault::NoPlace);
        }
    }
    let Some(head) = entry.span() else {
        // Only named in the heads of tables inside it.
        return if entry.is_implicit() { Ok(()) } else { Err(EditFault::NoPlace) };
    };
    let values = entry.iter().filter(|(_, item)| item.is_value()).filter_map(|(_, item)| item.span());
    let last = values.map(|span| span.end).fold(head.end, usize::max);
    let mut from = line_start(text, head.start);
    let before = text.get(..from).unwrap_or_default();
    let shorter = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before);
    if shorter.ends_with('\n') {
        from = shorter.len();
    }
    splices.push(Splice { from, to: line_stop(text, last), text: String::new() });
    Ok(())
}

/// An inline table of the text, as one that can be changed and written.
fn inline_table(text: &str, find: impl Fn(&DocumentMut) -> Option<&Item>) -> Result<InlineTable, EditFault> {
    let document: DocumentMut = text.parse().map_err(|_fault| EditFault::NoPlace)?;
    find(&document).and_then(Item::as_inline_table).cloned().ok_or(EditFault::NoPlace)
}

/// The servers after the edit, where all of them are in one inline table.
fn with(mut servers: InlineTable, name: &str, ask: Ask<'_>) -> Result<InlineTable, EditFault> {
    match ask {
        Ask::Add(members) => {
            let mut entry = InlineTable::new();
            put(&mut entry, members);
            drop(servers.insert(name, entry.into()));
        }
        Ask::Change(members) => {
            let entry = servers.get_mut(name).and_then(toml_edit::Value::as_inline_table_mut);
            put(entry.ok_or(EditFault::NoPlace)?, members);
        }
        Ask::Remove => drop(servers.remove(name)),
    }
    Ok(servers)
}

fn in_place_of(span: Option<std::ops::Range<usize>>, inline: &InlineTable) -> Result<Splice, EditFault> {
    let span = span.ok_or(EditFault::NoPlace)?;
    Ok(Splice { from: span.start, to: span.end, text: inline.to_string().trim().to_owned() })
}

fn put(table: &mut InlineTable, members: &[Member]) {
    for (key, value) in members {
        drop(table.insert(*key, in_toml(value)));
    }
}

fn written(value: &Value) -> String {
    in_toml(value).to_string().trim().to_owned()
}

/// Entries hold texts, flags and lists of texts; anything else is written as the text of its JSON.
fn in_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Array(items) => toml_edit::Value::Array(items.iter().map(in_toml).collect::<Array>()),
        other => other.to_string().into(),
    }
}
