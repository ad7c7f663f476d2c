//! Names on chains: EVM chain ids, addresses, asset ids. It must never guess what was meant.

use core::fmt;
use core::str::FromStr;

use sha3::{Digest as _, Keccak256};

use crate::text_form::text_form;

/// An EVM chain by its EIP-155 number. Its text is the CAIP-2 id `eip155:<number>`, which is read
/// strictly: exact case, decimal, no leading zero, no space, no wildcard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(u64);

/// What is known of a chain: number, everyday name, whether its money is play money.
struct Known(u64, &'static str, Stakes);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stakes {
    Real,
    Test,
}

/// The chains that rules may name. One that is not here is refused as unknown, because nobody has
/// said whether its money is real.
const KNOWN: &[Known] = &[
    Known(1, "Ethereum", Stakes::Real),
    Known(10, "Optimism", Stakes::Real),
    Known(14, "Flare", Stakes::Real),
    Known(50, "XDC", Stakes::Real),
    Known(51, "XDC Apothem", Stakes::Test),
    Known(56, "BNB Chain", Stakes::Real),
    Known(137, "Polygon", Stakes::Real),
    Known(143, "Monad", Stakes::Real),
    Known(196, "X Layer", Stakes::Real),
    Known(988, "Stable", Stakes::Real),
    Known(1328, "Sei testnet", Stakes::Test),
    Known(1329, "Sei", Stakes::Real),
    Known(1514, "Story", Stakes::Real),
    Known(2201, "Stable testnet", Stakes::Test),
    Known(2741, "Abstract", Stakes::Real),
    Known(3338, "Peaq", Stakes::Real),
    Known(4326, "MegaETH", Stakes::Real),
    Known(4689, "IoTeX", Stakes::Real),
    Known(5042, "Arc", Stakes::Real),
    Known(8453, "Base", Stakes::Real),
    Known(10143, "Monad testnet", Stakes::Test),
    Known(11124, "Abstract testnet", Stakes::Test),
    Known(31337, "local test chain", Stakes::Test),
    Known(31611, "Mezo testnet", Stakes::Test),
    Known(31612, "Mezo", Stakes::Real),
    Known(36900, "ADI", Stakes::Real),
    Known(38833, "Igra", Stakes::Real),
    Known(42161, "Arbitrum One", Stakes::Real),
    Known(42220, "Celo", Stakes::Real),
    Known(43113, "Avalanche Fuji", Stakes::Test),
    Known(43114, "Avalanche", Stakes::Real),
    Known(72344, "Radius testnet", Stakes::Test),
    Known(80002, "Polygon Amoy", Stakes::Test),
    Known(84532, "Base Sepolia", Stakes::Test),
    Known(181228, "HPP Sepolia", Stakes::Test),
    Known(190415, "HPP", Stakes::Real),
    Known(421614, "Arbitrum Sepolia", Stakes::Test),
    Known(723487, "Radius", Stakes::Real),
    Known(5042002, "Arc testnet", Stakes::Test),
    Known(11142220, "Celo Sepolia", Stakes::Test),
    Known(11155111, "Ethereum Sepolia", Stakes::Test),
];

impl ChainId {
    /// Base.
    pub const BASE: Self = Self(8453);
    /// Base Sepolia, the test chain of Base.
    pub const BASE_SEPOLIA: Self = Self(84532);
    /// Ethereum Sepolia.
    pub const SEPOLIA: Self = Self(11_155_111);
    /// The number that local test chains (anvil, hardhat) use.
    pub const LOCAL: Self = Self(31337);

    /// The chain with EIP-155 number `number`. It does not check that the chain is known.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The EIP-155 number, as it enters an EIP-712 domain.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Whether this is a known chain of play money. An unknown chain is not: it may be real.
    #[must_use]
    pub fn is_testnet(self) -> bool {
        self.known().is_some_and(|known| known.2 == Stakes::Test)
    }

    /// The everyday name of a known chain.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        self.known().map(|known| known.1)
    }

    fn known(self) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.0 == self.0)
    }
}

/// Why a text is not a [`ChainId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a network is written `eip155:` and a decimal number, as in `eip155:8453`, without wildcards")]
pub struct ChainFault;

impl FromStr for ChainId {
    type Err = ChainFault;

    fn from_str(text: &str) -> Result<Self, ChainFault> {
        let number = text.strip_prefix("eip155:").ok_or(ChainFault)?;
        let plain = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
        if plain { number.parse().map(Self).map_err(|_overflow| ChainFault) } else { Err(ChainFault) }
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "eip155:{}", self.0)
    }
}

impl fmt::Debug for ChainId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(ChainId, "a network such as \"eip155:8453\"");

/// A 20-byte EVM address. Its text is `0x` and 40 hex digits; mixed case must be the EIP-55
/// checksum, a single case is free. Comparison is on bytes, so case never matters after reading.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address([u8; 20]);

impl Address {
    /// The address with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// Whether this is the zero address, where money is lost.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0 == [0; 20]
    }
}

/// Why a text is not an [`Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// Not 42 characters.
    #[error("an address has exactly 42 characters: `0x` and 40 hex digits")]
    Length,
    /// It does not start with a lower-case `0x`.
    #[error("an address starts with `0x` in lower case")]
    Prefix,
    /// A character is not an ASCII hex digit.
    #[error("an address has only the hex digits 0 to 9 and a to f after `0x`")]
    NotHex,
    /// Upper and lower case are mixed, and not as EIP-55 says: most likely a typing mistake.
    #[error("the mixed case of the address does not fit its EIP-55 checksum, so a digit may be wrong")]
    Checksum,
}

impl FromStr for Address {
    type Err = AddressFault;

    fn from_str(text: &str) -> Result<Self, AddressFault> {
        if text.len() != 42 {
            return Err(AddressFault::Length);
        }
        let digits = text.strip_prefix("0x").ok_or(AddressFault::Prefix)?;
        let mut bytes = [0; 20];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_not_hex| AddressFault::NotHex)?;
        let upper = digits.bytes().any(|byte| byte.is_ascii_uppercase());
        let lower = digits.bytes().any(|byte| byte.is_ascii_lowercase());
        let address = Self(bytes);
        if upper && lower && address.checksummed() != digits.as_bytes() {
            return Err(AddressFault::Checksum);
        }
        Ok(address)
    }
}

impl Address {
    /// The 40 digits in the mixed case of EIP-55.
    fn checksummed(&self) -> [u8; 40] {
        let mut digits = [0; 40];
        if hex::encode_to_slice(self.0, &mut digits).is_err() {
            // INVARIANT: 20 bytes are always 40 digits.
            return digits;
        }
        let hash = Keccak256::digest(digits);
        let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
        for (digit, nibble) in digits.iter_mut().zip(nibbles) {
            if nibble >= 8 {
                digit.make_ascii_uppercase();
            }
        }
        digits
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.checksummed();
        write!(out, "0x{}", core::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(Address, "an address such as \"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\"");

/// A token contract on one chain. Its text is the CAIP-19 id `eip155:<number>/erc20:0x…`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssetId {
    /// The chain.
    pub chain: ChainId,
    /// The token contract on that chain.
    pub contract: Address,
}

/// Why a text is not an [`AssetId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssetIdFault {
    /// It is not of the form of an ERC-20 asset.
    #[error("an asset is written as in `eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913`")]
    Form,
    /// The chain is not one.
    #[error("{0}")]
    Chain(#[from] ChainFault),
    /// The contract is not an address.
    #[error("{0}")]
    Contract(#[from] AddressFault),
}

impl FromStr for AssetId {
    type Err = AssetIdFault;

    fn from_str(text: &str) -> Result<Self, AssetIdFault> {
        let (chain, contract) = text.split_once("/erc20:").ok_or(AssetIdFault::Form)?;
        Ok(Self { chain: chain.parse()?, contract: contract.parse()? })
    }
}

impl fmt::Display for AssetId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/erc20:{}", self.chain, self.contract)
    }
}

impl fmt::Debug for AssetId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(AssetId, "an asset such as \"eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\"");
