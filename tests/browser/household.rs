//! A sandbox with a real vault, a budget, a `bursar serve` and a browser. Nothing of it outlives the test.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Stdio;

use bursar_vault::client::OperatorClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, OperatorStatus, Passphrase};
use bursar_vault::setup::{self, NewKey, Unlocking};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};
use zeroize::Zeroizing;

use crate::agent::Agent;
use crate::chromium::Chromium;
use crate::farewell::send_away;
use crate::seller::{HOST, PAYEE, Seller};
use crate::stage::{LOOK_AGAIN, PATIENCE};

pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

/// The household.
pub(crate) struct Household {
    pub(crate) profile: Profile,
    pub(crate) browser: Chromium,
    pub(crate) seller: Seller,
    pub(crate) agent: Agent,
    vault: Child,
    // Dropped last: whatever runs in it has ended by then.
    _folder: TempDir,
}

impl Household {
    /// Everything runs but the glue.
    pub(crate) async fn set_up() -> Self {
        Self::with_rules(rules).await
    }

    /// The same, and a person looks at every purchase below `/report` first.
    pub(crate) async fn cautious() -> Self {
        let more = |port| {
            format!(
                "{}\n[[host]]\norigin = \"https://{HOST}:{port}\"\npath = \"/report\"\napprove_over = \"0.02 USD\"\n",
                rules(port)
            )
        };
        Self::with_rules(more).await
    }

    async fn with_rules(rules: impl Fn(u16) -> String) -> Self {
        let folder = TempDir::with_prefix("bursar-browser-").unwrap();
        let seller = Seller::open().await;
        let profile = Profile::locate_sandbox(&folder.path().join("home")).unwrap();
        let rules = rules(seller.port);
        setup::initialise(&profile, &rules, NewKey::Generated, &passphrase(), Unlocking::ByFile).unwrap();
        write(&profile.home().join("ca.pem"), &seller.authority_pem);
        let vault = start_vault(&profile).await;
        let (name, budget) = ("default".parse().unwrap(), "5.00 USD".parse().unwrap());
        let session = OperatorAsk::SessionNew { name, budget, minutes: 60, mandate: None, passphrase: passphrase() };
        let opened = ask(&profile, &session);
        assert!(matches!(opened, OperatorReply::Session(_)), "{opened:?}");
        let agent = Agent::start(command(&profile, "serve"));
        let browser = Chromium::start(folder.path(), &seller).await;
        Self { profile, browser, seller, agent, vault, _folder: folder }
    }

    /// Kills the vault and starts another one.
    pub(crate) async fn change_vaults(&mut self) {
        self.vault.kill().await.unwrap();
        self.vault = start_vault(&self.profile).await;
    }

    /// The agent calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.agent.call(tool, arguments).await
    }

    /// The agent prepares a page and gets a handle.
    pub(crate) async fn prepare(&mut self, url: &str) -> String {
        let told = self.call("prepare_browser_payment", json!({ "url": url })).await;
        assert_eq!(told["outcome"], "prepared", "{told}");
        told["handle"].as_str().unwrap().to_owned()
    }

    /// The agent attaches a handle.
    pub(crate) async fn attach(&mut self, handle: &str, open: &str) -> Value {
        self.call("attach_browser_payment", json!({ "handle": handle, "open": open })).await
    }

    /// The operator asks the vault.
    pub(crate) fn operator(&self, asked: &OperatorAsk) -> OperatorReply {
        ask(&self.profile, asked)
    }

    /// How everything stands, by the vault's word.
    pub(crate) fn status(&self) -> OperatorStatus {
        match self.operator(&OperatorAsk::Status) {
            OperatorReply::Status(status) => *status,
            other => panic!("{other:?}"),
        }
    }

    /// Fails if the agent could have read a part of a header that reached the seller, or of a signature in one; or if it
    /// is in what any process here said.
    pub(crate) fn nothing_was_told(&self) {
        let paid = self.seller.paid();
        assert!(!paid.is_empty() && !self.agent.read.is_empty());
        let said = words(&self.profile);
        for header in paid.into_iter().filter_map(|seen| seen.payment) {
            let signature = crate::seller::signature(&header);
            for secret in [&header[..40], &header[header.len() - 40..], &signature[2..42], &signature[90..]] {
                assert!(!self.agent.read.contains(secret), "the agent read it: {}", self.agent.read);
                assert!(!said.contains(secret), "it was said: {said}");
            }
        }
    }
}

impl Drop for Household {
    fn drop(&mut self) {
        send_away(&self.profile);
    }
}

async fn start_vault(profile: &Profile) -> Child {
    let vault = command(profile, "vault").stdin(Stdio::null()).spawn().unwrap();
    let mut tick = interval(LOOK_AGAIN);
    let up = timeout(PATIENCE, async {
        while !OperatorClient::connect(profile).is_ok_and(|(_, welcome)| !welcome.locked) {
            tick.tick().await;
        }
    });
    assert!(up.await.is_ok(), "no vault: {}", words(profile));
    vault
}

fn ask(profile: &Profile, asked: &OperatorAsk) -> OperatorReply {
    let (operator, _) = OperatorClient::connect(profile).unwrap();
    operator.ask(asked).unwrap()
}

fn passphrase() -> Passphrase {
    Passphrase::new(Zeroizing::new(PASSPHRASE.to_owned()))
}

/// A child of the program under test, with an empty environment and its words in a file.
pub(crate) fn command(profile: &Profile, word: &str) -> Command {
    let log = OpenOptions::new().append(true).create(true).open(profile.home().join("words")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_bursar"));
    command.arg("--sandbox").arg(profile.home()).arg(word).env_clear().stderr(log).kill_on_drop(true);
    command
}

pub(crate) fn words(profile: &Profile) -> String {
    fs::read_to_string(profile.home().join("words")).unwrap_or_default()
}

fn write(path: &Path, text: &str) {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

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

        [[limit]]
        scope = "all"
        window = "24h"
        max = "10.00 USD"

        [[host]]
        origin = "https://{HOST}:{port}"

        [sandbox]
        ca = "ca.pem"
        hosts = {{ "{HOST}" = "127.0.0.1" }}
        "#
    )
}
