//! A small MCP client over a child's stdio, for both eras of the protocol, with any number of calls in flight.
//!
//! It must never retry a call by itself: the demo counts what one call does.

use std::collections::HashMap;
use std::io;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Which revision of MCP the client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Opens with `initialize`, as clients did until 2025-11-25.
    Handshake,
    /// Sends everything with each request, as the revision of 2026-07-28 does.
    Stateless,
}

/// Why a call brought no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientFault {
    /// The child could not be started or written to.
    #[error("could not talk to `bursar serve`: {0}")]
    Pipe(#[from] io::Error),
    /// The child was started without pipes.
    #[error("`bursar serve` was started without pipes")]
    NoPipes,
    /// The child closed its output.
    #[error("`bursar serve` ended before it answered `{method}`")]
    Ended {
        /// The method called.
        method: String,
    },
    /// No answer in time.
    #[error("`bursar serve` did not answer `{method}` within {seconds} s")]
    Slow {
        /// The method called.
        method: String,
        /// How long the client waited.
        seconds: u64,
    },
    /// A JSON-RPC error.
    #[error("`bursar serve` answered `{method}` with an error: {error}")]
    Refused {
        /// The method called.
        method: String,
        /// The error member as sent.
        error: String,
    },
    /// A tool result without structured content.
    #[error("the tool `{tool}` gave no structured content: {result}")]
    Unstructured {
        /// The tool called.
        tool: String,
        /// The result as sent.
        result: String,
    },
}

const PATIENCE: Duration = Duration::from_secs(30);
const LAST_HANDSHAKE: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// A connected client and its child. Dropping it kills the child; [`McpClient::close`] lets it finish.
pub(crate) struct McpClient {
    era: Era,
    child: Option<Child>,
    stdin: tokio::sync::Mutex<Box<dyn AsyncWrite + Send + Unpin>>,
    waiting: Waiting,
    next_id: AtomicU64,
    reading: JoinHandle<()>,
}

impl McpClient {
    /// Starts `command` as an MCP server and greets it in the manner of `era`.
    pub(crate) async fn start(mut command: Command, era: Era) -> Result<Self, ClientFault> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let stdin = child.stdin.take().ok_or(ClientFault::NoPipes)?;
        let stdout = child.stdout.take().ok_or(ClientFault::NoPipes)?;
        let client = Self::over(stdin, stdout, era);
        client.greet().await?;
        Ok(Self { child: Some(child), ..client })
    }

    /// A client over two pipes, not greeted yet.
    fn over(
        stdin: impl AsyncWrite + Send + Unpin + 'static,
        stdout: impl AsyncRead + Send + Unpin + 'static,
        era: Era,
    ) -> Self {
        let waiting = Waiting::default();
        let reading = tokio::spawn(read(stdout, Arc::clone(&waiting)));
        let stdin: Box<dyn AsyncWrite + Send + Unpin> = Box::new(stdin);
        let stdin = tokio::sync::Mutex::new(stdin);
        Self { era, child: None, stdin, waiting, next_id: AtomicU64::new(1), reading }
    }

    /// Calls `tool` and returns its structured content.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, ClientFault> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        match result.get("structuredContent") {
            Some(content) if content.is_object() => Ok(content.clone()),
            _ => Err(ClientFault::Unstructured { tool: tool.to_owned(), result: result.to_string() }),
        }
    }

    /// The names of the tools offered, in the server's order.
    pub(crate) async fn tools(&self) -> Result<Vec<String>, ClientFault> {
        let result = self.request("tools/list", json!({})).await?;
        let tools = result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
        Ok(tools.iter().filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned)).collect())
    }

    /// Closes the child's input and waits for it to end.
    pub(crate) async fn close(self) -> Result<(), ClientFault> {
        let Self { child, stdin, reading, .. } = self;
        drop(stdin);
        let ended = match child {
            Some(mut child) => timeout(PATIENCE, child.wait()).await.map(|status| status.map(drop)),
            None => Ok(Ok(())),
        };
        reading.abort();
        ended.map_err(|_| slow("close"))?.map_err(ClientFault::Pipe)
    }

    async fn greet(&self) -> Result<(), ClientFault> {
        match self.era {
            Era::Stateless => self.request("server/discover", json!({})).await.map(drop),
            Era::Handshake => {
                let hello = json!({
                    "protocolVersion": LAST_HANDSHAKE, "capabilities": {}, "clientInfo": client_info(),
                });
                self.request("initialize", hello).await?;
                self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await
            }
        }
    }

    async fn request(&self, method: &str, mut params: Value) -> Result<Value, ClientFault> {
        if let (Era::Stateless, Some(members)) = (self.era, params.as_object_mut()) {
            members.insert("_meta".to_owned(), meta());
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        lock(&self.waiting).insert(id, answer);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        let message = match timeout(PATIENCE, answered).await {
            Ok(Ok(message)) => message,
            Ok(Err(_)) => return Err(ClientFault::Ended { method: method.to_owned() }),
            Err(_) => return Err(slow(method)),
        };
        match (message.get("result"), message.get("error")) {
            (Some(result), None) => Ok(result.clone()),
            (_, error) => {
                let error = error.map(Value::to_string).unwrap_or_default();
                Err(ClientFault::Refused { method: method.to_owned(), error })
            }
        }
    }

    async fn send(&self, message: &Value) -> Result<(), ClientFault> {
        let mut line = message.to_string();
        line.push('\n');
        let mut stdin = self.stdin.lock().await;
        stdin.write_all(line.as_bytes()).await?;
        Ok(stdin.flush().await?)
    }
}

fn slow(method: &str) -> ClientFault {
    ClientFault::Slow { method: method.to_owned(), seconds: PATIENCE.as_secs() }
}

fn client_info() -> Value {
    json!({"name": "bursar-demo", "version": env!("CARGO_PKG_VERSION")})
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn lock(waiting: &Waiting) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands every answer to the call that waits for its id. Notifications are read and dropped.
async fn read(stdout: impl AsyncRead + Unpin, waiting: Waiting) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            tracing::warn!("`bursar serve` wrote a line that is not JSON");
            continue;
        };
        let caller = message.get("id").and_then(Value::as_u64).and_then(|id| lock(&waiting).remove(&id));
        if let Some(caller) = caller
            && caller.send(message).is_err()
        {
            tracing::debug!("an answer came after its call had given up");
        }
    }
    // Dropping the senders tells every caller still waiting that the child has ended.
    lock(&waiting).clear();
}

#[cfg(test)]
mod tests;
