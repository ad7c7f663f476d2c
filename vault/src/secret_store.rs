//! The operator's secrets for sellers and proxies: one encrypted file. Must never be open while the wallet is locked.
//!
//! The file is sealed as a whole (XChaCha20-Poly1305) under a key that is derived from the signing key, so it opens
//! while the wallet is unlocked and at no other time, and nothing but the file lies on the disk. Bound into the seal are
//! the setting, the ledger's id, and every name with its time: a file from elsewhere, or one in which two names were
//! swapped or one was taken out, does not open. An older file of the same profile does. Names and times can be read
//! without the key, so that `check` and `status` can say what is missing; until it is opened they are only what the file
//! says. Nothing is kept in memory between two uses.

use crate::guarded::{self, GuardFault};
use crate::keystore::word;
use crate::protocol::SecretValue;
use crate::sign::Key;
use bursar_policy::{Digest, SecretName, Setting};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;
use zeroize::Zeroizing;

/// The most secrets of a profile. With the longest of each the file stays within [`guarded::FILE_MAX_BYTES`].
pub const SECRETS_MAX: usize = 32;

const VERSION: u8 = 1;
const NONCE_BYTES: usize = 24;

/// Why secrets cannot be read or written. Never tells one.
#[derive(Debug, Error)]
pub enum StoreFault {
    /// The file does not open here: it belongs to another key, ledger or setting, or was changed.
    #[error("`{}` opens with no key that is here: it was sealed under another one, or changed; where `bursar rotate` ran on another machine copy its `keys` here and unlock again, else restore the file from a backup, or move it away and set the secrets again with `bursar secret set`", path.display())]
    Damaged {
        /// Its path.
        path: PathBuf,
    },
    /// There is no room for another one.
    #[error("there are {SECRETS_MAX} secrets already; remove one with `bursar secret remove`")]
    Full,
    /// Randomness is missing.
    #[error("the system gives no random bytes; try again later")]
    Randomness,
    /// The file cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
}

/// A secret as it is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    set_at_s: u64,
    pub(crate) value: SecretValue,
}

/// Whether a name was new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing was stored under it.
    Nothing,
    /// Another secret was.
    Another,
}

/// Whether the file was sealed anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resealed {
    /// There is none, or it opens with the key that it should.
    No,
    /// It was sealed under another key.
    Yes,
}

/// The file of one profile.
#[derive(Debug)]
pub(crate) struct SecretStore {
    path: PathBuf,
    setting: Setting,
    ledger: String,
    changing: Mutex<()>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    version: u8,
    setting: String,
    ledger: String,
    secrets: Vec<Entry>,
    nonce: String,
    sealed: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: SecretName,
    set_at_s: u64,
}

/// The names in the file at `path` and when each was set (Unix seconds of ledger time), as far as the file says so.
///
/// # Errors
///
/// [`StoreFault`] when the file is there and cannot be read.
pub fn names(path: &Path) -> Result<BTreeMap<SecretName, u64>, StoreFault> {
    let sealed = read(path)?;
    Ok(sealed.into_iter().flat_map(|sealed| sealed.secrets).map(|entry| (entry.name, entry.set_at_s)).collect())
}

fn read(path: &Path) -> Result<Option<Sealed>, StoreFault> {
    let Some(bytes) = guarded::read_if_there(path, guarded::FILE_MAX_BYTES)? else { return Ok(None) };
    let damaged = || StoreFault::Damaged { path: path.to_owned() };
    let sealed: Sealed = serde_json::from_slice(&bytes).map_err(|_fault| damaged())?;
    if sealed.version != VERSION || SECRETS_MAX < sealed.secrets.len() {
        return Err(damaged());
    }
    Ok(Some(sealed))
}

impl SecretStore {
    pub(crate) const fn new(path: PathBuf, setting: Setting, ledger: String) -> Self {
        Self { path, setting, ledger, changing: Mutex::new(()) }
    }

    /// [`names()`] of this file.
    pub(crate) fn names(&self) -> Result<BTreeMap<SecretName, u64>, StoreFault> {
        names(&self.path)
    }

    /// Every secret, while the key is unlocked; wiped when dropped.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Damaged`] when anything in the file is not as it was written here.
    pub(crate) fn open(&self, key: &Key) -> Result<BTreeMap<SecretName, Kept>, StoreFault> {
        let Some(sealed) = read(&self.path)? else { return Ok(BTreeMap::new()) };
        self.unseal(&sealed, key).ok_or_else(|| self.damaged())
    }

    /// Stores a secret, in place of one of the same name. Durable on return.
    ///
    /// # Errors
    ///
    /// [`StoreFault`]; then everything is as it was.
    pub(crate) fn set(
        &self,
        key: &Key,
        name: SecretName,
        value: SecretValue,
        now_s: u64,
    ) -> Result<Before, StoreFault> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut secrets = self.open(key)?;
        let before = secrets.insert(name, Kept { set_at_s: now_s, value });
        if SECRETS_MAX < secrets.len() {
            return Err(StoreFault::Full);
        }
        self.write(key, &secrets)?;
        Ok(before.map_or(Before::Nothing, |_replaced| Before::Another))
    }

    /// Forgets a secret. Durable on return; the old file's bytes may stay on the disk, sealed, until they are overwritten.
    ///
    /// # Errors
    ///
    /// [`StoreFault`]; then everything is as it was.
    pub(crate) fn remove(&self, key: &Key, name: &SecretName) -> Result<Before, StoreFault> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut secrets = self.open(key)?;
        if secrets.remove(name).is_none() {
            return Ok(Before::Nothing);
        }
        self.write(key, &secrets)?;
        Ok(Before::Another)
    }

    /// Seals every secret under the key `next` into the file `staged`, and lets nobody change one until `hand_on` is through,
    /// which puts that file in the place of this one. Where nothing is kept, nothing is written.
    ///
    /// # Errors
    ///
    /// [`StoreFault`] before anything is handed on, or what `hand_on` says.
    pub(crate) fn hand_on<T, E: From<StoreFault>>(
        &self,
        key: &Key,
        next: &Key,
        staged: &Path,
        hand_on: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if read(&self.path)?.is_some() {
            let secrets = self.open(key)?;
            self.write_to(staged, next, &secrets)?;
        }
        hand_on()
    }

    /// Sees to it that the file opens with `key`, where it does with one of `others`, which are asked for only then. Durable on
    /// return.
    ///
    /// # Errors
    ///
    /// [`StoreFault::Damaged`] when it opens with none of them; then everything is as it was.
    pub(crate) fn seal_anew<Keys: Iterator<Item = Key>>(
        &self,
        key: &Key,
        others: impl FnOnce() -> Keys,
    ) -> Result<Resealed, StoreFault> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sealed) = read(&self.path)? else { return Ok(Resealed::No) };
        if self.unseal(&sealed, key).is_some() {
            return Ok(Resealed::No);
        }
        let opened = others().find_map(|other| self.unseal(&sealed, &other));
        self.write(key, &opened.ok_or_else(|| self.damaged())?)?;
        Ok(Resealed::Yes)
    }

    fn write(&self, key: &Key, secrets: &BTreeMap<SecretName, Kept>) -> Result<(), StoreFault> {
        self.write_to(&self.path, key, secrets)
    }

    fn write_to(&self, path: &Path, key: &Key, secrets: &BTreeMap<SecretName, Kept>) -> Result<(), StoreFault> {
        let mut nonce = [0_u8; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_fault| StoreFault::Randomness)?;
        let entries: Vec<Entry> =
            secrets.iter().map(|(name, kept)| Entry { name: name.clone(), set_at_s: kept.set_at_s }).collect();
        let sealed = self.seal(key, &nonce, &entries, secrets).ok_or_else(|| self.damaged())?;
        let file = Sealed {
            version: VERSION,
            setting: word(self.setting).to_owned(),
            ledger: self.ledger.clone(),
            secrets: entries,
            nonce: hex::encode(nonce),
            sealed: hex::encode(sealed),
        };
        let bytes = serde_json::to_vec_pretty(&file).map_err(|_fault| self.damaged())?;
        Ok(guarded::replace(path, &bytes)?)
    }

    fn seal(
        &self,
        key: &Key,
        nonce: &[u8; NONCE_BYTES],
        entries: &[Entry],
        secrets: &BTreeMap<SecretName, Kept>,
    ) -> Option<Vec<u8>> {
        // No secret has a line end. Room up front, so that no growing buffer leaves a copy behind.
        let room = secrets.values().map(|kept| kept.value.expose().len().saturating_add(1)).sum();
        let mut plain = Zeroizing::new(String::with_capacity(room));
        for kept in secrets.values() {
            plain.push_str(kept.value.expose());
            plain.push('\n');
        }
        let bound = self.bound(entries);
        let payload = Payload { msg: plain.as_bytes(), aad: bound.as_bytes() };
        cipher(key)?.encrypt(XNonce::from_slice(nonce), payload).ok()
    }

    fn unseal(&self, sealed: &Sealed, key: &Key) -> Option<BTreeMap<SecretName, Kept>> {
        let nonce: [u8; NONCE_BYTES] = hex::decode(&sealed.nonce).ok()?.try_into().ok()?;
        let bytes = hex::decode(&sealed.sealed).ok()?;
        let bound = self.bound(&sealed.secrets);
        let payload = Payload { msg: &bytes, aad: bound.as_bytes() };
        let plain = Zeroizing::new(cipher(key)?.decrypt(XNonce::from_slice(&nonce), payload).ok()?);
        let lines = core::str::from_utf8(&plain).ok()?.lines();
        let open = |(entry, line): (&Entry, &str)| {
            let value = SecretValue::new(Zeroizing::new(line.to_owned())).ok()?;
            Some((entry.name.clone(), Kept { set_at_s: entry.set_at_s, value }))
        };
        sealed.secrets.iter().zip(lines).map(open).collect()
    }

    /// What the seal is bound to: where the file belongs, as this profile knows it, and everything in it that can be read.
    fn bound(&self, entries: &[Entry]) -> Digest {
        let times: Vec<[u8; 8]> = entries.iter().map(|entry| entry.set_at_s.to_be_bytes()).collect();
        let names = entries.iter().zip(&times).flat_map(|(entry, time)| [entry.name.as_str().as_bytes(), time]);
        let home: [&[u8]; 3] = [b"bursar secrets 1", word(self.setting).as_bytes(), self.ledger.as_bytes()];
        Digest::of_parts(&home.into_iter().chain(names).collect::<Vec<_>>())
    }

    fn damaged(&self) -> StoreFault {
        StoreFault::Damaged { path: self.path.clone() }
    }
}

fn cipher(key: &Key) -> Option<XChaCha20Poly1305> {
    XChaCha20Poly1305::new_from_slice(key.for_secrets()?.as_slice()).ok()
}

#[cfg(test)]
mod tests;
