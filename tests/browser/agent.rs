//! A `bursar serve` child, and the MCP client of an agent that talks to it in lines. It never outlives this.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::stage::PATIENCE;

/// The agent.
pub(crate) struct Agent {
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    last_id: u64,
    /// Everything that it could have read.
    pub(crate) read: String,
    _child: Child,
}

impl Agent {
    /// Starts `command`, which is a `bursar serve`.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { stdin, lines, last_id: 0, read: String::new(), _child: child }
    }

    /// Calls a tool, and gives the structured content of its answer.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.last_id += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "browser", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "_meta": meta, "name": tool, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": "tools/call", "params": params });
        self.stdin.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        loop {
            let line = timeout(PATIENCE * 2, self.lines.next_line()).await.expect("no answer");
            let line = line.unwrap().expect("`serve` ended");
            self.read += &line;
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.last_id {
                return message["result"]["structuredContent"].clone();
            }
        }
    }
}
