//! A `bursar browser` child and what it says. It never outlives this.

use std::process::{ExitStatus, Stdio};

use bursar_vault::profile::Profile;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::stage::PATIENCE;

/// The child.
pub(crate) struct Glue {
    child: Child,
    words: watch::Receiver<String>,
}

impl Glue {
    /// Starts it with these words.
    pub(crate) fn start(profile: &Profile, words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bursar"));
        command.arg("--sandbox").arg(profile.home()).arg("browser").args(words).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (say, words) = watch::channel(String::new());
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                say.send_modify(|words| *words += &format!("{line}\n"));
            }
        });
        Self { child, words }
    }

    /// Starts it beside a browser, and waits until it has joined.
    pub(crate) async fn joined(profile: &Profile, endpoint: &str) -> Self {
        let glue = Self::start(profile, &["--connect", endpoint]);
        glue.said("joined the browser").await;
        glue
    }

    /// Waits until it has said this.
    pub(crate) async fn said(&self, what: &str) {
        let mut words = self.words.clone();
        let said = timeout(PATIENCE, words.wait_for(|words| words.contains(what))).await;
        assert!(said.is_ok_and(|said| said.is_ok()), "it never said {what}: {}", self.words());
    }

    /// Everything that it said.
    pub(crate) fn words(&self) -> String {
        self.words.borrow().clone()
    }

    /// Asks it to stop, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    }

    /// Kills it from outside (SIGKILL).
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits for its end, and gives what it said.
    pub(crate) async fn ended(mut self) -> (ExitStatus, String) {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("it goes on: {}", self.words())).unwrap();
        // The reader of its words ends with them.
        let mut words = self.words.clone();
        while words.changed().await.is_ok() {}
        (ended, self.words())
    }
}
