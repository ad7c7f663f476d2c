//! A second, dumber gate that was written from the rules' description alone, and must agree.
//!
//! It knows the texts it may meet by heart instead of parsing them, it looks at one rule after
//! another without any order, and it shares no code with the real one.

use std::collections::BTreeSet;

use bursar_policy::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::builders::{BUYER, EVIL, NOW_S, PAYEE, TEST_USDC, USDC, address, draft, errand, money, rules};

/// Address texts and which account each one is; `None` is malformed.
const ADDRESSES: &[(&str, Option<&str>)] = &[
    (PAYEE, Some("payee")),
    (EVIL, Some("evil")),
    (BUYER, Some("buyer")),
    (USDC, Some("usdc")),
    ("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", Some("usdc")),
    ("0x833589FCD6EDB6E08F4C7C32D4F71B54BDA02913", Some("usdc")),
    ("0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913", None),
    (TEST_USDC, Some("test usdc")),
    ("0x0000000000000000000000000000000000000000", Some("zero")),
    ("0X1111111111111111111111111111111111111111", None),
    ("0x111111111111111111111111111111111111111", None),
    ("walletaddress", None),
    ("", None),
];

/// Amount texts and what each one is.
const AMOUNTS: &[(&str, Price)] = &[
    ("1", Price::Units(1)),
    ("10000", Price::Units(10_000)),
    ("20000", Price::Units(20_000)),
    ("49999", Price::Units(49_999)),
    ("50000", Price::Units(50_000)),
    ("50001", Price::Units(50_001)),
    ("340282366920938463463374607431768211455", Price::Units(u128::MAX)),
    ("340282366920938463463374607431768211456", Price::Huge),
    ("115792089237316195423570985008687907853269984665640564039457584007913129639935", Price::Huge),
    ("0", Price::Bad),
    ("010000", Price::Bad),
    ("+10000", Price::Bad),
    ("1e4", Price::Bad),
    ("10000.0", Price::Bad),
    (" 10000", Price::Bad),
    ("", Price::Bad),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Price {
    Units(u128),
    Huge,
    Bad,
}

/// Network texts, and whether they mean Base in v1 and in v2.
const NETWORKS: &[(&str, bool, bool)] = &[
    ("eip155:8453", true, true),
    ("base", true, false),
    ("eip155:84532", false, false),
    ("base-sepolia", false, false),
    ("EIP155:8453", false, false),
    ("eip155:08453", false, false),
    ("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", false, false),
];

/// Resource texts, and whether they name another host.
const RESOURCES: &[(&str, bool)] = &[
    ("https://api.merchant.test/v1/data", false),
    ("http://api.merchant.test:8080/other", false),
    ("/v1/data", false),
    ("mcp://tool/x", false),
    ("https://other.test/v1/data", true),
    ("https://api.merchant.test@other.test/", true),
];

fn quoted(said: &Said) -> Option<&str> {
    if let Said::Text(text) = said { Some(text) } else { None }
}

fn missing(said: &Said) -> bool {
    *said == Said::Absent || *said == Said::Null
}

fn account(said: &Said) -> Option<&'static str> {
    let text = quoted(said)?;
    ADDRESSES.iter().find(|row| row.0 == text).unwrap().1
}

fn price(said: &Said) -> Price {
    match quoted(said) {
        Some(text) => AMOUNTS.iter().find(|row| row.0 == text).unwrap().1,
        None => Price::Bad,
    }
}

fn names_another_host(said: &Said) -> bool {
    quoted(said).is_some_and(|text| RESOURCES.iter().any(|row| row.0 == text && row.1))
}

/// What the rules of a run say, in this gate's own words.
#[derive(Clone, Debug)]
struct Policy {
    payees: Option<Vec<&'static str>>,
    host_cap: Option<u128>,
    own_cap: Option<u128>,
    payer_known: bool,
}

type Codes = BTreeSet<&'static str>;

/// The codes against one offer, and whether its kind is not supported at all.
fn against(policy: &Policy, document: &Challenge, place: usize) -> (Codes, bool) {
    let offer = &document.offers[place];
    let v1 = document.version == Version::V1;
    let mut codes = Codes::new();
    if quoted(&offer.scheme) != Some("exact") {
        codes.insert("unsupported_scheme");
    }
    let network = quoted(&offer.network).and_then(|text| NETWORKS.iter().find(|row| row.0 == text));
    if !network.is_some_and(|row| if v1 { row.1 } else { row.2 }) {
        codes.insert("unsupported_network");
    }
    if !missing(&offer.transfer_method) && quoted(&offer.transfer_method) != Some("eip3009") {
        codes.insert("unsupported_transfer_method");
    }
    if !missing(&offer.payment_flow) && quoted(&offer.payment_flow) != Some("authorization") {
        codes.insert("unsupported_payment_flow");
    }
    if !codes.is_empty() {
        return (codes, true);
    }
    for earlier in &document.offers[..place] {
        if v1 && earlier.scheme == offer.scheme && earlier.network == offer.network {
            codes.insert("shadowed_offer");
        }
    }
    if !offer.conflicts.is_empty() {
        codes.insert("offer_conflict");
    }
    if names_another_host(&offer.resource) {
        codes.insert("resource_mismatch");
    }
    let (asset, payee, price) = (account(&offer.asset), account(&offer.pay_to), price(&offer.amount));
    let usdc = asset == Some("usdc");
    if asset.is_none() || payee.is_none() {
        codes.insert("address_invalid");
    }
    if asset.is_some() && !usdc {
        codes.insert("asset_not_allowed");
    }
    if let Some(payee) = payee {
        if payee == "zero" || asset == Some(payee) || (payee == "buyer" && policy.payer_known) {
            codes.insert("payee_forbidden");
        }
        if policy.payees.as_ref().is_some_and(|listed| !listed.contains(&payee)) {
            codes.insert("payee_not_allowed");
        }
    }
    match price {
        Price::Bad => _ = codes.insert("amount_invalid"),
        Price::Huge => _ = codes.insert("over_payment_cap"),
        Price::Units(units) if usdc => {
            if units > 50_000 || policy.host_cap.is_some_and(|cap| units > cap) {
                codes.insert("over_payment_cap");
            }
            // What cannot be counted as money is not compared with the caller's ceiling.
            let countable = units <= u128::MAX / 1_000_000_000_000;
            if countable && policy.own_cap.is_some_and(|cap| units > cap) {
                codes.insert("price_above_ceiling");
            }
        }
        Price::Units(_) => {}
    }
    if let Said::Number(text) = &offer.max_timeout
        && ["5", "9", "10", "60", "300", "86400"].contains(&text.as_str())
    {
        if text == "5" || text == "9" {
            codes.insert("lifetime_too_short");
        }
    } else {
        codes.insert("timeout_invalid");
    }
    if usdc {
        let fine = quoted(&offer.domain_name) == Some("USD Coin")
            && quoted(&offer.domain_version) == Some("2")
            && (missing(&offer.verifying_contract) || account(&offer.verifying_contract) == Some("usdc"))
            && (missing(&offer.chain_id)
                || [Said::Number("8453".into()), Said::text("8453")].contains(&offer.chain_id));
        if !fine {
            codes.insert("domain_mismatch");
        }
    }
    (codes, false)
}

/// The place and price of the offer to pay, or the codes against the document.
fn decide(policy: &Policy, document: &Challenge) -> Result<(usize, u128), Codes> {
    let mut all = Codes::new();
    if document.offers.is_empty() {
        all.insert("no_offers");
    }
    if names_another_host(&document.resource) {
        all.insert("resource_mismatch");
    }
    if let Some(theirs) = document.seller_time_s
        && !(NOW_S - 30..=NOW_S + 30).contains(&theirs)
    {
        all.insert("clock_invalid");
    }
    let (mut judged, mut unsupported) = (Codes::new(), Codes::new());
    let mut payable = Vec::new();
    for place in 0..document.offers.len() {
        match against(policy, document, place) {
            (codes, true) => unsupported.extend(codes),
            (codes, false) if codes.is_empty() => match price(&document.offers[place].amount) {
                Price::Units(units) => payable.push((units, place)),
                Price::Huge | Price::Bad => panic!("a payable offer has a price"),
            },
            (codes, false) => judged.extend(codes),
        }
    }
    match payable.into_iter().min() {
        Some((units, place)) if all.is_empty() => Ok((place, units)),
        Some(_) => Err(all),
        None => {
            all.extend(if judged.is_empty() { unsupported } else { judged });
            Err(all)
        }
    }
}

/// A value that is usually `good`, otherwise one of the texts or of the other JSON types.
fn member(good: &'static str, texts: Vec<&'static str>) -> impl Strategy<Value = Said> {
    prop_oneof![
        12 => Just(Said::text(good)),
        5 => prop::sample::select(texts).prop_map(Said::text),
        1 => Just(Said::Absent),
        1 => Just(Said::Null),
        1 => Just(Said::Number("10000".into())),
        1 => Just(Said::Other("an object")),
    ]
}

/// A value that usually is not there.
fn extra(texts: Vec<&'static str>) -> impl Strategy<Value = Said> {
    prop_oneof![
        16 => Just(Said::Absent),
        1 => Just(Said::Null),
        2 => prop::sample::select(texts).prop_map(Said::text),
        1 => Just(Said::Number("8453".into())),
    ]
}

fn timeout() -> impl Strategy<Value = Said> {
    let numbers = vec!["5", "9", "10", "60", "300", "86400", "0", "-1", "60.5", "86401", "18446744073709551615"];
    prop_oneof![
        10 => Just(Said::Number("60".into())),
        5 => prop::sample::select(numbers).prop_map(|text| Said::Number(text.into())),
        1 => Just(Said::text("60")),
        1 => Just(Said::Absent),
    ]
}

fn an_offer() -> impl Strategy<Value = Offer> {
    let addresses: Vec<&str> = ADDRESSES.iter().map(|row| row.0).collect();
    let what = (
        member("exact", vec!["upto", "Exact", ""]),
        member("eip155:8453", NETWORKS.iter().map(|row| row.0).collect()),
        member("10000", AMOUNTS.iter().map(|row| row.0).collect()),
        member(USDC, addresses.clone()),
        member(PAYEE, addresses.clone()),
        timeout(),
    );
    let more = (
        extra(vec!["eip3009", "permit2", "erc7710"]),
        extra(vec!["authorization", "upfront", "escrow"]),
        member("USD Coin", vec!["USDC", "usd coin", ""]),
        member("2", vec!["1", ""]),
        extra(addresses),
        extra(vec!["8453", "1", "0x2105"]),
        extra(RESOURCES.iter().map(|row| row.0).collect()),
        prop::bool::weighted(0.05),
    );
    (what, more).prop_map(|(what, more)| Offer {
        index: 0,
        scheme: what.0,
        network: what.1,
        amount: what.2,
        asset: what.3,
        pay_to: what.4,
        max_timeout: what.5,
        transfer_method: more.0,
        payment_flow: more.1,
        domain_name: more.2,
        domain_version: more.3,
        verifying_contract: more.4,
        chain_id: more.5,
        resource: more.6,
        conflicts: if more.7 { vec!["amount and maxAmountRequired".into()] } else { Vec::new() },
    })
}

fn a_document() -> impl Strategy<Value = Challenge> {
    let resource = prop_oneof![
        8 => prop::sample::select(RESOURCES.to_vec()).prop_map(|row| Said::text(row.0)),
        2 => Just(Said::Absent),
    ];
    let time = prop::option::of(prop::sample::select(vec![NOW_S, NOW_S + 30, NOW_S - 30, NOW_S + 31, 0]));
    let version = prop::sample::select(vec![Version::V1, Version::V2]);
    (version, prop::collection::vec(an_offer(), 0..5), resource, time).prop_map(
        |(version, mut offers, resource, seller_time_s)| {
            for (place, offer) in offers.iter_mut().enumerate() {
                offer.index = u32::try_from(place).unwrap();
            }
            Challenge { version, offers, resource, seller_time_s }
        },
    )
}

fn a_policy() -> impl Strategy<Value = Policy> {
    let payees = prop::option::weighted(0.4, prop::sample::subsequence(vec!["payee", "evil", "usdc"], 0..3));
    let cap = || prop::option::weighted(0.3, prop::sample::select(vec![1_u128, 10_000, 20_000]));
    (payees, cap(), cap(), any::<bool>()).prop_map(|(payees, host_cap, own_cap, payer_known)| Policy {
        payees,
        host_cap,
        own_cap,
        payer_known,
    })
}

/// The same policy in the words of the real gate.
fn in_real_words(policy: &Policy) -> (Rules, Errand) {
    let account = |name: &&str| match *name {
        "payee" => address(PAYEE),
        "evil" => address(EVIL),
        "usdc" => address(USDC),
        _ => address("0x0000000000000000000000000000000000000000"),
    };
    let dollars = |units: u128| Money::new(Currency::USD, units * 1_000_000_000_000);
    let mut real = draft();
    real.payment.allow_any_recipient = policy.payees.is_none();
    real.payment.recipients = policy.payees.as_ref().map(|listed| listed.iter().map(account).collect());
    real.hosts[0].max_per_payment =
        policy.host_cap.map(|cap| bursar_policy::rules::draft::Ceilings(vec![dollars(cap)]));
    (rules(real), Errand { ceiling: policy.own_cap.map(dollars), ..errand() })
}

/// Where the two gates differ about a document; nothing when they agree.
fn difference(policy: &Policy, rules: &Rules, errand: &Errand, document: &Challenge) -> Option<String> {
    let payer = policy.payer_known.then(|| address(BUYER));
    let real = judge(rules, errand, document, payer, NOW_S);
    let dumb = decide(policy, document);
    let same = match (&real, &dumb) {
        (Ok(vetted), Ok((place, units))) => {
            let terms = vetted.get();
            usize::try_from(terms.offer).unwrap() == *place
                && terms.amount.units() == *units
                && Some(terms.payee) == quoted(&document.offers[*place].pay_to).map(address)
                && terms.asset_id() == crate::builders::usdc()
                && terms.version == document.version
        }
        (Err(reasons), Err(codes)) => reasons.iter().map(Refusal::code).collect::<Codes>() == *codes,
        _ => false,
    };
    (!same).then(|| format!("{real:?} against {dumb:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Few documents, each of which shrinks to what matters when the gates differ.
    #[test]
    fn both_gates_agree(policy in a_policy(), document in a_document()) {
        let (rules, errand) = in_real_words(&policy);
        prop_assert_eq!(difference(&policy, &rules, &errand, &document), None);
    }
}

/// The offers are drawn once and then dealt out again and again, to different documents under different policies.
#[test]
fn both_gates_agree_on_a_million_random_offers() {
    const OFFERS: usize = 1_000_000;
    let mut runner = TestRunner::deterministic();
    let policies: Vec<(Policy, (Rules, Errand))> = drawn(&mut runner, &a_policy(), 128)
        .into_iter()
        .map(|policy| {
            let words = in_real_words(&policy);
            (policy, words)
        })
        .collect();
    let documents = drawn(&mut runner, &a_document(), 512);
    let pool = drawn(&mut runner, &an_offer(), 4096);
    let (mut dealt, mut paid) = (0, 0);
    // A linear congruential generator (Knuth's MMIX) deals; it is the same in every run.
    let mut state = 0x5e11_u64;
    let mut pick = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    while dealt < OFFERS {
        let mut document = documents[pick(documents.len())].clone();
        let size = 1 + pick(5);
        document.offers = (0..size).map(|_| pool[pick(pool.len())].clone()).collect();
        for (place, offer) in (0..).zip(&mut document.offers) {
            offer.index = place;
        }
        let (policy, (rules, errand)) = &policies[pick(policies.len())];
        if let Some(difference) = difference(policy, rules, errand, &document) {
            panic!("{policy:?}, {document:?}: {difference}");
        }
        dealt += document.offers.len();
        paid += usize::from(judge(rules, errand, &document, None, NOW_S).is_ok());
    }
    assert!(paid > OFFERS / 1000, "only {paid} documents were payable: the offers are too wild to prove anything");
}

fn drawn<S: Strategy>(runner: &mut TestRunner, strategy: &S, count: usize) -> Vec<S::Value> {
    (0..count).map(|_| strategy.new_tree(runner).unwrap().current()).collect()
}

#[test]
fn the_dumb_gate_pays_too() {
    let open = Policy { payees: None, host_cap: None, own_cap: None, payer_known: true };
    let document = crate::builders::challenge(vec![crate::builders::offer()]);
    assert_eq!(decide(&open, &document), Ok((0, 10_000)));
    assert_eq!(money("0.01 USD").atto(), 10_000 * 1_000_000_000_000);
}
