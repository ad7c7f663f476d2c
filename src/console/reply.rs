//! Every answer of the console, with the headers that all of them have. Must never allow another origin, a cache, a frame or a
//! script that is not ours.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;

use super::files::File;

/// Nothing but our own script, style, icon and requests; no markup from text, no frame, no form that leads away.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

const ALWAYS: [(HeaderName, &str); 9] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), clipboard-read=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// A sentence and its code.
#[derive(Debug, Serialize)]
struct Told<'a> {
    code: &'a str,
    message: &'a str,
}

/// A file of the page.
pub(super) fn file(file: &File) -> Response<Full<Bytes>> {
    answer(StatusCode::OK, file.kind, Bytes::from_static(file.text.as_bytes()))
}

/// A value as JSON.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Response<Full<Bytes>> {
    match serde_json::to_vec(value) {
        Ok(text) => answer(status, "application/json", Bytes::from(text)),
        Err(_unwritable) => answer(StatusCode::INTERNAL_SERVER_ERROR, "application/json", Bytes::from_static(b"{}")),
    }
}

/// A code and a sentence as JSON.
pub(super) fn told(status: StatusCode, code: &str, message: &str) -> Response<Full<Bytes>> {
    json(status, &Told { code, message })
}

/// The same answer, and nothing more on its connection.
pub(super) fn last(mut reply: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    reply.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    reply
}

/// The same answer with a cookie.
pub(super) fn with_cookie(mut reply: Response<Full<Bytes>>, cookie: &str) -> Response<Full<Bytes>> {
    if let Ok(mut value) = HeaderValue::from_str(cookie) {
        value.set_sensitive(true);
        reply.headers_mut().insert(header::SET_COOKIE, value);
    }
    reply
}

fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}
