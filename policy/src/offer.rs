//! What a seller said, field by field, before anyone believes it. It must never hold a decision.

use alloc::string::String;
use alloc::vec::Vec;

/// The version of x402 that a seller speaks (`x402Version`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// x402 v1: terms in the body, short network names.
    V1,
    /// x402 v2: terms in the `PAYMENT-REQUIRED` header, CAIP-2 networks.
    V2,
}

impl Version {
    /// The number that `x402Version` carries.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }
}

/// One member of a seller's document as it was written: which JSON type, and which text.
///
/// Loose on purpose: the reader of the document only reports, the gate alone decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Said {
    /// The member is not there.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// A JSON string, unescaped.
    Text(String),
    /// A JSON number, exactly as it was written: `60`, `60.0`, `1e3`.
    Number(String),
    /// Something else, named for people: "an object", "an array", "true".
    Other(&'static str),
}

impl Said {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Whether the seller said nothing: absent, or `null`.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        matches!(self, Self::Absent | Self::Null)
    }
}

/// One entry of `accepts`, as said. Seller text: escape it before a person or a model sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its place in the seller's list, from 0.
    pub index: u32,
    /// `scheme`.
    pub scheme: Said,
    /// `network`, in the seller's own words: a v1 short name or a CAIP-2 id.
    pub network: Said,
    /// `amount` (v2) or `maxAmountRequired` (v1): atomic units of the asset.
    pub amount: Said,
    /// `asset`: the token contract.
    pub asset: Said,
    /// `payTo`.
    pub pay_to: Said,
    /// `maxTimeoutSeconds`.
    pub max_timeout: Said,
    /// `extra.assetTransferMethod`.
    pub transfer_method: Said,
    /// `extra.paymentFlow`.
    pub payment_flow: Said,
    /// `extra.name`: the name in the EIP-712 domain.
    pub domain_name: Said,
    /// `extra.version`: the version in the EIP-712 domain.
    pub domain_version: Said,
    /// `extra.verifyingContract`, which nobody has to send.
    pub verifying_contract: Said,
    /// `extra.chainId`, which nobody has to send.
    pub chain_id: Said,
    /// The URL that this offer is for, where it says one itself, as every offer of v1 does.
    pub resource: Said,
    /// Pairs of members that say one thing twice and disagree, such as
    /// "amount and maxAmountRequired". Not empty means that the offer has two meanings.
    pub conflicts: Vec<String>,
}

/// A whole 402 document, as said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Its version.
    pub version: Version,
    /// `accepts`, in the seller's order.
    pub offers: Vec<Offer>,
    /// The URL that all of the terms are for, where the document itself says one: `resource.url` in v2.
    pub resource: Said,
    /// The seller's clock (HTTP `Date`) in Unix seconds, when it sent one. It is compared with
    /// ours and never moves it.
    pub seller_time_s: Option<u64>,
}
