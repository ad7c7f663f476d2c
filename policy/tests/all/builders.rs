//! Rules, errands and offers that pass, for tests to spoil.

use bursar_policy::rules::draft::{Ceilings, HostDraft, MandateNeed, NetworkDraft, OnSecurityRefusal, PaymentDraft};
use bursar_policy::*;

pub(crate) const NOW_S: u64 = 1_740_672_000;
pub(crate) const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
pub(crate) const TEST_USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
pub(crate) const PAYEE: &str = "0x1111111111111111111111111111111111111111";
pub(crate) const EVIL: &str = "0x2222222222222222222222222222222222222222";
pub(crate) const BUYER: &str = "0x3333333333333333333333333333333333333333";
pub(crate) const ORIGIN: &str = "https://api.merchant.test";

pub(crate) fn address(text: &str) -> Address {
    text.parse().unwrap()
}

pub(crate) fn money(text: &str) -> Money {
    text.parse().unwrap()
}

pub(crate) fn usdc() -> AssetId {
    AssetId { chain: ChainId::BASE, contract: address(USDC) }
}

/// Base, USDC, 0.05 USD a payment, anybody may be paid, one host.
pub(crate) fn draft() -> Draft {
    Draft {
        ledger: None,
        payment: PaymentDraft {
            max_per_payment: Ceilings(vec![money("0.05 USD")]),
            schemes: vec!["exact".to_owned()],
            networks: vec![ChainId::BASE],
            assets: vec![usdc()],
            recipients: None,
            allow_any_recipient: true,
            max_lifetime: None,
            allow_any_host: false,
            repeat_window: None,
            hours: None,
            days: None,
            time_zone: None,
            max_unresolved: None,
            max_body: None,
            max_content: None,
            content_age: None,
            first_payee: None,
            on_change: None,
            unusual_price: None,
            price_rise: None,
            approve_over: None,
            approve_tags: Vec::new(),
            approval_lifetime: None,
            no_recurring: None,
            mandate: MandateNeed::Optional,
            on_security_refusal: OnSecurityRefusal::Quarantine,
            quarantine_after: None,
            quarantine: None,
        },
        limits: Vec::new(),
        hosts: vec![host(ORIGIN)],
        payees: Vec::new(),
        assets: Vec::new(),
        chains: Vec::new(),
        network: NetworkDraft::default(),
        shares: None,
        notify: None,
        metrics: None,
        sandbox: None,
    }
}

pub(crate) fn host(origin: &str) -> HostDraft {
    HostDraft {
        origin: origin.parse().unwrap(),
        path: PathPrefix::root(),
        methods: None,
        headers: Vec::new(),
        secret_headers: Vec::new(),
        content: ContentMode::Withhold,
        fields: None,
        recipients: None,
        allow_any_recipient: false,
        max_per_payment: None,
        resource_hosts: Vec::new(),
        max_unresolved: None,
        first_payee: None,
        on_change: None,
        unusual_price: None,
        price_rise: None,
        approve_over: None,
        no_recurring: None,
        tags: Vec::new(),
        limits: Vec::new(),
        body_limit: None,
        max_body: None,
    }
}

pub(crate) fn rules(draft: Draft) -> Rules {
    Rules::new(draft, Setting::Real).unwrap()
}

/// Rules from TOML below a complete `[payment]` table.
pub(crate) fn parse(text: &str, setting: Setting) -> Result<Rules, String> {
    let draft: Draft = toml::from_str(text).map_err(|fault| fault.to_string())?;
    Rules::new(draft, setting).map_err(|fault| fault.to_string())
}

pub(crate) fn errand() -> Errand {
    errand_to("https://api.merchant.test/v1/data")
}

pub(crate) fn errand_to(url: &str) -> Errand {
    Errand::new(Site::parse(url).unwrap(), Method::Get)
}

pub(crate) fn offer() -> Offer {
    Offer {
        scheme: Said::text("exact"),
        network: Said::text("eip155:8453"),
        amount: Said::text("10000"),
        asset: Said::text(USDC),
        pay_to: Said::text(PAYEE),
        max_timeout: Said::Number("60".to_owned()),
        domain_name: Said::text("USD Coin"),
        domain_version: Said::text("2"),
        ..Offer::default()
    }
}

/// A v2 document with these offers, numbered in order.
pub(crate) fn challenge(offers: Vec<Offer>) -> Challenge {
    let number = |(index, offer)| Offer { index: u32::try_from(index).unwrap(), ..offer };
    Challenge {
        version: Version::V2,
        offers: offers.into_iter().enumerate().map(number).collect(),
        resource: Said::text("https://api.merchant.test/v1/data"),
        seller_time_s: Some(NOW_S),
    }
}

pub(crate) fn judged(rules: &Rules, errand: &Errand, challenge: &Challenge) -> Result<Terms, Vec<Refusal>> {
    judge(rules, errand, challenge, Some(address(BUYER)), NOW_S).map(Vetted::into_inner)
}

pub(crate) fn codes(reasons: &[Refusal]) -> Vec<&'static str> {
    reasons.iter().map(Refusal::code).collect()
}

/// The codes that one spoilt offer is refused with, by the reference rules.
pub(crate) fn refused(offer: Offer) -> Vec<&'static str> {
    codes(&judged(&rules(draft()), &errand(), &challenge(vec![offer])).unwrap_err())
}
