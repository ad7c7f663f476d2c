//! A seller over HTTP/2: the same caps, the same single try.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::version::TLS13;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::authority::Authority;
use super::secrets::ask_with_secrets;
use super::{NAME, QUICK, get, pinned, sandbox};
use crate::net::{Ask, BodyEnd, Exchange, FaultCode};

type Answer = fn(Request<Incoming>) -> Response<Full<Bytes>>;

/// An HTTP/2 seller, a buyer's way to it, and the count of its connections.
async fn multiplexed(answer: Answer) -> (Exchange, Arc<AtomicUsize>) {
    let authority = Authority::new();
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("h2", &[&TLS13]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let met = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            met.fetch_add(1, Ordering::SeqCst);
            let stream = acceptor.accept(stream).await.unwrap();
            let service = service_fn(move |request| async move { Ok::<_, Infallible>(answer(request)) });
            let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
        }
    });
    let pin = pinned(&sandbox("127.0.0.1"), &format!("https://{NAME}:{port}/v1/data?q=1")).await;
    (Exchange::open(pin, &authority.trusted()), connections)
}

fn with_header(bytes: usize) -> Response<Full<Bytes>> {
    let filler = "a".repeat(bytes);
    Response::builder().status(402).header("payment-required", filler).body(Full::default()).unwrap()
}

#[tokio::test]
async fn a_large_payment_header_is_read_and_a_larger_one_is_header_too_large() {
    let (exchange, _) = multiplexed(|_| with_header(60 * 1024)).await;
    let reply = get(&exchange, &QUICK).await.unwrap();
    assert_eq!(reply.values("payment-required").next().unwrap().len(), 60 * 1024);

    let (exchange, _) = multiplexed(|_| with_header(64 * 1024)).await;
    let fault = get(&exchange, &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::HeaderTooLarge, true));

    let (exchange, _) = multiplexed(|_| {
        (0..101).fold(with_header(0), |mut response, _| {
            response.headers_mut().append("a", "b".parse().unwrap());
            response
        })
    })
    .await;
    assert_eq!(get(&exchange, &QUICK).await.unwrap_err().code(), FaultCode::HeaderTooLarge);
}

#[tokio::test]
async fn a_header_that_is_too_large_even_to_unpack_is_header_too_large() {
    let (exchange, connections) = multiplexed(|_| with_header(1024 * 1024)).await;
    let fault = get(&exchange, &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::HeaderTooLarge, true), "{fault}");
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn each_leg_has_its_own_connection_and_the_body_keeps_its_cap() {
    let (exchange, connections) = multiplexed(|request| {
        assert_eq!(request.uri().path_and_query().unwrap(), "/v1/data?q=1");
        assert!(request.headers().keys().all(|name| name != "cookie" && name != "referer"));
        Response::new(Full::from(vec![b'x'; 1_000_000]))
    })
    .await;
    for _ in 0..2 {
        let (bytes, end) = get(&exchange, &QUICK).await.unwrap().into_body().collect(300_000).await;
        assert_eq!((bytes.len(), end), (300_000, BodyEnd::OverCap));
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_post_arrives_whole() {
    let (exchange, _) = multiplexed(|request| {
        assert_eq!(request.method(), "POST");
        assert_eq!(request.headers()["content-length"], "70000");
        Response::new(Full::default())
    })
    .await;
    let ask = Ask::new(bursar_policy::Method::Post).with_body(bursar_policy::BodyType::Octet, vec![7; 70_000]).unwrap();
    assert_eq!(exchange.send(&ask, &QUICK).await.unwrap().status(), 200);
}

/// RFC 9113 8.7 lets a client repeat a request after REFUSED_STREAM. A payment is sent once all the same.
#[tokio::test]
async fn a_refused_stream_is_not_tried_again() {
    let authority = Authority::new();
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("h2", &[&TLS13]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = acceptor.accept(stream).await.unwrap();
            stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
            stream.read_exact(&mut [0; 24]).await.unwrap();
            // Frames (RFC 9113 4.1) up to the HEADERS frame of the request.
            let mut head = [0; 9];
            while head[3] != 1 {
                stream.read_exact(&mut head).await.unwrap();
                let length = usize::from(head[1]) * 256 + usize::from(head[2]);
                stream.read_exact(&mut vec![0; length]).await.unwrap();
            }
            seen.fetch_add(1, Ordering::SeqCst);
            stream.write_all(&[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7]).await.unwrap();
            stream.flush().await.unwrap();
            while stream.read_u8().await.is_ok() {}
        }
    });
    let pin = pinned(&sandbox("127.0.0.1"), &format!("https://{NAME}:{port}/")).await;
    let fault = get(&Exchange::open(pin, &authority.trusted()), &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::BrokenAnswer, true));
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_secret_goes_out_and_comes_back_as_stars_over_http_2_too() {
    let (exchange, _) = multiplexed(|request| {
        let echo = request.headers().get("authorization").unwrap().clone();
        Response::builder()
            .header("x-echo", echo.clone())
            .body(Full::new(Bytes::copy_from_slice(echo.as_bytes())))
            .unwrap()
    })
    .await;
    let reply = exchange.send(&ask_with_secrets(), &QUICK).await.unwrap();
    let stars = format!("Bearer {}", "*".repeat(18)).into_bytes();
    assert_eq!(reply.values("x-echo").next().unwrap(), stars);
    assert_eq!(reply.into_body().collect(100).await, (stars, BodyEnd::Complete));
}
