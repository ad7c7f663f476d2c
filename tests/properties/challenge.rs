//! What holds for any 402 answer: it is terms that can be kept, sent again and judged, or one reason in clean words.

use std::collections::BTreeMap;

use bursar::wire::challenge::{MAX_BODY_BYTES, MAX_OFFERS};
use bursar::wire::{Demand, Envelope, Found, NotX402, read};
use bursar_policy::{Offer, Refusal, Said, Version};
use serde_json::value::RawValue;

use super::answer::Answer;
use super::base64;
use super::purchase;

const HEADER: &str = "payment-required";

/// Takes `bytes` as the answer to a request without a payment.
///
/// # Panics
///
/// Where a property does not hold.
pub fn holds(bytes: &[u8]) {
    let answer = Answer::of(bytes);
    let found = read(answer.view(), &answer.body);
    assert_eq!(read(answer.view(), &answer.body), found, "one answer was read in two ways");
    if answer.view().all(HEADER).any(|value| !value.is_empty()) {
        assert_eq!(read(answer.view(), b"{\"x402Version\":1}"), found, "the body counts beside a header");
    }
    match found {
        Ok(Found::Demand(demand)) => is_kept(&answer, &demand),
        Ok(Found::NotX402(kind)) => assert!(NotX402::ALL.contains(&kind)),
        Err(why) => purchase::is_told(&Refusal::from(why)),
    }
}

fn is_kept(answer: &Answer, demand: &Demand) {
    let challenge = demand.challenge();
    assert!((1..=MAX_OFFERS).contains(&challenge.offers.len()));
    assert!(texts(&challenge.resource).all(|text| text.len() <= MAX_BODY_BYTES));
    for (place, offer) in (0..).zip(&challenge.offers) {
        assert_eq!(offer.index, place);
        assert!(members(offer).into_iter().flat_map(texts).all(|text| text.len() <= Envelope::MAX_BYTES));
        is_in_its_envelope(&demand.envelope(place).unwrap(), challenge.version, offer);
    }
    let count = u32::try_from(challenge.offers.len()).unwrap();
    assert_eq!(demand.envelope(count), None, "an offer that nobody made");

    let document = written(demand);
    let elsewhere = answer.without(HEADER).with_body(document.as_str());
    assert_eq!(read(elsewhere.view(), &elsewhere.body), Ok(Found::Demand(demand.clone())), "{document}");
    // In base64 it is a third longer.
    if document.len() <= 48 * 1024 {
        let elsewhere = answer.without(HEADER).with(HEADER, base64::encoded(document.as_bytes()));
        assert_eq!(read(elsewhere.view(), &elsewhere.body), Ok(Found::Demand(demand.clone())), "{document}");
    }
    purchase::holds(demand);
}

/// An envelope is read back as it was written, and says of its offer what the judge hears.
fn is_in_its_envelope(envelope: &Envelope, version: Version, offer: &Offer) {
    let text = envelope.to_text();
    assert!(text.len() <= Envelope::MAX_BYTES);
    assert_eq!(Envelope::parse(&text).as_ref(), Ok(envelope));
    assert_eq!(envelope.version(), version);
    let kept = envelope.offer().unwrap();
    // Its place is not the offer's own.
    assert_eq!(Offer { index: offer.index, ..kept }, *offer);
}

/// The document again, from what was kept of it.
fn written(demand: &Demand) -> String {
    let challenge = demand.challenge();
    let envelopes: Vec<String> =
        (0..).map_while(|place| demand.envelope(place)).map(|envelope| envelope.to_text()).collect();
    let kept: Vec<BTreeMap<&str, &RawValue>> =
        envelopes.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let offers: Vec<&str> = kept.iter().map(|members| members["offer"].get()).collect();
    let member = |name: &str| kept[0].get(name).map(|value| value.get().to_owned());
    // The first generation echoes no resource, so only what the judge hears of it is left.
    let resource = match challenge.version {
        Version::V1 => json(&challenge.resource),
        Version::V2 => member("resource"),
    };
    let around = [("resource", resource), ("extensions", member("extensions"))];
    let around: String =
        around.into_iter().filter_map(|(name, value)| Some(format!(",\"{name}\":{}", value?))).collect();
    format!("{{\"x402Version\":{}{around},\"accepts\":[{}]}}", challenge.version.number(), offers.join(","))
}

/// A value of JSON that says this; none where nothing is said.
fn json(said: &Said) -> Option<String> {
    match said {
        Said::Absent | Said::Null => None,
        Said::Text(text) => Some(serde_json::Value::from(text.as_str()).to_string()),
        Said::Number(number) => Some(number.clone()),
        Said::Other("an object") => Some("{\"url\":{}}".to_owned()),
        Said::Other("an array") => Some("[]".to_owned()),
        Said::Other(word) => Some((*word).to_owned()),
    }
}

/// Every member of an offer that may hold a seller's text.
fn members(offer: &Offer) -> [&Said; 13] {
    let Offer { index: _, conflicts: _, scheme, network, amount, asset, pay_to, max_timeout, .. } = offer;
    let Offer {
        transfer_method,
        payment_flow,
        domain_name,
        domain_version,
        verifying_contract,
        chain_id,
        resource,
        ..
    } = offer;
    let of_extra = [transfer_method, payment_flow, domain_name, domain_version, verifying_contract, chain_id];
    let [method, flow, name, version, contract, id] = of_extra;
    [scheme, network, amount, asset, pay_to, max_timeout, method, flow, name, version, contract, id, resource]
}

fn texts(said: &Said) -> impl Iterator<Item = &str> {
    match said {
        Said::Text(text) | Said::Number(text) => Some(text.as_str()),
        Said::Absent | Said::Null | Said::Other(_) => None,
    }
    .into_iter()
}
