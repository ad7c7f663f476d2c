//! `bursar vault`: runs the process that holds the key and the ledger.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use bursar_vault::hardened::DoorName;
use bursar_vault::outside::Outside;
use bursar_vault::process::{self, IDLE_EXIT, Options};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::table;
use crate::chain::Network;
use crate::webhook::Sender;

/// How often it is looked whether a vault that was asked to end has ended: for 20 seconds.
const STOP_TRIES: u32 = 400;
const STOP_PAUSE: Duration = Duration::from_millis(50);

/// Run the vault, which holds the key and the ledger (`serve` starts one when none answers).
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
            return stop(profile);
        }
        super::serve::log_to_stderr();
        let options = Options { idle_exit: self.detach.then_some(IDLE_EXIT), detach: self.detach };
        let network = Arc::new(Network::new(profile.home()));
        let sender = Arc::new(Sender::new(Arc::clone(&network), profile.home()));
        match process::run(profile, options, Outside::new(network, sender)) {
            Ok(_ended) => Ok(Exit::Done),
            Err(fault) => Err(Stop::not_ready(fault.to_string())),
        }
    }
}

/// Ends the running vault and waits until its ledger is free again.
fn stop(profile: &Profile) -> Result<Exit, Stop> {
    if profile.hardened().is_some() {
        profile.check_guest(DoorName::Operator)?;
    }
    let Ok(operator) = Operator::connect(profile) else {
        table::say("No vault runs here.")?;
        return Ok(Exit::Done);
    };
    match operator.ask(&OperatorAsk::Shutdown)? {
        OperatorReply::Done => {}
        _ => return Err(out_of_turn()),
    }
    // The machine's vault is seen to be gone by its socket: who is not its user cannot see its lock.
    let lock = if profile.is_the_vaults().is_ok() { Some(File::open(profile.lock())?) } else { None };
    let is_gone = || lock.as_ref().map_or_else(|| Operator::connect(profile).is_err(), |lock| lock.try_lock().is_ok());
    for _ in 0..STOP_TRIES {
        if is_gone() {
            table::say("Stopped.")?;
            return Ok(Exit::Done);
        }
        std::thread::sleep(STOP_PAUSE);
    }
    Err(Stop::new(Exit::Failed, "the vault was asked to end and still has work to finish; look again in a moment"))
}
