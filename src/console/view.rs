//! How everything stands, as the page is told: one value, every text of it visible. Must never hold a secret, a signature or an
//! opinion.

mod parts;
mod people;

use bursar_policy::Setting;
use bursar_vault::client::OperatorClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ApprovalView, OperatorAsk, OperatorReply, OperatorStatus, PastPayment};
use serde::Serialize;

use self::parts::{Approval, Budget, Event, Gauge, Open, Payment, Remark};
use self::people::{Person, hosts, payees};
use super::books::{Check, Checker};
use super::burn::{self, Chart};
use super::past::Past;
use super::shown::Shown;
use super::word::{NotDone, out_of_turn};
use crate::standing;

/// Charts of budgets at most.
const CHARTS_MAX: usize = 6;

/// Everything that the page shows.
#[derive(Debug, Serialize)]
pub(super) struct State {
    /// Ledger time, Unix seconds.
    now_s: u64,
    sandbox: bool,
    payer: Option<Shown>,
    locked: bool,
    frozen: Option<Shown>,
    latched: Option<Shown>,
    rules_changed: bool,
    /// What a person should do next.
    next: Option<Shown>,
    /// What else a person should know.
    notes: Vec<Remark>,
    /// Money in payments that are not resolved.
    held: Vec<Shown>,
    budgets: Vec<Budget>,
    limits: Vec<Gauge>,
    charts: Vec<Chart>,
    approvals: Vec<Approval>,
    unresolved: Vec<Open>,
    /// Newest first.
    payments: Vec<Payment>,
    /// When the oldest of the payments was counted from which a chart would be drawn further back; absent where all are whole.
    charts_from_s: Option<u64>,
    refusals: Vec<Event>,
    acts: Vec<Event>,
    hosts: Vec<Person>,
    payees: Vec<Person>,
    check: Check,
}

/// Asks the vault how everything stands.
///
/// # Errors
///
/// [`NotDone`] where it cannot be asked.
pub(super) fn state(profile: &Profile, past: &mut Past, checker: &Checker) -> Result<State, NotDone> {
    let (operator, welcome) = OperatorClient::connect(profile)?;
    let OperatorReply::Status(status) = operator.ask(&OperatorAsk::Status)? else { return Err(out_of_turn()) };
    let OperatorReply::Approvals { approvals, .. } = operator.ask(&OperatorAsk::Approvals)? else {
        return Err(out_of_turn());
    };
    past.look(&operator, welcome.pid, status.rules_digest)?;
    Ok(whole(profile, &status, &approvals, past, checker.now()))
}

fn whole(profile: &Profile, status: &OperatorStatus, approvals: &[ApprovalView], past: &Past, check: Check) -> State {
    let payments: Vec<&PastPayment> = past.payments.iter().collect();
    let charts = charts(status, past, &payments);
    State {
        now_s: status.now_s,
        sandbox: profile.setting() == Setting::Sandbox,
        payer: status.payer.as_ref().map(Shown::of),
        locked: status.locked,
        frozen: status.frozen.as_ref().map(Shown::of),
        latched: status.latched.as_ref().map(Shown::of),
        rules_changed: status.rules_changed,
        next: standing::next(profile, status).as_ref().map(Shown::of),
        notes: standing::notes(profile, status).iter().map(Remark::of).collect(),
        held: status.held.iter().map(Shown::of).collect(),
        budgets: status.sessions.iter().map(|session| Budget::of(session, status.now_s)).collect(),
        limits: status.limits.iter().flat_map(Gauge::of).collect(),
        charts_from_s: past.begins_s.filter(|from_s| charts.iter().any(|chart| chart.begins_s < *from_s)),
        charts,
        approvals: approvals.iter().map(Approval::of).collect(),
        unresolved: status.unresolved.iter().map(Open::of).collect(),
        payments: payments.iter().rev().map(|payment| Payment::of(payment)).collect(),
        refusals: past.refusals.iter().rev().map(Event::of).collect(),
        acts: past.acts.iter().rev().map(Event::of).collect(),
        hosts: hosts(status, past.rules.as_ref().map(|(_, rules)| rules), &payments),
        payees: payees(status, past.rules.as_ref().map(|(_, rules)| rules), &payments),
        check,
    }
}

fn charts(status: &OperatorStatus, past: &Past, payments: &[&PastPayment]) -> Vec<Chart> {
    let open = |session: &&bursar_vault::protocol::SessionView| !session.closed && status.now_s < session.expires_s;
    let budgets = status.sessions.iter().filter(open).take(CHARTS_MAX);
    let mut charts: Vec<Chart> = budgets.map(|session| burn::of_session(session, payments, status.now_s)).collect();
    if let Some((_, rules)) = &past.rules {
        let limits = status.limits.iter();
        charts.extend(limits.filter_map(|limit| burn::of_limit(limit, rules, payments, status.now_s)));
    }
    charts
}
