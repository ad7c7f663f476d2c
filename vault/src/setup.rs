//! Makes a profile: rules, passphrase check, ledger, key, in that order. Must never overwrite one that is complete.
//!
//! The key is written last and completes the profile. An interrupted setup is simply run again: it keeps the empty
//! ledger that was made and starts the rest anew. A ledger that has ever counted for a key is never reused.

use crate::clock::MachineTime;
use crate::guarded::{self, GuardFault};
use crate::keystore::{self, KeystoreFault};
use crate::ledger::{KeyFile, Ledger, LedgerFault};
use crate::ledger_place::{self, PlaceFault};
use crate::passphrase::{self, PassphraseFault};
use crate::profile::{Profile, ProfileFault};
use crate::protocol::Passphrase;
use crate::rules_file::{self, TextFault};
use crate::sign::{Key, SignFault};
use bursar_policy::{Address, Digest, Rules, Setting};
use std::path::Path;
use thiserror::Error;
use zeroize::Zeroizing;

/// Where the key comes from.
#[derive(Debug)]
pub enum NewKey {
    /// From the system's randomness.
    Generated,
    /// From what a person typed; never in a sandbox.
    Imported(Typed),
}

/// What a person typed at a terminal: wiped when dropped, never shown.
pub struct Typed(Zeroizing<String>);

impl Typed {
    /// Takes it.
    #[must_use]
    pub const fn new(typed: Zeroizing<String>) -> Self {
        Self(typed)
    }
}

impl core::fmt::Debug for Typed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Typed(withheld)")
    }
}

/// Who unlocks the key after a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlocking {
    /// A person types the passphrase.
    ByPerson,
    /// The vault reads a passphrase file (mode 0600). The keystore then has a random passphrase of its own, so that the
    /// file does not hold the operator's.
    ByFile,
}

/// Why a profile was not made.
#[derive(Debug, Error)]
pub enum SetupFault {
    /// The directory cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileFault),
    /// A file cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
    /// The rules are refused.
    #[error("the rules are refused: {0}")]
    Rules(#[from] TextFault),
    /// The passphrase is refused.
    #[error(transparent)]
    Passphrase(#[from] PassphraseFault),
    /// The key is refused.
    #[error(transparent)]
    Keystore(#[from] KeystoreFault),
    /// No key can be made.
    #[error(transparent)]
    Sign(#[from] SignFault),
    /// It cannot be said which ledger it is.
    #[error(transparent)]
    Place(#[from] PlaceFault),
    /// The ledger is refused.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
}

/// Makes a profile and returns the paying account.
///
/// # Errors
///
/// [`SetupFault`]. A profile with a key is complete and never touched; everything else can be run again.
pub fn initialise(
    profile: &Profile,
    rules_text: &str,
    key: NewKey,
    operator: &Passphrase,
    unlocking: Unlocking,
) -> Result<Address, SetupFault> {
    let setting = profile.setting();
    let rules = rules_file::parse(rules_text, setting)?;
    passphrase::acceptable(operator, setting)?;
    let key = match key {
        NewKey::Generated => Key::generate()?,
        NewKey::Imported(_) if setting == Setting::Sandbox => return Err(KeystoreFault::ImportInSandbox.into()),
        NewKey::Imported(typed) => keystore::parse_key(&typed.0)?,
    };
    profile.create()?;
    if is_there(&profile.keystore()) {
        return Err(GuardFault::Exists { path: profile.keystore() }.into());
    }
    guarded::make_directory(&profile.content_dir())?;

    let ledger_id = ledger_for(profile, &rules)?;
    guarded::replace(&profile.rules(), rules_text.as_bytes())?;
    passphrase::replace(&profile.verifier(), operator, setting)?;
    guarded::replace(&profile.attempts(), b"0")?;
    guarded::replace(&profile.accepted_rules(), Digest::of(rules_text.as_bytes()).to_string().as_bytes())?;
    let filed = match unlocking {
        Unlocking::ByPerson => None,
        Unlocking::ByFile => Some(random_passphrase()?),
    };
    if let Some(filed) = &filed {
        guarded::replace(&profile.passphrase_file(), filed.expose())?;
    }
    keystore::create(&profile.keystore(), &key, filed.as_ref().unwrap_or(operator), setting, &ledger_id)?;
    Ok(key.address())
}

/// The id of the ledger beside a profile: a new one, or the unused one that an interrupted setup left.
fn ledger_for(profile: &Profile, rules: &Rules) -> Result<String, SetupFault> {
    let place = ledger_place::by(profile, rules)?;
    let opened = match Ledger::open(&place, Box::new(MachineTime)) {
        Err(LedgerFault::Missing { .. } | LedgerFault::NoLedger { .. }) => {
            let mut id = [0_u8; 16];
            getrandom::fill(&mut id).map_err(|_fault| SignFault::NoRandomness)?;
            Ledger::create(&place, KeyFile::Absent, id, Box::new(MachineTime))?;
            Ledger::open(&place, Box::new(MachineTime))
        }
        opened => opened,
    };
    let ledger = opened?;
    if ledger.key_address()?.is_some() {
        let taken = place
            .server
            .map_or(LedgerFault::Exists { path: place.file }, |server| LedgerFault::Taken { shown: server.shown() });
        return Err(taken.into());
    }
    Ok(ledger.id().to_owned())
}

fn random_passphrase() -> Result<Passphrase, SetupFault> {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    getrandom::fill(bytes.as_mut()).map_err(|_fault| SignFault::NoRandomness)?;
    Ok(Passphrase::new(Zeroizing::new(hex::encode(bytes.as_slice()))))
}

fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
