//! Joining a browser that runs already, by its debugging port. Only on this machine, and only a browser of our own user:
//! whoever answers there is handed payment headers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use bursar_vault::guarded;
use futures_util::StreamExt as _;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::{Request, Uri, header};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::client_async_with_config;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::cdp::Cdp;
use super::event::Event;
use super::line::{Ear, MESSAGE_MAX_BYTES, Mouth};
use super::neighbour;

/// How long a browser may take to let us in.
const ENTRY: Duration = Duration::from_secs(10);

/// The longest answer to the question where the browser's own websocket is.
const VERSION_MAX_BYTES: usize = 64 * 1024;

/// Where a browser listens for its debugger: an address of this machine, and perhaps the path of its websocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    address: SocketAddr,
    path: Option<String>,
}

/// Why a browser was not joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinFault {
    /// Not an address of a debugging port.
    #[error("`{0}` is no debugging address; give one such as `http://127.0.0.1:9222`")]
    NotAnAddress(String),
    /// Somewhere else.
    #[error(
        "`{0}` is not on this machine, and whoever sits at a debugging port is handed payments; use a browser on 127.0.0.1"
    )]
    NotLoopback(String),
    /// Nobody is there, or no browser.
    #[error(
        "no browser answers at `{address}`; start one with `--remote-debugging-port={}` and a `--user-data-dir` of its own",
        address.port()
    )]
    Nobody {
        /// Where.
        address: SocketAddr,
    },
    /// Somebody else's process.
    #[error(
        "the process at `{address}` does not belong to you (user {}); use a browser that you started yourself",
        found.map_or_else(|| "unknown".to_owned(), |uid| uid.to_string())
    )]
    NotOurs {
        /// Where.
        address: SocketAddr,
        /// Whose it is, as far as the kernel says.
        found: Option<u32>,
    },
}

impl FromStr for Endpoint {
    type Err = JoinFault;

    /// Reads `http://HOST:PORT` or the browser's own `ws://HOST:PORT/devtools/browser/ID`.
    fn from_str(text: &str) -> Result<Self, JoinFault> {
        let wrong = || JoinFault::NotAnAddress(text.chars().take(100).collect());
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let path = match (uri.scheme_str(), uri.path()) {
            (Some("http"), "" | "/") => None,
            (Some("ws"), path) if path.starts_with("/devtools/browser/") => Some(path.to_owned()),
            _ => return Err(wrong()),
        };
        let (Some(host), Some(port)) = (uri.host(), uri.port_u16()) else { return Err(wrong()) };
        let ip = match host.trim_start_matches('[').trim_end_matches(']') {
            "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
            host => host.parse().map_err(|_| JoinFault::NotLoopback(host.to_owned()))?,
        };
        if ip.is_loopback() {
            Ok(Self { address: SocketAddr::new(ip, port), path })
        } else {
            Err(JoinFault::NotLoopback(ip.to_string()))
        }
    }
}

impl Endpoint {
    /// Connects to the browser, once it is known to be our own user's.
    ///
    /// # Errors
    ///
    /// [`JoinFault`].
    pub async fn join(&self) -> Result<(Cdp, mpsc::UnboundedReceiver<Event>), JoinFault> {
        let nobody = || JoinFault::Nobody { address: self.address };
        let path = match &self.path {
            Some(path) => path.clone(),
            None => within(self.ask_for_path()).await.ok_or_else(nobody)?,
        };
        let stream = self.connect().await.ok_or_else(nobody)?;
        let ends = stream.peer_addr().ok().zip(stream.local_addr().ok()).ok_or_else(nobody)?;
        let config = WebSocketConfig::default().max_message_size(Some(MESSAGE_MAX_BYTES));
        let url = format!("ws://{}{path}", self.address);
        let entered = within(async { client_async_with_config(url, stream, Some(config)).await.ok() }).await;
        let (socket, _) = entered.ok_or_else(nobody)?;
        // Only now: the kernel names nobody for a connection that was made and not yet accepted.
        let found = neighbour::uid_behind(ends.0, ends.1);
        if found != Some(guarded::our_uid()) {
            return Err(JoinFault::NotOurs { address: self.address, found });
        }
        let (mouth, ear) = socket.split();
        Ok(Cdp::over(Mouth::Socket(mouth), Ear::Socket(ear)))
    }

    async fn connect(&self) -> Option<TcpStream> {
        within(async { TcpStream::connect(self.address).await.ok() }).await
    }

    /// Asks the debugging port for the path of the browser's own websocket. Its host and port are known already.
    async fn ask_for_path(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Version {
            #[serde(rename = "webSocketDebuggerUrl")]
            url: String,
        }
        let (mut sender, line) = handshake(TokioIo::new(self.connect().await?)).await.ok()?;
        let line = tokio::spawn(line);
        let request = Request::get("/json/version").header(header::HOST, self.address.to_string());
        let answer = sender.send_request(request.body(Empty::<Bytes>::new()).ok()?).await.ok()?;
        let body = Limited::new(answer.into_body(), VERSION_MAX_BYTES).collect().await.ok()?.to_bytes();
        line.abort();
        let Version { url } = serde_json::from_slice(&body).ok()?;
        let path = url.parse::<Uri>().ok()?.path().to_owned();
        path.starts_with("/devtools/browser/").then_some(path)
    }
}

async fn within<T>(work: impl Future<Output = Option<T>>) -> Option<T> {
    timeout(ENTRY, work).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_joined() {
        let read = |text: &str| text.parse::<Endpoint>();
        for (text, address) in [
            ("http://127.0.0.1:9222", "127.0.0.1:9222"),
            ("http://localhost:9222/", "127.0.0.1:9222"),
            ("http://[::1]:9222", "[::1]:9222"),
            ("ws://127.0.0.1:9222/devtools/browser/4f-0", "127.0.0.1:9222"),
        ] {
            assert_eq!(read(text).unwrap().address, address.parse().unwrap(), "{text}");
        }
        for far in ["http://192.168.1.4:9222", "http://0.0.0.0:9222", "http://a.example:9222", "http://[2001:db8::1]:1"]
        {
            assert!(matches!(read(far), Err(JoinFault::NotLoopback(_))), "{far}");
        }
        for wrong in ["", "9222", "127.0.0.1:9222", "https://127.0.0.1:9222", "http://127.0.0.1", "ws://127.0.0.1:1/x"]
        {
            assert!(matches!(read(wrong), Err(JoinFault::NotAnAddress(_))), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_port_without_a_browser_is_said_to_be_empty() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let endpoint: Endpoint = format!("http://{address}").parse().unwrap();
        let fault = endpoint.join().await.unwrap_err().to_string();
        assert!(fault.contains(&format!("--remote-debugging-port={}", address.port())), "{fault}");
    }
}
