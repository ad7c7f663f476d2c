//! `freeze`, `thaw`, `unlatch` and `reload`: stopping needs no passphrase, everything that loosens does.

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{rules_shown, table, terminal};

/// Stop all payments at once (no passphrase needed).
#[derive(Debug, Args)]
pub(super) struct Freeze {
    /// Why, for the log
    #[arg(long, default_value = "frozen at the terminal", value_name = "TEXT")]
    reason: String,
}

/// Allow payments again after a freeze.
#[derive(Debug, Args)]
pub(super) struct Thaw {}

/// Confirm that payments may go on after a storage or clock fault shut them off.
#[derive(Debug, Args)]
pub(super) struct Unlatch {}

/// Load the rules file again in the running vault.
#[derive(Debug, Args)]
pub(super) struct Reload {}

impl Freeze {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let ask = OperatorAsk::Freeze { reason: self.reason.clone() };
        done(&Operator::connect_or_start(profile)?, &ask, "Frozen: nothing is paid until `bursar thaw`.")
    }
}

impl Thaw {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let ask = OperatorAsk::Thaw { passphrase: passphrase(profile)? };
        done(&operator, &ask, "Thawed: payments are possible again.")
    }
}

impl Unlatch {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let ask = OperatorAsk::Unlatch { passphrase: passphrase(profile)? };
        done(&operator, &ask, "The ledger was checked again and payments are possible.")
    }
}

impl Reload {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect(profile)?;
        match operator.ask(&OperatorAsk::ReloadRules { passphrase: passphrase(profile)? })? {
            OperatorReply::Reloaded { rules_digest } => {
                table::say(&format!("The rules in force are now those of the file (SHA-256 {rules_digest}):"))?;
                rules_shown::show(profile)?;
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}

fn passphrase(profile: &Profile) -> Result<Passphrase, Stop> {
    terminal::secret("Operator passphrase", profile.setting()).map(Passphrase::new)
}

fn done(operator: &Operator, ask: &OperatorAsk, sentence: &str) -> Result<Exit, Stop> {
    match operator.ask(ask)? {
        OperatorReply::Done => {
            table::say(sentence)?;
            Ok(Exit::Done)
        }
        _ => Err(out_of_turn()),
    }
}
