//! Where metrics are read: one page, over HTTP. It must never answer who has not shown the token where one is wanted, nor
//! listen beyond this machine.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::prometheus;

/// How long a reader may take to ask.
const ASK_WITHIN: Duration = Duration::from_secs(5);
/// How long a conversation may take.
const ALL_WITHIN: Duration = Duration::from_secs(15);

/// What the page is made of, and who may read it.
pub(crate) trait Shelf: Send + Sync + 'static {
    /// The page as it is now.
    fn page(&self) -> String;

    /// Whether `shown`, the bearer token of a request (RFC 6750), lets its reader in. May block.
    fn admits(&self, shown: Option<&str>) -> Admission;
}

/// Whether a reader may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Yes,
    /// The token is missing or another one.
    No,
    /// Nobody can say now: the wallet is locked, or there is no vault.
    NotNow,
    /// Too many guessed of late: nobody looked at the token.
    TooMany,
}

/// Answers one reader.
pub(crate) async fn answer<S: Shelf>(stream: impl AsyncRead + AsyncWrite + Unpin, shelf: Arc<S>) {
    let service = service_fn(|request| {
        let shelf = Arc::clone(&shelf);
        async move { Ok::<_, Infallible>(reply(request, shelf).await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(ASK_WITHIN).keep_alive(false).max_buf_size(16 * 1024);
    let conversation = http.serve_connection(TokioIo::new(stream), service);
    match tokio::time::timeout(ALL_WITHIN, conversation).await {
        Ok(Ok(())) => {}
        Ok(Err(fault)) => tracing::debug!(%fault, "a reader of metrics broke off"),
        Err(_late) => tracing::debug!("a reader of metrics took too long"),
    }
}

async fn reply<S: Shelf>(request: Request<Incoming>, shelf: Arc<S>) -> Response<Full<Bytes>> {
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "the page is `/metrics`\n");
    }
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "the page is read with GET\n");
    }
    let shown = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let asked = Arc::clone(&shelf);
    let admitted = tokio::task::spawn_blocking(move || asked.admits(shown.as_deref())).await;
    match admitted.unwrap_or(Admission::NotNow) {
        Admission::Yes => {
            let mut page = Response::new(Full::new(Bytes::from(shelf.page())));
            page.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(prometheus::CONTENT_TYPE));
            page
        }
        Admission::No => {
            let mut told = plain(StatusCode::UNAUTHORIZED, "show the token of [metrics] as a bearer token\n");
            told.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            told
        }
        Admission::TooMany => {
            let mut told = plain(StatusCode::TOO_MANY_REQUESTS, "too many tokens were tried of late; come again\n");
            told.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            told
        }
        Admission::NotNow => {
            plain(StatusCode::SERVICE_UNAVAILABLE, "the token can be checked while the wallet is unlocked\n")
        }
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut told = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *told.status_mut() = status;
    told
}
