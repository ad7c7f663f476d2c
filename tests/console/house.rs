//! A console in this process and, where a test wants one, a real vault beside it. Nothing of it outlives the test.

use std::process::Stdio;

use bursar::console::{Bounds, CodeDesk, Console, News};
use bursar_vault::client::OperatorClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, OperatorStatus, Passphrase};
use bursar_vault::setup::{self, NewKey, Unlocking};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};
use zeroize::Zeroizing;

use crate::mute::MuteVault;
use crate::raw::{Answer, Ask, PATIENCE};

pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

/// The house.
pub(crate) struct House {
    /// `127.0.0.1:PORT`.
    pub(crate) host: String,
    /// `/…/`.
    pub(crate) base: String,
    pub(crate) codes: CodeDesk,
    pub(crate) news: watch::Receiver<Vec<News>>,
    profile: Profile,
    work: JoinHandle<()>,
    _vault: Option<Child>,
    // Dropped last: whatever runs in it has ended by then.
    _folder: TempDir,
}

/// What a browser has that logged in.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) cookie: String,
    pub(crate) token: String,
}

impl House {
    /// A console over a vault that does not run.
    pub(crate) fn empty(bounds: Bounds) -> Self {
        let folder = TempDir::with_prefix("bursar-console-").unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("home")).unwrap();
        profile.create().unwrap();
        Self::open(profile, folder, None, bounds)
    }

    /// A console over a vault that says nothing of how it stands.
    pub(crate) fn with_a_vault_that_tells_nothing() -> (Self, MuteVault) {
        let house = Self::empty(Bounds::usual());
        let vault = MuteVault::open(&house.profile);
        (house, vault)
    }

    /// The profile's folder, as a person types it.
    pub(crate) fn home(&self) -> std::path::Display<'_> {
        self.profile.home().display()
    }

    /// Another console over the vault of `house`.
    pub(crate) fn beside(house: &Self) -> Self {
        let folder = TempDir::with_prefix("bursar-console-").unwrap();
        Self::open(house.profile.clone(), folder, None, Bounds::usual())
    }

    pub(crate) const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// A console over a vault that runs.
    pub(crate) async fn with_vault() -> Self {
        Self::with_vault_and(Bounds::usual()).await
    }

    /// The same within other bounds.
    pub(crate) async fn with_vault_and(bounds: Bounds) -> Self {
        let folder = TempDir::with_prefix("bursar-console-").unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("home")).unwrap();
        setup::initialise(&profile, RULES, NewKey::Generated, &passphrase(), Unlocking::ByFile).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_bursar"));
        command.arg("--sandbox").arg(profile.home()).arg("vault").env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let vault = command.spawn().unwrap();
        let mut tick = interval(std::time::Duration::from_millis(20));
        let up = timeout(PATIENCE, async {
            while OperatorClient::connect(&profile).is_err() {
                tick.tick().await;
            }
        });
        assert!(up.await.is_ok(), "no vault");
        Self::open(profile, folder, Some(vault), bounds)
    }

    fn open(profile: Profile, folder: TempDir, vault: Option<Child>, bounds: Bounds) -> Self {
        let console = Console::open(&profile, bounds).unwrap();
        let (address, codes) = (console.address(), console.codes());
        let (host, base) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let (host, base) = (host.to_owned(), format!("/{base}"));
        let (say, news) = watch::channel(Vec::new());
        let work = tokio::spawn(async move {
            console.serve(std::future::pending(), |told| say.send_modify(|news| news.push(told))).await.unwrap();
        });
        Self { host, base, codes, news, profile, work, _vault: vault, _folder: folder }
    }

    /// A request as our own page makes it.
    pub(crate) fn get(&self, name: &str) -> Ask {
        let line = format!("GET {}{name} HTTP/1.1", self.base);
        Ask::of(&line).with("host", &self.host).with("sec-fetch-site", "same-origin")
    }

    /// The same that does something.
    pub(crate) fn post(&self, name: &str, body: &str) -> Ask {
        let line = format!("POST {}{name} HTTP/1.1", self.base);
        let ask = Ask::of(&line).with("host", &self.host).with("sec-fetch-site", "same-origin");
        let ask = ask.with("origin", &format!("http://{}", self.host)).with("content-type", "application/json");
        ask.saying(body)
    }

    /// Types a code.
    pub(crate) async fn types(&self, code: &str) -> Answer {
        self.send(&self.post("login", &format!(r#"{{"code":"{code}"}}"#))).await
    }

    /// Logs in.
    pub(crate) async fn enter(&self) -> Keys {
        let code = self.codes.issue().unwrap();
        let answer = self.types(&code.spelled()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let [cookie] = answer.all("set-cookie")[..] else { panic!("{answer:?}") };
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Keys { cookie, token: answer.json()["token"].as_str().unwrap().to_owned() }
    }

    pub(crate) async fn send(&self, ask: &Ask) -> Answer {
        ask.send(&self.host).await
    }

    /// How the vault stands, by its own word.
    pub(crate) fn status(&self) -> OperatorStatus {
        let (operator, _) = OperatorClient::connect(&self.profile).unwrap();
        match operator.ask(&OperatorAsk::Status).unwrap() {
            OperatorReply::Status(status) => *status,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn opens_a_budget(&self) {
        let (operator, _) = OperatorClient::connect(&self.profile).unwrap();
        let (name, budget) = ("default".parse().unwrap(), "5.00 USD".parse().unwrap());
        let ask = OperatorAsk::SessionNew { name, budget, minutes: 60, mandate: None, passphrase: passphrase() };
        operator.ask(&ask).unwrap();
    }

    pub(crate) fn freeze(&self) {
        let (operator, _) = OperatorClient::connect(&self.profile).unwrap();
        operator.ask(&OperatorAsk::Freeze { reason: "a test".to_owned() }).unwrap();
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Keys {
    /// On a request.
    pub(crate) fn on(&self, ask: Ask) -> Ask {
        ask.with("cookie", &self.cookie).with("x-bursar-token", &self.token)
    }
}

fn passphrase() -> Passphrase {
    Passphrase::new(Zeroizing::new(PASSPHRASE.to_owned()))
}

const RULES: &str = r#"
[payment]
max_per_payment = "0.25 USD"
schemes = ["exact"]
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = ["0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"]

[[limit]]
scope = "all"
window = "24h"
max = "10.00 USD"

[[host]]
origin = "https://shop.console.test"

[sandbox]
hosts = { "shop.console.test" = "127.0.0.1" }
"#;
