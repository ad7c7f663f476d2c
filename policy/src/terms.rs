//! The terms of one payment, rebuilt from parsed fields. It must never carry a seller's text that
//! is not equal to our own.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::chain::{Address, AssetId, ChainId};
use crate::money::Amount;
use crate::offer::{Challenge, Offer, Said, Version};

/// What would be signed, apart from payer, time and nonce. Parsed is not judged: only the gate
/// makes a `Vetted<Terms>`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Which version of x402 the seller speaks.
    pub version: Version,
    /// The place of the offer in the seller's list, from 0.
    pub offer: u32,
    /// The chain that the token lives on.
    pub chain: ChainId,
    /// The token contract.
    pub asset: Address,
    /// Who is paid.
    pub payee: Address,
    /// Atomic units of the token.
    pub amount: Amount,
    /// `maxTimeoutSeconds` as the seller said it, in seconds, not yet cut to our own maximum.
    pub max_timeout_s: u64,
    /// The EIP-712 domain name, from our asset table.
    pub domain_name: String,
    /// The EIP-712 domain version, from our asset table.
    pub domain_version: String,
}

impl Terms {
    /// The asset that is paid with.
    #[must_use]
    pub const fn asset_id(&self) -> AssetId {
        AssetId { chain: self.chain, contract: self.asset }
    }

    /// The terms in an offer's clothes, so that the vault judges the rebuilt fields with the same
    /// gate and no second reading of the seller's bytes.
    #[must_use]
    pub fn to_offer(&self) -> Offer {
        Offer {
            index: self.offer,
            scheme: Said::text("exact"),
            network: Said::Text(self.chain.to_string()),
            amount: Said::Text(self.amount.to_string()),
            asset: Said::Text(self.asset.to_string()),
            pay_to: Said::Text(self.payee.to_string()),
            max_timeout: Said::Number(self.max_timeout_s.to_string()),
            transfer_method: Said::Absent,
            payment_flow: Said::Absent,
            domain_name: Said::text(self.domain_name.clone()),
            domain_version: Said::text(self.domain_version.clone()),
            verifying_contract: Said::Absent,
            chain_id: Said::Absent,
            resource: Said::Absent,
            conflicts: Vec::new(),
        }
    }

    /// A document with these terms as its only offer, naming no resource and no time.
    #[must_use]
    pub fn to_challenge(&self) -> Challenge {
        Challenge { version: self.version, offers: vec![self.to_offer()], resource: Said::Absent, seller_time_s: None }
    }
}
