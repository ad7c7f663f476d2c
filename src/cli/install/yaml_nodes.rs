//! A YAML document as nodes that know where they stand in the text. Reads one document, and nothing that names another.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Value};

use super::edit::{EditFault, Format, line_of};

/// One node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where it begins, in bytes.
    pub(super) from: usize,
    /// Where it ends, in bytes; of a block the end of what is last in it.
    pub(super) to: usize,
    /// The characters before it in its line.
    pub(super) column: usize,
    pub(super) content: Content,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Scalar(Value),
    Map(Layout, Vec<(Node, Node)>),
    List(Layout, Vec<Node>),
}

/// How a collection is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// By indentation.
    Block,
    /// In brackets.
    Flow,
}

impl Node {
    /// What it means.
    pub(super) fn value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(_, items) => Value::Array(items.iter().map(Self::value).collect()),
            Content::Map(_, members) => {
                Value::Object(members.iter().map(|(key, value)| (key.key(), value.value())).collect::<Map<_, _>>())
            }
        }
    }

    /// What it means as a key.
    pub(super) fn key(&self) -> String {
        match self.value() {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// The member of this map that is called `name`.
    pub(super) fn member(&self, name: &str) -> Option<&(Self, Self)> {
        match &self.content {
            Content::Map(_, members) => members.iter().find(|(key, _)| key.key() == name),
            _ => None,
        }
    }
}

/// A collection that is not closed yet.
struct Open {
    from: usize,
    column: usize,
    layout: Layout,
    kind: Kind,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Map,
    List,
}

/// The one document of the text; `None` where it is empty.
pub(super) fn parse(text: &str) -> Result<Option<Node>, EditFault> {
    let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let byte = |characters: usize| offsets.get(characters).copied().unwrap_or(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut documents = 0_u32;
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|fault| unreadable(text, byte(fault.marker().index()), fault.info()))?;
        let from = byte(span.start.index());
        let done = match event {
            Event::DocumentStart(_) => {
                documents = documents.saturating_add(1);
                if 1 < documents {
                    return Err(unreadable(text, from, "a second document begins"));
                }
                None
            }
            Event::MappingStart(..) => {
                open.push(opened(text, from, &span, Kind::Map));
                None
            }
            Event::SequenceStart(..) => {
                open.push(opened(text, from, &span, Kind::List));
                None
            }
            Event::MappingEnd | Event::SequenceEnd => match open.pop() {
                Some(closing) => Some(closed(text, closing, byte(span.end.index()))?),
                None => None,
            },
            Event::Scalar(value, style, ..) => {
                let to = end_of_scalar(text, from, byte(span.end.index()), style);
                let content = Content::Scalar(if style == ScalarStyle::Plain {
                    resolved(&value)
                } else {
                    Value::String(value.into_owned())
                });
                Some(Node { from, to, column: span.start.col(), content })
            }
            Event::Alias(anchor) => {
                // Kept apart from every text by a character that no text can hold unescaped.
                let content = Content::Scalar(Value::String(format!("\0*{anchor}")));
                Some(Node { from, to: byte(span.end.index()), column: span.start.col(), content })
            }
            Event::StreamEnd => break,
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => None,
        };
        if let Some(node) = done {
            match open.last_mut() {
                Some(parent) => parent.nodes.push(node),
                None => root = Some(node),
            }
        }
    }
    Ok(root)
}

fn unreadable(text: &str, at: usize, said: &str) -> EditFault {
    EditFault::Unreadable { line: line_of(text, at), format: Format::Yaml.name(), said: said.to_owned() }
}

fn opened(text: &str, from: usize, span: &Span, kind: Kind) -> Open {
    let is_flow = text.get(from..).is_some_and(|rest| rest.starts_with(['{', '[']));
    let layout = if is_flow { Layout::Flow } else { Layout::Block };
    Open { from, column: span.start.col(), layout, kind, nodes: Vec::new() }
}

fn closed(text: &str, open: Open, end: usize) -> Result<Node, EditFault> {
    let Open { from, column, layout, kind, nodes } = open;
    let last = nodes.iter().map(|node| node.to).fold(from, usize::max);
    let to = if layout == Layout::Flow { end } else { last };
    let content = match kind {
        Kind::List => Content::List(layout, nodes),
        Kind::Map => Content::Map(layout, paired(text, nodes)?),
    };
    Ok(Node { from, to, column, content })
}

fn paired(text: &str, nodes: Vec<Node>) -> Result<Vec<(Node, Node)>, EditFault> {
    let mut members: Vec<(Node, Node)> = Vec::new();
    let mut nodes = nodes.into_iter();
    while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
        if members.iter().any(|(other, _)| other.key() == key.key()) {
            return Err(unreadable(text, key.from, "a key is there twice"));
        }
        members.push((key, value));
    }
    Ok(members)
}

/// A parser's end of a quoted text may lie behind the remark that follows; the text ends at its quote.
fn end_of_scalar(text: &str, from: usize, end: usize, style: ScalarStyle) -> usize {
    let written = text.get(from..end).unwrap_or_default();
    let length = match style {
        ScalarStyle::DoubleQuoted => closing(written, '"', Some('\\')),
        ScalarStyle::SingleQuoted => closing(written, '\'', None),
        _ => Some(written.trim_end().len()),
    };
    from.saturating_add(length.unwrap_or(written.len()))
}

/// The length of a quoted text at the beginning of `written`, quotes included.
fn closing(written: &str, quote: char, escape: Option<char>) -> Option<usize> {
    let mut letters = written.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if Some(letter) == escape {
            letters.next();
        } else if letter == quote {
            if escape.is_none() && letters.peek().is_some_and(|(_, next)| *next == quote) {
                letters.next();
            } else {
                return Some(at.saturating_add(quote.len_utf8()));
            }
        }
    }
    None
}

/// A plain scalar by the core schema, as far as entries have such.
fn resolved(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => text.parse::<i64>().map_or_else(|_not_whole| Value::String(text.to_owned()), Value::from),
    }
}

/// Whether a text may stand without quotes and still be this text.
pub(super) fn is_plain(text: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || "/._- ".contains(letter);
    text.trim() == text
        && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.chars().all(letters)
        && resolved(text).is_string()
        // Words that older readers take for a yes or a no.
        && !["yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str())
}
