//! How purchases went by, for whoever measures. Must never hold a URL, a body, an address or a word of a seller's.

use bursar_policy::{Money, PaymentId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a vault measured since it started. It is kept in memory alone: a vault that ends forgets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measures {
    /// When this vault began to measure, Unix microseconds. Another vault says another moment, and its numbers begin anew.
    pub since_us: u64,
    /// How many refusals had each code. A refusal with several codes is counted under each of them, once.
    pub refused: BTreeMap<String, u64>,
    /// The number of the newest purchase that is over; 0 while there is none.
    pub last: u64,
    /// Purchases that are over, oldest first: as many as fit into a reply.
    pub passages: Vec<Passage>,
}

/// One purchase as it went by in the vault: from the claim to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    /// Its place among those of this vault, from 1, without gaps.
    pub number: u64,
    /// Who sends the payment.
    pub by: Sender,
    /// The seller's host, with a port that is not the usual one, as reported by `serve`.
    pub host: String,
    /// When it began by the wall clock, Unix microseconds.
    pub began_us: u64,
    /// How long it took by a clock that nobody can set, in microseconds.
    pub took_us: u64,
    /// Its parts, one after the other.
    pub legs: Vec<Leg>,
    /// How it ended.
    pub end: PassageEnd,
    /// The codes of the refusal or of the fault that ended it; of a fault there is one.
    pub codes: Vec<String>,
    /// The payment, where money was counted.
    pub payment: Option<PaymentId>,
    /// What it counts as.
    pub money: Option<Money>,
}

/// Who sends a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    /// `serve`.
    Serve,
    /// A browser, by way of its glue.
    Browser,
}

/// One part of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leg {
    /// Which.
    pub name: LegName,
    /// When it began, microseconds after the purchase did.
    pub from_us: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
}

/// The parts of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LegName {
    /// Whether the same was bought before; while somebody else buys it, this waits.
    Claim,
    /// `serve` asks the seller for its terms and judges them.
    Visit,
    /// The vault judges, admits and counts, and waits for the disk.
    Authorize,
    /// The signature is made and stored.
    Sign,
    /// The payment is sent and answered: from the signature's leaving the vault to the report.
    Pay,
    /// What came back is written down.
    Report,
}

impl LegName {
    /// Its stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Visit => "visit",
            Self::Authorize => "authorize",
            Self::Sign => "sign",
            Self::Pay => "pay",
            Self::Report => "report",
        }
    }
}

/// How a purchase ended, as far as the vault saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageEnd {
    /// Paid, and delivered.
    Paid,
    /// Paid, and what was delivered is lost.
    PaidContentLost,
    /// It may be paid.
    Unresolved,
    /// A signature left the vault and nobody reported: it may be paid.
    Unreported,
    /// The result of an earlier purchase, with nothing sent.
    Repeat,
    /// Set aside for a browser, which has yet to fetch it.
    Held,
    /// Refused, by the vault or by `serve`.
    Refused,
    /// A person has to look first.
    NeedsApproval,
    /// A fault.
    Failed,
    /// Given up before anything was counted: the seller asked for nothing, or was not reached.
    Unpaid,
}

impl PassageEnd {
    /// Its stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::PaidContentLost => "paid_content_lost",
            Self::Unresolved => "unresolved",
            Self::Unreported => "unreported",
            Self::Repeat => "repeat",
            Self::Held => "held",
            Self::Refused => "refused",
            Self::NeedsApproval => "needs_approval",
            Self::Failed => "failed",
            Self::Unpaid => "unpaid",
        }
    }
}
