//! `bursar approvals|approve|deny`: a person looks at what would be paid, term by term, and says yes or no.
//!
//! Shows what would be signed and sent, and no word of a seller's about it; of a model's words the URL and its doubt, which
//! is quoted. Must never show one thing and approve another.

use bursar_policy::ApprovalId;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ApprovalState, ApprovalView, OperatorAsk, OperatorReply, Passphrase};
use clap::Args;
use serde::Serialize;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{table, terminal};
use crate::terms_shown::{self, Word};

/// List the purchases that wait for you, and those you decided about.
#[derive(Debug, Args)]
pub(super) struct Approvals {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Allow one purchase that waits for you. Shows its terms, and needs your passphrase.
#[derive(Debug, Args)]
pub(super) struct Approve {
    /// Its id, or as much of it as no other has
    #[arg(value_name = "ID")]
    id: String,
}

/// Refuse one purchase that waits for you, or take an unused yes back (no passphrase needed).
#[derive(Debug, Args)]
pub(super) struct Deny {
    /// Its id, or as much of it as no other has
    #[arg(value_name = "ID")]
    id: String,
}

/// What a program is told.
#[derive(Debug, Serialize)]
struct Told {
    approvals: Vec<ApprovalView>,
    now_s: u64,
}

impl Approvals {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let told = list(&Operator::connect_or_start(profile)?)?;
        if self.json {
            table::say_json(&told)?;
        } else if told.approvals.is_empty() {
            table::say("No purchase waits for you.")?;
        } else {
            let rows = told.approvals.iter().map(|view| row(view, told.now_s)).collect();
            table::say(&table::table(HEADS, &[2], rows))?;
        }
        Ok(Exit::Done)
    }
}

impl Approve {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let told = list(&operator)?;
        let view = found(&told.approvals, &self.id)?;
        let said = match view.state {
            ApprovalState::Waiting => None,
            ApprovalState::Denied => Some("no"),
            ApprovalState::Approved | ApprovalState::Used | ApprovalState::Expired => Some("yes"),
        };
        if let Some(word) = said {
            return Err(Stop::refused(format!(
                "a person said {word} to `{}` already; `bursar approvals` lists those that wait",
                view.id
            )));
        }
        for (name, value) in terms(view, told.now_s) {
            table::complain(&format!("{name:<12}{value}"));
        }
        terminal::typed_back_as(
            &format!("Type the price ({}) to approve this one payment:", view.money),
            |typed| typed.parse() == Ok(view.money),
            profile.setting(),
        )?;
        let passphrase = Passphrase::new(terminal::secret("Operator passphrase", profile.setting())?);
        let ask = OperatorAsk::Approve { id: view.id.clone(), binding: view.binding, passphrase };
        decided(&operator, &ask, Word::Yes)
    }
}

impl Deny {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        // What is no longer listed is looked up by its whole id, so that the vault says what became of it.
        let id = match self.id.parse::<ApprovalId>() {
            Ok(whole) => whole,
            Err(_) => found(&list(&operator)?.approvals, &self.id)?.id.clone(),
        };
        decided(&operator, &OperatorAsk::Deny { id }, Word::No)
    }
}

fn list(operator: &Operator) -> Result<Told, Stop> {
    match operator.ask(&OperatorAsk::Approvals)? {
        OperatorReply::Approvals { approvals, now_s } => Ok(Told { approvals, now_s }),
        _ => Err(out_of_turn()),
    }
}

/// The one whose id begins as typed.
fn found<'a>(approvals: &'a [ApprovalView], typed: &str) -> Result<&'a ApprovalView, Stop> {
    let mut matching = approvals.iter().filter(|view| view.id.as_str().starts_with(typed));
    let shown = typed.escape_debug();
    match (matching.next(), matching.next()) {
        (Some(view), None) => Ok(view),
        (Some(_), Some(_)) => Err(Stop::usage(format!("`{shown}` begins more than one id; type more of it"))),
        (None, _) => Err(Stop::refused(format!(
            "no purchase waits under `{shown}`; it may be bought or over, and `bursar approvals` lists those that wait"
        ))),
    }
}

fn decided(operator: &Operator, ask: &OperatorAsk, word: Word) -> Result<Exit, Stop> {
    let OperatorReply::Decided(view) = operator.ask(ask)? else { return Err(out_of_turn()) };
    table::say(&word.told(&view, &table::time(view.expires_s)))?;
    Ok(Exit::Done)
}

/// The heads of a table of purchases before a person.
pub(super) const HEADS: &[&str] = &["id", "what, as reported by serve", "price", "payee", "why", "still"];

/// A row of that table.
pub(super) fn row(view: &ApprovalView, now_s: u64) -> Vec<String> {
    let left = table::left(now_s, view.expires_s);
    vec![
        view.id.to_string(),
        format!("{} {}", view.method, view.site),
        view.money.to_string(),
        view.terms.payee.to_string(),
        view.concerns.join("; "),
        match view.state {
            ApprovalState::Waiting => left,
            ApprovalState::Approved => format!("approved, {left}"),
            ApprovalState::Denied => format!("denied, {left}"),
            ApprovalState::Used | ApprovalState::Expired => "over".to_owned(),
        },
    ]
}

/// Everything that the word is bound to, and why it is asked for.
fn terms(view: &ApprovalView, now_s: u64) -> Vec<(&'static str, String)> {
    let mut lines = terms_shown::bound(view);
    lines.push(("asked", table::time(view.asked_s)));
    lines.push(("waits", table::left(now_s, view.expires_s)));
    lines.extend(view.concerns.iter().map(|concern| ("why", concern.clone())));
    lines
}
