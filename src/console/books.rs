//! The check of the ledger, as `bursar audit verify` makes it: beside the vault, in a thread of its own, one at a time. Must never
//! take the vault's word for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bursar_vault::ledger::{Books, Inspector, Kept, Progress};
use bursar_vault::ledger_place;
use bursar_vault::profile::Profile;
use serde::Serialize;

use super::shown::Shown;
use crate::clock;

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
            let ended = match verified(&profile, &mut |progress| inside.tell(progress)) {
                Ok(books) => Check::InOrder {
                    at_s: clock::now_s(),
                    events: books.events,
                    payments: books.payments,
                    epoch: books.epoch,
                    head: Shown::of(&books.head),
                    signed_to: books.signed.map(|signed| signed.checkpoint.seq),
                },
                Err(says) => Check::Not { at_s: clock::now_s(), says: Shown::of(&says) },
            };
            *inside.lock() = ended;
        };
        if let Err(fault) = std::thread::Builder::new().name("check".to_owned()).spawn(work) {
            *self.lock() = Check::Not { at_s: clock::now_s(), says: Shown::of(&fault) };
        }
    }

    fn tell(&self, progress: Progress) {
        let (done, all, what) = match progress {
            Progress::Events(done, all) => (done, all, "events"),
            Progress::Payments(done, all) => (done, all, "payments"),
        };
        *self.lock() = Check::Running { done, all, what };
    }

    fn lock(&self) -> MutexGuard<'_, Check> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn verified(profile: &Profile, told: &mut dyn FnMut(Progress)) -> Result<Books, String> {
    profile.check_vault().map_err(|fault| fault.to_string())?;
    let place = ledger_place::of(profile).map_err(|fault| fault.to_string())?;
    let inspector = Inspector::open(&place).map_err(|fault| fault.to_string())?;
    if let Some(why) = inspector.set_back() {
        return Err(format!("the ledger is not the one that was here: {why}; see `bursar ledger verify`"));
    }
    inspector.verify(Kept::default(), told).map_err(|fault| fault.to_string())
}
