//! One connection to a seller, plain or TLS, that notes when an answer begins; it sends nothing of its own.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bursar_policy::Host;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::frames::Frames;

/// A connection that is ready to carry a request.
pub(super) struct Line {
    way: Way,
    watch: Watch,
    heard: Heard,
}

/// What is looked for until an answer begins.
enum Watch {
    /// Any byte.
    Byte,
    /// A HEADERS frame: over HTTP/2 a seller speaks before it is asked.
    Headers(Frames),
    /// Nothing more.
    Done,
}

enum Way {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// Whether an answer began since the line was ready; what TLS and HTTP/2 say to themselves is not counted.
#[derive(Clone, Default)]
pub(super) struct Heard(Arc<(AtomicBool, Notify)>);

impl Heard {
    /// Waits for the first byte of an answer.
    pub(super) async fn first_byte(&self) {
        let (heard, told) = &*self.0;
        let next = told.notified();
        if !heard.load(Ordering::Acquire) {
            next.await;
        }
    }

    fn note(&self) {
        let (heard, told) = &*self.0;
        if !heard.swap(true, Ordering::AcqRel) {
            // Kept for whoever waits later, too.
            told.notify_one();
        }
    }
}

impl Line {
    /// A line without TLS; for loopback sellers of a sandbox alone.
    pub(super) fn plain(stream: TcpStream) -> Self {
        Self { way: Way::Plain(stream), watch: Watch::Byte, heard: Heard::default() }
    }

    /// A line over TLS to whoever proves to be `host`.
    ///
    /// # Errors
    ///
    /// What the handshake met.
    pub(super) async fn secure(stream: TcpStream, host: &Host, tls: Arc<ClientConfig>) -> io::Result<Self> {
        let name = server_name(host)?;
        let stream = TlsConnector::from(tls).connect(name, stream).await?;
        let line = Self { way: Way::Secure(Box::new(stream)), watch: Watch::Byte, heard: Heard::default() };
        let watch = if line.is_http2() { Watch::Headers(Frames::default()) } else { Watch::Byte };
        Ok(Self { watch, ..line })
    }

    /// Whether both ends agreed on HTTP/2.
    pub(super) fn is_http2(&self) -> bool {
        match &self.way {
            Way::Plain(_) => false,
            Way::Secure(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }

    /// Tells when an answer begins.
    pub(super) fn heard(&self) -> Heard {
        self.heard.clone()
    }
}

/// The name that the seller has to prove, which is also the one it is told (SNI): the judged one and no other.
fn server_name(host: &Host) -> io::Result<ServerName<'static>> {
    let name = match host {
        Host::Name(name) => ServerName::try_from(name.clone()),
        Host::V4(ip) => return Ok(ServerName::IpAddress((*ip).into())),
        Host::V6(ip) => return Ok(ServerName::IpAddress((*ip).into())),
    };
    name.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

impl AsyncRead for Line {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        let before = into.filled().len();
        let read = match &mut line.way {
            Way::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Way::Secure(stream) => Pin::new(stream).poll_read(cx, into),
        };
        let new = into.filled().get(before..).unwrap_or_default();
        let begins = match &mut line.watch {
            Watch::Byte => !new.is_empty(),
            Watch::Headers(frames) => frames.headers_begin(new),
            Watch::Done => false,
        };
        if begins {
            line.watch = Watch::Done;
            line.heard.note();
        }
        read
    }
}

impl AsyncWrite for Line {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().way {
            Way::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Way::Secure(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().way {
            Way::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Way::Secure(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().way {
            Way::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Way::Secure(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
