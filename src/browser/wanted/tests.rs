//! Tests of which request is paid for.

use super::*;
use crate::browser::event::Event;
use bursar_policy::Handle;
use serde_json::{Value, json};

const URL: &str = "https://shop.example/a?b=1*&c=%3F";

fn attach(url: &str, open: PageOpening) -> Attach {
    let handle = Handle::from_random([7; 24]);
    Attach { handle, url: url.to_owned(), method: Method::Get, open, expires_in_s: 90 }
}

fn wanted(open: PageOpening) -> Wanted {
    Wanted::of(&attach(URL, open), Setting::Real).unwrap()
}

/// A held request of the page `main`, as the browser tells of it, with changes.
fn held(change: impl FnOnce(&mut Value)) -> Held {
    let mut told = json!({
        "requestId": "interception-job-1.0", "frameId": "main", "resourceType": "Document", "networkId": "1",
        "request": {"url": URL, "method": "GET", "headers": {"Accept": "*/*"}, "initialPriority": "High"},
    });
    change(&mut told);
    let session = serde_json::from_value(json!("s1")).unwrap();
    match Event::read("Fetch.requestPaused", told, Some(session)) {
        Some(Event::Held(held)) => *held,
        other => panic!("{other:?}"),
    }
}

fn page() -> PageId {
    serde_json::from_value(json!("main")).unwrap()
}

#[test]
fn only_the_page_itself_is_paid_for() {
    for open in PageOpening::EVERY {
        assert_eq!(wanted(open).matches(&held(|_| {}), &page()), Match::Page);
    }
    let others: [(&str, Value); 12] = [
        ("/frameId", json!("an iframe")),
        ("/resourceType", json!("Image")),
        ("/resourceType", json!("Prefetch")),
        ("/resourceType", json!("a kind of the future")),
        ("/request/method", json!("POST")),
        ("/request/method", json!("HEAD")),
        ("/request/url", json!("https://shop.example/a?b=2")),
        ("/request/url", json!("https://shop.example/a")),
        ("/request/url", json!("http://shop.example/a?b=1*&c=%3F")),
        ("/request/headers", json!({"Sec-Purpose": "prefetch;prerender"})),
        ("/request/headers", json!({"payment-signature": "of the page's own"})),
        ("/request/headers", json!({"X-PAYMENT": "of the page's own"})),
    ];
    for (pointer, value) in others {
        let other = held(|told| *told.pointer_mut(pointer).unwrap() = value.clone());
        for open in PageOpening::EVERY {
            assert_eq!(wanted(open).matches(&other, &page()), Match::Other, "{pointer} {value}");
        }
    }
    for (name, value) in [
        ("redirectedRequestId", json!("interception-job-0.0")),
        ("responseStatusCode", json!(200)),
        ("responseErrorReason", json!("Failed")),
    ] {
        let other = held(|told| told[name] = value);
        assert_eq!(wanted(PageOpening::Wait).matches(&other, &page()), Match::Other, "{name}");
    }
}

#[test]
fn a_script_is_paid_for_only_where_somebody_waits_for_it() {
    for kind in ["XHR", "Fetch"] {
        let script = held(|told| told["resourceType"] = json!(kind));
        assert_eq!(wanted(PageOpening::Wait).matches(&script, &page()), Match::Script);
        assert_eq!(wanted(PageOpening::Navigate).matches(&script, &page()), Match::Other);
    }
}

#[test]
fn plain_text_carries_no_header_but_in_a_sandbox() {
    let plain = attach("http://shop.example/a", PageOpening::Navigate);
    assert!(Wanted::of(&plain, Setting::Real).is_none());
    assert!(Wanted::of(&plain, Setting::Sandbox).is_some());
    let mut posted = attach(URL, PageOpening::Navigate);
    posted.method = Method::Post;
    assert!(Wanted::of(&posted, Setting::Real).is_none());
    assert!(Wanted::of(&attach("data:text/html,x", PageOpening::Navigate), Setting::Sandbox).is_none());
}

#[test]
fn the_pattern_fits_one_url() {
    assert_eq!(wanted(PageOpening::Wait).pattern(), r"https://shop.example/a\?b=1\*&c=%3F");
}

#[test]
fn an_origin_is_compared_whole() {
    let wanted = wanted(PageOpening::Wait);
    assert!(wanted.same_origin("https://shop.example") && wanted.same_origin("https://shop.example:443/other?x"));
    for other in ["https://shop.example:444", "http://shop.example", "https://www.shop.example", "null", "://", ""] {
        assert!(!wanted.same_origin(other), "{other}");
    }
}

#[test]
fn nothing_of_a_held_request_is_in_a_log() {
    let told = format!(
        "{:?}",
        held(|told| {
            told["request"]["headers"] = json!({"PAYMENT-SIGNATURE": "secret"});
            told["responseStatusCode"] = json!(200);
            told["responseHeaders"] = json!([{"name": "a", "value": "secret"}]);
        })
    );
    assert!(!told.contains("secret") && !told.contains("b=1"), "{told}");
}
