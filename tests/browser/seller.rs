//! A shop with pages that a browser shows, on loopback TLS under two names. It remembers every request; it judges nothing.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PublicKeyData as _};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::stage::PATIENCE;

/// The shop.
pub(crate) const HOST: &str = "shop.browser.test";

/// The same shop under the name of somebody else's site.
pub(crate) const OTHER: &str = "other.browser.test";

/// The price of every page that is not free, in atomic units of USDC.
const PRICE_UNITS: &str = "50000";

/// Who is paid.
pub(crate) const PAYEE: &str = "0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";

/// One request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) host: String,
    pub(crate) path: String,
    /// The payment header, if there was one.
    pub(crate) payment: Option<String>,
    /// What the browser says that it is for (`Sec-Fetch-Dest`).
    pub(crate) dest: String,
}

/// A shop that is open. Dropping it closes it.
pub(crate) struct Seller {
    pub(crate) port: u16,
    pub(crate) authority_pem: String,
    /// SHA-256 of its public key, in base64, as Chromium wants it.
    pub(crate) fingerprint: String,
    seen: watch::Receiver<Vec<Seen>>,
    work: JoinHandle<()>,
}

impl Seller {
    /// Opens the shop.
    pub(crate) async fn open() -> Self {
        let authority_key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
        let key = KeyPair::generate().unwrap();
        let fingerprint = STANDARD.encode(Sha256::digest(key.subject_public_key_info()));
        let names = CertificateParams::new(vec![HOST.to_owned(), OTHER.to_owned()]).unwrap();
        let certificate = names.signed_by(&key, &Issuer::new(authority, authority_key)).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (count, seen) = watch::channel(Vec::new());
        let work = tokio::spawn(serve(listener, acceptor, port, Arc::new(Mutex::new(count))));
        Self { port, authority_pem, fingerprint, seen, work }
    }

    /// The address of a page.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{HOST}:{}{path}", self.port)
    }

    /// The same page under the other name.
    pub(crate) fn elsewhere(&self, path: &str) -> String {
        format!("https://{OTHER}:{}{path}", self.port)
    }

    /// Waits until some request fits, and gives it.
    pub(crate) async fn saw(&self, what: &str, fits: impl Fn(&Seen) -> bool) -> Seen {
        let mut seen = self.seen.clone();
        let found =
            timeout(PATIENCE, seen.wait_for(|seen| seen.iter().any(&fits))).await.map(|seen| seen.unwrap().clone());
        let found = found.unwrap_or_else(|_| panic!("{what} was not asked for: {:?}", self.seen.borrow()));
        found.into_iter().find(fits).unwrap()
    }

    /// Every request with a payment header, in order.
    pub(crate) fn paid(&self) -> Vec<Seen> {
        payments(&self.seen.borrow())
    }

    /// Waits, beside whatever else is done, until `count` payments have come.
    pub(crate) fn was_paid(&self, count: usize) -> impl Future<Output = ()> + use<> {
        let mut seen = self.seen.clone();
        async move {
            let paid = timeout(PATIENCE, seen.wait_for(|seen| count <= payments(seen).len())).await;
            assert!(paid.is_ok(), "nobody paid");
        }
    }

    /// Every request for a path.
    pub(crate) fn requests(&self, path: &str) -> Vec<Seen> {
        self.seen.borrow().iter().filter(|seen| seen.path == path).cloned().collect()
    }
}

impl Drop for Seller {
    fn drop(&mut self) {
        self.work.abort();
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, port: u16, seen: Arc<Mutex<watch::Sender<Vec<Seen>>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, seen) = (acceptor.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let Some(asked) = read(&mut stream).await else { return };
            let offered = payments(&seen.lock().unwrap().borrow()).iter().any(|seen| seen.path == asked.path);
            let reply = if asked.path.starts_with("/late") && asked.payment.is_some() && !offered {
                Reply::Never
            } else {
                answer(&asked, port)
            };
            seen.lock().unwrap().send_modify(|seen| seen.push(asked));
            match reply {
                Reply::Bytes(bytes) => {
                    // A browser that went away does not hear the answer.
                    if stream.write_all(&bytes).await.is_ok() {
                        stream.shutdown().await.unwrap_or_default();
                    }
                }
                Reply::HangUp => {}
                Reply::Never => std::future::pending().await,
            }
        });
    }
}

fn payments(seen: &[Seen]) -> Vec<Seen> {
    seen.iter().filter(|seen| seen.payment.is_some()).cloned().collect()
}

/// The signature in a payment header.
pub(crate) fn signature(payment: &str) -> String {
    let document: Value = serde_json::from_slice(&STANDARD.decode(payment).unwrap()).unwrap();
    document["payload"]["signature"].as_str().unwrap().to_owned()
}

async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let header = |wanted: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.to_owned())
    };
    let host = header("host")?.split(':').next()?.to_owned();
    let dest = header("sec-fetch-dest").unwrap_or_default();
    Some(Seen { method, host, path, payment: header("payment-signature"), dest })
}

enum Reply {
    Bytes(Vec<u8>),
    HangUp,
    Never,
}

/// What is sold, by the path without its query.
fn answer(asked: &Seen, port: u16) -> Reply {
    let path = asked.path.split('?').next().unwrap();
    let free = |body: &str| page("200 OK", "", body);
    let script = |body: &str| page("200 OK", "content-type: text/javascript\r\n", body);
    let bytes = match (path, &asked.payment) {
        ("/page" | "/kept" | "/late" | "/report", Some(payment)) => {
            page("200 OK", &settled(payment), "<h1>the page that was paid for</h1>")
        }
        ("/moves", Some(payment)) => page("302 Found", &format!("location: /after\r\n{}", settled(payment)), ""),
        ("/locked", Some(_)) => page("401 Unauthorized", "www-authenticate: Basic realm=\"x\"\r\n", "who are you"),
        ("/silent", Some(_)) => return Reply::HangUp,
        ("/slow", Some(_)) => return Reply::Never,
        ("/page" | "/moves" | "/locked" | "/silent" | "/slow" | "/late" | "/report", None) => {
            let terms = STANDARD.encode(terms(&asked.path, port).to_string());
            page("402 Payment Required", &format!("payment-required: {terms}\r\n"), "<h1>pay first</h1>")
        }
        ("/kept", None) => page("200 OK", "cache-control: max-age=600\r\n", "an older page"),
        ("/old", _) => page("302 Found", &format!("location: /page{}\r\n", query(&asked.path)), ""),
        ("/hostile", _) => free(&HOSTILE.replace("QUERY", query(&asked.path))),
        ("/sw.js", _) => script(SERVICE_WORKER),
        ("/favicon.ico", _) => page("404 Not Found", "", ""),
        _ => free("<h1>a free page</h1>"),
    };
    Reply::Bytes(bytes)
}

/// Everything that a page can do to have the same URL asked for without being it.
const HOSTILE: &str = r#"<link rel="prefetch" href="/pageQUERY"><iframe src="/pageQUERY"></iframe><img src="/pageQUERY">
<script type="speculationrules">{"prerender": [{"urls": ["/pageQUERY"], "eagerness": "immediate"}]}</script>
<form id="form" method="post" action="/pageQUERY" target="inner"></form><iframe name="inner"></iframe><script>
navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then(sw => sw.active.postMessage("/pageQUERY"));
document.getElementById("form").submit();
fetch("/pageQUERY", {method: "HEAD"}).finally(() => fetch("/head-done"));
</script>"#;

/// Answers every request of its pages by a request of its own.
const SERVICE_WORKER: &str = "onactivate = e => e.waitUntil(clients.claim());\
    onfetch = e => e.respondWith(fetch(e.request));\
    onmessage = e => e.waitUntil(fetch(e.data).finally(() => fetch('/service-worker-done')))";

fn query(path: &str) -> &str {
    path.find('?').map_or("", |at| &path[at..])
}

fn page(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let kind = if headers.contains("content-type") { "" } else { "content-type: text/html\r\n" };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{kind}{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

fn terms(path: &str, port: u16) -> Value {
    json!({
        "x402Version": 2, "error": "payment required", "extensions": {},
        "resource": {"url": format!("https://{HOST}:{port}{path}"), "description": "a page", "mimeType": "text/html"},
        "accepts": [{
            "scheme": "exact", "network": "eip155:84532", "amount": PRICE_UNITS, "payTo": PAYEE,
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "maxTimeoutSeconds": 60,
            "extra": {"name": "USDC", "version": "2"},
        }],
    })
}

/// A settlement header that agrees with the payment. The nonce serves as the transaction's id.
fn settled(payment: &str) -> String {
    let document: Value = serde_json::from_slice(&STANDARD.decode(payment).unwrap()).unwrap();
    let signed = &document["payload"]["authorization"];
    let claim = json!({
        "success": true, "transaction": signed["nonce"], "network": "eip155:84532", "payer": signed["from"],
    });
    format!("payment-response: {}\r\n", STANDARD.encode(claim.to_string()))
}
