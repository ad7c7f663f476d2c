//! The check of the ledger, as `bursar audit verify` makes it: beside the vault, in a thread of its own, one at a time. Must never
//! take the vault's word for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bursar_vault::ledger::{Kept, Progress};
use bursar_vault::profile::Profile;
use serde::Serialize;

use super::shown::Shown;
use crate::{books, clock, spelling};

/// How the last check stands.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub(super) enum Check {
    /// Nobody asked for one.
    Never,
    /// It is being made.
    Running { done: u64, all: u64, what: &'static str },
    /// Everything fits.
    InOrder { at_s: u64, events: u64, payments: u64, epoch: u64, head: Shown, signed_to: Option<u64> },
    /// Something does not fit, or the ledger cannot be looked at.
    Not { at_s: u64, says: Shown },
}

/// The one check of this process.
#[derive(Clone, Debug)]
pub(super) struct Checker(Arc<Mutex<Check>>);

impl Checker {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Check::Never)))
    }

    /// How it stands.
    pub(super) fn now(&self) -> Check {
        self.lock().clone()
    }

    /// Starts a check, unless one is being made.
    pub(super) fn start(&self, profile: &Profile) {
        {
            let mut check = self.lock();
            if matches!(*check, Check::Running { .. }) {
                return;
            }
            *check = Check::Running { done: 0, all: 0, what: "events" };
        }
        let (inside, profile) = (self.clone(), profile.clone());
        let work = move || {
            let ended = match books::verified(&profile, Kept::default(), &mut |progress| inside.tell(progress)) {
                Ok((_ledger, books)) => Check::InOrder {
                    at_s: clock::now_s(),
                    events: books.events,
                    payments: books.payments,
                    epoch: books.epoch,
                    head: Shown::of(&books.head),
                    signed_to: books.signed.map(|signed| signed.checkpoint.seq),
                },
                Err(fault) => {
                    let says = Shown::of(&spelling::advice(&profile, &fault.to_string()));
                    Check::Not { at_s: clock::now_s(), says }
                }
            };
            *inside.lock() = ended;
        };
        if let Err(fault) = std::thread::Builder::new().name("check".to_owned()).spawn(work) {
            *self.lock() = Check::Not { at_s: clock::now_s(), says: Shown::of(&fault) };
        }
    }

    fn tell(&self, progress: Progress) {
        let (done, all, what) = books::come_to(progress);
        *self.lock() = Check::Running { done, all, what };
    }

    fn lock(&self) -> MutexGuard<'_, Check> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
