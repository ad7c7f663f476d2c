//! A payment of the past on the operator socket: what rules, receipts and people look at. Must never hold a signature.

use super::agent::{ContentRef, Delivery, Receipt, RowState, SettlementClaim};
use super::chain::ChainProof;
use super::operator::LogEntry;
use bursar_policy::{Address, Digest, Mandate, Method, Money, PaymentId, SessionId, SessionName, Site, Terms};
use serde::{Deserialize, Serialize};

/// One payment as rules look at it: what was asked, what was agreed, when, and out of which budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastPayment {
    /// Its id.
    pub payment: PaymentId,
    /// How it stands now.
    pub state: RowState,
    /// The session it was counted in.
    pub session: SessionId,
    /// That session's budget.
    pub budget: Money,
    /// When that session ends, Unix seconds.
    pub session_expires_s: u64,
    /// What that session is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mandate: Option<Mandate>,
    /// The URL, as reported by `serve`.
    pub site: Site,
    /// The method.
    pub method: Method,
    /// The digest of what was sent along; its size is not kept.
    pub body: Option<Digest>,
    /// What makes a request the same one, headers included, which are not kept themselves.
    pub subject: Digest,
    /// The terms that were judged.
    pub terms: Terms,
    /// The paying account.
    pub payer: Address,
    /// What it counts as.
    pub money: Money,
    /// When it was counted, Unix seconds of ledger time.
    pub created_s: u64,
    /// When it stopped being pending; absent while it is.
    pub ended_s: Option<u64>,
    /// Whether it ran out, nobody knows how it ended, and nobody put up with that: what `max_unresolved` counts.
    pub unresolved: bool,
    /// The name of that session.
    pub session_name: SessionName,
    /// What may be told to anyone.
    pub receipt: Receipt,
    /// The digest of the terms as the ledger keeps them.
    pub terms_digest: Digest,
    /// The authorization's nonce, `0x` and 64 hex digits.
    pub nonce: String,
    /// By what its state is known; absent while it may still change by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What came back for it, where a body was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentRef>,
    /// Whether it is not known yet, or not known at all, how it ended: what came back for it is needed still.
    #[serde(default)]
    pub waiting: bool,
}

/// By what it is known how a payment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The seller says that it was settled, names a transaction, and agrees with the row.
    SellerSays,
    /// Nobody said anything, and its time is over.
    TimeIsOver,
    /// Nothing was ever signed.
    NeverSigned,
    /// The chain shows that the authorization was not used, or was cancelled.
    Chain,
    /// The chain shows the payment.
    ChainShows,
    /// The seller says that it was settled, and the chain shows that it never was.
    ChainDenies,
}

/// Everything about one payment except the signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentDetail {
    /// What may be told to anyone.
    pub receipt: Receipt,
    /// The session it was paid from.
    pub session: SessionName,
    /// The URL, as reported by `serve`.
    pub site: Site,
    /// The method.
    pub method: Method,
    /// The terms that were judged.
    pub terms: Terms,
    /// The paying account.
    pub payer: Address,
    /// The authorization's nonce, `0x` and 64 hex digits: what to look for on the chain.
    pub nonce: String,
    /// A signature is stored on the row.
    pub signed: bool,
    /// What a chain showed of it; absent while none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ChainProof>,
    /// What came back.
    pub delivery: Option<Delivery>,
    /// The seller's settlement claim.
    pub settlement: Option<SettlementClaim>,
    /// Its events, oldest first.
    pub events: Vec<LogEntry>,
}
