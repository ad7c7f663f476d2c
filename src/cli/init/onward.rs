//! What comes after the profile is there: a first budget, the clients, and one purchase to look at. Each step can be left
//! out, and one that was done is not asked for again.

use std::path::Path;

use bursar_policy::{Money, SessionName, Setting};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, OperatorStatus, Passphrase};
use zeroize::Zeroizing;

use super::conversation::said_first;
use crate::cli::connect::{Operator, out_of_turn};
use crate::cli::exit::Stop;
use crate::cli::install::Global;
use crate::cli::terminal::{self, Answer};
use crate::cli::{install, table};
use crate::spelling;

/// How long a first budget lasts where nobody says otherwise, in minutes.
const MINUTES: u32 = 60;

/// Goes on, with the passphrase where it was just typed.
///
/// # Errors
///
/// A [`Stop`]; what was done before it stays done.
pub(super) fn go(
    profile: &Profile,
    global: Global<'_>,
    home: Option<&Path>,
    typed: Option<Zeroizing<String>>,
) -> Result<(), Stop> {
    let is_first = typed.is_some();
    budget(profile, typed)?;
    clients(global, home)?;
    rehearsal(if is_first { Answer::Yes } else { Answer::No })?;
    let bursar = spelling::spelled(profile);
    said_first("That is all. From here on:")?;
    table::say(&format!("    {bursar} doctor             whether all is well, and what mends it"))?;
    table::say(&format!("    {bursar} status             budgets, and what waits for you"))?;
    table::say(&format!("    {bursar} explain URL        what a seller asks, and what the rules say to it"))?;
    table::say(&format!("    $EDITOR {}", profile.rules().display()))?;
    table::say(&format!("    {bursar} reload             puts changed rules in force"))
}

fn budget(profile: &Profile, typed: Option<Zeroizing<String>>) -> Result<(), Stop> {
    let operator = Operator::connect_or_start(profile)?;
    let OperatorReply::Status(status) = operator.ask(&OperatorAsk::Status)? else { return Err(out_of_turn()) };
    if let Some(open) = open_budget(&status) {
        return said_first(&format!("budget   {open}"));
    }
    said_first(
        "A budget. The agent can spend it without asking you, inside the rules; without one it can spend nothing.",
    )?;
    let Some(budget) = amount()? else {
        return table::say("None for now; `bursar session new --budget \"1.00 USD\"` opens one.");
    };
    let minutes = minutes()?;
    let passphrase = match typed {
        Some(typed) => typed,
        None => terminal::secret("Operator passphrase", profile.setting())?,
    };
    let passphrase = || Passphrase::new(passphrase.clone());
    if status.locked {
        operator.ask(&OperatorAsk::Unlock { passphrase: passphrase(), rules: None })?;
    }
    let name: SessionName = "default".parse().map_err(|_fault| out_of_turn())?;
    let ask = OperatorAsk::SessionNew { name, budget, minutes, mandate: None, passphrase: passphrase() };
    match operator.ask(&ask)? {
        OperatorReply::Session(session) => {
            table::say(&format!("Opened: {} until {}.", session.budget, table::time(session.expires_s)))
        }
        _ => Err(out_of_turn()),
    }
}

fn open_budget(status: &OperatorStatus) -> Option<String> {
    let open = status.sessions.iter().find(|session| !session.closed && status.now_s < session.expires_s)?;
    Some(format!("`{}`: {} of {} is spent, until {}", open.name, open.spent, open.budget, table::time(open.expires_s)))
}

/// An amount that a person typed, which is how they agree to it.
fn amount() -> Result<Option<Money>, Stop> {
    loop {
        let typed = terminal::line("Type the amount, for example 1.00 USD (Enter: none for now):")?;
        if typed.is_empty() {
            return Ok(None);
        }
        match typed.parse::<Money>() {
            Ok(money) if !money.is_zero() => return Ok(Some(money)),
            Ok(_) => table::say("    a budget needs an amount above zero")?,
            Err(fault) => table::say(&format!("    {fault}"))?,
        }
    }
}

fn minutes() -> Result<u32, Stop> {
    loop {
        let typed = terminal::line(&format!("For how many minutes [{MINUTES}]:"))?;
        match typed.parse() {
            _ if typed.is_empty() => return Ok(MINUTES),
            Ok(minutes @ 1..) => return Ok(minutes),
            _ => table::say("    a whole number of minutes, 1 or more")?,
        }
    }
}

fn clients(global: Global<'_>, home: Option<&Path>) -> Result<(), Stop> {
    let home = install::home(global.sandbox, home)?;
    let found = install::surveys(&home);
    if found.is_empty() {
        said_first("No MCP client was found here; `bursar install CLIENT` registers with one later.")?;
        return Ok(());
    }
    let is_ours = |survey: &install::Survey| survey.servers.as_ref().is_ok_and(|all| all.iter().any(|one| one.is_ours));
    let (done, open): (Vec<_>, Vec<_>) = found.iter().partition(|survey| is_ours(survey));
    let names = |some: &[&install::Survey]| some.iter().map(|survey| survey.name).collect::<Vec<_>>().join(", ");
    if open.is_empty() {
        return said_first(&format!("clients  registered with {}", names(&done)));
    }
    said_first(&format!("MCP clients here that do not start bursar yet: {}.", names(&open)))?;
    if !terminal::yes("Look at what would be added to their files?", Answer::Yes)? {
        return Ok(());
    }
    let ids: Vec<&str> = open.iter().map(|survey| survey.id).collect();
    install::offer(&ids, global, &home)
}

#[cfg(feature = "demo")]
fn rehearsal(enter: Answer) -> Result<(), Stop> {
    said_first(
        "A rehearsal: a seller on this machine, an agent that buys from it, play money, in a folder that goes away again.",
    )?;
    if !terminal::yes("Watch it?", enter)? {
        return Ok(());
    }
    match crate::demo::rehearse() {
        Ok(lines) => lines.iter().try_for_each(|line| table::say_wrapped(&format!("  · {line}"), 4)),
        // Nothing of the profile depends on it.
        Err(fault) => table::say(&format!("    {fault}")),
    }
}

#[cfg(not(feature = "demo"))]
fn rehearsal(_enter: Answer) -> Result<(), Stop> {
    Ok(())
}

/// What is told where nobody is there to talk to.
pub(super) fn told(profile: &Profile) -> Result<(), Stop> {
    let bursar = spelling::spelled(profile);
    table::say(&format!(
        "next     look through the rules (`{bursar} check` says them in sentences), then `{bursar} unlock` and `{bursar} session new --budget \"1.00 USD\"`"
    ))?;
    let also = if profile.setting() == Setting::Sandbox { "" } else { "; `bursar doctor` says whether all is well" };
    table::say(&format!("         `{bursar} install` registers it with the MCP clients here{also}"))
}
