//! The seller of benches/wire: on loopback TLS, quick, and the same to every buyer. It checks no signature and must
//! never be what is measured.
//!
//! Prints one line of JSON (its port and its authority) and ends with its standard input. `GET /item/…` and
//! `GET /big/N` (N MiB) cost a hundredth of a cent, `GET /free/N` costs nothing, `GET /books` tells what was sold.

use std::collections::HashSet;
use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The one name that the certificate is good for.
const NAME: &str = "shop.test";
const NETWORK: &str = "eip155:84532";
const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const PAYEE: &str = "0xf3561d35CE34C2BDebBA4BdA5910534f6575CB09";

/// How much of a large body is handed over at once, in bytes.
const PIECE_BYTES: u64 = 64 * 1024;

#[tokio::main]
async fn main() -> io::Result<()> {
    let (authority, acceptor) = papers().map_err(io::Error::other)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    say(&json!({"port": listener.local_addr()?.port(), "authority": authority, "payee": PAYEE}))?;
    let books = Arc::new(Books::default());
    let selling = tokio::spawn(async move {
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, acceptor.clone(), Arc::clone(&books)));
            }
        }
    });
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    selling.abort();
    Ok(())
}

fn say(line: &Value) -> io::Result<()> {
    use io::Write as _;
    writeln!(io::stdout(), "{line}")
}

/// What was sold: how many payments came, and how many of them were different ones.
#[derive(Default)]
struct Books {
    sold: Mutex<(u64, HashSet<String>)>,
}

impl Books {
    fn enter(&self, nonce: &str) {
        let mut sold = self.sold.lock().unwrap_or_else(PoisonError::into_inner);
        sold.0 = sold.0.saturating_add(1);
        sold.1.insert(nonce.to_owned());
    }

    fn told(&self) -> Value {
        let sold = self.sold.lock().unwrap_or_else(PoisonError::into_inner);
        json!({"payments": sold.0, "different": sold.1.len()})
    }
}

/// A connection that breaks is its buyer's affair.
async fn serve(stream: TcpStream, acceptor: TlsAcceptor, books: Arc<Books>) {
    drop(stream.set_nodelay(true));
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let answering = service_fn(move |request| {
        let answered = answer(&request, &books);
        async move { Ok::<_, Infallible>(answered) }
    });
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), answering).await);
}

fn answer(request: &Request<Incoming>, books: &Books) -> Response<Goods> {
    let path = request.uri().path();
    let goods = match path.strip_prefix("/big/").or_else(|| path.strip_prefix("/free/")) {
        Some(mebibytes) => Goods::zeros(mebibytes.parse::<u32>().unwrap_or(0)),
        None => Goods::of(&json!({"item": path, "text": "the goods that were paid for"})),
    };
    if path == "/books" {
        return reply(StatusCode::OK, Goods::of(&books.told()), None);
    }
    if path.starts_with("/free/") {
        return reply(StatusCode::OK, goods, None);
    }
    match request.headers().get("payment-signature").and_then(|header| authorization(header.as_bytes())) {
        None => reply(StatusCode::PAYMENT_REQUIRED, Goods::of(&json!({})), Some(("payment-required", terms(request)))),
        Some(Authorization { payer, nonce }) => {
            books.enter(&nonce);
            let settled = json!({"success": true, "transaction": nonce, "network": NETWORK, "payer": payer});
            reply(StatusCode::OK, goods, Some(("payment-response", settled)))
        }
    }
}

/// The 402 document of x402 version 2.
fn terms(request: &Request<Incoming>) -> Value {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or(NAME);
    let url = format!("https://{host}{}", request.uri());
    json!({
        "x402Version": 2, "error": "Payment required", "extensions": {},
        "resource": {"url": url, "description": "an item", "mimeType": "application/json"},
        "accepts": [{
            "scheme": "exact", "network": NETWORK, "amount": "100", "asset": USDC, "payTo": PAYEE,
            "maxTimeoutSeconds": 60, "extra": {"name": "USDC", "version": "2"},
        }],
    })
}

/// Of a payment what the settlement has to name.
struct Authorization {
    payer: String,
    nonce: String,
}

fn authorization(header: &[u8]) -> Option<Authorization> {
    let document: Value = serde_json::from_slice(&STANDARD.decode(header).ok()?).ok()?;
    let signed = document.get("payload")?.get("authorization")?;
    let word = |name| signed.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Authorization { payer: word("from")?, nonce: word("nonce")? })
}

fn reply(status: StatusCode, goods: Goods, said: Option<(&'static str, Value)>) -> Response<Goods> {
    let mut response = Response::new(goods);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some((name, document)) = said
        && let Ok(value) = HeaderValue::from_str(&STANDARD.encode(document.to_string()))
    {
        headers.insert(HeaderName::from_static(name), value);
    }
    response
}

/// A body: one piece, again and again, until nothing is left.
struct Goods {
    piece: Bytes,
    left: u64,
}

impl Goods {
    fn of(document: &Value) -> Self {
        let piece = Bytes::from(document.to_string());
        Self { left: u64::try_from(piece.len()).unwrap_or(u64::MAX), piece }
    }

    fn zeros(mebibytes: u32) -> Self {
        static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
        Self { piece: Bytes::from_static(&ZEROS), left: u64::from(mebibytes).saturating_mul(1024 * 1024) }
    }
}

impl Body for Goods {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let goods = self.get_mut();
        if goods.left == 0 {
            return Poll::Ready(None);
        }
        goods.left = goods.left.saturating_sub(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(goods.piece.clone()))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// A throw-away authority and a certificate of it for [`NAME`].
fn papers() -> Result<(String, TlsAcceptor), Box<dyn std::error::Error + Send + Sync>> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::new())?;
    // A name of its own: OpenSSL takes a certificate whose issuer has the same name for self-signed.
    authority.distinguished_name.push(DnType::CommonName, "bursar bench, not for use");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = authority.self_signed(&authority_key)?.pem();
    let key = KeyPair::generate()?;
    let certificate =
        CertificateParams::new(vec![NAME.to_owned()])?.signed_by(&key, &Issuer::new(authority, authority_key))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der())?)?;
    // As most servers do: resuming needs no memory of the server, however many buyers there are.
    config.ticketer = ring::Ticketer::new()?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((pem, TlsAcceptor::from(Arc::new(config))))
}
