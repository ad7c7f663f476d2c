//! From judged addresses to one TCP connection: in turn with a short stagger, and never to any other address.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long one address is waited for before the next is tried beside it (RFC 8305 section 5).
const STAGGER: Duration = Duration::from_millis(250);

/// Connects to the first of `addresses` that accepts.
///
/// The families take turns (RFC 8305 section 4), so that a broken IPv6 does not cost the whole deadline. A failure
/// brings the next address at once, silence after a stagger. Every other attempt ends with the winner.
///
/// # Errors
///
/// What the last attempt that failed met.
pub(super) async fn race<S, F, D>(addresses: &[SocketAddr], dial: D) -> io::Result<(S, SocketAddr)>
where
    S: Send + 'static,
    F: Future<Output = io::Result<S>> + Send + 'static,
    D: Fn(SocketAddr) -> F,
{
    let mut waiting = in_turn(addresses);
    let mut running = JoinSet::new();
    let mut met = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if let Some(address) = waiting.pop_front() {
            let attempt = dial(address);
            running.spawn(async move { attempt.await.map(|stream| (stream, address)) });
        }
        let ended = if waiting.is_empty() {
            running.join_next().await
        } else {
            match timeout(STAGGER, running.join_next()).await {
                Ok(ended) => ended,
                Err(_) => continue,
            }
        };
        match ended {
            Some(Ok(Ok(won))) => return Ok(won),
            Some(Ok(Err(fault))) => met = fault,
            Some(Err(_)) => met = io::Error::other("an attempt to connect was given up"),
            None => return Err(met),
        }
    }
}

/// One TCP connection. Small pieces are not held back: a request is written at once.
///
/// # Errors
///
/// What the system met.
pub(super) async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The addresses with their families taking turns, the first one's family first, each family in its own order.
pub(super) fn in_turn(addresses: &[SocketAddr]) -> VecDeque<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let of = |v6: bool| addresses.iter().copied().filter(move |address| address.is_ipv6() == v6);
    let (mut ones, mut others) = (of(first_is_v6), of(!first_is_v6));
    let mut turns = VecDeque::with_capacity(addresses.len());
    loop {
        match (ones.next(), others.next()) {
            (None, None) => return turns,
            (one, other) => turns.extend(one.into_iter().chain(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// Who was dialled, in order, and who won; `how` says what becomes of each attempt.
    async fn raced(texts: &[&str], how: fn(u16) -> Option<io::Result<()>>) -> (Vec<u16>, io::Result<u16>) {
        let dialled = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&dialled);
        let ended = race(&addresses(texts), move |address| {
            noted.lock().unwrap().push(address.port());
            async move {
                match how(address.port()) {
                    Some(ended) => ended,
                    None => std::future::pending().await,
                }
            }
        })
        .await;
        let order = dialled.lock().unwrap().clone();
        (order, ended.map(|((), address)| address.port()))
    }

    #[test]
    fn the_families_take_turns() {
        let mixed = addresses(&["[::1]:1", "[::2]:2", "[::3]:3", "1.1.1.1:4", "1.1.1.1:5"]);
        let ports: Vec<u16> = in_turn(&mixed).iter().map(SocketAddr::port).collect();
        assert_eq!(ports, [1, 4, 2, 5, 3]);
        assert!(in_turn(&[]).is_empty());
    }

    #[tokio::test]
    async fn the_first_that_accepts_wins_and_nobody_else_is_dialled() {
        let (order, won) = raced(&["1.1.1.1:1", "1.1.1.2:2"], |_| Some(Ok(()))).await;
        assert_eq!((order, won.unwrap()), (vec![1], 1));
    }

    #[tokio::test]
    async fn a_refusal_brings_the_next_one_and_the_last_one_is_told() {
        let (order, won) = raced(&["1.1.1.1:1", "1.1.1.2:2"], |port| match port {
            1 => Some(Err(io::ErrorKind::ConnectionRefused.into())),
            _ => Some(Ok(())),
        })
        .await;
        assert_eq!((order, won.unwrap()), (vec![1, 2], 2));
        let (order, none) = raced(&["1.1.1.1:1", "1.1.1.2:2"], |port| {
            let kind = if port == 1 { io::ErrorKind::HostUnreachable } else { io::ErrorKind::ConnectionRefused };
            Some(Err(kind.into()))
        })
        .await;
        assert_eq!((order, none.unwrap_err().kind()), (vec![1, 2], io::ErrorKind::ConnectionRefused));
    }

    #[tokio::test]
    async fn silence_brings_the_next_one_after_a_stagger() {
        let started = tokio::time::Instant::now();
        let (order, won) = raced(&["[::1]:1", "1.1.1.1:2"], |port| (port == 2).then_some(Ok(()))).await;
        assert_eq!((order, won.unwrap()), (vec![1, 2], 2));
        assert!(started.elapsed() >= STAGGER);
    }
}
