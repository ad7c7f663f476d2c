//! `bursar vault`: runs the process that holds the key and the ledger.

use bursar_vault::process::{self, IDLE_EXIT, Options};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};

/// Run the vault, which holds the key and the ledger.
#[derive(Debug, Args)]
pub(super) struct Vault {
    /// Leave the terminal, write to `vault.log` in the profile, and end after 15 idle minutes
    #[arg(long)]
    detach: bool,
    /// End the running vault in order instead; what is in flight stays counted
    #[arg(long, conflicts_with = "detach")]
    stop: bool,
}

impl Vault {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        if self.stop {
            return match Operator::connect(profile)?.ask(&OperatorAsk::Shutdown)? {
                OperatorReply::Done => Ok(Exit::Done),
                _ => Err(out_of_turn()),
            };
        }
        super::serve::log_to_stderr();
        let options = Options { idle_exit: self.detach.then_some(IDLE_EXIT), detach: self.detach };
        match process::run(profile, options) {
            Ok(_ended) => Ok(Exit::Done),
            Err(fault) => Err(Stop::not_ready(fault.to_string())),
        }
    }
}
