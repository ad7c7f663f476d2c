//! The same over TLS and HTTP/2, with secrets and through a proxy.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;

use super::authority::Authority;
use super::kept::Step::{Close, Read, Say};
use super::kept::{KEEPS, Step, bare, leg, paid, play};
use super::secrets::ask_with_secrets;
use super::{NAME, QUICK, pinned, sandbox};
use crate::net::{Exchange, FaultCode};

pub(super) type Heard = Arc<Mutex<Vec<(usize, String)>>>;

/// A seller that accepts TLS and plays a script of its own on each connection, the last one for ever.
pub(super) async fn keeper(
    acceptor: TlsAcceptor,
    scripts: &'static [&'static [Step]],
) -> (u16, Heard, watch::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (count, played) = watch::channel(0);
    let heard = Heard::default();
    let (seen, count) = (Arc::clone(&heard), Arc::new(count));
    tokio::spawn(async move {
        for connection in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            let stream = acceptor.accept(stream).await.unwrap();
            let script = scripts.get(connection).or(scripts.last()).unwrap();
            tokio::spawn(play(stream, connection, script, Arc::clone(&seen), Arc::clone(&count)));
        }
    });
    (port, heard, played)
}

async fn to(port: u16, authority: &Authority) -> Exchange {
    let pin = pinned(&sandbox("127.0.0.1"), &format!("https://{NAME}:{port}/v1/data")).await;
    Exchange::open(pin, &authority.trusted())
}

pub(super) fn connections(heard: &Heard) -> Vec<usize> {
    heard.lock().unwrap().iter().map(|(connection, _)| *connection).collect()
}

#[tokio::test]
async fn both_legs_share_a_connection_over_tls_and_carry_their_secrets() {
    for version in [&TLS12, &TLS13] {
        let authority = Authority::new();
        let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[version]);
        let (port, heard, _) = keeper(acceptor, &[&[Read, Say(KEEPS), Read, Say(KEEPS)]]).await;
        let exchange = to(port, &authority).await;
        assert_eq!(leg(&exchange, &ask_with_secrets()).await, Ok(402));
        let paid = ask_with_secrets().with_header("X-PAYMENT", "c2ln").unwrap();
        assert_eq!(leg(&exchange, &paid).await, Ok(402));
        assert_eq!(connections(&heard), [0, 0]);
        let heard = heard.lock().unwrap();
        assert!(heard.iter().all(|(_, request)| request.contains("\r\nauthorization: Bearer sk_live_")), "{heard:?}");
        assert!(!heard[0].1.contains("x-payment") && heard[1].1.contains("\r\nx-payment: c2ln\r\n"), "{heard:?}");
    }
}

#[tokio::test]
async fn a_seller_that_ends_tls_or_says_more_than_was_asked_gets_no_payment_over_that_connection() {
    let scripts: [&'static [&'static [Step]]; 4] = [
        &[&[Read, Say(KEEPS), Step::HalfClose], &[Read, Say(KEEPS)]],
        &[&[Read, Say(KEEPS), Close], &[Read, Say(KEEPS)]],
        &[&[Read, Say(KEEPS), Say("HTTP/1.1 200 OK\r\n\r\n")], &[Read, Say(KEEPS)]],
        &[&[Read, Say("HTTP/1.1 402 Pay\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")], &[Read, Say(KEEPS)]],
    ];
    for script in scripts {
        let authority = Authority::new();
        let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[&TLS13]);
        let (port, heard, mut played) = keeper(acceptor, script).await;
        let exchange = to(port, &authority).await;
        assert_eq!(leg(&exchange, &bare()).await, Ok(402));
        played.wait_for(|played| script[0].len() <= *played).await.unwrap();
        assert_eq!(leg(&exchange, &paid()).await, Ok(402));
        assert_eq!(connections(&heard), [0, 1]);
    }
}

/// An HTTP/2 seller that counts its connections.
async fn multiplexed(authority: &Authority) -> (u16, Arc<AtomicUsize>) {
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("h2", &[&TLS13]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let met = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            met.fetch_add(1, Ordering::SeqCst);
            let stream = acceptor.accept(stream).await.unwrap();
            let service = service_fn(|_: hyper::Request<Incoming>| async {
                Ok::<_, Infallible>(Response::builder().status(402).body(Full::new(Bytes::from("terms"))).unwrap())
            });
            let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
        }
    });
    (port, connections)
}

#[tokio::test]
async fn both_legs_share_a_connection_over_http_2_and_a_third_request_never_does() {
    let authority = Authority::new();
    let (port, connections) = multiplexed(&authority).await;
    let exchange = to(port, &authority).await;
    assert_eq!(leg(&exchange, &bare()).await, Ok(402));
    assert_eq!(leg(&exchange, &paid()).await, Ok(402));
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    assert_eq!(leg(&exchange, &paid()).await, Ok(402));
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

/// Frames (RFC 9113 4.1): a seller that answers the first request with `402` and then says `last`, without hanging up.
async fn answering_then(authority: &Authority, last: &'static [u8]) -> (u16, watch::Receiver<Vec<usize>>, Arc<Notify>) {
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("h2", &[&TLS13]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (seen, heard) = watch::channel(Vec::new());
    let said = Arc::new(Notify::new());
    let saying = Arc::clone(&said);
    let seen = Arc::new(seen);
    tokio::spawn(async move {
        for connection in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let (seen, said) = (Arc::clone(&seen), Arc::clone(&saying));
            tokio::spawn(async move {
                stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
                stream.read_exact(&mut [0; 24]).await.unwrap();
                let mut head = [0; 9];
                while stream.read_exact(&mut head).await.is_ok() {
                    let length = usize::from(u16::from_be_bytes([head[1], head[2]]));
                    stream.read_exact(&mut vec![0; length]).await.unwrap();
                    // HEADERS: answered by HEADERS that end the stream, `:status` written out (RFC 7541 6.2.2).
                    if head[3] == 1 {
                        seen.send_modify(|seen| seen.push(connection));
                        let stream_id = head[8];
                        let answer = [0, 0, 5, 1, 5, 0, 0, 0, stream_id, 8, 3, b'4', b'0', b'2'];
                        stream.write_all(&answer).await.unwrap();
                        stream.flush().await.unwrap();
                        if connection == 0 {
                            stream.write_all(last).await.unwrap();
                            stream.flush().await.unwrap();
                            said.notify_one();
                        }
                    }
                }
            });
        }
    });
    (port, heard, said)
}

#[tokio::test]
async fn a_goodbye_over_http_2_sends_the_payment_over_a_new_connection() {
    // GOAWAY with the first stream as the last one, without an error and with one; and in the orderly way, which names
    // the highest stream there is first (RFC 9113 6.8).
    let goodbyes: [&'static [u8]; 3] = [
        &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
        &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 11],
        &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0],
    ];
    for goodbye in goodbyes {
        let authority = Authority::new();
        let (port, heard, said) = answering_then(&authority, goodbye).await;
        let exchange = to(port, &authority).await;
        assert_eq!(leg(&exchange, &bare()).await, Ok(402));
        said.notified().await;
        assert_eq!(leg(&exchange, &paid()).await, Ok(402));
        assert_eq!(*heard.borrow(), [0, 1], "{goodbye:?}");
    }

    let authority = Authority::new();
    let (port, heard, said) = answering_then(&authority, &[]).await;
    let exchange = to(port, &authority).await;
    assert_eq!(leg(&exchange, &bare()).await, Ok(402));
    said.notified().await;
    assert_eq!(leg(&exchange, &paid()).await, Ok(402));
    assert_eq!(*heard.borrow(), [0, 0], "the same seller without a goodbye keeps it");
}

#[tokio::test]
async fn a_seller_that_hangs_up_over_tls_as_the_payment_comes_is_silent() {
    let authority = Authority::new();
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[&TLS13]);
    let (port, heard, _) = keeper(acceptor, &[&[Read, Say(KEEPS), Read, Close], &[Read, Say(KEEPS)]]).await;
    let exchange = to(port, &authority).await;
    assert_eq!(leg(&exchange, &bare()).await, Ok(402));
    let fault = exchange.send(&paid(), &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::ClosedEarly, true));
    assert_eq!(leg(&exchange, &paid()).await, Ok(402));
    assert_eq!(connections(&heard), [0, 0, 1]);
}
