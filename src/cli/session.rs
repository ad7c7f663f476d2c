//! `bursar session new|list|close`: budgets that only a person opens.

mod mandate;

use bursar_policy::errand::SessionName;
use bursar_policy::money::Money;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase, SessionView};
use clap::{Args, Subcommand};

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{table, terminal};

/// Open, list or close a budget for the agent.
#[derive(Debug, Subcommand)]
pub(super) enum Session {
    /// Open a budget: an amount, an end, and perhaps what it is for. Needs your passphrase
    New(New),
    /// List the budgets
    List(List),
    /// Close a budget; what is in flight stays counted
    Close(Close),
}

#[derive(Debug, Args)]
pub(super) struct New {
    /// The most it may spend, for example `5.00 USD`
    #[arg(long, value_name = "AMOUNT")]
    budget: String,
    /// How long it lasts, in minutes
    #[arg(long, default_value_t = 60, value_name = "MINUTES")]
    minutes: u32,
    /// Its name; `serve` spends from the one called `default` unless told otherwise
    #[arg(long, default_value = "default", value_name = "NAME")]
    name: String,
    #[command(flatten)]
    mandate: mandate::Typed,
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Close {
    /// Its name
    #[arg(default_value = "default")]
    name: String,
}

impl Session {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        match self {
            Self::New(new) => new.run(profile),
            Self::List(list) => list.run(profile),
            Self::Close(close) => close.run(profile),
        }
    }
}

impl New {
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let name = name(&self.name)?;
        let budget: Money = self.budget.parse().map_err(|fault| Stop::usage(format!("`--budget`: {fault}")))?;
        if budget.atto() == 0 || self.minutes == 0 {
            return Err(Stop::usage("a budget needs an amount above zero and one or more minutes; name both"));
        }
        let mandate = self.mandate.mandate()?;
        let operator = Operator::connect_or_start(profile)?;
        let bounds = if mandate.is_some() { ", and only for this" } else { "" };
        table::complain(&format!(
            "A budget of {budget} for {} minutes, called `{name}`. The agent can spend it without asking you, inside the rules{bounds}.",
            self.minutes
        ));
        if let Some(mandate) = &mandate {
            table::complain(&mandate::lines(mandate));
        }
        terminal::typed_back_as(
            &format!("Type the amount ({budget}) to agree:"),
            |typed| typed.parse() == Ok(budget),
            profile.setting(),
        )?;
        let passphrase = Passphrase::new(terminal::secret("Operator passphrase", profile.setting())?);
        match operator.ask(&OperatorAsk::SessionNew { name, budget, minutes: self.minutes, mandate, passphrase })? {
            OperatorReply::Session(session) => {
                table::say(&format!("Opened: {} until {}.", session.budget, table::time(session.expires_s)))?;
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}

impl List {
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let OperatorReply::Sessions(sessions) = Operator::connect_or_start(profile)?.ask(&OperatorAsk::SessionList)?
        else {
            return Err(out_of_turn());
        };
        if self.json {
            table::say_json(&sessions)?;
        } else if sessions.is_empty() {
            table::say("No budget was ever opened. `bursar session new --budget \"1.00 USD\"` opens one.")?;
        } else {
            table::say(&shown(&sessions))?;
        }
        Ok(Exit::Done)
    }
}

impl Close {
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let ask = OperatorAsk::SessionClose { name: name(&self.name)? };
        match Operator::connect_or_start(profile)?.ask(&ask)? {
            OperatorReply::Session(session) => {
                table::say(&format!("Closed `{}`: {} of {} was spent.", session.name, session.spent, session.budget))?;
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}

/// The budgets as a table, and below it what those that are not closed are for.
pub(super) fn shown(sessions: &[SessionView]) -> String {
    let rows = sessions
        .iter()
        .map(|session| {
            vec![
                session.name.to_string(),
                table::bar(session.spent.atto(), session.budget.atto(), 16),
                session.spent.to_string(),
                session.budget.to_string(),
                if session.closed { "closed".to_owned() } else { table::time(session.expires_s) },
            ]
        })
        .collect();
    let mut shown = table::table(&["session", "", "spent", "budget", "until"], &[2, 3], rows);
    for session in sessions.iter().filter(|session| !session.closed) {
        if let Some(mandate) = &session.mandate {
            shown.push_str(&format!("\n`{}` is\n{}", session.name, mandate::lines(mandate)));
        }
    }
    shown
}

/// A session's name as the person typed it.
pub(super) fn name(typed: &str) -> Result<SessionName, Stop> {
    typed.parse().map_err(|fault| Stop::usage(format!("`{}`: {fault}", typed.escape_debug())))
}
