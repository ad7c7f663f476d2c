//! `bursar unlock` and `bursar lock`: the key in the running vault. The passphrase is checked there, not here.

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{table, terminal};

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
        let passphrase = Passphrase::new(terminal::secret("Operator passphrase", profile.setting())?);
        match operator.ask(&OperatorAsk::Unlock { passphrase })? {
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
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}
