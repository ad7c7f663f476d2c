//! Where the gate writes what it found. It must never influence a decision.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

use super::Finding;
use crate::refusal::Refusal;

/// Takes down the outcome of each rule.
pub(super) trait Notes {
    /// `rule` passed; `seen` is what was looked at, already safe to show.
    fn pass(&mut self, rule: &'static str, seen: &dyn Display);

    /// `rule` failed.
    fn fail(&mut self, rule: &'static str, refusal: Refusal);

    /// Takes down `outcome` and returns its value.
    fn check<T: Display>(&mut self, rule: &'static str, outcome: Result<T, Refusal>) -> Option<T> {
        match outcome {
            Ok(value) => {
                self.pass(rule, &value);
                Some(value)
            }
            Err(refusal) => {
                self.fail(rule, refusal);
                None
            }
        }
    }
}

/// Failures only, without a word about what passed: for deciding quickly.
#[derive(Default)]
pub(super) struct Reasons(pub(super) Vec<Refusal>);

impl Notes for Reasons {
    fn pass(&mut self, _rule: &'static str, _seen: &dyn Display) {}

    fn fail(&mut self, _rule: &'static str, refusal: Refusal) {
        self.0.push(refusal);
    }
}

/// Everything: for people.
#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Notes for Findings {
    fn pass(&mut self, rule: &'static str, seen: &dyn Display) {
        self.0.push(Finding { rule, refusal: None, note: seen.to_string() });
    }

    fn fail(&mut self, rule: &'static str, refusal: Refusal) {
        let note: String = refusal.to_string();
        self.0.push(Finding { rule, refusal: Some(refusal), note });
    }
}

/// Another one's notes, with an eye on whether anything failed.
pub(super) struct Watched<'a, N> {
    notes: &'a mut N,
    failed: bool,
}

impl<'a, N: Notes> Watched<'a, N> {
    pub(super) const fn new(notes: &'a mut N) -> Self {
        Self { notes, failed: false }
    }

    /// Whether any rule failed since it began to watch.
    pub(super) const fn failed(&self) -> bool {
        self.failed
    }
}

impl<N: Notes> Notes for Watched<'_, N> {
    fn pass(&mut self, rule: &'static str, seen: &dyn Display) {
        self.notes.pass(rule, seen);
    }

    fn fail(&mut self, rule: &'static str, refusal: Refusal) {
        self.failed = true;
        self.notes.fail(rule, refusal);
    }
}
