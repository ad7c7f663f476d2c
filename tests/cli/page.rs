//! A client that can show a page, a real `serve` and a console that listens: the person decides at the terminal, and what the
//! client answers decides nothing.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::approvals::cautious;
use crate::desk::{Desk, PASSPHRASE, PATIENCE};
use crate::stall::{HOST, Stall};

/// A client that shakes hands and shows pages.
struct Client {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _serve: Child,
}

impl Client {
    async fn greet(desk: &Desk) -> Self {
        let mut command = desk.command();
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut serve = command.spawn().unwrap();
        let (input, output) = (serve.stdin.take().unwrap(), serve.stdout.take().unwrap());
        let mut client = Self { input, output: BufReader::new(output).lines(), _serve: serve };
        client
            .say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"url": {}}},
                "clientInfo": {"name": "cli", "version": "1"},
            }}))
            .await;
        client.hears().await;
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    async fn say(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn hears(&mut self) -> Value {
        let line = timeout(PATIENCE, self.output.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn fetch(&mut self, id: u32, url: &str) {
        let params = json!({"name": "x402_fetch", "arguments": {"url": url}});
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
    }
}

/// A console in a terminal that nobody types into, and its address.
async fn console(desk: &Desk) -> (Child, String) {
    let mut command = desk.command();
    command.arg("console").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut console = command.spawn().unwrap();
    let mut lines = BufReader::new(console.stdout.take().unwrap()).lines();
    let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let address = line.strip_prefix("Your console: ").unwrap_or_else(|| panic!("{line}")).to_owned();
    // Whoever shows what it says goes on reading.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (console, address)
}

fn outcome(answer: &Value) -> &str {
    answer["result"]["structuredContent"]["outcome"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_shown_while_a_console_listens_and_the_person_decides_not_the_client() {
    let stall = Stall::open().await;
    let desk = cautious(&stall).await;
    let url = format!("{}/page?private=1", stall.origin());
    let mut client = Client::greet(&desk).await;
    client.fetch(1, &url).await;
    let answer = client.hears().await;
    assert_eq!(outcome(&answer), "needs_approval", "no console, no page");
    let id = answer["result"]["structuredContent"]["approval_id"].as_str().unwrap().to_owned();

    let (mut terminal, address) = console(&desk).await;
    client.fetch(2, &url).await;
    let asked = client.hears().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    assert_eq!(asked["params"]["url"], format!("{address}#approval={id}"));
    let text = asked.to_string();
    assert!(!text.contains(HOST) && !text.contains("private"), "{text}");
    client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}})).await;
    assert_eq!(outcome(&client.hears().await), "needs_approval");

    // An accept says that the page is being opened: the answer comes when the person has decided.
    client.fetch(3, &url).await;
    let asked = client.hears().await;
    client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}})).await;
    desk.typing(&["approve", &id], PASSPHRASE).await.done();
    assert_eq!(outcome(&client.hears().await), "paid", "the person's yes, after the client's accept");

    // A console that was killed is none.
    terminal.kill().await.unwrap();
    let url = format!("{}/page?private=2", stall.origin());
    client.fetch(4, &url).await;
    assert_eq!(outcome(&client.hears().await), "needs_approval");
}
