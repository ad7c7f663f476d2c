//! The operator's passphrase: proof that a human is at the terminal. Must never keep the passphrase, only a check of it.
//!
//! Five wrong answers close the door for 30 seconds, each further one for twice as long, up to an hour. The count is
//! durable before an answer is checked, so neither a crash nor a restart gives a free guess; after a restart a closed
//! door stays closed for its full time again. Elapsed time is the boot clock's: setting the wall clock opens nothing.

use crate::guarded::{self, GuardFault};
use crate::protocol::Passphrase;
use bursar_policy::Setting;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use thiserror::Error;
use zeroize::Zeroizing;

/// Wrong answers before the door closes.
const FREE_TRIES: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_secs(30);
/// Shorter than an idle vault stays: the door opens again before the vault that counts the time has left.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The longest passphrase, bytes.
pub const PASSPHRASE_MAX_BYTES: usize = 1024;
/// The shortest passphrase outside a sandbox, bytes.
pub const PASSPHRASE_MIN_BYTES: usize = 8;

/// Why a passphrase proved nothing.
#[derive(Debug, Error)]
pub enum PassphraseFault {
    /// It is not the operator's.
    #[error("that is not the operator's passphrase; {}", after_wrong(*left))]
    Wrong {
        /// Wrong answers left before the door closes.
        left: u32,
    },
    /// Too many wrong answers.
    #[error("too many wrong passphrases; wait {seconds} seconds and try again")]
    Wait {
        /// How long, seconds.
        seconds: u64,
    },
    /// It cannot be one.
    #[error("a passphrase has {least} to {PASSPHRASE_MAX_BYTES} bytes; choose another")]
    Length {
        /// The least, bytes.
        least: usize,
    },
    /// The check file is damaged.
    #[error("the passphrase check in `{}` cannot be read; restore it from a backup", path.display())]
    Damaged {
        /// Its path.
        path: PathBuf,
    },
    /// The key derivation failed for lack of memory or randomness.
    #[error("the passphrase cannot be checked now; free some memory and try again")]
    Derivation,
    /// The file cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
}

/// Proof that the operator's passphrase was given for this very ask. Made only by [`Gatekeeper::prove`], used once.
#[must_use = "a proof that is dropped allowed nothing"]
#[derive(Debug)]
pub struct Proven(());

/// Checks passphrases, one at a time.
#[derive(Debug)]
pub struct Gatekeeper {
    check: Check,
    attempts_file: PathBuf,
    attempts: Mutex<Attempts>,
}

#[derive(Debug)]
struct Attempts {
    failed: u32,
    closed_until: Option<Instant>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    version: u8,
    kdf: String,
    n_log2: u8,
    salt: String,
    check: String,
}

/// The scrypt cost of a setting, as the power of two.
pub(crate) const fn cost_log2(setting: Setting) -> u8 {
    match setting {
        Setting::Real => 18,
        Setting::Sandbox => 10,
    }
}

/// scrypt with r = 8, p = 1 and 32 bytes of output.
pub(crate) fn derive(secret: &[u8], salt: &[u8], n_log2: u8) -> Option<Zeroizing<[u8; 32]>> {
    let params = scrypt::Params::new(n_log2, 8, 1, 32).ok()?;
    let mut out = Zeroizing::new([0_u8; 32]);
    scrypt::scrypt(secret, salt, &params, out.as_mut()).ok()?;
    Some(out)
}

/// Says whether a new passphrase is long enough for the setting.
///
/// # Errors
///
/// [`PassphraseFault::Length`].
pub fn acceptable(passphrase: &Passphrase, setting: Setting) -> Result<(), PassphraseFault> {
    let least = match setting {
        Setting::Real => PASSPHRASE_MIN_BYTES,
        Setting::Sandbox => 1,
    };
    let length = passphrase.expose().len();
    if length < least || PASSPHRASE_MAX_BYTES < length {
        return Err(PassphraseFault::Length { least });
    }
    Ok(())
}

/// Writes the check of a new operator passphrase to `file`; one that an interrupted setup left gives way.
pub(crate) fn replace(file: &Path, passphrase: &Passphrase, setting: Setting) -> Result<(), PassphraseFault> {
    Ok(guarded::replace(file, &text_of(passphrase, setting)?)?)
}

fn text_of(passphrase: &Passphrase, setting: Setting) -> Result<Vec<u8>, PassphraseFault> {
    acceptable(passphrase, setting)?;
    let mut salt = [0_u8; 32];
    getrandom::fill(&mut salt).map_err(|_fault| PassphraseFault::Derivation)?;
    let n_log2 = cost_log2(setting);
    let derived = derive(passphrase.expose(), &salt, n_log2).ok_or(PassphraseFault::Derivation)?;
    let check = Check {
        version: 1,
        kdf: "scrypt".to_owned(),
        n_log2,
        salt: hex::encode(salt),
        check: hex::encode(derived.as_slice()),
    };
    serde_json::to_vec_pretty(&check).map_err(|_fault| PassphraseFault::Derivation)
}

impl Gatekeeper {
    /// Reads the check from `file` and the count of wrong answers from `attempts_file`.
    ///
    /// # Errors
    ///
    /// [`PassphraseFault`] when the check is missing, open to others or damaged. A damaged count counts as a closed door.
    pub fn open(file: PathBuf, attempts_file: PathBuf, now: Instant) -> Result<Self, PassphraseFault> {
        let bytes = guarded::read(&file, guarded::FILE_MAX_BYTES)?;
        let check: Check = match serde_json::from_slice(&bytes) {
            Ok(check) => check,
            Err(_fault) => return Err(PassphraseFault::Damaged { path: file }),
        };
        if check.version != 1 || check.kdf != "scrypt" || !(10..=20).contains(&check.n_log2) {
            return Err(PassphraseFault::Damaged { path: file });
        }
        let failed = match guarded::read_if_there(&attempts_file, 64)? {
            None => 0,
            Some(text) => {
                core::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(FREE_TRIES)
            }
        };
        let attempts = Mutex::new(Attempts { failed, closed_until: closed_until(failed, now) });
        Ok(Self { check, attempts_file, attempts })
    }

    /// Checks one answer given at `now`.
    ///
    /// # Errors
    ///
    /// [`PassphraseFault::Wait`] while the door is closed (the answer is not looked at), [`PassphraseFault::Wrong`].
    pub fn prove(&self, passphrase: &Passphrase, now: Instant) -> Result<Proven, PassphraseFault> {
        self.prove_by(now, || self.matches(passphrase)).map(|()| Proven(()))
    }

    /// Runs any check under the same count of wrong answers: `None` is a wrong answer, a fault is none at all.
    pub(crate) fn prove_by<T, F: From<PassphraseFault>>(
        &self,
        now: Instant,
        check: impl FnOnce() -> Result<Option<T>, F>,
    ) -> Result<T, F> {
        // Held while the answer is checked: guesses cannot run side by side.
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = attempts.closed_until {
            let left = until.saturating_duration_since(now);
            if !left.is_zero() {
                return Err(PassphraseFault::Wait { seconds: left.as_secs().saturating_add(1) }.into());
            }
        }
        // Worse state first: counted as wrong before it is checked.
        let before = attempts.failed;
        let failed = before.saturating_add(1);
        attempts.failed = failed;
        self.write_down(failed)?;
        match check() {
            Ok(Some(proof)) => {
                *attempts = Attempts { failed: 0, closed_until: None };
                self.write_down(0)?;
                Ok(proof)
            }
            Ok(None) => {
                attempts.closed_until = closed_until(failed, now);
                Err(PassphraseFault::Wrong { left: FREE_TRIES.saturating_sub(failed) }.into())
            }
            Err(fault) => {
                attempts.failed = before;
                self.write_down(before)?;
                Err(fault)
            }
        }
    }

    fn write_down(&self, failed: u32) -> Result<(), PassphraseFault> {
        Ok(guarded::replace(&self.attempts_file, failed.to_string().as_bytes())?)
    }

    /// Whether it is the operator's passphrase, without counting.
    pub(crate) fn matches(&self, passphrase: &Passphrase) -> Result<Option<()>, PassphraseFault> {
        if PASSPHRASE_MAX_BYTES < passphrase.expose().len() {
            return Ok(None);
        }
        let salt = hex::decode(&self.check.salt).map_err(|_fault| PassphraseFault::Derivation)?;
        let wanted = hex::decode(&self.check.check).map_err(|_fault| PassphraseFault::Derivation)?;
        let given = derive(passphrase.expose(), &salt, self.check.n_log2).ok_or(PassphraseFault::Derivation)?;
        Ok(bool::from(given.as_slice().ct_eq(wanted.as_slice())).then_some(()))
    }
}

fn after_wrong(left: u32) -> String {
    match left {
        0 => "further answers are not looked at for a while".to_owned(),
        left => format!("{left} more wrong and the door closes for a while"),
    }
}

fn closed_until(failed: u32, now: Instant) -> Option<Instant> {
    let over = failed.checked_sub(FREE_TRIES)?;
    let factor = 2_u32.checked_pow(over).unwrap_or(u32::MAX);
    let wait = FIRST_WAIT.checked_mul(factor).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
    now.checked_add(wait)
}

#[cfg(test)]
mod tests;
