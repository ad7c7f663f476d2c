//! Requests over one line, by the HTTP version both ends agreed on; each goes out once, and there is no second try.

use std::fmt;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::task::AbortHandle;

use super::limits::Limits;
use super::line::{Heard, Line};
use crate::platform::{Socket, nothing_came};

/// What HTTP may unpack before the caps of [`Limits`] are counted, in bytes. Larger than any cap in use, so that being
/// over the cap has its own code.
const UNPACKED_HEADER_BYTES: u32 = 256 * 1024;

/// What HTTP/2 may send ahead of our reading, in bytes.
const WINDOW_BYTES: u32 = 256 * 1024;

/// What HTTP/1.1 may keep of an answer before it is read on, in bytes.
const BUFFER_BYTES: usize = 256 * 1024;

/// A line that HTTP runs over. Dropping it hangs up.
pub(super) struct Carriage {
    sender: Sender,
    running: AbortHandle,
    heard: Heard,
    socket: Option<Socket>,
    address: SocketAddr,
}

enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Carriage {
    /// Makes `line`, which leads to `address`, ready for a request. When this fails, nothing of a request has been sent.
    ///
    /// # Errors
    ///
    /// What the HTTP library met.
    pub(super) async fn over(line: Line, address: SocketAddr, limits: &Limits) -> hyper::Result<Self> {
        let (heard, socket) = (line.heard(), line.socket().ok());
        let (sender, running) = if line.is_http2() {
            let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                .initial_stream_window_size(WINDOW_BYTES)
                .initial_connection_window_size(WINDOW_BYTES)
                .max_header_list_size(UNPACKED_HEADER_BYTES)
                .handshake(TokioIo::new(line))
                .await?;
            (Sender::Two(sender), run(connection))
        } else {
            let (sender, connection) = http1::Builder::new()
                .max_headers(limits.header_fields)
                .max_buf_size(BUFFER_BYTES)
                .handshake(TokioIo::new(line))
                .await?;
            (Sender::One(sender), run(connection))
        };
        Ok(Self { sender, running, heard, socket, address })
    }

    /// Sends `request` and waits for the header of its answer.
    ///
    /// # Errors
    ///
    /// What the HTTP library met; the request may have left.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        self.heard.listen_anew();
        match &mut self.sender {
            Sender::One(sender) => sender.send_request(request).await,
            Sender::Two(sender) => sender.send_request(request).await,
        }
    }

    /// The judged address at the other end.
    pub(super) const fn leads_to(&self) -> SocketAddr {
        self.address
    }

    /// Tells when an answer begins.
    pub(super) fn heard(&self) -> Heard {
        self.heard.clone()
    }

    /// Whether the line waits for a request, as far as anybody can know here: the answer before is over, the seller has
    /// neither hung up nor said that it will, and not a byte has come that nobody asked for, not even one that was not
    /// read yet.
    pub(super) fn is_quiet(&self) -> bool {
        let waits = match &self.sender {
            Sender::One(sender) => sender.is_ready(),
            Sender::Two(sender) => sender.is_ready(),
        };
        waits && !self.heard.end() && self.socket.as_ref().is_some_and(nothing_came)
    }

    /// Whether a request carries its whole URL and no `Host` header (HTTP/2).
    pub(super) const fn wants_whole_url(&self) -> bool {
        matches!(self.sender, Sender::Two(_))
    }
}

impl Drop for Carriage {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl fmt::Debug for Carriage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carriage").field("http2", &self.wants_whole_url()).finish_non_exhaustive()
    }
}

/// How a connection ends is told to whoever reads the answer, not here.
fn run(connection: impl Future<Output = hyper::Result<()>> + Send + 'static) -> AbortHandle {
    tokio::spawn(async move { drop(connection.await) }).abort_handle()
}
