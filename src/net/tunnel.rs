//! Through the operator's proxy to one judged address (CONNECT, RFC 9110 section 9.3.6); the name stays inside TLS.
//! Credentials for the proxy (Basic, RFC 7617) go into the CONNECT and nowhere else.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_vault::protocol::SecretValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use zeroize::Zeroizing;

use super::dial;

/// The most bytes of a proxy's answer.
const ANSWER_BYTES_MAX: usize = 8 * 1024;

/// Why there is no tunnel. The seller has heard nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum TunnelFault {
    /// The proxy cannot be reached.
    Unreachable,
    /// It wants to know who asks (407).
    WantsCredentials,
    /// It answered with another status.
    Refused(u16),
    /// What it answered is not HTTP, or too much.
    Unreadable,
}

/// A tunnel through one of `proxies` to the first of `addresses` that the proxy reaches.
///
/// # Errors
///
/// What the last address met.
pub(super) async fn tunnel(
    proxies: &[SocketAddr],
    addresses: &[SocketAddr],
    credentials: Option<&SecretValue>,
) -> Result<(TcpStream, SocketAddr), TunnelFault> {
    let mut met = TunnelFault::Unreachable;
    for address in dial::in_turn(addresses) {
        match connect(proxies, address, credentials).await {
            Ok(stream) => return Ok((stream, address)),
            Err(fault @ TunnelFault::Refused(_)) => met = fault,
            Err(fault) => return Err(fault),
        }
    }
    Err(met)
}

async fn connect(
    proxies: &[SocketAddr],
    address: SocketAddr,
    credentials: Option<&SecretValue>,
) -> Result<TcpStream, TunnelFault> {
    let (mut stream, _) = dial::race(proxies, dial::connect).await.map_err(|_| TunnelFault::Unreachable)?;
    let ask = Zeroizing::new(match credentials {
        None => format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\n"),
        Some(credentials) => {
            let basic = Zeroizing::new(STANDARD.encode(credentials.expose()));
            format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\nProxy-Authorization: Basic {}\r\n\r\n", *basic)
        }
    });
    stream.write_all(ask.as_bytes()).await.map_err(|_| TunnelFault::Unreachable)?;
    match status_of(&answer(&mut stream).await?) {
        Some(200..=299) => Ok(stream),
        Some(407) => Err(TunnelFault::WantsCredentials),
        Some(status) => Err(TunnelFault::Refused(status)),
        None => Err(TunnelFault::Unreadable),
    }
}

/// The head of the proxy's answer. Not a byte behind it is taken: that would be the seller's.
async fn answer(stream: &mut TcpStream) -> Result<Vec<u8>, TunnelFault> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == ANSWER_BYTES_MAX {
            return Err(TunnelFault::Unreadable);
        }
        head.push(stream.read_u8().await.map_err(|_| TunnelFault::Unreadable)?);
    }
    Ok(head)
}

/// The status in a head that begins as HTTP/1 does.
fn status_of(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let (version, rest) = core::str::from_utf8(line).ok()?.split_once(' ')?;
    let digits = rest.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let ends = rest.get(3..).is_some_and(|reason| reason.is_empty() || reason.starts_with(' '));
    (matches!(version, "HTTP/1.0" | "HTTP/1.1") && ends).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::status_of;

    #[test]
    fn a_status_is_three_digits_behind_a_version() {
        for (head, status) in [
            ("HTTP/1.1 200 OK\r\n\r\n", Some(200)),
            ("HTTP/1.0 200 Connection established\r\n\r\n", Some(200)),
            ("HTTP/1.1 407\r\n\r\n", Some(407)),
            ("HTTP/1.1 2000\r\n\r\n", None),
            ("HTTP/1.1 20\r\n\r\n", None),
            ("HTTP/2 200 OK\r\n\r\n", None),
            ("SSH-2.0-OpenSSH\r\n\r\n", None),
            ("\r\n\r\n", None),
        ] {
            assert_eq!(status_of(head.as_bytes()), status, "{head:?}");
        }
    }
}
