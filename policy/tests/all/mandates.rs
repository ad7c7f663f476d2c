//! A mandate is whole, fits the rules, and takes something away: it never gives anything.

use bursar_policy::refusal::MandatePart;
use bursar_policy::rules::MandateNeed;
use bursar_policy::*;
use proptest::prelude::*;

use crate::admission::{facts, limit, standing};
use crate::builders::*;

fn origins(listed: &[&str]) -> Vec<Origin> {
    listed.iter().map(|origin| origin.parse().unwrap()).collect()
}

fn mandate(listed: &[&str], payees: Payees, most: &str) -> Mandate {
    Mandate::new("weather for the trip".to_owned(), origins(listed), payees, money(most)).unwrap()
}

fn listed(payees: &[&str]) -> Payees {
    Payees::Listed(payees.iter().map(|payee| address(payee)).collect())
}

#[test]
fn a_mandate_is_whole_or_it_is_none() {
    let made = |purpose: &str, origins: Vec<Origin>, payees, most: &str| {
        Mandate::new(purpose.to_owned(), origins, payees, money(most)).map(|_mandate| ())
    };
    let one = || origins(&[ORIGIN]);
    let many = |count: u8| (0..count).map(|at| format!("https://s{at}.test").parse().unwrap()).collect::<Vec<Origin>>();
    let people = |count: u8| Payees::Listed((0..count).map(|at| Address::from_bytes([at; 20])).collect());
    assert_eq!(made(&"ü".repeat(200), many(32), people(32), "0.01 USD"), Ok(()));
    for purpose in ["", "  ", "one\ntwo", "bell\u{7}", &"x".repeat(201)] {
        assert_eq!(made(purpose, one(), Payees::Any, "1 USD"), Err(MandateFault::Purpose), "{purpose:?}");
    }
    assert_eq!(made("x", Vec::new(), Payees::Any, "1 USD"), Err(MandateFault::Origins));
    assert_eq!(made("x", many(33), Payees::Any, "1 USD"), Err(MandateFault::Origins));
    let twice = origins(&[ORIGIN, "https://b.test", "https://API.merchant.test:443"]);
    assert_eq!(made("x", twice, Payees::Any, "1 USD"), Err(MandateFault::OriginTwice(ORIGIN.parse().unwrap())));
    assert_eq!(made("x", one(), people(0), "1 USD"), Err(MandateFault::Payees));
    assert_eq!(made("x", one(), people(33), "1 USD"), Err(MandateFault::Payees));
    let twice = listed(&[PAYEE, EVIL, PAYEE]);
    assert_eq!(made("x", one(), twice, "1 USD"), Err(MandateFault::PayeeTwice(address(PAYEE))));
    assert_eq!(made("x", one(), Payees::Any, "0 USD"), Err(MandateFault::Ceiling));
}

#[test]
fn a_mandate_says_what_it_was_made_of() {
    for payees in [Payees::Any, listed(&[PAYEE, EVIL])] {
        let made = mandate(&["https://b.test:8443", ORIGIN], payees.clone(), "0.05 USD");
        assert_eq!(made.purpose(), "weather for the trip");
        assert_eq!(made.origins(), origins(&["https://b.test:8443", ORIGIN]));
        assert_eq!(made.payees(), &payees);
        assert_eq!(made.max_per_payment(), money("0.05 USD"));
    }
}

#[test]
fn what_is_written_down_is_read_back_and_nothing_less_is() {
    for payees in [Payees::Any, listed(&[PAYEE, EVIL])] {
        let whole = mandate(&[ORIGIN, "https://b.test:8443"], payees, "0.05 USD");
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(serde_json::from_str::<Mandate>(&text).unwrap(), whole, "{text}");
    }
    let whole = r#"{"purpose":"x","origins":["https://b.test"],"payees":"any","max_per_payment":"1 USD"}"#;
    assert!(serde_json::from_str::<Mandate>(whole).is_ok());
    for (part, spoilt) in [
        (r#""purpose":"x","#, ""),
        (r#""payees":"any","#, ""),
        (r#""payees":"any""#, r#""payees":null"#),
        (r#""payees":"any""#, r#""payees":{"listed":[]}"#),
        (r#"["https://b.test"]"#, "[]"),
        (r#""https://b.test""#, r#""https://b.test/path""#),
        ("1 USD", "0 USD"),
        (r#""purpose""#, r#""more":1,"purpose""#),
    ] {
        let text = whole.replace(part, spoilt);
        assert!(serde_json::from_str::<Mandate>(&text).is_err(), "{text}");
    }
}

/// Two sellers: one with payees and a ceiling of its own, of the other only a part may be asked, by POST.
fn two_sellers() -> Rules {
    let mut two = draft();
    two.hosts.push(host("https://b.test:8443"));
    two.hosts[0].recipients = Some(vec![address(PAYEE)]);
    two.hosts[0].max_per_payment = Some(rules::draft::Ceilings(vec![money("0.02 USD")]));
    two.hosts[1].path = "/v1".parse().unwrap();
    two.hosts[1].methods = Some(vec![Method::Post]);
    rules(two)
}

#[test]
fn a_mandate_contradicts_where_the_rules_leave_nothing_of_a_part() {
    let two = two_sellers();
    let fits = |listed: &[&str], payees, most: &str| mandate(listed, payees, most).fits(&two, money("1 USD"));
    let (own, other) = (ORIGIN, "https://b.test:8443");
    assert_eq!(fits(&[own, other], listed(&[PAYEE, EVIL]), "0.05 USD"), Ok(()), "narrower at one is no contradiction");
    assert_eq!(fits(&[own], Payees::Any, "0.02 USD"), Ok(()));
    for stranger in ["https://c.test", "http://api.merchant.test", "https://b.test", "https://api.merchant.test:444"] {
        let fault = MandateFault::OriginNotAllowed(stranger.parse().unwrap());
        assert_eq!(fits(&[own, stranger], Payees::Any, "0.01 USD"), Err(fault));
    }
    let fault = MandateFault::PayeeNotAllowed(address(EVIL));
    assert_eq!(fits(&[own], listed(&[PAYEE, EVIL]), "0.01 USD"), Err(fault));
    let over = |most: &str, ceiling: &str| Err(MandateFault::OverRules { ceiling: money(ceiling), most: money(most) });
    assert_eq!(fits(&[own], Payees::Any, "0.03 USD"), over("0.02 USD", "0.03 USD"));
    assert_eq!(fits(&[own, other], Payees::Any, "0.06 USD"), over("0.05 USD", "0.06 USD"));
    assert_eq!(
        fits(&[own], Payees::Any, "2 USD"),
        Err(MandateFault::OverBudget { ceiling: money("2 USD"), budget: money("1 USD") })
    );
    assert_eq!(
        fits(&[own], Payees::Any, "0.01 EUR"),
        Err(MandateFault::Currencies { ceiling: money("0.01 EUR"), budget: money("1 USD") })
    );
    let euro = mandate(&[own], Payees::Any, "0.01 EUR").fits(&two, money("1 EUR"));
    assert_eq!(euro, Err(MandateFault::CurrencyNotAllowed("EUR".parse().unwrap())));
}

#[test]
fn where_any_host_may_be_asked_a_mandate_names_what_the_gate_would_ask() {
    let mut any = draft();
    any.hosts = Vec::new();
    any.payment.allow_any_host = true;
    let any = rules(any);
    let fits = |origin| mandate(&[origin], Payees::Any, "0.05 USD").fits(&any, money("1 USD"));
    assert_eq!(fits("https://whoever.test"), Ok(()));
    for refused in ["http://whoever.test", "https://whoever.test:8443", "https://10.0.0.1"] {
        assert_eq!(fits(refused), Err(MandateFault::OriginNotAllowed(refused.parse().unwrap())));
    }
}

#[test]
fn an_origin_of_which_nothing_may_be_asked_is_none() {
    let mut mute = draft();
    mute.hosts[0].methods = Some(Vec::new());
    let fault = mandate(&[ORIGIN], Payees::Any, "0.05 USD").fits(&rules(mute), money("1 USD")).unwrap_err();
    assert_eq!(
        fault.to_string(),
        format!("the rules let nothing be asked at `{ORIGIN}`; leave it out, or list it as a [[host]] in the rules")
    );
}

fn parts(mandate: &Mandate, facts: &PaymentFacts) -> Vec<MandatePart> {
    let part = |reason: Refusal| match reason {
        Refusal::OutsideMandate { part } => part,
        other => panic!("{other:?}"),
    };
    against_paying(&rules(draft()), Some(mandate), facts).into_iter().map(part).collect()
}

#[test]
fn each_part_that_is_outside_is_told_apart() {
    let narrow = mandate(&[ORIGIN], listed(&[PAYEE]), "0.01 USD");
    assert_eq!(parts(&narrow, &facts()), []);
    let site: Site = "https://api.merchant.test:8443/".parse().unwrap();
    assert_eq!(parts(&narrow, &PaymentFacts { site, ..facts() }), [MandatePart::Origin]);
    assert_eq!(parts(&narrow, &PaymentFacts { payee: address(EVIL), ..facts() }), [MandatePart::Payee]);
    let dear = Money::new(Currency::USD, money("0.01 USD").atto() + 1);
    assert_eq!(parts(&narrow, &PaymentFacts { money: dear, ..facts() }), [MandatePart::Price]);
    assert_eq!(parts(&narrow, &PaymentFacts { money: money("0.01 EUR"), ..facts() }), [MandatePart::Price]);
    let anybody = mandate(&[ORIGIN], Payees::Any, "0.01 USD");
    assert_eq!(parts(&anybody, &PaymentFacts { payee: address(EVIL), ..facts() }), []);
}

#[test]
fn a_session_without_a_mandate_asks_nothing_where_the_rules_want_one() {
    let mut strict = draft();
    strict.payment.mandate = MandateNeed::Required;
    let (strict, loose) = (rules(strict), rules(draft()));
    let site = facts().site;
    assert_eq!(against_asking(&strict, None, &site), Some(Refusal::MandateMissing));
    assert_eq!(against_asking(&loose, None, &site), None);
    assert_eq!(against_paying(&strict, None, &facts()), [Refusal::MandateMissing]);
    for rules in [&strict, &loose] {
        let here = mandate(&[ORIGIN], Payees::Any, "0.05 USD");
        assert_eq!(against_asking(rules, Some(&here), &site), None);
        let elsewhere = mandate(&["https://b.test"], Payees::Any, "0.05 USD");
        let outside = Refusal::OutsideMandate { part: MandatePart::Origin };
        assert_eq!(against_asking(rules, Some(&elsewhere), &site), Some(outside));
    }
}

fn any_mandate() -> impl Strategy<Value = Mandate> {
    let origins = prop::sample::subsequence(vec![ORIGIN, "https://b.test:8443", "https://c.test"], 1..3);
    let payees = prop::option::of(prop::sample::subsequence(vec![PAYEE, EVIL, BUYER], 1..3));
    let most = prop::sample::select(vec!["0.005 USD", "0.01 USD", "0.02 USD", "0.05 USD", "5 USD", "1 EUR"]);
    (origins, payees, most).prop_map(|(origins, payees, most)| {
        mandate(&origins, payees.map_or(Payees::Any, |payees| listed(&payees)), most)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// Every reason without it is a reason with it, and what is added is about the mandate alone.
    #[test]
    fn a_mandate_never_allows_what_is_refused_without_it(
        mandate in any_mandate(),
        url in prop::sample::select(vec!["https://api.merchant.test/v1", "https://b.test:8443/", "https://c.test/x"]),
        payee in prop::sample::select(vec![PAYEE, EVIL]),
        atto in 0..80_000_000_000_000_000_u128,
        spent in prop::sample::select(vec!["0 USD", "0.97 USD", "1 USD"]),
        used in prop::sample::select(vec!["0 USD", "4.98 USD"]),
    ) {
        let mut limited = draft();
        limited.limits = vec![limit(Scope::All, Some("5 USD"), None)];
        let rules = rules(limited);
        let facts = PaymentFacts {
            site: url.parse().unwrap(),
            payee: address(payee),
            money: Money::new(Currency::USD, atto),
            ..facts()
        };
        let mut standing = standing(&rules);
        standing.session.spent = money(spent);
        standing.totals[0].amount = money(used);
        let without = budget::against(&rules, &standing, &facts, NOW_S);
        standing.session.mandate = Some(mandate);
        let with = budget::against(&rules, &standing, &facts, NOW_S);
        prop_assert!(without.iter().all(|reason| with.contains(reason)), "{:?} {:?}", without, with);
        let added = with.iter().filter(|reason| !without.contains(reason));
        prop_assert!(added.clone().all(|reason| reason.code() == "outside_mandate"), "{:?}", with);
        prop_assert!(with.is_sorted_by_key(Refusal::rank));
    }

    /// What fits can be paid: at one of its origins, to each of its payees, at exactly its ceiling.
    #[test]
    fn what_fits_has_no_idle_part(mandate in any_mandate()) {
        let two = two_sellers();
        let budget = money("1 USD");
        let sellers = ["https://api.merchant.test/", "https://b.test:8443/v1"];
        let of_mandate = |url: &&str| mandate.origins().contains(url.parse::<Site>().unwrap().origin());
        let here: Vec<&HostRule> =
            sellers.iter().filter(|url| of_mandate(url)).filter_map(|url| two.host_rule(&url.parse().unwrap())).collect();
        let payees = match mandate.payees() {
            Payees::Any => true,
            Payees::Listed(all) => all.iter().all(|payee| here.iter().any(|rule| rule.allows_payee(payee))),
        };
        let most = mandate.max_per_payment();
        let cap = |rule: &&HostRule| most.is_within(rule.ceiling(Currency::USD).unwrap_or(money("0.05 USD")));
        let whole = here.len() == mandate.origins().len() && payees && here.iter().any(cap) && most.is_within(budget);
        prop_assert_eq!(mandate.fits(&two, budget).is_ok(), whole);
    }
}
