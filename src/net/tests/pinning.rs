//! Which addresses get a pin, how often a resolver is asked, and that only a pinned address is dialled.

use std::net::SocketAddr;
use std::process::Command;

use bursar_policy::{Method, Refusal};
use tokio::net::TcpListener;

use super::seller::{Act, Seller};
use super::{NAME, QUICK, Scripted, get, pinned, plain, real, sandbox, vetted, visit, with_lists};
use crate::net::{Ask, Exchange, Ground, LookupFault, PinFault, Resolver, Tls, pin};

async fn fault_of(url: &str, resolver: &Scripted) -> PinFault {
    let rules = real();
    pin(vetted(&rules, url), resolver, &rules).await.unwrap_err()
}

/// The address that was refused.
fn refused(fault: &PinFault) -> Option<&str> {
    match fault {
        PinFault::Refused(Refusal::AddressNotPublic { address, .. }) => Some(address),
        PinFault::Refused(_) | PinFault::Lookup(_) => None,
    }
}

#[tokio::test]
async fn a_literal_that_is_not_public_is_refused_before_any_resolver_is_asked() {
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "0",
        "10.0.0.1",
        "169.254.169.254",
        "192.0.0.192",
        "198.18.0.1",
        "240.0.0.1",
        "168.63.129.16",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:0:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::1]",
        "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
        "[fec0::1]",
        "[fd00:ec2::254]",
        "[3fff::1]",
        "[5f00::1]",
        "127\u{3002}0\u{3002}0\u{3002}1",
    ] {
        let url = format!("https://{host}/");
        let at_the_gate = visit(&real(), &url).unwrap_err();
        assert!(matches!(at_the_gate[..], [Refusal::AddressNotPublic { .. }]), "{host}: {at_the_gate:?}");
        // The gate of a sandbox lets loopback literals pass. A pin under real rules stops them by itself.
        if let Ok(vetted) = visit(&sandbox("127.0.0.1"), &url) {
            let resolver = Scripted::never();
            let fault = pin(vetted, &resolver, &real()).await.unwrap_err();
            assert!(refused(&fault).is_some(), "{host}: {fault:?}");
            assert_eq!(resolver.asked(), 0);
        }
    }
}

#[tokio::test]
async fn one_bad_answer_refuses_all_and_the_good_ones_pass_together() {
    for bad in ["10.0.0.5", "127.0.0.1", "::1", "fd00::1", "::ffff:169.254.169.254", "64:ff9b::a00:1", "100.64.0.1"] {
        for answers in [&["93.184.216.34", bad][..], &[bad, "93.184.216.34"], &[bad]] {
            let fault = fault_of("https://api.merchant.test/", &Scripted::new(&[answers])).await;
            assert_eq!(refused(&fault), Some(bad), "{answers:?}: {fault:?}");
        }
    }
    let good = ["93.184.216.34", "2001:4860:4860::8888", "93.184.216.34", "100.128.0.1", "172.32.0.1"];
    let pin = pin(vetted(&real(), "https://api.merchant.test/"), &Scripted::new(&[&good]), &real()).await.unwrap();
    assert_eq!(pin.ground(), Ground::Public);
    let dialled: Vec<_> = pin.addresses().iter().map(SocketAddr::to_string).collect();
    assert_eq!(dialled, ["93.184.216.34:443", "[2001:4860:4860::8888]:443", "100.128.0.1:443", "172.32.0.1:443"]);
}

#[tokio::test]
async fn the_operators_lists_are_held_against_every_answer() {
    for (lists, answers, bad) in [
        ("deny = [\"93.184.216.0/24\"]", &["8.8.8.8", "93.184.216.34"][..], Some("93.184.216.34")),
        ("deny = [\"93.184.216.0/24\"]", &["64:ff9b::5db8:d822"], Some("64:ff9b::5db8:d822")),
        ("deny = [\"93.184.216.0/24\"]", &["8.8.8.8", "2606:4700::1"], None),
        ("allow = [\"93.184.216.0/24\"]", &["93.184.216.34", "93.184.217.1"], Some("93.184.217.1")),
        ("allow = [\"93.184.216.0/24\"]", &["93.184.216.34", "2606:4700::1"], Some("2606:4700::1")),
        ("allow = [\"93.184.216.0/24\"]", &["93.184.216.34"], None),
    ] {
        let rules = with_lists(lists);
        let resolver = Scripted::new(&[answers]);
        let pinned = pin(vetted(&rules, "https://api.merchant.test/"), &resolver, &rules).await;
        match (pinned, bad) {
            (Ok(pin), None) => assert_eq!(pin.addresses().len(), answers.len()),
            (Err(PinFault::Refused(Refusal::AddressDenied { address, .. })), Some(bad)) => assert_eq!(address, bad),
            (other, _) => panic!("{lists} {answers:?}: {other:?}"),
        }
    }
    let rules = with_lists("allow = [\"93.184.216.0/24\"]");
    let private = Scripted::new(&[&["93.184.216.34", "10.0.0.5"]]);
    let fault = pin(vetted(&rules, "https://api.merchant.test/"), &private, &rules).await.unwrap_err();
    assert_eq!(refused(&fault), Some("10.0.0.5"), "no list allows what is not public");
}

#[tokio::test]
async fn no_answer_is_a_dns_failure_and_never_a_pass() {
    let empty = Scripted::new(&[&[]]);
    let mut slow = Scripted::never();
    slow.answers = vec![Err(LookupFault::TooSlow)];
    for resolver in [empty, slow] {
        let fault = fault_of("https://api.merchant.test/", &resolver).await;
        let PinFault::Lookup(fault) = fault else { panic!("{fault:?}") };
        assert_eq!((fault.code().as_str(), fault.may_have_been_sent()), ("dns_failure", false));
    }
}

#[tokio::test]
async fn a_name_is_asked_once_and_the_pin_keeps_the_first_answer() {
    let resolver = Scripted::new(&[&["93.184.216.34"], &["169.254.169.254"]]);
    let pin = pin(vetted(&real(), "https://api.merchant.test/"), &resolver, &real()).await.unwrap();
    assert_eq!(resolver.lookup("api.merchant.test", 443).await.unwrap()[0].to_string(), "169.254.169.254");
    assert_eq!(resolver.asked(), 2, "one by the pin, one by this test");
    assert_eq!(pin.addresses(), ["93.184.216.34:443".parse().unwrap()]);
    assert!(pin.covers("93.184.216.34:443".parse().unwrap()));
    assert!(pin.covers("[::ffff:93.184.216.34]:443".parse().unwrap()));
    assert!(!pin.covers("93.184.216.34:444".parse().unwrap()));
    assert!(!pin.covers("93.184.216.35:443".parse().unwrap()));
}

#[tokio::test]
async fn loopback_and_http_need_the_rules_of_a_sandbox() {
    let play = sandbox("127.0.0.1");
    for (url, ground) in [
        (format!("https://{NAME}/"), Ground::Loopback),
        (format!("http://{NAME}:8402/"), Ground::Loopback),
        ("http://127.0.0.1:8402/".to_owned(), Ground::Loopback),
        ("https://93.184.216.34/".to_owned(), Ground::Public),
    ] {
        assert_eq!(pinned(&play, &url).await.ground(), ground, "{url}");
    }

    // Vetted under the sandbox, pinned under real rules: the pin relies on nobody's word.
    let resolver = Scripted::new(&[&["93.184.216.34"]]);
    let plainly = vetted(&play, &format!("http://{NAME}:8402/"));
    assert_eq!(pin(plainly, &resolver, &real()).await.unwrap_err(), PinFault::Refused(Refusal::HttpsRequired));
    assert_eq!(resolver.asked(), 0);
    let literal = pin(vetted(&play, "https://127.0.0.1:8402/"), &resolver, &real()).await.unwrap_err();
    assert_eq!(refused(&literal), Some("127.0.0.1"));

    // In a sandbox too, a name that is not mapped has to be public.
    let to_loopback = Scripted::new(&[&["127.0.0.1"]]);
    let fault = pin(vetted(&play, "https://other.test/"), &to_loopback, &play).await.unwrap_err();
    assert_eq!(refused(&fault), Some("127.0.0.1"));
}

#[tokio::test]
async fn both_legs_dial_the_pinned_address_and_no_neighbour() {
    let first = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = first.local_addr().unwrap().port();
    let neighbour = TcpListener::bind(("127.0.0.2", port)).await.unwrap();
    let text = "HTTP/1.1 402 Pay\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
    let acts = [Act::Say(text.as_bytes().to_vec())];
    let (one, two) = (Seller::on(first, &acts), Seller::on(neighbour, &acts));

    let to_one = plain(port).await;
    get(&to_one, &QUICK).await.unwrap();
    let to_two = pinned(&sandbox("127.0.0.2"), &format!("http://{NAME}:{port}/")).await;
    let to_two = Exchange::open(to_two, &Tls::public().unwrap());
    get(&to_two, &QUICK).await.unwrap();
    let paid = Ask::new(Method::Get).with_header("X-PAYMENT", "c2ln").unwrap();
    to_one.send(&paid, &QUICK).await.unwrap();

    assert_eq!((one.connections(), two.connections()), (2, 1));
    assert!(one.requests()[1].contains("x-payment: c2ln"));
}

/// Two addresses of one name: the first refuses, so the second answers, and later legs go there although the first has
/// begun to listen.
#[tokio::test]
async fn the_paid_leg_goes_to_the_address_that_answered_the_first() {
    let text = "HTTP/1.1 402 Pay\r\nContent-Length: 0\r\n\r\n";
    let acts = [Act::Say(text.as_bytes().to_vec())];
    let second = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let port = second.local_addr().unwrap().port();
    let second = Seller::on(second, &acts);
    let two = pinned(&sandbox("127.0.0.1"), &format!("http://{NAME}:{port}/")).await.and("127.0.0.2".parse().unwrap());
    let exchange = Exchange::open(two, &Tls::public().unwrap());
    get(&exchange, &QUICK).await.unwrap();
    let late = Seller::on(TcpListener::bind(("127.0.0.1", port)).await.unwrap(), &acts);
    let paid = Ask::new(Method::Get).with_header("X-PAYMENT", "c2ln").unwrap();
    exchange.send(&paid, &QUICK).await.unwrap();
    assert_eq!((second.connections(), late.connections()), (2, 0));
}

#[tokio::test]
async fn a_literal_is_dialled_as_it_is() {
    let seller = Seller::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let literal = pinned(&sandbox("127.0.0.2"), &format!("http://{}/", seller.address)).await;
    get(&Exchange::open(literal, &Tls::public().unwrap()), &QUICK).await.unwrap();
    assert_eq!(seller.connections(), 1);
}

/// Run by itself and by the test below, with proxy variables set.
#[tokio::test]
async fn a_fetch_goes_straight_to_the_seller() {
    let seller = Seller::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let reply = get(&plain(seller.port()).await, &QUICK).await.unwrap();
    assert_eq!((reply.status(), seller.connections()), (200, 1));
}

#[tokio::test]
async fn proxy_variables_of_the_environment_are_ignored() {
    let proxy = Seller::saying("HTTP/1.1 500 I am the proxy\r\nContent-Length: 0\r\n\r\n").await;
    let url = format!("http://{}", proxy.address);
    let test = format!("{}::a_fetch_goes_straight_to_the_seller", module_path!().split_once("::").unwrap().1);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", &test]).env("NO_PROXY", "").env("no_proxy", "");
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, &url);
    }
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(proxy.connections(), 0);
}
