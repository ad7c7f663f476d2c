//! What holds when terms are judged: what is paid is what was asked for, and a no is told in clean words.

use std::sync::LazyLock;

use bursar::wire::{Demand, blank, payment_header};
use bursar_policy::{
    Authorization, Errand, Method, Money, Offer, PaymentId, Refusal, Rules, Said, Setting, Site, Terms, Version,
    inspect, judge, validity,
};
use bursar_vault::blank::Blank;
use serde_json::Value;

use super::base64;

const SIGNATURE: &str = "0xeba000a4278ed37dbb5108727f4910e4de763ce02dedeb737c210e90e757cd1d\
                         519419717414d5b49c395ef87dbb48ceeff340abaa502513f1e6e8ba0bc7e7c51b";
const PAYER: &str = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23";
/// 2026-11-30; terms that name a time are judged at that time.
const NOW_S: u64 = 1_796_000_000;

/// Anybody may be paid up to five cents, in play money and in real money.
static RULES: LazyLock<[Rules; 2]> = LazyLock::new(|| {
    let rules = |setting, chain, asset| {
        let text = format!(
            "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:{chain}\"]\n\
             assets = [\"eip155:{chain}/erc20:{asset}\"]\nallow_any_recipient = true\nallow_any_host = true\n"
        );
        bursar_vault::rules_file::parse(&text, setting).unwrap()
    };
    [
        rules(Setting::Sandbox, "84532", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
        rules(Setting::Real, "8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    ]
});

/// Judges `demand`, pays it where that is allowed, and says whether it was.
///
/// # Panics
///
/// Where a property does not hold.
pub fn holds(demand: &Demand) -> bool {
    let site = Site::parse("https://api.seller.test/weather").unwrap();
    let errand = Errand::new(site, Method::Get);
    let challenge = demand.challenge();
    let now_s = challenge.seller_time_s.unwrap_or(NOW_S);
    let mut paid = false;
    for rules in RULES.iter() {
        let verdict = judge(rules, &errand, challenge, PAYER.parse().ok(), now_s);
        let seen = inspect(rules, &errand, challenge, PAYER.parse().ok(), now_s);
        assert_eq!(seen.chosen.as_ref(), verdict.as_ref().ok().map(|vetted| vetted.get()));
        match verdict {
            Ok(terms) => {
                is_what_was_asked_for(rules, demand, &terms.into_inner(), now_s);
                paid = true;
            }
            Err(reasons) => {
                assert!(!reasons.is_empty(), "a no without a reason");
                reasons.iter().for_each(is_told);
            }
        }
    }
    paid
}

fn is_what_was_asked_for(rules: &Rules, demand: &Demand, terms: &Terms, now_s: u64) {
    let offer = &demand.challenge().offers[usize::try_from(terms.offer).unwrap()];
    let Offer { amount, pay_to, conflicts, .. } = offer;
    assert_eq!(*amount, Said::Text(terms.amount.to_string()));
    assert!(matches!(pay_to, Said::Text(payee) if payee.parse() == Ok(terms.payee)));
    assert!(conflicts.is_empty());
    let asset = rules.asset(&terms.asset_id()).unwrap();
    let money = Money::of(terms.amount, asset).unwrap();
    assert!(money.is_within(rules.ceiling(asset.currency).unwrap()), "{money} is over the ceiling");

    let (valid_after, valid_before) = validity(terms.version, now_s, terms.max_timeout_s, 300).unwrap();
    let authorization = Authorization {
        from: PAYER.parse().unwrap(),
        to: terms.payee,
        value: terms.amount,
        valid_after,
        valid_before,
        nonce: [0x11; 32],
    };
    let envelope = demand.envelope(terms.offer).unwrap();
    let header = payment_header(&envelope, &PaymentId::from_random([0xab; 16]), &authorization, SIGNATURE).unwrap();
    // For a browser the vault fills the same document in, after it went over the socket.
    let document = blank(&envelope, terms.amount, terms.payee).unwrap();
    let there: Blank = serde_json::from_str(&serde_json::to_string(&document).unwrap()).unwrap();
    let signature = SIGNATURE.parse().unwrap();
    assert_eq!(there.fill(terms.version, &PaymentId::from_random([0xab; 16]), &authorization, &signature), header);
    let sent: Value = serde_json::from_slice(&base64::decoded(header.value().as_bytes()).unwrap()).unwrap();
    let signed = &sent["payload"]["authorization"];
    assert_eq!(signed["to"], terms.payee.to_string());
    assert_eq!(signed["value"], terms.amount.to_string());
    assert_eq!(signed["validBefore"], valid_before.to_string());
    assert_eq!(sent["payload"]["signature"], SIGNATURE);
    let kept: Value = serde_json::from_str(&envelope.to_text()).unwrap();
    match terms.version {
        Version::V1 => {
            assert_eq!([&sent["scheme"], &sent["network"]], [&kept["offer"]["scheme"], &kept["offer"]["network"]])
        }
        Version::V2 => assert_eq!([&sent["accepted"], &sent["resource"]], [&kept["offer"], &kept["resource"]]),
    }
}

/// A refusal is one short line that no terminal stumbles over, and its quotes are whole.
pub fn is_told(refusal: &Refusal) {
    assert!(Refusal::CODES.contains(&refusal.code()));
    let told = refusal.to_string();
    assert!((1..=300).contains(&told.len()), "{} bytes: {told}", told.len());
    assert!(told.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{told:?}");
    assert_eq!(told.matches('`').count() % 2, 0, "{told}");
}
