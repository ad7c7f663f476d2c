//! Runs one command line of a page: with pipes, or at a terminal of its own (`script` of util-linux) where it asks.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::time::timeout;

use crate::block::Answer;

/// How long a command may take; `bursar demo` takes the longest.
const PATIENCE: Duration = Duration::from_secs(120);
/// How wide the terminal is.
const COLUMNS: u16 = 110;

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    /// What a person would see: both outputs, in their order.
    pub(crate) screen: String,
}

/// A shell in `folder` with no variable that could matter.
fn shell(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Runs `line` in `folder`, answers what it asks, and writes `input` where it asks nothing.
pub(crate) async fn run(line: &str, answers: &[Answer], input: &str, folder: &Path) -> Said {
    let ran = timeout(PATIENCE, async {
        if answers.is_empty() { piped(line, input, folder).await } else { at_terminal(line, answers, folder).await }
    });
    ran.await.unwrap_or_else(|_| panic!("no end in {PATIENCE:?}: {line}"))
}

async fn piped(line: &str, input: &str, folder: &Path) -> Said {
    let mut command = shell("/bin/sh", folder);
    command.args(["-c", &format!("exec 2>&1\n{line}\n")]);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap_or_default();
    drop(stdin);
    let ended = child.wait_with_output().await.unwrap();
    Said { code: ended.status.code(), screen: String::from_utf8(ended.stdout).unwrap() }
}

async fn at_terminal(line: &str, answers: &[Answer], folder: &Path) -> Said {
    let line = format!("stty cols {COLUMNS}\n{line}");
    let mut command = shell("script", folder);
    command.env("SHELL", "/bin/sh").args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    let mut child = command.spawn().unwrap_or_else(|fault| panic!("this test needs `script` of util-linux: {fault}"));
    let (mut keyboard, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut shown, mut read, mut waiting) = (String::new(), 0, answers.iter().peekable());
    let mut bytes = [0; 4096];
    loop {
        let count = screen.read(&mut bytes).await.unwrap();
        if count == 0 {
            break;
        }
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        // What is typed before a question is dropped by the program, so each is waited for.
        while let Some(answer) = waiting.peek()
            && let Some(at) = shown[read..].find(&answer.question)
        {
            read = read.saturating_add(at).saturating_add(answer.question.len());
            keyboard.write_all(format!("{}\n", answer.typed).as_bytes()).await.unwrap();
            waiting.next();
        }
    }
    assert!(waiting.peek().is_none(), "never asked: {:?} in: {shown}", waiting.peek());
    Said { code: child.wait().await.unwrap().code(), screen: shown }
}
