//! `bursar log`: the append-only event log, as a table or as lines of JSON.

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::table;

/// Show what happened: payments, refusals, sessions, operator acts.
#[derive(Debug, Args)]
pub(super) struct Log {
    /// Show at most this many events, the newest
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Show only events after this number
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

impl Log {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let ask = OperatorAsk::Log { limit: self.limit, after: self.after };
        let OperatorReply::Log(entries) = Operator::connect_or_start(profile)?.ask(&ask)? else {
            return Err(out_of_turn());
        };
        if self.json {
            for entry in &entries {
                table::say_json(entry)?;
            }
        } else {
            table::say(&table::table(
                &["#", "when", "what", "payment", "detail"],
                &[0],
                entries.iter().map(row).collect(),
            ))?;
        }
        Ok(Exit::Done)
    }
}

fn row(entry: &LogEntry) -> Vec<String> {
    vec![
        entry.seq.to_string(),
        table::time(entry.at_s),
        entry.kind.clone(),
        entry.payment.as_ref().map(ToString::to_string).unwrap_or_default(),
        entry.detail.clone(),
    ]
}
