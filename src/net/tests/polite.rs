//! An honest seller: what goes over the wire, and what comes back.

use bursar_policy::{BodyType, Headers, Method};

use super::seller::Seller;
use super::{NAME, QUICK, get, plain};
use crate::net::{Ask, AskFault, BodyEnd};

const HELLO: &str = "HTTP/1.1 200 OK\r\nX-One: a\r\nX-Two: b\r\nx-one: c\r\nContent-Length: 5\r\n\r\nhello";

#[tokio::test]
async fn a_bare_get_says_who_we_are_and_nothing_else() {
    let seller = Seller::saying(HELLO).await;
    let reply = get(&plain(seller.port()).await, &QUICK).await.unwrap();
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.values("x-one").collect::<Vec<_>>(), [b"a", b"c"]);
    assert_eq!(reply.into_body().collect(100).await, (b"hello".to_vec(), BodyEnd::Complete));

    let port = seller.port();
    let mut lines: Vec<_> = seller.requests()[0].trim_end().lines().map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "GET /v1/data?q=1 HTTP/1.1");
    lines.sort_unstable();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        lines,
        [
            "accept-encoding: identity".to_owned(),
            "accept: */*".to_owned(),
            format!("host: {NAME}:{port}"),
            format!("user-agent: bursar/{version}"),
        ]
    );
}

#[tokio::test]
async fn both_legs_of_a_post_send_the_same_bytes_over_connections_of_their_own() {
    let seller = Seller::saying(HELLO).await;
    let exchange = plain(seller.port()).await;
    let bare = Ask::new(Method::Post).with_body(BodyType::Json, b"{\"n\": 1}".to_vec()).unwrap();
    let paid = bare.clone().with_header("PAYMENT-SIGNATURE", "c2lnbmVk").unwrap();
    exchange.send(&bare, &QUICK).await.unwrap();
    exchange.send(&paid, &QUICK).await.unwrap();

    let requests = seller.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(seller.connections(), 2);
    assert_eq!(requests[1].replace("payment-signature: c2lnbmVk\r\n", ""), requests[0]);
    assert!(requests[0].ends_with("\r\n\r\n{\"n\": 1}"), "{}", requests[0]);
    assert!(requests[0].contains("content-type: application/json\r\n"), "{}", requests[0]);
}

#[tokio::test]
async fn what_the_caller_chose_takes_the_place_of_our_own_word_and_goes_out_on_both_legs() {
    let seller = Seller::saying(HELLO).await;
    let exchange = plain(seller.port()).await;
    let mut chosen = Headers::none();
    assert!(chosen.add("accept".parse().unwrap(), "text/html".parse().unwrap()));
    assert!(chosen.add("prefer".parse().unwrap(), "respond-async".parse().unwrap()));
    let bare = Ask::new(Method::Get).with_chosen(&chosen).unwrap();
    let paid = bare.clone().with_header("X-PAYMENT", "c2ln").unwrap();
    exchange.send(&bare, &QUICK).await.unwrap();
    exchange.send(&paid, &QUICK).await.unwrap();
    for request in seller.requests() {
        let accepts = request.lines().filter(|line| line.starts_with("accept:")).collect::<Vec<_>>();
        assert_eq!(accepts, ["accept: text/html"], "{request}");
        assert!(request.contains("prefer: respond-async\r\n"), "{request}");
    }
}

#[tokio::test]
async fn a_head_has_no_body_whatever_length_is_declared() {
    let seller = Seller::saying("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n").await;
    let reply = plain(seller.port()).await.send(&Ask::new(Method::Head), &QUICK).await.unwrap();
    assert_eq!(reply.into_body().collect(100).await, (Vec::new(), BodyEnd::Complete));
    assert!(seller.requests()[0].starts_with("HEAD "));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Seller::saying(HELLO).await;
        let text = format!(
            "HTTP/1.1 {status} Go\r\nLocation: http://127.0.0.1:{}/\r\nRefresh: 0\r\nContent-Length: 0\r\n\r\n",
            elsewhere.port()
        );
        let seller = Seller::saying(&text).await;
        let reply = get(&plain(seller.port()).await, &QUICK).await.unwrap();
        assert_eq!(reply.status(), status);
        assert_eq!((seller.connections(), elsewhere.connections()), (1, 0));
    }
}

#[tokio::test]
async fn cookies_and_alternative_services_are_forgotten_between_the_legs() {
    let elsewhere = Seller::saying(HELLO).await;
    let text = format!(
        "HTTP/1.1 402 Pay\r\nSet-Cookie: a=b\r\nAlt-Svc: h2=\"127.0.0.1:{}\"\r\nContent-Length: 0\r\n\r\n",
        elsewhere.port()
    );
    let seller = Seller::saying(&text).await;
    let exchange = plain(seller.port()).await;
    get(&exchange, &QUICK).await.unwrap();
    get(&exchange, &QUICK).await.unwrap();
    let requests = seller.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_leg_can_run_in_a_task_of_its_own() {
    let seller = Seller::saying(HELLO).await;
    let exchange = plain(seller.port()).await;
    let leg = tokio::spawn(async move {
        let mut kept = Vec::new();
        let body = get(&exchange, &QUICK).await.unwrap().into_body();
        let sink = |piece: &[u8]| {
            kept.extend_from_slice(piece);
            Ok::<(), ()>(())
        };
        let end = body.read_into(3, sink).await;
        (kept, end)
    });
    assert_eq!(leg.await.unwrap(), (b"hel".to_vec(), Ok(BodyEnd::OverCap)));
}

#[test]
fn a_caller_may_set_a_payment_header_once_and_no_other_header() {
    for name in [
        "Host",
        "Cookie",
        "Authorization",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Accept-Encoding",
        "Expect",
        "Proxy-Authorization",
        "User-Agent",
        "x-payment ",
        "x-payment\r\nhost",
        "",
    ] {
        let refused = Ask::new(Method::Get).with_header(name, "v");
        assert_eq!(refused.unwrap_err(), AskFault::NotAllowed { name: name.to_owned() });
    }
    let ask = Ask::new(Method::Get).with_header("X-PAYMENT", "secret-value").unwrap();
    assert!(matches!(ask.clone().with_header("x-payment", "again"), Err(AskFault::Twice { .. })));
    for value in ["a\r\nhost: evil", "a\nb", "a\u{0}b"] {
        let refused = Ask::new(Method::Get).with_header("X-PAYMENT", value);
        assert!(matches!(refused, Err(AskFault::BadValue { .. })), "{value:?}");
    }
    assert!(!format!("{ask:?}").contains("secret-value"));
    assert_eq!(Ask::new(Method::Get).with_body(BodyType::Json, b"{}".to_vec()).unwrap_err(), AskFault::BodyNotAllowed);
}
