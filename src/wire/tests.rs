//! What the tests of this module share, the properties that hold for any bytes, and real answers of others when a folder
//! of them lies beside the repository.

use std::path::Path;

use base64::Engine as _;
use bursar_policy::{Authorization, PaymentId, Said};
use proptest::prelude::*;

use super::json::{check, compact};
use super::{Demand, Envelope, Found, HeaderView, payment_header, read, read_claim};

/// Base64 as a well-behaved seller writes it.
pub(super) fn encoded(document: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(document)
}

/// The JSON inside a header value.
pub(super) fn decoded(value: &str) -> String {
    String::from_utf8(base64::engine::general_purpose::STANDARD.decode(value).unwrap()).unwrap()
}

/// Headers as the net module hands them over.
pub(super) fn headers(pairs: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect()
}

/// Reads a document that came in the header, beside the empty body that reference sellers send.
pub(super) fn read_header(document: &str) -> Result<Found, super::Unreadable> {
    read(HeaderView::new(&headers(&[("payment-required", &encoded(document))])), b"{}")
}

/// Reads a document that came in the body.
pub(super) fn read_body(document: &str) -> Result<Found, super::Unreadable> {
    read(HeaderView::new(&headers(&[("content-type", "application/json")])), document.as_bytes())
}

/// The demand in an answer that has one.
pub(super) fn demand(found: Result<Found, super::Unreadable>) -> Demand {
    match found {
        Ok(Found::Demand(demand)) => demand,
        other => panic!("expected terms, got {other:?}"),
    }
}

/// An authorization over 10000 units to the payee of the documents in these tests.
pub(super) fn authorization() -> Authorization {
    Authorization {
        from: "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23".parse().unwrap(),
        to: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C".parse().unwrap(),
        value: bursar_policy::Amount::new(10_000).unwrap(),
        valid_after: 0,
        valid_before: 1_740_672_154,
        nonce: [0x11; 32],
    }
}

/// A signature that fits [`authorization`] on Base Sepolia.
pub(super) const SIGNATURE: &str = "0xeba000a4278ed37dbb5108727f4910e4de763ce02dedeb737c210e90e757cd1d\
                                    519419717414d5b49c395ef87dbb48ceeff340abaa502513f1e6e8ba0bc7e7c51b";

pub(super) fn payment_id() -> PaymentId {
    PaymentId::from_random([0xab; 16])
}

/// JSON values as sellers might nest them, printed by a serializer that never names a member twice.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        ".{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::btree_map("[a-z402VersionacceptsT]{1,11}", inner, 0..5)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An offer with members that matter, among them now and then the very values that the test authorization signs.
fn any_offer() -> impl Strategy<Value = serde_json::Value> {
    let names =
        vec!["scheme", "network", "amount", "maxAmountRequired", "payTo", "recipient", "resource", "extra", "other"];
    let payee = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
    let value = prop_oneof![
        2 => any_json(),
        2 => Just("10000".into()),
        2 => Just(payee.into()),
        1 => Just(payee.to_ascii_lowercase().into()),
    ];
    prop::collection::btree_map(prop::sample::select(names), value, 0..9).prop_map(|members| {
        serde_json::Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

/// A document with the outer shape of terms and anything inside.
fn any_terms() -> impl Strategy<Value = String> {
    let version = prop_oneof![4 => Just("1"), 4 => Just("2"), 1 => Just("3"), 1 => Just("\"2\""), 1 => Just("2.0")];
    let item = prop_oneof![9 => any_offer(), 1 => any_json()];
    (version, prop::collection::vec(item, 0..4), any_json(), any_json()).prop_map(
        |(version, accepts, resource, extensions)| {
            let accepts = serde_json::Value::from(accepts);
            format!(
                "{{\"x402Version\":{version}, \"accepts\": {accepts},\n\"resource\":{resource},\"extensions\":{extensions}}}"
            )
        },
    )
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(
        header in prop::option::of(prop::collection::vec(any::<u8>(), 0..300)),
        body in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut pairs = vec![("www-authenticate".to_owned(), body.clone()), ("date".to_owned(), body.clone())];
        if let Some(header) = header {
            pairs.push(("payment-required".to_owned(), header.clone()));
            pairs.push(("payment-response".to_owned(), header));
        }
        let view = HeaderView::new(&pairs);
        // Random bytes are never terms: no offer comes out of noise.
        prop_assert!(!matches!(read(view, &body), Ok(Found::Demand(_))));
        prop_assert!(!matches!(read_claim(view), super::Claim::Said(_)));
        prop_assert!(Envelope::parse(&String::from_utf8_lossy(&body)).is_err());
    }

    #[test]
    fn terms_of_any_content_are_read_or_named_and_come_back_from_their_envelope(document in any_terms()) {
        for found in [read_header(&document), read_body(&document)] {
            match found {
                Ok(Found::Demand(demand)) => {
                    let offers = demand.challenge().offers.len();
                    prop_assert!(offers > 0);
                    for offer in 0..u32::try_from(offers).unwrap() {
                        let envelope = demand.envelope(offer).unwrap();
                        let text = envelope.to_text();
                        prop_assert!(text.len() <= Envelope::MAX_BYTES);
                        prop_assert_eq!(Envelope::parse(&text), Ok(envelope.clone()));
                        // Whatever else it says, what is sent with it asks for what was signed.
                        if let Ok(header) = payment_header(&envelope, &payment_id(), &authorization(), SIGNATURE) {
                            let asked = envelope.offer().unwrap();
                            prop_assert_eq!(asked.amount, Said::text("10000"));
                            prop_assert!(matches!(asked.pay_to, Said::Text(payee) if payee.parse() == Ok(authorization().to)));
                            prop_assert!(check(decoded(header.value()).as_bytes()).is_ok());
                        }
                    }
                }
                Ok(Found::NotX402(kind)) => prop_assert!(false, "terms were taken for {kind:?}"),
                Err(why) => prop_assert!(!why.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn compacting_changes_no_value_and_is_done_once(value in any_json()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let short = compact(check(pretty.as_bytes()).unwrap());
        prop_assert_eq!(&short, &value.to_string());
        prop_assert_eq!(compact(&short), short);
    }

    #[test]
    fn a_claim_of_any_content_keeps_only_clean_members(value in any_json(), transaction in ".{0,80}", reason in ".{0,300}") {
        let document = serde_json::json!({"success": value, "transaction": transaction, "errorReason": reason, "network": reason});
        let pairs = headers(&[("x-payment-response", &encoded(&document.to_string()))]);
        if let super::Claim::Said(said) = read_claim(HeaderView::new(&pairs)) {
            prop_assert!(said.transaction.is_none_or(|text| text.len() == 66 && text.is_ascii()));
            prop_assert!(said.reason.is_none_or(|text| text.chars().count() <= 200 && text.bytes().all(|b| (b' '..=b'~').contains(&b))));
            prop_assert!(said.network.is_none_or(|text| text.len() <= 64 && text.is_ascii()));
        }
    }
}

/// Captured answers of real merchants, where a folder of them lies beside the repository; elsewhere there is nothing to do.
#[test]
fn answers_of_real_merchants_become_offers_or_a_named_reason() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/cases/real402"));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let (mut terms, mut named) = (Vec::new(), Vec::new());
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "json") {
            continue;
        }
        let story: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let pairs: Vec<(String, Vec<u8>)> = story["headers"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.as_str().unwrap().as_bytes().to_vec()))
            .collect();
        let body = story["body_raw"].as_str().unwrap_or_default();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match read(HeaderView::new(&pairs), body.as_bytes()) {
            Ok(Found::Demand(demand)) => terms.push(format!("{name} ({} offers)", demand.challenge().offers.len())),
            Ok(Found::NotX402(kind)) => named.push(format!("{name} ({})", kind.code())),
            Err(why) => named.push(format!("{name} ({})", why.code())),
        }
    }
    show(&format!("{} with offers: {}\n{} without: {}", terms.len(), terms.join(", "), named.len(), named.join(", ")));
    assert!(terms.len() >= 35, "too few were understood: {named:?}");
    assert!(!terms.iter().any(|name| name.starts_with("r34") || name.starts_with("r58")), "a dialect became terms");
}

#[expect(clippy::print_stderr, reason = "the test says how much of the folder was understood; no program prints here")]
fn show(text: &str) {
    eprintln!("{text}");
}
