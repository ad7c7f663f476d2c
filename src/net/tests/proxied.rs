//! A CONNECT proxy on loopback, honest or not, and what goes through it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bursar_policy::{Refusal, Rules, Setting};
use rustls::version::TLS13;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::authority::{Authority, SecureSeller};
use super::kept::Step::{Read, Say};
use super::kept::{KEEPS, bare, leg, paid};
use super::kept_secure::{connections, keeper};
use super::secrets::secret;
use super::{NAME, QUICK, Scripted, get, rules, vetted};
use crate::net::{Ask, Exchange, FaultCode, Limits, PinFault, Tls, pin};

const EMPTY: &str = "HTTP/1.1 402 Pay\r\nContent-Length: 0\r\n\r\n";

/// A proxy that notes what it is asked for.
struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Says `answer` to each ask. After a 2xx it carries bytes to where it was asked to, or to `elsewhere`.
    async fn saying(answer: &'static str, elsewhere: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let to = head.split(' ').nth(1).unwrap().to_owned();
                noted.lock().unwrap().push(head);
                client.write_all(answer.as_bytes()).await.unwrap();
                if answer.contains(" 200") {
                    let to = elsewhere.map_or(to, |port| format!("127.0.0.1:{port}"));
                    let mut seller = TcpStream::connect(to).await.unwrap();
                    tokio::spawn(async move { copy_bidirectional(&mut client, &mut seller).await });
                } else if answer.is_empty() {
                    client.read_u8().await.unwrap_or_default();
                }
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn through(port: u16) -> Rules {
    let asset = "eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e";
    let more =
        format!("[network]\nproxy = \"http://127.0.0.1:{port}\"\n[sandbox]\nhosts = {{ \"{NAME}\" = \"127.0.0.1\" }}");
    rules("eip155:84532", asset, &more, Setting::Sandbox)
}

async fn to(proxy: u16, seller: u16, tls: &Tls) -> Exchange {
    let rules = through(proxy);
    let site = vetted(&rules, &format!("https://{NAME}:{seller}/v1/data"));
    Exchange::open(pin(site, &Scripted::never(), &rules).await.unwrap(), tls)
}

#[tokio::test]
async fn both_legs_go_through_the_proxy_to_the_judged_address_with_the_name_inside_tls() {
    let authority = Authority::new();
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[&TLS13]);
    let seller = SecureSeller::saying(acceptor, EMPTY).await;
    let proxy = Proxy::saying("HTTP/1.1 200 Connection established\r\nVia: corp\r\n\r\n", None).await;
    let exchange = to(proxy.port, seller.port, &authority.trusted()).await;
    assert_eq!(get(&exchange, &QUICK).await.unwrap().status(), 402);
    let paid = Ask::new(bursar_policy::Method::Get).with_header("X-PAYMENT", "c2ln").unwrap();
    assert_eq!(exchange.send(&paid, &QUICK).await.unwrap().status(), 402);

    let address = format!("127.0.0.1:{}", seller.port);
    let asked = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    assert_eq!(proxy.asked(), [asked.clone(), asked], "an address, and neither name nor payment");
    assert_eq!(seller.names(), [Some(NAME.to_owned()), Some(NAME.to_owned())]);
    assert_eq!(seller.hosts(), vec![format!("{NAME}:{}", seller.port); 2]);
}

#[tokio::test]
async fn one_tunnel_carries_both_legs_where_the_seller_keeps_it() {
    let authority = Authority::new();
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[&TLS13]);
    let (port, heard, _) = keeper(acceptor, &[&[Read, Say(KEEPS), Read, Say(KEEPS)]]).await;
    let proxy = Proxy::saying("HTTP/1.1 200 Connection established\r\n\r\n", None).await;
    let exchange = to(proxy.port, port, &authority.trusted()).await;
    assert_eq!((leg(&exchange, &bare()).await, leg(&exchange, &paid()).await), (Ok(402), Ok(402)));
    assert_eq!((connections(&heard), proxy.asked().len()), (vec![0, 0], 1));
}

#[tokio::test]
async fn credentials_go_into_the_connect_alone_and_the_seller_sees_none() {
    let authority = Authority::new();
    let acceptor = authority.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[&TLS13]);
    let seller = SecureSeller::saying(acceptor, EMPTY).await;
    let proxy = Proxy::saying("HTTP/1.1 200 OK\r\n\r\n", None).await;
    let exchange = to(proxy.port, seller.port, &authority.trusted()).await;
    let exchange = exchange.with_proxy_credentials(Some(secret("Aladdin:open-sesame")));
    assert_eq!(get(&exchange, &QUICK).await.unwrap().status(), 402);
    let address = format!("127.0.0.1:{}", seller.port);
    // RFC 7617 section 2, with another password.
    let basic = "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuLXNlc2FtZQ==";
    assert_eq!(proxy.asked(), [format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n{basic}\r\n\r\n")]);
    assert!(!seller.heard().contains("QWxhZGRpb") && !seller.heard().contains("sesame"));
    assert!(!format!("{exchange:?}").contains("sesame"));

    let stern = Proxy::saying("HTTP/1.1 407 No\r\n\r\n", None).await;
    let exchange = to(stern.port, seller.port, &authority.trusted()).await;
    let fault = get(&exchange.with_proxy_credentials(Some(secret("Aladdin:wrong-words"))), &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::ProxyAuth, false));
    assert!(!fault.to_string().contains("wrong"), "{fault}");
}

#[tokio::test]
async fn a_proxy_that_does_not_connect_is_told_apart_and_the_seller_hears_nothing() {
    let long: &'static str = Box::leak(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(9000)).into_boxed_str());
    for (answer, code) in [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", FaultCode::ProxyRefused),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", FaultCode::ProxyRefused),
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", FaultCode::ProxyAuth),
        ("SSH-2.0-OpenSSH\r\n\r\n", FaultCode::ProxyFailed),
        ("HTTP/1.1 100 ", FaultCode::ProxyFailed),
        (long, FaultCode::ProxyFailed),
        ("", FaultCode::TimeoutConnect),
    ] {
        let proxy = Proxy::saying(answer, None).await;
        let limits = if answer.is_empty() { Limits { connect: Duration::from_millis(150), ..QUICK } } else { QUICK };
        let fault = get(&to(proxy.port, 9, &Tls::public().unwrap()).await, &limits).await.unwrap_err();
        assert_eq!((fault.code(), fault.may_have_been_sent()), (code, false), "{answer:.40}: {fault}");
    }
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let fault = get(&to(gone, 9, &Tls::public().unwrap()).await, &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::ProxyFailed, false));
}

#[tokio::test]
async fn a_proxy_that_leads_elsewhere_is_stopped_by_tls_unless_its_authority_is_trusted() {
    let (honest, corporate) = (Authority::new(), Authority::named("a corporation"));
    let between = SecureSeller::saying(corporate.vouch(NAME, 2020, 2100).acceptor("http/1.1", &[&TLS13]), EMPTY).await;
    let proxy = Proxy::saying("HTTP/1.1 200 OK\r\n\r\n", Some(between.port)).await;
    let fault = get(&to(proxy.port, 9, &honest.trusted()).await, &QUICK).await.unwrap_err();
    assert_eq!((fault.code(), fault.may_have_been_sent()), (FaultCode::TlsUntrusted, false));
    assert_eq!(between.requests(), 0);
    assert_eq!(get(&to(proxy.port, 9, &corporate.trusted()).await, &QUICK).await.unwrap().status(), 402);
}

#[tokio::test]
async fn a_proxy_may_be_private_and_a_seller_behind_it_may_not() {
    let usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    let of = |proxy: &str| rules("eip155:8453", usdc, &format!("[network]\nproxy = \"{proxy}\""), Setting::Real);
    let named = of("http://proxy.corp.example:3128");
    let resolver = Scripted::new(&[&["93.184.216.34"], &["10.0.0.9"]]);
    let found = pin(vetted(&named, "https://api.merchant.test/"), &resolver, &named).await.unwrap();
    assert_eq!(resolver.asked(), 2, "the seller and the proxy, each once");
    assert_eq!(found.addresses(), ["93.184.216.34:443".parse().unwrap()]);

    let literal = of("http://10.0.0.9:3128");
    let private = Scripted::new(&[&["10.0.0.5"]]);
    let fault = pin(vetted(&literal, "https://api.merchant.test/"), &private, &literal).await.unwrap_err();
    assert!(matches!(fault, PinFault::Refused(Refusal::AddressNotPublic { .. })), "{fault:?}");

    let nowhere = Scripted::new(&[&["93.184.216.34"], &[]]);
    let fault = pin(vetted(&named, "https://api.merchant.test/"), &nowhere, &named).await.unwrap_err();
    assert!(matches!(&fault, PinFault::Lookup(fault) if fault.code() == FaultCode::ProxyFailed), "{fault:?}");
}
