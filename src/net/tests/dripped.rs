//! A hostile seller over HTTP/2, frame by frame: silent, busy with everything but an answer, or never done with its
//! header.

use std::time::Duration;

use rustls::version::TLS13;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::interval;
use tokio_rustls::server::TlsStream;

use super::authority::Authority;
use super::{NAME, QUICK, get, pinned, sandbox};
use crate::net::{Exchange, FaultCode, Limits};

/// A deadline that a test waits for; the header may take twice as long as the first byte.
const SHORT: Duration = Duration::from_millis(150);
const IMPATIENT: Limits = Limits { first_byte: SHORT, header: Duration::from_millis(300), ..QUICK };

/// Types of frames (RFC 9113 section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;

/// `:status: 402` in HPACK, as a literal that is not indexed (RFC 7541 section 6.2.2).
const STATUS: [u8; 5] = [0x08, 3, b'4', b'0', b'2'];

/// The first bytes of a frame on stream `stream`, with no flags.
fn head(length: u32, kind: u8, stream: u8) -> Vec<u8> {
    [&length.to_be_bytes()[1..], &[kind, 0, 0, 0, 0, stream]].concat()
}

/// What the seller does once it has the request.
#[derive(Clone)]
enum Then {
    /// These bytes, and silence.
    Say(Vec<u8>),
    /// These bytes, and then these again and again, as fast as they are taken.
    Flood(Vec<u8>, Vec<u8>),
    /// These bytes, and then these one at a time, for ever.
    Drip(Vec<u8>, Vec<u8>),
}

/// What comes of a request to a seller that does so, with `limits`.
async fn fault_of(then: Then, limits: &Limits) -> (FaultCode, bool) {
    let authority = Authority::new();
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("h2", &[&TLS13]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let over = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        read_request(&mut stream).await;
        play(&mut stream, then).await;
    });
    let pin = pinned(&sandbox("127.0.0.1"), &format!("https://{NAME}:{port}/")).await;
    let fault = get(&Exchange::open(pin, &authority.trusted()), limits).await.unwrap_err();
    // The buyer hung up on a seller that would have gone on for ever.
    over.await.unwrap();
    (fault.code(), fault.may_have_been_sent())
}

/// Says its settings, and reads frames up to the HEADERS frame of the request.
async fn read_request(stream: &mut TlsStream<TcpStream>) {
    stream.write_all(&head(0, 4, 0)).await.unwrap();
    stream.read_exact(&mut [0; 24]).await.unwrap();
    let mut frame = [0; 9];
    while frame[3] != HEADERS {
        stream.read_exact(&mut frame).await.unwrap();
        let length = usize::from(u16::from_be_bytes([frame[1], frame[2]]));
        stream.read_exact(&mut vec![0; length]).await.unwrap();
    }
}

/// Ends when the buyer has hung up.
async fn play(stream: &mut TlsStream<TcpStream>, then: Then) {
    let (Then::Say(first) | Then::Flood(first, _) | Then::Drip(first, _)) = &then;
    stream.write_all(first).await.unwrap();
    stream.flush().await.unwrap();
    match then {
        Then::Say(_) => while stream.read_u8().await.is_ok() {},
        Then::Flood(_, again) => while stream.write_all(&again).await.is_ok() {},
        Then::Drip(_, bytes) => {
            let mut tick = interval(Duration::from_millis(1));
            for byte in bytes.iter().cycle() {
                tick.tick().await;
                if stream.write_all(&[*byte]).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_seller_that_only_says_its_settings_is_timeout_first_byte() {
    assert_eq!(fault_of(Then::Say(Vec::new()), &IMPATIENT).await, (FaultCode::TimeoutFirstByte, true));
    let window = [head(4, 8, 0), vec![0, 0, 0, 1]].concat();
    let busy = Then::Drip(Vec::new(), window);
    assert_eq!(fault_of(busy, &IMPATIENT).await, (FaultCode::TimeoutFirstByte, true), "busy with everything else");
}

#[tokio::test]
async fn a_header_that_drips_is_timeout_header_whatever_the_first_byte_may_take() {
    let begun = Then::Say(head(16_000, HEADERS, 1));
    assert_eq!(fault_of(begun, &IMPATIENT).await, (FaultCode::TimeoutHeader, true), "and then silence");
    let one_frame = Then::Drip(head(16_000, HEADERS, 1), STATUS.to_vec());
    assert_eq!(fault_of(one_frame.clone(), &IMPATIENT).await, (FaultCode::TimeoutHeader, true));
    let whole = Limits { total: SHORT, ..QUICK };
    assert_eq!(fault_of(one_frame, &whole).await, (FaultCode::TimeoutTotal, true));
    // The header frame is whole, and what continues it is not.
    let first = [head(5, HEADERS, 1), STATUS.to_vec()].concat();
    let continued = Then::Drip([first, head(16_000, CONTINUATION, 1)].concat(), vec![0]);
    assert_eq!(fault_of(continued, &IMPATIENT).await, (FaultCode::TimeoutHeader, true));
}

#[tokio::test]
async fn a_header_that_is_continued_without_end_is_stopped() {
    let first = [head(5, HEADERS, 1), STATUS.to_vec()].concat();
    let empty = Then::Flood(first.clone(), head(0, CONTINUATION, 1).repeat(100));
    assert_eq!(fault_of(empty, &QUICK).await, (FaultCode::HeaderTooLarge, true));
    let filler = [head(16_000, CONTINUATION, 1), [&[0x10, 1, b'a', 1, b'b'][..]; 3_200].concat()].concat();
    let full = Then::Flood(first, filler);
    assert_eq!(fault_of(full, &QUICK).await, (FaultCode::HeaderTooLarge, true));
}

#[tokio::test]
async fn pings_and_a_body_before_its_header_are_no_answer() {
    let pings = Then::Flood(Vec::new(), [head(8, PING, 0), vec![7; 8]].concat());
    let (code, sent) = fault_of(pings, &IMPATIENT).await;
    assert!(matches!(code, FaultCode::TimeoutFirstByte | FaultCode::BrokenAnswer) && sent, "{code}");
    let early = Then::Say([head(1, DATA, 1), vec![7]].concat());
    assert_eq!(fault_of(early, &IMPATIENT).await, (FaultCode::BrokenAnswer, true));
}
