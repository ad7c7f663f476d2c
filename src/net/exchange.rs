//! One leg over the wire: the pinned address, one request, one answer; no second try and no second address book.

use std::net::SocketAddr;

use bursar_policy::{Host, Method};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING,
};
use rustls::ClientConfig;
use tokio::time::{Instant, timeout_at};

use super::ask::Ask;
use super::fault::{self, ExchangeFault, FaultCode};
use super::limits::Limits;
use super::pin::{Ground, Pin};
use super::reply::{Body, Reply};
use super::tls::Tls;

const USER_AGENT: &str = concat!("bursar/", env!("CARGO_PKG_VERSION"));

/// What HTTP/2 may unpack before the caps of [`Limits`] are counted, in bytes. HTTP/1.1 has a fixed buffer of about
/// the same size in the HTTP library. Larger than any cap in use, so that being over the cap has its own code.
const UNPACKED_HEADER_BYTES: u32 = 256 * 1024;

/// What HTTP/2 may send ahead of our reading, in bytes.
const WINDOW_BYTES: u32 = 256 * 1024;

/// One purchase's way to its seller. Each leg dials anew, and only the addresses of the pin.
///
/// A new connection for each leg costs a resumed TLS handshake and buys certainty: a payment never rides on a
/// connection that the seller is just closing, and a leg that could not connect has sent nothing.
#[derive(Debug)]
pub struct Exchange {
    pin: Pin,
    tls: ClientConfig,
}

impl Exchange {
    /// Takes the pin; dials nothing yet.
    #[must_use]
    pub fn open(pin: Pin, tls: &Tls) -> Self {
        Self { pin, tls: tls.for_exchange() }
    }

    /// The pin that both legs use.
    pub const fn pin(&self) -> &Pin {
        &self.pin
    }

    /// Sends `ask` once to the pinned site and waits for the header of the answer.
    ///
    /// The request goes out at most once, over a new connection, to the URL of the pin. Redirects, proxies, cookies,
    /// `Alt-Svc` and automatic retries do not exist here. Interim (1xx) answers are skipped.
    ///
    /// # Errors
    ///
    /// [`ExchangeFault`]; [`ExchangeFault::may_have_been_sent`] says whether the seller may have seen the request.
    pub async fn send(&self, ask: &Ask, limits: &Limits) -> Result<Reply, ExchangeFault> {
        let started = Instant::now();
        let end = started.checked_add(limits.total).unwrap_or(started);
        let header_by = started.checked_add(limits.header).unwrap_or(started).min(end);
        let at = self.pin.site().authority();

        let client = self.client(limits)?;
        let request = self.request(ask)?;
        let response = match timeout_at(header_by, client.execute(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(fault::of_send(&error, &at)),
            Err(_) if header_by < end => return Err(too_slow(FaultCode::TimeoutHeader, &at)),
            Err(_) => return Err(too_slow(FaultCode::TimeoutTotal, &at)),
        };
        match response.remote_addr() {
            Some(peer) if self.pin.covers(peer) => {}
            _ => return Err(address_changed(&at)),
        }
        let headers = read_headers(response.headers(), limits).ok_or_else(|| fault::header_too_large(&at))?;
        let encoded = is_encoded(response.headers());
        let status = response.status().as_u16();
        let declared = declared_length(ask.method(), status, response.headers());
        Ok(Reply::new(status, headers, Body::new(response, at, limits.idle, end, encoded, declared)))
    }

    fn client(&self, limits: &Limits) -> Result<reqwest::Client, ExchangeFault> {
        reqwest::Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .https_only(self.pin.ground() != Ground::Loopback)
            .dns_resolver(Judged::of(&self.pin))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .pool_max_idle_per_host(0)
            .connect_timeout(limits.connect)
            .http1_max_headers(limits.header_fields)
            .http2_max_header_list_size(UNPACKED_HEADER_BYTES)
            .http2_initial_stream_window_size(WINDOW_BYTES)
            .http2_initial_connection_window_size(WINDOW_BYTES)
            .user_agent(USER_AGENT)
            .build()
            .map_err(|_| unsendable("the HTTP client could not be set up; this build is broken, so report it"))
    }

    fn request(&self, ask: &Ask) -> Result<reqwest::Request, ExchangeFault> {
        let text = self.pin.site().url();
        let url = reqwest::Url::parse(&text).map_err(|_| unsendable(OTHER_URL))?;
        // INVARIANT: the site was parsed once, at the door; this second reading may only confirm it.
        if url.as_str() != text {
            return Err(unsendable(OTHER_URL));
        }
        let method = match ask.method() {
            Method::Get => reqwest::Method::GET,
            Method::Head => reqwest::Method::HEAD,
            Method::Post => reqwest::Method::POST,
        };
        let mut request = reqwest::Request::new(method, url);
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in ask.headers() {
            headers.insert(name.clone(), value.clone());
        }
        if let Some((kind, bytes)) = ask.body() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind.as_str()));
            *request.body_mut() = Some(bytes.clone().into());
        }
        Ok(request)
    }
}

const OTHER_URL: &str = "the URL reads differently a second time; this build is broken, so report it";

/// Knows one name and its judged addresses. Any other name has no answer, so nothing else can be dialled.
struct Judged {
    name: String,
    addresses: Vec<SocketAddr>,
}

impl Judged {
    fn of(pin: &Pin) -> Self {
        let name = match pin.site().host() {
            Host::Name(name) => name.clone(),
            // The client dials an IP literal without asking; no name at all is known then.
            Host::V4(_) | Host::V6(_) => String::new(),
        };
        Self { name, addresses: pin.addresses().to_vec() }
    }
}

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let found: Result<Addrs, Box<dyn std::error::Error + Send + Sync>> = if name.as_str() == self.name {
            Ok(Box::new(self.addresses.clone().into_iter()))
        } else {
            Err("only the pinned name has an address".into())
        };
        Box::pin(std::future::ready(found))
    }
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

/// Whether the body is in any coding but plain (RFC 9110 8.4, RFC 9112 6.1).
fn is_encoded(headers: &HeaderMap) -> bool {
    let plain = |name, allowed: &[&str]| {
        headers.get_all(name).iter().all(|value: &HeaderValue| {
            value.as_bytes().split(|byte| *byte == b',').all(|coding| {
                let coding = coding.trim_ascii();
                coding.is_empty() || allowed.iter().any(|word| coding.eq_ignore_ascii_case(word.as_bytes()))
            })
        })
    };
    !plain(CONTENT_ENCODING, &["identity"]) || !plain(TRANSFER_ENCODING, &["identity", "chunked"])
}

fn too_slow(code: FaultCode, at: &str) -> ExchangeFault {
    ExchangeFault::sent(code, format!("`{at}` did not answer in time; try again later"))
}

fn address_changed(at: &str) -> ExchangeFault {
    let sentence = format!("the answer of `{at}` came from an address that was not judged; report this");
    ExchangeFault::sent(FaultCode::AddressChanged, sentence)
}

fn unsendable(sentence: &str) -> ExchangeFault {
    ExchangeFault::unsent(FaultCode::Unsendable, sentence.to_owned())
}
