//! A client that speaks raw lines and believes nothing.

use core::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bursar_tools::{Ended, ServeFault, ServeOptions, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::shell::Shell;

/// Far more than any test needs: only a hang takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The `_meta` of the revision without a handshake.
pub(crate) fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

/// Both ends of a conversation with a server of its own.
pub(crate) struct Client {
    pub(crate) input: Option<DuplexStream>,
    pub(crate) output: Option<Lines<BufReader<DuplexStream>>>,
    pub(crate) server: JoinHandle<Result<Ended, ServeFault>>,
    stop: Option<oneshot::Sender<()>>,
}

impl Client {
    /// A server over `shell` that has heard nothing yet.
    pub(crate) fn silent(shell: &Arc<Shell>) -> Self {
        Self::with(shell, ServeOptions::new("9.9.9"))
    }

    /// A server with `options`.
    pub(crate) fn with(shell: &Arc<Shell>, options: ServeOptions) -> Self {
        let (input, stdin) = tokio::io::duplex(4096);
        let (stdout, output) = tokio::io::duplex(4096);
        let (stop, stopped) = oneshot::channel::<()>();
        let options = options.until(async move {
            if stopped.await.is_err() {
                core::future::pending::<()>().await;
            }
        });
        let server = tokio::spawn(serve(Arc::clone(shell), stdin, stdout, options));
        Self { input: Some(input), output: Some(BufReader::new(output).lines()), server, stop: Some(stop) }
    }

    /// A server that was greeted in the old way.
    pub(crate) async fn greeted(shell: &Arc<Shell>) -> Self {
        Self::silent(shell).greet("2025-06-18").await
    }

    /// Greets in the old way.
    pub(crate) async fn greet(mut self, version: &str) -> Self {
        let answer = self
            .ask(
                0,
                "initialize",
                &json!({
                    "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
                }),
            )
            .await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        self
    }

    /// Writes bytes as they are.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        within(self.input.as_mut().unwrap().write_all(bytes)).await.unwrap();
    }

    /// Writes one message.
    pub(crate) async fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    /// Writes one request.
    pub(crate) async fn request(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        let id: Value = id.into();
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    /// Writes one request and reads one message, which must be its answer.
    pub(crate) async fn ask(&mut self, id: impl Into<Value>, method: &str, params: &Value) -> Value {
        let id: Value = id.into();
        self.request(id.clone(), method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and gives the result.
    pub(crate) async fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(id, "tools/call", &json!({"name": tool, "arguments": arguments})).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// The next message, or nothing at the end of the output.
    pub(crate) async fn try_next(&mut self) -> Option<Value> {
        let line = within(self.output.as_mut().unwrap().next_line()).await.unwrap()?;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|fault| panic!("{fault} in {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        Some(message)
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        self.try_next().await.expect("the server hung up")
    }

    /// Shows that the server still answers, and that nothing else was on its way.
    pub(crate) async fn is_alive(&mut self) {
        let answer = self.ask("alive", "tools/list", &json!({"_meta": modern()})).await;
        assert!(answer["result"]["tools"].is_array(), "{answer}");
    }

    /// Ends the input.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Lets the shutdown come.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits for the server to end, with everything it still said.
    pub(crate) async fn end(mut self) -> (Ended, Vec<Value>) {
        let mut rest = Vec::new();
        if self.output.is_some() {
            while let Some(message) = self.try_next().await {
                rest.push(message);
            }
        }
        (within(self.server).await.unwrap().unwrap(), rest)
    }

    /// Lets every other task run for a while, without a clock.
    pub(crate) async fn others_run() {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }
}

/// Fails a test that hangs.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("nothing came")
}
