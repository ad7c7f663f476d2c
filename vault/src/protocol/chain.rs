//! What a chain was asked and said, as an operator sees it. Must never hold an endpoint's path or query.

use bursar_policy::{AssetId, ChainId, Money, PaymentId, SweepId};
use serde::{Deserialize, Serialize};

/// What a chain shows of an authorization (EIP-3009), for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainVerdict {
    /// It was used: the payee has the money.
    Paid,
    /// It ran out unused: the money never moved and cannot any more.
    Unused,
    /// It was cancelled by a transaction: likewise.
    Cancelled,
}

/// A verdict, and the final block that it was read at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainProof {
    /// What it says.
    pub verdict: ChainVerdict,
    /// The number of the block: of the transaction where there is one, or else of the newest final block.
    pub block: u64,
    /// Its hash, `0x` and 64 lower-case hex digits.
    pub hash: String,
    /// The time in that block, Unix seconds; of the newest final block where there is a transaction.
    pub block_s: u64,
    /// The transaction that used or cancelled it, `0x` and 64 lower-case hex digits; absent where none did.
    pub transaction: Option<String>,
    /// How many endpoints said the same.
    pub witnesses: u32,
    /// The row was settled by then on the seller's word, which the chain denies.
    pub denies: bool,
    /// When it was written down, Unix seconds of ledger time.
    pub proved_s: u64,
}

/// How one chain that the rules name stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainView {
    /// Which.
    pub chain: ChainId,
    /// Its endpoints, in the order of the rules.
    pub endpoints: Vec<EndpointView>,
    /// How many of them have to say the same.
    pub agree: u32,
    /// The newest block that so many of them called final, and its time, Unix seconds; absent when there is none yet.
    pub final_block: Option<(u64, u64)>,
    /// When it was asked last, Unix seconds of ledger time.
    pub asked_s: Option<u64>,
    /// Why nothing could be proved then; absent when all was well.
    pub trouble: Option<String>,
    /// How many payments could be asked about by now and are not proved; counted up to 1000.
    pub unproved: u32,
    /// What the wallet holds.
    pub balances: Vec<BalanceView>,
}

/// One endpoint as it answered last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointView {
    /// Its origin; the rest of its URL may be a key.
    pub origin: String,
    /// What was wrong with its last answer; absent when nothing was, or it was not asked yet.
    pub trouble: Option<String>,
}

/// What the wallet holds of one asset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BalanceView {
    /// The asset.
    pub asset: AssetId,
    /// Its symbol.
    pub symbol: String,
    /// The balance at par; absent while it is not known.
    pub money: Option<Money>,
    /// When it was read, Unix seconds of ledger time; absent likewise.
    pub read_s: Option<u64>,
}

/// What asking the chains moved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reconciled {
    /// Each payment that was proved, and what became of it.
    pub proved: Vec<(PaymentId, ChainOutcome)>,
    /// Each sweep that was proved, and what the chain shows of it.
    #[serde(default)]
    pub swept: Vec<(SweepId, ChainVerdict)>,
    /// How the chains stand after it.
    pub chains: Vec<ChainView>,
}

/// What a proof made of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainOutcome {
    /// It is settled now.
    Settled,
    /// It was settled already, on the seller's word, which is true.
    Confirmed,
    /// It lapsed, and its money is back in every budget and limit.
    Lapsed,
    /// It stays settled on the seller's word, which is false.
    Denied,
}
