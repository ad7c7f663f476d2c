//! The only place where the paying key meets a digest. Must never sign anything but the fields of a row that is on the disk:
//! a counted payment, or a sweep that the operator ordered.
//!
//! There is no verb here for a hash, a message or typed data of a caller's: the digest is computed from a ledger
//! row, exposed or ordered, and the operator's asset table (EIP-3009 `TransferWithAuthorization` under EIP-712), signed
//! deterministically (RFC 6979) with low s, and the signature is recovered and compared before anyone sees it.

use crate::ledger::{Exposed, Ordered};
use bursar_policy::{Address, Amount, Asset, Authorization, ChainId, Domain, Setting};
use core::fmt;
use core::str::FromStr;
use hkdf::Hkdf;
use k256::ecdsa::{SigningKey, VerifyingKey};
use k256::elliptic_curve::ops::{LinearCombination as _, Reduce};
use k256::elliptic_curve::point::DecompressPoint as _;
use k256::elliptic_curve::subtle::Choice;
use k256::{AffinePoint, ProjectivePoint, Scalar, U256};
use sha2::Sha256;
use sha3::{Digest as _, Keccak256};
use thiserror::Error;
use zeroize::Zeroizing;

/// Why there is no signature.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SignFault {
    /// The library made no signature, or none that a v of 27 or 28 can carry; none left the signer, so the money is
    /// given back. Also: a text that is no signature.
    #[error("the signature could not be made and nothing was paid; try again")]
    Failed,
    /// The row names another payer than this key's account; nothing was signed.
    #[error("the payment is for another account than the unlocked key; nothing was signed, check the keystore")]
    OtherAccount,
    /// The signature does not recover to the payer: a broken machine. It is not used, and the row stays counted.
    #[error(
        "the signature that was made does not belong to the paying account; lock the wallet and do not use this machine"
    )]
    Mismatch,
    /// The row names an asset other than the table's.
    #[error("the payment names another asset than the table; nothing was signed")]
    OtherAsset,
    /// A sandbox key signs for test chains only.
    #[error("a sandbox never signs for a chain with real money; nothing was signed")]
    RealChain,
    /// The self-test at start did not give the known signature.
    #[error("the signing self-test failed; this build or this machine is broken, do not use it")]
    SelfTest,
    /// Randomness is missing.
    #[error("the system gives no random bytes; try again later")]
    NoRandomness,
}

impl SignFault {
    /// Whether no signature that anyone could use was made, so that the money may be given back. Only a signature that
    /// belongs to somebody else leaves it counted: the machine is broken, and nothing it says is proof.
    pub(crate) const fn nothing_was_signed(self) -> bool {
        !matches!(self, Self::Mismatch)
    }
}

/// 65 bytes: r, s, v with low s and v 27 or 28.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 65]);

/// A private key. Has no `Debug`, no `Clone` and no serial form; wiped when dropped.
pub(crate) struct Key {
    signing: SigningKey,
    address: Address,
}

impl Key {
    /// Takes 32 bytes; `None` when they are zero or not below the curve's order.
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let signing = SigningKey::from_slice(bytes).ok()?;
        let address = address_of(signing.verifying_key())?;
        Some(Self { signing, address })
    }

    /// A fresh key from the system's randomness.
    pub(crate) fn generate() -> Result<Self, SignFault> {
        let mut bytes = Zeroizing::new([0_u8; 32]);
        // One draw in 2^128 is not a key; a system that fails twice has no randomness.
        for _draw in 0..2 {
            getrandom::fill(bytes.as_mut()).map_err(|_fault| SignFault::NoRandomness)?;
            if let Some(key) = Self::from_bytes(&bytes) {
                return Ok(key);
            }
        }
        Err(SignFault::NoRandomness)
    }

    /// The account.
    pub(crate) const fn address(&self) -> Address {
        self.address
    }

    /// The key that the operator's secrets are sealed under: HKDF-SHA-256 (RFC 5869) of the secret bytes. From it nobody
    /// gets back to this key.
    pub(crate) fn for_secrets(&self) -> Option<Zeroizing<[u8; 32]>> {
        let mut derived = Zeroizing::new([0_u8; 32]);
        let hkdf = Hkdf::<Sha256>::new(None, self.secret().as_slice());
        hkdf.expand(b"bursar secrets 1", derived.as_mut()).ok()?;
        Some(derived)
    }

    /// The secret bytes, for the keystore and for keys that are derived from them only.
    pub(crate) fn secret(&self) -> Zeroizing<[u8; 32]> {
        let mut bytes = Zeroizing::new([0_u8; 32]);
        let mut scalar = self.signing.to_bytes();
        bytes.copy_from_slice(&scalar);
        zeroize::Zeroize::zeroize(scalar.as_mut_slice());
        bytes
    }

    /// Signs a row that is durable and counted, under the domain of the operator's asset table.
    ///
    /// Guarantees that the signature recovers to the row's payer and this key's account.
    pub(crate) fn sign(&self, row: &Exposed, asset: &Asset) -> Result<(Signature, Domain), SignFault> {
        let authorization = row.authorization();
        let domain = domain_of(asset);
        if domain != row.domain() {
            return Err(SignFault::OtherAsset);
        }
        if authorization.from != self.address {
            return Err(SignFault::OtherAccount);
        }
        let signature = self.sign_authorization(authorization, &domain)?;
        Ok((signature, domain))
    }

    /// Signs a sweep that is on the disk, under the domain of the operator's asset table; for `setting`, the one that the key
    /// was made for. The same sweep always gives the same bytes (RFC 6979).
    ///
    /// Guarantees that the signature recovers to the account that the sweep names and to this key's.
    pub(crate) fn sign_sweep(
        &self,
        sweep: &Ordered,
        asset: &Asset,
        setting: Setting,
    ) -> Result<(Signature, Domain), SignFault> {
        let authorization = sweep.authorization();
        if sweep.view().asset != asset.id {
            return Err(SignFault::OtherAsset);
        }
        if authorization.from != self.address {
            return Err(SignFault::OtherAccount);
        }
        if setting == Setting::Sandbox && !asset.id.chain.is_testnet() {
            return Err(SignFault::RealChain);
        }
        let domain = domain_of(asset);
        let signature = self.sign_authorization(&authorization, &domain)?;
        Ok((signature, domain))
    }

    fn sign_authorization(&self, authorization: &Authorization, domain: &Domain) -> Result<Signature, SignFault> {
        let digest = authorization.digest(domain);
        let (pair, recovery) = self.signing.sign_prehash_recoverable(&digest).map_err(|_fault| SignFault::Failed)?;
        let parity = u8::from(recovery.is_y_odd());
        if recovery.is_x_reduced() {
            return Err(SignFault::Failed);
        }
        let mut bytes = [0_u8; 65];
        let (rs, v) = bytes.split_at_mut(64);
        rs.copy_from_slice(&pair.to_bytes());
        v.fill(parity.saturating_add(27));
        let signature = Signature(bytes);
        if recover(&digest, &signature) != Some(self.address) {
            return Err(SignFault::Mismatch);
        }
        Ok(signature)
    }
}

/// The EIP-712 domain of an asset; a seller's words never enter it.
pub(crate) fn domain_of(asset: &Asset) -> Domain {
    Domain {
        name: asset.eip712_name.clone(),
        version: asset.eip712_version.clone(),
        chain: asset.id.chain,
        contract: asset.id.contract,
    }
}

/// The account that made `signature` over `digest`; `None` for a high s, a v other than 27 or 28, or no valid point.
///
/// Does not say whether that account should have signed.
#[must_use]
pub fn recover(digest: &[u8; 32], signature: &Signature) -> Option<Address> {
    let (rs, v) = signature.0.split_at_checked(64)?;
    let parity = v.first()?.checked_sub(27).filter(|parity| *parity <= 1)?;
    let pair = k256::ecdsa::Signature::from_slice(rs).ok()?;
    if pair.normalize_s().is_some() {
        return None;
    }
    address_of(&maker_of(digest, &pair, parity)?)
}

/// The key under which `pair` verifies and whose point has a y of this parity: Q = r⁻¹(sR − zG) (SEC 1, 4.1.6).
///
/// Written out since the library's own recovery verifies as well, which holds by this very equation and costs as much again.
fn maker_of(digest: &[u8; 32], pair: &k256::ecdsa::Signature, parity: u8) -> Option<VerifyingKey> {
    let (r, s) = pair.split_scalars();
    let point = Option::<AffinePoint>::from(AffinePoint::decompress(&r.to_bytes(), Choice::from(parity)))?;
    let z = <Scalar as Reduce<U256>>::reduce_bytes(&(*digest).into());
    let inverse = Option::<Scalar>::from(r.as_ref().invert())?;
    let (of_generator, of_point) = (inverse.mul(&z).negate(), inverse.mul(s.as_ref()));
    let sum = ProjectivePoint::lincomb(&ProjectivePoint::GENERATOR, &of_generator, &point.into(), &of_point);
    VerifyingKey::from_affine(sum.to_affine()).ok()
}

impl Signature {
    /// The bytes r, s, v.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 65] {
        &self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signature(withheld)")
    }
}

impl FromStr for Signature {
    type Err = SignFault;

    fn from_str(text: &str) -> Result<Self, SignFault> {
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 130).ok_or(SignFault::Failed)?;
        let mut bytes = [0_u8; 65];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_fault| SignFault::Failed)?;
        Ok(Self(bytes))
    }
}

/// Signs and recovers a known EIP-3009 authorization (Base Sepolia and Base USDC) and compares every byte.
///
/// # Errors
///
/// [`SignFault::SelfTest`]: the vault must not start.
pub fn self_test() -> Result<(), SignFault> {
    known_answers().filter(|known| *known).map(drop).ok_or(SignFault::SelfTest)
}

fn known_answers() -> Option<bool> {
    // A key that every Ethereum tutorial prints; it guards nothing.
    let key = Key::from_bytes(&bytes_of("4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318")?)?;
    let authorization = Authorization {
        from: "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23".parse().ok()?,
        to: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C".parse().ok()?,
        value: Amount::new(10_000)?,
        valid_after: 0,
        valid_before: 1_740_672_154,
        nonce: [0x11; 32],
    };
    let mut right = key.address() == authorization.from;
    for (name, chain, contract, digest, signature) in KNOWN {
        let domain = Domain {
            name: name.to_owned(),
            version: "2".to_owned(),
            chain: ChainId::new(chain),
            contract: contract.parse().ok()?,
        };
        let made = key.sign_authorization(&authorization, &domain).ok()?;
        right = right
            && authorization.digest(&domain) == bytes_of(digest)?
            && made.to_string() == format!("0x{signature}")
            && recover(&authorization.digest(&domain), &made) == Some(authorization.from);
    }
    Some(right)
}

const KNOWN: [(&str, u64, &str, &str, &str); 2] = [
    (
        "USDC",
        84_532,
        "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "a67fd16e6332714f73e5af3fa872fcbc1f6fb69873cd8e31ffcace1591df052c",
        "eba000a4278ed37dbb5108727f4910e4de763ce02dedeb737c210e90e757cd1d519419717414d5b49c395ef87dbb48ceeff340abaa502513f1e6e8ba0bc7e7c51b",
    ),
    (
        "USD Coin",
        8453,
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "83c9116f6fafb41940d171bc36111f9203452b4cdbf5626189d16813898c84d0",
        "6fc5cb5aa3d2987d1d31bbd1f72d00447cd6fc4f1f404fb687364d8b192063c85215e8fb660bd287cbf2e1478d8492c124c44e731e938e2aa092d1f8d9e3a7f21b",
    ),
];

fn bytes_of(digits: &str) -> Option<[u8; 32]> {
    let mut bytes = [0_u8; 32];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

/// The last 20 bytes of the Keccak-256 of the public point without its tag byte.
fn address_of(key: &VerifyingKey) -> Option<Address> {
    let point = key.to_encoded_point(false);
    let hash = Keccak256::digest(point.as_bytes().get(1..)?);
    let tail: [u8; 20] = hash.get(12..)?.try_into().ok()?;
    Some(Address::from_bytes(tail))
}

#[cfg(test)]
mod tests;
