//! The mandate of a session, as it is typed and as it is shown. Must never fill in a part that the person left out.

use std::fmt::Display;
use std::str::FromStr;

use bursar_policy::{Mandate, Money, Payees};
use clap::Args;

use super::super::exit::Stop;

/// What the session is for: all of it, or nothing.
#[derive(Debug, Args)]
pub(super) struct Typed {
    /// What the budget is for, in your words; a budget with a purpose is good for nothing else, and needs
    /// `--origin`, `--payee` or `--any-payee`, and `--max-per-payment` too
    #[arg(long, value_name = "WORDS")]
    purpose: Option<String>,
    /// A seller that may be asked, for example `https://api.example.com`; once for each
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// An account that may be paid; once for each
    #[arg(long = "payee", value_name = "ADDRESS", conflicts_with = "any_payee")]
    payees: Vec<String>,
    /// Whoever may be paid by the rules may be paid
    #[arg(long)]
    any_payee: bool,
    /// The most that one payment may cost, for example `0.05 USD`
    #[arg(long, value_name = "AMOUNT")]
    max_per_payment: Option<String>,
}

impl Typed {
    /// The mandate that was typed; `None` when no part of one was.
    ///
    /// # Errors
    ///
    /// A [`Stop`] that names what is missing, or what cannot be used.
    pub(super) fn mandate(&self) -> Result<Option<Mandate>, Stop> {
        let whose = self.any_payee || !self.payees.is_empty();
        let parts = [
            (self.purpose.is_some(), "`--purpose`"),
            (!self.origins.is_empty(), "`--origin`"),
            (whose, "`--payee` (or `--any-payee`)"),
            (self.max_per_payment.is_some(), "`--max-per-payment`"),
        ];
        let missing: Vec<&str> = parts.into_iter().filter(|(given, _)| !given).map(|(_, part)| part).collect();
        if missing.len() == parts.len() {
            return Ok(None);
        }
        let (Some(purpose), Some(most), true) = (&self.purpose, &self.max_per_payment, missing.is_empty()) else {
            let missing = missing.join(", ");
            return Err(Stop::usage(format!("a budget with a purpose needs all of it; add {missing}")));
        };
        let origins = each("--origin", &self.origins)?;
        let payees = if self.any_payee { Payees::Any } else { Payees::Listed(each("--payee", &self.payees)?) };
        let most: Money = read("--max-per-payment", most)?;
        Mandate::new(purpose.clone(), origins, payees, most).map(Some).map_err(|fault| Stop::usage(fault.to_string()))
    }
}

fn each<T: FromStr<Err: Display>>(flag: &str, typed: &[String]) -> Result<Vec<T>, Stop> {
    typed.iter().map(|text| read(flag, text)).collect()
}

fn read<T: FromStr<Err: Display>>(flag: &str, typed: &str) -> Result<T, Stop> {
    typed.parse().map_err(|fault| Stop::usage(format!("`{flag} {}`: {fault}", typed.escape_debug())))
}

/// What a mandate says, line by line.
pub(super) fn lines(mandate: &Mandate) -> String {
    let asked = mandate.origins().iter().map(|origin| ("may be asked", origin.to_string()));
    let paid: Vec<String> = match mandate.payees() {
        Payees::Any => vec!["anybody whom the rules allow".to_owned()],
        Payees::Listed(listed) => listed.iter().map(ToString::to_string).collect(),
    };
    let rows = std::iter::once(("for", mandate.purpose().to_owned()))
        .chain(asked)
        .chain(paid.into_iter().map(|payee| ("may be paid", payee)))
        .chain([("a payment", format!("costs at most {}", mandate.max_per_payment()))]);
    let mut last = "";
    let lines: Vec<String> = rows
        .map(|(name, value)| {
            let shown = if name == last { "" } else { name };
            last = name;
            format!("    {shown:<14}{value}")
        })
        .collect();
    lines.join("\n")
}
