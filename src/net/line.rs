//! One connection to a seller, plain or TLS, that notes when an answer begins and when the seller goes; it sends nothing
//! of its own.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bursar_policy::Host;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, BufReader, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::frames::{Begun, Frames};
use crate::platform::{Socket, second_handle};

/// How much is taken from the socket at once, in bytes: four records of TLS, which by itself asks for 4 KiB at a time.
const READ_BYTES: usize = 64 * 1024;

/// A connection that is ready to carry a request.
pub(super) struct Line {
    way: Way,
    /// Over HTTP/2 a seller speaks before it is asked, so its frames are looked at.
    frames: Option<Frames>,
    heard: Heard,
}

enum Way {
    Plain(TcpStream),
    Secure(Box<TlsStream<BufReader<TcpStream>>>),
}

/// What came over a line: whether an answer began, and whether the seller goes. What TLS and HTTP/2 say to themselves is
/// not counted.
#[derive(Clone, Default)]
pub(super) struct Heard(Arc<Ears>);

#[derive(Default)]
struct Ears {
    answer: AtomicBool,
    end: AtomicBool,
    told: Notify,
}

impl Heard {
    /// Waits for the first byte of an answer.
    pub(super) async fn first_byte(&self) {
        loop {
            let next = self.0.told.notified();
            if self.0.answer.load(Ordering::Acquire) {
                return;
            }
            next.await;
        }
    }

    /// Listens for the next answer: what was heard of an earlier one no longer counts.
    pub(super) fn listen_anew(&self) {
        self.0.answer.store(false, Ordering::Release);
    }

    /// Whether the seller hung up, or said that it takes no more requests.
    pub(super) fn end(&self) -> bool {
        self.0.end.load(Ordering::Acquire)
    }

    fn note_answer(&self) {
        if !self.0.answer.swap(true, Ordering::AcqRel) {
            // Kept for whoever waits later, too.
            self.0.told.notify_one();
        }
    }

    pub(super) fn note_end(&self) {
        self.0.end.store(true, Ordering::Release);
    }
}

impl Line {
    /// A line without TLS; for loopback sellers of a sandbox alone.
    pub(super) fn plain(stream: TcpStream) -> Self {
        Self { way: Way::Plain(stream), frames: None, heard: Heard::default() }
    }

    /// A line over TLS to whoever proves to be `host`.
    ///
    /// # Errors
    ///
    /// What the handshake met.
    pub(super) async fn secure(stream: TcpStream, host: &Host, tls: Arc<ClientConfig>) -> io::Result<Self> {
        let name = server_name(host)?;
        let stream = BufReader::with_capacity(READ_BYTES, stream);
        let stream = TlsConnector::from(tls).connect(name, stream).await?;
        let line = Self { way: Way::Secure(Box::new(stream)), frames: None, heard: Heard::default() };
        let frames = line.is_http2().then(Frames::default);
        Ok(Self { frames, ..line })
    }

    /// Whether both ends agreed on HTTP/2.
    pub(super) fn is_http2(&self) -> bool {
        match &self.way {
            Way::Plain(_) => false,
            Way::Secure(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }

    /// Tells when an answer begins, and when the seller goes.
    pub(super) fn heard(&self) -> Heard {
        self.heard.clone()
    }

    /// A second handle on the socket underneath, to look at what is waiting there.
    ///
    /// # Errors
    ///
    /// What the system met.
    pub(super) fn socket(&self) -> io::Result<Socket> {
        let stream = match &self.way {
            Way::Plain(stream) => stream,
            Way::Secure(stream) => stream.get_ref().0.get_ref(),
        };
        second_handle(stream)
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
        let (before, room) = (into.filled().len(), into.remaining());
        let read = match &mut line.way {
            Way::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Way::Secure(stream) => Pin::new(stream).poll_read(cx, into),
        };
        let new = into.filled().get(before..).unwrap_or_default();
        let begun = match &mut line.frames {
            Some(frames) => frames.begin_in(new),
            None => Begun { headers: !new.is_empty(), goaway: false },
        };
        if begun.headers {
            line.heard.note_answer();
        }
        let hung_up = matches!(&read, Poll::Ready(Ok(()))) && new.is_empty() && room != 0;
        if hung_up || begun.goaway || matches!(&read, Poll::Ready(Err(_))) {
            line.heard.note_end();
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    async fn pair() -> (Line, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let line = Line::plain(TcpStream::connect(listener.local_addr().unwrap()).await.unwrap());
        (line, listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn an_answer_is_heard_once_and_the_next_one_anew() {
        let (mut line, mut seller) = pair().await;
        let heard = line.heard();
        for _leg in 0..2 {
            heard.listen_anew();
            assert!(!heard.0.answer.load(Ordering::Acquire));
            seller.write_all(b"x").await.unwrap();
            line.read_exact(&mut [0]).await.unwrap();
            heard.first_byte().await;
        }
        assert!(!heard.end());
    }

    #[tokio::test]
    async fn a_seller_that_hangs_up_or_says_goodbye_is_heard_to_go() {
        let (mut line, seller) = pair().await;
        drop(seller);
        assert_eq!(line.read(&mut [0]).await.unwrap(), 0);
        assert!(line.heard().end());

        let (mut line, mut seller) = pair().await;
        line.frames = Some(Frames::default());
        for (frame, goes) in [([0, 0, 0, 4, 0, 0, 0, 0, 0], false), ([0, 0, 8, 7, 0, 0, 0, 0, 0], true)] {
            seller.write_all(&frame).await.unwrap();
            line.read_exact(&mut [0; 9]).await.unwrap();
            assert_eq!(line.heard().end(), goes, "{frame:?}");
        }
    }
}
