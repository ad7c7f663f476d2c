//! One request over one line, by the HTTP version both ends agreed on; the line carries nothing else, and no second try.

use std::fmt;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::task::AbortHandle;

use super::limits::Limits;
use super::line::Line;

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
}

enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Carriage {
    /// Makes `line` ready for a request. When this fails, nothing of a request has been sent.
    ///
    /// # Errors
    ///
    /// What the HTTP library met.
    pub(super) async fn over(line: Line, limits: &Limits) -> hyper::Result<Self> {
        if line.is_http2() {
            let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                .initial_stream_window_size(WINDOW_BYTES)
                .initial_connection_window_size(WINDOW_BYTES)
                .max_header_list_size(UNPACKED_HEADER_BYTES)
                .handshake(TokioIo::new(line))
                .await?;
            Ok(Self { sender: Sender::Two(sender), running: run(connection) })
        } else {
            let (sender, connection) = http1::Builder::new()
                .max_headers(limits.header_fields)
                .max_buf_size(BUFFER_BYTES)
                .handshake(TokioIo::new(line))
                .await?;
            Ok(Self { sender: Sender::One(sender), running: run(connection) })
        }
    }

    /// Sends `request` and waits for the header of its answer.
    ///
    /// # Errors
    ///
    /// What the HTTP library met; the request may have left.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match &mut self.sender {
            Sender::One(sender) => sender.send_request(request).await,
            Sender::Two(sender) => sender.send_request(request).await,
        }
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
