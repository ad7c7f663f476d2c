//! Sweeps as a person sees them, in a table or in lines. Decides nothing.

use bursar_policy::SweepId;
use bursar_vault::protocol::{ChainVerdict, SweepState, SweepView};

use super::table;

/// The heads of a table of sweeps.
pub(super) const HEAD: &[&str] = &["when", "sweep", "state", "moved", "out of", "to", "transaction"];

/// The rows of that table.
pub(super) fn rows(sweeps: &[SweepView]) -> Vec<Vec<String>> {
    let row = |sweep: &SweepView| {
        let transaction = sweep.proof.as_ref().and_then(|proof| proof.transaction.clone());
        vec![
            table::utc(sweep.created_s),
            sweep.id.to_string(),
            sweep.state.word().to_owned(),
            sweep.money.to_string(),
            sweep.account.to_string(),
            sweep.to.to_string(),
            transaction.unwrap_or_default(),
        ]
    };
    sweeps.iter().map(row).collect()
}

/// One sweep, a line for each thing that is known of it.
pub(super) fn lines(sweep: &SweepView) -> Vec<String> {
    let known = match sweep.state {
        SweepState::Ordered => "whoever has its file may still submit it",
        SweepState::Presumed => "its time is over, and no chain was asked or showed how it ended",
        SweepState::Moved => "the chain shows that the money moved",
        SweepState::Unmoved => "the chain shows that it never moved",
    };
    let absent = || "-".to_owned();
    let transaction = sweep.proof.as_ref().and_then(|proof| proof.transaction.clone());
    [
        ("sweep", sweep.id.to_string()),
        ("state", format!("{} ({known})", sweep.state.word())),
        ("moved", format!("{} ({} {})", sweep.money, sweep.amount, sweep.symbol)),
        ("out of", sweep.account.to_string()),
        ("to", sweep.to.to_string()),
        ("asset", sweep.asset.to_string()),
        ("ordered", table::utc(sweep.created_s)),
        ("valid before", table::utc(sweep.valid_before)),
        ("ended", sweep.ended_s.map_or_else(absent, table::utc)),
        ("transaction", transaction.unwrap_or_else(absent)),
        ("nonce", sweep.nonce.clone()),
    ]
    .into_iter()
    .map(|(name, value)| format!("{name:<13}{value}"))
    .collect()
}

/// What a chain proved of a sweep just now.
pub(super) fn proved((id, verdict): &(SweepId, ChainVerdict)) -> Vec<String> {
    let told = match verdict {
        ChainVerdict::Paid => "moved: the chain shows it",
        ChainVerdict::Unused | ChainVerdict::Cancelled => "NOT MOVED: it never was submitted, and cannot be any more",
    };
    vec![id.to_string(), told.to_owned()]
}
