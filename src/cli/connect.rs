//! Finding the profile and talking to its vault as the operator.

use std::path::Path;

use bursar_vault::client::{ClientFault, OperatorClient};
use bursar_vault::hardened::DoorName;
use bursar_vault::ledger::LedgerFault;
use bursar_vault::ledger_place::PlaceFault;
use bursar_vault::profile::{Profile, ProfileFault};
use bursar_vault::protocol::{OperatorAsk, OperatorReply};

use super::exit::{Exit, Stop};
use crate::books::NotInOrder;

/// The profile the command line names: its place, and whose vault it has; nothing else is opened.
///
/// # Errors
///
/// A [`Stop`] with exit code 2 for a bad name, 4 where this user has no account or the machine's file cannot be used.
pub(super) fn profile(sandbox: Option<&Path>, hardened: Option<&Path>, name: Option<&str>) -> Result<Profile, Stop> {
    let found = match (sandbox, hardened) {
        (Some(dir), Some(file)) => Profile::locate_hardened_sandbox(dir, file),
        (Some(dir), None) => Profile::locate_sandbox(dir),
        (None, _) => Profile::locate_default(name),
    };
    found.map_err(Stop::from)
}

impl From<ProfileFault> for Stop {
    fn from(fault: ProfileFault) -> Self {
        let exit = match fault {
            ProfileFault::Name { .. } | ProfileFault::OneVault { .. } => Exit::Usage,
            ProfileFault::NotListed { .. } | ProfileFault::NotTheVault { .. } => Exit::Refused,
            _ => Exit::NotReady,
        };
        Self::new(exit, fault.to_string())
    }
}

impl From<ClientFault> for Stop {
    fn from(fault: ClientFault) -> Self {
        match fault {
            ClientFault::Said { code, message } => Self::new(exit_of(&code), message),
            ClientFault::Profile(fault) => fault.into(),
            other => Self::not_ready(other.to_string()),
        }
    }
}

impl From<LedgerFault> for Stop {
    fn from(fault: LedgerFault) -> Self {
        let exit = match fault {
            // It was looked at, and it is not in order.
            LedgerFault::Books { .. }
            | LedgerFault::Corrupt { .. }
            | LedgerFault::Unreadable { .. }
            | LedgerFault::BeyondRepair { .. }
            | LedgerFault::Whole { .. }
            | LedgerFault::OtherLedger { .. }
            | LedgerFault::NotOlder { .. }
            | LedgerFault::WentApart { .. }
            | LedgerFault::Sealed { .. } => Exit::Refused,
            LedgerFault::Missing { .. }
            | LedgerFault::Older { .. }
            | LedgerFault::InUse { .. }
            | LedgerFault::Unreachable { .. }
            | LedgerFault::Server { .. }
            | LedgerFault::NoLedger { .. } => Exit::NotReady,
            _ => Exit::Failed,
        };
        Self::new(exit, fault.to_string())
    }
}

impl From<NotInOrder> for Stop {
    fn from(fault: NotInOrder) -> Self {
        match fault {
            NotInOrder::Profile(fault) => fault.into(),
            NotInOrder::Place(fault) => fault.into(),
            NotInOrder::Ledger(fault) => fault.into(),
            NotInOrder::SetBack(_) => Self::refused(fault.to_string()),
        }
    }
}

impl From<PlaceFault> for Stop {
    fn from(fault: PlaceFault) -> Self {
        Self::not_ready(fault.to_string())
    }
}

/// The operator's line to the vault of one profile.
#[derive(Debug)]
pub(super) struct Operator(OperatorClient);

impl Operator {
    /// Connects to the running vault.
    ///
    /// # Errors
    ///
    /// A [`Stop`] with exit code 4 where none answers.
    pub(super) fn connect(profile: &Profile) -> Result<Self, Stop> {
        profile.check_guest(DoorName::Operator)?;
        let (client, _) = OperatorClient::connect(profile)?;
        Ok(Self(client))
    }

    /// Connects to the running vault, starting one where none answers; the machine's is never started from here.
    ///
    /// # Errors
    ///
    /// A [`Stop`] with exit code 4 where none could be started.
    pub(super) fn connect_or_start(profile: &Profile) -> Result<Self, Stop> {
        profile.check_guest(DoorName::Operator)?;
        if profile.hardened().is_some() {
            return Self::connect(profile);
        }
        if let Ok(operator) = Self::connect(profile) {
            return Ok(operator);
        }
        crate::wallet::start_blocking(profile).map_err(|fault| Stop::not_ready(fault.to_string()))?;
        Self::connect(profile)
    }

    /// Asks once.
    ///
    /// # Errors
    ///
    /// A [`Stop`]: exit code 3 where the vault said no, 4 where it cannot be asked.
    pub(super) fn ask(&self, ask: &OperatorAsk) -> Result<OperatorReply, Stop> {
        Ok(self.0.ask(ask)?)
    }

    /// Asks once, and keeps the vault's own words apart for a command that goes on after some of them.
    ///
    /// # Errors
    ///
    /// A [`Stop`] with exit code 4 where the vault cannot be asked.
    pub(super) fn ask_or_code(&self, ask: &OperatorAsk) -> Result<Result<OperatorReply, Said>, Stop> {
        match self.0.ask(ask) {
            Ok(reply) => Ok(Ok(reply)),
            Err(ClientFault::Said { code, message }) => Ok(Err(Said { code, message })),
            Err(fault) => Err(fault.into()),
        }
    }
}

/// What the vault said instead of doing it.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) code: String,
    message: String,
}

impl From<Said> for Stop {
    fn from(said: Said) -> Self {
        Self::new(exit_of(&said.code), said.message)
    }
}

/// Which exit code a fault of the vault's stands for.
fn exit_of(code: &str) -> Exit {
    match code {
        "passphrase_wrong"
        | "passphrase_wait"
        | "session_exists"
        | "session_unknown"
        | "no_such_payment"
        | "resume_unknown"
        | "approval_unknown"
        | "approval_expired"
        | "approval_decided"
        | "approval_changed"
        | "glue_taken"
        | "mandate_missing"
        | "mandate_contradicts"
        | "payment_open"
        | "sweep_live"
        | "sweep_exists"
        | "sweep_short"
        | "sweep_unseen"
        | "sweep_destination"
        | "sweep_account"
        | "sweep_chain"
        | "no_such_sweep"
        | "secret_unknown"
        | "secrets_full" => Exit::Refused,
        "sweep_minutes" | "sweep_asset" | "session_minutes" | "session_currency" | "session_pointless"
        | "resume_several" => Exit::Usage,
        "sweep_no_key" | "wallet_locked" | "ledger_latched" | "no_session" | "rules_refused" | "secrets_damaged" => {
            Exit::NotReady
        }
        _ => Exit::Failed,
    }
}

/// The reply was not of the kind the ask wants: two versions of bursar are mixed.
pub(super) fn out_of_turn() -> Stop {
    Stop::new(Exit::Failed, ClientFault::OtherVersion.to_string())
}
