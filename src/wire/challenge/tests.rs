//! Where terms are looked for, what is refused as unreadable, and what reaches the judge.

use bursar_policy::{Offer, Said, Version};

use super::super::tests::{demand, encoded, headers, read_body, read_header};
use super::{Found, HeaderView, MAX_OFFERS, NotX402, Unreadable, read};

const OFFER_V2: &str = r#"{"scheme":"exact","network":"eip155:84532","amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"extra":{"name":"USDC","version":"2"}}"#;
const OFFER_V1: &str = r#"{"scheme":"exact","network":"base-sepolia","maxAmountRequired":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"resource":"https://shop.example/a","description":"","mimeType":"","outputSchema":null,"extra":{"name":"USDC","version":"2"}}"#;

fn v2(offer: &str) -> String {
    format!(
        r#"{{"x402Version":2,"error":"Payment required","resource":{{"url":"https://shop.example/a"}},"accepts":[{offer}]}}"#
    )
}

fn v1(offer: &str) -> String {
    format!(r#"{{"x402Version":1,"error":"X-PAYMENT header is required","accepts":[{offer}]}}"#)
}

/// The one offer of a second-generation document with `member` put in front.
fn offer_with(member: &str) -> Offer {
    let found = demand(read_header(&v2(&OFFER_V2.replacen('{', &format!("{{{member},"), 1))));
    found.challenge().offers[0].clone()
}

fn code(found: Result<Found, Unreadable>) -> &'static str {
    found.map_or_else(|why| why.code(), |found| if let Found::NotX402(kind) = found { kind.code() } else { "terms" })
}

#[test]
fn the_members_of_both_generations_reach_the_judge_as_said() {
    let second = demand(read_header(&v2(OFFER_V2)));
    let first = demand(read_body(&v1(OFFER_V1)));
    assert_eq!((second.challenge().version, first.challenge().version), (Version::V2, Version::V1));
    let place = Said::text("https://shop.example/a");
    assert_eq!((&second.challenge().resource, &first.challenge().resource), (&place, &Said::Absent));
    let own = [(&second, "eip155:84532", Said::Absent), (&first, "base-sepolia", place)];
    for (found, network, resource) in own {
        let want = Offer {
            index: 0,
            scheme: Said::text("exact"),
            network: Said::text(network),
            amount: Said::text("10000"),
            asset: Said::text("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
            pay_to: Said::text("0x209693Bc6afc0C5328bA36FaF03C514EF312287C"),
            max_timeout: Said::Number("60".to_owned()),
            domain_name: Said::text("USDC"),
            domain_version: Said::text("2"),
            resource,
            ..Offer::default()
        };
        assert_eq!(found.challenge().offers, [want]);
    }
}

#[test]
fn odd_members_are_carried_on_and_never_repaired() {
    let offer = offer_with(r#""x":1"#);
    assert_eq!(offer.transfer_method, Said::Absent);
    let strange = r#"{"scheme":null,"amount":10000.50,"asset":["a"],"payTo":{},"maxTimeoutSeconds":1e3,"extra":{"assetTransferMethod":"permit2","paymentFlow":"upfront","verifyingContract":"0x1","chainId":1}}"#;
    let found = demand(read_header(&v2(strange)));
    let offer = &found.challenge().offers[0];
    assert_eq!((&offer.scheme, &offer.network), (&Said::Null, &Said::Absent));
    assert_eq!((&offer.asset, &offer.pay_to), (&Said::Other("an array"), &Said::Other("an object")));
    let numbers = ["10000.50", "1e3", "1"].map(|text| Said::Number(text.to_owned()));
    assert_eq!([offer.amount.clone(), offer.max_timeout.clone(), offer.chain_id.clone()], numbers);
    assert_eq!((&offer.transfer_method, &offer.payment_flow), (&Said::text("permit2"), &Said::text("upfront")));
    assert_eq!(offer.verifying_contract, Said::text("0x1"));
    for (extra, said) in [("null", Said::Absent), ("[]", Said::Other("inside an extra that is not an object"))] {
        let found = demand(read_header(&v2(&format!(r#"{{"extra":{extra}}}"#))));
        assert_eq!(found.challenge().offers[0].domain_name, said);
    }
    // The price member of the other generation is no price.
    let found = demand(read_header(&v2(r#"{"maxAmountRequired":"10000"}"#)));
    assert_eq!(found.challenge().offers[0].amount, Said::Absent);
    let found = demand(read_body(&v1(r#"{"amount":"10000"}"#)));
    assert_eq!(found.challenge().offers[0].amount, Said::Absent);
}

#[test]
fn doubled_members_must_agree() {
    let conflicting = [
        (r#""maxAmountRequired":"900000""#, "amount and maxAmountRequired"),
        (r#""maxAmountRequired":10000"#, "amount and maxAmountRequired"),
        (r#""recipient":"0x1111111111111111111111111111111111111111""#, "payTo and recipient"),
        (r#""recipient":"0x209693bc6afc0c5328ba36faf03c514ef312287c","pay_to":"merchant""#, "payTo and recipient"),
        (r#""currency":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913""#, "asset and currency"),
        (r#""max_amount_required":"900000""#, "amount and maxAmountRequired"),
        (r#""Amount":"900000""#, "amount and maxAmountRequired"),
        (r#""PAYTO":"0x1111111111111111111111111111111111111111""#, "payTo and recipient"),
        (r#""receiver":"0x1111111111111111111111111111111111111111""#, "payTo and recipient"),
        (r#""tokenAddress":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913""#, "asset and currency"),
        (r#""Network":"eip155:8453""#, "the two network members"),
        (r#""max_timeout_seconds":600"#, "the two maxTimeoutSeconds members"),
        (r#""x402Version":1"#, "the two x402Version members"),
    ];
    for (member, name) in conflicting {
        assert_eq!(offer_with(member).conflicts, [name], "{member}");
    }
    let agreeing = [
        r#""maxAmountRequired":"10000","recipient":"0x209693bc6afc0c5328ba36faf03c514ef312287c""#,
        r#""currency":"0x036cbd53842c5426634e7929541ec2318f3dcf7e","pay_to":null"#,
        r#""currency":"USD","token":"USDC","receiver":"Shop Ltd","x402Version":2"#,
        r#""resource":"http://shop.example/a?page=2","x402Version":null"#,
        r#""pay-to":"0x209693bc6afc0c5328ba36faf03c514ef312287c","max_timeout_seconds":60,"price":"$0.01""#,
    ];
    for member in agreeing {
        assert_eq!(offer_with(member).conflicts, Vec::<String>::new(), "{member}");
    }
    let methods = OFFER_V2
        .replace("\"version\":\"2\"", r#""version":"2","assetTransferMethod":"eip3009","transferMethod":"permit2""#);
    let found = demand(read_header(&v2(&methods)));
    assert_eq!(found.challenge().offers[0].conflicts, ["extra.assetTransferMethod and extra.transferMethod"]);
}

#[test]
fn what_a_seller_says_in_another_place_than_the_usual_one_is_heard() {
    let in_extra = |member: &str| {
        let offer = OFFER_V2.replace("\"version\":\"2\"", &format!(r#""version":"2",{member}"#));
        demand(read_header(&v2(&offer))).challenge().offers[0].clone()
    };
    let permit2 = Said::text("permit2");
    assert_eq!(in_extra(r#""transferMethod":"permit2""#).transfer_method, permit2);
    assert_eq!(in_extra(r#""assetTransferMethod":null,"transferMethod":"permit2""#).transfer_method, permit2);
    assert_eq!(offer_with(r#""assetTransferMethod":"permit2""#).transfer_method, permit2);
    assert_eq!(offer_with(r#""paymentFlow":"upfront""#).payment_flow, Said::text("upfront"));
    assert_eq!(offer_with(r#""chainId":1"#).chain_id, Said::Number("1".to_owned()));
    assert_eq!(offer_with(r#""chainId":"Base""#).chain_id, Said::Absent, "a remark");
}

#[test]
fn the_header_wins_over_the_body_and_the_two_are_never_merged() {
    let pairs = headers(&[("payment-required", &encoded(&v2(OFFER_V2)))]);
    let found = demand(read(HeaderView::new(&pairs), v1(OFFER_V1).as_bytes()));
    assert_eq!((found.challenge().version, found.challenge().offers.len()), (Version::V2, 1));
    // A broken header is not replaced by a good body.
    let pairs = headers(&[("payment-required", "bm90IGpzb24=")]);
    assert_eq!(code(read(HeaderView::new(&pairs), v1(OFFER_V1).as_bytes())), "terms_unreadable");
    // A first-generation document in the header is honoured as such.
    let found = demand(read_header(&v1(OFFER_V1)));
    assert_eq!(found.envelope(0).unwrap().version(), Version::V1);
    // An empty header says nothing.
    let pairs = headers(&[("payment-required", " ")]);
    assert_eq!(demand(read(HeaderView::new(&pairs), v1(OFFER_V1).as_bytes())).challenge().version, Version::V1);
}

#[test]
fn a_second_generation_document_in_the_body_alone_is_read() {
    let found = demand(read_body(&v2(OFFER_V2)));
    assert_eq!((found.challenge().version, found.challenge().offers.len()), (Version::V2, 1));
}

#[test]
fn two_header_values_are_refused_alike_or_not() {
    let one = encoded(&v2(OFFER_V2));
    for second in [one.clone(), encoded(&v1(OFFER_V1)), String::new()] {
        let pairs = headers(&[("payment-required", &one), ("payment-required", &second)]);
        assert_eq!(read(HeaderView::new(&pairs), b"{}"), Err(Unreadable::TwoHeaders));
    }
    let pairs = headers(&[("payment-required", &format!("{one}, {one}"))]);
    assert_eq!(read(HeaderView::new(&pairs), b"{}"), Err(Unreadable::TwoHeaders));
}

#[test]
fn only_the_numbers_1_and_2_are_versions() {
    for version in ["3", "0", "\"2\"", "\"1\"", "2.0", "1e0", "true", "null", "[2]"] {
        let document = v2(OFFER_V2).replacen(":2,", &format!(":{version},"), 1);
        assert_eq!(code(read_header(&document)), "unsupported_version", "{version}");
        assert_eq!(code(read_body(&document)), "unsupported_version", "{version}");
    }
}

#[test]
fn documents_of_another_shape_are_refused_with_a_reason() {
    let accepts = |list: &str| format!(r#"{{"x402Version":2,"accepts":{list}}}"#);
    let cases = [
        (accepts("null"), "terms_unreadable"),
        (accepts(OFFER_V2), "terms_unreadable"),
        (accepts("[null]"), "terms_unreadable"),
        (accepts("[[]]"), "terms_unreadable"),
        (accepts(&format!("[{OFFER_V2},\"x\"]")), "terms_unreadable"),
        (accepts("[]"), "no_offers"),
        (r#"{"x402Version":2}"#.to_owned(), "terms_unreadable"),
        (OFFER_V2.to_owned(), "terms_unreadable"),
        (r#"{"error":"x"}"#.to_owned(), "terms_unreadable"),
        ("[]".to_owned(), "terms_unreadable"),
        ("7".to_owned(), "terms_unreadable"),
        (v2(OFFER_V2).replace("\"amount\"", "\"amount\":\"1\",\"amount\""), "terms_conflicting"),
        (v2(OFFER_V2).replace("Payment required", "\\ud800"), "terms_unreadable"),
        (accepts(&format!("[{}{}]", "[".repeat(40), "]".repeat(40))), "terms_too_large"),
    ];
    for (document, want) in cases {
        assert_eq!(code(read_header(&document)), want, "{document}");
    }
}

#[test]
fn documents_over_a_cap_are_refused_and_those_at_it_are_read() {
    let list = |count: usize| format!(r#"{{"x402Version":1,"accepts":[{}]}}"#, vec!["{}"; count].join(","));
    assert_eq!(demand(read_body(&list(MAX_OFFERS))).challenge().offers.len(), MAX_OFFERS);
    assert_eq!(code(read_body(&list(MAX_OFFERS.saturating_add(1)))), "terms_too_large");
    let padded = |bytes: usize| v1(&OFFER_V1.replacen("\"\"", &format!("\"{}\"", "d".repeat(bytes)), 1));
    assert_eq!(code(read_header(&padded(40 * 1024))), "terms");
    assert_eq!(code(read_header(&padded(50 * 1024))), "terms_too_large");
    assert_eq!(code(read_body(&padded(60 * 1024))), "terms");
    // Too long to be kept for a second sending, and too long to be read at all.
    assert_eq!(read_body(&padded(70 * 1024)), Err(Unreadable::OfferTooLong));
    assert_eq!(read_body(&padded(300 * 1024)), Err(Unreadable::BodyTooLong));
}

#[test]
fn what_is_not_x402_is_named_and_what_resembles_it_is_refused() {
    let named = |pairs: &[(&str, &str)], body: &str| code(read(HeaderView::new(&headers(pairs)), body.as_bytes()));
    assert_eq!(named(&[], "account suspended"), "not_x402");
    assert_eq!(named(&[], ""), "not_x402");
    assert_eq!(
        named(&[("content-type", "application/problem+json")], r#"{"status":402,"pay_to":"0.0.1"}"#),
        "not_x402"
    );
    assert_eq!(named(&[("content-type", "Text/HTML; charset=utf-8")], "pay here"), "not_x402_html");
    assert_eq!(named(&[], " <!doctype html><script>x402Version</script>"), "not_x402_html");
    let mpp = r#"Bearer realm="a, b", payment id="x", method="tempo""#;
    assert_eq!(named(&[("www-authenticate", mpp)], "{}"), "not_x402_mpp");
    assert_eq!(
        named(&[("www-authenticate", "Basic realm=\"x\""), ("www-authenticate", "LSAT macaroon=\"a\"")], ""),
        "not_x402_l402"
    );
    assert_eq!(named(&[("www-authenticate", "L402")], ""), "not_x402_l402");
    assert_eq!(named(&[("www-authenticate", "Basic realm=\"payment\"")], ""), "not_x402");
    // Terms in a form of the seller's own, beside or without the old header.
    let nested = format!(r#"{{"paymentRequired":{}}}"#, v2(OFFER_V2));
    assert_eq!(named(&[("x-payment-required", "e30=")], &nested), "terms_unreadable");
    assert_eq!(named(&[], &nested), "terms_unreadable");
    assert_eq!(named(&[("x-402-amount", "5.00")], ""), "terms_unreadable");
    assert_eq!(named(&[], r#"{"x402":{"price":"$0.12"}}"#), "terms_unreadable");
    assert_eq!(named(&[], &format!(r#"{{"accepts":[{OFFER_V2}]}}"#)), "terms_unreadable");
    assert_eq!(named(&[], r#"{"x402Version": 1, "accepts"#), "terms_unreadable");
    assert_eq!(named(&[], "\u{feff}{\"x402Version\":1}"), "terms_unreadable");
    // Another protocol beside x402 changes nothing.
    assert_eq!(named(&[("www-authenticate", mpp)], &v1(OFFER_V1)), "terms");
    let codes = NotX402::ALL.map(NotX402::code);
    assert_eq!(codes, ["not_x402", "not_x402_mpp", "not_x402_l402", "not_x402_html"]);
}

#[test]
fn document_and_offers_each_say_for_themselves_what_they_sell() {
    let said = |document: &str| {
        let found = demand(read_header(document));
        let offers: Vec<Said> = found.challenge().offers.iter().map(|offer| offer.resource.clone()).collect();
        (found.challenge().resource.clone(), offers)
    };
    let two = r#"{"x402Version":2,"accepts":[{},{"resource":"/p"},{"resource":{"url":"https://b.example/"}}]}"#;
    assert_eq!(said(two), (Said::Absent, vec![Said::Absent, Said::text("/p"), Said::text("https://b.example/")]));
    let of_document =
        |resource: &str| said(&format!(r#"{{"x402Version":2,"resource":{resource},"accepts":[{{}}]}}"#)).0;
    assert_eq!(of_document("\"https://a.example/\""), Said::text("https://a.example/"));
    assert_eq!(of_document(r#"{"url":7}"#), Said::Number("7".to_owned()));
    assert_eq!((of_document("null"), of_document(r#"{"url":null}"#)), (Said::Absent, Said::Absent));
}

#[test]
fn the_sellers_clock_is_read_from_one_good_date() {
    let clock = |dates: &[(&str, &str)]| {
        let mut pairs = headers(dates);
        pairs.extend(headers(&[("payment-required", &encoded(&v2(OFFER_V2)))]));
        demand(read(HeaderView::new(&pairs), b"")).challenge().seller_time_s
    };
    assert_eq!(clock(&[("date", "Mon, 30 Nov 2026 02:11:12 GMT")]), Some(1_796_004_672));
    assert_eq!(clock(&[("date", "soon")]), None);
    assert_eq!(clock(&[]), None);
    let kept = |age: &str| clock(&[("date", "Mon, 30 Nov 2026 02:11:12 GMT"), ("age", age)]);
    assert_eq!(kept("120"), Some(1_796_004_792), "an answer that a cache kept for two minutes");
    for odd in ["", "-120", "1.5", "soon", "99999999999999999999"] {
        assert_eq!(kept(odd), Some(1_796_004_672), "{odd}");
    }
    assert_eq!(kept("18446744073709551615"), None);
    assert_eq!(clock(&[("date", "Mon, 30 Nov 2026 02:11:12 GMT"), ("date", "Mon, 30 Nov 2026 02:11:12 GMT")]), None);
}
