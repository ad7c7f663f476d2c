//! Strict JSON: text that every reader understands alike, or a refusal.
//!
//! The grammar is checked by `serde_json`; on top of it this file refuses what parsers disagree about: a member named
//! twice in one object, an escape that is half a character, and nesting without end. It never turns a number into a
//! float, and it never writes a value in other words than it was read.

use std::collections::{BTreeMap, BTreeSet};

use bursar_policy::{Quoted, Said};
use serde_json::value::RawValue;

/// Objects and arrays inside each other; real terms with a JSON Schema inside reach 12.
pub(super) const MAX_DEPTH: usize = 32;

/// Why a text is not JSON that can be read in exactly one way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// The bytes are not UTF-8, or start with a byte order mark.
    #[error("is not plain UTF-8 text")]
    NotUtf8,
    /// The text breaks the grammar of RFC 8259, or something follows the one value.
    #[error("is not valid JSON")]
    Syntax,
    /// A string holds an escape that is half of a surrogate pair.
    #[error("holds half of a character")]
    HalfCharacter,
    /// Objects and arrays are nested deeper than 32 levels.
    #[error("is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// An object names this member twice (its first 20 characters, escaped).
    #[error("names the member `{0}` twice")]
    Duplicate(Quoted),
}

/// Checks that `bytes` are one JSON value that can be read in one way only, and returns it as text.
///
/// # Errors
///
/// Returns the first [`JsonFault`] met.
pub(crate) fn check(bytes: &[u8]) -> Result<&str, JsonFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| JsonFault::NotUtf8)?;
    if text.starts_with('\u{feff}') {
        return Err(JsonFault::NotUtf8);
    }
    // The grammar first: what follows may then take every quote, brace and comma for what it seems to be.
    serde_json::from_str::<&RawValue>(text).map_err(|_| JsonFault::Syntax)?;
    check_names_and_depth(text)?;
    Ok(text.trim_matches([' ', '\t', '\r', '\n']))
}

/// Walks grammatical JSON once, keeping for each open object the names it has used.
fn check_names_and_depth(text: &str) -> Result<(), JsonFault> {
    // An array is `None`: it has no names.
    let mut open: Vec<Option<BTreeSet<String>>> = Vec::new();
    let mut name_expected = false;
    let mut strings = Strings::default();
    for (at, byte) in text.bytes().enumerate() {
        if let Some(string) = strings.step(text, at, byte) {
            let name = serde_json::from_str::<String>(string).map_err(|_| JsonFault::HalfCharacter)?;
            if let (true, Some(Some(names))) = (name_expected, open.last_mut()) {
                if names.contains(&name) {
                    return Err(JsonFault::Duplicate(Quoted::of(&name.chars().take(20).collect::<String>())));
                }
                names.insert(name);
            }
            continue;
        }
        if strings.inside() {
            continue;
        }
        match byte {
            b'{' | b'[' => {
                if open.len() >= MAX_DEPTH {
                    return Err(JsonFault::TooDeep);
                }
                name_expected = byte == b'{';
                open.push(name_expected.then(BTreeSet::new));
            }
            b'}' | b']' => {
                open.pop();
                name_expected = false;
            }
            b',' => name_expected = matches!(open.last(), Some(Some(_))),
            b':' => name_expected = false,
            _ => {}
        }
    }
    Ok(())
}

/// Where the strings of a grammatical JSON text begin and end.
#[derive(Default)]
struct Strings {
    start: Option<usize>,
    escaped: bool,
}

impl Strings {
    /// Takes the next byte; returns the whole string, quotes included, when this byte closes one.
    fn step<'a>(&mut self, text: &'a str, at: usize, byte: u8) -> Option<&'a str> {
        let Some(start) = self.start else {
            if byte == b'"' {
                self.start = Some(at);
            }
            return None;
        };
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.start = None;
            return text.get(start..=at);
        }
        None
    }

    const fn inside(&self) -> bool {
        self.start.is_some()
    }
}

/// The same value without the spaces and line breaks between its tokens. Expects checked text; order of members,
/// escapes and the digits of numbers stay as they are.
pub(super) fn compact(text: &str) -> String {
    let mut strings = Strings::default();
    let mut short = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        // Only ASCII bytes matter to `Strings`; any other character is passed as a byte that means nothing.
        let byte = u8::try_from(character).ok().filter(u8::is_ascii).unwrap_or(b'x');
        let closed = strings.step(text, at, byte).is_some();
        if closed || strings.inside() || !character.is_ascii_whitespace() {
            short.push(character);
        }
    }
    short
}

/// The members of one object of a checked text, each as the text it was sent as.
pub(crate) struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    /// The members of `text`; `None` when it is not an object.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// The text of a member; `None` when there is none. An explicit `null` is the text `null`.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|raw| raw.get())
    }

    /// The text of a member that is neither absent nor `null`.
    pub(crate) fn present(&self, name: &str) -> Option<&'a str> {
        self.text(name).filter(|text| *text != "null")
    }

    /// A member in the loose form that the judge takes.
    pub(super) fn said(&self, name: &str) -> Said {
        self.text(name).map_or(Said::Absent, said)
    }

    /// A member that is an object.
    pub(crate) fn object(&self, name: &str) -> Option<Members<'a>> {
        self.text(name).and_then(Members::of)
    }

    /// All members in the order of their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, raw)| (name.as_str(), raw.get()))
    }
}

/// The items of an array of a checked text, each as it was sent; `None` when it is not an array.
pub(crate) fn items(text: &str) -> Option<Vec<&str>> {
    let raw: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(raw.into_iter().map(RawValue::get).collect())
}

/// What kind of value a checked text is, with the words of a string and the digits of a number kept.
pub(super) fn said(text: &str) -> Said {
    match text.bytes().next() {
        Some(b'"') => serde_json::from_str(text).map_or(Said::Other("broken text"), Said::Text),
        Some(b'-' | b'0'..=b'9') => Said::Number(text.to_owned()),
        Some(b'n') => Said::Null,
        Some(b't') => Said::Other("true"),
        Some(b'f') => Said::Other("false"),
        Some(b'{') => Said::Other("an object"),
        Some(b'[') => Said::Other("an array"),
        _ => Said::Other("nothing"),
    }
}

/// `text` as a JSON string, quotes included.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
