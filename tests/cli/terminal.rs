//! A person at a terminal: `script` (util-linux) gives a command a terminal of its own, and the test reads and types.
//! A sandbox only; the account's own profile is never touched.

use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::desk::{BURSAR, Desk, PASSPHRASE, PATIENCE};

pub(crate) const NEW: &str = "New operator passphrase";
pub(crate) const AGAIN: &str = "The same again";
pub(crate) const ASKED: &str = "Operator passphrase";
const AGREE: &str = "Type the amount (1.00 USD) to agree:";

/// A command at a terminal.
pub(crate) struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    screen: ChildStdout,
    /// All that the screen showed.
    shown: String,
    /// How much of it was looked at.
    read: usize,
}

impl Terminal {
    /// Runs a command in the desk's sandbox at a terminal.
    pub(crate) fn run(desk: &Desk, words: &str) -> Self {
        let line = format!("exec '{BURSAR}' --sandbox '{}' {words}", desk.home.display());
        let mut command = Command::new("script");
        command.env_clear().args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child =
            command.spawn().unwrap_or_else(|fault| panic!("this test needs `script` of util-linux: {fault}"));
        let (keyboard, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keyboard, screen, shown: String::new(), read: 0 }
    }

    /// Waits until the screen shows `text`, after what was looked at before.
    pub(crate) async fn sees(&mut self, text: &str) {
        assert!(self.sees_or_ends(text).await, "`{text}` is not on the screen: {}", self.shown);
    }

    /// Whether the screen comes to show `text` before the command ends.
    pub(crate) async fn sees_or_ends(&mut self, text: &str) -> bool {
        let seen = timeout(PATIENCE, async {
            loop {
                if let Some(at) = self.shown[self.read..].find(text) {
                    self.read = self.read.saturating_add(at).saturating_add(text.len());
                    return true;
                }
                if !self.reads_on().await {
                    return false;
                }
            }
        });
        seen.await.unwrap_or_else(|_| panic!("neither `{text}` nor an end in {PATIENCE:?}: {}", self.shown))
    }

    /// Types a line. The command must have asked for it: what is typed before a question is dropped.
    pub(crate) async fn types(&mut self, line: &str) {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Presses keys without Enter.
    pub(crate) async fn presses(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).await.unwrap();
    }

    /// Waits for the end; the exit code, and all that was shown.
    pub(crate) async fn ended(mut self) -> (Option<i32>, String) {
        let ended = timeout(PATIENCE, async {
            while self.reads_on().await {}
            self.child.wait().await.unwrap()
        });
        let code = ended.await.unwrap_or_else(|_| panic!("no end in {PATIENCE:?}: {}", self.shown)).code();
        (code, self.shown)
    }

    async fn reads_on(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let count = self.screen.read(&mut bytes).await.unwrap();
        self.shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        count != 0
    }
}

async fn json(desk: &Desk, words: &[&str]) -> Value {
    serde_json::from_str(&desk.run(words).await.done()).unwrap()
}

#[tokio::test]
async fn init_asks_twice_and_shows_nothing_of_what_is_typed() {
    let desk = Desk::empty();
    let mut terminal = Terminal::run(&desk, "init --defaults");
    terminal.sees(NEW).await;
    terminal.types(PASSPHRASE).await;
    terminal.sees(AGAIN).await;
    terminal.types(PASSPHRASE).await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("fund it") && !shown.contains(PASSPHRASE), "{shown}");
    desk.is_private();
    desk.typing(&["unlock"], PASSPHRASE).await.done();
}

#[tokio::test]
async fn two_passphrases_that_differ_make_nothing() {
    let desk = Desk::empty();
    let mut terminal = Terminal::run(&desk, "init --defaults");
    terminal.sees(NEW).await;
    terminal.types(PASSPHRASE).await;
    terminal.sees(AGAIN).await;
    terminal.types("correct horse battery stable").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("bursar: the two passphrases differ"), "{shown}");
    assert!(!desk.home.exists());
}

#[tokio::test]
async fn a_budget_wants_its_amount_typed_and_the_passphrase() {
    let desk = Desk::with_vault().await;
    let mut terminal = Terminal::run(&desk, "session new --budget '1.00 USD'");
    terminal.sees("A budget of 1.00 USD for 60 minutes").await;
    terminal.sees(AGREE).await;
    terminal.types("10.00 USD").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("bursar: something else was typed, so nothing was done"), "{shown}");

    let mut terminal = Terminal::run(&desk, "session new --budget '1.00 USD'");
    terminal.sees(AGREE).await;
    terminal.types("1.00 USD").await;
    terminal.sees(ASKED).await;
    terminal.types("a wrong passphrase").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("4 more wrong and the door closes") && !shown.contains("a wrong passphrase"), "{shown}");
    assert_eq!(json(&desk, &["session", "list", "--json"]).await, Value::Array(Vec::new()));

    let mut terminal = Terminal::run(&desk, "session new --budget '1.00 USD'");
    terminal.sees(AGREE).await;
    terminal.types("1.00 USD").await;
    terminal.sees(ASKED).await;
    terminal.types(PASSPHRASE).await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Opened: 1.00 USD until ") && !shown.contains(PASSPHRASE), "{shown}");
    assert_eq!(json(&desk, &["session", "list", "--json"]).await[0]["budget"], "1.00 USD");
}

#[tokio::test]
async fn what_a_budget_is_for_is_read_before_anything_is_typed() {
    let desk = Desk::with_vault().await;
    let words = "session new --budget '1.00 USD' --purpose 'weather for the trip' --origin https://api.example.com \
                 --any-payee --max-per-payment '0.05 USD'";
    let mut terminal = Terminal::run(&desk, words);
    terminal.sees("weather for the trip").await;
    terminal.sees("https://api.example.com").await;
    terminal.sees("anybody whom the rules allow").await;
    terminal.sees("costs at most 0.05 USD").await;
    terminal.sees(AGREE).await;
    terminal.types("0.05 USD").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(3), "the ceiling is not the budget: {shown}");
    assert_eq!(json(&desk, &["session", "list", "--json"]).await, Value::Array(Vec::new()));
}

#[tokio::test]
async fn an_empty_passphrase_is_no_passphrase() {
    let desk = Desk::with_vault().await;
    let mut terminal = Terminal::run(&desk, "unlock");
    terminal.sees(ASKED).await;
    terminal.types("").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("bursar: nothing was typed"), "{shown}");
    assert_eq!(json(&desk, &["status", "--json"]).await["locked"], true);
}
