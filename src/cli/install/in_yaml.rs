//! YAML, edited line by line at the places that a parser names: there is no library that changes a YAML file and keeps it
//! as it was. Only what is laid out by indentation is edited; what is not finds no place, and the file stays.

use serde_json::Value;

use super::client::Keeping;
use super::edit::{Ask, EditFault, Splice, line_end, line_start, line_stop, spliced};
use super::entry::Member;
use super::yaml_nodes::{Content, Layout, Node, is_plain, parse};

/// How far one level is indented where the file does not show it.
const STEP: usize = 2;

/// What the text means; null where it is empty.
pub(super) fn tree(text: &str) -> Result<Value, EditFault> {
    Ok(parse(text)?.map_or(Value::Null, |root| root.value()))
}

/// The text after the edit.
pub(super) fn edited(
    text: &str,
    servers: &str,
    keeping: Keeping,
    name: &str,
    ask: Ask<'_>,
) -> Result<String, EditFault> {
    let root = parse(text)?;
    let list = root.as_ref().and_then(|root| root.member(servers));
    let splices = match (ask, list) {
        (Ask::Add(members), None) => vec![appended(text, root.as_ref(), servers, keeping, &(name, members))?],
        (Ask::Add(members), Some(list)) => added(text, list, keeping, &(name, members))?,
        (Ask::Change(members), Some((_, list))) => changed(text, entry(list, name)?.1, members)?,
        (Ask::Remove, Some(list)) => removed(text, list, keeping, name)?,
        _ => return Err(EditFault::NoPlace),
    };
    spliced(text, splices)
}

/// The servers with one entry, at the end of the file.
fn appended(
    text: &str,
    root: Option<&Node>,
    servers: &str,
    keeping: Keeping,
    entry: &(&str, &[Member]),
) -> Result<Splice, EditFault> {
    let column = match root.map(|root| (&root.content, root.column)) {
        None | Some((Content::Scalar(Value::Null), _)) => 0,
        Some((Content::Map(Layout::Block, _), column)) => column,
        Some(_) => return Err(EditFault::NoPlace),
    };
    let end = line_end(text);
    let mut lines = if text.is_empty() || text.ends_with('\n') { String::new() } else { end.to_owned() };
    lines.push_str(&format!("{}{servers}:{end}", " ".repeat(column)));
    lines.push_str(&written(entry, keeping, column.saturating_add(STEP), STEP, end));
    Ok(Splice { from: text.len(), to: text.len(), text: lines })
}

/// The entry in front of the others, right below the key of the servers.
fn added(
    text: &str,
    (key, list): &(Node, Node),
    keeping: Keeping,
    entry: &(&str, &[Member]),
) -> Result<Vec<Splice>, EditFault> {
    let below = line_stop(text, key.to);
    let is_below = |first: &Node| (below <= first.from).then_some(()).ok_or(EditFault::NoPlace);
    let mut splices = Vec::new();
    let (column, step) = match (&list.content, keeping) {
        (Content::Map(Layout::Block, members), Keeping::ByName) => {
            let (first, inside) = members.first().ok_or(EditFault::NoPlace)?;
            is_below(first)?;
            let step = match &inside.content {
                Content::Map(Layout::Block, _) => inside.column.saturating_sub(first.column),
                _ => STEP,
            };
            (first.column, step.max(1))
        }
        (Content::List(Layout::Block, items), Keeping::Listed) => {
            let first = items.first().ok_or(EditFault::NoPlace)?;
            is_below(first)?;
            (dash(text, first)?, STEP)
        }
        (Content::Map(Layout::Flow, members), _) if members.is_empty() => (key.column.saturating_add(STEP), STEP),
        (Content::List(Layout::Flow, items), _) if items.is_empty() => (key.column.saturating_add(STEP), STEP),
        (Content::Scalar(Value::Null), _) => (key.column.saturating_add(STEP), STEP),
        _ => return Err(EditFault::NoPlace),
    };
    if !matches!(list.content, Content::Map(Layout::Block, _) | Content::List(Layout::Block, _)) && list.from < list.to
    {
        // An empty list makes room.
        splices.push(Splice { from: colon(text, key)?, to: list.to, text: ":".to_owned() });
    }
    let end = line_end(text);
    let mut lines = written(entry, keeping, column, step, end);
    if text.get(..below).is_some_and(|before| !before.ends_with('\n')) {
        lines.insert_str(0, end);
    }
    splices.push(Splice { from: below, to: below, text: lines });
    Ok(splices)
}

fn changed(text: &str, entry: &Node, members: &[Member]) -> Result<Vec<Splice>, EditFault> {
    let Content::Map(Layout::Block, there) = &entry.content else { return Err(EditFault::NoPlace) };
    let mut splices = Vec::new();
    let mut behind = there.first().map_or(entry.from, |(key, _)| key.to);
    for (name, value) in members {
        let line = format!("{name}: {}", in_line(value));
        match entry.member(name) {
            Some((_, found)) if found.value() == *value => behind = found.to,
            Some((key, found)) => {
                behind = found.to;
                splices.push(Splice { from: key.from, to: found.to.max(key.to), text: line });
            }
            None => {
                let at = line_stop(text, behind);
                let indent = " ".repeat(entry.column);
                splices.push(Splice { from: at, to: at, text: format!("{indent}{line}{}", line_end(text)) });
            }
        }
    }
    Ok(splices)
}

fn removed(text: &str, (key, list): &(Node, Node), keeping: Keeping, name: &str) -> Result<Vec<Splice>, EditFault> {
    let (from, entry) = entry(list, name)?;
    let from = line_start(text, from);
    let mut splices = vec![Splice { from, to: line_stop(text, entry.to), text: String::new() }];
    let is_last = match &list.content {
        Content::Map(Layout::Block, members) => members.len() == 1,
        Content::List(Layout::Block, items) => items.len() == 1,
        _ => return Err(EditFault::NoPlace),
    };
    if is_last {
        // Nothing at all would mean null, which is no list of servers.
        let at = colon(text, key)?;
        let empty = if keeping == Keeping::ByName { ": {}" } else { ": []" };
        splices.push(Splice { from: at, to: at.saturating_add(1), text: empty.to_owned() });
    }
    Ok(splices)
}

/// Where the entry `name` begins, and what it holds.
fn entry<'n>(list: &'n Node, name: &str) -> Result<(usize, &'n Node), EditFault> {
    let found = match &list.content {
        Content::Map(..) => list.member(name).map(|(key, value)| (key.from, value)),
        Content::List(_, items) => items.iter().find_map(|item| {
            let (_, named) = item.member("name")?;
            (named.value() == name).then_some((item.from, item))
        }),
        Content::Scalar(_) => None,
    };
    found.ok_or(EditFault::NoPlace)
}

/// The lines of a new entry.
fn written((name, members): &(&str, &[Member]), keeping: Keeping, column: usize, step: usize, end: &str) -> String {
    let indent = " ".repeat(column);
    let inner = " ".repeat(step);
    let mut lines = String::new();
    if keeping == Keeping::ByName {
        lines.push_str(&format!("{indent}{name}:{end}"));
    }
    for (row, (key, value)) in members.iter().enumerate() {
        let lead = if keeping == Keeping::Listed && row == 0 { "- " } else { &inner };
        lines.push_str(&format!("{indent}{lead}{key}: {}{end}", in_line(value)));
    }
    lines
}

/// A value in one line: as it is where that is safe, or else as JSON, which YAML takes too.
fn in_line(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// The column of the dash in front of a list's item.
fn dash(text: &str, item: &Node) -> Result<usize, EditFault> {
    let line = text.get(line_start(text, item.from)..item.from).ok_or(EditFault::NoPlace)?;
    let column = line.find('-').ok_or(EditFault::NoPlace)?;
    if line.replacen('-', " ", 1).trim().is_empty() { Ok(column) } else { Err(EditFault::NoPlace) }
}

/// Where the colon behind a key is.
fn colon(text: &str, key: &Node) -> Result<usize, EditFault> {
    let rest = text.get(key.to..).ok_or(EditFault::NoPlace)?;
    let at = rest.find(':').ok_or(EditFault::NoPlace)?;
    Ok(key.to.saturating_add(at))
}
