//! A seller on loopback TLS: five cents a page, every payment header is accepted and remembered. It can hold an answer
//! back. It wants an identifier with each payment and knows by it what it was shown before. It must never forget a payment
//! it saw: what it remembers is what it could take to a chain.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_policy::{Amount, ChainId, Terms, Version};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::tls::Papers;

/// The one name it has; the rules lead it to 127.0.0.1.
pub(crate) const HOST: &str = "shop.crash.test";

/// The price of every page, in atomic units of USDC.
pub(crate) const PRICE_UNITS: u128 = 50_000;

/// Who is paid.
pub(crate) const PAYEE: &str = "0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";

/// What it asks for a page, as `serve` would read it.
pub(crate) fn page_terms() -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: ChainId::BASE_SEPOLIA,
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
        payee: PAYEE.parse().unwrap(),
        amount: Amount::new(PRICE_UNITS).unwrap(),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

/// One payment header as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Presented {
    /// Its identifier, of the extension `payment-identifier`.
    pub(crate) id: String,
    /// The header, byte for byte.
    pub(crate) header: String,
    pub(crate) path: String,
    pub(crate) nonce: String,
    pub(crate) signature: String,
    pub(crate) units: u128,
}

/// Which answers are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Nothing,
    /// Those to requests without a payment.
    Terms,
    /// Those to requests with one.
    Goods,
}

/// How many requests have arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    asked: usize,
    paid: usize,
}

/// A seller that is open. Dropping it closes the shop.
pub(crate) struct Seller {
    pub(crate) port: u16,
    pub(crate) authority_pem: String,
    presented: Arc<Mutex<Vec<Presented>>>,
    hold: watch::Sender<Hold>,
    arrived: watch::Receiver<Arrived>,
    work: JoinHandle<()>,
}

impl Seller {
    pub(crate) async fn open() -> Self {
        let Papers { authority_pem, acceptor } = Papers::of(vec![HOST.to_owned()]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let presented: Arc<Mutex<Vec<Presented>>> = Arc::default();
        let (hold, holding) = watch::channel(Hold::Nothing);
        let (count, arrived) = watch::channel(Arrived::default());
        let (seen, count) = (Arc::clone(&presented), Arc::new(count));
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, seen, count) = (acceptor.clone(), Arc::clone(&seen), Arc::clone(&count));
                let mut holding = holding.clone();
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let Some((path, payment)) = read(&mut stream).await else { return };
                    let paying = payment.is_some();
                    let reply = match payment {
                        None => terms(&path, port),
                        Some(header) => {
                            let (presented, reply) = goods(&path, header);
                            let mut seen = seen.lock().unwrap();
                            // One id is one payment: the same again is the same answer, and another one a conflict.
                            let is_another =
                                |known: &Presented| known.id == presented.id && known.header != presented.header;
                            let conflicts = seen.iter().any(is_another);
                            seen.push(presented);
                            if conflicts { conflict() } else { reply }
                        }
                    };
                    count.send_modify(|arrived| if paying { arrived.paid += 1 } else { arrived.asked += 1 });
                    let held = if paying { Hold::Goods } else { Hold::Terms };
                    // A buyer that was killed does not hear the answer; that is what these tests are about.
                    if holding.wait_for(|hold| *hold != held).await.is_ok() && stream.write_all(&reply).await.is_ok() {
                        stream.shutdown().await.unwrap_or_default();
                    }
                });
            }
        });
        Self { port, authority_pem, presented, hold, arrived, work }
    }

    /// The address of a page.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{HOST}:{}{path}", self.port)
    }

    /// Holds answers back, or lets all go.
    pub(crate) fn hold(&self, hold: Hold) {
        self.hold.send_replace(hold);
    }

    /// Waits until `count` requests without a payment have arrived.
    pub(crate) async fn was_asked(&self, count: usize) {
        self.arrived.clone().wait_for(|arrived| count <= arrived.asked).await.unwrap();
    }

    /// Waits until `count` requests with a payment have arrived.
    pub(crate) async fn was_paid(&self, count: usize) {
        self.arrived.clone().wait_for(|arrived| count <= arrived.paid).await.unwrap();
    }

    /// How many requests with a payment have arrived.
    pub(crate) fn payments(&self) -> usize {
        self.presented.lock().unwrap().len()
    }

    /// Every nonce ever seen with what it is worth. The same nonce always came in the same header, byte for byte, with one
    /// identifier of its own, and each page with one nonce: a page stands for one purchase in these tests.
    pub(crate) fn nonces(&self) -> BTreeMap<String, u128> {
        let mut first: BTreeMap<String, Presented> = BTreeMap::new();
        for presented in self.presented.lock().unwrap().iter() {
            let known = first.entry(presented.nonce.clone()).or_insert_with(|| presented.clone());
            assert_eq!(known, presented, "one nonce came with two payments");
        }
        let ids: BTreeSet<&str> = first.values().map(|presented| presented.id.as_str()).collect();
        assert_eq!(ids.len(), first.len(), "two purchases came under one identifier: {first:?}");
        let pages: BTreeSet<&str> = first.values().map(|presented| presented.path.as_str()).collect();
        assert_eq!(pages.len(), first.len(), "one purchase was signed twice: {first:?}");
        first.into_values().map(|presented| (presented.nonce, presented.units)).collect()
    }
}

impl Drop for Seller {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// The path of a request and its payment header, if it has one.
async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> Option<(String, Option<String>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let payment = lines
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("payment-signature"))
        .map(|(_, value)| value.to_owned());
    Some((path, payment))
}

/// The 402 answer for a page.
pub(crate) fn terms(path: &str, port: u16) -> Vec<u8> {
    let terms = json!({
        "x402Version": 2, "error": "payment required",
        "extensions": {"payment-identifier": {"info": {"required": true}, "schema": {"type": "object"}}},
        "resource": {"url": format!("https://{HOST}:{port}{path}"), "description": "a page", "mimeType": "text/plain"},
        "accepts": [{
            "scheme": "exact", "network": "eip155:84532", "amount": PRICE_UNITS.to_string(), "payTo": PAYEE,
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "maxTimeoutSeconds": 60,
            "extra": {"name": "USDC", "version": "2"},
        }],
    });
    answer("402 Payment Required", "payment-required", &terms, "pay first")
}

/// What a payment header says, and the page with a settlement that agrees with it.
fn goods(path: &str, header: String) -> (Presented, Vec<u8>) {
    let document: Value = serde_json::from_slice(&STANDARD.decode(&header).unwrap()).unwrap();
    let signed = &document["payload"]["authorization"];
    let text = |member: &Value| member.as_str().unwrap().to_owned();
    let presented = Presented {
        id: text(&document["extensions"]["payment-identifier"]["info"]["id"]),
        header,
        path: path.to_owned(),
        nonce: text(&signed["nonce"]),
        signature: text(&document["payload"]["signature"]),
        units: text(&signed["value"]).parse().unwrap(),
    };
    // The nonce serves as the transaction's id: it has the same form and is as unique.
    let settled = json!({
        "success": true, "transaction": presented.nonce, "network": "eip155:84532", "payer": signed["from"],
    });
    (presented, answer("200 OK", "payment-response", &settled, "the page"))
}

/// What a payment gets that comes under the identifier of another one.
fn conflict() -> Vec<u8> {
    b"HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec()
}

fn answer(status: &str, name: &str, document: &Value, body: &str) -> Vec<u8> {
    let value = STANDARD.encode(document.to_string());
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{name}: {value}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}
