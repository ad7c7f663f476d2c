//! One text message at a time to and from a browser, over a pipe or a websocket. It must never look into one.

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{ChildStdin, ChildStdout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// The longest message that is read, in bytes. A page can make its messages long, by long addresses and headers.
pub(super) const MESSAGE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Ends each message on a pipe (`--remote-debugging-pipe`).
const END: u8 = 0;

/// The end that is written to.
#[derive(Debug)]
pub(super) enum Mouth {
    /// A child's.
    Pipe(ChildStdin),
    /// A connection's.
    Socket(SplitSink<WebSocketStream<TcpStream>, Message>),
}

/// The end that is read from.
#[derive(Debug)]
pub(super) enum Ear {
    /// A child's.
    Pipe(BufReader<ChildStdout>),
    /// A connection's.
    Socket(SplitStream<WebSocketStream<TcpStream>>),
}

impl Mouth {
    /// Sends one message; `None` when nobody listens any more.
    pub(super) async fn say(&mut self, message: &str) -> Option<()> {
        match self {
            Self::Pipe(pipe) => {
                pipe.write_all(message.as_bytes()).await.ok()?;
                pipe.write_all(&[END]).await.ok()
            }
            Self::Socket(socket) => socket.send(Message::text(message)).await.ok(),
        }
    }
}

impl Ear {
    /// Waits for one message; `None` when there will be no other one, or it is too long.
    pub(super) async fn hear(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Pipe(pipe) => {
                let mut message = Vec::new();
                let cap = u64::try_from(MESSAGE_MAX_BYTES).ok()?;
                pipe.take(cap).read_until(END, &mut message).await.ok()?;
                (message.pop() == Some(END)).then_some(message)
            }
            Self::Socket(socket) => loop {
                match socket.next().await?.ok()? {
                    Message::Text(text) => return Some(text.as_bytes().to_vec()),
                    Message::Close(_) => return None,
                    _ => {}
                }
            },
        }
    }
}
