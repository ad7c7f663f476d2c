//! `freeze`, `thaw`, `unlatch` and `reload`: stopping needs no passphrase, everything that loosens does.

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase, WhichRules};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{rules_shown, table, terminal};
use crate::spelling;

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
        done(profile, &Operator::connect_or_start(profile)?, &ask, "Frozen: nothing is paid until `bursar thaw`.")
    }
}

impl Thaw {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let ask = OperatorAsk::Thaw { passphrase: passphrase(profile)? };
        done(profile, &operator, &ask, "Thawed.")
    }
}

impl Unlatch {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let ask = OperatorAsk::Unlatch { passphrase: passphrase(profile)? };
        done(profile, &operator, &ask, "The ledger was checked again, and payments are no longer shut.")
    }
}

impl Reload {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect(profile)?;
        let rules = rules_shown::show("These rules stand in the file:", &operator, WhichRules::OnDisk)?;
        terminal::typed_back("Type `agree` to go by them:", "agree", profile.setting())?;
        match operator.ask(&OperatorAsk::ReloadRules { rules, passphrase: passphrase(profile)? })? {
            OperatorReply::Reloaded { rules_digest } => {
                table::say(&format!("They are in force now (SHA-256 {rules_digest})."))?;
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}

fn passphrase(profile: &Profile) -> Result<Passphrase, Stop> {
    terminal::secret("Operator passphrase", profile.setting()).map(Passphrase::new)
}

fn done(profile: &Profile, operator: &Operator, ask: &OperatorAsk, sentence: &str) -> Result<Exit, Stop> {
    match operator.ask(ask)? {
        OperatorReply::Done => {
            table::say(sentence)?;
            if let OperatorReply::Status(status) = operator.ask(&OperatorAsk::Status)?
                && let Some(step) = status.next_step
            {
                table::say(&format!("Next: {}.", spelling::advice(profile, &step)))?;
            }
            Ok(Exit::Done)
        }
        _ => Err(out_of_turn()),
    }
}
