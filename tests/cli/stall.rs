//! A seller on loopback TLS with one page: it says one list of terms, and takes any payment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::fidelity::corpus;
use crate::tls::Papers;

/// Its name.
pub(crate) const HOST: &str = "shop.cli.test";
/// What is under `/free/text`: words that would steer a terminal.
pub(crate) const HOSTILE: &str = "first\u{1b}[2J\u{202e}\n    end of it\r\nlast\u{200b}";
/// Who is paid by honest terms.
pub(crate) const PAYEE: &str = "0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";
/// Who is paid by the others.
pub(crate) const STRANGER: &str = "0xbababababababababababababababababababa00";

/// A seller that is open. Dropping it closes it.
pub(crate) struct Stall {
    pub(crate) authority_pem: String,
    pub(crate) port: u16,
    work: JoinHandle<()>,
}

impl Stall {
    /// Opens. Pages under `/crooked` want another to be paid; `/big/N` has N MiB; those under `/free` want nothing,
    /// the one at `/free/echo` is the request itself, the one at `/free/text` is a hostile text, and those at `/free/kind/N` are of every kind.
    pub(crate) async fn open() -> Self {
        let Papers { authority_pem, acceptor } = Papers::of(vec![HOST.to_owned()]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => head.push(byte),
                        Err(_gone) => break,
                    }
                }
                let head = String::from_utf8(head).unwrap();
                let reply = kind(&head).unwrap_or_else(|| answer(&head, port).into_bytes());
                let mut sent = stream.write_all(&reply).await;
                for number in 0..mebibytes(&head) {
                    if sent.is_ok() {
                        sent = stream.write_all(&mebibyte(number)).await;
                    }
                }
                if sent.is_ok() {
                    stream.shutdown().await.unwrap_or_default();
                }
            }
        });
        Self { authority_pem, port, work }
    }

    /// The origin, as a rule names it.
    pub(crate) fn origin(&self) -> String {
        format!("https://{HOST}:{}", self.port)
    }
}

impl Drop for Stall {
    fn drop(&mut self) {
        self.work.abort();
    }
}

fn answer(head: &str, port: u16) -> String {
    let path = head.split(' ').nth(1).unwrap_or_default();
    if path.starts_with("/hostile") {
        return hostile(path, head, port);
    }
    if path.starts_with("/free/echo") {
        let length = head.len();
        return format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{head}"
        );
    }
    if path.ends_with("/for-strangers") && head.contains("\r\nauthorization: ") {
        return "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned();
    }
    if path.starts_with("/free/text") {
        return format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{HOSTILE}",
            HOSTILE.len()
        );
    }
    if is_paid(head) && 0 < mebibytes(head) {
        let bytes = mebibytes(head) << 20;
        return format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: {bytes}\r\nconnection: close\r\n\r\n"
        );
    }
    if path.starts_with("/free") || is_paid(head) {
        let settled =
            json!({"success": true, "transaction": format!("0x{}", "5eed".repeat(16)), "network": "eip155:84532"});
        return page("200 OK", "payment-response", &settled.to_string());
    }
    let payee = if path.starts_with("/crooked") { STRANGER } else { PAYEE };
    terms(&format!("https://{HOST}:{port}{path}"), payee)
}

/// The body at `/free/kind/N`, in chunks where N is odd.
fn kind(head: &str) -> Option<Vec<u8>> {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let number: usize = path.strip_prefix("/free/kind/")?.parse().ok()?;
    let (content_type, _, body) = corpus().into_iter().nth(number)?;
    let start = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\nconnection: close\r\n");
    if number.is_multiple_of(2) {
        let length = format!("content-length: {}\r\n\r\n", body.len());
        return Some([start.as_bytes(), length.as_bytes(), &body].concat());
    }
    let mut reply = [start.as_bytes(), b"transfer-encoding: chunked\r\n\r\n"].concat();
    for chunk in body.chunks(100) {
        reply.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        reply.extend_from_slice(chunk);
        reply.extend_from_slice(b"\r\n");
    }
    reply.extend_from_slice(b"0\r\n\r\n");
    Some(reply)
}

/// Words that hide, reorder, end lines and go on for long, and a mark in the middle of every one of them.
pub(crate) fn hostile_words() -> String {
    format!(
        "{MARK}\u{1b}[2J\u{9b}31m\u{202e}\u{200b}\u{2066}\u{e0041}\u{fe0f}\u{3164}\u{feff}\nline two {}",
        "Q".repeat(600)
    )
}

/// What the hostile words begin with.
pub(crate) const MARK: &str = "MARK";

/// A seller that puts them wherever it may speak. Every path below `/hostile` puts them somewhere else.
fn hostile(path: &str, head: &str, port: u16) -> String {
    let words = hostile_words();
    let plain: String = words.chars().filter(char::is_ascii_graphic).collect();
    if path.starts_with("/hostile/redirect") {
        return format!("HTTP/1.1 302 Found\r\nlocation: https://evil.example/{plain}\r\ncontent-length: 0\r\n\r\n");
    }
    if is_paid(head) {
        let claim =
            json!({"success": false, "errorReason": words, "transaction": words, "network": words, "payer": words});
        let claim = STANDARD.encode(claim.to_string());
        return format!(
            "HTTP/1.1 200 OK\r\npayment-response: {claim}\r\ncontent-type: text/{plain}\r\nx-words: {plain}\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{words}",
            words.len()
        );
    }
    let word = |name: &str, honest: &str| if path.ends_with(name) { words.clone() } else { honest.to_owned() };
    let terms = json!({
        "x402Version": 2, "error": words, "extensions": {&words: words},
        "resource": {"url": format!("https://{HOST}:{port}{path}"), "description": words, "mimeType": words},
        "accepts": [{
            "scheme": word("scheme", "exact"), "network": word("network", "eip155:84532"),
            "amount": word("amount", "50000"), "payTo": word("payee", PAYEE), "maxTimeoutSeconds": 60,
            "asset": word("asset", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
            "extra": {"name": word("name", "USDC"), "version": word("version", "2"), &words: words},
        }],
    });
    page("402 Payment Required", "payment-required", &terms.to_string())
}

fn is_paid(head: &str) -> bool {
    head.to_ascii_lowercase().contains("\r\npayment-signature: ")
}

/// How much a paid request to `/big/N` is answered with, in MiB; nothing for any other.
fn mebibytes(head: &str) -> u64 {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let number = path.strip_prefix("/big/").and_then(|number| number.parse().ok());
    number.filter(|_| is_paid(head)).unwrap_or_default()
}

/// The MiB at place `number` of what is under `/big`, unlike every other one.
pub(crate) fn mebibyte(number: u64) -> Vec<u8> {
    format!("{number:063}\n").into_bytes().repeat(1 << 14)
}

/// A 402 answer as it goes over the wire.
pub(crate) fn terms(url: &str, payee: &str) -> String {
    terms_of(url, payee, "50000")
}

/// [`terms`] at a price of so many atomic units.
pub(crate) fn terms_of(url: &str, payee: &str, units: &str) -> String {
    let terms = json!({
        "x402Version": 2, "error": "payment required", "extensions": {},
        "resource": {"url": url, "description": "a page", "mimeType": "text/plain"},
        "accepts": [{
            "scheme": "exact", "network": "eip155:84532", "amount": units, "payTo": payee, "maxTimeoutSeconds": 60,
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "extra": {"name": "USDC", "version": "2"},
        }],
    });
    page("402 Payment Required", "payment-required", &terms.to_string())
}

fn page(status: &str, name: &str, document: &str) -> String {
    let value = STANDARD.encode(document);
    format!("HTTP/1.1 {status}\r\n{name}: {value}\r\ncontent-length: 8\r\nconnection: close\r\n\r\nthe page")
}
