//! The key that signs checkpoints of the log. Must never sign anything else, and never pays.
//!
//! It is a secp256k1 key of its own, derived from the paying key (HKDF-SHA256, RFC 5869). So there is nothing more to keep
//! or to lose, it exists only while the wallet is unlocked, and it says nothing about the paying key. What it signs is the
//! SHA-256 of a text that begins with `bursar checkpoint`: no transaction and no EIP-712 document is hashed like that
//! (both are Keccak-256), and its account holds no money.

use core::fmt;
use core::str::FromStr;

use hkdf::Hkdf;
use k256::ecdsa::signature::{Signer as _, Verifier as _};
use k256::ecdsa::{Signature, SigningKey, VerifyingKey};
use k256::sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::sign::Key;

/// What the derivation is for; another purpose gives another key.
const PURPOSE: &[u8] = b"bursar audit key 1";

/// The key. No `Debug`, no `Clone`, no serial form; wiped when dropped.
pub(crate) struct AuditKey(SigningKey);

impl AuditKey {
    /// The audit key of a paying key, always the same one; `None` for one paying key in 2^128.
    pub(crate) fn of(key: &Key) -> Option<Self> {
        let mut bytes = Zeroizing::new([0_u8; 32]);
        Hkdf::<Sha256>::new(None, key.secret().as_slice()).expand(PURPOSE, bytes.as_mut()).ok()?;
        SigningKey::from_slice(bytes.as_slice()).ok().map(Self)
    }

    /// What others check its signatures with.
    pub(crate) fn public(&self) -> AuditPublic {
        AuditPublic(*self.0.verifying_key())
    }

    /// Signs a statement: ECDSA over SHA-256, deterministic (RFC 6979), low s.
    pub(crate) fn sign(&self, statement: &str) -> AuditSignature {
        AuditSignature(self.0.sign(statement.as_bytes()))
    }
}

/// A public audit key. Its text is the compressed point (SEC 1): 66 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuditPublic(VerifyingKey);

/// A signature of an audit key. Its text is r and s: 128 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuditSignature(Signature);

/// The text is no key, or no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AuditTextFault {
    /// Not a public key.
    #[error("that is no audit key; `bursar audit key` shows one: 66 hex digits that begin with 02 or 03")]
    Key,
    /// Not a signature.
    #[error("that is no signature of an audit key: it has 128 hex digits")]
    Signature,
}

impl AuditPublic {
    /// Whether `signature` is this key's over exactly `statement`.
    #[must_use]
    pub fn made(&self, signature: &AuditSignature, statement: &str) -> bool {
        self.0.verify(statement.as_bytes(), &signature.0).is_ok()
    }
}

impl fmt::Display for AuditPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0.to_encoded_point(true).as_bytes()))
    }
}

impl fmt::Debug for AuditPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuditPublic({self})")
    }
}

impl FromStr for AuditPublic {
    type Err = AuditTextFault;

    fn from_str(text: &str) -> Result<Self, AuditTextFault> {
        let mut bytes = [0_u8; 33];
        hex::decode_to_slice(text, &mut bytes).map_err(|_fault| AuditTextFault::Key)?;
        let key = Self(VerifyingKey::from_sec1_bytes(&bytes).map_err(|_fault| AuditTextFault::Key)?);
        // One text for one key.
        (key.to_string() == text).then_some(key).ok_or(AuditTextFault::Key)
    }
}

impl fmt::Display for AuditSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0.to_bytes()))
    }
}

impl fmt::Debug for AuditSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuditSignature({self})")
    }
}

impl FromStr for AuditSignature {
    type Err = AuditTextFault;

    fn from_str(text: &str) -> Result<Self, AuditTextFault> {
        let mut bytes = [0_u8; 64];
        hex::decode_to_slice(text, &mut bytes).map_err(|_fault| AuditTextFault::Signature)?;
        let signature = Self(Signature::from_slice(&bytes).map_err(|_fault| AuditTextFault::Signature)?);
        (signature.to_string() == text).then_some(signature).ok_or(AuditTextFault::Signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> AuditKey {
        AuditKey::of(&Key::from_bytes(&[byte; 32]).unwrap()).unwrap()
    }

    #[test]
    fn one_paying_key_has_one_audit_key_which_is_not_itself() {
        assert_eq!(key(7).public(), key(7).public());
        assert_ne!(key(7).public(), key(8).public());
        let paying = SigningKey::from_slice(&[7; 32]).unwrap();
        assert_ne!(key(7).public().0, *paying.verifying_key());
    }

    #[test]
    fn a_signature_holds_for_its_key_and_its_statement_alone() {
        let signature = key(7).sign("bursar checkpoint 1: one");
        assert!(key(7).public().made(&signature, "bursar checkpoint 1: one"));
        assert!(!key(7).public().made(&signature, "bursar checkpoint 1: two"));
        assert!(!key(8).public().made(&signature, "bursar checkpoint 1: one"));
    }

    #[test]
    fn texts_read_back_and_have_one_form() {
        let (public, signature) = (key(7).public(), key(7).sign("x"));
        assert_eq!(public.to_string().parse(), Ok(public));
        assert_eq!(signature.to_string().parse(), Ok(signature));
        assert_eq!(public.to_string().to_uppercase().parse::<AuditPublic>(), Err(AuditTextFault::Key));
        for text in ["", "02", &"0".repeat(66), &"f".repeat(66)] {
            assert_eq!(text.parse::<AuditPublic>(), Err(AuditTextFault::Key), "{text}");
        }
        for text in ["", &"0".repeat(128), &"f".repeat(128), &signature.to_string().to_uppercase()] {
            assert_eq!(text.parse::<AuditSignature>(), Err(AuditTextFault::Signature), "{text}");
        }
    }
}
