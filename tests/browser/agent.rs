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
        self.say(json!({ "name": tool, "arguments": arguments }), &json!({})).await;
        self.hears().await
    }

    /// The same as a client that shows pages: the URL of the one that it is to show.
    pub(crate) async fn call_that_shows(&mut self, tool: &str, arguments: &Value) -> String {
        self.say(json!({ "name": tool, "arguments": arguments }), &shows_pages()).await;
        let told = self.hear().await;
        let page = &told["inputRequests"]["approval"]["params"];
        page["url"].as_str().unwrap_or_else(|| panic!("no page is to be shown: {told}")).to_owned()
    }

    /// Calls again, and says that the page is being opened. The answer is what [`Self::hears`] gives.
    pub(crate) async fn opens(&mut self, tool: &str, arguments: &Value) {
        let answers = json!({ "approval": { "action": "accept" } });
        let params = json!({ "name": tool, "arguments": arguments, "inputResponses": answers });
        self.say(params, &shows_pages()).await;
    }

    /// The structured content of the answer to the last call.
    pub(crate) async fn hears(&mut self) -> Value {
        self.hear().await["structuredContent"].clone()
    }

    async fn say(&mut self, mut params: Value, capabilities: &Value) {
        self.last_id += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "browser", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let call = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": "tools/call", "params": params });
        self.stdin.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        loop {
            let line = timeout(PATIENCE * 2, self.lines.next_line()).await.expect("no answer");
            let line = line.unwrap().expect("`serve` ended");
            self.read += &line;
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.last_id {
                return message["result"].clone();
            }
        }
    }
}

fn shows_pages() -> Value {
    json!({ "elicitation": { "url": {} } })
}
