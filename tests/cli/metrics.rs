//! `bursar metrics`: read with the token, at a socket, and sent to a collector, while purchases go on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::process::Child;
use tokio::time::{interval, timeout};

use crate::desk::{Desk, PASSPHRASE, PATIENCE, write};
use crate::explain::{beside, fetched};
use crate::stall::{HOST, PAYEE, Stall};

const TOKEN: &str = "a-token-for-whoever-reads-0123";

/// A household whose rules show metrics as `table` says, with an open budget, and `bursar metrics`.
async fn shown(stall: &Stall, table: &str) -> (Desk, Child) {
    let desk = beside(stall).await;
    let text = fs::read_to_string(desk.rules()).unwrap();
    write(&desk.rules(), &text.replacen("[sandbox]\n", &format!("[metrics]\n{table}\n[sandbox]\n"), 1));
    desk.typing(&["reload"], PASSPHRASE).await.done();
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["secret", "set", "scrape"], &format!("{PASSPHRASE}\n{TOKEN}")).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    let mut command = desk.command();
    command.arg("metrics").stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut metrics = command.spawn().unwrap();
    // It listens, and counts from here on, when it says where.
    let mut said = [0; 16];
    timeout(PATIENCE, metrics.stdout.as_mut().unwrap().read_exact(&mut said)).await.unwrap().unwrap();
    (desk, metrics)
}

/// A port that nobody listens at.
async fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

async fn asked(mut line: impl AsyncRead + AsyncWrite + Unpin, path: &str, token: Option<&str>) -> String {
    let shown = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{shown}\r\n");
    line.write_all(request.as_bytes()).await.unwrap();
    let mut reply = String::new();
    timeout(PATIENCE, line.read_to_string(&mut reply)).await.unwrap().unwrap();
    reply
}

async fn at(port: u16, path: &str, token: Option<&str>) -> String {
    asked(TcpStream::connect(("127.0.0.1", port)).await.unwrap(), path, token).await
}

/// The page, once it has `line`.
async fn with_line(port: u16, line: &str) -> String {
    let mut tick = interval(Duration::from_millis(50));
    let found = timeout(PATIENCE, async {
        loop {
            tick.tick().await;
            let page = at(port, "/metrics", Some(TOKEN)).await;
            if page.lines().any(|one| one == line) {
                return page;
            }
        }
    });
    match found.await {
        Ok(page) => page,
        Err(_) => panic!("no `{line}`: {}", at(port, "/metrics", Some(TOKEN)).await),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_are_read_with_the_token_and_by_nobody_else() {
    let stall = Stall::open().await;
    let port = free_port().await;
    let (desk, _metrics) = shown(&stall, &format!("listen = \"127.0.0.1:{port}\"\ntoken = \"scrape\"\n")).await;
    for token in [None, Some("another-token-of-the-same-sort"), Some(""), Some("x")] {
        let reply = at(port, "/metrics", token).await;
        assert!(reply.starts_with("HTTP/1.1 401 ") && !reply.contains("bursar_"), "{token:?}: {reply}");
    }
    assert!(at(port, "/", Some(TOKEN)).await.starts_with("HTTP/1.1 404 "));
    assert_eq!(fetched(&desk, &format!("{}/page?private=1", stall.origin())).await["outcome"], "paid");
    assert_eq!(fetched(&desk, "https://other.cli.test/page").await["code"], "host_not_allowed");
    let page = with_line(port, "bursar_refused_total{code=\"host_not_allowed\"} 1").await;
    assert!(page.starts_with("HTTP/1.1 200 ") && page.contains("content-type: text/plain; version=0.0.4"), "{page}");
    let page = with_line(port, "bursar_session_spent{session=\"default\",currency=\"USD\"} 0.05").await;
    for private in [HOST, "private", "other.cli.test", PAYEE, "0x", TOKEN] {
        assert!(!page.contains(private), "{private}: {page}");
    }
    desk.run(&["lock"]).await.done();
    assert!(at(port, "/metrics", Some(TOKEN)).await.starts_with("HTTP/1.1 503 "), "nobody can compare the token");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_is_its_owners_and_wants_no_token_and_hosts_are_named_where_the_rules_say_so() {
    let stall = Stall::open().await;
    let (desk, _metrics) = shown(&stall, "listen = \"socket\"\nhosts = true\n").await;
    let path = desk.profile().run_dir().join("metrics.sock");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(fetched(&desk, &format!("{}/page", stall.origin())).await["outcome"], "paid");
    let mut tick = interval(Duration::from_millis(50));
    let page = timeout(PATIENCE, async {
        loop {
            tick.tick().await;
            let page = asked(UnixStream::connect(&path).await.unwrap(), "/metrics", None).await;
            if page.contains("bursar_payments_total{") {
                return page;
            }
        }
    });
    let page = page.await.unwrap();
    let host = stall.origin().strip_prefix("https://").unwrap().to_owned();
    let line = format!("bursar_spent_total{{currency=\"USD\",host=\"{host}\"}} 0.05");
    assert!(page.lines().any(|one| one == line), "`{line}` is not in {page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_on_this_machine_is_sent_them_as_otlp() {
    let stall = Stall::open().await;
    let collector = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = collector.local_addr().unwrap().port();
    let (_desk, _metrics) = shown(&stall, &format!("otlp = \"http://127.0.0.1:{port}\"\n")).await;
    let (mut stream, _) = timeout(PATIENCE, collector.accept()).await.unwrap().unwrap();
    let mut bytes = Vec::new();
    let body = loop {
        let mut piece = [0; 4096];
        let count = timeout(PATIENCE, stream.read(&mut piece)).await.unwrap().unwrap();
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n") && head.contains("application/json"), "{head}");
        if let Ok(body) = serde_json::from_str::<Value>(body) {
            break body;
        }
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    assert!(
        metrics.iter().any(|metric| metric["name"] == "bursar_refused_total" && metric["sum"]["isMonotonic"] == true)
    );
}

#[tokio::test]
async fn without_the_table_nothing_is_shown() {
    let desk = Desk::with_vault().await;
    desk.run(&["metrics"]).await.says(4, &["the rules have no [metrics]"]);
}
