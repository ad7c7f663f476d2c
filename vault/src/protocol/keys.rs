//! What an operator asks and hears about keys: money moved out of an account, and another account. Must never hold a key,
//! and no signature but that of a sweep, which is for whoever submits it.

use super::chain::ChainProof;
use bursar_policy::{Address, Amount, AssetId, Authorization, Domain, Money, SweepId};
use core::fmt;
use serde::{Deserialize, Serialize};

/// Where a sweep stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepState {
    /// It may be signed, and whoever has the signature may use it.
    Ordered,
    /// Its time is over, and no chain showed how it ended.
    Presumed,
    /// A chain shows that the money moved.
    Moved,
    /// A chain shows that it did not and cannot any more.
    Unmoved,
}

impl SweepState {
    /// Every state.
    pub const EVERY: [Self; 4] = [Self::Ordered, Self::Presumed, Self::Moved, Self::Unmoved];

    /// Its stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Presumed => "presumed",
            Self::Moved => "moved",
            Self::Unmoved => "unmoved",
        }
    }
}

/// One sweep: what the operator has moved out of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepView {
    /// Its id.
    pub id: SweepId,
    /// Where it stands.
    pub state: SweepState,
    /// The account that the money leaves.
    pub account: Address,
    /// Who gets it.
    pub to: Address,
    /// The token, and the chain that it is on.
    pub asset: AssetId,
    /// The token's symbol, from the operator's table.
    pub symbol: String,
    /// Atomic units of the token.
    pub amount: Amount,
    /// The same in the token's currency, at par.
    pub money: Money,
    /// The authorization's nonce, `0x` and 64 hex digits: what to look for on the chain.
    pub nonce: String,
    /// Unix seconds before which the authorization is valid; it is from the beginning.
    pub valid_before: u64,
    /// When it was ordered, Unix seconds of ledger time.
    pub created_s: u64,
    /// When it ended, Unix seconds; absent while it may be used.
    pub ended_s: Option<u64>,
    /// What a chain showed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ChainProof>,
}

/// What there is to move out of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPlan {
    /// The account.
    pub account: Address,
    /// What it holds of the token, in atomic units, as the endpoints of the rules say; absent where none says it.
    pub balance: Option<u128>,
    /// Why no endpoint says it, where the rules name some.
    pub trouble: Option<String>,
    /// What signatures of payments could still take of it, in atomic units.
    pub reserved: u128,
    /// When the last of these is over, Unix seconds; 0 where there is none.
    pub reserved_until_s: u64,
    /// The sweep of this token that may still be used.
    pub live: Option<SweepView>,
}

/// A sweep with its signature: whoever has it can have exactly this money moved to exactly this address.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepSigned {
    /// The sweep.
    pub sweep: SweepView,
    /// What is signed (EIP-3009).
    pub authorization: Authorization,
    /// For which token (EIP-712).
    pub domain: Domain,
    /// `0x` and 130 lower-case hex digits: r, s, v.
    pub signature: String,
}

impl fmt::Debug for SweepSigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SweepSigned").field("sweep", &self.sweep).finish_non_exhaustive()
    }
}
