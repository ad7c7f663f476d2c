//! `bursar unlock` and `bursar lock`: the key in the running vault. The passphrase is checked there, not here.

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase, WhichRules};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{rules_shown, table, terminal};

/// Unlock the key in the running vault with your passphrase.
#[derive(Debug, Args)]
pub(super) struct Unlock {}

/// Forget the key until it is unlocked again.
#[derive(Debug, Args)]
pub(super) struct Lock {}

impl Unlock {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let typed = terminal::secret("Operator passphrase", profile.setting())?;
        let ask = |rules| OperatorAsk::Unlock { passphrase: Passphrase::new(typed.clone()), rules };
        let reply = match operator.ask_or_code(&ask(None))? {
            Ok(reply) => reply,
            Err(said) if said.code == "rules_changed" => {
                // Somebody changed the file since a person agreed to it: nobody unlocks for rules they have not seen.
                let title = "The rules changed since you last agreed to them. These are in force now:";
                let digest = rules_shown::show(title, &operator, WhichRules::InForce)?;
                terminal::typed_back("Type `agree` to go by them:", "agree", profile.setting())?;
                operator.ask(&ask(Some(digest)))?
            }
            Err(said) => return Err(said.into()),
        };
        match reply {
            OperatorReply::Unlocked { payer } => {
                table::say(&format!("Unlocked. Payments are signed by {payer}."))?;
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}

impl Lock {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        match Operator::connect(profile)?.ask(&OperatorAsk::Lock)? {
            OperatorReply::Done => {
                table::say("Locked. `bursar unlock` makes payments possible again.")?;
                if profile.passphrase_file().exists() {
                    table::say(
                        "A passphrase file is there: the vault unlocks itself when it is started next. Remove the file to stop that.",
                    )?;
                }
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}
