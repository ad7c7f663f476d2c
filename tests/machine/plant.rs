//! A machine in a folder: root's file, the vault's user, an agent's, an operator's, and a stranger's; each with a folder of
//! their own. No process and no file outlives it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bursar_vault::client::OperatorClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::Passphrase;
use bursar_vault::setup::{self, NewKey, Unlocking};
use rustix::thread::{Gid, Uid, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};
use zeroize::Zeroizing;

use crate::client::PATIENCE;
use crate::seller::{HOST, PAYEE};

/// The four users. None of them needs an account.
pub(crate) const VAULT: u32 = 61_001;
pub(crate) const AGENT: u32 = 61_002;
pub(crate) const OPERATOR: u32 = 61_003;
pub(crate) const STRANGER: u32 = 61_004;

pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

/// A host that the rules list beside the seller's, and where nobody answers.
pub(crate) const OTHER: &str = "https://other.crash.test";

/// The machine.
pub(crate) struct Machine {
    vault: Option<Child>,
    // Dropped last: whatever runs in it has ended by then.
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// Fails unless it ended with `code` and one sentence that has every part in it.
    pub(crate) fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is not in {self:?}");
        }
    }
}

/// Runs `work` in a thread that belongs to another user, as a process of theirs would: without root's rights.
pub(crate) fn as_user<T: Send>(uid: u32, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let theirs = scope.spawn(move || {
            let gid = Gid::from_raw(uid);
            set_thread_groups(&[]).unwrap();
            set_thread_res_gid(gid, gid, gid).unwrap();
            let uid = Uid::from_raw(uid);
            set_thread_res_uid(uid, uid, uid).unwrap();
            work()
        });
        theirs.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl Machine {
    /// A machine whose vault runs and has an open session of one dollar.
    pub(crate) async fn with_a_dollar(rules: &str) -> Self {
        let mut machine = Self::set_up(rules);
        machine.start_vault().await;
        let opened = machine.typing(OPERATOR, &["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await;
        assert_eq!(opened.code, Some(0), "{opened:?}");
        machine
    }

    /// A machine whose vault has rules, key and ledger, and does not run.
    pub(crate) fn set_up(rules: &str) -> Self {
        assert_eq!(
            rustix::process::geteuid().as_raw(),
            0,
            "this test starts processes of several users, which only root can do: run it as root (`sudo -E cargo test`)"
        );
        let folder = tempfile::Builder::new().prefix("bursar-machine-").tempdir_in("/tmp").unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
        // The program at a place where every user can start it: the build's own folder may be closed to others.
        let (built, program) = (Path::new(env!("CARGO_BIN_EXE_bursar")), folder.path().join("bursar"));
        fs::hard_link(built, &program).or_else(|_far| fs::copy(built, &program).map(drop)).unwrap();
        let machine = Self { vault: None, folder };
        for (name, owner, mode) in [
            ("vault", VAULT, 0o700),
            ("agent", AGENT, 0o700),
            ("operator", OPERATOR, 0o700),
            ("stranger", STRANGER, 0o700),
            ("sockets", VAULT, 0o711),
        ] {
            let path = machine.path(name);
            fs::create_dir(&path).unwrap();
            chown(&path, Some(owner), Some(owner)).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        machine.write_file(&machine.listed());
        let profile = machine.profile(VAULT);
        as_user(VAULT, || setup::initialise(&profile, rules, NewKey::Generated, &passphrase(), Unlocking::ByFile))
            .unwrap();
        machine
    }

    /// What root's file says.
    pub(crate) fn listed(&self) -> String {
        let sockets = self.path("sockets");
        format!("vault = {VAULT}\nagents = [{AGENT}]\noperators = [{OPERATOR}]\nsockets = \"{}\"\n", sockets.display())
    }

    pub(crate) fn write_file(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
        fs::set_permissions(self.file(), Permissions::from_mode(0o644)).unwrap();
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path("vault.toml")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of a user.
    pub(crate) fn home(&self, uid: u32) -> PathBuf {
        self.path(match uid {
            VAULT => "vault",
            AGENT => "agent",
            OPERATOR => "operator",
            _ => "stranger",
        })
    }

    /// The machine as a user of it sees it.
    pub(crate) fn profile(&self, uid: u32) -> Profile {
        Profile::locate_hardened_sandbox(&self.home(uid), &self.file()).unwrap()
    }

    /// The start of a command of a user's: the program, the folder, the file, and an empty environment.
    pub(crate) fn command(&self, uid: u32, words: &[&str]) -> Command {
        let mut command = self.bare(uid);
        command.arg("--sandbox").arg(self.home(uid)).arg("--hardened").arg(self.file()).args(words);
        command
    }

    /// The program as a user starts it, without any word yet.
    pub(crate) fn bare(&self, uid: u32) -> Command {
        let mut command = Command::new(self.path("bursar"));
        command.env_clear().uid(uid).gid(uid).current_dir("/").kill_on_drop(true);
        command
    }

    pub(crate) async fn run(&self, uid: u32, words: &[&str]) -> Said {
        self.typing(uid, words, "").await
    }

    /// Runs a command of a user's who types a line.
    pub(crate) async fn typing(&self, uid: u32, words: &[&str], line: &str) -> Said {
        let mut command = self.command(uid, words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut keyboard = child.stdin.take().unwrap();
        // Whoever asks nothing may be gone before anything is typed.
        keyboard.write_all(format!("{line}\n").as_bytes()).await.unwrap_or_default();
        drop(keyboard);
        let said = timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: said.status.code(), out: text(said.stdout), err: text(said.stderr) }
    }

    /// Starts the vault, and waits for nothing.
    pub(crate) fn spawn_vault(&mut self) {
        let log = File::create(self.path("words")).unwrap();
        let mut command = self.command(VAULT, &["vault"]);
        self.vault = Some(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap());
    }

    /// Waits until the vault says this.
    pub(crate) async fn until_it_says(&self, text: &str) {
        let mut tick = interval(Duration::from_millis(10));
        let said = timeout(PATIENCE, async {
            while !self.words().contains(text) {
                tick.tick().await;
            }
        });
        assert!(said.await.is_ok(), "`{text}` is not said in {PATIENCE:?}: {}", self.words());
    }

    /// Starts the vault, and waits until it answers its operator and is unlocked.
    pub(crate) async fn start_vault(&mut self) {
        self.spawn_vault();
        let profile = self.profile(OPERATOR);
        let mut tick = interval(Duration::from_millis(10));
        let up = timeout(PATIENCE, async {
            while !as_user(OPERATOR, || OperatorClient::connect(&profile)).is_ok_and(|(_, welcome)| !welcome.locked) {
                tick.tick().await;
                assert!(
                    self.vault.as_mut().unwrap().try_wait().unwrap().is_none(),
                    "it ended at once: {}",
                    self.words()
                );
            }
        });
        assert!(up.await.is_ok(), "no vault in {PATIENCE:?}: {}", self.words());
    }

    /// Ends the vault at once.
    pub(crate) async fn kill_vault(&mut self) {
        self.vault.take().unwrap().kill().await.unwrap();
    }

    /// The process id of the vault.
    pub(crate) fn pid(&self) -> u32 {
        self.vault.as_ref().unwrap().id().unwrap()
    }

    /// What the vault said on standard error.
    pub(crate) fn words(&self) -> String {
        fs::read_to_string(self.path("words")).unwrap_or_default()
    }
}

pub(crate) fn passphrase() -> Passphrase {
    Passphrase::new(Zeroizing::new(PASSPHRASE.to_owned()))
}

/// The rules: two hosts, one payee, a quarter a payment, two dollars a day.
pub(crate) fn rules(port: u16, more: &str) -> String {
    format!(
        r#"
        [payment]
        max_per_payment = "0.25 USD"
        schemes = ["exact"]
        networks = ["eip155:84532"]
        assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
        recipients = ["{PAYEE}"]
        max_lifetime = "5m"
        max_unresolved = 1000
        quarantine_after = 100

        [[limit]]
        scope = "all"
        window = "24h"
        max = "2.00 USD"

        [[host]]
        origin = "https://{HOST}:{port}"
        content = "text"

        [[host]]
        origin = "{OTHER}"

        [sandbox]
        {more}
        hosts = {{ "{HOST}" = "127.0.0.1" }}
        "#
    )
}
