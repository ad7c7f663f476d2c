//! Secrets on the wire: to their seller on every leg, and out of everything that it answers.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_policy::Method;
use bursar_vault::protocol::{ReleasedHeader, SecretValue};
use flate2::Compression;
use flate2::write::GzEncoder;
use zeroize::Zeroizing;

use super::seller::{Act, Seller};
use super::{QUICK, plain};
use crate::net::{Ask, AskFault, BodyEnd, Reply};

const KEY: &str = "sk_live_0123456789";

pub(super) fn secret(text: &str) -> SecretValue {
    SecretValue::new(Zeroizing::new(text.to_owned())).unwrap()
}

fn released(header: &str) -> ReleasedHeader {
    ReleasedHeader { header: header.parse().unwrap(), secret: secret(KEY) }
}

pub(super) fn ask_with_secrets() -> Ask {
    Ask::new(Method::Get)
        .with_secrets(&[released("authorization: Bearer {shop}"), released("x-api-key: {shop}")])
        .unwrap()
}

async fn answered(acts: &[Act]) -> (Reply, Seller) {
    let seller = Seller::start(acts).await;
    let reply = plain(seller.port()).await.send(&ask_with_secrets(), &QUICK).await.unwrap();
    (reply, seller)
}

fn say(text: &str) -> Act {
    Act::Say(text.as_bytes().to_vec())
}

#[tokio::test]
async fn both_legs_carry_the_headers_of_the_rule_and_the_paid_one_its_payment_too() {
    let seller = Seller::saying("HTTP/1.1 402 Pay\r\nContent-Length: 0\r\n\r\n").await;
    let exchange = plain(seller.port()).await;
    exchange.send(&ask_with_secrets(), &QUICK).await.unwrap();
    exchange.send(&ask_with_secrets().with_header("X-PAYMENT", "c2ln").unwrap(), &QUICK).await.unwrap();
    let requests = seller.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert!(request.contains(&format!("\r\nauthorization: Bearer {KEY}\r\nx-api-key: {KEY}\r\n")), "{request}");
    }
    assert!(!requests[0].contains("x-payment") && requests[1].contains("\r\nx-payment: c2ln\r\n"));
}

#[tokio::test]
async fn an_ask_shows_no_secret_and_takes_no_header_twice() {
    let shown = format!("{:?}", ask_with_secrets());
    assert!(shown.contains("x-api-key") && !shown.contains(KEY), "{shown}");
    let twice = ask_with_secrets().with_secrets(&[released("x-api-key: {shop}")]);
    assert_eq!(twice.unwrap_err(), AskFault::Twice { name: "x-api-key".to_owned() });
    let payment = ask_with_secrets().with_header("authorization", "x");
    assert!(matches!(payment, Err(AskFault::NotAllowed { .. })), "a payment header is no way to set one");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_carries_the_secret_nowhere() {
    let elsewhere = Seller::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let to = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{}/?k={KEY}\r\nContent-Length: 0\r\n\r\n",
        elsewhere.port()
    );
    let (reply, seller) = answered(&[say(&to)]).await;
    assert_eq!((reply.status(), seller.connections(), elsewhere.connections()), (302, 1, 0));
    let location = String::from_utf8(reply.values("location").next().unwrap().to_vec()).unwrap();
    assert!(location.ends_with(&format!("/?k={}", "*".repeat(KEY.len()))), "{location}");
}

#[tokio::test]
async fn what_a_seller_echoes_comes_back_as_stars_in_headers_and_body_however_it_is_cut() {
    let encoded = STANDARD.encode(format!("a {KEY} b"));
    let percent: String = KEY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let text = format!("{KEY}, {encoded}, {percent}, {KEY}");
    let head = format!(
        "HTTP/1.1 200 {KEY}\r\nX-Echo: {KEY}\r\nPayment-Response: {encoded}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    );
    let chunk = |piece: &[u8]| [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
    for size in [1, 7, text.len()] {
        let mut acts = vec![say(&head)];
        acts.extend(text.as_bytes().chunks(size).map(|piece| Act::Say(chunk(piece))));
        acts.push(say("0\r\n\r\n"));
        let (reply, _seller) = answered(&acts).await;
        let headers = format!(
            "{:?}",
            reply.headers().iter().map(|(_, value)| String::from_utf8_lossy(value)).collect::<Vec<_>>()
        );
        assert!(!headers.contains(KEY) && !headers.contains(&encoded[4..20]), "{headers}");
        let (body, end) = reply.into_body().collect(1 << 20).await;
        let body = String::from_utf8(body).unwrap();
        assert!(end.is_whole() && body.len() == text.len(), "{body}");
        for form in [KEY, &encoded[4..20], &percent] {
            assert!(!body.contains(form), "{form} is in {body}");
        }
    }
}

#[tokio::test]
async fn what_a_seller_echoes_in_gzip_comes_back_as_stars_too() {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(format!("your key is {KEY}").as_bytes()).unwrap();
    let body = packer.finish().unwrap();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    let (reply, _seller) = answered(&[say(&head), Act::Say(body)]).await;
    let (text, end) = reply.into_body().collect(1 << 20).await;
    assert_eq!(String::from_utf8(text).unwrap(), format!("your key is {}", "*".repeat(KEY.len())));
    assert!(end.is_whole());
}

#[tokio::test]
async fn a_cap_counts_what_was_sent_and_leaves_no_beginning_of_a_secret() {
    let body = format!("0123{KEY}");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for (cap, left) in
        [(22, format!("0123{}", "*".repeat(18))), (21, format!("0123{}", "*".repeat(17))), (4, "0123".to_owned())]
    {
        let (reply, _seller) = answered(&[say(&answer)]).await;
        let (kept, end) = reply.into_body().collect(cap).await;
        assert_eq!(String::from_utf8(kept).unwrap(), left);
        assert_eq!(end == BodyEnd::OverCap, cap < 22);
    }
}

#[tokio::test]
async fn what_breaks_off_in_the_middle_of_a_secret_keeps_nothing_of_it() {
    let (reply, _seller) = answered(&[say("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nkey: sk_live_01234567")]).await;
    let (kept, end) = reply.into_body().collect(1 << 20).await;
    assert_eq!(String::from_utf8(kept).unwrap(), format!("key: {}", "*".repeat(16)));
    assert!(matches!(end, BodyEnd::Cut(_)));
}

#[tokio::test]
async fn a_fault_of_the_wire_repeats_nothing_that_the_seller_said() {
    for answer in [format!("SSH {KEY}\r\n\r\n"), format!("HTTP/1.1 200 OK\r\nContent-Length: {KEY}\r\n\r\n")] {
        let seller = Seller::saying(&answer).await;
        let fault = plain(seller.port()).await.send(&ask_with_secrets(), &QUICK).await.unwrap_err();
        assert!(!format!("{fault} {fault:?}").contains(KEY), "{fault}");
    }
}
