//! Sends to the OTLP collector on this machine, and to nobody else. It must never wait for one without an end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bursar_policy::Origin;
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::board::Board;

/// How long a collector may take.
const SENT_WITHIN: Duration = Duration::from_secs(10);
/// How many purchases go into one message.
const TRACES_AT_ONCE: usize = 256;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// It was taken.
    Taken,
    /// It will never be.
    Refused,
    /// It may be another time.
    Later,
}

/// Sends from time to time, for as long as it is not dropped.
pub(super) async fn keep_sending(collector: &Origin, every: Duration, board: &Arc<Board>) {
    let mut tick = tokio::time::interval(every);
    loop {
        tick.tick().await;
        send(collector, board).await;
    }
}

/// Sends how everything stands. Counts that were missed are in the next message, because they only grow; traces wait.
pub(super) async fn send(collector: &Origin, board: &Arc<Board>) {
    let measuring = Arc::clone(board);
    drop(timeout(SENT_WITHIN, tokio::task::spawn_blocking(move || measuring.measure())).await);
    post(collector, "/v1/metrics", board.counts()).await;
    loop {
        let traces = board.take(TRACES_AT_ONCE);
        if traces.is_empty() {
            return;
        }
        match post(collector, "/v1/traces", board.told(&traces)).await {
            Sent::Taken => {}
            // As OTLP has it: what is refused is not sent again.
            Sent::Refused => return,
            Sent::Later => return board.put_back(traces),
        }
    }
}

async fn post(collector: &Origin, path: &str, body: String) -> Sent {
    match timeout(SENT_WITHIN, posted(collector, path, body)).await {
        Ok(Ok(200..300)) => Sent::Taken,
        Ok(Ok(status)) => {
            tracing::warn!(%collector, path, status, "the collector did not take what it was sent");
            if [429, 502, 503, 504].contains(&status) { Sent::Later } else { Sent::Refused }
        }
        Ok(Err(fault)) => {
            tracing::warn!(%collector, fault, "the collector was not reached");
            Sent::Later
        }
        Err(_late) => {
            tracing::warn!(%collector, "the collector did not answer in time");
            Sent::Later
        }
    }
}

/// One request; the status.
async fn posted(collector: &Origin, path: &str, body: String) -> Result<u16, String> {
    let address = collector.host.ip().map(|ip| SocketAddr::new(ip, collector.port));
    let address = address.ok_or("a collector is named by its address")?;
    let told = |fault: &dyn std::fmt::Display| fault.to_string();
    let stream = TcpStream::connect(address).await.map_err(|fault| told(&fault))?;
    let line = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = line.map_err(|fault| told(&fault))?;
    tokio::spawn(async move { drop(connection.await) });
    let request = Request::post(path)
        .header(HOST, collector.authority())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|fault| told(&fault))?;
    let reply = sender.send_request(request).await.map_err(|fault| told(&fault))?;
    Ok(reply.status().as_u16())
}

#[cfg(test)]
mod tests {
    use bursar_policy::rules::Metrics;
    use bursar_policy::{Rules, Setting};
    use bursar_vault::profile::Profile;
    use bursar_vault::protocol::{Passage, PassageEnd, Sender};
    use bursar_vault::rules_file;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::metrics::Trace;

    fn rules(port: u16) -> Metrics {
        let text = format!(
            "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:84532\"]\nallow_any_host = true\n\
             assets = [\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\"]\n\
             recipients = [\"0x209693Bc6afc0C5328bA36FaF03C514EF312287C\"]\n\
             [metrics]\notlp = \"http://127.0.0.1:{port}\"\ntraces = true\n"
        );
        let rules: Rules = rules_file::parse(&text, Setting::Sandbox).unwrap();
        rules.metrics().unwrap().clone()
    }

    fn trace() -> Trace {
        let passage = Passage {
            number: 1,
            by: Sender::Serve,
            host: "a.example".to_owned(),
            began_us: 1,
            took_us: 1,
            legs: Vec::new(),
            end: PassageEnd::Paid,
            codes: Vec::new(),
            payment: None,
            money: None,
        };
        Trace::of(passage).unwrap()
    }

    /// Answers each request with the next status, and tells their first lines and bodies.
    async fn answering(listener: TcpListener, statuses: &[u16]) -> Vec<(String, String)> {
        let mut posts = Vec::new();
        for status in statuses {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            stream.read_exact(&mut body).await.unwrap();
            let reply = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(reply.as_bytes()).await.unwrap();
            posts.push((head.lines().next().unwrap().to_owned(), String::from_utf8(body).unwrap()));
        }
        posts
    }

    #[tokio::test]
    async fn a_trace_waits_for_a_collector_that_is_busy_and_not_for_one_that_refuses_it() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("box")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let rules = rules(listener.local_addr().unwrap().port());
        let collector = rules.otlp().unwrap();
        let board = Arc::new(Board::new(&profile, &rules));
        board.put_back(vec![trace()]);
        let sending = async {
            for _ in 0..2 {
                send(collector, &board).await;
            }
            board.put_back(vec![trace()]);
            for _ in 0..2 {
                send(collector, &board).await;
            }
        };
        let (posts, ()) = tokio::join!(answering(listener, &[200, 503, 200, 200, 200, 400, 200]), sending);
        let lines: Vec<_> = posts.iter().map(|(line, _)| line.split(' ').nth(1).unwrap()).collect();
        let [counts, traces] = ["/v1/metrics", "/v1/traces"];
        assert_eq!(lines, [counts, traces, counts, traces, counts, traces, counts]);
        assert_eq!(posts[1].1, posts[3].1, "the same trace by the same ids");
        assert_ne!(posts[3].1, posts[5].1);
    }
}
