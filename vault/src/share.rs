//! How vaults with ledgers of their own split the limits. Must never let the parts of a limit come to more than it allows.
//!
//! Each vault holds a part of each limit and decides alone within it: no vault waits for another, and the more vaults
//! there are the more is decided at once. A *center*, one database that all of them reach, knows who holds how much. A
//! vault asks it for more only when its part does not reach (`Keeper::want`), a slice beyond what it needs, and gives
//! back what it does not use when another one is short. Nothing a vault spends has to be told for the sum to be right;
//! what it counted before it was known to the center is declared first.
//!
//! A part lasts as long as the center's last word ([`LEASE_S`]). A vault that cannot reach it spends nothing of a split
//! limit after that, and its parts go back to the others when nothing that it spent can lie in a window any more: for a
//! limit over a lifetime never.

mod database;
mod keeper;
mod migrate;
mod settle;

#[cfg(test)]
pub(crate) mod tests;

pub use self::database::Database;
pub(crate) use self::keeper::{Keeper, beat};
pub use self::migrate::migrate;
pub use self::settle::{Known, settle};

use crate::ledger::Line;
use bursar_policy::Digest;
use std::fmt;
use thiserror::Error;

/// How long the center's word lasts, in seconds of ledger time, counted from before it was asked for.
pub const LEASE_S: u64 = 30;

/// Who asks a center.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// The id of the ledger.
    pub ledger: String,
    /// Drawn at the start of the process: two processes are never one vault, whatever their ledgers are called.
    pub life: [u8; 16],
    /// Counts the asks of this life. A center does nothing for one that comes after a later one: it was given up, and what it
    /// says is not so any more.
    pub turn: u64,
}

/// What a vault says of one line, and what it would like. Everything in steps of 10^-18 of a currency or in payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which.
    pub line: Line,
    /// What is counted already: the part is never less.
    pub counted: u128,
    /// The least that would be of use; `counted` where nothing is wanted.
    pub need: u128,
    /// What it would like to have.
    pub want: u128,
    /// What the limit allows to all together.
    pub max: u128,
    /// For how many seconds after the vault's last sign of life its part may still matter; absent for ever.
    pub lasts_s: Option<u64>,
}

/// A limit of which everything was said that the vault has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub limit: Digest,
    /// As [`Asked::lasts_s`].
    pub lasts_s: Option<u64>,
}

/// What a center answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The part of each line that was asked about, in order.
    pub parts: Vec<u128>,
    /// Lines of this vault of which another one could not have what it needed lately.
    pub wanted: Vec<Line>,
}

/// Where vaults agree who holds how much.
///
/// Whatever becomes of an answer, a center never thinks that a vault holds less than the vault does: it writes a raise down
/// before it answers, and a vault gives up a part before it tells.
pub trait Center: fmt::Debug + Send + Sync {
    /// Settles each line that is asked about by [`settle()`], one after the other, notes that everything this vault has
    /// counted under the limits `declared` was said, and takes all of it as a sign of life; whole or not at all.
    ///
    /// # Errors
    ///
    /// [`CenterFault`]; then nothing is known of what was settled.
    fn settle(&self, who: &Who, asked: &[Asked], declared: &[Declared]) -> Result<Settled, CenterFault>;
}

/// Why a center gives no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CenterFault {
    /// It cannot be reached, or its answer did not come.
    #[error("the center of the shares does not answer: {0}")]
    Unreachable(String),
    /// The ask came after a later one of the same vault.
    #[error("the center of the shares was asked something else meanwhile; ask again")]
    Overtaken,
    /// Another process was a vault with this ledger a moment ago.
    #[error(
        "another vault with the ledger {0} holds its shares; if it ended, wait {LEASE_S} seconds, and if it is a copy of this one, end it"
    )]
    Elsewhere(String),
}
