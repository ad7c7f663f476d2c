//! EIP-3009 `TransferWithAuthorization` and its EIP-712 hashing. It must never see a key.

use alloc::string::String;

use sha3::{Digest as _, Keccak256};

use crate::chain::{Address, ChainId};
use crate::money::Amount;
use crate::offer::Version;

/// Hash of the domain type with name, version, chainId and verifyingContract (EIP-712).
const DOMAIN_TYPE_HASH: [u8; 32] = [
    0x8b, 0x73, 0xc3, 0xc6, 0x9b, 0xb8, 0xfe, 0x3d, 0x51, 0x2e, 0xcc, 0x4c, 0xf7, 0x59, 0xcc, 0x79, 0x23, 0x9f, 0x7b,
    0x17, 0x9b, 0x0f, 0xfa, 0xca, 0xa9, 0xa7, 0x5d, 0x52, 0x2b, 0x39, 0x40, 0x0f,
];
/// Hash of the type `TransferWithAuthorization` (EIP-3009).
const TRANSFER_TYPE_HASH: [u8; 32] = [
    0x7c, 0x7c, 0x6c, 0xdb, 0x67, 0xa1, 0x87, 0x43, 0xf4, 0x9e, 0xc6, 0xfa, 0x9b, 0x35, 0xf5, 0x0d, 0x52, 0xed, 0x05,
    0xcb, 0xed, 0x4c, 0xc5, 0x92, 0xe1, 0x3b, 0x44, 0x50, 0x1c, 0x1a, 0x22, 0x67,
];

/// How far a v1 authorization starts in the past, in seconds: chain time lags behind wall time.
const V1_HEAD_START_S: u64 = 600;
/// The shortest life that survives signing, one round trip and a facilitator's own margin.
pub(crate) const LIFE_MIN_S: u64 = 10;

/// The message of EIP-3009 `TransferWithAuthorization`: the six fields that a signature covers.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authorization {
    /// The payer.
    pub from: Address,
    /// The payee.
    pub to: Address,
    /// Atomic units of the token.
    pub value: Amount,
    /// Unix seconds after which it is valid.
    pub valid_after: u64,
    /// Unix seconds before which it is valid.
    pub valid_before: u64,
    /// 32 random bytes; the token contract takes each one once for each payer.
    #[serde(with = "hex_bytes")]
    pub nonce: [u8; 32],
}

/// The EIP-712 domain of a token: what binds a signature to one contract on one chain.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// The token's EIP-712 name, byte for byte.
    pub name: String,
    /// The token's EIP-712 version.
    pub version: String,
    /// The chain.
    pub chain: ChainId,
    /// The token contract.
    pub contract: Address,
}

impl Domain {
    /// The domain separator (EIP-712 `hashStruct` of the domain with four fields).
    #[must_use]
    pub fn separator(&self) -> [u8; 32] {
        Keccak256::new()
            .chain_update(DOMAIN_TYPE_HASH)
            .chain_update(Keccak256::digest(self.name.as_bytes()))
            .chain_update(Keccak256::digest(self.version.as_bytes()))
            .chain_update(word_of_number(u128::from(self.chain.number())))
            .chain_update(word_of_address(self.contract))
            .finalize()
            .into()
    }
}

impl Authorization {
    /// EIP-712 `hashStruct` of the message.
    #[must_use]
    pub fn struct_hash(&self) -> [u8; 32] {
        Keccak256::new()
            .chain_update(TRANSFER_TYPE_HASH)
            .chain_update(word_of_address(self.from))
            .chain_update(word_of_address(self.to))
            .chain_update(word_of_number(self.value.units()))
            .chain_update(word_of_number(u128::from(self.valid_after)))
            .chain_update(word_of_number(u128::from(self.valid_before)))
            .chain_update(self.nonce)
            .finalize()
            .into()
    }

    /// The digest that is signed: EIP-712 `keccak256(0x1901 ‖ domain separator ‖ struct hash)`.
    #[must_use]
    pub fn digest(&self, domain: &Domain) -> [u8; 32] {
        Keccak256::new()
            .chain_update([0x19, 0x01])
            .chain_update(domain.separator())
            .chain_update(self.struct_hash())
            .finalize()
            .into()
    }
}

/// The life of an authorization made at `now_s`: `(valid_after, valid_before)` in Unix seconds.
///
/// It ends after the smaller of `max_timeout_s` (the seller's) and `max_lifetime_s` (ours); v1
/// starts 600 s in the past, v2 at 0. `None` when it would live less than 10 s, or past the end of
/// counting.
#[must_use]
pub fn validity(version: Version, now_s: u64, max_timeout_s: u64, max_lifetime_s: u64) -> Option<(u64, u64)> {
    let life_s = max_timeout_s.min(max_lifetime_s);
    if life_s < LIFE_MIN_S {
        return None;
    }
    let valid_after = match version {
        Version::V1 => now_s.saturating_sub(V1_HEAD_START_S),
        Version::V2 => 0,
    };
    Some((valid_after, now_s.checked_add(life_s)?))
}

/// A `uint256` word: big-endian, zero bytes on the left.
fn word_of_number(number: u128) -> [u8; 32] {
    word(&number.to_be_bytes())
}

/// An `address` word: the 20 bytes on the right.
fn word_of_address(address: Address) -> [u8; 32] {
    word(address.as_bytes())
}

fn word(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    for (place, byte) in word.iter_mut().rev().zip(bytes.iter().rev()) {
        *place = *byte;
    }
    word
}

/// 32 bytes as `0x` and 64 hex digits.
mod hex_bytes {
    use alloc::format;
    use alloc::string::String;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("0x{}", hex::encode(bytes)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.strip_prefix("0x").unwrap_or_default();
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes)
            .map_err(|_fault| D::Error::custom("32 bytes are written with `0x` and 64 hex digits"))?;
        Ok(bytes)
    }
}
