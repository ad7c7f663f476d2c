//! The seller of a life, on loopback without TLS: it plays what the life says and remembers every payment that it was shown.
//! It can stop in the middle, so that somebody dies there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::act::{Bare, Form, Lie, Moment, Paid, Wrong};

/// The most that a page costs, in atomic units of USDC.
pub(crate) const PRICE_UNITS: u128 = 20_000;

const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const EVIL: &str = "0x2222222222222222222222222222222222222222";

/// What is played for the call at hand.
#[derive(Clone, Copy)]
pub(crate) struct Script {
    pub(crate) host: usize,
    pub(crate) bare: Bare,
    pub(crate) paid: [Paid; 2],
    /// Where it stops until it is told to go on.
    pub(crate) stop: Option<Moment>,
}

/// One payment header as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Presented {
    pub(crate) host: usize,
    pub(crate) path: String,
    pub(crate) nonce: String,
    pub(crate) header: String,
    pub(crate) units: u128,
}

struct State {
    port: u16,
    script: Option<Script>,
    shown: usize,
    presented: Vec<Presented>,
    stops: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

/// A seller that is open. Dropping it closes the shop.
pub(crate) struct Seller {
    pub(crate) port: u16,
    state: Arc<Mutex<State>>,
    stopped: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    work: JoinHandle<()>,
}

impl Seller {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stops, stopped) = mpsc::unbounded_channel();
        let state = Arc::new(Mutex::new(State { port, script: None, shown: 0, presented: Vec::new(), stops }));
        let shared = Arc::clone(&state);
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { port, state, stopped, work }
    }

    /// Plays `script` from now on.
    pub(crate) fn play(&self, script: Script) {
        let mut state = self.state.lock().unwrap();
        (state.script, state.shown) = (Some(script), 0);
    }

    /// Waits until it stops; it goes on when the answer is used.
    pub(crate) async fn stopped(&mut self) -> oneshot::Sender<()> {
        self.stopped.recv().await.unwrap()
    }

    /// Every payment that it was shown, in order.
    pub(crate) fn presented(&self) -> Vec<Presented> {
        self.state.lock().unwrap().presented.clone()
    }

    /// Every nonce ever seen with what it is worth. The same nonce always came in the same header, byte for byte, for one
    /// page.
    pub(crate) fn nonces(&self) -> BTreeMap<String, u128> {
        let mut first: BTreeMap<String, Presented> = BTreeMap::new();
        for presented in self.presented() {
            let known = first.entry(presented.nonce.clone()).or_insert_with(|| presented.clone());
            assert_eq!(*known, presented, "one nonce came with two payments");
        }
        first.into_values().map(|presented| (presented.nonce, presented.units)).collect()
    }
}

impl Drop for Seller {
    fn drop(&mut self) {
        self.work.abort();
    }
}

pub(crate) fn host(number: usize) -> String {
    format!("h{number}.lives.test")
}

pub(crate) fn payee(number: usize) -> String {
    format!("0x5e5e{number:036x}")
}

/// What a page costs.
pub(crate) fn price(path: &str) -> u128 {
    if path.ends_with('0') { 10_000 } else { PRICE_UNITS }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    let Some((path, payment)) = read(&mut stream).await else { return };
    let (port, script) = {
        let state = state.lock().unwrap();
        (state.port, state.script.unwrap())
    };
    let (moment, reply) = match payment {
        None => (Moment::Asked, bare(script, port, &path)),
        Some(header) => {
            let presented = presented(script.host, &path, header);
            let mut state = state.lock().unwrap();
            let answer = script.paid[state.shown.min(1)];
            state.shown += 1;
            let reply = paid(answer, script, port, &presented);
            state.presented.push(presented);
            (Moment::Paid, reply)
        }
    };
    stop(&state, moment).await;
    // Whoever was killed does not hear the answer.
    if stream.write_all(&reply).await.is_ok() {
        stream.shutdown().await.unwrap_or_default();
    }
    if moment == Moment::Paid {
        stop(&state, Moment::Answered).await;
    }
}

/// Waits where the script says so, once.
async fn stop(state: &Mutex<State>, moment: Moment) {
    let (go_on, may_go) = oneshot::channel();
    {
        let mut state = state.lock().unwrap();
        match &mut state.script {
            Some(script) if script.stop == Some(moment) => script.stop = None,
            _ => return,
        }
        state.stops.send(go_on).unwrap_or_default();
    }
    may_go.await.unwrap_or_default();
}

/// The path of a request and its payment header, if it has one.
async fn read(stream: &mut TcpStream) -> Option<(String, Option<String>)> {
    let (mut head, mut stream) = (String::new(), BufReader::new(stream));
    while !head.ends_with("\r\n\r\n") {
        // No more comes with a request than its head.
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let is_payment = |name: &str| ["payment-signature", "x-payment"].contains(&name.to_ascii_lowercase().as_str());
    let payment = lines.filter_map(|line| line.split_once(": ")).find(|(name, _)| is_payment(name));
    Some((path, payment.map(|(_, value)| value.to_owned())))
}

fn presented(host: usize, path: &str, header: String) -> Presented {
    let document: Value = serde_json::from_slice(&STANDARD.decode(&header).unwrap()).unwrap();
    let signed = &document["payload"]["authorization"];
    let text = |member: &Value| member.as_str().unwrap().to_owned();
    Presented {
        host,
        path: path.to_owned(),
        nonce: text(&signed["nonce"]),
        units: text(&signed["value"]).parse().unwrap(),
        header,
    }
}

fn bare(script: Script, port: u16, path: &str) -> Vec<u8> {
    match script.bare {
        Bare::Terms(form) => terms(script.host, port, path, form),
        Bare::Bad(wrong) => bad(script.host, port, path, wrong),
        Bare::Free => answer("200 OK", &[], "the page"),
        Bare::Fails => answer("503 Service Unavailable", &[], "later"),
        Bare::Redirects => answer("302 Found", &[("location", "https://else.where.test/".to_owned())], ""),
        Bare::Silence => Vec::new(),
        Bare::Cut(thousandths) => cut(terms(script.host, port, path, Form::Header), thousandths),
    }
}

fn paid(what: Paid, script: Script, port: u16, presented: &Presented) -> Vec<u8> {
    let settled = |payer: Option<&str>, network: &str, success: bool, transaction: &str| {
        let document = json!({"success": success, "transaction": transaction, "network": network, "payer": payer});
        ("payment-response", STANDARD.encode(document.to_string()))
    };
    // The nonce serves as the transaction's id: it has the same form and is as unique.
    let right = settled(None, "eip155:84532", true, &presented.nonce);
    match what {
        Paid::Settles => answer("200 OK", &[right], "the page"),
        Paid::Delivers => answer("200 OK", &[], "the page"),
        Paid::Contradicts(lie) => {
            let lie = match lie {
                Lie::Payer => settled(Some(EVIL), "eip155:84532", true, &presented.nonce),
                Lie::Network => settled(None, "eip155:1", true, &presented.nonce),
                Lie::Failure => settled(None, "eip155:84532", false, &presented.nonce),
                Lie::Placeholder => settled(None, "eip155:84532", true, &format!("0x{}", "0".repeat(64))),
                Lie::NoJson => ("payment-response", "b25seSB3b3Jkcw==".to_owned()),
            };
            answer("200 OK", &[lie], "the page")
        }
        Paid::Fails => answer("500 Internal Server Error", &[], "oh"),
        Paid::FailsSettled => answer("500 Internal Server Error", &[right], "oh"),
        Paid::AsksAgain => terms(script.host, port, &presented.path, Form::Header),
        Paid::AsksForMore => bad(script.host, port, &presented.path, Wrong::Payee),
        Paid::Redirects => answer("302 Found", &[("location", "https://else.where.test/".to_owned())], ""),
        Paid::Silence => Vec::new(),
        Paid::Cut(thousandths) => cut(answer("200 OK", &[right], "the page"), thousandths),
    }
}

fn terms(number: usize, port: u16, path: &str, form: Form) -> Vec<u8> {
    let mut document = document(number, port, path);
    match form {
        Form::Header => {}
        Form::Body => return answer("402 Payment Required", &[], &document.to_string()),
        Form::FirstGeneration => {
            let offer = &mut document["accepts"][0];
            offer["maxAmountRequired"] = offer["amount"].take();
            offer.as_object_mut().unwrap().remove("amount");
            offer["network"] = json!("base-sepolia");
            let first = json!({"x402Version": 1, "error": "pay first", "accepts": document["accepts"]});
            return answer("402 Payment Required", &[], &first.to_string());
        }
        Form::WithIdentifier => {
            document["extensions"] = json!({"payment-identifier": {"info": {"required": true}, "schema": {}}});
        }
        Form::AfterForeignOffers => {
            let good = document["accepts"][0].clone();
            let (mut scheme, mut network) = (good.clone(), good.clone());
            scheme["scheme"] = json!("upto");
            network["network"] = json!("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1");
            document["accepts"] = json!([scheme, network, good]);
        }
    }
    asking(&document)
}

fn bad(number: usize, port: u16, path: &str, wrong: Wrong) -> Vec<u8> {
    let mut document = document(number, port, path);
    let offer = &mut document["accepts"][0];
    match wrong {
        Wrong::Payee => offer["payTo"] = json!(EVIL),
        Wrong::Asset => offer["asset"] = json!(EVIL),
        Wrong::Price => offer["amount"] = json!("50001"),
        Wrong::Domain => offer["extra"]["name"] = json!("Dollar"),
        Wrong::Host => document["resource"]["url"] = json!("https://else.where.test/"),
        Wrong::Identifier => {
            document["extensions"] =
                json!({"payment-identifier": {"info": {"required": true, "id": "its-own-choice-here"}}});
        }
        Wrong::Twice => {
            let value = STANDARD.encode(document.to_string());
            let twice = [("payment-required", value.clone()), ("payment-required", value)];
            return answer("402 Payment Required", &twice, "{}");
        }
        Wrong::NotJson => {
            let value = STANDARD.encode(format!("{document}}}"));
            return answer("402 Payment Required", &[("payment-required", value)], "{}");
        }
    }
    asking(&document)
}

fn document(number: usize, port: u16, path: &str) -> Value {
    json!({
        "x402Version": 2, "error": "payment required",
        "resource": {"url": format!("http://{}:{port}{path}", host(number)), "mimeType": "text/plain"},
        "accepts": [{
            "scheme": "exact", "network": "eip155:84532", "amount": price(path).to_string(), "payTo": payee(number),
            "asset": USDC, "maxTimeoutSeconds": 60, "extra": {"name": "USDC", "version": "2"},
        }],
    })
}

fn asking(document: &Value) -> Vec<u8> {
    answer("402 Payment Required", &[("payment-required", STANDARD.encode(document.to_string()))], "{}")
}

fn answer(status: &str, headers: &[(&str, String)], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

fn cut(mut reply: Vec<u8>, thousandths: usize) -> Vec<u8> {
    reply.truncate(reply.len() * thousandths / 1000);
    reply
}
