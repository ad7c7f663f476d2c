//! The rules file: one reader, one text, one digest. Must never take a setting from anywhere but that file.

use crate::guarded::{self, GuardFault};
use bursar_policy::{Digest, Draft, RuleFault, Rules, Setting};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

mod lines;

pub use self::lines::{Lines, Place, Table};

/// Rules in force, with the text they were read from.
#[derive(Debug)]
pub struct RulesFile {
    /// The file's text, exactly.
    pub text: String,
    /// The digest of that text.
    pub digest: Digest,
    /// What it says, shared with the work that is judged under it.
    pub rules: Arc<Rules>,
}

/// Why a text is not a set of rules.
#[derive(Debug, Error)]
pub enum TextFault {
    /// Not TOML, an unknown key, or a value of the wrong form.
    #[error("line {line}: {said}")]
    Toml {
        /// The line, from 1.
        line: usize,
        /// What is wrong, one sentence.
        said: String,
    },
    /// Every value can be read, but together they contradict each other or leave something open.
    #[error("{}{fault}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Rule {
        /// The line where a person would begin to mend it, from 1; absent when something is missing altogether.
        line: Option<usize>,
        /// What is wrong.
        fault: RuleFault,
    },
}

/// Why a rules file is not used.
#[derive(Debug, Error)]
pub enum RulesFault {
    /// The file cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
    /// It is not UTF-8.
    #[error("`{}` is not UTF-8 text (byte {at}); save it as UTF-8", path.display())]
    NotText {
        /// Its path.
        path: PathBuf,
        /// The first byte that is not.
        at: usize,
    },
    /// Its text is refused.
    #[error("`{}`: {fault}", path.display())]
    Text {
        /// Its path.
        path: PathBuf,
        /// Why.
        fault: Box<TextFault>,
    },
}

/// Reads the rules file once: the bytes that were checked are the bytes that are parsed.
///
/// # Errors
///
/// [`RulesFault`], one sentence with file and line where there is one.
pub fn load(path: &Path, setting: Setting) -> Result<RulesFile, RulesFault> {
    let bytes = guarded::read(path, guarded::FILE_MAX_BYTES)?;
    let text = core::str::from_utf8(&bytes)
        .map_err(|fault| RulesFault::NotText { path: path.to_owned(), at: fault.valid_up_to() })?
        .to_owned();
    let rules =
        parse(&text, setting).map_err(|fault| RulesFault::Text { path: path.to_owned(), fault: Box::new(fault) })?;
    Ok(RulesFile { digest: Digest::of(text.as_bytes()), text, rules: Arc::new(rules) })
}

/// Reads rules from their text, as `serve` does with the text the vault gave it.
///
/// # Errors
///
/// [`TextFault`].
pub fn parse(text: &str, setting: Setting) -> Result<Rules, TextFault> {
    Rules::new(draft(text)?, setting).map_err(|fault| {
        let line = Lines::of(text).and_then(|lines| lines.of_fault(&fault));
        TextFault::Rule { line, fault }
    })
}

/// The file as it is written, for people who want to be shown it; only [`parse`] makes rules.
///
/// # Errors
///
/// [`TextFault::Toml`].
pub fn draft(text: &str) -> Result<Draft, TextFault> {
    toml::from_str(text).map_err(|fault| {
        let at = fault.span().map_or(0, |span| span.start);
        // What two keys of a row say together is told with the place of the first row of its kind.
        let is_vague = text.get(at..).is_some_and(|rest| rest.starts_with("[["));
        let exact = Lines::of(text).filter(|_| is_vague).and_then(|lines| lines.of_limit_refused_for(fault.message()));
        TextFault::Toml { line: exact.unwrap_or_else(|| line_of(text, at)), said: sentence(fault.message()) }
    })
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count().saturating_add(1)
}

/// One line in our words; an unknown key gets the nearest known one as a suggestion.
fn sentence(message: &str) -> String {
    let one_line = spelled(&message.split_whitespace().collect::<Vec<_>>().join(" "));
    let Some(rest) = one_line.strip_prefix("unknown field `") else {
        return lowered(&one_line);
    };
    let Some((given, expected)) = rest.split_once('`') else {
        return lowered(&one_line);
    };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let nearest = known
        .iter()
        .map(|word| (distance(given, word), *word))
        .min()
        .filter(|(steps, word)| *steps <= word.len().div_euclid(2).max(1));
    match nearest {
        Some((_, word)) => format!("unknown key `{given}`; did you mean `{word}`?"),
        None if known.is_empty() => format!("unknown key `{given}`; remove it"),
        None => format!("unknown key `{given}`; the keys here are {}", known.join(", ")),
    }
}

/// The text with its control characters spelled out: a key or a value may hold any.
fn spelled(text: &str) -> String {
    let spell = |letter: char| if letter.is_control() { letter.escape_debug().to_string() } else { letter.to_string() };
    text.chars().map(spell).collect()
}

fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).take(300).collect())
}

/// Insertions, deletions and replacements between two words.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        let mut left = line.saturating_add(1);
        next.push(left);
        for ((theirs, above), diagonal) in other.iter().zip(row.iter().skip(1)).zip(&row) {
            let replaced = if *theirs == letter { *diagonal } else { diagonal.saturating_add(1) };
            left = replaced.min(above.saturating_add(1)).min(left.saturating_add(1));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
