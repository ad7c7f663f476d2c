//! The latch: a storage or clock fault shuts the ledger for payments until a person lets it open again. Must never
//! open by itself.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether the ledger is shut, and whether the disk knows. In memory it always holds; on the disk as soon as possible.
#[derive(Debug, Default)]
pub(super) struct Latch(Mutex<State>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    reason: Option<String>,
    written: bool,
}

impl Latch {
    /// A latch as it was read from the disk.
    pub(super) fn from_disk(reason: Option<String>) -> Self {
        let written = reason.is_some();
        Self(Mutex::new(State { reason, written }))
    }

    /// Shuts it; `true` when it was open before. The first reason stays: what came later may be its consequence.
    pub(super) fn shut(&self, reason: String) -> bool {
        let mut state = self.state();
        let was_open = state.reason.is_none();
        if was_open {
            tracing::error!(reason, "the ledger is latched");
            *state = State { reason: Some(reason), written: false };
        }
        was_open
    }

    /// Takes over what another vault of the same ledger wrote down, unless this one has something that it did not yet.
    pub(super) fn follow(&self, on_disk: Option<String>) {
        let mut state = self.state();
        if state.reason.is_none() || state.written {
            *state = State { written: on_disk.is_some(), reason: on_disk };
        }
    }

    /// Opens it; only after a check, and on a person's word.
    pub(super) fn open(&self) {
        *self.state() = State::default();
    }

    /// Why it is shut; `None` when it is open.
    pub(super) fn reason(&self) -> Option<String> {
        self.state().reason.clone()
    }

    /// What the disk does not know yet.
    pub(super) fn unwritten(&self) -> Option<String> {
        let state = self.state();
        state.reason.clone().filter(|_reason| !state.written)
    }

    /// Remembers that the disk knows.
    pub(super) fn mark_written(&self) {
        self.state().written = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change above is one assignment, so there is no half of one to find.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays_until_it_is_opened() {
        let latch = Latch::default();
        assert_eq!(latch.reason(), None);
        assert!(latch.shut("the disk is full".to_owned()));
        assert!(!latch.shut("and so is the bucket".to_owned()));
        assert_eq!(latch.reason().as_deref(), Some("the disk is full"));
        assert_eq!(latch.unwritten().as_deref(), Some("the disk is full"));
        latch.mark_written();
        assert_eq!(latch.unwritten(), None);
        latch.open();
        assert_eq!(latch.reason(), None);
    }

    #[test]
    fn what_came_from_the_disk_is_not_written_again() {
        let latch = Latch::from_disk(Some("of old".to_owned()));
        assert_eq!(latch.reason().as_deref(), Some("of old"));
        assert_eq!(latch.unwritten(), None);
    }
}
