//! One sandbox folder with its own key, ledger and vault process, and the operator's line to it.
//!
//! The process ends with the value, however the story ends; then the folder goes.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bursar_policy::chain::Address;
use bursar_policy::errand::{ApprovalId, Errand, Method, PaymentId, SessionId};
use bursar_policy::{Amount, Mandate, Setting, Terms, Version};
use bursar_vault::client::OperatorClient;
use bursar_vault::clock::{MachineTime, TimeSource};
use bursar_vault::ledger::{Ask, Claim, Counted, KeyFile, Ledger};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{
    ApprovalState, LogEntry, OperatorAsk, OperatorReply, Passphrase, PaymentDetail, SecretValue, SessionView,
};
use bursar_vault::rules_file;
use bursar_vault::setup::{self, NewKey, Unlocking};
use tempfile::TempDir;
use tokio::time::{interval, timeout};
use zeroize::Zeroizing;

use crate::story::{Before, Word};

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
    pub(crate) async fn open(rules: &str, authority_pem: &str, before: &Before, mandate: Option<Mandate>) -> Self {
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("bursar-story-").permissions(private).tempdir().unwrap();
        let profile = Profile::locate_sandbox(folder.path()).unwrap();
        let payer = setup::initialise(&profile, rules, NewKey::Generated, &passphrase(), Unlocking::ByPerson).unwrap();
        bursar_vault::guarded::create(&profile.home().join("ca.pem"), authority_pem.as_bytes()).unwrap();
        if before.latched {
            open_session(&profile, Box::new(EarlierBoot { ahead_s: 3_600 }), 10_000);
        }
        if before.session_over {
            open_session(&profile, Box::new(MachineTime), 1);
        }
        if before.session_older {
            // As it was opened when the rules wanted no mandate yet.
            open_session(&profile, Box::new(MachineTime), 10_000);
        }
        if before.unresolved {
            lose_a_payment(&profile, payer, rules);
        }
        let sandbox = Self { vault: start(&profile), profile, payer, _folder: folder };
        timeout(START_MAX, sandbox.make_ready(before, mandate))
            .await
            .unwrap_or_else(|_| panic!("no vault in {START_MAX:?}"))
    }

    async fn make_ready(mut self, before: &Before, mandate: Option<Mandate>) -> Self {
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
        for (name, value) in &before.secrets {
            let value = SecretValue::new(Zeroizing::new(value.clone())).unwrap();
            let ask = OperatorAsk::SecretSet { name: name.parse().unwrap(), value, passphrase: passphrase() };
            operator.ask(&ask).unwrap();
        }
        let budget = before.session.as_deref().unwrap_or(USUAL_BUDGET);
        let opened = before.session_over || before.session_older || before.latched || before.unresolved;
        if budget != "none" && !opened {
            let (name, budget) = ("default".parse().unwrap(), budget.parse().unwrap());
            let ask = OperatorAsk::SessionNew { name, budget, minutes: 60, mandate, passphrase: passphrase() };
            operator.ask(&ask).unwrap();
        }
        if let Some(reason) = &before.frozen {
            operator.ask(&OperatorAsk::Freeze { reason: reason.clone() }).unwrap();
        }
        while before.session_over && !is_over(&operator) {
            tick.tick().await;
        }
        self
    }

    /// A person's word about the newest purchase that waits for one.
    pub(crate) fn says(&self, word: Word) {
        let (operator, _) = OperatorClient::connect(&self.profile).unwrap();
        if word == Word::Freeze {
            operator.ask(&OperatorAsk::Freeze { reason: "odd bills".to_owned() }).unwrap();
            return;
        }
        let OperatorReply::Approvals { approvals, .. } = operator.ask(&OperatorAsk::Approvals).unwrap() else {
            panic!("the vault answered `approvals` out of turn");
        };
        let waiting = approvals.into_iter().rfind(|view| view.state == ApprovalState::Waiting);
        let Some(view) = waiting else {
            assert_eq!(word, Word::Nothing, "nothing waits for a person");
            return;
        };
        let ask = match word {
            Word::Approve => OperatorAsk::Approve { id: view.id, binding: view.binding, passphrase: passphrase() },
            Word::Deny => OperatorAsk::Deny { id: view.id },
            Word::Freeze | Word::Nothing => return,
        };
        assert!(matches!(operator.ask(&ask).unwrap(), OperatorReply::Decided(_)));
    }

    /// The bytes of every file of the profile.
    pub(crate) fn files(&self) -> Vec<Vec<u8>> {
        let mut folders = vec![self.profile.home().to_owned()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    files.push(fs::read(path).unwrap());
                }
            }
        }
        files
    }

    /// Everything the ledger says, by the operator's line.
    pub(crate) fn books(&self) -> Books {
        let (operator, _) = OperatorClient::connect(&self.profile).unwrap();
        let OperatorReply::Log(log) = operator.ask(&OperatorAsk::Log { limit: 500, after: Some(0) }).unwrap() else {
            panic!("the vault answered `log` out of turn");
        };
        let mut counted: Vec<PaymentId> = Vec::new();
        for entry in log.iter().filter(|entry| ["held", "exposed"].contains(&entry.kind.as_str())) {
            counted.extend(entry.payment.clone().filter(|id| !counted.contains(id)));
        }
        let detail = |id| match operator.ask(&OperatorAsk::Payment { id }).unwrap() {
            OperatorReply::Payment(payment) => *payment,
            _ => panic!("the vault answered `payment` out of turn"),
        };
        let payments = counted.into_iter().map(detail).collect();
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
    ledger.open_session(id, "default".parse().unwrap(), USUAL_BUDGET.parse().unwrap(), life_s, None).unwrap();
    ledger.close();
}

/// An hour ago a cent was signed away to the first host and payee of `rules`, and nobody said a word about it since.
fn lose_a_payment(profile: &Profile, payer: Address, rules: &str) {
    let past = || Box::new(EarlierBoot { ahead_s: -3_600 });
    begin_earlier(profile, past());
    open_session(profile, past(), 10_000);
    let rules = Arc::new(rules_file::parse(rules, Setting::Sandbox).unwrap());
    let asset = rules.assets().next().unwrap();
    let terms = Terms {
        version: Version::V2,
        offer: 0,
        chain: asset.id.chain,
        asset: asset.id.contract,
        payee: *rules.recipients().unwrap().first().unwrap(),
        amount: Amount::new(10_000).unwrap(),
        max_timeout_s: 60,
        domain_name: asset.eip712_name.clone(),
        domain_version: asset.eip712_version.clone(),
    };
    let url = format!("{}/lost", rules.origins().next().unwrap());
    let site = url.parse().unwrap();
    let errand = Errand::new(site, Method::Get);
    let ledger = Ledger::open(&profile.ledger_place(), past()).unwrap();
    let session = SessionId::from_random([7; 16]);
    let Claim::New(claim) = ledger.claim(&session, errand, &rules, Duration::ZERO).unwrap() else {
        panic!("a fresh ledger knows of no purchase");
    };
    let (payment, approval) = (PaymentId::from_random([7; 16]), ApprovalId::from_random([7; 16]));
    let ask = Ask { terms, envelope: "{}".to_owned(), payer, payment, approval, nonce: [7; 32] };
    assert!(matches!(ledger.authorize(claim, ask, &rules).unwrap(), Counted::Yes(_)));
    ledger.close();
}

/// Puts an empty ledger of the same name, begun at an earlier time, in the place of the one that was just made.
fn begin_earlier(profile: &Profile, time: Box<dyn TimeSource>) {
    let place = profile.ledger_place();
    let fresh = Ledger::open(&place, Box::new(MachineTime)).unwrap();
    let mut id = [0; 16];
    hex::decode_to_slice(fresh.id(), &mut id).unwrap();
    fresh.close();
    drop(fresh);
    fs::remove_file(&place.file).unwrap();
    Ledger::create(&place, KeyFile::Absent, id, time).unwrap();
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

/// A machine whose wall clock was that far ahead, and which was started anew since.
#[derive(Debug)]
struct EarlierBoot {
    ahead_s: i64,
}

impl TimeSource for EarlierBoot {
    fn wall_s(&self) -> Option<u64> {
        MachineTime.wall_s().and_then(|now_s| now_s.checked_add_signed(self.ahead_s))
    }

    fn boot_ms(&self) -> u64 {
        MachineTime.boot_ms()
    }

    fn boot_id(&self) -> String {
        "an earlier boot".to_owned()
    }
}
