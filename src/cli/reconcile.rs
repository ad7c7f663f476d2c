//! `bursar reconcile`: has the chains of the rules asked now, and shows what they proved. The vault decides what that moves.

use bursar_policy::PaymentId;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ChainOutcome, OperatorAsk, OperatorReply, Reconciled};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{chains_shown, sweeps_shown, table};
use crate::spelling;

/// Ask the chains of the rules now what became of payments, and show what they proved.
#[derive(Debug, Args)]
pub(super) struct Reconcile {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Reconcile {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let reply = Operator::connect_or_start(profile)?.ask(&OperatorAsk::Reconcile)?;
        let OperatorReply::Reconciled(reconciled) = reply else {
            return Err(out_of_turn());
        };
        if self.json {
            table::say_json(&reconciled)?;
        } else {
            show(profile, &reconciled)?;
        }
        let troubled = reconciled.chains.iter().any(|chain| chain.trouble.is_some());
        Ok(if troubled { Exit::Failed } else { Exit::Done })
    }
}

fn show(profile: &Profile, reconciled: &Reconciled) -> Result<(), Stop> {
    if reconciled.chains.is_empty() {
        return table::say("The rules have no chain asked; `[[chain]]` names the endpoints.");
    }
    let swept = reconciled.swept.iter().map(sweeps_shown::proved);
    let rows: Vec<Vec<String>> = reconciled.proved.iter().map(row).chain(swept).collect();
    if rows.is_empty() {
        table::say("Nothing was proved that was not before.")?;
    } else {
        table::say(&table::table(&["payment or sweep", "proved"], &[], rows))?;
    }
    for line in chains_shown::lines(&reconciled.chains) {
        table::say(&spelling::advice(profile, &line))?;
    }
    Ok(())
}

fn row((payment, outcome): &(PaymentId, ChainOutcome)) -> Vec<String> {
    let told = match outcome {
        ChainOutcome::Settled => "settled: the chain shows it paid",
        ChainOutcome::Confirmed => "paid, as the seller said",
        ChainOutcome::Lapsed => "lapsed: the money never moved and is back",
        ChainOutcome::Denied => "NOT PAID, although the seller said so; it stays counted",
    };
    vec![payment.to_string(), told.to_owned()]
}
