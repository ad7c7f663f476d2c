//! The built-in list of tokens. It must never hold a row that was not checked against a domain
//! separator or a published deployment.

use alloc::borrow::ToOwned;

use super::Asset;
use crate::chain::{Address, AssetId, ChainId};
use crate::money::Currency;

/// Chain number, contract, EIP-712 name, EIP-712 version, symbol.
type Row = (u64, &'static str, &'static str, &'static str, &'static str);

/// Decimals of every row.
const DECIMALS: u8 = 6;

/// Stablecoins with EIP-3009, all with 6 decimals and at par with the US dollar. Names differ
/// from chain to chain; `USD\u{20ae}0` is spelt with the sign for the tugrik and is not normalised.
#[rustfmt::skip]
const EIP3009: &[Row] = &[
    (1, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USD Coin", "2", "USDC"),
    (14, "0xe7cd86e13AC4309349F30B3435a9d337750fC82D", "USD\u{20ae}0", "1", "USDT0"),
    (50, "0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1", "USDC", "2", "USDC"),
    (51, "0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4", "USDC", "2", "USDC"),
    (137, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USD Coin", "2", "USDC"),
    (143, "0x754704Bc059F8C67012fEd69BC8A327a5aafb603", "USDC", "2", "USDC"),
    (988, "0x779Ded0c9e1022225f8E0630b35a9b54bE713736", "USDT0", "1", "USDT0"),
    (1328, "0x4fCF1784B31630811181f670Aea7A7bEF803eaED", "USDC", "2", "USDC"),
    (1329, "0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392", "USDC", "2", "USDC"),
    (2201, "0x78Cf24370174180738C5B8E352B6D14c83a6c9A9", "USDT0", "1", "USDT0"),
    (5042, "0x3600000000000000000000000000000000000000", "USDC", "2", "USDC"),
    (8453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin", "2", "USDC"),
    (10143, "0x534b2f3A21130d7a60830c2Df862319e593943A3", "USDC", "2", "USDC"),
    (36900, "0x9cb8142aEBBcdc60AF7c97Af897A67A8f3CA71C2", "USDC.e", "2", "USDC.e"),
    (42161, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "USD Coin", "2", "USDC"),
    (42220, "0xcebA9300f2b948710d2653dD7B07f33A8B32118C", "USDC", "2", "USDC"),
    (42220, "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e", "Tether USD", "1", "USDT"),
    (42220, "0xD2ab3C9A02DBBAB236BfEC45D1d755DF4267F771", "Tether America USD", "1", "USAT"),
    (43113, "0x5425890298aed601595a70AB815c96711a31Bc65", "USD Coin", "2", "USDC"),
    (43114, "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "USD Coin", "2", "USDC"),
    (80002, "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582", "USDC", "2", "USDC"),
    (84532, "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC", "2", "USDC"),
    (181_228, "0x401eCb1D350407f13ba348573E5630B83638E30D", "Bridged USDC", "2", "USDC.e"),
    (190_415, "0x401eCb1D350407f13ba348573E5630B83638E30D", "Bridged USDC", "2", "USDC.e"),
    (421_614, "0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d", "USD Coin", "2", "USDC"),
    (5_042_002, "0x3600000000000000000000000000000000000000", "USDC", "2", "USDC"),
    (11_142_220, "0x01C5C0122039549AD1493B8220cABEdD739BC44E", "USDC", "2", "USDC"),
];

/// Well-known tokens that take no EIP-3009 authorizations: an operator who lists one as payable,
/// perhaps with 6 decimals where it has 18, is stopped.
#[rustfmt::skip]
const NOT_EIP3009: &[(u64, &str)] = &[
    (56, "0x55d398326f99059fF775485246999027B3197955"),
    (56, "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"),
    (4326, "0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7"),
    (31611, "0x118917a40FAF1CD7a13dB0Ef56C86De7973Ac503"),
    (31612, "0xdD468A1DDc392dcdbEf6db6e34E89AA338F9F186"),
    (38833, "0xA5b8BF902b2844dA17d4506cc827F7F1681735E7"),
    (72344, "0x33ad9e4BD16B69B5BFdED37D8B5D9fF9aba014Fb"),
    (723_487, "0x33ad9e4BD16B69B5BFdED37D8B5D9fF9aba014Fb"),
];

/// Every built-in asset, in the order of the list.
pub(super) fn assets() -> impl Iterator<Item = Asset> {
    EIP3009.iter().filter_map(|(chain, contract, name, version, symbol)| {
        Some(Asset {
            // A row that cannot be read is no row; the tests count them.
            id: asset_id(*chain, contract)?,
            symbol: (*symbol).to_owned(),
            decimals: DECIMALS,
            currency: Currency::USD,
            eip712_name: (*name).to_owned(),
            eip712_version: (*version).to_owned(),
        })
    })
}

/// Whether `id` is known to take no EIP-3009 authorizations.
pub(super) fn is_not_eip3009(id: AssetId) -> bool {
    NOT_EIP3009.iter().any(|(chain, contract)| asset_id(*chain, contract) == Some(id))
}

/// The id of a row. Its checksum is checked by a test and not again at every start.
fn asset_id(chain: u64, contract: &str) -> Option<AssetId> {
    let mut bytes = [0; 20];
    hex::decode_to_slice(contract.strip_prefix("0x")?, &mut bytes).ok()?;
    Some(AssetId { chain: ChainId::new(chain), contract: Address::from_bytes(bytes) })
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn every_row_can_be_read_and_has_its_checksum() {
        assert_eq!(assets().count(), EIP3009.len());
        let rows = EIP3009.iter().map(|row| (row.0, row.1)).chain(NOT_EIP3009.iter().copied());
        for (chain, contract) in rows {
            assert_eq!(asset_id(chain, contract).unwrap().contract.to_string(), contract);
            assert!(ChainId::new(chain).name().is_some(), "{chain}");
        }
    }
}
