//! The check of a profile's ledger beside its vault, for the terminal and for the console. Must never take the vault's word for
//! it, nor check a ledger that was set back as if it were the one that was here.

use bursar_vault::ledger::{Books, Inspector, Kept, LedgerFault, Progress};
use bursar_vault::ledger_place::{self, PlaceFault};
use bursar_vault::profile::{Profile, ProfileFault};

/// Why the ledger is not in order, or cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotInOrder {
    /// It is out of this user's reach.
    #[error(transparent)]
    Profile(#[from] ProfileFault),
    /// Nobody knows where it is.
    #[error(transparent)]
    Place(#[from] PlaceFault),
    /// It cannot be read, or does not fit.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
    /// It is an older state of the one that was here.
    #[error("the ledger is not the one that was here: {0}; see `bursar ledger verify`")]
    SetBack(String),
}

/// Opens the profile's ledger to look at it.
///
/// # Errors
///
/// [`NotInOrder`], never that it was set back.
pub(crate) fn inspector(profile: &Profile) -> Result<Inspector, NotInOrder> {
    profile.check_vault()?;
    Ok(Inspector::open(&ledger_place::of(profile)?)?)
}

/// Checks every event, payment, total and checkpoint; the ledger's id, and what was in order.
///
/// # Errors
///
/// [`NotInOrder`], with the first thing that does not fit.
pub(crate) fn verified(
    profile: &Profile,
    kept: Kept,
    told: &mut dyn FnMut(Progress),
) -> Result<(String, Books), NotInOrder> {
    let inspector = inspector(profile)?;
    if let Some(why) = inspector.set_back() {
        return Err(NotInOrder::SetBack(why.to_owned()));
    }
    Ok((inspector.identity().ledger.clone(), inspector.verify(kept, told)?))
}

/// How far a check has come: so many of so many, of what.
pub(crate) const fn come_to(progress: Progress) -> (u64, u64, &'static str) {
    match progress {
        Progress::Events(done, all) => (done, all, "events"),
        Progress::Payments(done, all) => (done, all, "payments"),
    }
}
