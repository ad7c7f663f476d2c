//! An MCP client made of lines: it writes raw JSON-RPC, and keeps every byte that it hears.

use std::collections::BTreeMap;
use std::sync::Arc;

use bursar_tools::{Ended, Payments, ServeFault, ServeOptions, serve};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::task::JoinHandle;

const PIPE_BYTES: usize = 64 * 1024;

/// A client and the server it talks to, in one process.
pub(crate) struct Client {
    to_server: DuplexStream,
    from_server: BufReader<DuplexStream>,
    server: JoinHandle<Result<Ended, ServeFault>>,
    heard: Vec<u8>,
    answers: BTreeMap<u64, Value>,
    last_id: u64,
}

impl Client {
    /// Starts a server for `payments` and shakes hands with it.
    pub(crate) async fn connect<P: Payments>(payments: Arc<P>, options: ServeOptions) -> Self {
        let (to_server, stdin) = tokio::io::duplex(PIPE_BYTES);
        let (stdout, from_server) = tokio::io::duplex(PIPE_BYTES);
        let server = tokio::spawn(serve(payments, stdin, stdout, options));
        let from_server = BufReader::new(from_server);
        let mut client =
            Self { to_server, from_server, server, heard: Vec::new(), answers: BTreeMap::new(), last_id: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "stories", "version": "1" }
        });
        let id = client.request("initialize", &hello).await;
        client.answer(id).await;
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    /// Sends a call of `tool`; its answer is fetched by the id.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> u64 {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments })).await
    }

    /// The structured content of the answer to request `id`, once it is there.
    pub(crate) async fn told(&mut self, id: u64) -> Value {
        let answer = self.answer(id).await;
        let content = answer.pointer("/result/structuredContent").cloned();
        content.unwrap_or_else(|| panic!("no structured content in {answer}"))
    }

    /// Hangs up, waits for the server's end, and returns every byte it ever said.
    pub(crate) async fn hang_up(mut self) -> Vec<u8> {
        drop(self.to_server);
        while self.from_server.read_until(b'\n', &mut self.heard).await.unwrap() != 0 {}
        self.server.await.unwrap().unwrap();
        self.heard
    }

    async fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params })).await;
        self.last_id
    }

    async fn say(&mut self, message: &Value) {
        self.to_server.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let start = self.heard.len();
            let count = self.from_server.read_until(b'\n', &mut self.heard).await.unwrap();
            assert!(count != 0, "the server hung up before it answered request {id}");
            let message: Value = serde_json::from_slice(&self.heard[start..]).unwrap();
            if let Some(id) = message.get("id").and_then(Value::as_u64) {
                self.answers.insert(id, message);
            }
        }
    }
}
