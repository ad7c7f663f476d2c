//! `bursar log`: the append-only event log, as a table or as lines of JSON.

use std::collections::{BTreeSet, VecDeque};

use bursar_policy::{PaymentId, SessionName, Site};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{since, table};
use crate::clock;

/// How much is asked for at once where the whole log is looked through.
const PAGE: u32 = 500;

/// Show what happened: payments, refusals, sessions, operator acts.
#[derive(Debug, Args)]
pub(super) struct Log {
    /// Show at most this many events, the newest
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Show only events after this number
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    /// Show only what happened since then: `7d`, `2026-11-01`, `2026-11-01T10:00` or `2026-11-01T10:00:00Z`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Show only what concerns sessions of this name
    #[arg(long, value_name = "NAME")]
    session: Option<SessionName>,
    /// Show only what concerns this host, and the payments to it
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Show only refusals
    #[arg(long)]
    refused: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

impl Log {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let since = self.since.as_deref().map(|text| since::read(text, clock::now_s()));
        let since = since.transpose().map_err(Stop::usage)?;
        let operator = Operator::connect_or_start(profile)?;
        let filtered = since.is_some() || self.session.is_some() || self.host.is_some() || self.refused;
        let entries = if filtered {
            self.filtered(&operator, since.unwrap_or(0))?
        } else {
            page(&operator, self.limit, self.after)?
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

    /// The newest entries that are wanted, from a look at the whole log.
    fn filtered(&self, operator: &Operator, since_s: u64) -> Result<Vec<LogEntry>, Stop> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let mut of_host = OfHost { host: self.host.as_deref(), payments: BTreeSet::new() };
        let (mut kept, mut last) = (VecDeque::new(), 0);
        loop {
            let entries = page(operator, PAGE, Some(last))?;
            let Some(end) = entries.last() else { return Ok(kept.into()) };
            last = end.seq;
            for entry in entries {
                // Asked about each, also before the beginning: a payment is told of its host when it is counted.
                let at_host = of_host.has(&entry);
                let wanted = since_s <= entry.at_s
                    && self.after.is_none_or(|after| after < entry.seq)
                    && self.session.as_ref().is_none_or(|name| entry.session.as_ref() == Some(name))
                    && (!self.refused || entry.kind == "refused")
                    && at_host;
                if wanted {
                    if kept.len() == limit {
                        kept.pop_front();
                    }
                    kept.push_back(entry);
                }
            }
        }
    }
}

/// What concerns one host, or everything.
struct OfHost<'a> {
    host: Option<&'a str>,
    payments: BTreeSet<PaymentId>,
}

impl OfHost<'_> {
    /// Whether an entry concerns the host: it names an address of it, or a payment that such an entry told of.
    fn has(&mut self, entry: &LogEntry) -> bool {
        let Some(host) = self.host else { return true };
        let known = entry.payment.as_ref().is_some_and(|payment| self.payments.contains(payment));
        let mut words = entry.detail.split([' ', ';', ',', '`']);
        let named = words.any(|word| Site::parse(word).is_ok_and(|site| site.host().to_string() == host));
        if let Some(payment) = entry.payment.as_ref().filter(|_payment| named) {
            self.payments.insert(payment.clone());
        }
        known || named
    }
}

fn page(operator: &Operator, limit: u32, after: Option<u64>) -> Result<Vec<LogEntry>, Stop> {
    match operator.ask(&OperatorAsk::Log { limit, after })? {
        OperatorReply::Log(entries) => Ok(entries),
        _ => Err(out_of_turn()),
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
