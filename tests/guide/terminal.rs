//! Runs one command line of a page: with pipes, or at a terminal of its own (`script` of util-linux) where it asks or goes on
//! until somebody stops it.

use std::time::{Duration, Instant};

use regex_lite::Regex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::block::Answer;
use crate::screen::difference;

/// How long a command may take; `bursar demo` takes the longest.
const PATIENCE: Duration = Duration::from_secs(120);
/// How large the terminal is.
const COLUMNS: u16 = 110;
const ROWS: u16 = 50;

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    /// What a person would see: both outputs, in their order.
    pub(crate) screen: String,
}

/// Runs a script of `shell` with pipes, and writes `input`.
pub(crate) async fn piped(mut shell: Command, line: &str, input: &str) -> Said {
    let mut child = shell.args(["-c", &format!("exec 2>&1\n{line}\n")]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap_or_default();
    drop(stdin);
    let ended = timeout(PATIENCE, child.wait_with_output()).await;
    let ended = ended.unwrap_or_else(|_| panic!("no end in {PATIENCE:?}: {line}")).unwrap();
    Said { code: ended.status.code(), screen: String::from_utf8(ended.stdout).unwrap() }
}

/// A command at a terminal.
pub(crate) struct Terminal {
    line: String,
    child: Child,
    keyboard: ChildStdin,
    screen: ChildStdout,
    /// All that came.
    bytes: Vec<u8>,
    /// All that was shown, as a person reads it.
    shown: String,
}

impl Terminal {
    /// Starts `line` under `script`.
    pub(crate) fn open(mut script: Command, line: &str) -> Self {
        let sized = format!("stty cols {COLUMNS} rows {ROWS}\n{line}");
        script.args(["--quiet", "--return", "--command", &sized, "/dev/null"]);
        let mut child = script.spawn().unwrap();
        let (keyboard, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { line: line.to_owned(), child, keyboard, screen, bytes: Vec::new(), shown: String::new() }
    }

    /// Answers what it asks, and waits for its end.
    pub(crate) async fn answer(mut self, answers: &[Answer]) -> Said {
        let (mut read, mut waiting) = (0_usize, answers.iter().peekable());
        while self.reads_on().await {
            // What is typed before a question is dropped by the program, so each is waited for.
            while let Some(answer) = waiting.peek()
                && let Some(at) = self.shown[read..].find(&answer.question)
            {
                read = read.saturating_add(at).saturating_add(answer.question.len());
                self.keyboard.write_all(format!("{}\n", answer.typed).as_bytes()).await.unwrap();
                waiting.next();
            }
        }
        assert!(waiting.peek().is_none(), "never asked: {:?} in: {}", waiting.peek(), self.shown);
        self.ended().await
    }

    /// Waits until it shows this, and leaves it running.
    pub(crate) async fn shows(&mut self, page: &[String]) {
        assert!(page.iter().any(|line| line != "…"), "`{}`: which line is to be waited for?", self.line);
        // Whatever is redrawn all the time goes on, and may never show it.
        let started = Instant::now();
        while let Some(fault) = difference(page, &self.shown) {
            assert!(started.elapsed() < PATIENCE, "`{}` does not come to that: {fault}", self.line);
            assert!(self.reads_on().await, "`{}` ended: {fault}", self.line);
        }
    }

    /// Presses Ctrl-C, and waits for its end.
    pub(crate) async fn stop(mut self) -> Said {
        self.keyboard.write_all(b"\x03").await.unwrap();
        while self.reads_on().await {}
        // What was pressed is shown by some terminals and programs and not by others.
        self.shown = self.shown.replace("^C", "");
        self.ended().await
    }

    async fn ended(mut self) -> Said {
        Said { code: self.child.wait().await.unwrap().code(), screen: self.shown }
    }

    /// Reads what comes next; false at its end.
    async fn reads_on(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let read = timeout(PATIENCE, self.screen.read(&mut bytes)).await;
        let count = read.unwrap_or_else(|_| panic!("`{}` goes no further: {}", self.line, self.shown)).unwrap();
        self.bytes.extend_from_slice(&bytes[..count]);
        self.shown = plain(&String::from_utf8_lossy(&self.bytes));
        count != 0
    }
}

/// What a person reads of it: without the orders that move the terminal's pen.
fn plain(shown: &str) -> String {
    let orders = Regex::new("\u{1b}(\\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[78=>])").unwrap();
    orders.replace_all(shown, "").into_owned()
}

#[test]
fn orders_to_the_terminal_are_not_read() {
    assert_eq!(plain("\u{1b}[?1049h\u{1b}[2;1Hone \u{1b}[31mred\u{1b}[0m\u{1b}7 line\u{1b}8"), "one red line");
}
