//! One finding of the doctor's: what was looked at, how it is, and what mends it.

use serde::Serialize;

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// As it should be.
    Pass,
    /// It works, and somebody should think about it.
    Warn,
    /// Payments cannot work like this, or something is open that must not be.
    Fail,
}

/// One finding.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    /// What it is about, a stable word.
    pub(super) about: &'static str,
    pub(super) verdict: Verdict,
    /// One sentence.
    pub(super) says: String,
    /// The command, or what else a person does about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

/// The order in which people are told; what belongs together stands together.
const ORDER: [&str; 23] = [
    "environment",
    "clock",
    "dns",
    "proxy",
    "tls",
    "profile",
    "files",
    "keystore",
    "rules",
    "ledger",
    "vault",
    "layer",
    "confinement",
    "key",
    "session",
    "freeze",
    "approvals",
    "quarantine",
    "settlement",
    "rpc",
    "balance",
    "clients",
    "rivals",
];

/// Findings.
#[derive(Debug, Default)]
pub(super) struct Lines(pub(super) Vec<Line>);

impl Lines {
    pub(super) fn pass(&mut self, about: &'static str, says: impl Into<String>) {
        self.0.push(Line { about, verdict: Verdict::Pass, says: says.into(), fix: None });
    }

    pub(super) fn warn(&mut self, about: &'static str, says: impl Into<String>, fix: impl Into<String>) {
        self.0.push(Line { about, verdict: Verdict::Warn, says: says.into(), fix: Some(fix.into()) });
    }

    pub(super) fn fail(&mut self, about: &'static str, says: impl Into<String>, fix: impl Into<String>) {
        self.0.push(Line { about, verdict: Verdict::Fail, says: says.into(), fix: Some(fix.into()) });
    }

    /// In the order for people; those about one thing stay as they were made.
    pub(super) fn in_order(mut self) -> Vec<Line> {
        let place = |line: &Line| ORDER.iter().position(|about| *about == line.about);
        self.0.sort_by_key(|line| place(line).unwrap_or(ORDER.len()));
        self.0
    }

    /// The gravest verdict.
    pub(super) fn worst(&self) -> Verdict {
        self.0.iter().map(|line| line.verdict).max().unwrap_or(Verdict::Pass)
    }
}
