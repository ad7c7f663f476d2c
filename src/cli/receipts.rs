//! `bursar receipts`: what was paid, one row a payment, or everything that may be told about one; and what was swept.

use std::collections::VecDeque;

use bursar_policy::PaymentId;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, PastPayment, Proof, SweepView};
use clap::Args;
use serde::Serialize;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{since, sweeps_shown, table};
use crate::{clock, standing};

/// How much is asked for at once.
const PAGE: u32 = 500;

/// Show what was paid: one row a payment, or everything about one.
#[derive(Debug, Args)]
pub(super) struct Receipts {
    /// One payment (`p_…`) or sweep (`w_…`), or the beginning of its id
    #[arg(value_name = "PAYMENT")]
    payment: Option<String>,
    /// Show at most this many payments, the newest
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Show only what was counted since then: `7d`, `2026-11-01`, `2026-11-01T10:00` or `2026-11-01T10:00:00Z`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Print one JSON object a payment and line
    #[arg(long)]
    json: bool,
}

/// What may be shown to anyone who was paid, or who checks the books.
#[derive(Debug, Serialize)]
struct Shown {
    payment: PaymentId,
    state: &'static str,
    /// By what the state is known; absent while it may still change by itself.
    proof: Option<Proof>,
    /// What an identical call is told.
    outcome: String,
    session: String,
    amount: String,
    symbol: String,
    money: String,
    network: String,
    asset: String,
    payee: String,
    payer: String,
    method: &'static str,
    origin: String,
    path: String,
    transaction: Option<String>,
    nonce: String,
    terms_digest: String,
    content_digest: Option<String>,
    counted_at: String,
    valid_before: String,
    ended_at: Option<String>,
}

impl Receipts {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let since = self.since.as_deref().map(|text| since::read(text, clock::now_s()));
        let since = since.transpose().map_err(Stop::usage)?.unwrap_or(0);
        let operator = Operator::connect_or_start(profile)?;
        let wanted = |past: &PastPayment| {
            since <= past.created_s
                && self.payment.as_ref().is_none_or(|beginning| past.payment.as_str().starts_with(beginning))
        };
        let found = newest(&operator, self.limit, wanted)?;
        let swept = self.swept(&operator, since)?;
        if found.is_empty()
            && swept.is_empty()
            && let Some(beginning) = &self.payment
        {
            let told = format!("there is no payment `{beginning}`; `bursar receipts` lists them");
            return Err(Stop::refused(told));
        }
        if self.json {
            found.iter().try_for_each(table::say_json)?;
            swept.iter().try_for_each(|sweep| table::say_json(&serde_json::json!({ "sweep": sweep })))?;
        } else if let (Some(_), [], [one]) = (&self.payment, &found[..], &swept[..]) {
            sweeps_shown::lines(one).iter().try_for_each(|line| table::say(line))?;
        } else if let (Some(_), [one]) = (&self.payment, &found[..]) {
            show(one)?;
        } else {
            let rows = found.iter().map(row).collect();
            let head = ["when", "payment", "state", "paid", "payee", "for", "transaction"];
            if swept.is_empty() || !found.is_empty() {
                table::say(&table::table(&head, &[3], rows))?;
            }
            if !swept.is_empty() {
                table::say(&table::table(sweeps_shown::HEAD, &[3], sweeps_shown::rows(&swept)))?;
            }
        }
        Ok(Exit::Done)
    }

    /// The newest sweeps that are wanted.
    fn swept(&self, operator: &Operator, since: u64) -> Result<Vec<SweepView>, Stop> {
        let OperatorReply::Sweeps(mut sweeps) = operator.ask(&OperatorAsk::Sweeps)? else { return Err(out_of_turn()) };
        sweeps.retain(|sweep| {
            since <= sweep.created_s
                && self.payment.as_ref().is_none_or(|beginning| sweep.id.as_str().starts_with(beginning))
        });
        Ok(sweeps)
    }
}

/// Whether what was typed is a payment's id or the beginning of one, and nothing else that a command takes.
pub(super) fn is_named(typed: &str) -> bool {
    typed.strip_prefix("p_").is_some_and(|digits| digits.len() <= 32 && digits.chars().all(|d| d.is_ascii_hexdigit()))
}

/// The payment whose id was typed, or as much of it as no other has.
///
/// # Errors
///
/// A [`Stop`]: exit code 3 where there is none, 2 where several begin so.
pub(super) fn named(operator: &Operator, typed: &str) -> Result<PaymentId, Stop> {
    if let Ok(whole) = typed.parse() {
        return Ok(whole);
    }
    if !is_named(typed) {
        let told = format!("`{}` is no payment; name one as `bursar receipts` lists them", typed.escape_debug());
        return Err(Stop::usage(told));
    }
    // Two are enough to know that it is not one.
    let mut found = newest(operator, 2, |past| past.payment.as_str().starts_with(typed))?.into_iter();
    match (found.next(), found.next()) {
        (None, _) => Err(Stop::refused(format!("there is no payment `{typed}`; `bursar receipts` lists them"))),
        (Some(one), None) => Ok(one.payment),
        (Some(_), Some(_)) => Err(Stop::usage(format!("`{typed}` begins more than one payment; type more of it"))),
    }
}

/// The newest payments that are wanted, oldest first.
fn newest(operator: &Operator, limit: u32, wanted: impl Fn(&PastPayment) -> bool) -> Result<Vec<Shown>, Stop> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut kept, mut after) = (VecDeque::new(), None);
    loop {
        let ask = OperatorAsk::Payments { limit: PAGE, after };
        let OperatorReply::Payments(page) = operator.ask(&ask)? else {
            return Err(out_of_turn());
        };
        let Some(last) = page.last() else { return Ok(kept.into()) };
        after = Some(last.payment.clone());
        for past in page.into_iter().filter(|past| wanted(past)) {
            if kept.len() == limit {
                kept.pop_front();
            }
            kept.push_back(shown(past));
        }
    }
}

fn shown(past: PastPayment) -> Shown {
    Shown {
        state: past.state.word(),
        proof: past.proof,
        outcome: past.receipt.outcome,
        session: past.session_name.to_string(),
        amount: past.terms.amount.to_string(),
        symbol: past.receipt.symbol,
        money: past.money.to_string(),
        network: past.terms.chain.to_string(),
        asset: past.terms.asset_id().to_string(),
        payee: past.terms.payee.to_string(),
        payer: past.payer.to_string(),
        method: past.method.as_str(),
        origin: past.site.origin().to_string(),
        path: past.site.path().to_owned(),
        transaction: past.receipt.transaction,
        nonce: past.nonce,
        terms_digest: past.terms_digest.to_string(),
        content_digest: past.content.map(|content| content.digest.to_string()),
        counted_at: table::utc(past.created_s),
        valid_before: table::utc(past.receipt.valid_before),
        ended_at: past.ended_s.map(table::utc),
        payment: past.payment,
    }
}

fn row(shown: &Shown) -> Vec<String> {
    vec![
        shown.counted_at.clone(),
        shown.payment.to_string(),
        shown.state.to_owned(),
        shown.money.clone(),
        shown.payee.clone(),
        format!("{} {}{}", shown.method, shown.origin, table::remark(&shown.path)),
        shown.transaction.clone().unwrap_or_default(),
    ]
}

/// One payment, a line for each thing that is known of it.
fn show(shown: &Shown) -> Result<(), Stop> {
    let proof = standing::known_by(shown.proof);
    let absent = || "-".to_owned();
    for (name, value) in [
        ("payment", shown.payment.to_string()),
        ("state", format!("{} ({proof})", shown.state)),
        ("outcome", shown.outcome.clone()),
        ("session", shown.session.clone()),
        ("paid", format!("{} ({} atomic units of {})", shown.money, shown.amount, shown.symbol)),
        ("payee", shown.payee.clone()),
        ("payer", shown.payer.clone()),
        ("network", shown.network.clone()),
        ("asset", shown.asset.clone()),
        ("for", format!("{} {}{}", shown.method, shown.origin, table::remark(&shown.path))),
        ("counted", shown.counted_at.clone()),
        ("valid before", shown.valid_before.clone()),
        ("ended", shown.ended_at.clone().unwrap_or_else(absent)),
        ("transaction", shown.transaction.clone().unwrap_or_else(absent)),
        ("nonce", shown.nonce.clone()),
        ("terms", shown.terms_digest.clone()),
        ("content", shown.content_digest.clone().unwrap_or_else(absent)),
    ] {
        table::say(&format!("{name:<13}{value}"))?;
    }
    Ok(())
}
