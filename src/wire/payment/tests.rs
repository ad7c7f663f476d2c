//! The headers byte for byte, the echo value for value, and pieces that do not belong together.

use super::super::tests::{SIGNATURE, authorization, decoded, demand, encoded, payment_id, read_body, read_header};
use super::{Envelope, Unsendable, payment_header};

const PAYLOAD: &str = r#"{"authorization":{"from":"0x2c7536E3605D9C16a7a3D7b1898e529396a65c23","to":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","value":"10000","validAfter":"0","validBefore":"1740672154","nonce":"0x1111111111111111111111111111111111111111111111111111111111111111"},"signature":"0xeba000a4278ed37dbb5108727f4910e4de763ce02dedeb737c210e90e757cd1d519419717414d5b49c395ef87dbb48ceeff340abaa502513f1e6e8ba0bc7e7c51b"}"#;
const ACCEPTED: &str = r#"{"scheme":"exact","network":"eip155:84532","amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"extra":{"name":"USDC","version":"2"}}"#;
const RESOURCE: &str = r#"{"url":"https://api.example.com/premium-data","description":"Access to premium market data","mimeType":"application/json"}"#;

/// The decoded header that pays the first offer of a second-generation document with these members.
fn paid(accepted: &str, members: &str) -> Result<String, Unsendable> {
    let found = demand(read_header(&format!(r#"{{"x402Version":2{members},"accepts":[{accepted}]}}"#)));
    let header = payment_header(&found.envelope(0).unwrap(), &payment_id(), &authorization(), SIGNATURE)?;
    assert_eq!(header.name().as_str(), "PAYMENT-SIGNATURE");
    Ok(decoded(header.value()))
}

#[test]
fn the_second_generation_header_is_the_published_one() {
    let document = paid(ACCEPTED, &format!(r#","resource":{RESOURCE}"#)).unwrap();
    let want = format!(r#"{{"x402Version":2,"payload":{PAYLOAD},"resource":{RESOURCE},"accepted":{ACCEPTED}}}"#);
    assert_eq!(document, want);
}

#[test]
fn the_first_generation_header_is_the_published_one_from_body_or_header() {
    let offer = ACCEPTED.replace("\"amount\"", "\"maxAmountRequired\"").replace("eip155:84532", "base-sepolia");
    let document = format!(r#"{{"x402Version":1,"error":"x","accepts":[{offer}]}}"#);
    let want = format!(r#"{{"x402Version":1,"scheme":"exact","network":"base-sepolia","payload":{PAYLOAD}}}"#);
    for found in [read_body(&document), read_header(&document)] {
        let envelope = demand(found).envelope(0).unwrap();
        let header = payment_header(&envelope, &payment_id(), &authorization(), SIGNATURE).unwrap();
        assert_eq!((header.name().as_str(), header.value()), ("X-PAYMENT", encoded(&want).as_str()));
        assert!(!format!("{header:?}").contains("eyJ"));
        // The same again from the kept text, as after a restart.
        let kept = Envelope::parse(&envelope.to_text()).unwrap();
        assert_eq!(payment_header(&kept, &payment_id(), &authorization(), SIGNATURE), Ok(header));
    }
}

#[test]
fn a_first_generation_offer_with_a_chain_id_is_echoed_with_it() {
    let offer = ACCEPTED.replace("\"amount\"", "\"maxAmountRequired\"");
    let envelope = demand(read_body(&format!(r#"{{"x402Version":1,"accepts":[{offer}]}}"#))).envelope(0).unwrap();
    let header = payment_header(&envelope, &payment_id(), &authorization(), SIGNATURE).unwrap();
    assert!(decoded(header.value()).contains(r#""network":"eip155:84532","payload""#));
}

#[test]
fn the_echo_keeps_every_member_of_the_seller_as_it_was() {
    let odd = r#"{ "zeta" : [1.0, 12345678901234567890123, null], "payTo":"0x209693bc6afc0c5328ba36faf03c514ef312287c",
        "amount":"10000", "note":"\u20ac \/ €", "extra":{"configId":"69\u0039d", "n":null} }"#;
    let document = paid(odd, r#","resource":{"url":"/x","more":[2E5]}"#).unwrap();
    let tail = r#","resource":{"url":"/x","more":[2E5]},"accepted":{"zeta":[1.0,12345678901234567890123,null],"payTo":"0x209693bc6afc0c5328ba36faf03c514ef312287c","amount":"10000","note":"\u20ac \/ €","extra":{"configId":"69\u0039d","n":null}}}"#;
    assert!(document.ends_with(tail), "{document}");
}

#[test]
fn nothing_absent_is_sent_as_null() {
    for members in ["", r#","resource":null,"extensions":null"#, r#","extensions":{}"#] {
        let want = format!(r#"{{"x402Version":2,"payload":{PAYLOAD},"accepted":{ACCEPTED}}}"#);
        assert_eq!(paid(ACCEPTED, members), Ok(want));
    }
}

#[test]
fn of_the_extensions_only_an_advertised_payment_identifier_is_answered() {
    let id = format!("p_{}", "ab".repeat(16));
    let schema = r#""schema":{"type":"object","required":["required"]}"#;
    let others = r#""bazaar":{"info":{"required":false}},"sign-in-with-x":{}"#;
    for required in ["true", "false"] {
        let advertised = format!(r#"{{{others},"payment-identifier":{{"info":{{"required":{required}}},{schema}}}}}"#);
        let answered = format!(r#"{{"payment-identifier":{{"info":{{"required":{required},"id":"{id}"}},{schema}}}}}"#);
        let document = paid(ACCEPTED, &format!(r#","extensions":{advertised}"#)).unwrap();
        let want = format!(r#"{{"x402Version":2,"payload":{PAYLOAD},"extensions":{answered},"accepted":{ACCEPTED}}}"#);
        assert_eq!(document, want);
    }
    assert!((16..=128).contains(&id.len()), "the specification's bounds for an id");
    let unanswered = [
        format!("{{{others}}}"),
        r#"{"payment-identifier":null}"#.to_owned(),
        r#"{"payment-identifier":{"info":{}}}"#.to_owned(),
        r#"{"payment-identifier":{"info":{"required":false,"id":"chosen-by-the-seller"}}}"#.to_owned(),
        "[]".to_owned(),
    ];
    for extensions in unanswered {
        let document = paid(ACCEPTED, &format!(r#","extensions":{extensions}"#)).unwrap();
        assert!(!document.contains("extensions"), "{extensions}");
    }
}

#[test]
fn pieces_that_do_not_belong_together_are_not_sent() {
    let payee = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
    for amount in ["\"10001\"", "\"010000\"", "10000", "null"] {
        assert_eq!(paid(&ACCEPTED.replace("\"10000\"", amount), ""), Err(Unsendable::Amount), "{amount}");
    }
    for other in ["0x1111111111111111111111111111111111111111", "merchant", ""] {
        assert_eq!(paid(&ACCEPTED.replace(payee, other), ""), Err(Unsendable::Payee), "{other}");
    }
    let doubled = ACCEPTED.replacen('{', r#"{"maxAmountRequired":"20000","#, 1);
    assert_eq!(paid(&doubled, ""), Err(Unsendable::Conflict));
    let envelope = demand(read_header(&format!(r#"{{"x402Version":2,"accepts":[{ACCEPTED}]}}"#))).envelope(0).unwrap();
    for signature in
        ["", "0x", "0x12", &SIGNATURE.replace("0x", "0X"), &SIGNATURE.replacen('e', "g", 1), &format!("{SIGNATURE}00")]
    {
        let sent = payment_header(&envelope, &payment_id(), &authorization(), signature);
        assert_eq!(sent, Err(Unsendable::Signature), "{signature}");
    }
    let nameless =
        Envelope::parse(&format!(r#"{{"version":1,"offer":{{"maxAmountRequired":"10000","payTo":"{payee}"}}}}"#))
            .unwrap();
    assert_eq!(payment_header(&nameless, &payment_id(), &authorization(), SIGNATURE), Err(Unsendable::Offer));
}
