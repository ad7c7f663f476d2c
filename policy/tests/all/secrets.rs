//! Secrets by name: where rules may name one, and for which request each is meant.

use std::collections::BTreeSet;

use bursar_policy::*;

use crate::builders::parse;

/// A complete file with `rest` behind it.
fn file(rest: &str) -> String {
    format!(
        "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:84532\"]\n\
         assets = [\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\"]\nallow_any_recipient = true\n{rest}"
    )
}

fn host(origin: &str, path: &str, headers: &str) -> String {
    format!("[[host]]\norigin = \"{origin}\"\npath = \"{path}\"\nsecret_headers = [{headers}]\n")
}

#[test]
fn a_secret_is_for_its_origin_and_path_and_no_other() {
    let text = file(
        &(host("https://a.test", "/v1", "\"x-api-key: {one}\"")
            + &host("https://a.test", "/v2", "\"authorization: Bearer {two}\"")
            + &host("https://a.test", "/", "")),
    );
    let rules = parse(&text, Setting::Real).unwrap();
    let secret = |url: &str| {
        let rule = rules.host_rule(&Site::parse(url).unwrap())?;
        rule.secret_headers().first().map(|header| header.secret().to_string())
    };
    for (url, name) in [
        ("https://a.test/v1", Some("one")),
        ("https://a.test/v1/data?q=1", Some("one")),
        ("https://a.test/v2/", Some("two")),
        ("https://a.test/v10", None),
        ("https://a.test/", None),
        ("https://a.test/V1", None),
        ("https://a.test/v1%2f..%2fv2", None),
        ("https://a.test:8443/v1", None),
        ("https://b.test/v1", None),
        ("http://a.test/v1", None),
    ] {
        assert_eq!(secret(url).as_deref(), name, "{url}");
    }
}

#[test]
fn what_is_named_is_told_and_so_is_what_is_missing() {
    let text = file(
        &(host("https://a.test", "/v1", "\"x-api-key: {one}\", \"x-other: {one}\"")
            + "[network]\nproxy = \"http://proxy.test:3128\"\nproxy_secret = \"corp\"\n"),
    );
    let rules = parse(&text, Setting::Real).unwrap();
    let uses: Vec<(String, Vec<String>)> =
        rules.secret_uses().into_iter().map(|(name, uses)| (name.to_string(), uses)).collect();
    let one = ["https://a.test/v1/ (x-api-key)", "https://a.test/v1/ (x-other)"].map(str::to_owned).to_vec();
    assert_eq!(uses, [("corp".to_owned(), vec!["the proxy".to_owned()]), ("one".to_owned(), one)]);
    let kept = BTreeSet::from(["one".parse().unwrap(), "idle".parse().unwrap()]);
    assert_eq!(rules.secrets_missing(&kept), ["corp".parse().unwrap()]);
}

#[test]
fn contradictions_have_a_sentence_each() {
    let origin = "https://a.test";
    for (rest, part) in [
        (host(origin, "/", "\"x-api-key: {a}\", \"x-api-key: {b}\""), "`secret_headers` lists `x-api-key` twice"),
        (
            host(origin, "/", "\"a: {a}\", \"b: {a}\", \"c: {a}\", \"d: {a}\", \"e: {a}\""),
            "more than 4 `secret_headers`",
        ),
        (host(origin, "/", "\"x-api-key: sk-live-123\""), "a secret's name in braces"),
        (host(origin, "/", "\"cookie: {a}\""), "name another one"),
        (host(origin, "/", "\"accept: {a}\""), "name another one"),
        ("[network]\nproxy_secret = \"corp\"\n".to_owned(), "`proxy_secret` of [network] is for a `proxy`"),
    ] {
        let fault = parse(&file(&rest), Setting::Real).unwrap_err();
        assert!(fault.contains(part), "{fault}");
    }
    let plain =
        host("http://a.test", "/", "\"x-api-key: {a}\"") + "[sandbox]\nhosts = { \"a.test\" = \"127.0.0.1\" }\n";
    let fault = parse(&file(&plain), Setting::Sandbox).unwrap_err();
    assert!(fault.contains("a secret is never sent in the clear"), "{fault}");
}

#[test]
fn where_any_host_may_be_asked_none_gets_a_secret() {
    let text = file("").replace("allow_any_recipient", "allow_any_host = true\nallow_any_recipient");
    let rules = parse(&text, Setting::Real).unwrap();
    assert!(rules.host_rule(&Site::parse("https://a.test/v1").unwrap()).unwrap().secret_headers().is_empty());
}
