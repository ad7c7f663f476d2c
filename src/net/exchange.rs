//! One leg over the wire: a pinned address, one request, one answer; no second try and no second address book.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use bursar_policy::{Method, Scheme};
use bursar_vault::protocol::SecretValue;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Request, Response, Uri};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::ask::Ask;
use super::carry::Carriage;
use super::coding::Coding;
use super::dial;
use super::fault::{self, ExchangeFault, FaultCode};
use super::kept::{self, Kept};
use super::limits::Limits;
use super::line::{Heard, Line};
use super::pin::{Ground, Pin};
use super::redact::Redaction;
use super::reply::{Body, Reply};
use super::tls::Tls;
use super::tunnel::tunnel;

const OUR_NAME: &str = concat!("bursar/", env!("CARGO_PKG_VERSION"));

/// One purchase's way to its seller. Only the addresses of the pin are dialled, and once one has answered, later legs go
/// there and nowhere else.
///
/// The second leg may go over the connection of the first, where that is surely alive (`src/net/kept.rs` says when); every other
/// one dials anew. No connection carries a third request, and none outlives its exchange.
#[derive(Debug)]
pub struct Exchange {
    pin: Pin,
    tls: Arc<ClientConfig>,
    answered: OnceLock<SocketAddr>,
    kept: Arc<Kept>,
    proxy_credentials: Option<SecretValue>,
}

impl Exchange {
    /// Takes the pin; dials nothing yet.
    #[must_use]
    pub fn open(pin: Pin, tls: &Tls) -> Self {
        Self {
            pin,
            tls: Arc::new(tls.for_exchange()),
            answered: OnceLock::new(),
            kept: Arc::default(),
            proxy_credentials: None,
        }
    }

    /// The same with what the proxy of the rules wants: a user name, a colon and a password. They are said to the proxy
    /// alone, and never to a seller.
    #[must_use]
    pub fn with_proxy_credentials(self, proxy_credentials: Option<SecretValue>) -> Self {
        Self { proxy_credentials, ..self }
    }

    /// The pin that both legs use.
    pub const fn pin(&self) -> &Pin {
        &self.pin
    }

    /// Sends `ask` once to the pinned site and waits for the header of the answer.
    ///
    /// The request goes out at most once, to the URL of the pin: over the connection that the leg before left, or a new
    /// one. Redirects, proxies of the environment, cookies, `Alt-Svc` and repeated requests do not exist here. Interim
    /// (1xx) answers are skipped.
    ///
    /// # Errors
    ///
    /// [`ExchangeFault`]; [`ExchangeFault::may_have_been_sent`] says whether the seller may have seen the request.
    pub async fn send(&self, ask: &Ask, limits: &Limits) -> Result<Reply, ExchangeFault> {
        let started = Instant::now();
        let end = started.checked_add(limits.total).unwrap_or(started);
        let at = self.pin.site().authority();

        let mut carriage = match self.kept.take(ask.method()) {
            Some(carriage) => carriage,
            None => self.carriage(limits, end, &at).await?,
        };
        let request = self.request(ask, carriage.wants_whole_url())?;
        let heard = carriage.heard();
        let response = answer(carriage.send(request), &heard, limits, end, &at).await?;
        self.answered.get_or_init(|| carriage.leads_to());
        let mut headers = read_headers(response.headers(), limits).ok_or_else(|| fault::header_too_large(&at))?;
        if let Some(redactor) = ask.redactor() {
            headers.iter_mut().for_each(|(_, value)| redactor.clean_header(value));
        }
        let coding = Coding::of(response.headers());
        let status = response.status().as_u16();
        let declared = declared_length(ask.method(), status, response.headers());
        let kept = kept::may_stay(&response).then(|| Arc::clone(&self.kept));
        let body = Body::new(response.into_body(), carriage, at, limits.idle, end, coding, declared).leaving(kept);
        let redaction = ask.redactor().cloned().map(Redaction::by);
        Ok(Reply::new(status, headers, body.without_secrets(redaction)))
    }

    /// HTTP over a new connection. Nothing of the request has left.
    async fn carriage(&self, limits: &Limits, end: Instant, at: &str) -> Result<Carriage, ExchangeFault> {
        let (line, address) = self.line(limits, end, at).await?;
        Carriage::over(line, address, limits).await.map_err(|error| fault::of_preface(&error, at))
    }

    /// A connection to a judged address, with TLS where the URL wants it. Nothing of the request has left.
    async fn line(&self, limits: &Limits, end: Instant, at: &str) -> Result<(Line, SocketAddr), ExchangeFault> {
        let site = self.pin.site();
        if site.scheme() == Scheme::Http && self.pin.ground() != Ground::Loopback {
            return Err(unsendable("plain http goes to loopback sellers alone; this build is broken, so report it"));
        }
        let addresses = match self.answered.get() {
            Some(address) => std::slice::from_ref(address),
            None => self.pin.addresses(),
        };
        let (stream, address) = match timeout_at(by(limits.connect, end), self.connection(addresses, at)).await {
            Ok(connected) => connected?,
            Err(_) => return Err(fault::too_late_to_send(FaultCode::TimeoutConnect, end, at)),
        };
        match stream.peer_addr() {
            Ok(peer) if self.pin.leads_to(peer) => {}
            _ => return Err(address_changed(at)),
        }
        if site.scheme() == Scheme::Http {
            return Ok((Line::plain(stream), address));
        }
        let handshake = Line::secure(stream, site.host(), Arc::clone(&self.tls));
        match timeout_at(by(limits.tls, end), handshake).await {
            Ok(line) => line.map(|line| (line, address)).map_err(|error| fault::of_tls(&error, at)),
            Err(_) => Err(fault::too_late_to_send(FaultCode::TimeoutTls, end, at)),
        }
    }

    /// A TCP connection that ends at one of `addresses`, through the proxy of the rules where there is one.
    async fn connection(&self, addresses: &[SocketAddr], at: &str) -> Result<(TcpStream, SocketAddr), ExchangeFault> {
        if self.pin.proxies().is_empty() {
            return dial::race(addresses, dial::connect).await.map_err(|error| fault::of_dial(&error, at));
        }
        tunnel(self.pin.proxies(), addresses, self.proxy_credentials.as_ref())
            .await
            .map_err(|fault| fault::of_tunnel(&fault, at))
    }

    /// The request, the same for both versions of HTTP but for where its URL and host stand.
    fn request(&self, ask: &Ask, whole_url: bool) -> Result<Request<Full<Bytes>>, ExchangeFault> {
        let site = self.pin.site();
        let target = if whole_url { site.url() } else { site.path_and_query() };
        let uri: Uri = target.parse().map_err(|_| unsendable(OTHER_URL))?;
        // INVARIANT: the site was parsed once, at the door; this second reading may only confirm it.
        if uri != *target {
            return Err(unsendable(OTHER_URL));
        }
        let body = ask.body().map_or_else(Bytes::new, |(_, bytes)| bytes.clone());
        let mut request = Request::new(Full::new(body));
        *request.uri_mut() = uri;
        *request.method_mut() = match ask.method() {
            Method::Get => hyper::Method::GET,
            Method::Head => hyper::Method::HEAD,
            Method::Post => hyper::Method::POST,
        };
        let headers = request.headers_mut();
        if !whole_url {
            let host = HeaderValue::from_str(&site.authority()).map_err(|_| unsendable(OTHER_URL))?;
            headers.insert(HOST, host);
        }
        headers.insert(USER_AGENT, HeaderValue::from_static(OUR_NAME));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in ask.headers() {
            headers.insert(name.clone(), value.clone());
        }
        if let Some((kind, _)) = ask.body() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind.as_str()));
        }
        Ok(request)
    }
}

const OTHER_URL: &str = "the URL reads differently a second time; this build is broken, so report it";

/// So much later than now, but not after `end`.
fn by(within: std::time::Duration, end: Instant) -> Instant {
    Instant::now().checked_add(within).unwrap_or(end).min(end)
}

/// Waits for the header of an answer, under the deadlines for its first byte and for all of it.
async fn answer(
    asked: impl Future<Output = hyper::Result<Response<Incoming>>>,
    heard: &Heard,
    limits: &Limits,
    end: Instant,
    at: &str,
) -> Result<Response<Incoming>, ExchangeFault> {
    let first_by = by(limits.first_byte, end);
    let header_by = by(limits.header, end);
    tokio::pin!(asked);
    let early = timeout_at(first_by.min(header_by), async {
        tokio::select! {
            biased;
            answered = &mut asked => Some(answered),
            () = heard.first_byte() => None,
        }
    });
    let answered = match early.await {
        Ok(Some(answered)) => answered,
        Ok(None) => match timeout_at(header_by, asked).await {
            Ok(answered) => answered,
            Err(_) => return Err(fault::too_slow(FaultCode::TimeoutHeader, end, at)),
        },
        Err(_) => return Err(fault::too_slow(FaultCode::TimeoutFirstByte, end, at)),
    };
    answered.map_err(|error| fault::of_answer(&error, at))
}

/// Copies the header out, or nothing when it is over the caps.
fn read_headers(headers: &HeaderMap, limits: &Limits) -> Option<Vec<(String, Vec<u8>)>> {
    if headers.len() > limits.header_fields {
        return None;
    }
    let mut bytes = 0_usize;
    let mut copied = Vec::with_capacity(headers.len());
    for (name, value) in headers {
        let field = name.as_str().len().saturating_add(value.len()).saturating_add(4);
        bytes = bytes.saturating_add(field);
        if bytes > limits.header_bytes {
            return None;
        }
        copied.push((name.as_str().to_owned(), value.as_bytes().to_vec()));
    }
    Some(copied)
}

/// The length of the body that has to follow, where the header says one and the answer can have a body.
fn declared_length(method: Method, status: u16, headers: &HeaderMap) -> Option<u64> {
    if method == Method::Head || matches!(status, 204 | 304) {
        return None;
    }
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

fn address_changed(at: &str) -> ExchangeFault {
    let sentence = format!("the connection to `{at}` leads to an address that was not judged; report this");
    ExchangeFault::unsent(FaultCode::AddressChanged, sentence)
}

fn unsendable(sentence: &str) -> ExchangeFault {
    ExchangeFault::unsent(FaultCode::Unsendable, sentence.to_owned())
}
