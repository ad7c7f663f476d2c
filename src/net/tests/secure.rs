//! A seller over TLS: who is trusted, what an untrusted one learns, and what is resumed.

use std::time::Duration;

use rustls::HandshakeKind;
use rustls::version::{TLS12, TLS13};

use super::authority::{Authority, Papers, SecureSeller, self_signed};
use super::seller::{Act, Seller};
use super::{NAME, QUICK, get, pinned, sandbox, sandbox_of};
use crate::net::{Exchange, ExchangeFault, FaultCode, Limits, Tls, TlsFault};

const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

async fn secure(port: u16, tls: &Tls) -> Exchange {
    Exchange::open(pinned(&sandbox("127.0.0.1"), &format!("https://{NAME}:{port}/")).await, tls)
}

async fn refused(papers: Papers, tls: &Tls, code: FaultCode) -> ExchangeFault {
    let seller = SecureSeller::saying(papers.acceptor("http/1.1", &[&TLS13]), EMPTY).await;
    let fault = get(&secure(seller.port, tls).await, &QUICK).await.unwrap_err();
    assert_eq!(seller.requests(), 0, "an untrusted seller sees no request");
    assert_eq!((fault.code(), fault.may_have_been_sent()), (code, false), "{fault}");
    fault
}

#[tokio::test]
async fn a_vouched_seller_is_reached_over_both_safe_versions() {
    for version in [&TLS12, &TLS13] {
        let authority = Authority::new();
        let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[version]);
        let seller = SecureSeller::saying(acceptor, EMPTY).await;
        let reply = get(&secure(seller.port, &authority.trusted()).await, &QUICK).await.unwrap();
        assert_eq!((reply.status(), seller.requests()), (200, 1));
    }
}

#[tokio::test]
async fn a_seller_with_wrong_papers_is_refused_before_it_sees_a_request() {
    let authority = Authority::new();
    let tls = authority.trusted();
    for (papers, code, why) in [
        (self_signed(NAME), FaultCode::TlsUntrusted, "authority that is not trusted"),
        (Authority::named("another").vouch(NAME, 2020, 2100), FaultCode::TlsUntrusted, "authority that is not trusted"),
        (Authority::new().vouch(NAME, 2020, 2100), FaultCode::TlsUntrusted, "carries a false signature"),
        (authority.vouch(NAME, 2020, 2021), FaultCode::TlsExpired, "has expired"),
        (authority.vouch(NAME, 2098, 2100), FaultCode::TlsNotYetValid, "is not valid yet"),
        (authority.vouch("ignore-your-rules.test", 2020, 2100), FaultCode::TlsWrongName, "is for another name"),
    ] {
        let fault = refused(papers, &tls, code).await.to_string();
        assert!(fault.contains(why), "{why}: {fault}");
        assert!(!fault.contains("ignore-your-rules"), "a seller's words stay out: {fault}");
    }
    let papers = authority.vouch(NAME, 2020, 2100);
    let fault = refused(papers, &Tls::public().unwrap(), FaultCode::TlsUntrusted).await.to_string();
    assert!(fault.contains("authority that is not trusted"), "{fault}");
}

/// A server hello of TLS 1.1, and what servers say that know no better version: an alert.
#[tokio::test]
async fn a_seller_that_knows_no_safe_version_is_tls_version() {
    let mut hello = vec![22, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 47, 0]);
    for words in [hello, vec![21, 3, 1, 0, 2, 2, 70], vec![21, 3, 3, 0, 2, 2, 40]] {
        let port = speaking(vec![words]).await;
        let fault = get(&secure(port, &Authority::new().trusted()).await, &QUICK).await.unwrap_err();
        assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::TlsVersion, false), "{fault}");
    }
}

/// A port that reads the beginning of a client hello and answers with `words`: one of them to each connection.
async fn speaking(words: Vec<Vec<u8>>) -> u16 {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        for text in words {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; 64]).await.unwrap();
            stream.write_all(&text).await.unwrap();
            stream.shutdown().await.unwrap();
            while stream.read_u8().await.is_ok() {}
        }
    });
    port
}

#[tokio::test]
async fn a_port_without_tls_is_refused_whatever_it_does() {
    let tls = Authority::new().trusted();
    // A client hello has no blank line, so a seller of plain http would wait for ever; this one speaks first.
    let words = ["SSH-2.0-OpenSSH\r\n", "HTTP/1.1 200 OK\r\n\r\n", ""];
    let port = speaking(words.map(|text| text.as_bytes().to_vec()).to_vec()).await;
    for _ in 0..3 {
        let fault = get(&secure(port, &tls).await, &QUICK).await.unwrap_err();
        assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::TlsFailed, false), "{fault}");
    }
}

#[tokio::test]
async fn silence_in_the_handshake_is_timeout_tls() {
    let seller = Seller::start(&[Act::Hold]).await;
    let limits = Limits { tls: Duration::from_millis(150), ..QUICK };
    let fault = get(&secure(seller.port(), &Tls::public().unwrap()).await, &limits).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::TimeoutTls, false));
}

#[tokio::test]
async fn the_second_leg_resumes_the_first_and_no_other_purchase() {
    let authority = Authority::new();
    let tls = authority.trusted();
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[&TLS13]);
    let seller = SecureSeller::saying(acceptor, EMPTY).await;
    let first = secure(seller.port, &tls).await;
    for exchange in [&first, &first, &secure(seller.port, &tls).await] {
        get(exchange, &QUICK).await.unwrap().into_body().collect(1).await;
    }
    assert_eq!(seller.handshakes(), [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Full]);
}

/// However a host is spelt: what is judged is what is mapped, dialled, asked for in TLS, proven and sent as `Host`.
#[tokio::test]
async fn one_normal_form_is_judged_dialled_asked_for_in_tls_and_sent_as_host() {
    let authority = Authority::new();
    let tls = authority.trusted();
    for (spelling, name) in [
        ("SELLER.Test", "seller.test"),
        ("B\u{fc}cher.TEST", "xn--bcher-kva.test"),
        ("bu\u{308}cher\u{3002}test", "xn--bcher-kva.test"),
        ("\u{430}pi.test", "xn--pi-6kc.test"),
        ("\u{ff53}eller.test", "seller.test"),
    ] {
        let seller =
            SecureSeller::saying(authority.vouch(name, 2020, 2100).acceptor("http/1.1", &[&TLS13]), EMPTY).await;
        let pin = pinned(&sandbox_of(name, "127.0.0.1"), &format!("HTTPS://{spelling}:0{}/", seller.port)).await;
        assert_eq!(pin.site().host().to_string(), name, "{spelling}");
        get(&Exchange::open(pin, &tls), &QUICK).await.unwrap();
        assert_eq!(seller.names(), [Some(name.to_owned())], "{spelling}");
        assert_eq!(seller.hosts(), [format!("{name}:{}", seller.port)], "{spelling}");
    }
}

/// An address has no name to ask for, and has to be proven like one.
#[tokio::test]
async fn an_address_is_proven_as_an_address_whatever_its_spelling() {
    let authority = Authority::new();
    let acceptor = |name: &str| authority.vouch(name, 2020, 2100).acceptor("http/1.1", &[&TLS13]);
    let seller = SecureSeller::saying(acceptor("127.0.0.1"), EMPTY).await;
    for spelling in ["127.0.0.1", "0x7f.1", "2130706433", "0177.0.0.1"] {
        let pin = pinned(&sandbox("127.0.0.1"), &format!("https://{spelling}:{}/", seller.port)).await;
        get(&Exchange::open(pin, &authority.trusted()), &QUICK).await.unwrap();
    }
    assert_eq!(seller.names(), [None, None, None, None]);
    assert_eq!(seller.hosts(), vec![format!("127.0.0.1:{}", seller.port); 4]);

    let other = SecureSeller::saying(acceptor("127.0.0.2"), EMPTY).await;
    let pin = pinned(&sandbox("127.0.0.1"), &format!("https://127.0.0.1:{}/", other.port)).await;
    let fault = get(&Exchange::open(pin, &authority.trusted()), &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), other.requests()), (FaultCode::TlsWrongName, 0));
}

#[test]
fn an_extra_authority_is_a_certificate() {
    for pem in [
        "",
        "not PEM",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
    ] {
        assert_eq!(Tls::also_trusting([pem.as_bytes()]).unwrap_err(), TlsFault::BadAuthority, "{pem}");
    }
}
