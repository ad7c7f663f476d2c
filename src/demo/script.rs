//! The demo's script: every step in order, each measured at the seller, in the ledger and in the token balances.
//!
//! It must never take bursar's word for anything that the seller's books or the play chain can show.

mod account;
mod budgets;
mod crash;
mod hostile;
mod measure;
mod purchases;

use std::io;

use self::measure::Scribe;
use super::client::{ClientFault, Era};
use super::show::{Show, Verdict};
use super::stage::{OperatorFault, Stage, StageFault};

/// Why the script could not be played to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScriptFault {
    /// The stage.
    #[error(transparent)]
    Stage(#[from] StageFault),
    /// The vault's operator socket.
    #[error(transparent)]
    Operator(#[from] OperatorFault),
    /// An MCP client.
    #[error(transparent)]
    Client(#[from] ClientFault),
    /// The output.
    #[error("could not write the demo's output: {0}")]
    Output(#[from] io::Error),
}

/// Plays every step on `stage` and tells `show` what runs.
pub(crate) async fn play(stage: &Stage, show: &mut Show<'_>) -> Result<Verdict, ScriptFault> {
    let mut scribe = Scribe::open(stage, show).await?;
    stage.operator().open_session("single", "2.00 USD").await?;
    let single = stage.client("single", Era::Stateless).await?;
    purchases::play(stage, &mut scribe, &single).await?;
    hostile::play(stage, &mut scribe, &single).await?;
    single.close().await?;
    budgets::play(stage, &mut scribe).await?;
    crash::play(stage, &mut scribe).await?;
    Ok(scribe.close(stage))
}
