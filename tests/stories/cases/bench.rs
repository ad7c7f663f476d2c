//! A vault in this process for rows that are about the vault: its folder, its operator, and what was signed.

use std::sync::Arc;

use bursar_policy::Address;
use bursar_policy::rules::Setting;
use bursar_vault::chain::NoChains;
use bursar_vault::client::OperatorClient;
use bursar_vault::clock::MachineTime;
use bursar_vault::process::{self, Running, StartFault};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply, OperatorStatus, Passphrase};
use bursar_vault::rules_file;
use bursar_vault::setup::{self, NewKey, Unlocking};
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::policy::TEST_USDC;

const PASSPHRASE: &str = "correct horse battery staple";

/// A sandbox whose key opens by its file.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) profile: Profile,
    pub(crate) payer: Address,
}

impl Bench {
    /// The corpus's reference policy, on the test network.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("box")).unwrap();
        let bench = Self { payer: initialise(&profile).unwrap(), folder, profile };
        assert!(rules_file::parse(&rules(), Setting::Sandbox).is_ok());
        bench
    }

    /// A second `init` in the same place.
    pub(crate) fn init_again(&self) -> Result<(), String> {
        initialise(&self.profile).map(drop)
    }

    pub(crate) fn start(&self) -> Result<Running, StartFault> {
        process::start(&self.profile, None, Box::new(MachineTime), Arc::new(NoChains))
    }

    pub(crate) fn open_session(&self) {
        let (name, budget) = ("default".parse().unwrap(), "1.00 USD".parse().unwrap());
        let passphrase = passphrase();
        self.ask(&OperatorAsk::SessionNew { name, budget, minutes: 60, mandate: None, passphrase });
    }

    pub(crate) fn status(&self) -> OperatorStatus {
        match self.ask(&OperatorAsk::Status) {
            OperatorReply::Status(status) => *status,
            other => panic!("{other:?}"),
        }
    }

    /// The events of this kind in the ledger's log.
    pub(crate) fn logged(&self, kind: &str) -> Vec<LogEntry> {
        let OperatorReply::Log(log) = self.ask(&OperatorAsk::Log { limit: 500, after: Some(0) }) else {
            panic!("the vault answered `log` out of turn");
        };
        log.into_iter().filter(|entry| entry.kind == kind).collect()
    }

    fn ask(&self, ask: &OperatorAsk) -> OperatorReply {
        OperatorClient::connect(&self.profile).unwrap().0.ask(ask).unwrap()
    }
}

fn initialise(profile: &Profile) -> Result<Address, String> {
    setup::initialise(profile, &rules(), NewKey::Generated, &passphrase(), Unlocking::ByFile)
        .map_err(|fault| fault.to_string())
}

fn passphrase() -> Passphrase {
    Passphrase::new(Zeroizing::new(PASSPHRASE.to_owned()))
}

pub(crate) fn rules() -> String {
    format!(
        "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:84532\"]\n\
         assets = [\"eip155:84532/erc20:{TEST_USDC}\"]\nallow_any_recipient = true\n\n\
         [[host]]\norigin = \"https://api.merchant.test\"\n"
    )
}
