//! A hostile seller over plain http: floods, lies, silence and noise. Each test ends by itself.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::seller::{Act, Seller};
use super::{NAME, QUICK, get, plain};
use crate::net::{BodyEnd, FaultCode, Limits};

/// Deadlines that a test waits for: one is short, everything else as in [`QUICK`].
const SHORT: Duration = Duration::from_millis(150);
const NO_PATIENCE: Limits = Limits { first_byte: SHORT, ..QUICK };
const IMPATIENT: Limits = Limits { header: SHORT, ..QUICK };

fn say(text: &str) -> Act {
    Act::Say(text.as_bytes().to_vec())
}

async fn fault_of(acts: &[Act], limits: &Limits) -> (FaultCode, bool) {
    let seller = Seller::start(acts).await;
    let fault = get(&plain(seller.port()).await, limits).await.unwrap_err();
    assert_eq!(seller.connections(), 1, "no second try");
    assert!(fault.to_string().contains(&format!("`{NAME}:{}`", seller.port())), "{fault}");
    seller.first_done().await;
    (fault.code(), fault.may_have_been_sent())
}

#[tokio::test]
async fn nobody_listening_is_connect_refused_and_nothing_was_sent() {
    let seller = Seller::start(&[]).await;
    let exchange = plain(1).await;
    drop(seller);
    let fault = get(&exchange, &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::ConnectRefused, false));
}

/// The system has a queue for connections that nobody took yet; when it is full, the next one waits.
#[tokio::test]
async fn a_port_that_takes_nobody_is_timeout_connect() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let full = socket.listen(1).unwrap();
    let address = full.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(stream) = tokio::time::timeout(SHORT, tokio::net::TcpStream::connect(address)).await {
        queued.push(stream.unwrap());
    }
    let limits = Limits { connect: SHORT, ..QUICK };
    let fault = get(&plain(address.port()).await, &limits).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::TimeoutConnect, false));
}

#[tokio::test]
async fn silence_after_the_request_is_timeout_first_byte() {
    assert_eq!(fault_of(&[Act::Hold], &NO_PATIENCE).await, (FaultCode::TimeoutFirstByte, true));
    let total = Limits { total: SHORT, ..QUICK };
    assert_eq!(fault_of(&[Act::Hold], &total).await, (FaultCode::TimeoutTotal, true));
}

#[tokio::test]
async fn half_a_header_and_silence_is_timeout_header_whatever_the_first_byte_may_take() {
    let acts = [say("HTTP/1.1 200 OK\r\nX-Slow: "), Act::Hold];
    assert_eq!(fault_of(&acts, &IMPATIENT).await, (FaultCode::TimeoutHeader, true));
    let both = Limits { first_byte: SHORT, header: SHORT * 2, ..QUICK };
    assert_eq!(fault_of(&acts, &both).await, (FaultCode::TimeoutHeader, true));
    let total = Limits { total: SHORT, ..QUICK };
    assert_eq!(fault_of(&acts, &total).await, (FaultCode::TimeoutTotal, true));
}

/// A slow-loris seller is never silent and never done: no deadline for silence stops it.
#[tokio::test]
async fn a_trickle_without_end_is_stopped_by_the_deadline_for_the_whole() {
    let interim = Act::Repeat(b"HTTP/1.1 102 Processing\r\n\r\n".to_vec());
    let all = Limits { idle: SHORT, total: SHORT * 2, ..QUICK };
    assert_eq!(fault_of(&[interim], &all).await, (FaultCode::TimeoutTotal, true));
    let acts = [say("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"), Act::Repeat(b"x".to_vec())];
    let (_, end) = body_of(&acts, u64::MAX, &all).await;
    assert_eq!(code_of(&end), Some(FaultCode::TimeoutTotal));
}

#[tokio::test]
async fn endless_interim_answers_do_not_extend_the_header_deadline() {
    let flood = Act::Repeat(b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n".repeat(50));
    assert_eq!(fault_of(&[flood], &IMPATIENT).await, (FaultCode::TimeoutHeader, true));
}

#[tokio::test]
async fn a_header_over_any_cap_is_header_too_large() {
    let expected = (FaultCode::HeaderTooLarge, true);
    let endless = Act::Repeat(b"X-Fill: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(100));
    assert_eq!(fault_of(&[say("HTTP/1.1 402 Pay\r\n"), endless], &QUICK).await, expected, "endless lines");

    let one_line = format!("HTTP/1.1 402 Pay\r\nX-Fill: {}\r\n\r\n", "a".repeat(2_000_000));
    assert_eq!(fault_of(&[say(&one_line)], &QUICK).await, expected, "2 MB in one line");

    let many = format!("HTTP/1.1 402 Pay\r\n{}\r\n", "A: b\r\n".repeat(101));
    assert_eq!(fault_of(&[say(&many)], &QUICK).await, expected, "101 fields");

    let over = format!("HTTP/1.1 402 Pay\r\nX-Fill: {}\r\n\r\n", "a".repeat(64 * 1024));
    assert_eq!(fault_of(&[say(&over)], &QUICK).await, expected, "just over 64 KiB");
}

#[tokio::test]
async fn a_header_just_under_the_caps_is_read() {
    let fields = "A: b\r\n".repeat(98);
    let long = "a".repeat(60 * 1024);
    let text = format!("HTTP/1.1 402 Pay\r\n{fields}Payment-Required: {long}\r\nContent-Length: 0\r\n\r\n");
    let seller = Seller::saying(&text).await;
    let reply = get(&plain(seller.port()).await, &QUICK).await.unwrap();
    assert_eq!(reply.headers().len(), 100);
    assert_eq!(reply.values("payment-required").next().unwrap(), long.as_bytes());
}

#[tokio::test]
async fn noise_a_hang_up_and_an_impossible_length_are_told_apart_and_never_tried_again() {
    for (code, texts) in [
        (FaultCode::ClosedEarly, &["", "HTTP/1.1 402", "HTTP/1.1 402 Pay\r\nX: a\r\n"][..]),
        (
            FaultCode::WrongLength,
            &[
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            ],
        ),
        (
            FaultCode::BrokenAnswer,
            &[
                "hello there\r\n\r\n",
                "HTTP/1.1 200 OK\r\nbad header line\r\n\r\n",
                "HTTP/1.1 200 OK\r\nX: a\r\n folded: b\r\n\r\n",
                "HTTP/0.9 200 OK\r\n\r\n",
            ],
        ),
    ] {
        for text in texts {
            assert_eq!(fault_of(&[say(text)], &QUICK).await, (code, true), "{text:?}");
        }
    }
}

async fn body_of(acts: &[Act], cap_bytes: u64, limits: &Limits) -> (Vec<u8>, BodyEnd) {
    let seller = Seller::start(acts).await;
    let reply = get(&plain(seller.port()).await, limits).await.unwrap();
    let read = reply.into_body().collect(cap_bytes).await;
    seller.first_done().await;
    read
}

fn code_of(end: &BodyEnd) -> Option<FaultCode> {
    match end {
        BodyEnd::Cut(fault) | BodyEnd::Encoded(fault) => Some(fault.code()),
        BodyEnd::Complete | BodyEnd::OverCap => None,
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_cap_and_hung_up_on() {
    let acts = [say("HTTP/1.1 200 OK\r\n\r\n"), Act::Repeat(vec![b'x'; 4096])];
    let (bytes, end) = body_of(&acts, 10_000, &QUICK).await;
    assert_eq!((bytes.len(), end), (10_000, BodyEnd::OverCap));
}

#[tokio::test]
async fn a_declared_length_over_the_cap_still_gives_the_prefix() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n";
    let (bytes, end) = body_of(&[say(head), say(&"x".repeat(300)), Act::Hold], 256, &QUICK).await;
    assert_eq!((bytes.len(), end), (256, BodyEnd::OverCap));
}

#[tokio::test]
async fn a_body_of_exactly_the_cap_is_whole() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(body_of(&[say(text)], 5, &QUICK).await, (b"hello".to_vec(), BodyEnd::Complete));
    assert_eq!(body_of(&[say(text)], 4, &QUICK).await, (b"hell".to_vec(), BodyEnd::OverCap));
    assert_eq!(body_of(&[say(text)], 0, &QUICK).await, (Vec::new(), BodyEnd::OverCap));
}

#[tokio::test]
async fn an_early_close_is_told_from_an_end() {
    for (text, code) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello", FaultCode::ClosedEarly),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", FaultCode::ClosedEarly),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n", FaultCode::BrokenAnswer),
    ] {
        let (bytes, end) = body_of(&[say(text)], 1000, &QUICK).await;
        assert_eq!((bytes.as_slice(), code_of(&end)), (&b"hello"[..], Some(code)), "{text:?}");
    }
    let more = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more";
    assert_eq!(body_of(&[say(more)], 1000, &QUICK).await, (b"hello".to_vec(), BodyEnd::Complete));
}

#[tokio::test]
async fn a_body_that_falls_silent_ends_at_the_nearer_deadline() {
    let acts = [say("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello"), Act::Hold];
    let idle = Limits { idle: Duration::from_millis(150), ..QUICK };
    let (bytes, end) = body_of(&acts, 1000, &idle).await;
    assert_eq!((bytes.as_slice(), code_of(&end)), (&b"hello"[..], Some(FaultCode::TimeoutIdle)));

    let total = Limits { total: Duration::from_secs(1), ..QUICK };
    let (bytes, end) = body_of(&acts, 1000, &total).await;
    assert_eq!((bytes.as_slice(), code_of(&end)), (&b"hello"[..], Some(FaultCode::TimeoutTotal)));
}

#[tokio::test]
async fn a_body_in_a_coding_that_is_not_known_is_not_read_but_its_headers_are() {
    for coding in [
        "Content-Encoding: gzip, gzip",
        "Content-Encoding: gzip\r\nContent-Encoding: gzip",
        "Content-Encoding: identity\r\nContent-Encoding: br",
        "Transfer-Encoding: gzip, chunked",
    ] {
        let text = format!("HTTP/1.1 200 OK\r\n{coding}\r\nPayment-Response: x\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        let seller = Seller::saying(&text).await;
        let reply = get(&plain(seller.port()).await, &QUICK).await.unwrap();
        assert_eq!(reply.values("payment-response").count(), 1);
        let (bytes, end) = reply.into_body().collect(1000).await;
        assert_eq!((bytes.len(), code_of(&end)), (0, Some(FaultCode::BodyEncoding)), "{coding}");
    }
    let plainly = "HTTP/1.1 200 OK\r\nContent-Encoding: Identity\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(body_of(&[say(plainly)], 1000, &QUICK).await, (b"hello".to_vec(), BodyEnd::Complete));
}

/// An answer of `length` bytes in gzip.
fn in_gzip(length: usize, body: &[u8]) -> [Act; 2] {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    [say(&head), Act::Say(body.to_vec())]
}

#[tokio::test]
async fn a_body_in_gzip_is_unpacked_once_and_a_bomb_is_cut_at_the_cap() {
    let packed = |bytes: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    };
    let hello = packed(b"hello");
    assert_eq!(body_of(&in_gzip(hello.len(), &hello), 5, &QUICK).await, (b"hello".to_vec(), BodyEnd::Complete));
    // What comes out is handed on, packed again or not.
    let twice = packed(&hello);
    assert_eq!(body_of(&in_gzip(twice.len(), &twice), 1000, &QUICK).await, (hello.clone(), BodyEnd::Complete));

    let bomb = packed(&vec![0; 64 << 20]);
    let (bytes, end) = body_of(&in_gzip(bomb.len(), &bomb), 1000, &QUICK).await;
    assert_eq!((bytes.len(), end), (1000, BodyEnd::OverCap));

    let short = &hello[..hello.len() - 4];
    let (_, end) = body_of(&in_gzip(short.len(), short), 1000, &QUICK).await;
    assert_eq!(code_of(&end), Some(FaultCode::BodyEncoding), "it has no end of its own");
    let (_, end) = body_of(&in_gzip(hello.len(), short), 1000, &QUICK).await;
    assert!(!end.is_whole(), "it is shorter than was declared");
    assert_eq!(body_of(&in_gzip(0, b""), 1000, &QUICK).await, (Vec::new(), BodyEnd::Complete));
}

#[tokio::test]
async fn a_sink_that_fails_ends_the_reading_with_its_own_fault() {
    let acts = [say("HTTP/1.1 200 OK\r\n\r\n"), Act::Repeat(vec![b'x'; 4096])];
    let seller = Seller::start(&acts).await;
    let reply = get(&plain(seller.port()).await, &QUICK).await.unwrap();
    assert_eq!(reply.into_body().read_into(u64::MAX, |_| Err("disk full")).await, Err("disk full"));
    seller.first_done().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_bytes_a_seller_sends_the_exchange_ends_without_a_panic(
        start in prop_oneof![Just(""), Just("HTTP/1.1 "), Just("HTTP/1.1 200 OK\r\n"), Just("HTTP/1.1 402 P\r\n\r\n")],
        noise in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let seller = Seller::start(&[say(start), Act::Say(noise)]).await;
            if let Ok(reply) = get(&plain(seller.port()).await, &QUICK).await {
                let (bytes, _) = reply.into_body().collect(300).await;
                assert!(bytes.len() <= 300);
            }
            assert_eq!(seller.connections(), 1);
        });
    }
}
