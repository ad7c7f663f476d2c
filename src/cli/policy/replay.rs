//! `bursar policy replay`: what rules would have made of the ledger's past. Reads it, and changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bursar_policy::{Currency, Money, PaymentId, Refusal, Rules, Setting};
use bursar_vault::client::AgentClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply, PastPayment, RowState};
use bursar_vault::rules_file;
use clap::Args;
use serde::Serialize;

use super::super::connect::{Operator, out_of_turn};
use super::super::exit::{Exit, Stop};
use super::super::{check, since, table};
use super::logged;
use super::past::Past;
use crate::clock;

/// How much is asked for at once.
const PAGE: u32 = 500;

/// Judge the ledger's past by new rules: what would they have allowed or blocked?
///
/// Each payment is judged by its stored terms at its time, and limits and budgets are counted again from the first
/// payment on, over those that would have been allowed. Refusals in the log are judged again where the log keeps enough:
/// it has the seller and the method, and no terms. The ledger does not keep how large a body was, so no `body_limit` is
/// asked. Nothing is paid and nothing is changed.
#[derive(Debug, Args)]
pub(in super::super) struct Replay {
    /// Show only what happened since then: `7d`, `2026-11-01`, `2026-11-01T10:00` or `2026-11-01T10:00:00Z`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// A rules file; the rules in force when left out
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Report {
    rules: String,
    payments: Vec<Judged>,
    refusals: Vec<Refused>,
    /// Refusals of the log that cannot be judged again.
    unknown: usize,
    allowed: Sums,
    blocked: Sums,
    /// How often each code is the first reason.
    codes: BTreeMap<&'static str, usize>,
}

/// One payment under the rules.
#[derive(Debug, Serialize)]
struct Judged {
    payment: PaymentId,
    at_s: u64,
    money: Money,
    url: String,
    then: RowState,
    allowed: bool,
    codes: Vec<&'static str>,
    reasons: Vec<String>,
}

/// One refusal of the log under the rules.
#[derive(Debug, Serialize)]
struct Refused {
    event: u64,
    at_s: u64,
    errand: String,
    then: String,
    now: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Sums {
    payments: usize,
    money: Vec<Money>,
}

impl Replay {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let since_s =
            self.since.as_deref().map_or(Ok(0), |text| since::read(text, clock::now_s())).map_err(Stop::usage)?;
        // Before a vault is started: a file that cannot be used needs none.
        let new = self.rules.as_ref().map(|path| Self::new_rules(path, profile.setting())).transpose()?;
        let operator = Operator::connect_or_start(profile)?;
        let (name, rules) = match new {
            Some(rules) => (self.rules.as_ref().map(|path| path.display().to_string()).unwrap_or_default(), rules),
            None => ("in force".to_owned(), in_force(profile)?),
        };
        let mut report = replayed(name, &rules, &operator, since_s)?;
        refusals(&mut report, &rules, &operator, since_s)?;
        if self.json {
            table::say_json(&report)?
        } else {
            show(&report)?
        }
        Ok(Exit::Done)
    }

    fn new_rules(path: &Path, setting: Setting) -> Result<Rules, Stop> {
        let text = check::text_of(path)?;
        rules_file::parse(&text, setting).map_err(|fault| check::refused(path, &fault))
    }
}

/// The rules that the running vault goes by.
fn in_force(profile: &Profile) -> Result<Rules, Stop> {
    let (_, welcome) = AgentClient::connect(profile, None)?;
    rules_file::parse(&welcome.rules, welcome.setting).map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))
}

fn replayed(name: String, rules: &Rules, operator: &Operator, since_s: u64) -> Result<Report, Stop> {
    let mut past = Past::under(rules);
    let mut report = Report {
        rules: name,
        payments: Vec::new(),
        refusals: Vec::new(),
        unknown: 0,
        allowed: Sums::default(),
        blocked: Sums::default(),
        codes: BTreeMap::new(),
    };
    let mut after = None;
    loop {
        let OperatorReply::Payments(page) = operator.ask(&OperatorAsk::Payments { limit: PAGE, after })? else {
            return Err(out_of_turn());
        };
        for payment in &page {
            // What came before `since` is not shown, and counts in the limits of what came after.
            let reasons = past.admit(payment).err().unwrap_or_default();
            if since_s <= payment.created_s {
                report.add(payment, &reasons);
            }
        }
        after = page.last().map(|payment| payment.payment.clone());
        if after.is_none() {
            return Ok(report);
        }
    }
}

fn refusals(report: &mut Report, rules: &Rules, operator: &Operator, since_s: u64) -> Result<(), Stop> {
    let mut after = 0;
    loop {
        let ask = OperatorAsk::Log { limit: PAGE, after: Some(after) };
        let OperatorReply::Log(page) = operator.ask(&ask)? else { return Err(out_of_turn()) };
        let Some(last) = page.last() else { return Ok(()) };
        after = last.seq;
        let is_it = |entry: &&LogEntry| entry.kind == "refused" && since_s <= entry.at_s;
        for entry in page.iter().filter(is_it) {
            match logged::again(rules, entry) {
                None => report.unknown = report.unknown.saturating_add(1),
                Some(logged::Again { errand, then, now }) => {
                    report.refusals.push(Refused { event: entry.seq, at_s: entry.at_s, errand, then, now });
                }
            }
        }
    }
}

impl Report {
    fn add(&mut self, past: &PastPayment, reasons: &[Refusal]) {
        let sums = if reasons.is_empty() { &mut self.allowed } else { &mut self.blocked };
        sums.add(past.money);
        if let Some(first) = reasons.first() {
            let seen = self.codes.entry(first.code()).or_default();
            *seen = seen.saturating_add(1);
        }
        self.payments.push(Judged {
            payment: past.payment.clone(),
            at_s: past.created_s,
            money: past.money,
            url: past.site.url(),
            then: past.state,
            allowed: reasons.is_empty(),
            codes: reasons.iter().map(Refusal::code).collect(),
            reasons: reasons.iter().map(ToString::to_string).collect(),
        });
    }
}

impl Sums {
    fn add(&mut self, money: Money) {
        self.payments = self.payments.saturating_add(1);
        let same = |sum: &&mut Money| sum.currency() == money.currency();
        match self.money.iter_mut().find(same) {
            Some(sum) => *sum = Money::new(money.currency(), sum.atto().saturating_add(money.atto())),
            None => self.money.push(money),
        }
    }

    fn words(&self) -> String {
        let nothing = || vec![Money::zero(Currency::USD)];
        let money = if self.money.is_empty() { nothing() } else { self.money.clone() };
        let money: Vec<String> = money.iter().map(ToString::to_string).collect();
        format!("{} ({})", self.payments, money.join(", "))
    }
}

fn show(report: &Report) -> Result<(), Stop> {
    let mut rows = Vec::new();
    for judged in &report.payments {
        let then = serde_json::to_value(judged.then).map_err(std::io::Error::from)?;
        let now = if judged.allowed { "allowed".to_owned() } else { format!("blocked: {}", judged.codes.join(", ")) };
        rows.push((
            judged.at_s,
            vec![
                judged.payment.to_string(),
                table::time(judged.at_s),
                judged.money.to_string(),
                then.as_str().unwrap_or_default().to_owned(),
                now,
            ],
        ));
    }
    for refused in &report.refusals {
        let now = refused.now.as_ref().map_or_else(|| "may be asked".to_owned(), |code| format!("refused: {code}"));
        rows.push((
            refused.at_s,
            vec![
                refused.errand.clone(),
                table::time(refused.at_s),
                String::new(),
                format!("refused: {}", refused.then),
                now,
            ],
        ));
    }
    rows.sort_by_key(|(at_s, _)| *at_s);
    if !rows.is_empty() {
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        table::say(&table::table(&["payment", "when", "amount", "then", "now"], &[2], rows))?;
    }
    table::say(&format!("rules    {}", report.rules))?;
    table::say(&format!("allowed  {}", report.allowed.words()))?;
    table::say(&format!("blocked  {}", report.blocked.words()))?;
    for (code, times) in &report.codes {
        table::say(&format!("         {code}: {times}"))?;
    }
    if report.unknown != 0 {
        let told = format!("{} refusals in the log cannot be judged again: it keeps no terms", report.unknown);
        table::say(&format!("unknown  {told}"))?;
    }
    Ok(())
}
