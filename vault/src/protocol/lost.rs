//! What is unresolved or lost, and what a person lifts: parts of the operator socket's answers. Never on the agent socket,
//! because they name what every session asked for.

use bursar_policy::{Money, Origin, Quoted, Scope};
use serde::{Deserialize, Serialize};

use super::agent::Receipt;

/// A payment whose end nobody knows, and what was asked for with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outstanding {
    /// The payment.
    pub receipt: Receipt,
    /// The origin that was asked, as `serve` reported it.
    pub origin: Origin,
    /// The beginning of the path, without the query.
    pub path: Quoted,
}

/// How many payments of one host, or to one payee, ran out and nobody knows how they ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lost {
    /// A host or a payee.
    pub scope: Scope,
    /// Which: an origin, or `chain:address`.
    pub of: String,
    /// How many payments.
    pub count: u32,
}

/// A host of which nothing new is asked for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quarantine {
    /// Its origin.
    pub origin: String,
    /// When it ends, Unix seconds.
    pub until_s: u64,
    /// Paid deliveries that failed since its last good one.
    pub failures: u32,
    /// Security refusals since then that blame it.
    pub strikes: u32,
}

/// What a person would lift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resumable {
    /// A host or a payee.
    pub scope: Scope,
    /// Which: an origin, or `chain:address`.
    pub of: String,
    /// When its quarantine ends, Unix seconds; absent when it is in none.
    pub quarantined_until_s: Option<u64>,
    /// Failed deliveries that stand against it.
    pub failures: u32,
    /// Security refusals that stand against it.
    pub strikes: u32,
    /// Lost payments that stand against it.
    pub lost: u32,
    /// What they come to, one entry a currency. It stays spent.
    pub money: Vec<Money>,
    /// The newest of them first, at most 5.
    pub newest: Vec<Outstanding>,
}

/// What a person lifted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// A host or a payee.
    pub scope: Scope,
    /// Which: an origin, or `chain:address`.
    pub of: String,
    /// When its quarantine would have ended, Unix seconds; absent when it was in none.
    pub quarantined_until_s: Option<u64>,
    /// Failed deliveries that no longer stand against it.
    pub failures: u32,
    /// Security refusals that no longer stand against it.
    pub strikes: u32,
    /// Lost payments that no longer stand against it.
    pub pardoned: u32,
    /// Who else is shut by the same payments, as many of them as are allowed being lost: payees of the host, or hosts of
    /// the payee, at most 20.
    pub still_shut: Vec<Lost>,
}
