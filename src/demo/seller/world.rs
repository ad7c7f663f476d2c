//! The fixed facts of the demo's world: host names, payees, and the two tokens.
//!
//! Data only. Nothing here is secret, and no address here belongs to anybody.

use bursar_policy::authorization::Domain;
use bursar_policy::chain::{Address, ChainId};

/// Host names of the seller, all on one loopback port.
pub(crate) mod host {
    /// Single purchases.
    pub(crate) const SHOP: &str = "shop.demo.test";
    /// Twenty-five purchases in a row.
    pub(crate) const MARKET: &str = "market.demo.test";
    /// Parallel purchases, first half.
    pub(crate) const NORTH: &str = "north.demo.test";
    /// Parallel purchases, second half.
    pub(crate) const SOUTH: &str = "south.demo.test";
    /// The same purchase ten times over.
    pub(crate) const TWINS: &str = "twins.demo.test";
    /// The crash.
    pub(crate) const ARCHIVE: &str = "archive.demo.test";
    /// Tricks.
    pub(crate) const MALLORY: &str = "mallory.demo.test";
    /// Every name above.
    pub(crate) const ALL: [&str; 7] = [SHOP, MARKET, NORTH, SOUTH, TWINS, ARCHIVE, MALLORY];
}

/// The seller's own address, which the rules list.
pub(crate) const fn merchant() -> Address {
    Address::from_bytes([0x5e; 20])
}

/// Somebody else's address, which the rules do not list.
pub(crate) const fn stranger() -> Address {
    Address::from_bytes([0xba; 20])
}

/// USDC on Base Sepolia, the only asset the rules allow.
pub(crate) fn test_domain() -> Domain {
    Domain {
        name: "USDC".to_owned(),
        version: "2".to_owned(),
        chain: ChainId::new(84_532),
        contract: Address::from_bytes([
            0x03, 0x6c, 0xbd, 0x53, 0x84, 0x2c, 0x54, 0x26, 0x63, 0x4e, 0x79, 0x29, 0x54, 0x1e, 0xc2, 0x31, 0x8f, 0x3d,
            0xcf, 0x7e,
        ]),
    }
}

/// USDC on Base mainnet: here a second play ledger, so that a payment lured there would show as a loss.
pub(crate) fn main_domain() -> Domain {
    Domain {
        name: "USD Coin".to_owned(),
        version: "2".to_owned(),
        chain: ChainId::new(8_453),
        contract: Address::from_bytes([
            0x83, 0x35, 0x89, 0xfc, 0xd6, 0xed, 0xb6, 0xe0, 0x8f, 0x4c, 0x7c, 0x32, 0xd4, 0xf7, 0x1b, 0x54, 0xbd, 0xa0,
            0x29, 0x13,
        ]),
    }
}
