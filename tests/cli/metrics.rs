//! `bursar metrics`: read with the token, at a socket, and sent to a collector, while purchases go on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::process::Child;
use tokio::time::{interval, timeout};

use crate::collector::{Collector, Span};
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
    // As often as one may who knows the token.
    let mut tick = interval(Duration::from_millis(200));
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
    with_line(port, "bursar_session_spent{session=\"default\",currency=\"USD\"} 0.05").await;
    with_line(port, "bursar_payments_total{state=\"settled\"} 1").await;
    let page = with_line(port, "bursar_unresolved 0").await;
    for line in [
        "bursar_purchase_seconds_count{outcome=\"paid\"} 1",
        "bursar_purchase_seconds_count{outcome=\"refused\"} 1",
        "bursar_claim_to_signature_seconds_count 1",
        "bursar_signature_to_report_seconds_count 1",
        "bursar_spent_total{currency=\"USD\"} 0.05",
    ] {
        assert!(page.lines().any(|one| one == line), "no `{line}`: {page}");
    }
    assert!(!page.contains("bursar_signature_to_report_seconds_sum 0\n"), "a request takes its time: {page}");
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
async fn a_collector_on_this_machine_is_sent_counts_and_where_the_rules_say_so_traces() {
    let stall = Stall::open().await;
    let mut collector = Collector::open().await;
    let table = format!("otlp = \"http://127.0.0.1:{}\"\ntraces = true\n", collector.port);
    let (desk, metrics) = shown(&stall, &table).await;
    let checked = desk.run(&["check"]).await.out;
    let checked = checked.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(checked.contains("go with the course of each purchase"), "{checked}");
    let begun = collector.next().await;
    assert_eq!(begun.metric("bursar_purchases_missed_total").unwrap(), ["0"]);
    for (path, outcome) in [("page?private=1", "paid"), ("free/text", "free")] {
        assert_eq!(fetched(&desk, &format!("{}/{path}", stall.origin())).await["outcome"], outcome);
    }
    assert_eq!(fetched(&desk, "https://other.cli.test/page").await["code"], "host_not_allowed");
    // Who ends it loses nothing: the rest is sent before it goes.
    end(metrics).await;
    let counts = collector.next().await;
    assert_eq!(counts.metric("bursar_purchases_missed_total").unwrap(), ["0"]);
    let spans = collector.next().await.spans();
    let whole: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id.is_none()).collect();
    let ends: Vec<_> = whole.iter().map(|span| span.said("bursar.outcome")).collect();
    assert_eq!(ends, ["paid", "unpaid", "refused"]);
    assert_eq!(whole[0].said("bursar.money"), "0.05 USD");
    assert_eq!(whole[2].codes(), ["host_not_allowed"]);
    let parts = |of: &Span| {
        let parts = spans.iter().filter(|span| span.parent_span_id.as_ref() == Some(&of.span_id));
        parts.map(|span| span.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(parts(whole[0]), ["claim", "visit", "authorize", "sign", "pay", "report"]);
    assert_eq!(parts(whole[1]), ["claim"]);
    assert_eq!(parts(whole[2]), ["claim", "visit"]);
    for private in [HOST, "private", "other.cli.test", PAYEE, "0x", "://"] {
        assert!(!collector.heard.contains(private), "{private}: {}", collector.heard);
    }
    assert!(timeout(PATIENCE, collector.nothing_more()).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_word_of_the_rules_no_trace_is_sent() {
    let stall = Stall::open().await;
    let mut collector = Collector::open().await;
    let (desk, metrics) = shown(&stall, &format!("otlp = \"http://127.0.0.1:{}\"\n", collector.port)).await;
    assert!(collector.next().await.metric("bursar_spent_total").unwrap().is_empty());
    assert_eq!(fetched(&desk, &format!("{}/page", stall.origin())).await["outcome"], "paid");
    end(metrics).await;
    let counts = collector.next().await;
    assert_eq!(counts.histogram("bursar_claim_to_signature_seconds"), 1);
    assert!(timeout(PATIENCE, collector.nothing_more()).await.unwrap());
}

/// Ends `bursar metrics` as a person does, and waits until it is gone.
async fn end(mut metrics: Child) {
    let pid = Pid::from_raw(i32::try_from(metrics.id().unwrap()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert!(timeout(PATIENCE, metrics.wait()).await.unwrap().unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_that_guess_as_fast_as_they_can_keep_no_operator_out() {
    let stall = Stall::open().await;
    let port = free_port().await;
    let (desk, _metrics) = shown(&stall, &format!("listen = \"127.0.0.1:{port}\"\ntoken = \"scrape\"\n")).await;
    assert!(at(port, "/metrics", Some(TOKEN)).await.starts_with("HTTP/1.1 200 "));
    let over = Arc::new(AtomicBool::new(false));
    let guess = |over: Arc<AtomicBool>| async move {
        let mut told = [0_u32; 2];
        while !over.load(Ordering::SeqCst) {
            let reply = at(port, "/metrics", Some("a-guess-of-a-stranger-0123")).await;
            let place = ["HTTP/1.1 401 ", "HTTP/1.1 429 "].iter().position(|start| reply.starts_with(start));
            told[place.unwrap_or_else(|| panic!("{reply}"))] += 1;
        }
        told
    };
    let strangers: Vec<_> = (0..32).map(|_| tokio::spawn(guess(Arc::clone(&over)))).collect();
    let began = Instant::now();
    for _ in 0..8 {
        desk.run(&["freeze"]).await.done();
        let page = at(port, "/metrics", Some(TOKEN)).await;
        assert!(page.starts_with("HTTP/1.1 200 "), "who knows the token is let in as ever: {page}");
    }
    over.store(true, Ordering::SeqCst);
    let mut all = [0_u32; 2];
    for stranger in strangers {
        let [wrong, early] = stranger.await.unwrap();
        all = [all[0] + wrong, all[1] + early];
    }
    let allowed = 10 + 2 * (began.elapsed().as_secs() + 1);
    assert!(u64::from(all[0]) <= allowed && 0 < all[1], "{all:?} in {:?}", began.elapsed());
}

#[tokio::test]
async fn without_the_table_nothing_is_shown() {
    let desk = Desk::with_vault().await;
    desk.run(&["metrics"]).await.says(4, &["the rules have no [metrics]"]);
}
