//! Laws: nothing breaks the gate, and tightening a rule never allows more.

use std::sync::LazyLock;

use bursar_policy::rules::draft::{Ceilings, HostDraft, PayeeDraft};
use bursar_policy::*;
use proptest::prelude::*;

use crate::builders::*;

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        Just(Said::Absent),
        Just(Said::Null),
        Just(Said::Other("an object")),
        any::<String>().prop_map(Said::Text),
        "-?[0-9]{0,90}(\\.[0-9])?(e[0-9])?".prop_map(Said::Number),
        Just(Said::text("exact")),
        Just(Said::text("eip155:8453")),
        Just(Said::text(USDC)),
    ]
}

prop_compose! {
    fn wild_offer()(fields in prop::collection::vec(said(), 13), index: u32, conflict in prop::option::weighted(0.2, any::<String>()), tame: u16) -> Offer {
        let mut fields = fields.into_iter();
        let honest = offer();
        let mut bit = 0;
        let mut pick = |honest: Said| {
            let wild = fields.next().unwrap();
            bit += 1;
            if tame >> bit & 1 == 1 { honest } else { wild }
        };
        Offer {
            index,
            scheme: pick(honest.scheme),
            network: pick(honest.network),
            amount: pick(honest.amount),
            asset: pick(honest.asset),
            pay_to: pick(honest.pay_to),
            max_timeout: pick(honest.max_timeout),
            transfer_method: pick(honest.transfer_method),
            payment_flow: pick(honest.payment_flow),
            domain_name: pick(honest.domain_name),
            domain_version: pick(honest.domain_version),
            verifying_contract: pick(honest.verifying_contract),
            chain_id: pick(honest.chain_id),
            resource: pick(honest.resource),
            conflicts: conflict.into_iter().collect(),
        }
    }
}

/// Offers that pass or fail for one reason or another, close to the edge.
fn near_offer() -> impl Strategy<Value = Offer> {
    let network = prop::sample::select(vec!["eip155:8453", "eip155:137", "eip155:84532"]);
    let asset = prop::sample::select(vec![USDC, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", EVIL]);
    let payee = prop::sample::select(vec![PAYEE, EVIL, USDC, BUYER]);
    let amount = prop::sample::select(vec![1_u64, 10_000, 19_999, 20_000, 20_001, 49_999, 50_000, 50_001]);
    let timeout = prop::sample::select(vec![9_u64, 10, 20, 29, 30, 60, 86_400]);
    (network, asset, payee, amount, timeout).prop_map(|(network, asset, payee, amount, timeout)| Offer {
        network: Said::text(network),
        asset: Said::text(asset),
        pay_to: Said::text(payee),
        amount: Said::Text(amount.to_string()),
        max_timeout: Said::Number(timeout.to_string()),
        ..offer()
    })
}

/// Rules that allow a good deal, with all that can be taken away.
fn loose() -> Draft {
    let mut loose = draft();
    loose.payment.max_unresolved = Some(3);
    loose.payment.networks = vec![ChainId::BASE, ChainId::new(137)];
    let polygon = "eip155:137/erc20:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359";
    loose.payment.assets = vec![usdc(), polygon.parse().unwrap()];
    let methods = Some(vec![Method::Get, Method::Head, Method::Post]);
    let resource_hosts = vec!["other.test".parse().unwrap()];
    loose.hosts = vec![
        HostDraft { methods, resource_hosts, ..host(ORIGIN) },
        host("https://b.test"),
        host("https://c.test:8443"),
    ];
    loose
}

static REFERENCE: LazyLock<Rules> = LazyLock::new(|| rules(draft()));
static LOOSE: LazyLock<Rules> = LazyLock::new(|| rules(loose()));

/// One way to take something away.
type Tightening = (&'static str, fn(&mut Draft));

const TIGHTENINGS: &[Tightening] = &[
    ("no scheme", |draft| draft.payment.schemes.clear()),
    ("one network less", |draft| draft.payment.networks.truncate(1)),
    ("the other network less", |draft| draft.payment.networks.retain(|chain| *chain != ChainId::BASE)),
    ("one asset less", |draft| draft.payment.assets.truncate(1)),
    ("the other asset less", |draft| draft.payment.assets.retain(|asset| *asset != usdc())),
    ("one network with its asset less", |draft| {
        draft.payment.assets.truncate(1);
        draft.payment.networks.truncate(1);
    }),
    ("listed recipients", |draft| {
        draft.payment.allow_any_recipient = false;
        draft.payment.recipients = Some(vec![address(PAYEE)]);
    }),
    ("no recipient", |draft| {
        draft.payment.allow_any_recipient = false;
        draft.payment.recipients = Some(Vec::new());
    }),
    ("host recipients", |draft| first_host(draft, |host| host.recipients = Some(vec![address(EVIL)]))),
    ("lower ceiling", |draft| draft.payment.max_per_payment = Ceilings(vec![money("0.02 USD")])),
    ("host ceiling", |draft| first_host(draft, |host| host.max_per_payment = Some(Ceilings(vec![money("0.02 USD")])))),
    ("hours that are over", |draft| {
        draft.payment.hours = Some("00:00-16:00".parse().unwrap());
        draft.payment.time_zone = Some("UTC".parse().unwrap());
    }),
    ("hours of now on another day", |draft| {
        draft.payment.hours = Some("16:00-17:00".parse().unwrap());
        draft.payment.days = Some(vec!["fri-sun".parse().unwrap()]);
        draft.payment.time_zone = Some("UTC".parse().unwrap());
    }),
    ("days of now", |draft| {
        draft.payment.days = Some(vec!["thu".parse().unwrap()]);
        draft.payment.time_zone = Some("Europe/Berlin".parse().unwrap());
    }),
    ("shorter life", |draft| draft.payment.max_lifetime = Some("10s".parse().unwrap())),
    ("one host less", |draft| draft.hosts.retain(|host| host.origin.to_string() != ORIGIN)),
    ("only a part of the host", |draft| first_host(draft, |host| host.path = "/v1/".parse().unwrap())),
    ("another part of the host", |draft| first_host(draft, |host| host.path = "/v2".parse().unwrap())),
    ("a tighter part of the host", |draft| {
        let max_per_payment = Some(Ceilings(vec![money("0.01 USD")]));
        draft.hosts.push(HostDraft { path: "/v1/".parse().unwrap(), max_per_payment, ..host(ORIGIN) });
    }),
    ("no host", |draft| draft.hosts.clear()),
    ("default methods", |draft| first_host(draft, |host| host.methods = None)),
    ("no method", |draft| first_host(draft, |host| host.methods = Some(Vec::new()))),
    ("smaller body", |draft| first_host(draft, |host| host.body_limit = Some("1 KiB".parse().unwrap()))),
    ("no resource host", |draft| first_host(draft, |host| host.resource_hosts.clear())),
    ("fewer unresolved", |draft| draft.payment.max_unresolved = Some(2)),
    ("fewer unresolved of one host", |draft| first_host(draft, |host| host.max_unresolved = Some(1))),
    ("a limit", |draft| {
        let window = Window::Lifetime;
        draft.limits.push(Limit { scope: Scope::All, tag: None, window, max: Some(money("0.03 USD")), count: None });
    }),
    ("a limit of the day", |draft| {
        let window = "day in Europe/Berlin".parse().unwrap();
        draft.limits.push(Limit { scope: Scope::Host, tag: None, window, max: Some(money("0.04 USD")), count: None });
    }),
    ("a limit of a tag", |draft| {
        let tag: Tag = "data".parse().unwrap();
        first_host(draft, |host| host.tags.push(tag));
        let window = Window::Rolling { secs: 60 };
        draft.limits.push(Limit {
            scope: Scope::Tag,
            tag: Some(tag),
            window,
            max: Some(money("0.02 USD")),
            count: None,
        });
    }),
    ("a limit of a payee's tag", |draft| {
        let tag: Tag = "people".parse().unwrap();
        draft.payees.push(PayeeDraft { address: address(PAYEE), tags: vec![tag] });
        draft.limits.push(Limit {
            scope: Scope::Tag,
            tag: Some(tag),
            window: Window::Lifetime,
            max: None,
            count: Some(2),
        });
    }),
    ("a count", |draft| {
        let window = Window::Lifetime;
        draft.limits.push(Limit { scope: Scope::All, tag: None, window, max: None, count: Some(1) });
    }),
];

/// Tightens the first host, if one is left.
fn first_host(draft: &mut Draft, tighten: impl Fn(&mut HostDraft)) {
    draft.hosts.iter_mut().take(1).for_each(tighten);
}

fn near_errand() -> impl Strategy<Value = Errand> {
    let url = prop::sample::select(vec![
        "https://api.merchant.test/v1/data",
        "https://b.test/",
        "https://c.test:8443/",
        "https://c.test/",
        "http://b.test/",
    ]);
    let bytes = prop::sample::select(vec![0_u32, 1024, 1025, 65_536, 65_537]);
    let ceiling = prop::option::of(prop::sample::select(vec!["0.02 USD", "1 EUR"]));
    (url, prop::sample::select(Method::EVERY.to_vec()), bytes, ceiling).prop_map(|(url, method, bytes, ceiling)| {
        let body = (bytes > 0).then(|| Body { digest: Digest::of(b""), bytes, kind: BodyType::Json });
        Errand { method, body, ceiling: ceiling.map(money), ..errand_to(url) }
    })
}

/// A ledger that has counted `used` and `count` under every limit.
fn standing(rules: &Rules, facts: &PaymentFacts, used: Money, count: u32, unresolved: Unresolved) -> Standing {
    let total = |limit: &Limit| Total { limit: *limit, key: limit.key(facts), amount: used, count, share: None };
    Standing {
        frozen: false,
        latched: false,
        session: SessionStanding {
            id: facts.session.clone(),
            budget: money("1 USD"),
            spent: used,
            expires_s: NOW_S + 60,
            closed: false,
            mandate: None,
        },
        totals: rules.limits().iter().map(total).collect(),
        unresolved,
        quarantined_until_s: None,
        bought_ago_s: None,
        funds: None,
        acquaintance: Acquaintance::default(),
        suspicious: None,
        word: Word::None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn nothing_breaks_the_gate_and_inspection_agrees(
        offers in prop::collection::vec(wild_offer(), 0..6),
        resource in said(),
        seller_time_s: Option<u64>,
        now_s: u64,
        v1: bool,
        payer: Option<[u8; 20]>,
    ) {
        let version = if v1 { Version::V1 } else { Version::V2 };
        let document = Challenge { version, offers, resource, seller_time_s };
        let payer = payer.map(Address::from_bytes);
        let rules = &*REFERENCE;
        let verdict = judge(rules, &errand(), &document, payer, now_s);
        let seen = inspect(rules, &errand(), &document, payer, now_s);
        prop_assert_eq!(seen.chosen.as_ref(), verdict.as_ref().ok().map(Vetted::get));
        if let Err(reasons) = verdict {
            prop_assert!(!reasons.is_empty());
            prop_assert!(reasons.is_sorted_by_key(Refusal::rank));
            let mut once = reasons.clone();
            once.dedup();
            prop_assert_eq!(once.len(), reasons.len());
        }
    }

    #[test]
    fn what_passes_once_passes_again_as_rebuilt(
        offers in prop::collection::vec(near_offer(), 1..5),
        errand in near_errand(),
    ) {
        if let Ok(terms) = judged(&LOOSE, &errand, &challenge(offers)) {
            prop_assert_eq!(judged(&LOOSE, &errand, &terms.to_challenge()), Ok(terms));
        }
    }

    #[test]
    fn tightening_never_allows_more(
        tightenings in prop::collection::vec(prop::sample::select(TIGHTENINGS.to_vec()), 1..4),
        offers in prop::collection::vec(near_offer(), 1..5),
        errand in near_errand(),
        used in 0..60_000_u128,
        count in 0..3_u32,
        lost in (0..4_u32, 0..4_u32),
    ) {
        let mut tight = loose();
        for (_, tighten) in &tightenings {
            tighten(&mut tight);
        }
        let names: Vec<&str> = tightenings.iter().map(|one| one.0).collect();
        // Contradictory rules are no rules, and allow nothing.
        let Ok(tight) = Rules::new(tight, Setting::Real) else { return Ok(()) };
        let loose = &*LOOSE;
        prop_assert!(may_visit(&tight, &errand).is_err() || may_visit(loose, &errand).is_ok(), "{:?}", names);
        let Ok(vetted) = judge(&tight, &errand, &challenge(offers), None, NOW_S) else { return Ok(()) };
        let terms = vetted.get().clone();
        let again = judge(loose, &errand, &terms.to_challenge(), None, NOW_S);
        prop_assert_eq!(again.as_ref().ok().map(Vetted::get), Some(&terms), "{:?}", names);
        let facts = PaymentFacts {
            session: SessionId::from_random([1; 16]),
            site: errand.site.clone(),
            payee: terms.payee,
            asset: terms.asset_id(),
            money: Money::of(terms.amount, tight.asset(&terms.asset_id()).unwrap()).unwrap(),
            tags: tight.tags(&errand.site, &terms.payee),
        };
        let unresolved = Unresolved { host: lost.0, payee: lost.1 };
        let used = Money::new(Currency::USD, used * 1_000_000_000_000);
        let under = |rules: &Rules, vetted| {
            admit(rules, &standing(rules, &facts, used, count, unresolved), vetted, facts.clone(), NOW_S).is_ok()
        };
        let (tightly, loosely) = (under(&tight, vetted), under(loose, again.unwrap()));
        prop_assert!(loosely || !tightly, "{:?}", names);
    }
}

#[test]
fn every_tightening_takes_something_away() {
    for (name, tighten) in TIGHTENINGS {
        let mut tight = loose();
        tighten(&mut tight);
        assert_ne!(tight, loose(), "{name}");
    }
}
