//! The encrypted key file (Web3 Secret Storage v3: scrypt, aes-128-ctr, Keccak MAC). Must never echo what it reads.
//!
//! Every file carries the setting and the id of the ledger that counts for the key: a sandbox key opens only in a
//! sandbox, a real key only outside one, and neither beside another ledger than its own, because two ledgers for one
//! key would each allow the whole budget.

use crate::guarded::{self, GuardFault};
use crate::passphrase::{cost_log2, derive};
use crate::protocol::Passphrase;
use crate::sign::Key;
use aes::cipher::{KeyIvInit, StreamCipher};
use bursar_policy::{Address, Setting};
use serde::{Deserialize, Serialize};
use sha3::{Digest as _, Keccak256};
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;
use thiserror::Error;
use zeroize::Zeroizing;

type Cipher = ctr::Ctr128BE<aes::Aes128>;

/// Why a key cannot be read or written.
#[derive(Debug, Error)]
pub enum KeystoreFault {
    /// The file is not a keystore that this program wrote.
    #[error("`{}` is not a keystore of bursar ({what}); restore it from a backup, or make a new one with `bursar init`", path.display())]
    Damaged {
        /// Its path.
        path: PathBuf,
        /// Which part is wrong, in our words.
        what: &'static str,
    },
    /// The passphrase does not open it.
    #[error("that passphrase does not open the keystore; try again")]
    Passphrase,
    /// A sandbox key outside a sandbox, or the reverse.
    #[error("`{}` holds a key made for {made}; it is never opened for {here}", path.display())]
    Setting {
        /// Its path.
        path: PathBuf,
        /// What it was made for.
        made: &'static str,
        /// Where it was to be opened.
        here: &'static str,
    },
    /// The key belongs to another ledger.
    #[error("`{}` belongs to another ledger than the one beside it; put the two that belong together side by side", path.display())]
    OtherLedger {
        /// Its path.
        path: PathBuf,
    },
    /// Two files are of one account, and one was to take the place of the other.
    #[error("`{}` and the keystore are of one account and not the same file; see which of the two opens and move the other away", path.display())]
    Twice {
        /// The one that is kept.
        path: PathBuf,
    },
    /// What was typed is not one private key.
    #[error("that is not a private key; type exactly 64 hex digits, with or without 0x")]
    NotAKey,
    /// Sandbox keys are generated.
    #[error("a sandbox never takes a key of yours; leave out the import and it makes its own")]
    ImportInSandbox,
    /// Memory or randomness is missing.
    #[error("the keystore cannot be worked on now; free some memory and try again")]
    Derivation,
    /// The file cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
}

/// A keystore file that was read and checked, still locked.
#[derive(Debug)]
pub struct Keystore {
    path: PathBuf,
    address: Address,
    file: KeyFile,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    version: u8,
    id: String,
    address: String,
    crypto: Crypto,
    bursar: Mark,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    setting: String,
    ledger: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Crypto {
    cipher: String,
    cipherparams: CipherParams,
    ciphertext: String,
    kdf: String,
    kdfparams: KdfParams,
    mac: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CipherParams {
    iv: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KdfParams {
    dklen: u8,
    n: u32,
    r: u8,
    p: u8,
    salt: String,
}

/// Reads exactly one private key from what a person typed: 64 hex digits, `0x` and one closing newline allowed.
///
/// # Errors
///
/// [`KeystoreFault::NotAKey`], which never repeats what was typed.
pub(crate) fn parse_key(typed: &str) -> Result<Key, KeystoreFault> {
    let line = typed.strip_suffix('\n').unwrap_or(typed);
    let line = line.strip_suffix('\r').unwrap_or(line);
    let digits = line.strip_prefix("0x").unwrap_or(line);
    let mut bytes = Zeroizing::new([0_u8; 32]);
    hex::decode_to_slice(digits, bytes.as_mut()).map_err(|_fault| KeystoreFault::NotAKey)?;
    Key::from_bytes(&bytes).ok_or(KeystoreFault::NotAKey)
}

/// Encrypts `key` into a new file; an existing one is never overwritten.
///
/// # Errors
///
/// [`KeystoreFault::Guard`] or [`KeystoreFault::Derivation`].
pub(crate) fn create(
    path: &Path,
    key: &Key,
    passphrase: &Passphrase,
    setting: Setting,
    ledger: &str,
) -> Result<(), KeystoreFault> {
    let (mut salt, mut iv, mut id) = ([0_u8; 32], [0_u8; 16], [0_u8; 16]);
    for part in [salt.as_mut_slice(), iv.as_mut_slice(), id.as_mut_slice()] {
        getrandom::fill(part).map_err(|_fault| KeystoreFault::Derivation)?;
    }
    let n_log2 = cost_log2(setting);
    let derived = derive(passphrase.expose(), &salt, n_log2).ok_or(KeystoreFault::Derivation)?;
    let (cipher_key, mac_key) = derived.split_at_checked(16).ok_or(KeystoreFault::Derivation)?;
    let mut text = key.secret();
    apply(cipher_key, &iv, text.as_mut()).ok_or(KeystoreFault::Derivation)?;
    let file = KeyFile {
        version: 3,
        id: uuid_v4(id),
        address: hex::encode(key.address().as_bytes()),
        crypto: Crypto {
            cipher: "aes-128-ctr".to_owned(),
            cipherparams: CipherParams { iv: hex::encode(iv) },
            ciphertext: hex::encode(text.as_slice()),
            kdf: "scrypt".to_owned(),
            kdfparams: KdfParams {
                dklen: 32,
                n: 1_u32.checked_shl(u32::from(n_log2)).ok_or(KeystoreFault::Derivation)?,
                r: 8,
                p: 1,
                salt: hex::encode(salt),
            },
            mac: hex::encode(mac(mac_key, text.as_slice())),
        },
        bursar: Mark { setting: word(setting).to_owned(), ledger: ledger.to_owned() },
    };
    let bytes = serde_json::to_vec_pretty(&file).map_err(|_fault| KeystoreFault::Derivation)?;
    guarded::create(path, &bytes)?;
    Ok(())
}

impl Keystore {
    /// Reads and checks a keystore file; nothing is decrypted.
    ///
    /// # Errors
    ///
    /// [`KeystoreFault`] when the file is damaged, or made for the other setting or another ledger.
    pub fn open(path: &Path, setting: Setting, ledger: &str) -> Result<Self, KeystoreFault> {
        let keystore = Self::read(path, setting)?;
        if keystore.file.bursar.ledger != ledger {
            return Err(KeystoreFault::OtherLedger { path: path.to_owned() });
        }
        Ok(keystore)
    }

    fn read(path: &Path, setting: Setting) -> Result<Self, KeystoreFault> {
        let bytes = guarded::read(path, guarded::FILE_MAX_BYTES)?;
        let damaged = |what| KeystoreFault::Damaged { path: path.to_owned(), what };
        let file: KeyFile = serde_json::from_slice(&bytes).map_err(|_fault| damaged("its members"))?;
        let address = hex::decode(&file.address)
            .ok()
            .and_then(|bytes| <[u8; 20]>::try_from(bytes).ok())
            .map(Address::from_bytes)
            .ok_or_else(|| damaged("its address"))?;
        if file.version != 3 || file.crypto.cipher != "aes-128-ctr" || file.crypto.kdf != "scrypt" {
            return Err(damaged("its version, cipher or kdf"));
        }
        let params = &file.crypto.kdfparams;
        let cost_known = params.n.is_power_of_two() && (1 << 10..=1 << 20).contains(&params.n);
        if params.dklen != 32 || params.r != 8 || params.p != 1 || !cost_known {
            return Err(damaged("its kdf parameters"));
        }
        if file.bursar.setting != word(setting) {
            let made = if file.bursar.setting == word(Setting::Sandbox) { "a sandbox" } else { "real money" };
            let here = match setting {
                Setting::Real => "real money",
                Setting::Sandbox => "a sandbox",
            };
            return Err(KeystoreFault::Setting { path: path.to_owned(), made, here });
        }
        Ok(Self { path: path.to_owned(), address, file })
    }

    /// The account of the keystore at `path`, as the file says.
    ///
    /// # Errors
    ///
    /// As [`Keystore::open`].
    pub(crate) fn address_of(path: &Path, setting: Setting) -> Result<Address, KeystoreFault> {
        Ok(Self::read(path, setting)?.address)
    }

    /// The id of the ledger that the keystore at `path` belongs to.
    ///
    /// # Errors
    ///
    /// As [`Keystore::open`].
    pub(crate) fn ledger_of(path: &Path, setting: Setting) -> Result<String, KeystoreFault> {
        Ok(Self::read(path, setting)?.file.bursar.ledger)
    }

    /// The account, as the file says; compared with the key when it is unlocked.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.address
    }

    /// Decrypts the key. Takes about a second outside a sandbox.
    ///
    /// # Errors
    ///
    /// [`KeystoreFault::Passphrase`] for a wrong one, [`KeystoreFault::Damaged`] when the file contradicts itself.
    pub(crate) fn unlock(&self, passphrase: &Passphrase) -> Result<Key, KeystoreFault> {
        let damaged = |what| KeystoreFault::Damaged { path: self.path.clone(), what };
        let crypto = &self.file.crypto;
        let salt = hex::decode(&crypto.kdfparams.salt).map_err(|_fault| damaged("its salt"))?;
        let iv: [u8; 16] = hex::decode(&crypto.cipherparams.iv)
            .ok()
            .and_then(|iv| iv.try_into().ok())
            .ok_or_else(|| damaged("its iv"))?;
        let mut text = Zeroizing::new([0_u8; 32]);
        hex::decode_to_slice(&crypto.ciphertext, text.as_mut()).map_err(|_fault| damaged("its ciphertext"))?;
        let wanted = hex::decode(&crypto.mac).map_err(|_fault| damaged("its mac"))?;
        let n_log2 = u8::try_from(crypto.kdfparams.n.trailing_zeros()).map_err(|_wide| damaged("its cost"))?;
        let derived = derive(passphrase.expose(), &salt, n_log2).ok_or(KeystoreFault::Derivation)?;
        let (cipher_key, mac_key) = derived.split_at_checked(16).ok_or(KeystoreFault::Derivation)?;
        if !bool::from(mac(mac_key, text.as_slice()).as_slice().ct_eq(wanted.as_slice())) {
            return Err(KeystoreFault::Passphrase);
        }
        apply(cipher_key, &iv, text.as_mut()).ok_or(KeystoreFault::Derivation)?;
        let key = Key::from_bytes(&text).ok_or_else(|| damaged("its key"))?;
        if key.address() != self.address {
            return Err(damaged("its address"));
        }
        Ok(key)
    }
}

/// The setting's word on disk.
pub(crate) const fn word(setting: Setting) -> &'static str {
    match setting {
        Setting::Real => "real",
        Setting::Sandbox => "sandbox",
    }
}

fn apply(key: &[u8], iv: &[u8; 16], text: &mut [u8]) -> Option<()> {
    let mut cipher = Cipher::new_from_slices(key, iv).ok()?;
    cipher.try_apply_keystream(text).ok()
}

fn mac(key: &[u8], ciphertext: &[u8]) -> [u8; 32] {
    Keccak256::new().chain_update(key).chain_update(ciphertext).finalize().into()
}

/// RFC 9562 text form of random bytes, version 4.
fn uuid_v4(mut bytes: [u8; 16]) -> String {
    for (place, byte) in bytes.iter_mut().enumerate() {
        match place {
            6 => *byte = (*byte & 0x0f) | 0x40,
            8 => *byte = (*byte & 0x3f) | 0x80,
            _ => {}
        }
    }
    let digits = hex::encode(bytes);
    let mut text = String::with_capacity(36);
    for (place, digit) in digits.chars().enumerate() {
        if matches!(place, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
