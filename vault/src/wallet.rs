//! The key while the vault runs: locked or unlocked, and who may unlock it. Must never hand the key out of the crate.

use crate::audit_key::AuditKey;
use crate::guarded;
use crate::keystore::{self, Keystore, KeystoreFault};
use crate::passphrase::{Gatekeeper, PASSPHRASE_MAX_BYTES, PassphraseFault, Proven};
use crate::protocol::Passphrase;
use crate::sign::Key;
use bursar_policy::{Address, Setting};
use core::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;
use thiserror::Error;
use zeroize::Zeroizing;

/// The key, when it is unlocked, and the operator's passphrase check.
pub(crate) struct Wallet {
    keystore: RwLock<Arc<Keystore>>,
    gatekeeper: Gatekeeper,
    passphrase_file: PathBuf,
    key: Mutex<Option<Arc<Key>>>,
}

/// A key that the right passphrase opened and that signs nothing yet; wiped when dropped.
#[must_use = "the wallet stays locked until the key is held"]
pub(crate) struct Opened(Key);

/// Why the key stays locked.
#[derive(Debug, Error)]
pub(crate) enum UnlockFault {
    /// The operator was not recognised.
    #[error(transparent)]
    Operator(#[from] PassphraseFault),
    /// The keystore does not open.
    #[error(transparent)]
    Keystore(#[from] KeystoreFault),
    /// The keystore has a passphrase of its own, and the file that should hold it does not.
    #[error("the keystore has another passphrase than the operator, and `{}` does not hold it; restore that file", path.display())]
    OtherPassphrase {
        /// The passphrase file.
        path: PathBuf,
    },
}

impl Opened {
    /// The key, for what it seals beside payments.
    pub(crate) const fn key(&self) -> &Key {
        &self.0
    }
}

impl Wallet {
    pub(crate) fn new(keystore: Keystore, gatekeeper: Gatekeeper, passphrase_file: PathBuf) -> Self {
        Self { keystore: RwLock::new(Arc::new(keystore)), gatekeeper, passphrase_file, key: Mutex::new(None) }
    }

    /// The account, known also while locked.
    pub(crate) fn address(&self) -> Address {
        self.keystore().address()
    }

    fn keystore(&self) -> Arc<Keystore> {
        Arc::clone(&self.keystore.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The key, while it is unlocked. Hold it for one signature only.
    pub(crate) fn key(&self) -> Option<Arc<Key>> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The key that signs checkpoints, while the wallet is unlocked.
    pub(crate) fn audit_key(&self) -> Option<AuditKey> {
        AuditKey::of(&*self.key()?)
    }

    /// Whether no key is unlocked.
    pub(crate) fn is_locked(&self) -> bool {
        self.key.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Forgets the key; it is wiped when the last signature in progress is done with it.
    pub(crate) fn lock(&self) {
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Checks the operator's passphrase for a right that is not unlocking.
    pub(crate) fn prove(&self, passphrase: &Passphrase, now: Instant) -> Result<Proven, PassphraseFault> {
        self.gatekeeper.prove(passphrase, now)
    }

    /// Opens the keystore for the operator: with the passphrase file's words where it has a passphrase of its own, with
    /// the operator's otherwise. The wallet stays locked until [`Wallet::hold`].
    pub(crate) fn open(&self, passphrase: &Passphrase, now: Instant) -> Result<Opened, UnlockFault> {
        self.open_of(&self.keystore(), passphrase, now)
    }

    /// [`Wallet::open`] of the keystore of an account that paid before.
    pub(crate) fn open_of(
        &self,
        keystore: &Keystore,
        passphrase: &Passphrase,
        now: Instant,
    ) -> Result<Opened, UnlockFault> {
        let key = self.gatekeeper.prove_by(now, || -> Result<Option<Key>, UnlockFault> {
            if self.gatekeeper.matches(passphrase)?.is_none() {
                return Ok(None);
            }
            self.tried(keystore, Some(passphrase), |_candidate, key| Ok(key)).map(Some)
        })?;
        Ok(Opened(key))
    }

    /// The key of a keystore that lies beside the one that pays, where the passphrase file's words or `passphrase` open it.
    /// The operator was recognised before, or that file unlocks the wallet.
    pub(crate) fn open_beside(&self, keystore: &Keystore, passphrase: Option<&Passphrase>) -> Option<Key> {
        self.tried(keystore, passphrase, |_candidate, key| Ok(key)).ok()
    }

    /// What `with` makes of the words that open `keystore`, and of its key.
    fn tried<T>(
        &self,
        keystore: &Keystore,
        passphrase: Option<&Passphrase>,
        with: impl FnOnce(&Passphrase, Key) -> Result<T, UnlockFault>,
    ) -> Result<T, UnlockFault> {
        let filed = self.filed()?;
        for candidate in filed.iter().chain(passphrase) {
            match keystore.unlock(candidate) {
                Ok(key) => return with(candidate, key),
                Err(KeystoreFault::Passphrase) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        Err(UnlockFault::OtherPassphrase { path: self.passphrase_file.clone() })
    }

    /// Encrypts `key` into a new file under the words that open the key of now. The operator was recognised before.
    pub(crate) fn seal(
        &self,
        path: &Path,
        key: &Key,
        passphrase: &Passphrase,
        setting: Setting,
        ledger: &str,
    ) -> Result<(), UnlockFault> {
        self.tried(&self.keystore(), Some(passphrase), |words, _key| {
            Ok(keystore::create(path, key, words, setting, ledger)?)
        })
    }

    /// Goes on with another keystore and its key; a locked wallet stays locked. A signature in progress keeps the key that it
    /// took, and the ledger counts nothing for that any more.
    pub(crate) fn go_on_with(&self, keystore: Keystore, next: Key) {
        let mut key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        *self.keystore.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keystore);
        *key = key.is_some().then(|| Arc::new(next));
    }

    /// Unlocks the key with the passphrase file, when there is one; `None` when there is none.
    pub(crate) fn unlock_from_file(&self) -> Result<Option<Address>, UnlockFault> {
        match self.filed()? {
            None => Ok(None),
            Some(filed) => Ok(Some(self.hold(Opened(self.keystore().unlock(&filed)?)))),
        }
    }

    /// Unlocks the wallet with a key that was opened.
    pub(crate) fn hold(&self, Opened(key): Opened) -> Address {
        let address = key.address();
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(key));
        address
    }

    /// The first line of the passphrase file.
    fn filed(&self) -> Result<Option<Passphrase>, UnlockFault> {
        let cap = u64::try_from(PASSPHRASE_MAX_BYTES).unwrap_or(u64::MAX).saturating_add(2);
        let Some(bytes) = guarded::read_lent_if_there(&self.passphrase_file, cap).map_err(PassphraseFault::from)?
        else {
            return Ok(None);
        };
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = core::str::from_utf8(line)
            .map_err(|_fault| UnlockFault::OtherPassphrase { path: self.passphrase_file.clone() })?;
        Ok(Some(Passphrase::new(Zeroizing::new(text.to_owned()))))
    }
}

impl fmt::Debug for Wallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wallet")
            .field("address", &self.address())
            .field("locked", &self.is_locked())
            .finish_non_exhaustive()
    }
}
