//! `bursar status`: budgets, limits, what is unresolved, and the person's next step.

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{LimitView, OperatorAsk, OperatorReply, OperatorStatus, Outstanding};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::table::{self, Paint};
use super::{chains_shown, session};
use crate::spelling;
use crate::standing::{self, Note, Weight};

/// The cells of a limit's bar.
const BAR: u16 = 16;

/// Show budgets, what is unresolved, and the next step for you.
#[derive(Debug, Args)]
pub(super) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let OperatorReply::Status(status) = Operator::connect_or_start(profile)?.ask(&OperatorAsk::Status)? else {
            return Err(out_of_turn());
        };
        if self.json {
            table::say_json(&status)?;
        } else {
            show(profile, &status)?;
        }
        Ok(Exit::Done)
    }
}

/// A part of what is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// One line about one thing, behind a mark.
    Marked(String, Paint, String),
    /// Lines or a table.
    Plain(String),
}

impl Part {
    /// One line about one thing.
    pub(super) fn marked(what: &str, paint: Paint, says: &str) -> Self {
        Self::Marked(format!("{what:<10}"), paint, says.to_owned())
    }

    fn of(note: Note) -> Self {
        let paint = match note.weight {
            Weight::Good => Paint::Good,
            Weight::Odd => Paint::Odd,
            Weight::Bad => Paint::Bad,
        };
        Self::marked(note.mark, paint, &note.says)
    }
}

fn show(profile: &Profile, status: &OperatorStatus) -> Result<(), Stop> {
    parts(profile, status).iter().try_for_each(|part| match part {
        Part::Marked(mark, paint, says) => table::say_marked(mark, *paint, says, 12),
        Part::Plain(text) => table::say(text),
    })
}

/// Everything, the most urgent first.
pub(super) fn parts(profile: &Profile, status: &OperatorStatus) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut told = |what: &str, paint, says: &str| parts.push(Part::marked(what, paint, says));
    let payer = status.payer.map_or_else(|| "no key yet".to_owned(), |payer| payer.to_string());
    let (paint, is) = if status.locked { (Paint::Odd, "locked") } else { (Paint::Good, "unlocked") };
    told("wallet", paint, &format!("{payer} ({is})"));
    parts.extend(standing::former(status).into_iter().map(Part::of));
    parts.extend(standing::sweeps(status).into_iter().map(Part::of));
    let mut told = |what: &str, paint, says: &str| parts.push(Part::marked(what, paint, says));
    if let Some(reason) = &status.frozen {
        told("FROZEN", Paint::Bad, reason);
    }
    if let Some(reason) = &status.latched {
        told("SHUT", Paint::Bad, reason);
    }
    parts.extend(standing::rules(profile, status).map(Part::of));
    for money in &status.held {
        parts.push(Part::Plain(format!("set aside   {money} in payments that are not resolved")));
    }
    let waits = match status.approvals_waiting {
        0 => None,
        1 => Some("1 purchase waits for you; `bursar approvals` shows it".to_owned()),
        many => Some(format!("{many} purchases wait for you; `bursar approvals` shows them")),
    };
    if let Some(waits) = waits {
        parts.push(Part::marked("approvals", Paint::Odd, &spelling::advice(profile, &waits)));
    }
    parts.extend(standing::secrets(profile, status).into_iter().map(Part::of));
    if !status.sessions.is_empty() {
        parts.push(Part::Plain(session::shown(&status.sessions)));
    }
    if !status.limits.is_empty() {
        let limits = table::table(&["limit", "window", "", "used", "of"], &[3, 4], limits(&status.limits));
        parts.push(Part::Plain(limits));
    }
    if !status.unresolved.is_empty() {
        let rows = unresolved(&status.unresolved, status.now_s);
        parts.push(Part::Plain(table::table(UNRESOLVED, &[1], rows)));
    }
    parts.extend(lost(profile, status));
    parts.extend(standing::denied(profile, status).into_iter().map(Part::of));
    parts.extend(chains_shown::lines(&status.chains).into_iter().map(Part::Plain));
    parts.extend(standing::shares(status).map(Part::of));
    parts.extend(standing::next(profile, status).map(|step| Part::marked("next", Paint::Odd, &step)));
    parts
}

/// What was lost, and who is in quarantine.
fn lost(profile: &Profile, status: &OperatorStatus) -> Vec<Part> {
    let mut parts = Vec::new();
    if !status.lost.is_empty() {
        let rows = status.lost.iter().map(|lost| vec![lost.of.clone(), lost.count.to_string()]).collect();
        parts.push(Part::Plain(table::table(&["lost, as `max_unresolved` counts", "payments"], &[1], rows)));
    }
    if !status.quarantined.is_empty() {
        let rows = status.quarantined.iter().map(|host| {
            let (failures, strikes) = (host.failures.to_string(), host.strikes.to_string());
            vec![host.origin.clone(), table::left(status.now_s, host.until_s), failures, strikes]
        });
        parts.push(Part::Plain(table::table(&["in quarantine", "for", "failed", "refused"], &[2, 3], rows.collect())));
    }
    if !parts.is_empty() {
        let says = "once you know why, `bursar resume` with one of these lets payments go there again";
        parts.push(Part::Plain(spelling::advice(profile, says)));
    }
    parts
}

fn limits(limits: &[LimitView]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for limit in limits {
        let name = (limit.scope.to_string(), limit.window.to_string());
        if let (Some(used), Some(max)) = (limit.used, limit.max) {
            let bar = table::bar(used.atto(), max.atto(), BAR);
            rows.push(vec![name.0.clone(), name.1.clone(), bar, used.to_string(), max.to_string()]);
        }
        if let Some(count) = limit.count {
            let bar = table::bar(u128::from(limit.count_used), u128::from(count), BAR);
            rows.push(vec![name.0, name.1, bar, limit.count_used.to_string(), format!("{count} payments")]);
        }
    }
    rows
}

/// The heads of a table of payments whose end nobody knows.
pub(super) const UNRESOLVED: &[&str] = &["unresolved", "amount", "payee", "asked for, as serve says", "authorization"];

/// The rows of that table.
pub(super) fn unresolved(open: &[Outstanding], now_s: u64) -> Vec<Vec<String>> {
    let row = |Outstanding { receipt, origin, path }: &Outstanding| {
        vec![
            receipt.payment.to_string(),
            receipt.money.to_string(),
            receipt.payee.to_string(),
            format!("{origin}{path}"),
            table::left(now_s, receipt.valid_before),
        ]
    };
    open.iter().map(row).collect()
}
