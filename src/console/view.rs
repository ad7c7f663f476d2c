//! How everything stands, as the page is told: one value, every text of it visible. Must never hold a secret, a signature or an
//! opinion.

mod parts;
mod people;

use bursar_vault::client::OperatorClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ApprovalView, OperatorAsk, OperatorReply, OperatorStatus, PastPayment};
use serde::Serialize;

use self::parts::{Approval, Budget, Event, Gauge, Open, Payment};
use self::people::{Person, hosts, payees};
use super::books::{Check, Checker};
use super::burn::{self, Chart};
use super::past::Past;
use super::shown::Shown;
use super::word::{NotDone, out_of_turn};

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
    notes: Vec<Shown>,
    /// Money in payments that are not resolved.
    held: Vec<Shown>,
    budgets: Vec<Budget>,
    limits: Vec<Gauge>,
    charts: Vec<Chart>,
    approvals: Vec<Approval>,
    unresolved: Vec<Open>,
    /// Newest first.
    payments: Vec<Payment>,
    payments_behind: bool,
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
    let sandbox = profile.setting() == bursar_policy::Setting::Sandbox;
    Ok(whole(&status, &approvals, past, sandbox, checker.now()))
}

fn whole(status: &OperatorStatus, approvals: &[ApprovalView], past: &Past, sandbox: bool, check: Check) -> State {
    let payments: Vec<&PastPayment> = past.payments.iter().collect();
    State {
        now_s: status.now_s,
        sandbox,
        payer: status.payer.as_ref().map(Shown::of),
        locked: status.locked,
        frozen: status.frozen.as_ref().map(Shown::of),
        latched: status.latched.as_ref().map(Shown::of),
        rules_changed: status.rules_changed,
        next: status.next_step.as_ref().map(Shown::of),
        notes: notes(status),
        held: status.held.iter().map(Shown::of).collect(),
        budgets: status.sessions.iter().map(|session| Budget::of(session, status.now_s)).collect(),
        limits: status.limits.iter().flat_map(Gauge::of).collect(),
        charts: charts(status, past, &payments),
        approvals: approvals.iter().map(Approval::of).collect(),
        unresolved: status.unresolved.iter().map(Open::of).collect(),
        payments: payments.iter().rev().map(|payment| Payment::of(payment)).collect(),
        payments_behind: past.is_behind,
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

/// What `bursar status` says in lines of their own.
fn notes(status: &OperatorStatus) -> Vec<Shown> {
    let mut notes = Vec::new();
    if status.rules_changed {
        notes.push(Shown::of("the rules file differs from the rules in force; `bursar reload` loads it"));
    }
    for name in &status.secrets_missing {
        notes.push(Shown::of(&format!(
            "the rules name the secret `{name}`, which is not kept; `bursar secret set {name}`"
        )));
    }
    for payment in &status.denied {
        notes.push(Shown::of(&format!(
            "the seller said that {payment} was settled, and the chain shows that it never was; `bursar claim {payment}` \
             writes it all down"
        )));
    }
    if let Some(trouble) = status.shares.as_ref().and_then(|shares| shares.trouble.as_ref()) {
        notes.push(Shown::of(&format!("the center of shares: {trouble}")));
    }
    notes
}
