//! What becomes of URLs, good and bad.

use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::*;

fn url(text: &str) -> String {
    Site::parse(text).map(|site| site.url()).unwrap_or_else(|fault| format!("{fault:?}"))
}

#[test]
fn equal_resources_have_one_url() {
    for (text, normal) in [
        ("https://API.Merchant.TEST/v1/data", "https://api.merchant.test/v1/data"),
        ("HTTPS://api.merchant.test", "https://api.merchant.test/"),
        ("https://api.merchant.test:443/", "https://api.merchant.test/"),
        ("https://api.merchant.test:8443/", "https://api.merchant.test:8443/"),
        ("http://api.merchant.test:80/", "http://api.merchant.test/"),
        ("https://a.test/x/../y/./z", "https://a.test/y/z"),
        ("https://a.test/%2e%2e/y", "https://a.test/y"),
        ("https://a.test/a%20b?q=%41&r=b#part", "https://a.test/a%20b?q=%41&r=b"),
        ("https://a.test/?", "https://a.test/?"),
        ("https://a.test/é?é", "https://a.test/%C3%A9?%C3%A9"),
        ("https://a.test?q=1", "https://a.test/?q=1"),
        ("https://bücher.test/", "https://xn--bcher-kva.test/"),
        ("https://2130706433/", "https://127.0.0.1/"),
        ("https://0x7f.1/", "https://127.0.0.1/"),
        ("https://0177.0.0.1/", "https://127.0.0.1/"),
        ("https://127.1/", "https://127.0.0.1/"),
        ("https://0/", "https://0.0.0.0/"),
        ("https://127\u{3002}0\u{3002}0\u{3002}1/", "https://127.0.0.1/"),
        ("https://a.test:0443/", "https://a.test/"),
        ("https://017700000001/", "https://127.0.0.1/"),
        ("https://0X7F000001/", "https://127.0.0.1/"),
        ("https://127.0.0.1/", "https://127.0.0.1/"),
        ("https://\u{ff11}\u{ff12}\u{ff17}.1/", "https://127.0.0.1/"),
        ("https://\u{430}\u{440}i.test/", "https://xn--i-7sb2c.test/"),
        ("https://faß.test/", "https://xn--fa-hia.test/"),
        ("https://a\u{ad}b.test/", "https://ab.test/"),
        ("https://[::1]:8080/x", "https://[::1]:8080/x"),
        ("https://[0:0::FFFF:7f00:1]/", "https://[::ffff:127.0.0.1]/"),
    ] {
        assert_eq!(url(text), normal, "{text}");
    }
}

#[test]
fn what_parsers_disagree_about_is_refused() {
    for (text, fault) in [
        ("https://api.merchant.test\\@evil.test/", SiteFault::Backslash),
        ("https://a.test/x\\y", SiteFault::Backslash),
        ("https://user@a.test/", SiteFault::UserInfo),
        ("https://user:pw@a.test/", SiteFault::UserInfo),
        ("https://@a.test/", SiteFault::UserInfo),
        ("https://[fe80::1%25eth0]/", SiteFault::EncodedHost),
        ("https://[fe80::1%eth0]/", SiteFault::EncodedHost),
        ("https://[fe80::1%]/", SiteFault::EncodedHost),
        ("https://[::1]x/", SiteFault::Host),
        ("https://[1.2.3.4]/", SiteFault::Host),
        ("https://[v1.a]/", SiteFault::Host),
        ("https://[]/", SiteFault::Host),
        ("https://::1/", SiteFault::Host),
        ("https://a.test%00.evil.test/", SiteFault::EncodedHost),
        ("https://a.test\u{7f}/", SiteFault::Blank),
        ("https://a.test\u{85}/", SiteFault::Blank),
        ("https://a.test/\r\nHost: evil.test", SiteFault::Blank),
        ("https://a.test\u{3002}/", SiteFault::TrailingDot),
        ("https://127.0.0.1./", SiteFault::TrailingDot),
        ("https://a.test.:443/", SiteFault::TrailingDot),
        ("https://a\u{2024}\u{2024}test/", SiteFault::Host),
        ("https://xn--a/", SiteFault::Host),
        ("https://xn--.test/", SiteFault::Host),
        ("https://a.test:443:443/", SiteFault::Port),
        ("https://a.test:-1/", SiteFault::Port),
        ("https://a.test:\u{664}\u{664}\u{663}/", SiteFault::Port),
        ("https://%61.test/", SiteFault::EncodedHost),
        ("https://a.test/a b", SiteFault::Blank),
        (" https://a.test/", SiteFault::Blank),
        ("https://a.test/\n", SiteFault::Blank),
        ("https://a.\ttest/", SiteFault::Blank),
        ("https://a.test/\u{0}", SiteFault::Blank),
        ("https://a.test/\u{2028}", SiteFault::Blank),
        ("https://api.merchant.test./v1", SiteFault::TrailingDot),
        ("https://merchant/", SiteFault::SingleLabel("merchant".into())),
        ("https://localhost/", SiteFault::SingleLabel("localhost".into())),
        ("https://a..test/", SiteFault::Host),
        ("https://.test/", SiteFault::Host),
        ("https:///a.test/", SiteFault::Host),
        ("https://", SiteFault::Host),
        ("https://-a.test/", SiteFault::Host),
        ("https://a!b.test/", SiteFault::Host),
        ("https://[::1/", SiteFault::Host),
        ("https://[::g]/", SiteFault::Host),
        ("https://1.2.3.4.5/", SiteFault::Host),
        ("https://256.0.0.1/", SiteFault::Host),
        ("https://a.0x7f/", SiteFault::Host),
        ("https://*.merchant.test/", SiteFault::Wildcard),
        ("https://a.test:0/", SiteFault::Port),
        ("https://a.test:/", SiteFault::Port),
        ("https://a.test:65536/", SiteFault::Port),
        ("https://a.test:x/", SiteFault::Port),
        ("https:a.test/", SiteFault::Scheme),
        ("https:/a.test/", SiteFault::Scheme),
        ("file:///etc/passwd", SiteFault::Scheme),
        ("data:,x", SiteFault::Scheme),
        ("monopoly://x/y", SiteFault::Scheme),
        ("ftp://a.test/", SiteFault::Scheme),
        ("//a.test/", SiteFault::Scheme),
        ("", SiteFault::Scheme),
    ] {
        assert_eq!(Site::parse(text), Err(fault), "{text}");
    }
}

#[test]
fn lengths_are_capped_before_and_after() {
    let fits = format!("https://a.test/{}", "x".repeat(2048 - 15));
    assert!(Site::parse(&fits).is_ok());
    assert_eq!(Site::parse(&format!("{fits}x")), Err(SiteFault::TooLong));
    let grows = format!("https://a.test/{}", "é".repeat(500));
    assert_eq!(Site::parse(&grows), Err(SiteFault::TooLong));
    let label = "a".repeat(63);
    assert!(Site::parse(&format!("https://{label}.test/")).is_ok());
    assert_eq!(Site::parse(&format!("https://{label}a.test/")), Err(SiteFault::Host));
    let long = [label.as_str(); 4].join(".");
    assert_eq!(Site::parse(&format!("https://{long}/")), Err(SiteFault::Host));
}

#[test]
fn a_url_is_measured_as_it_was_given() {
    let steps = "x/../".repeat(500);
    assert_eq!(Site::parse(&format!("https://a.test/{steps}")), Err(SiteFault::TooLong), "short in its normal form");
}

#[test]
fn a_name_has_at_most_253_bytes() {
    let labels = |last: usize| format!("https://{}.{}/", ["a".repeat(63).as_str(); 3].join("."), "b".repeat(last));
    let longest = Site::parse(&labels(61)).unwrap();
    assert_eq!(longest.host().to_string().len(), 253);
    for over in [62, 63] {
        assert_eq!(Site::parse(&labels(over)), Err(SiteFault::Host), "{over}");
    }
}

#[test]
fn a_site_gives_its_parts() {
    let site = Site::parse("https://api.merchant.test:8443/v1/data?q=1&q=2#x").unwrap();
    assert_eq!((site.scheme(), site.port()), (Scheme::Https, 8443));
    assert_eq!(site.host(), &Host::Name("api.merchant.test".into()));
    assert_eq!((site.path(), site.query()), ("/v1/data", Some("q=1&q=2")));
    assert_eq!(site.path_and_query(), "/v1/data?q=1&q=2");
    assert_eq!(site.authority(), "api.merchant.test:8443");
    assert_eq!(site.origin().to_string(), "https://api.merchant.test:8443");
    assert_eq!(Site::parse("https://[::1]/").unwrap().authority(), "[::1]");
    assert_eq!(Site::parse("https://a.test:443/").unwrap().authority(), "a.test");
}

#[test]
fn an_origin_is_bare_and_ascii() {
    let origin: Origin = "https://API.merchant.test:443".parse().unwrap();
    assert_eq!(origin.to_string(), "https://api.merchant.test");
    for text in ["https://a.test/", "https://a.test/x", "https://a.test?q", "https://a.test#x"] {
        assert_eq!(text.parse::<Origin>(), Err(SiteFault::NotAnOrigin), "{text}");
    }
    assert_eq!("https://\u{430}pi.test".parse::<Origin>(), Err(SiteFault::NotAscii));
    assert_eq!("https://*.test".parse::<Origin>(), Err(SiteFault::Wildcard));
    assert_eq!("api.test".parse::<Origin>(), Err(SiteFault::Scheme));
}

#[test]
fn a_host_is_a_host_and_nothing_more() {
    assert_eq!("API.test.".parse::<Host>(), Err(SiteFault::TrailingDot));
    assert_eq!("API.test".parse(), Ok(Host::Name("api.test".into())));
    assert_eq!("127.0.0.1".parse(), Ok(Host::V4(Ipv4Addr::LOCALHOST)));
    assert_eq!("[::1]".parse(), Ok(Host::V6(Ipv6Addr::LOCALHOST)));
    for text in ["a.test:1", "a.test/", "a.test?x", "https://a.test", "user@a.test", "[::1]:1/x", ""] {
        assert!(text.parse::<Host>().is_err(), "{text}");
    }
}

#[test]
fn a_homograph_is_another_host() {
    let real = Site::parse("https://api.merchant.test/").unwrap();
    let fake = Site::parse("https://\u{430}pi.merchant.test/").unwrap();
    assert_ne!(real.origin(), fake.origin());
    assert!(fake.host().to_string().starts_with("xn--"));
}

#[test]
fn a_resource_names_another_host_or_does_not() {
    let site = Site::parse("https://api.merchant.test/v1/data?q=1").unwrap();
    let same = [
        "https://api.merchant.test/v1/data?q=1",
        "https://api.merchant.test",
        "http://api.merchant.test/v1/data",
        "https://API.merchant.test:8443/other",
        "https://api.merchant.test./v1/data",
        "/v1/data",
        "v1/data",
        "other.test/v1/data",
        "",
        "mcp://tool/x",
        "not a url",
        "https://[",
        "ftp://other.test/",
    ];
    for text in same {
        assert!(!names_another_host(&site, text), "{text}");
    }
    let other = [
        "https://other.test/v1/data",
        "http://other.test",
        "https://api.merchant.test.evil.test/",
        "https://api.merchant.test:pw@evil.test/",
        "https://api.merchant.test@evil.test/",
        "https://evil.test#https://api.merchant.test",
        "//other.test/v1/data",
        "\\\\other.test/v1/data",
        "http://internal:3000/v1/data",
        "https://10.0.0.1/v1/data",
    ];
    for text in other {
        assert!(names_another_host(&site, text), "{text}");
    }
    let literal = Site::parse("https://[2606:4700::1]/").unwrap();
    assert!(!names_another_host(&literal, "https://[2606:4700:0::1]/x"));
    assert!(names_another_host(&literal, "https://[2606:4700::2]/x"));
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_parser_and_a_site_is_its_own_normal_form(
        text in "(https?://)?[a-zA-Z0-9.:@/?#%\\[\\]\\\\*é_ -]{0,60}",
    ) {
        if let Ok(site) = Site::parse(&text) {
            proptest::prop_assert_eq!(Site::parse(&site.url()), Ok(site.clone()));
            proptest::prop_assert_eq!(site.origin().to_string().parse(), Ok(site.origin().clone()));
            proptest::prop_assert!(site.path().starts_with('/'));
            proptest::prop_assert!(site.url().is_ascii());
            proptest::prop_assert!(!names_another_host(&site, &site.url()));
        }
    }

    #[test]
    fn arbitrary_text_never_breaks_anything(text: String, resource in "(https?://(a\\.test)?)?.{0,12}") {
        let parsed: Vec<bool> = vec![text.parse::<Host>().is_ok(), text.parse::<Origin>().is_ok()];
        proptest::prop_assert!(parsed.len() == 2);
        if let Ok(site) = Site::parse(&format!("https://a.test/{text}")) {
            let named = named_host(&site, &resource);
            let another = named.is_some_and(|host| host != *site.host());
            proptest::prop_assert_eq!(names_another_host(&site, &resource), another);
        }
    }
}
