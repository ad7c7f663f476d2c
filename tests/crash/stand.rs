//! One sandbox with a seller, a vault process and any number of `bursar serve`. No process and no file outlives it.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use bursar_policy::Mandate;
use bursar_vault::client::OperatorClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase};
use bursar_vault::setup::{self, NewKey, Unlocking};
use rustix::process::Signal;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};
use zeroize::Zeroizing;

use crate::books::Books;
use crate::client::{Client, PATIENCE, send};
use crate::cluster::Cluster;
use crate::farewell::{nobody_has_the_ledger, send_away};
use crate::seller::{HOST, PAYEE, Seller};

const PASSPHRASE: &str = "correct horse battery staple";
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The stand.
pub(crate) struct Stand {
    pub(crate) seller: Seller,
    pub(crate) profile: Profile,
    vault: Option<Child>,
    // Where the ledger is, if not in a file; dropped after the vault.
    server: Option<Cluster>,
    // Dropped last: whatever runs in it has ended by then.
    _folder: TempDir,
}

impl Stand {
    /// A sandbox whose vault runs, with an open session of `budget`.
    pub(crate) async fn with_budget(budget: &str) -> Self {
        let mut stand = Self::without_vault().await;
        stand.start_vault().await;
        stand.open_session(budget);
        stand
    }

    /// A sandbox with rules, key and ledger, where no vault runs. The key unlocks by a passphrase file, so that a vault
    /// can come back without a person.
    pub(crate) async fn without_vault() -> Self {
        Self::set_up(None).await
    }

    /// A sandbox whose ledger is on a PostgreSQL server of its own, whose vault runs, with an open session of `budget`.
    pub(crate) async fn on_a_server(budget: &str) -> Self {
        let mut stand = Self::set_up(Some(Cluster::start(&[]))).await;
        stand.start_vault().await;
        stand.open_session(budget);
        stand
    }

    async fn set_up(server: Option<Cluster>) -> Self {
        let seller = Seller::open().await;
        let folder = TempDir::with_prefix("bursar-crash-").unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("home")).unwrap();
        let mut rules = rules(seller.port);
        if let Some(server) = &server {
            let address = format!("postgres://vaults@:{}/postgres?host={}", server.port, server.folder.display());
            let mut migrate = Command::new(env!("CARGO_BIN_EXE_bursar"));
            migrate.args(["ledger", "migrate", "--owner", "keeper", &address]).env_clear().stdin(Stdio::null());
            let made = migrate.output().await.unwrap();
            assert!(made.status.success(), "{made:?}");
            rules = format!("ledger = \"{address}\"\n{rules}");
        }
        // In a thread of its own, because a ledger on a server waits for it in a runtime of its own.
        let initialised = thread::scope(|scope| {
            let initialise =
                || setup::initialise(&profile, &rules, NewKey::Generated, &passphrase(), Unlocking::ByFile).map(drop);
            scope.spawn(initialise).join().unwrap()
        });
        initialised.unwrap();
        write(&profile.home().join("ca.pem"), &seller.authority_pem);
        Self { seller, profile, vault: None, server, _folder: folder }
    }

    /// Starts a vault as a child, and waits until it answers and is unlocked.
    pub(crate) async fn start_vault(&mut self) {
        self.spawn_vault();
        let up = async {
            let mut tick = interval(LOOK_AGAIN);
            while !OperatorClient::connect(&self.profile).is_ok_and(|(_, welcome)| !welcome.locked) {
                tick.tick().await;
                assert!(self.vault_lives(), "the vault ended at once: {}", self.words());
            }
        };
        let up = timeout(PATIENCE, up).await;
        assert!(up.is_ok(), "no vault in {PATIENCE:?}: {}", self.words());
    }

    /// Starts a vault as a child, and waits for nothing.
    pub(crate) fn spawn_vault(&mut self) {
        let mut command = self.command(&["vault"]);
        self.vault = Some(command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true).spawn().unwrap());
    }

    /// Whether the vault that was started here has not ended.
    pub(crate) fn vault_lives(&mut self) -> bool {
        self.vault.as_mut().unwrap().try_wait().unwrap().is_none()
    }

    /// Lets the process that reaches `step` first kill itself there.
    pub(crate) fn arm(&self, step: &str) {
        write(&self.profile.failpoint(), step);
    }

    /// Fails unless a process took the fail point's file and died by SIGKILL: `ended` is its end.
    pub(crate) fn was_killed_at(&self, step: &str, ended: ExitStatus) {
        assert_eq!(ended.signal(), Some(9), "not killed at {step}: {ended:?}; {}", self.words());
        assert!(!self.profile.failpoint().exists(), "{step} was not reached");
    }

    /// Sends a signal to the vault.
    pub(crate) fn signal_vault(&self, signal: Signal) {
        send(self.vault.as_ref().unwrap(), signal);
    }

    /// The server that its ledger is on.
    pub(crate) fn server(&self) -> &Cluster {
        self.server.as_ref().unwrap()
    }

    /// Waits for the end of the vault.
    pub(crate) async fn vault_ended(&mut self) -> ExitStatus {
        let mut vault = self.vault.take().unwrap();
        let ended = timeout(PATIENCE, vault.wait()).await;
        ended.unwrap_or_else(|_| panic!("the vault lives on after {PATIENCE:?}: {}", self.words())).unwrap()
    }

    /// Kills the vault from outside (SIGKILL).
    pub(crate) async fn kill_vault(&mut self) {
        self.vault.take().unwrap().kill().await.unwrap();
    }

    /// Waits until no vault is left, not even one that is dying.
    pub(crate) async fn no_vault_is_left(&self) {
        let mut tick = interval(LOOK_AGAIN);
        let gone = timeout(PATIENCE, async {
            while !nobody_has_the_ledger(&self.profile) {
                tick.tick().await;
            }
        });
        assert!(gone.await.is_ok(), "a vault lives on after {PATIENCE:?}: {}", self.words());
    }

    /// Ends the vault in order, and gives the books from the disk.
    pub(crate) async fn close(&mut self) -> Books {
        self.ask(OperatorAsk::Shutdown);
        let ended = self.vault_ended().await;
        assert!(ended.success(), "{ended:?}; {}", self.words());
        Books::of_the_disk(&self.profile)
    }

    /// A `bursar serve` with its client.
    pub(crate) fn serve(&self) -> Client {
        Client::start(self.command(&["serve"]))
    }

    /// A `bursar serve` that spends from the session called `name`.
    pub(crate) fn serve_from(&self, name: &str) -> Client {
        Client::start(self.command(&["serve", "--session", name]))
    }

    /// Opens the session that `serve` spends from where it is not told otherwise.
    pub(crate) fn open_session(&self, budget: &str) {
        self.open_session_for("default", budget, None);
    }

    /// Opens a session of this name, for everything or for what `mandate` says.
    pub(crate) fn open_session_for(&self, name: &str, budget: &str, mandate: Option<Mandate>) {
        let (name, budget) = (name.parse().unwrap(), budget.parse().unwrap());
        let reply = self.ask(OperatorAsk::SessionNew { name, budget, minutes: 60, mandate, passphrase: passphrase() });
        assert!(matches!(reply, OperatorReply::Session(_)), "{reply:?}");
    }

    /// Asks the vault as its operator.
    pub(crate) fn ask(&self, ask: OperatorAsk) -> OperatorReply {
        let (operator, _) = OperatorClient::connect(&self.profile).unwrap();
        operator.ask(&ask).unwrap()
    }

    /// A child of the program under test, with an empty environment and its words in a file.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let log = OpenOptions::new().append(true).create(true).open(self.profile.home().join("words")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_bursar"));
        command.arg("--sandbox").arg(self.profile.home()).args(words).env_clear().stderr(log);
        command
    }

    /// What every process of this sandbox said on standard error.
    pub(crate) fn words(&self) -> String {
        std::fs::read_to_string(self.profile.home().join("words")).unwrap_or_default()
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        // The child dies with its handle; a vault that `serve` started is nobody's child.
        self.vault = None;
        send_away(&self.profile);
    }
}

pub(crate) fn passphrase() -> Passphrase {
    Passphrase::new(Zeroizing::new(PASSPHRASE.to_owned()))
}

/// Writes a file that only its owner can read.
pub(crate) fn write(path: &Path, text: &str) {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// The rules: this one seller, this one payee, a quarter a payment.
fn rules(port: u16) -> String {
    format!(
        r#"
        [payment]
        max_per_payment = "0.25 USD"
        schemes = ["exact"]
        networks = ["eip155:84532"]
        assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
        recipients = ["{PAYEE}"]
        max_lifetime = "5m"
        max_unresolved = 100

        [[limit]]
        scope = "all"
        window = "24h"
        max = "10.00 USD"

        [[host]]
        origin = "https://{HOST}:{port}"
        content = "text"

        [sandbox]
        ca = "ca.pem"
        hosts = {{ "{HOST}" = "127.0.0.1" }}
        "#
    )
}
