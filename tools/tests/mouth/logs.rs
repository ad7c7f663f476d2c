//! What this crate writes to the log, at its most talkative, with secrets in every place a caller or a seller fills.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::client::Client;
use crate::shell::Shell;

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_argument_body_or_seller_text_is_logged_at_any_level() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // For the whole process: a subscriber of one thread is not asked reliably while other tests run. What those log
    // holds no such word.
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let shell = Shell::new();
    "SECRET".clone_into(&mut shell.words.lock().unwrap());
    let mut client = Client::greeted(&shell).await;
    let url = |path: &str| format!("https://shop.example{path}?key=SECRET");
    for path in ["/text", "/unresolved-words", "/redirect", "/failed", "/panic"] {
        let arguments = json!({"url": url(path), "method": "POST", "body": "SECRET", "purchase_id": "SECRET"});
        client.call(1, "x402_fetch", &arguments).await;
    }
    client.call(2, "x402_quote", &json!({"url": url("/paid")})).await;
    client.call(3, "x402_fetch", &json!({"SECRET": "SECRET"})).await;
    client.ask(4, "tools/call", &json!({"name": "SECRET"})).await;
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"SECRET\":1,\"SECRET\":2}\n").await;
    client.next().await;
    client.hang_up();
    client.end().await;

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    // The library underneath is silenced by the shell; here only our own lines count.
    let ours: Vec<&str> = text.lines().filter(|line| line.contains("bursar_tools")).collect();
    assert!(ours.iter().any(|line| line.contains("call answered") && line.contains("x402_fetch")), "{ours:?}");
    assert!(ours.iter().all(|line| !line.contains("SECRET")), "{ours:?}");
}
