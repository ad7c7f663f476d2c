//! A `bursar serve` child and the MCP client that talks to it in lines. The child never outlives this.

use std::collections::BTreeMap;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long anything may take before the test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A client of the revision without a handshake, connected to a child of its own.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    answers: BTreeMap<u64, Value>,
    last_id: u64,
}

impl Client {
    /// Starts `command`, which is a `bursar serve`.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdin, lines, answers: BTreeMap::new(), last_id: 0 }
    }

    /// Calls `x402_fetch`; the answer is asked for by the id.
    pub(crate) async fn fetch(&mut self, url: &str, purchase_id: Option<&str>) -> u64 {
        let mut arguments = json!({ "url": url });
        if let Some(id) = purchase_id {
            arguments["purchase_id"] = json!(id);
        }
        self.call("x402_fetch", &arguments).await
    }

    /// Fetches and waits for the answer, which must come.
    pub(crate) async fn buy(&mut self, url: &str, purchase_id: Option<&str>) -> Value {
        let id = self.fetch(url, purchase_id).await;
        self.told(id).await.unwrap_or_else(|| panic!("`serve` ended without an answer about {url}"))
    }

    /// What `payment_session_status` says.
    pub(crate) async fn status(&mut self) -> Value {
        let id = self.call("payment_session_status", &json!({})).await;
        self.told(id).await.unwrap()
    }

    /// Sends a call.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.last_id += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "crash", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "_meta": meta, "name": tool, "arguments": arguments });
        self.say(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": "tools/call", "params": params })).await;
        self.last_id
    }

    /// Says that nobody waits for the answer to call `id` any more.
    pub(crate) async fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id, "reason": "the user pressed stop" });
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    }

    /// The structured content of the answer to call `id`, or nothing when the child ended without one.
    pub(crate) async fn told(&mut self, id: u64) -> Option<Value> {
        let answer =
            timeout(PATIENCE, self.answer(id)).await.unwrap_or_else(|_| panic!("no answer in {PATIENCE:?}"))?;
        let content = answer.pointer("/result/structuredContent").cloned();
        Some(content.unwrap_or_else(|| panic!("no structured content in {answer}")))
    }

    /// [`Client::told`] without its patience. Loses nothing when it is dropped.
    pub(crate) async fn answer(&mut self, id: u64) -> Option<Value> {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return Some(answer);
            }
            let line = self.lines.next_line().await.unwrap()?;
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|fault| panic!("{fault}: {line}"));
            if let Some(id) = message.get("id").and_then(Value::as_u64) {
                self.answers.insert(id, message);
            }
        }
    }

    /// Closes the child's standard input.
    pub(crate) fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Closes both ends of the conversation at once, as a client does that was killed itself; then there is the child's
    /// end to wait for.
    pub(crate) fn abandon(self) -> impl Future<Output = ExitStatus> {
        let Self { mut child, stdin, lines, .. } = self;
        drop((stdin, lines));
        async move { ended(&mut child).await }
    }

    /// Sends a signal to the child.
    pub(crate) fn signal(&self, signal: Signal) {
        send(&self.child, signal);
    }

    /// Lets the child have no more than `most` descriptors open at once.
    pub(crate) fn starve(&self, most: u64) {
        let pid = Pid::from_raw(i32::try_from(self.child.id().unwrap()).unwrap()).unwrap();
        starve(pid, most);
    }

    /// Waits for the child's end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        ended(&mut self.child).await
    }

    /// Kills the child from outside (SIGKILL), dead or alive.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap_or_default();
    }

    async fn say(&mut self, message: &Value) {
        // A child that was killed takes no more lines; the answer that does not come tells.
        if let Some(stdin) = &mut self.stdin {
            stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap_or_default();
        }
    }
}

/// Lets a process have no more than `most` descriptors open at once.
pub(crate) fn starve(process: Pid, most: u64) {
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    prlimit(Some(process), Resource::Nofile, limit).unwrap();
}

async fn ended(child: &mut Child) -> ExitStatus {
    let ended = timeout(PATIENCE, child.wait()).await;
    ended.unwrap_or_else(|_| panic!("`serve` did not end in {PATIENCE:?}")).unwrap()
}

/// Sends a signal to a child that lives.
pub(crate) fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id().unwrap()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}
