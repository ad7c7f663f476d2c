//! One sandbox folder with its own key, ledger and vault process, and the operator's line to it.
//!
//! The process ends with the value, however the story ends; then the folder goes.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bursar_policy::chain::Address;
use bursar_policy::errand::SessionId;
use bursar_vault::client::OperatorClient;
use bursar_vault::clock::{MachineTime, TimeSource};
use bursar_vault::ledger::Ledger;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply, Passphrase, PaymentDetail, SessionView};
use bursar_vault::setup::{self, NewKey, Unlocking};
use tempfile::TempDir;
use tokio::time::{interval, timeout};
use zeroize::Zeroizing;

use crate::story::Before;

const PASSPHRASE: &str = "correct horse battery staple";
const USUAL_BUDGET: &str = "1.00 USD";
const START_MAX: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A sandbox with a running vault.
pub(crate) struct Sandbox {
    // Dropped in this order: the process ends before its folder goes.
    vault: Vault,
    pub(crate) profile: Profile,
    pub(crate) payer: Address,
    _folder: TempDir,
}

/// What the operator finds in the ledger.
pub(crate) struct Books {
    pub(crate) log: Vec<LogEntry>,
    pub(crate) payments: Vec<PaymentDetail>,
    pub(crate) session: Option<SessionView>,
    /// What the vault's process said on standard error.
    pub(crate) words: String,
}

/// A child process that never outlives this.
struct Vault(Child);

impl Drop for Vault {
    fn drop(&mut self) {
        // Already dead is as good as killed.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Sandbox {
    /// Makes a folder with rules, key and ledger, starts the vault, and does what the operator did before the story.
    pub(crate) async fn open(rules: &str, authority_pem: &str, before: &Before) -> Self {
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("bursar-story-").permissions(private).tempdir().unwrap();
        let profile = Profile::locate_sandbox(folder.path()).unwrap();
        let payer = setup::initialise(&profile, rules, NewKey::Generated, &passphrase(), Unlocking::ByPerson).unwrap();
        fs::write(profile.home().join("ca.pem"), authority_pem).unwrap();
        if before.latched {
            open_session(&profile, Box::new(HourAhead), 10_000);
        }
        if before.session_over {
            open_session(&profile, Box::new(MachineTime), 1);
        }
        let sandbox = Self { vault: start(&profile), profile, payer, _folder: folder };
        timeout(START_MAX, sandbox.make_ready(before)).await.unwrap_or_else(|_| panic!("no vault in {START_MAX:?}"))
    }

    async fn make_ready(mut self, before: &Before) -> Self {
        let mut tick = interval(LOOK_AGAIN);
        let operator = loop {
            tick.tick().await;
            match OperatorClient::connect(&self.profile) {
                Ok((operator, _)) => break operator,
                Err(fault) => {
                    let ended = self.vault.0.try_wait().unwrap();
                    assert!(ended.is_none(), "the vault ended at once ({fault}): {}", words(&self.profile));
                }
            }
        };
        if !before.locked {
            operator.ask(&OperatorAsk::Unlock { passphrase: passphrase(), rules: None }).unwrap();
        }
        let budget = before.session.as_deref().unwrap_or(USUAL_BUDGET);
        if budget != "none" && !before.session_over && !before.latched {
            let (name, budget) = ("default".parse().unwrap(), budget.parse().unwrap());
            operator.ask(&OperatorAsk::SessionNew { name, budget, minutes: 60, passphrase: passphrase() }).unwrap();
        }
        if let Some(reason) = &before.frozen {
            operator.ask(&OperatorAsk::Freeze { reason: reason.clone() }).unwrap();
        }
        while before.session_over && !is_over(&operator) {
            tick.tick().await;
        }
        self
    }

    /// Everything the ledger says, by the operator's line.
    pub(crate) fn books(&self) -> Books {
        let (operator, _) = OperatorClient::connect(&self.profile).unwrap();
        let OperatorReply::Log(log) = operator.ask(&OperatorAsk::Log { limit: 500, after: Some(0) }).unwrap() else {
            panic!("the vault answered `log` out of turn");
        };
        let exposed = log.iter().filter(|entry| entry.kind == "exposed").filter_map(|entry| entry.payment.clone());
        let detail = |id| match operator.ask(&OperatorAsk::Payment { id }).unwrap() {
            OperatorReply::Payment(payment) => *payment,
            _ => panic!("the vault answered `payment` out of turn"),
        };
        let payments = exposed.map(detail).collect();
        let session = sessions(&operator).into_iter().next();
        Books { log, payments, session, words: words(&self.profile) }
    }
}

fn passphrase() -> Passphrase {
    Passphrase::new(Zeroizing::new(PASSPHRASE.to_owned()))
}

/// Starts a vault in an empty environment; its words go to a file in the sandbox.
fn start(profile: &Profile) -> Vault {
    let log = File::create(profile.home().join("words")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bursar"));
    command.arg("--sandbox").arg(profile.home()).arg("vault").env_clear();
    Vault(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap())
}

fn words(profile: &Profile) -> String {
    fs::read_to_string(profile.home().join("words")).unwrap()
}

/// Opens a session of `life_s` seconds right in the ledger, by a clock of the story's own.
fn open_session(profile: &Profile, time: Box<dyn TimeSource>, life_s: u64) {
    let ledger = Ledger::open(&profile.ledger_place(), time).unwrap();
    let id = SessionId::from_random([7; 16]);
    ledger.open_session(id, "default".parse().unwrap(), USUAL_BUDGET.parse().unwrap(), life_s).unwrap();
    ledger.close();
}

fn sessions(operator: &OperatorClient) -> Vec<SessionView> {
    match operator.ask(&OperatorAsk::SessionList).unwrap() {
        OperatorReply::Sessions(sessions) => sessions,
        _ => panic!("the vault answered `session list` out of turn"),
    }
}

fn is_over(operator: &OperatorClient) -> bool {
    let OperatorReply::Status(status) = operator.ask(&OperatorAsk::Status).unwrap() else {
        panic!("the vault answered `status` out of turn");
    };
    sessions(operator).iter().all(|session| session.expires_s <= status.now_s)
}

/// A machine whose wall clock is an hour fast, and which was started anew since.
#[derive(Debug)]
struct HourAhead;

impl TimeSource for HourAhead {
    fn wall_s(&self) -> Option<u64> {
        MachineTime.wall_s().map(|now_s| now_s + 3_600)
    }

    fn boot_ms(&self) -> u64 {
        MachineTime.boot_ms()
    }

    fn boot_id(&self) -> String {
        "an earlier boot".to_owned()
    }
}
