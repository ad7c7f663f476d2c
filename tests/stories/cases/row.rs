//! One row of the corpus, as it is written.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// One attack or control, and how it has to end.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) area: String,
    pub(crate) input: Value,
    pub(crate) expected: Expected,
}

/// How it has to end.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Expected {
    #[serde(rename = "do")]
    pub(crate) act: String,
    #[serde(default)]
    pub(crate) reason: Option<String>,
    #[serde(default)]
    pub(crate) signed: usize,
    #[serde(default)]
    pub(crate) ledger: Option<String>,
}

impl Row {
    /// Every row; `None` where there is no corpus.
    pub(crate) fn all(corpus: &Path) -> Option<Vec<Self>> {
        let text = fs::read_to_string(corpus.join("cases.jsonl")).ok()?;
        let row = |line: &str| serde_json::from_str(line).unwrap_or_else(|fault| panic!("{fault} in {line}"));
        Some(text.lines().filter(|line| !line.trim().is_empty()).map(row).collect())
    }

    /// A row of our own: what is given, what is done, and how many signatures there may be.
    pub(crate) fn ours(area: &str, input: Value, act: &str, signed: usize) -> Self {
        let expected = Expected { act: act.to_owned(), reason: None, signed, ledger: None };
        Self { id: format!("our {act}"), area: area.to_owned(), input, expected }
    }

    /// The text at `pointer` of the input.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.input.pointer(pointer).and_then(Value::as_str)
    }

    /// The texts of the list at `pointer` of the input.
    pub(crate) fn texts(&self, pointer: &str) -> Vec<String> {
        let list = self.input.pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Whether the row expects one of `codes`.
    pub(crate) fn refused_with(&self, codes: &[&str]) -> Result<(), String> {
        if self.expected.act != "refuse" {
            return Err(format!("want {}, got a refusal: {codes:?}", self.expected.act));
        }
        let reason = self.expected.reason.as_deref().unwrap_or_default();
        let ours = super::names::ours(reason);
        if codes.iter().any(|code| ours.contains(code)) {
            return Ok(());
        }
        Err(format!("want `{reason}` (here one of {ours:?}), got {codes:?}"))
    }
}
