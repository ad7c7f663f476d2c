//! A person's desk: a sandbox folder, commands that are typed in it, and a vault that ends with it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bursar_vault::client::OperatorClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::OperatorAsk;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};

use crate::farewell::send_away;

/// The program under test.
pub(crate) const BURSAR: &str = env!("CARGO_BIN_EXE_bursar");

/// What the person at this desk types when asked for a passphrase.
pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

/// How long a command may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The desk.
pub(crate) struct Desk {
    /// The sandbox; not there before `init`.
    pub(crate) home: PathBuf,
    vault: Option<Child>,
    // Dropped last: whatever runs in it has ended by then.
    _folder: TempDir,
}

/// How a command ended.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Desk {
    /// A folder in which nothing was set up.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::with_prefix("bursar-cli-").unwrap();
        Self { home: folder.path().join("box"), vault: None, _folder: folder }
    }

    /// A sandbox after `init`, with these further words.
    pub(crate) async fn set_up(words: &[&str]) -> Self {
        let desk = Self::empty();
        let words: Vec<&str> = ["init"].iter().chain(words).copied().collect();
        desk.typing(&words, PASSPHRASE).await.done();
        desk
    }

    /// A sandbox whose vault runs.
    pub(crate) async fn with_vault() -> Self {
        let mut desk = Self::set_up(&[]).await;
        desk.start_vault().await;
        desk
    }

    /// Runs a command in the sandbox with nothing typed.
    pub(crate) async fn run(&self, words: &[&str]) -> Said {
        self.typing(words, "").await
    }

    /// Runs a command in the sandbox, and types a line.
    pub(crate) async fn typing(&self, words: &[&str], line: &str) -> Said {
        let mut command = self.command();
        command.args(words);
        run(command, line).await
    }

    /// The start of every command here: the program, its sandbox, and an empty environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(BURSAR);
        command.env_clear().arg("--sandbox").arg(&self.home);
        command
    }

    /// Starts `bursar vault` beside, and waits until it answers.
    pub(crate) async fn start_vault(&mut self) {
        let log = File::create(self.home.with_file_name("vault words")).unwrap();
        let mut command = self.command();
        command.arg("vault").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        let vault = self.vault.insert(command.spawn().unwrap());
        let profile = Profile::locate_sandbox(&self.home).unwrap();
        let words = || fs::read_to_string(self.home.with_file_name("vault words")).unwrap();
        let mut tick = interval(Duration::from_millis(10));
        let up = timeout(PATIENCE, async {
            while OperatorClient::connect(&profile).is_err() {
                tick.tick().await;
                assert!(vault.try_wait().unwrap().is_none(), "the vault ended at once: {}", words());
            }
        });
        assert!(up.await.is_ok(), "no vault in {PATIENCE:?}: {}", words());
    }

    /// Ends the vault of [`Desk::start_vault`] in order, and waits until it is gone.
    pub(crate) async fn stop_vault(&mut self) {
        let mut vault = self.vault.take().unwrap();
        let (client, _) = OperatorClient::connect(&self.profile()).unwrap();
        client.ask(&OperatorAsk::Shutdown).unwrap();
        timeout(PATIENCE, vault.wait()).await.unwrap().unwrap();
    }

    pub(crate) fn profile(&self) -> Profile {
        Profile::locate_sandbox(&self.home).unwrap()
    }

    /// The rules file.
    pub(crate) fn rules(&self) -> PathBuf {
        self.profile().rules()
    }

    /// Every file of the sandbox and its bytes. What must not be touched is compared with this.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let paths = everything(&self.home).into_iter().filter(|path| path.is_file());
        paths.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
    }

    /// Fails unless every file and folder of the sandbox is its owner's alone.
    pub(crate) fn is_private(&self) {
        for path in everything(&self.home) {
            let found = fs::symlink_metadata(&path).unwrap();
            let wanted = if found.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(found.permissions().mode() & 0o7777, wanted, "{}", path.display());
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // The child dies with its handle; a vault that a command started is nobody's child.
        self.vault = None;
        send_away(&self.profile());
    }
}

impl Said {
    /// What was shown by a command that did its work.
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// The sentence of a command that ended with `code`: one line, nothing on standard output.
    pub(crate) fn sentence(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        let line = self.err.strip_suffix('\n').unwrap_or_else(|| panic!("no whole line: {self:?}"));
        assert!(!line.contains('\n'), "more than one line: {self:?}");
        let sentence = line.strip_prefix("bursar: ").unwrap_or_else(|| panic!("not in our name: {self:?}"));
        assert!(!sentence.ends_with('.') && !sentence.contains("  "), "{sentence}");
        sentence
    }

    /// [`Said::sentence`], which must hold each of `parts`.
    pub(crate) fn says(&self, code: i32, parts: &[&str]) {
        let sentence = plainly(self.sentence(code));
        for part in parts {
            assert!(sentence.contains(part), "`{part}` is not in: {sentence}");
        }
    }
}

/// The sentence with commands as they are for a profile that needs no flag.
fn plainly(sentence: &str) -> String {
    let words: Vec<&str> = sentence.split(' ').collect();
    let flag = |at: usize| words.get(at).is_some_and(|word| *word == "--sandbox");
    let kept = |at: &usize| !flag(*at) && !at.checked_sub(1).is_some_and(flag);
    (0..words.len()).filter(kept).filter_map(|at| words.get(at).copied()).collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end with `line` on its standard input.
pub(crate) async fn run(mut command: Command, line: &str) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that asks for nothing may have ended already.
    stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap_or_default();
    drop(stdin);
    // Waits for the end of both outputs too: nothing that was started may keep them open.
    let ended = timeout(PATIENCE, child.wait_with_output()).await;
    let ended = ended.unwrap_or_else(|_| panic!("no end in {PATIENCE:?}: {command:?}")).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: ended.status.code(), out: text(ended.stdout), err: text(ended.stderr) }
}

/// Replaces a file's text; its mode stays private.
pub(crate) fn write(path: &Path, text: &str) {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A folder and everything in it.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(everything(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
