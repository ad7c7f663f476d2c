//! A seller that says what it was told to say, byte for byte: one answer a request. It keeps a connection where its answer
//! says so.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// One request as it came over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The payment header's name and value, if it carries one.
    pub(crate) fn payment(&self) -> Option<(&str, &str)> {
        let pays = |name: &str| name == "payment-signature" || name == "x-payment";
        self.headers.iter().find(|(name, _)| pays(name)).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The request without its payment header: on both legs the same.
    pub(crate) fn bare(&self) -> Self {
        let mut bare = self.clone();
        bare.headers.retain(|(name, _)| name != "payment-signature" && name != "x-payment");
        bare
    }
}

/// A seller on loopback that listens and does not answer yet.
pub(crate) struct Stall {
    listener: TcpListener,
}

/// A seller that answers. Dropping it closes the stall.
pub(crate) struct Seller {
    requests: Arc<Mutex<Vec<Request>>>,
    arrived: watch::Receiver<usize>,
    open: watch::Sender<bool>,
    work: JoinHandle<()>,
}

impl Stall {
    pub(crate) async fn set_up() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    /// Answers the first request with the first of `replies`, and so on; an empty one is hung up on. With `hold`, no
    /// answer is given before [`Seller::go_on`].
    pub(crate) fn open(self, acceptor: TlsAcceptor, replies: Vec<Vec<u8>>, hold: bool) -> Seller {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (count, arrived) = watch::channel(0);
        let (open, may_answer) = watch::channel(!hold);
        let seen = Arc::clone(&requests);
        let (count, replies) = (Arc::new(count), Arc::new(replies));
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = self.listener.accept().await {
                let (acceptor, seen) = (acceptor.clone(), Arc::clone(&seen));
                let (replies, count, mut may_answer) = (Arc::clone(&replies), Arc::clone(&count), may_answer.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    while let Some(request) = read(&mut stream).await {
                        let number = {
                            let mut seen = seen.lock().unwrap();
                            seen.push(request);
                            seen.len()
                        };
                        count.send_replace(number);
                        if may_answer.wait_for(|open| *open).await.is_err()
                            || !answer(&mut stream, replies.get(number - 1)).await
                        {
                            return;
                        }
                    }
                });
            }
        });
        Seller { requests, arrived, open, work }
    }
}

impl Seller {
    /// The requests as they come in.
    pub(crate) fn heard(&self) -> Arc<Mutex<Vec<Request>>> {
        Arc::clone(&self.requests)
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until `count` requests have arrived.
    pub(crate) async fn has_heard(&self, count: usize) {
        self.arrived.clone().wait_for(|heard| count <= *heard).await.unwrap();
    }

    /// Gives the answers that were held back.
    pub(crate) fn go_on(&self) {
        self.open.send_replace(true);
    }
}

impl Drop for Seller {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// Whether a further request may come over the same connection.
async fn answer<S: AsyncWrite + Unpin>(stream: &mut S, reply: Option<&Vec<u8>>) -> bool {
    let Some(reply) = reply.filter(|reply| !reply.is_empty()) else { return false };
    // A buyer that has heard enough hangs up; that is its right.
    if stream.write_all(reply).await.is_err() || stream.flush().await.is_err() {
        return false;
    }
    let keeps = String::from_utf8_lossy(reply).to_ascii_lowercase().contains("\r\nconnection: keep-alive\r\n");
    if !keeps {
        stream.shutdown().await.unwrap_or_default();
    }
    keeps
}

async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        bytes.push(stream.read_u8().await.ok()?);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, text)| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { line, headers, body })
}
