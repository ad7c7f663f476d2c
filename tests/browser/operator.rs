//! A `bursar console` child in its terminal, and the operator who logs in with a browser. It never outlives this.

use std::process::Stdio;

use bursar_vault::profile::Profile;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::chromium::{Chromium, Page};
use crate::household::command;
use crate::stage::PATIENCE;

/// The terminal.
pub(crate) struct Terminal {
    pub(crate) address: String,
    /// Everything that it showed.
    pub(crate) shown: String,
    keyboard: ChildStdin,
    lines: tokio::io::Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Terminal {
    /// Starts the console and reads its address.
    pub(crate) async fn open(profile: &Profile) -> Self {
        let mut command = command(profile, "console");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let keyboard = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut terminal = Self { address: String::new(), shown: String::new(), keyboard, lines, _child: child };
        terminal.address = terminal.reads("Your console: ").await;
        terminal
    }

    /// The next code that it shows.
    pub(crate) async fn code(&mut self) -> String {
        self.reads("Log in with:  ").await.split(' ').next().unwrap().to_owned()
    }

    /// Presses Enter.
    pub(crate) async fn enter(&mut self) {
        self.keyboard.write_all(b"\n").await.unwrap();
    }

    /// Opens the page and logs in, by the keyboard alone.
    pub(crate) async fn log_in<'a>(&mut self, browser: &'a Chromium) -> Page<'a> {
        let page = browser.open(&self.address).await;
        page.looks(1280, "light").await;
        page.until("document.activeElement.id === 'code'").await;
        let code = self.code().await;
        page.types(&code).await;
        page.press("Enter").await;
        page.until("document.getElementById('standing').textContent === 'paying'").await;
        page
    }

    async fn reads(&mut self, beginning: &str) -> String {
        loop {
            let line = timeout(PATIENCE, self.lines.next_line()).await.expect("the console says nothing").unwrap();
            let line = line.expect("the console ended");
            self.shown += &format!("{line}\n");
            if let Some(rest) = line.strip_prefix(beginning) {
                return rest.to_owned();
            }
        }
    }
}
