//! Identity of purchases: what makes a call the same call again.

use std::vec::Vec;

use super::*;
use crate::chain::{Address, ChainId};
use crate::money::Amount;
use crate::offer::Version;
use crate::terms::Terms;

fn errand() -> Errand {
    Errand {
        site: Site::parse("https://api.merchant.test/v1/data?q=1").unwrap(),
        method: Method::Post,
        body: Some(Body { digest: Digest::of(b"{}"), bytes: 2, kind: BodyType::Json }),
        headers: Headers::none(),
        ceiling: None,
        purchase_id: None,
        quote: None,
        suspicious: None,
    }
}

fn session(byte: u8) -> SessionId {
    SessionId::from_random([byte; 16])
}

#[test]
fn identity_is_session_method_url_body_and_purchase_id() {
    let first = errand();
    let body = first.body.unwrap();
    let others = [
        Errand { method: Method::Get, ..errand() },
        Errand { site: Site::parse("https://api.merchant.test/v1/data?q=2").unwrap(), ..errand() },
        Errand { site: Site::parse("https://api.merchant.test/v1/data").unwrap(), ..errand() },
        Errand { site: Site::parse("http://api.merchant.test/v1/data?q=1").unwrap(), ..errand() },
        Errand { body: None, ..errand() },
        Errand { body: Some(Body { digest: Digest::of(b"[]"), ..body }), ..errand() },
        Errand { body: Some(Body { kind: BodyType::Text, ..body }), ..errand() },
        Errand { purchase_id: Some("one".parse().unwrap()), ..errand() },
        Errand { purchase_id: Some("two".parse().unwrap()), ..errand() },
    ];
    let mut seen: Vec<Digest> = others.iter().map(|other| other.identity(&session(1))).collect();
    seen.push(first.identity(&session(1)));
    seen.push(first.identity(&session(2)));
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

#[test]
fn ceiling_quote_spelling_and_fragment_are_no_part_of_it() {
    let same = [
        Errand { ceiling: Some("0.01 USD".parse().unwrap()), ..errand() },
        Errand { quote: Some(QuoteId::from_random([7; 16])), ..errand() },
        Errand { site: Site::parse("https://API.merchant.test:443/v1/data?q=1#part").unwrap(), ..errand() },
    ];
    for other in same {
        assert_eq!(other.identity(&session(1)), errand().identity(&session(1)), "{other:?}");
    }
}

#[test]
fn the_subject_leaves_session_and_purchase_id_out() {
    let named = Errand { purchase_id: Some("one".parse().unwrap()), ..errand() };
    assert_eq!(named.subject(), errand().subject());
    assert_ne!(Errand { body: None, ..errand() }.subject(), errand().subject());
    assert_ne!(Errand { method: Method::Head, ..errand() }.subject(), errand().subject());
}

fn terms() -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: ChainId::BASE_SEPOLIA,
        asset: Address::from_bytes([3; 20]),
        payee: Address::from_bytes([4; 20]),
        amount: Amount::new(10_000).unwrap(),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

#[test]
fn a_word_is_bound_to_session_request_and_every_term_without_tolerance() {
    let body = errand().body.unwrap();
    let errands = [
        errand(),
        Errand { method: Method::Get, ..errand() },
        Errand { site: Site::parse("https://api.merchant.test/v1/data?q=2").unwrap(), ..errand() },
        Errand { body: None, ..errand() },
        Errand { body: Some(Body { digest: Digest::of(b"[]"), ..body }), ..errand() },
        Errand { body: Some(Body { kind: BodyType::Text, ..body }), ..errand() },
    ];
    let others = [
        Terms { version: Version::V1, ..terms() },
        Terms { chain: ChainId::BASE, ..terms() },
        Terms { asset: Address::from_bytes([5; 20]), ..terms() },
        Terms { payee: Address::from_bytes([5; 20]), ..terms() },
        Terms { amount: Amount::new(9_999).unwrap(), ..terms() },
        Terms { amount: Amount::new(10_001).unwrap(), ..terms() },
        Terms { max_timeout_s: 61, ..terms() },
        Terms { domain_name: "USD Coin".to_owned(), ..terms() },
        Terms { domain_version: "1".to_owned(), ..terms() },
        // What ends one member must not begin the next.
        Terms { domain_name: "USDC2".to_owned(), domain_version: String::new(), ..terms() },
    ];
    let mut seen: Vec<Digest> = errands.iter().map(|errand| errand.binding(&session(1), &terms())).collect();
    seen.extend(others.iter().map(|other| errand().binding(&session(1), other)));
    seen.push(errand().binding(&session(2), &terms()));
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

#[test]
fn what_is_not_paid_is_no_part_of_what_a_word_is_bound_to() {
    let elsewhere = Terms { offer: 3, ..terms() };
    let same = [
        Errand { ceiling: Some("0.01 USD".parse().unwrap()), ..errand() },
        Errand { purchase_id: Some("one".parse().unwrap()), ..errand() },
        Errand { quote: Some(QuoteId::from_random([7; 16])), ..errand() },
        Errand { suspicious: Some(Quoted::of("odd")), ..errand() },
    ];
    for other in same {
        assert_eq!(other.binding(&session(1), &elsewhere), errand().binding(&session(1), &terms()), "{other:?}");
    }
}

#[test]
fn an_errand_crosses_serde_unchanged_and_takes_no_unknown_member() {
    let text = serde_json::to_string(&errand()).unwrap();
    assert_eq!(serde_json::from_str::<Errand>(&text).unwrap(), errand());
    let extra = text.replacen('{', "{\"payer\":1,", 1);
    assert!(serde_json::from_str::<Errand>(&extra).is_err());
    let unfit = text.replacen("https://", "https://user@", 1);
    assert!(serde_json::from_str::<Errand>(&unfit).is_err());
}

#[test]
fn methods_are_three_in_capitals() {
    for method in Method::EVERY {
        assert_eq!(method.as_str().parse(), Ok(method));
        let text = serde_json::to_string(&method).unwrap();
        assert_eq!(text, format!("\"{method}\""));
    }
    for text in ["get", "Get", "PUT", "DELETE", "", "GET "] {
        assert_eq!(text.parse::<Method>(), Err(MethodFault), "{text}");
    }
}

/// What is asked for otherwise is another thing, and what no caller chose changes nothing.
#[test]
fn headers_are_part_of_what_is_bought() {
    let session = SessionId::from_random([1; 16]);
    let with = |name: &str, value: &str| {
        let mut errand = errand();
        assert!(errand.headers.add(name.parse().unwrap(), value.parse().unwrap()));
        errand
    };
    let (german, english) = (with("accept-language", "de"), with("accept-language", "en"));
    for (one, other) in [(&errand(), &german), (&german, &english), (&german, &with("content-language", "de"))] {
        assert_ne!(one.subject(), other.subject());
        assert_ne!(one.identity(&session), other.identity(&session));
    }
    assert_eq!(german.identity(&session), with("Accept-Language", "de").identity(&session));
}
