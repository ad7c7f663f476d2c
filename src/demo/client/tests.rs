//! The client against a server that is a few lines in the test.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex};
use tokio::join;

use super::{ClientFault, Era, McpClient};

/// The server's end of the pipes.
struct Server {
    asked: Lines<BufReader<DuplexStream>>,
    answers: DuplexStream,
}

impl Server {
    fn connected(era: Era) -> (McpClient, Self) {
        let (stdin, asked) = duplex(65_536);
        let (answers, stdout) = duplex(65_536);
        let client = McpClient::over(stdin, stdout, era);
        (client, Self { asked: BufReader::new(asked).lines(), answers })
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.asked.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn say(&mut self, line: &str) {
        self.answers.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, asked: &Value, result: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string()).await;
    }
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order_and_noise_is_passed_over() {
    let (client, mut server) = Server::connected(Era::Handshake);
    let serving = async {
        let first = server.hear().await;
        let second = server.hear().await;
        server.say("not json").await;
        server.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#).await;
        for asked in [&second, &first] {
            let result = json!({"structuredContent": {"echo": asked["params"]["arguments"]["n"]}});
            server.answer(asked, result).await;
        }
    };
    let (one, two, ()) = join!(client.call("tool", json!({"n": 1})), client.call("tool", json!({"n": 2})), serving);
    assert_eq!(one.unwrap()["echo"], 1);
    assert_eq!(two.unwrap()["echo"], 2);
}

#[tokio::test]
async fn each_era_greets_in_its_own_way() {
    let (client, mut server) = Server::connected(Era::Handshake);
    let serving = async {
        let hello = server.hear().await;
        server.answer(&hello, json!({})).await;
        (hello, server.hear().await)
    };
    let (greeted, (hello, ready)) = join!(client.greet(), serving);
    greeted.unwrap();
    assert_eq!(hello["method"], "initialize");
    assert_eq!(hello["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["params"].get("_meta"), None);
    assert_eq!(ready["method"], "notifications/initialized");

    let (client, mut server) = Server::connected(Era::Stateless);
    let serving = async {
        let hello = server.hear().await;
        server.answer(&hello, json!({})).await;
        hello
    };
    let (greeted, hello) = join!(client.greet(), serving);
    greeted.unwrap();
    assert_eq!(hello["method"], "server/discover");
    assert_eq!(hello["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
}

#[tokio::test]
async fn an_error_a_bare_text_and_an_end_are_three_faults() {
    let (client, mut server) = Server::connected(Era::Handshake);
    let refusing = async {
        let asked = server.hear().await;
        server.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32602}}).to_string()).await;
    };
    let (refused, ()) = join!(client.call("tool", json!({})), refusing);
    assert!(matches!(refused, Err(ClientFault::Refused { error, .. }) if error.contains("-32602")));

    let talking = async {
        let asked = server.hear().await;
        server.answer(&asked, json!({"content": [{"type": "text", "text": "hello"}]})).await;
    };
    let (unstructured, ()) = join!(client.call("tool", json!({})), talking);
    assert!(matches!(unstructured, Err(ClientFault::Unstructured { .. })));

    let ending = async {
        server.hear().await;
        drop(server);
    };
    let (ended, ()) = join!(client.call("tool", json!({})), ending);
    assert!(matches!(ended, Err(ClientFault::Ended { .. })));
}
