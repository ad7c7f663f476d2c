//! What the gate makes of offers: shapes that sellers send, honest and not.

use bursar_policy::refusal::{AddressMember, DomainMember};
use bursar_policy::rules::draft::Ceilings;
use bursar_policy::*;

use crate::builders::*;

fn number(text: &str) -> Said {
    Said::Number(text.to_owned())
}

fn choice(offers: Vec<Offer>) -> Result<Terms, Vec<&'static str>> {
    judged(&rules(draft()), &errand(), &challenge(offers)).map_err(|reasons| codes(&reasons))
}

#[test]
fn a_plain_offer_is_rebuilt_field_by_field() {
    let terms = choice(vec![offer()]).unwrap();
    let expected = Terms {
        version: Version::V2,
        offer: 0,
        chain: ChainId::BASE,
        asset: address(USDC),
        payee: address(PAYEE),
        amount: Amount::new(10_000).unwrap(),
        max_timeout_s: 60,
        domain_name: "USD Coin".into(),
        domain_version: "2".into(),
    };
    assert_eq!(terms, expected);
    let again = judged(&rules(draft()), &errand(), &terms.to_challenge());
    assert_eq!(again, Ok(terms));
}

#[test]
fn amounts_that_are_not_canonical_are_refused() {
    for text in ["+10000", "10000.0", "5e5", "0", "00", "010000", "0x2710", " 10000", "", "٣", "10000 "] {
        assert_eq!(refused(Offer { amount: Said::text(text), ..offer() }), ["amount_invalid"], "{text}");
    }
    for said in [Said::Absent, Said::Null, Said::Other("an object"), number("10000"), number("1e4")] {
        assert_eq!(refused(Offer { amount: said.clone(), ..offer() }), ["amount_invalid"], "{said:?}");
    }
    let reasons = judged(&rules(draft()), &errand(), &challenge(vec![Offer { amount: number("40000"), ..offer() }]));
    assert!(reasons.unwrap_err()[0].to_string().contains("JSON number"));
}

#[test]
fn amounts_beyond_counting_are_over_the_cap() {
    for text in ["340282366920938463463374607431768211456", &"9".repeat(78), &u128::MAX.to_string(), "50001"] {
        assert_eq!(refused(Offer { amount: Said::text(text), ..offer() }), ["over_payment_cap"], "{text}");
    }
    assert_eq!(refused(Offer { amount: Said::text("9".repeat(79)), ..offer() }), ["amount_invalid"]);
    assert_eq!(choice(vec![Offer { amount: Said::text("50000"), ..offer() }]).unwrap().amount.units(), 50_000);
}

#[test]
fn addresses_are_42_characters_with_a_fitting_checksum() {
    let bad = ["", "walletaddress", "0X1111111111111111111111111111111111111111", "merchant", "0x11\u{0}evil"];
    for text in bad {
        assert_eq!(refused(Offer { pay_to: Said::text(text), ..offer() }), ["address_invalid"], "{text}");
        assert_eq!(refused(Offer { asset: Said::text(text), ..offer() }), ["address_invalid"], "{text}");
    }
    for said in [Said::Absent, Said::Null, number("1"), Said::Other("an array")] {
        assert_eq!(refused(Offer { pay_to: said, ..offer() }), ["address_invalid"]);
    }
    let wrong_checksum = "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913";
    assert_eq!(refused(Offer { asset: Said::text(wrong_checksum), ..offer() }), ["address_invalid"]);
    for spelling in [USDC.to_lowercase(), format!("0x{}", USDC[2..].to_uppercase())] {
        assert!(choice(vec![Offer { asset: Said::text(spelling), ..offer() }]).is_ok());
    }
    let both = Offer { asset: Said::text(""), pay_to: Said::text("walletaddress"), ..offer() };
    let members = judged(&rules(draft()), &errand(), &challenge(vec![both])).unwrap_err();
    let members = members.iter().map(|reason| match reason {
        Refusal::AddressInvalid { member, .. } => *member,
        other => panic!("{other}"),
    });
    assert_eq!(members.collect::<Vec<_>>(), [AddressMember::Asset, AddressMember::PayTo]);
}

#[test]
fn networks_are_exact_and_of_their_version() {
    for text in ["EIP155:8453", "eip155:08453", "eip155:84532", "eip155:*", "base", "solana:x", "", "eip155:1"] {
        assert_eq!(refused(Offer { network: Said::text(text), ..offer() }), ["unsupported_network"], "{text}");
    }
    assert_eq!(refused(Offer { network: number("8453"), ..offer() }), ["unsupported_network"]);
    let v1 = |network: &str| {
        let mut document = challenge(vec![Offer { network: Said::text(network), ..offer() }]);
        document.version = Version::V1;
        judged(&rules(draft()), &errand(), &document).map_err(|reasons| codes(&reasons))
    };
    assert!(v1("base").is_ok() && v1("eip155:8453").is_ok());
    for text in ["Base", "base-sepolia", "story", "solana", "eip155:84532"] {
        assert_eq!(v1(text), Err(vec!["unsupported_network"]), "{text}");
    }
}

#[test]
fn the_domain_is_the_tables_and_never_the_sellers() {
    let spoilt = [
        (Offer { domain_name: Said::text("USDC"), ..offer() }, DomainMember::Name),
        (Offer { domain_name: Said::Absent, ..offer() }, DomainMember::Name),
        (Offer { domain_version: Said::text("1"), ..offer() }, DomainMember::Version),
        (Offer { domain_version: number("2"), ..offer() }, DomainMember::Version),
        (Offer { verifying_contract: Said::text(EVIL), ..offer() }, DomainMember::VerifyingContract),
        (Offer { verifying_contract: number("1"), ..offer() }, DomainMember::VerifyingContract),
        (Offer { chain_id: number("1"), ..offer() }, DomainMember::ChainId),
        (Offer { chain_id: Said::text("0x2105"), ..offer() }, DomainMember::ChainId),
        (Offer { chain_id: number("8453.0"), ..offer() }, DomainMember::ChainId),
    ];
    for (offer, expected) in spoilt {
        let reasons = judged(&rules(draft()), &errand(), &challenge(vec![offer])).unwrap_err();
        assert!(
            matches!(reasons.as_slice(), [Refusal::DomainMismatch { member, .. }] if *member == expected),
            "{reasons:?}"
        );
    }
    let agreeing = Offer { verifying_contract: Said::text(USDC.to_lowercase()), chain_id: number("8453"), ..offer() };
    assert!(choice(vec![agreeing]).is_ok());
    assert!(choice(vec![Offer { chain_id: Said::text("8453"), verifying_contract: Said::Null, ..offer() }]).is_ok());
}

#[test]
fn nobody_pays_nowhere_the_token_or_himself() {
    for payee in ["0x0000000000000000000000000000000000000000", USDC, &USDC.to_lowercase(), BUYER] {
        assert_eq!(refused(Offer { pay_to: Said::text(payee), ..offer() }), ["payee_forbidden"], "{payee}");
    }
    let document = challenge(vec![Offer { pay_to: Said::text(BUYER), ..offer() }]);
    assert!(judge(&rules(draft()), &errand(), &document, None, NOW_S).is_ok());
}

#[test]
fn timeouts_are_whole_positive_numbers_up_to_a_day() {
    let bad = [
        number("0"),
        number("-1"),
        number("+60"),
        number("60.5"),
        number("60.0"),
        number("6e1"),
        number("18446744073709551615"),
        number("18446744073709551616"),
        number("86401"),
        number("31536000"),
        Said::text("60"),
        Said::Absent,
        Said::Null,
        Said::Other("true"),
    ];
    for said in bad {
        assert_eq!(refused(Offer { max_timeout: said.clone(), ..offer() }), ["timeout_invalid"], "{said:?}");
    }
    for text in ["1", "2", "9"] {
        assert_eq!(refused(Offer { max_timeout: number(text), ..offer() }), ["lifetime_too_short"], "{text}");
    }
    for (text, seconds) in [("10", 10), ("300", 300), ("86400", 86_400)] {
        assert_eq!(choice(vec![Offer { max_timeout: number(text), ..offer() }]).unwrap().max_timeout_s, seconds);
    }
}

#[test]
fn kinds_that_bursar_does_not_pay_are_passed_over() {
    let kinds = [
        (Offer { scheme: Said::text("upto"), ..offer() }, "unsupported_scheme"),
        (Offer { scheme: Said::text("Exact"), ..offer() }, "unsupported_scheme"),
        (Offer { scheme: Said::Absent, ..offer() }, "unsupported_scheme"),
        (
            Offer { network: Said::text("hedera:testnet"), pay_to: Said::text("0.0.1"), ..offer() },
            "unsupported_network",
        ),
        (Offer { transfer_method: Said::text("permit2"), ..offer() }, "unsupported_transfer_method"),
        (Offer { transfer_method: Said::text("EIP3009"), ..offer() }, "unsupported_transfer_method"),
        (Offer { transfer_method: number("1"), ..offer() }, "unsupported_transfer_method"),
        (Offer { payment_flow: Said::text("upfront"), ..offer() }, "unsupported_payment_flow"),
        (Offer { payment_flow: Said::text("escrow"), ..offer() }, "unsupported_payment_flow"),
    ];
    for (kind, code) in kinds {
        assert_eq!(refused(kind.clone()), [code]);
        assert_eq!(choice(vec![kind.clone(), offer()]).unwrap().offer, 1, "{code}");
        let over = Offer { amount: Said::text("50001"), ..offer() };
        assert_eq!(choice(vec![kind, over]), Err(vec!["over_payment_cap"]), "{code}");
    }
    let named = Offer { transfer_method: Said::text("eip3009"), payment_flow: Said::text("authorization"), ..offer() };
    assert!(choice(vec![named]).is_ok());
    let mut none = draft();
    none.payment.schemes.clear();
    let reasons = judged(&rules(none), &errand(), &challenge(vec![offer()])).unwrap_err();
    assert_eq!(codes(&reasons), ["unsupported_scheme"]);
    let deferred = Offer {
        scheme: Said::text("deferred"),
        network: Said::text("cloudflare:com"),
        asset: Said::text("USD"),
        ..offer()
    };
    assert_eq!(choice(vec![deferred]), Err(vec!["unsupported_scheme", "unsupported_network"]));
}

#[test]
fn the_cheapest_that_passes_is_chosen_and_the_first_among_equals() {
    let at = |amount: &str| Offer { amount: Said::text(amount), ..offer() };
    assert_eq!(choice(vec![at("30000"), at("10000"), at("20000")]).unwrap().offer, 1);
    assert_eq!(choice(vec![at("10000"), at("10000")]).unwrap().offer, 0);
    assert_eq!(choice(vec![at("10000000000000000"), at("10000")]).unwrap().offer, 1);
    let bad = Offer { pay_to: Said::text("walletaddress"), amount: Said::text("1"), ..offer() };
    assert_eq!(choice(vec![bad, at("40000")]).unwrap().offer, 1);
}

#[test]
fn across_currencies_the_sellers_order_holds() {
    let euro: Asset = Asset {
        id: format!("eip155:8453/erc20:{EVIL}").parse().unwrap(),
        symbol: "EURX".into(),
        decimals: 6,
        currency: "EUR".parse().unwrap(),
        eip712_name: "Euro X".into(),
        eip712_version: "1".into(),
    };
    let mut both = draft();
    both.payment.assets.push(euro.id);
    both.payment.max_per_payment = Ceilings(vec![money("0.05 USD"), money("0.04 EUR")]);
    both.assets.push(euro);
    let rules = rules(both);
    let dollars = |amount: &str| Offer { amount: Said::text(amount), ..offer() };
    let euros = |amount: &str| Offer {
        asset: Said::text(EVIL),
        domain_name: Said::text("Euro X"),
        domain_version: Said::text("1"),
        ..dollars(amount)
    };
    let choose = |offers| judged(&rules, &errand(), &challenge(offers)).map(|terms| terms.offer);
    assert_eq!(choose(vec![dollars("30000"), euros("1"), dollars("20000")]), Ok(2));
    assert_eq!(choose(vec![euros("30000"), dollars("1"), euros("40000")]), Ok(0));
    assert_eq!(choose(vec![euros("40001"), dollars("1")]), Ok(1));
    let picky = Errand { ceiling: Some(money("1 USD")), ..errand() };
    let reasons = judged(&rules, &picky, &challenge(vec![euros("1")])).unwrap_err();
    assert_eq!(codes(&reasons), ["currency_without_cap"]);
    assert!(judged(&rules, &picky, &challenge(vec![euros("1"), dollars("1")])).is_ok());
}

#[test]
fn the_callers_own_ceiling_holds() {
    let picky = Errand { ceiling: Some(money("0.002 USD")), ..errand() };
    let judge_at = |amount: &str| {
        let offer = Offer { amount: Said::text(amount), ..offer() };
        judged(&rules(draft()), &picky, &challenge(vec![offer])).map_err(|reasons| codes(&reasons))
    };
    assert!(judge_at("2000").is_ok());
    assert_eq!(judge_at("2001"), Err(vec!["price_above_ceiling"]));
    assert_eq!(judge_at("50001"), Err(vec!["price_above_ceiling", "over_payment_cap"]));
}

#[test]
fn in_v1_only_the_first_offer_of_a_pair_is_paid() {
    let v1 = |offers| Challenge { version: Version::V1, ..challenge(offers) };
    let base = Offer { network: Said::text("base"), ..offer() };
    let bait = Offer { asset: Said::text(EVIL), ..base.clone() };
    let verdict = |document| judged(&rules(draft()), &errand(), &document).map_err(|reasons| codes(&reasons));
    assert_eq!(verdict(v1(vec![base.clone(), bait.clone()])).unwrap().offer, 0);
    assert_eq!(verdict(v1(vec![bait.clone(), base.clone()])), Err(vec!["shadowed_offer", "asset_not_allowed"]));
    let permit = Offer { transfer_method: Said::text("permit2"), ..base.clone() };
    assert_eq!(verdict(v1(vec![permit, base.clone()])), Err(vec!["shadowed_offer"]));
    assert_eq!(verdict(v1(vec![bait.clone(), offer()])).unwrap().offer, 1);
    let mut unnumbered = v1(vec![bait.clone(), base.clone()]);
    unnumbered.offers[1].index = 0;
    assert!(verdict(unnumbered).is_err());
    let cheaper = Offer { amount: Said::text("1"), ..base.clone() };
    assert_eq!(verdict(v1(vec![base, cheaper])).unwrap().amount.units(), 10_000);
}

#[test]
fn the_resource_may_differ_in_everything_but_the_host() {
    let named = |resource: Said| {
        let document = Challenge { resource, ..challenge(vec![offer()]) };
        judged(&rules(draft()), &errand(), &document).map(|_| ()).map_err(|reasons| codes(&reasons))
    };
    let fine = [
        "https://api.merchant.test/v1/data?q=1",
        "http://api.merchant.test/v1/data",
        "/v1/data",
        "mcp://tool/x",
        "nonsense",
        "",
    ];
    for text in fine {
        assert_eq!(named(Said::text(text)), Ok(()), "{text}");
    }
    for said in [Said::Absent, Said::Null, number("1"), Said::Other("an object")] {
        assert_eq!(named(said), Ok(()));
    }
    for text in ["https://other.test/v1/data", "http://other.test/", "//other.test/", "https://internal/x"] {
        assert_eq!(named(Said::text(text)), Err(vec!["resource_mismatch"]), "{text}");
    }
    let mut listed = host(ORIGIN);
    listed.resource_hosts = vec!["other.test".parse().unwrap()];
    let rules = rules(Draft { hosts: vec![listed], ..draft() });
    let elsewhere = |text: &str| Challenge { resource: Said::text(text), ..challenge(vec![offer()]) };
    assert!(judged(&rules, &errand(), &elsewhere("https://other.test/v1/data")).is_ok());
    assert!(judged(&rules, &errand(), &elsewhere("https://third.test/v1/data")).is_err());
}

#[test]
fn an_offer_for_another_host_is_no_offer_for_this_one() {
    let stray = |text: &str| Offer { resource: Said::text(text), amount: Said::text("1"), ..offer() };
    for text in ["https://other.test/", "//other.test/"] {
        let verdict = judged(&rules(draft()), &errand(), &challenge(vec![stray(text)]));
        assert_eq!(verdict.map_err(|reasons| codes(&reasons)), Err(vec!["resource_mismatch"]), "{text}");
        let beside = judged(&rules(draft()), &errand(), &challenge(vec![stray(text), offer()]));
        assert_eq!(beside.unwrap().offer, 1, "{text}");
    }
    for text in ["/v1/data", "http://api.merchant.test/other", "mcp://tool/x"] {
        assert!(judged(&rules(draft()), &errand(), &challenge(vec![stray(text)])).is_ok(), "{text}");
    }
}

#[test]
fn a_clock_may_be_thirty_seconds_off() {
    for (apart, fine) in [(0, true), (30, true), (31, false), (100_000, false)] {
        for theirs in [NOW_S + apart, NOW_S - apart] {
            let document = Challenge { seller_time_s: Some(theirs), ..challenge(vec![offer()]) };
            let verdict = judged(&rules(draft()), &errand(), &document);
            assert_eq!(verdict.is_ok(), fine, "{apart}");
        }
    }
    let silent = Challenge { seller_time_s: None, ..challenge(vec![offer()]) };
    assert!(judged(&rules(draft()), &errand(), &silent).is_ok());
}

#[test]
fn all_reasons_of_all_offers_come_in_order_and_once() {
    let spoilt = Offer { amount: Said::text("x"), pay_to: Said::text(USDC), domain_name: Said::Null, ..offer() };
    let conflicting = Offer { conflicts: vec!["amount and maxAmountRequired".into()], ..offer() };
    let mut document = challenge(vec![spoilt.clone(), conflicting, spoilt]);
    document.seller_time_s = Some(0);
    document.resource = Said::text("https://other.test/");
    let reasons = judged(&rules(draft()), &errand(), &document).unwrap_err();
    let expected = [
        "resource_mismatch",
        "clock_invalid",
        "offer_conflict",
        "amount_invalid",
        "domain_mismatch",
        "payee_forbidden",
    ];
    assert_eq!(codes(&reasons), expected);
}

#[test]
fn recipients_are_the_rules_and_the_hosts() {
    let mut listed = draft();
    listed.payment.allow_any_recipient = false;
    listed.payment.recipients = Some(vec![address(PAYEE)]);
    let pays = |draft: &Draft, payee: &str| {
        let document = challenge(vec![Offer { pay_to: Said::text(payee), ..offer() }]);
        judged(&rules(draft.clone()), &errand(), &document).is_ok()
    };
    assert!(pays(&listed, PAYEE) && !pays(&listed, EVIL));
    // A seller that is not listed is refused for that; of its payee the truth is told, so that it can be found out.
    let elsewhere = Errand { site: "https://other.example/".parse().unwrap(), ..errand() };
    let of_payee = |payee: &str| {
        let document = challenge(vec![Offer { pay_to: Said::text(payee), ..offer() }]);
        judged(&rules(listed.clone()), &elsewhere, &document).unwrap_err()
    };
    assert!(!codes(&of_payee(PAYEE)).contains(&"payee_not_allowed"));
    assert!(codes(&of_payee(EVIL)).contains(&"payee_not_allowed"));
    assert!(codes(&of_payee(PAYEE)).contains(&"host_not_allowed"));
    let mut rotating = listed.clone();
    rotating.hosts[0].allow_any_recipient = true;
    assert!(pays(&rotating, EVIL));
    let mut pinned = draft();
    pinned.hosts[0].recipients = Some(vec![address(PAYEE)]);
    assert!(pays(&pinned, PAYEE) && !pays(&pinned, EVIL));
    listed.payment.recipients = Some(Vec::new());
    assert!(!pays(&listed, PAYEE));
}

#[test]
fn a_hosts_own_ceiling_is_lower_and_holds() {
    let mut capped = draft();
    capped.hosts[0].max_per_payment = Some(Ceilings(vec![money("0.01 USD")]));
    let rules = rules(capped);
    let at = |amount: &str| challenge(vec![Offer { amount: Said::text(amount), ..offer() }]);
    assert!(judged(&rules, &errand(), &at("10000")).is_ok());
    let reasons = judged(&rules, &errand(), &at("10001")).unwrap_err();
    assert!(reasons[0].to_string().contains("`0.01 USD`"), "{}", reasons[0]);
}

#[test]
fn inspection_shows_every_rule_and_agrees_with_the_judge() {
    let spoilt = Offer { amount: Said::text("x"), ..offer() };
    let foreign = Offer { network: Said::text("solana:x"), ..offer() };
    let document = challenge(vec![foreign, spoilt, offer()]);
    let seen = inspect(&rules(draft()), &errand(), &document, Some(address(BUYER)), NOW_S);
    assert_eq!(seen.chosen, judged(&rules(draft()), &errand(), &document).ok());
    assert!(seen.document.iter().all(Finding::passed));
    let [foreign, spoilt, fine] = seen.offers.as_slice() else { panic!("three offers") };
    assert!(foreign.skipped && foreign.terms.is_none() && foreign.findings.len() == 4);
    assert_eq!(foreign.refusals().map(Refusal::code).collect::<Vec<_>>(), ["unsupported_network"]);
    assert!(!spoilt.skipped && spoilt.terms.is_none());
    assert_eq!(spoilt.refusals().map(Refusal::code).collect::<Vec<_>>(), ["amount_invalid"]);
    assert!(fine.terms.is_some() && fine.findings.iter().all(Finding::passed));
    assert_eq!(fine.findings.len(), 21);
    let note = |rule| &fine.findings.iter().find(|finding| finding.rule == rule).unwrap().note;
    assert_eq!((note("amount").as_str(), note("timeout").as_str()), ("10000", "60 s"));
}
