//! The demo's stage: a sandbox folder, a seller, a vault process, and as many `bursar serve` as the script wants.
//!
//! It must never leave a process or (unless told to keep it) a file behind, however the demo ends.

mod folder;
mod operator;
pub(crate) mod rules;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bursar_policy::chain::Address;
use bursar_vault::platform::{least_environment, private_file};
use bursar_vault::profile::{Profile, ProfileFault};
use bursar_vault::protocol::Passphrase;
use bursar_vault::setup::{NewKey, SetupFault, Unlocking, initialise};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};
use zeroize::Zeroizing;

use self::folder::Folder;
pub(crate) use self::operator::{Operator, OperatorFault};
use super::client::{ClientFault, Era, McpClient};
use super::seller::{Seller, SellerFault, Stall};

/// What the buyer owns of either token at the start: a hundred dollars.
const PURSE_UNITS: u128 = 100_000_000;
const VAULT_START_MAX: Duration = Duration::from_secs(20);
const VAULT_STEP: Duration = Duration::from_millis(10);
const VAULT_STOP_TRIES: u32 = 500;

/// Why the stage could not be set or kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageFault {
    /// The seller.
    #[error(transparent)]
    Seller(#[from] SellerFault),
    /// A file or a process.
    #[error("could not {what}: {fault}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        fault: io::Error,
    },
    /// The folder to keep is there already.
    #[error("`{}` is there already; name a folder that does not exist yet", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// The sandbox's paths.
    #[error(transparent)]
    Profile(#[from] ProfileFault),
    /// The sandbox could not be given a key and a ledger.
    #[error(transparent)]
    SetUp(#[from] SetupFault),
    /// The vault said no, or nothing.
    #[error(transparent)]
    Operator(#[from] OperatorFault),
    /// The vault did not come up.
    #[error("the vault did not answer within {seconds} s; its own words are in `{}`", log.display())]
    NoVault {
        /// How long it was given.
        seconds: u64,
        /// Where its standard error went.
        log: PathBuf,
    },
    /// A client could not be started.
    #[error(transparent)]
    Client(#[from] ClientFault),
}

/// Everything the script acts with. Dropping it ends every process and removes the folder.
#[derive(Debug)]
pub(crate) struct Stage {
    // Fields are dropped in this order: processes end before their folder goes.
    vault: Mutex<Option<Child>>,
    operator: Operator,
    seller: Seller,
    buyer: Address,
    program: PathBuf,
    profile: Profile,
    folder: Folder,
}

impl Stage {
    /// Sets everything up in `keep`, or in a temporary folder that goes away again.
    pub(crate) async fn set(keep: Option<&Path>) -> Result<Self, StageFault> {
        Self::set_for(keep, 0, rules::text, drawn()?).await
    }

    /// [`Stage::set`], with the seller on `port` (0: a free one), rules for it, and a passphrase that somebody may know.
    pub(crate) async fn set_for(
        keep: Option<&Path>,
        port: u16,
        rules: fn(u16) -> String,
        passphrase: Zeroizing<String>,
    ) -> Result<Self, StageFault> {
        let program = std::env::current_exe().map_err(|fault| system("find this program", fault))?;
        let stall = Stall::set_up(port).await?;
        let folder = match keep {
            Some(path) => Folder::kept(path)?,
            None => Folder::temporary()?,
        };
        let profile = Profile::locate_sandbox(folder.path())?;
        profile.create()?;
        write(&folder.path().join("ca.pem"), stall.ca_pem())?;
        let rules = rules(stall.port());
        let operator = Passphrase::new(passphrase.clone());
        let buyer = initialise(&profile, &rules, NewKey::Generated, &operator, Unlocking::ByPerson)?;
        let seller = stall.open(buyer, PURSE_UNITS);
        let operator = Operator::new(profile.clone(), passphrase);
        let stage = Self { vault: Mutex::new(None), operator, seller, buyer, program, profile, folder };
        stage.start_vault().await?;
        Ok(stage)
    }

    /// The seller.
    pub(crate) const fn seller(&self) -> &Seller {
        &self.seller
    }

    /// The operator's line to the vault.
    pub(crate) const fn operator(&self) -> &Operator {
        &self.operator
    }

    /// The paying account.
    pub(crate) const fn buyer(&self) -> Address {
        self.buyer
    }

    /// The sandbox.
    pub(crate) const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Where everything is, when it stays there afterwards.
    pub(crate) fn kept(&self) -> Option<&Path> {
        self.folder.is_kept().then(|| self.folder.path())
    }

    /// Starts a vault and unlocks it; a vault that is already there is used as it is.
    pub(crate) async fn start_vault(&self) -> Result<(), StageFault> {
        let log = self.folder.path().join("demo-vault.log");
        let mut command = self.command(&["vault"], &log)?;
        let vault = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|fault| system("start the vault", fault))?;
        *self.vault.lock().await = Some(vault);
        let deadline = Instant::now().checked_add(VAULT_START_MAX);
        while let Err(fault) = self.operator.greet().await {
            if deadline.is_none_or(|deadline| deadline < Instant::now()) {
                tracing::debug!(%fault, "the vault did not come up");
                return Err(StageFault::NoVault { seconds: VAULT_START_MAX.as_secs(), log });
            }
            sleep(VAULT_STEP).await;
        }
        Ok(self.operator.unlock().await?)
    }

    /// Kills the vault with SIGKILL and waits until it is gone.
    pub(crate) async fn kill_vault(&self) -> Result<(), StageFault> {
        if let Some(mut vault) = self.vault.lock().await.take() {
            vault.kill().await.map_err(|fault| system("kill the vault", fault))?;
        }
        Ok(())
    }

    /// Lets the next process that reaches `step` kill itself there (a sandbox only thing).
    pub(crate) fn arm(&self, step: &str) -> Result<(), StageFault> {
        write(&self.profile.failpoint(), step)
    }

    /// Starts `bursar serve` on `session` and connects to it in the manner of `era`.
    pub(crate) async fn client(&self, session: &str, era: Era) -> Result<McpClient, StageFault> {
        let log = self.folder.path().join("demo-serve.log");
        let command = self.command(&["serve", "--session", session], &log)?;
        Ok(McpClient::start(command, era).await?)
    }

    /// A child of this very program, with no more of an environment than it needs and its words in `log`.
    fn command(&self, words: &[&str], log: &Path) -> Result<Command, StageFault> {
        let log = append(log)?;
        let mut command = Command::new(&self.program);
        command.arg("--sandbox").arg(self.folder.path()).args(words).stderr(log).kill_on_drop(true);
        command.env_clear().envs(least_environment());
        Ok(command)
    }
}

impl Drop for Stage {
    /// Asks the vault to close its ledger and go, also one that `serve` started and that is no child of ours. A child
    /// that stays is killed with the rest of the fields.
    fn drop(&mut self) {
        self.operator.shut_down();
        for _try in 0..VAULT_STOP_TRIES {
            let child_is_gone = match self.vault.get_mut() {
                Some(child) => !matches!(child.try_wait(), Ok(None)),
                None => true,
            };
            if child_is_gone && !self.operator.is_served() {
                return;
            }
            std::thread::sleep(VAULT_STEP);
        }
        tracing::warn!("the demo's vault does not stop");
    }
}

/// A passphrase of thirty-two random hexadecimal digits, never written anywhere.
fn drawn() -> Result<Zeroizing<String>, StageFault> {
    let random = folder::random_bytes().map_err(|fault| system("read random bytes", fault))?;
    Ok(Zeroizing::new(hex::encode(random)))
}

fn write(path: &Path, text: &str) -> Result<(), StageFault> {
    let written = private_file()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|fault| system(&format!("write `{}`", path.display()), fault))
}

fn append(path: &Path) -> Result<File, StageFault> {
    private_file()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|fault| system(&format!("open `{}`", path.display()), fault))
}

pub(crate) fn system(what: &str, fault: io::Error) -> StageFault {
    StageFault::System { what: what.to_owned(), fault }
}
