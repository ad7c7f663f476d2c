//! The hostile seller: reads one request on each connection, then does what its script says, byte for byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// One thing that the seller does after it has read a request.
#[derive(Clone)]
pub(super) enum Act {
    /// Writes these bytes.
    Say(Vec<u8>),
    /// Writes these bytes again and again until the buyer hangs up.
    Repeat(Vec<u8>),
    /// Writes nothing and waits until the buyer hangs up.
    Hold,
}

/// A running seller.
pub(super) struct Seller {
    pub(super) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    peers: Arc<Mutex<Vec<SocketAddr>>>,
    first_done: JoinHandle<()>,
}

impl Seller {
    /// A plain-http seller on 127.0.0.1 that does `acts` on each connection and then closes it.
    pub(super) async fn start(acts: &[Act]) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), acts)
    }

    /// The same, answering with `text`.
    pub(super) async fn saying(text: &str) -> Self {
        Self::start(&[Act::Say(text.as_bytes().to_vec())]).await
    }

    /// The same on a listener that exists.
    pub(super) fn on(listener: TcpListener, acts: &[Act]) -> Self {
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let peers = Arc::new(Mutex::new(Vec::new()));
        let (seen, met, acts) = (Arc::clone(&requests), Arc::clone(&peers), acts.to_vec());
        let first_done = tokio::spawn(async move {
            let (mut stream, peer) = listener.accept().await.unwrap();
            met.lock().unwrap().push(peer);
            let (later_seen, later_met, later_acts) = (Arc::clone(&seen), Arc::clone(&met), acts.clone());
            tokio::spawn(async move {
                while let Ok((mut stream, peer)) = listener.accept().await {
                    later_met.lock().unwrap().push(peer);
                    let (seen, acts) = (Arc::clone(&later_seen), later_acts.clone());
                    tokio::spawn(async move { play(&mut stream, &acts, &seen).await });
                }
            });
            play(&mut stream, &acts, &seen).await;
        });
        Self { address, requests, peers, first_done }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Every request so far, head and body as text.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// How many connections were made so far.
    pub(super) fn connections(&self) -> usize {
        self.peers.lock().unwrap().len()
    }

    /// Returns when the first connection is over: proof that the buyer hung up on a seller that would go on for ever.
    pub(super) async fn first_done(self) {
        self.first_done.await.unwrap();
    }
}

/// Reads one request, notes it, and plays the script. Errors mean that the buyer hung up.
pub(super) async fn play<S>(stream: &mut S, acts: &[Act], seen: &Mutex<Vec<String>>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(request) = read_request(stream).await else { return };
    seen.lock().unwrap().push(request);
    for act in acts {
        let open = match act {
            Act::Say(bytes) => stream.write_all(bytes).await.is_ok() && stream.flush().await.is_ok(),
            Act::Repeat(bytes) => {
                while stream.write_all(bytes).await.is_ok() {}
                false
            }
            Act::Hold => {
                stream.read_u8().await.unwrap_or_default();
                false
            }
        };
        if !open {
            return;
        }
    }
    stream.shutdown().await.unwrap_or_default();
}

pub(super) async fn read_request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |digits| digits.parse().unwrap()) {
                return Some(text);
            }
        }
        bytes.push(stream.read_u8().await.ok()?);
    }
}
