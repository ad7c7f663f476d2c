//! `bursar secret`: sellers' API keys and a proxy's credentials, by name. Typed at a terminal, and never shown again.

use bursar_policy::SecretName;
use bursar_policy::quantity::Moment;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase, SecretList, SecretValue};
use clap::{Args, Subcommand};

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{table, terminal};
use crate::{spelling, standing};

/// Keep, list or forget the API keys that sellers want, and what the proxy wants.
#[derive(Debug, Subcommand)]
pub(super) enum Secret {
    /// Keep a secret under NAME, in place of the one before. Asks for your passphrase and for the secret
    Set(Named),
    /// List the names, when each was set and which rules use it; never a secret
    List(List),
    /// Forget a secret
    Remove(Named),
}

/// Which one.
#[derive(Debug, Args)]
pub(super) struct Named {
    /// What the rules call it: letters a to z, digits and `-`
    #[arg(value_name = "NAME")]
    name: SecretName,
}

/// How to list.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Secret {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        match self {
            Self::Set(named) => set(profile, &named.name),
            Self::List(how) => list(profile, how),
            Self::Remove(named) => remove(profile, &named.name),
        }
    }
}

fn set(profile: &Profile, name: &SecretName) -> Result<Exit, Stop> {
    let operator = Operator::connect_or_start(profile)?;
    let passphrase = terminal::secret("Operator passphrase", profile.setting()).map(Passphrase::new)?;
    let typed = terminal::secret(&format!("Secret `{name}`, without a scheme such as Bearer"), profile.setting())?;
    let value = SecretValue::new(typed).map_err(|fault| Stop::usage(fault.to_string()))?;
    match operator.ask(&OperatorAsk::SecretSet { name: name.clone(), value, passphrase })? {
        OperatorReply::Done => {
            table::say(&format!("Kept. Rules name it `{{{name}}}`."))?;
            Ok(Exit::Done)
        }
        _ => Err(out_of_turn()),
    }
}

fn remove(profile: &Profile, name: &SecretName) -> Result<Exit, Stop> {
    let operator = Operator::connect_or_start(profile)?;
    let passphrase = terminal::secret("Operator passphrase", profile.setting()).map(Passphrase::new)?;
    match operator.ask(&OperatorAsk::SecretRemove { name: name.clone(), passphrase })? {
        OperatorReply::Done => {
            table::say("Forgotten. Ask the seller to revoke it if it may be known to others.")?;
            Ok(Exit::Done)
        }
        _ => Err(out_of_turn()),
    }
}

fn list(profile: &Profile, how: &List) -> Result<Exit, Stop> {
    let OperatorReply::Secrets(secrets) = Operator::connect_or_start(profile)?.ask(&OperatorAsk::SecretList)? else {
        return Err(out_of_turn());
    };
    if how.json {
        table::say_json(&*secrets)?
    } else {
        show(profile, &secrets)?
    }
    Ok(Exit::Done)
}

fn show(profile: &Profile, SecretList { secrets, missing }: &SecretList) -> Result<(), Stop> {
    if secrets.is_empty() {
        table::say(&spelling::advice(profile, "No secret is kept; `bursar secret set NAME` keeps one."))?;
    } else {
        let rows = secrets.iter().map(|secret| {
            let used_by = if secret.used_by.is_empty() { "nothing".to_owned() } else { secret.used_by.join(", ") };
            vec![secret.name.to_string(), Moment(secret.set_at_s).to_string(), used_by]
        });
        table::say(&table::table(&["secret", "set", "used by"], &[], rows.collect()))?;
    }
    for name in missing {
        table::say(&standing::secret_missing(profile, name))?;
    }
    Ok(())
}
