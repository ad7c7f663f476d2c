//! The questions of `init`, each with what its answers mean and one that Enter takes. Asks and shows; makes nothing.

use std::str::FromStr;

use bursar_policy::{Address, Money, Origin, Setting};
use bursar_vault::rules_file::TextFault;
use bursar_vault::setup::Unlocking;

use super::chosen::{self, Chosen};
use crate::cli::check::{self, Reading};
use crate::cli::exit::Stop;
use crate::cli::table;
use crate::cli::terminal::{self, Answer};

/// Whose key pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// A new one.
    New,
    /// One that the person has.
    Imported,
}

/// What the command line said already; what it did not is asked.
#[derive(Debug)]
pub(super) struct Said<'a> {
    pub(super) network: Option<&'a str>,
    pub(super) max_per_payment: Option<&'a str>,
    pub(super) daily: Option<&'a str>,
    pub(super) allow: &'a [String],
    pub(super) recipient: &'a [String],
    pub(super) any_recipient: bool,
}

/// Asks for everything that the rules need.
///
/// # Errors
///
/// A [`Stop`] when the person leaves, or the command line said something that cannot be.
pub(super) fn rules(said: &Said<'_>, setting: Setting) -> Result<Chosen, Stop> {
    let asset = match (said.network, setting) {
        (Some(typed), _) => chosen::asset(typed).map_err(|fault| chosen::behind("--network", typed, &fault))?,
        (None, Setting::Sandbox) => chosen::asset(chosen::NETWORK).map_err(Stop::usage)?,
        (None, Setting::Real) => {
            said_first("The network. Its money is what an agent can spend, and lose.")?;
            table::say_wrapped(
                "    base-sepolia  a test network: its money is free, so nothing can be lost; the way to begin",
                18,
            )?;
            table::say_wrapped("    base          real money: USDC on Base", 18)?;
            asked("Network", chosen::NETWORK, chosen::asset)?
        }
    };
    let max_per_payment = match said.max_per_payment {
        Some(typed) => chosen::read(typed).map_err(|fault| chosen::behind("--max-per-payment", typed, &fault))?,
        None => {
            said_first("The most that one payment may cost. A dearer offer is refused, whoever makes it.")?;
            asked("Per payment", chosen::CEILING, chosen::read::<Money>)?
        }
    };
    let daily = match said.daily {
        Some(typed) => chosen::read(typed).map_err(|fault| chosen::behind("--daily", typed, &fault))?,
        None => {
            said_first("The most that all agents together may spend within any 24 hours.")?;
            asked("Per day", chosen::DAILY, chosen::read::<Money>)?
        }
    };
    let origins = if said.allow.is_empty() {
        said_first(
            "The sellers that an agent may ask, for example https://api.example.com. Every other URL is refused; none is a \
             fine answer for now, since they can be added to the rules at any time.",
        )?;
        several::<Origin>("Sellers, with spaces between")?
    } else {
        all(said.allow, "--allow")?
    };
    let recipients = if said.any_recipient {
        None
    } else if !said.recipient.is_empty() {
        Some(all(said.recipient, "--recipient")?)
    } else if origins.is_empty() {
        Some(Vec::new())
    } else {
        payees()?
    };
    Ok(Chosen { asset, max_per_payment, daily, origins, recipients, ledger: None })
}

fn payees() -> Result<Option<Vec<Address>>, Stop> {
    said_first("Who may be paid there.")?;
    table::say_wrapped(
        "    0x…    these addresses and nobody else; `bursar explain URL` shows whom a seller wants paid",
        18,
    )?;
    table::say_wrapped("    any    whomever one of the sellers above names", 18)?;
    table::say_wrapped("    none   nobody yet; an address can be added to the rules once you have seen it", 18)?;
    loop {
        let typed = terminal::line("Payees [none]:")?;
        match typed.as_str() {
            "" | "none" => return Ok(Some(Vec::new())),
            "any" => return Ok(None),
            _ => match words(&typed) {
                Ok(payees) => return Ok(Some(payees)),
                Err(fault) => table::say(&format!("    {fault}"))?,
            },
        }
    }
}

/// Asks whether a person has a key already; not in a sandbox, which takes none.
///
/// # Errors
///
/// A [`Stop`] when the person leaves.
pub(super) fn key(setting: Setting) -> Result<Whose, Stop> {
    if setting == Setting::Sandbox {
        return Ok(Whose::New);
    }
    said_first(
        "The key that pays. A new one holds nothing but what you send it, so nothing else can be lost with it.",
    )?;
    let is_new = terminal::yes("Make a new key? (n: type one that you have)", Answer::Yes)?;
    Ok(if is_new { Whose::New } else { Whose::Imported })
}

/// Asks who unlocks the key.
///
/// # Errors
///
/// A [`Stop`] when the person leaves.
pub(super) fn unlocking() -> Result<Unlocking, Stop> {
    said_first(
        "Unlocking. After a restart you type your passphrase (`bursar unlock`) before anything is paid. A file can do it \
         for you; then any program that runs as you can have the key: a seat belt, not a lock.",
    )?;
    let by_file = terminal::yes("Unlock by a file?", Answer::No)?;
    Ok(if by_file { Unlocking::ByFile } else { Unlocking::ByPerson })
}

/// Shows what rules come to, and asks whether to go on with them.
///
/// # Errors
///
/// A [`Stop`] when the rules cannot be used, or the person says no.
pub(super) fn agreed(text: &str, setting: Setting, question: &str) -> Result<(), Stop> {
    let read = Reading::of(text, setting).map_err(|fault: TextFault| Stop::usage(fault.to_string()))?;
    said_first("What these rules come to:")?;
    for (about, sentence) in check::sentences(&read) {
        table::say_wrapped(&format!("    {about:<16}{sentence}"), 20)?;
    }
    if terminal::yes(question, Answer::Yes)? {
        return Ok(());
    }
    Err(Stop::usage("given up, nothing was made"))
}

/// What comes before a question, with a line of air.
pub(super) fn said_first(text: &str) -> Result<(), Stop> {
    table::say("")?;
    table::say_wrapped(text, 0)
}

/// One answer, asked for until it can be read.
fn asked<T>(name: &str, enter: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Stop> {
    loop {
        let typed = terminal::line(&format!("{name} [{enter}]:"))?;
        let answer = if typed.is_empty() { enter } else { &typed };
        match read(answer) {
            Ok(read) => return Ok(read),
            Err(fault) => table::say(&format!("    {fault}"))?,
        }
    }
}

/// Any number of answers in one line, asked for until all can be read.
fn several<T: FromStr<Err: std::fmt::Display>>(name: &str) -> Result<Vec<T>, Stop> {
    loop {
        let typed = terminal::line(&format!("{name} [none]:"))?;
        let typed = if typed == "none" { "" } else { &typed };
        match words(typed) {
            Ok(found) => return Ok(found),
            Err(fault) => table::say(&format!("    {fault}"))?,
        }
    }
}

fn words<T: FromStr<Err: std::fmt::Display>>(typed: &str) -> Result<Vec<T>, String> {
    let words = typed.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    words.map(|word| chosen::read(word).map_err(|fault| format!("`{}`: {fault}", word.escape_debug()))).collect()
}

/// All that came behind one flag.
///
/// # Errors
///
/// A [`Stop`] with exit code 2 for the first that cannot be.
pub(super) fn all<T: FromStr<Err: std::fmt::Display>>(typed: &[String], flag: &str) -> Result<Vec<T>, Stop> {
    typed.iter().map(|word| chosen::read(word).map_err(|fault| chosen::behind(flag, word, &fault))).collect()
}
