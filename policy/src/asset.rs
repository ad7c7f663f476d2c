//! What is known of the tokens that bursar pays with. It must never learn anything from a seller.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::chain::{Address, AssetId, ChainId};
use crate::money::Currency;

mod builtin;

/// One token, and everything that a price and a signature depend on.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asset {
    /// Chain and contract.
    pub id: AssetId,
    /// Its everyday symbol, for people.
    pub symbol: String,
    /// Decimals of one token, at most 18.
    pub decimals: u8,
    /// The currency that one token is at par with.
    pub currency: Currency,
    /// The name in its EIP-712 domain, byte for byte.
    pub eip712_name: String,
    /// The version in its EIP-712 domain.
    pub eip712_version: String,
}

/// Why an operator's asset is not taken into the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssetFault {
    /// A built-in asset, described differently.
    #[error("the asset `{0}` is built in with other values; remove its [[asset]] entry")]
    DiffersFromBuiltin(AssetId),
    /// The contract belongs to another chain.
    #[error("the contract of `{id}` is known on `{known_on}` and not on this chain; correct the network")]
    OtherChain {
        /// The asset as described.
        id: AssetId,
        /// Where its contract really is.
        known_on: ChainId,
    },
    /// The token is known not to take EIP-3009 authorizations.
    #[error("the token `{0}` takes no EIP-3009 authorizations, so bursar cannot pay with it")]
    NotEip3009(AssetId),
    /// The same asset twice.
    #[error("the asset `{0}` is described twice; keep one [[asset]] entry")]
    Twice(AssetId),
    /// More than 18 decimals.
    #[error("the asset `{0}` has more than 18 decimals, which bursar cannot count in")]
    Decimals(AssetId),
    /// No EIP-712 name or version, or no symbol.
    #[error("the asset `{0}` needs a symbol, an eip712_name and an eip712_version that are not empty")]
    Empty(AssetId),
}

/// The known tokens: a built-in list (EIP-3009 stablecoins) and what the operator added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetTable(BTreeMap<AssetId, Asset>);

impl AssetTable {
    /// The built-in list: tokens with EIP-3009 that reference sellers price in, all at par with the
    /// US dollar. The local test chain has none.
    #[must_use]
    pub fn builtin() -> Self {
        Self(builtin::assets().map(|asset| (asset.id, asset)).collect())
    }

    /// The table with `asset` added; a built-in asset may be repeated if it is described equally.
    ///
    /// # Errors
    ///
    /// An [`AssetFault`] when the description contradicts what is built in or itself. It cannot
    /// check an unknown token against its chain: decimals and domain are the operator's word.
    pub fn with(mut self, asset: Asset) -> Result<Self, AssetFault> {
        let id = asset.id;
        if asset.decimals > 18 {
            return Err(AssetFault::Decimals(id));
        }
        if [&asset.symbol, &asset.eip712_name, &asset.eip712_version].iter().any(|text| text.is_empty()) {
            return Err(AssetFault::Empty(id));
        }
        if builtin::is_not_eip3009(id) {
            return Err(AssetFault::NotEip3009(id));
        }
        match builtin::assets().find(|known| known.id == id) {
            Some(known) if known == asset => return Ok(self),
            Some(_) => return Err(AssetFault::DiffersFromBuiltin(id)),
            None => {}
        }
        // A local chain may be a fork, which keeps the addresses of what it was forked from.
        if id.chain != ChainId::LOCAL
            && let Some(known_on) = home_of(id.contract)
        {
            return Err(AssetFault::OtherChain { id, known_on });
        }
        match self.0.insert(id, asset) {
            None => Ok(self),
            Some(_) => Err(AssetFault::Twice(id)),
        }
    }

    /// The asset with this id.
    #[must_use]
    pub fn find(&self, id: &AssetId) -> Option<&Asset> {
        self.0.get(id)
    }

    /// Every asset, by chain and contract.
    pub fn iter(&self) -> impl Iterator<Item = &Asset> {
        self.0.values()
    }
}

impl Default for AssetTable {
    fn default() -> Self {
        Self::builtin()
    }
}

/// A chain on which `contract` is a built-in asset.
fn home_of(contract: Address) -> Option<ChainId> {
    builtin::assets().find(|known| known.id.contract == contract).map(|known| known.id.chain)
}
