//! The operator's webhook: told what waits, signed, and never asked anything.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::approvals::{asked, cautious};
use crate::desk::{Desk, PASSPHRASE, PATIENCE, write};
use crate::explain::fetched;
use crate::stall::{HOST, Stall};

const SECRET: &str = "a-secret-for-signatures-0123456789";

/// One message as it came.
struct Came {
    head: String,
    body: String,
}

impl Came {
    fn header(&self, name: &str) -> &str {
        let found = self.head.lines().find_map(|line| line.strip_prefix(name).and_then(|rest| rest.strip_prefix(": ")));
        found.unwrap_or_else(|| panic!("no {name}: {}", self.head))
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// HMAC-SHA256 (RFC 2104) as the receiver works it out.
    fn is_signed(&self) -> bool {
        let signed = format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.body);
        let pad = |with: u8| {
            let mut block = [with; 64];
            for (byte, key) in block.iter_mut().zip(SECRET.bytes()) {
                *byte ^= key;
            }
            block
        };
        let inner = Sha256::new().chain_update(pad(0x36)).chain_update(signed).finalize();
        let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize();
        self.header("webhook-signature") == format!("v1,{}", STANDARD.encode(outer))
    }
}

/// A webhook that says yes to everything, and what it was told.
async fn webhook() -> (u16, UnboundedReceiver<Came>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (to, came) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            let message = loop {
                let mut piece = [0; 4096];
                let count = stream.read(&mut piece).await.unwrap();
                assert_ne!(count, 0, "cut off: {bytes:?}");
                bytes.extend_from_slice(&piece[..count]);
                let text = String::from_utf8(bytes.clone()).unwrap();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let came = Came { head: head.to_owned(), body: body.to_owned() };
                if came.header("content-length").parse() == Ok(body.len()) {
                    break came;
                }
            };
            let yes = r#"{"approve":true,"approved":true,"action":"accept"}"#;
            let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{yes}", yes.len());
            stream.write_all(reply.as_bytes()).await.unwrap();
            if to.send(message).is_err() {
                return;
            }
        }
    });
    (port, came)
}

/// A cautious household whose rules name the webhook at `port`.
async fn told(stall: &Stall, port: u16) -> Desk {
    let desk = cautious(stall).await;
    let text = fs::read_to_string(desk.rules()).unwrap();
    let notify = format!("[notify]\nwebhook = \"http://{HOST}:{port}/hook?key=k3y\"\nsecret = \"hook\"\n\n[sandbox]\n");
    write(&desk.rules(), &text.replacen("[sandbox]\n", &notify, 1));
    desk.typing(&["secret", "set", "hook"], &format!("{PASSPHRASE}\n{SECRET}")).await.done();
    desk.typing(&["reload"], PASSPHRASE).await.done();
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk
}

async fn next(came: &mut UnboundedReceiver<Came>) -> Came {
    timeout(PATIENCE, came.recv()).await.unwrap_or_else(|_| panic!("no message in {PATIENCE:?}")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_and_what_becomes_of_it_is_told_signed_and_its_answer_decides_nothing() {
    let stall = Stall::open().await;
    let (port, mut came) = webhook().await;
    let desk = told(&stall, port).await;
    let check = desk.run(&["check"]).await.done();
    assert!(check.contains("signed with `hook`") && !check.contains("k3y"), "{check}");
    let url = format!("{}/page?private=1", stall.origin());
    let id = asked(&desk, &url).await;

    let waiting = next(&mut came).await;
    assert!(waiting.is_signed(), "{}", waiting.head);
    assert!(waiting.head.starts_with("POST /hook?key=k3y HTTP/1.1\r\n"), "{}", waiting.head);
    let json = waiting.json();
    assert_eq!(json["type"], "approval.waiting");
    let data = json["data"].as_object().unwrap();
    assert_eq!(data["approval"], id.as_str());
    assert_eq!(data["host"], stall.origin().strip_prefix("https://").unwrap());
    assert_eq!(data["amount"], "0.05 USD");
    assert_eq!(data.keys().collect::<Vec<_>>(), ["amount", "approval", "expires", "host"], "and nothing else");
    assert_eq!(fetched(&desk, &url).await["outcome"], "needs_approval", "a webhook that says yes approves nothing");

    desk.run(&["deny", &id]).await.done();
    let denied = next(&mut came).await;
    assert!(denied.is_signed() && denied.header("webhook-id") != waiting.header("webhook-id"));
    assert_eq!((&denied.json()["type"], &denied.json()["data"]["approval"]), (&"approval.denied".into(), &id.into()));

    desk.run(&["freeze", "--reason", "a private reason"]).await.done();
    let frozen = next(&mut came).await;
    assert_eq!((&frozen.json()["type"], frozen.body.contains("private")), (&"spending.frozen".into(), false));
    let log = desk.run(&["log", "--json"]).await.done();
    assert!(!log.contains("k3y") && !log.contains(SECRET), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_is_not_there_holds_no_payment_up() {
    let stall = Stall::open().await;
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = nobody.local_addr().unwrap().port();
    let desk = told(&stall, port).await;
    // It takes the connection and never says a word: whoever waited for it would wait for seconds.
    let url = format!("{}/page", stall.origin());
    let id = asked(&desk, &url).await;
    let (_stream, _) = timeout(PATIENCE, nobody.accept()).await.unwrap().unwrap();
    desk.typing(&["approve", &id], PASSPHRASE).await.done();
    assert_eq!(fetched(&desk, &url).await["outcome"], "paid");
}
