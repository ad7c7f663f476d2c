//! What a person does to a ledger while no vault runs: recover a damaged one, restore a backup. Must never begin without
//! the operator's passphrase, and never while a vault has the ledger.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use thiserror::Error;

use crate::clock::MachineTime;
use crate::keystore::{Keystore, KeystoreFault};
use crate::ledger::{self, Begun, Books, LedgerFault, Lock};
use crate::passphrase::{Gatekeeper, PassphraseFault, Proven};
use crate::profile::{Profile, ProfileFault};
use crate::protocol::Passphrase;

/// Why nothing was done. One sentence each, with the next step.
#[derive(Debug, Error)]
pub enum ByHandFault {
    /// The folder cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileFault),
    /// The operator was not recognised.
    #[error(transparent)]
    Passphrase(#[from] PassphraseFault),
    /// The keystore cannot be used.
    #[error(transparent)]
    Keystore(#[from] KeystoreFault),
    /// The ledger or the backup cannot be used, or a vault has the ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
}

/// Writes a copy of the ledger, sealed with a passphrase, to the new file `out`. A vault may be running; needs no
/// passphrase of the operator, because whoever may read the ledger may copy it.
///
/// # Errors
///
/// [`ByHandFault`]; then `out` is of no use.
pub fn back_up(profile: &Profile, sealed_with: &Passphrase, out: &mut File) -> Result<Books, ByHandFault> {
    profile.check_vault()?;
    Ok(ledger::write_backup(&profile.ledger_place(), sealed_with, out)?)
}

/// Makes a backup the ledger of this profile and begins an epoch in it: every session is closed, and every payment that was
/// open counts as spent. The keystore has to name that ledger, and a ledger that is here has to be an earlier state of it.
///
/// # Errors
///
/// [`ByHandFault`]; then nothing was changed.
pub fn restore(
    profile: &Profile,
    operator: &Passphrase,
    backup: &Path,
    sealed_with: &Passphrase,
) -> Result<Begun, ByHandFault> {
    let (lock, _proven) = alone(profile, operator)?;
    let ledger = Keystore::ledger_of(&profile.keystore(), profile.setting())?;
    Ok(lock.restore(&profile.ledger_place(), &ledger, backup, sealed_with, Box::new(MachineTime))?)
}

/// Rebuilds the damaged ledger of this profile from what can be read of it and proved, and begins an epoch in it; the damaged
/// files are kept.
///
/// # Errors
///
/// [`ByHandFault`]; then nothing was changed.
pub fn recover(profile: &Profile, operator: &Passphrase) -> Result<Begun, ByHandFault> {
    let (lock, _proven) = alone(profile, operator)?;
    Ok(lock.recover(&profile.ledger_place(), Box::new(MachineTime))?)
}

/// Keeps vaults out, and then asks who it is: a wrong passphrase counts here as it does in a vault.
fn alone(profile: &Profile, operator: &Passphrase) -> Result<(Lock, Proven), ByHandFault> {
    profile.check_vault()?;
    let lock = Lock::take(&profile.lock())?;
    let gatekeeper = Gatekeeper::open(profile.verifier(), profile.attempts(), Instant::now())?;
    let proven = gatekeeper.prove(operator, Instant::now())?;
    Ok((lock, proven))
}
