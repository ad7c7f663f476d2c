//! The last yes: sessions, budgets and limits never give out more than they have.

use bursar_policy::refusal::Breach;
use bursar_policy::rules::draft::{BalanceNeed, ChainDraft, PaymentDraft};
use bursar_policy::*;
use proptest::prelude::*;

use crate::builders::*;

fn session() -> SessionId {
    SessionId::from_random([1; 16])
}

pub(crate) fn facts() -> PaymentFacts {
    PaymentFacts {
        session: session(),
        site: "https://api.merchant.test/v1/data".parse().unwrap(),
        payee: address(PAYEE),
        asset: usdc(),
        money: money("0.01 USD"),
        tags: Vec::new(),
    }
}

pub(crate) fn limit(scope: Scope, max: Option<&str>, count: Option<u32>) -> Limit {
    Limit { scope, tag: None, window: Window::Rolling { secs: 86_400 }, max: max.map(money), count }
}

fn limited(limits: Vec<Limit>) -> Rules {
    rules(Draft { limits, ..draft() })
}

fn five_dollars() -> Rules {
    limited(vec![limit(Scope::All, Some("5 USD"), None)])
}

/// An open session of one dollar and nothing counted yet.
pub(crate) fn standing(rules: &Rules) -> Standing {
    let total = |limit: &Limit| Total {
        limit: *limit,
        key: limit.key(&facts()),
        amount: money("0 USD"),
        count: 0,
        share: None,
    };
    Standing {
        frozen: false,
        latched: false,
        session: SessionStanding {
            id: session(),
            budget: money("1 USD"),
            spent: money("0 USD"),
            expires_s: NOW_S + 3600,
            closed: false,
            mandate: None,
        },
        totals: rules.limits().iter().map(total).collect(),
        unresolved: Unresolved::default(),
        quarantined_until_s: None,
        bought_ago_s: None,
        funds: None,
        acquaintance: Acquaintance::default(),
        suspicious: None,
        word: Word::None,
    }
}

pub(crate) fn vetted(rules: &Rules, units: u128) -> Vetted<Terms> {
    let document = challenge(vec![Offer { amount: Said::Text(units.to_string()), ..offer() }]);
    judge(rules, &errand(), &document, None, NOW_S).unwrap()
}

fn admitted(rules: &Rules, standing: &Standing, units: u128) -> Result<Admitted, Vec<Refusal>> {
    admit(rules, standing, vetted(rules, units), facts(), NOW_S)
}

/// Why a cent is not admitted once `spoil` was there.
pub(crate) fn refusals(spoil: impl Fn(&mut Standing)) -> Vec<Refusal> {
    refusals_under(|_payment| {}, spoil)
}

/// Why a cent is not admitted under rules that were tightened, once `spoil` was there.
pub(crate) fn refusals_under(tighten: impl Fn(&mut PaymentDraft), spoil: impl Fn(&mut Standing)) -> Vec<Refusal> {
    let mut tight = Draft { limits: vec![limit(Scope::All, Some("5 USD"), None)], ..draft() };
    tighten(&mut tight.payment);
    why_not(tight, spoil)
}

/// Why a cent is not admitted where the chain is asked and the balance decides so much, once `spoil` was there.
pub(crate) fn refusals_on_a_chain(balance: BalanceNeed, spoil: impl Fn(&mut Standing)) -> Vec<Refusal> {
    why_not(Draft { chains: vec![chain(balance)], ..draft() }, spoil)
}

fn chain(balance: BalanceNeed) -> ChainDraft {
    let rpc = toml::from_str::<toml::Table>("rpc = [\"https://rpc.test/key\"]").unwrap();
    let rpc = rpc["rpc"].clone().try_into().unwrap();
    ChainDraft { network: ChainId::BASE, rpc, agree: None, balance, poll: None }
}

fn why_not(draft: Draft, spoil: impl Fn(&mut Standing)) -> Vec<Refusal> {
    let rules = rules(draft);
    let mut standing = standing(&rules);
    spoil(&mut standing);
    admitted(&rules, &standing, 10_000).unwrap_err()
}

#[test]
fn a_payment_that_fits_is_admitted_with_the_facts_of_its_terms() {
    let rules = five_dollars();
    let lies = PaymentFacts { payee: address(EVIL), money: money("0.00 USD"), ..facts() };
    let admitted = admit(&rules, &standing(&rules), vetted(&rules, 20_000), lies, NOW_S).unwrap();
    assert_eq!(admitted.money(), money("0.02 USD"));
    assert_eq!(admitted.terms().payee, address(PAYEE));
    assert_eq!(admitted.facts(), &PaymentFacts { money: money("0.02 USD"), ..facts() });
}

#[test]
fn asset_and_tags_of_a_payment_are_never_the_callers() {
    let rules = five_dollars();
    let other = AssetId { contract: address(EVIL), ..usdc() };
    let lies = PaymentFacts { asset: other, tags: vec!["cheap".parse().unwrap()], ..facts() };
    let admitted = admit(&rules, &standing(&rules), vetted(&rules, 10_000), lies, NOW_S).unwrap();
    assert_eq!(admitted.facts(), &facts());
}

#[test]
fn everything_may_be_spent_to_exactly_nothing() {
    let rules = limited(vec![limit(Scope::All, Some("5 USD"), Some(3))]);
    let mut exact = standing(&rules);
    exact.session.spent = money("0.99 USD");
    exact.totals[0].amount = money("4.99 USD");
    exact.totals[1].count = 2;
    assert!(admitted(&rules, &exact, 10_000).is_ok());
    assert_eq!(codes(&admitted(&rules, &exact, 10_001).unwrap_err()), ["over_session_budget", "over_limit"]);
    exact.totals[1].count = 3;
    let reasons = admitted(&rules, &exact, 10_000).unwrap_err();
    let [Refusal::OverLimit { breach: Breach::Count { used: 3, max: 3 }, .. }] = reasons.as_slice() else {
        panic!("{reasons:?}")
    };
}

#[test]
fn all_reasons_are_collected() {
    let reasons = refusals(|standing| {
        standing.frozen = true;
        standing.latched = true;
        standing.session.expires_s = 0;
        standing.session.spent = money("1 USD");
        standing.totals[0].amount = money("5 USD");
    });
    let expected = ["frozen", "ledger_latched", "session_expired", "over_session_budget", "over_limit"];
    assert_eq!(codes(&reasons), expected);
}

#[test]
fn a_limit_of_a_tag_holds_what_carries_it_by_host_or_by_payee() {
    let tag: Tag = "data".parse().unwrap();
    let limit = Limit { tag: Some(tag), ..limit(Scope::Tag, Some("0.05 USD"), None) };
    let tagged = |of_host: bool, of_payee: bool| {
        let mut tagged = Draft { limits: vec![limit], hosts: vec![host(ORIGIN), host("https://b.test")], ..draft() };
        // Somebody carries it, or there could be no limit.
        tagged.hosts[1].tags = vec![tag];
        tagged.hosts[0].tags = if of_host { vec![tag, "other".parse().unwrap()] } else { Vec::new() };
        let tags = if of_payee { vec![tag] } else { Vec::new() };
        tagged.payees = vec![rules::draft::PayeeDraft { address: address(PAYEE), tags }];
        crate::builders::rules(tagged)
    };
    let asked = |rules: &Rules| {
        let mut full = standing(rules);
        full.totals[0].amount = money("0.045 USD");
        // Whatever is said of tags, those of the rules count.
        admitted(rules, &full, 10_000)
    };
    assert!(asked(&tagged(false, false)).is_ok());
    for (of_host, of_payee) in [(true, false), (false, true), (true, true)] {
        let rules = tagged(of_host, of_payee);
        let reasons = asked(&rules).unwrap_err();
        let [Refusal::OverLimit { tag: Some(refused), scope: Scope::Tag, .. }] = reasons.as_slice() else {
            panic!("{reasons:?}")
        };
        assert_eq!(**refused, tag);
        assert!(reasons[0].to_string().starts_with("the limit of the tag `data` over `1d`"), "{}", reasons[0]);
        let unread = Standing { totals: Vec::new(), ..standing(&rules) };
        assert_eq!(codes(&admitted(&rules, &unread, 10_000).unwrap_err()), ["over_limit"]);
    }
}

#[test]
fn unresolved_payments_shut_the_host_and_the_payee() {
    let scopes = |host, payee| {
        let lost = |standing: &mut Standing| standing.unresolved = Unresolved { host, payee };
        let scope = |reason: &Refusal| match reason {
            Refusal::TooManyUnresolved { scope, max: 1, .. } => *scope,
            other => panic!("{other:?}"),
        };
        refusals(lost).iter().map(scope).collect::<Vec<_>>()
    };
    assert_eq!(scopes(1, 0), [Scope::Host]);
    assert_eq!(scopes(0, 1), [Scope::Payee]);
    assert_eq!(scopes(7, u32::MAX), [Scope::Host, Scope::Payee]);
}

#[test]
fn a_host_may_have_more_unresolved_than_others() {
    let mut patient = draft();
    patient.payment.max_unresolved = Some(2);
    patient.hosts[0].max_unresolved = Some(4);
    let patient = rules(patient);
    let with = |host, payee| {
        let standing = Standing { unresolved: Unresolved { host, payee }, ..standing(&patient) };
        admitted(&patient, &standing, 10_000).is_ok()
    };
    assert!(with(3, 3) && !with(4, 0) && !with(0, 4));
}

#[test]
fn a_payment_for_a_site_without_a_rule_is_not_admitted() {
    let rules = five_dollars();
    let elsewhere = PaymentFacts { site: "https://evil.test/".parse().unwrap(), ..facts() };
    let refused = admit(&rules, &standing(&rules), vetted(&rules, 10_000), elsewhere, NOW_S).unwrap_err();
    assert_eq!(codes(&refused), ["host_not_allowed"]);
}

#[test]
fn an_unknown_or_foreign_total_refuses() {
    let unread = |spoil: fn(&mut Standing)| {
        let reasons = refusals(spoil);
        let [Refusal::OverLimit { breach: Breach::Unread, .. }] = reasons.as_slice() else { panic!("{reasons:?}") };
    };
    unread(|standing| standing.totals.clear());
    unread(|standing| standing.totals[0].amount = money("0 EUR"));
    unread(|standing| standing.totals[0].key = "all|EUR".parse().unwrap());
    unread(|standing| standing.totals[0].limit.max = Some(money("50 USD")));
    unread(|standing| standing.totals[0].limit.window = Window::Lifetime);
}

#[test]
fn a_foreign_or_overflowing_session_refuses() {
    assert_eq!(codes(&refusals(|standing| standing.session.id = SessionId::from_random([2; 16]))), ["no_session"]);
    assert_eq!(codes(&refusals(|standing| standing.session.budget = money("9 EUR"))), ["over_session_budget"]);
    let full = Money::new(Currency::USD, u128::MAX);
    let reasons = refusals(|standing| {
        standing.session.budget = full;
        standing.session.spent = full;
        standing.totals[0].amount = full;
    });
    assert_eq!(codes(&reasons), ["over_session_budget", "over_limit"]);
}

#[test]
fn terms_of_wider_rules_are_not_admitted_under_narrower_ones() {
    let wide = five_dollars();
    let mut narrow = draft();
    narrow.payment.assets = Vec::new();
    let narrow = rules(narrow);
    let refused = admit(&narrow, &standing(&narrow), vetted(&wide, 10_000), facts(), NOW_S).unwrap_err();
    assert_eq!(codes(&refused), ["asset_not_allowed"]);
}

#[test]
fn a_session_ends_at_its_second() {
    let rules = five_dollars();
    let mut ending = standing(&rules);
    ending.session.expires_s = NOW_S + 1;
    assert!(admitted(&rules, &ending, 10_000).is_ok());
    ending.session.expires_s = NOW_S;
    assert_eq!(codes(&admitted(&rules, &ending, 10_000).unwrap_err()), ["session_expired"]);
}

#[test]
fn a_balance_covers_a_payment_or_refuses_it_as_far_as_the_rules_go_by_it() {
    let on = |balance| rules(Draft { chains: vec![chain(balance)], ..draft() });
    let told = |rules: &Rules, funds: Option<&str>| {
        let standing = Standing { funds: funds.map(money), ..standing(rules) };
        admitted(rules, &standing, 10_000).map(drop).map_err(|reasons| codes(&reasons))
    };
    for (need, unknown) in [(BalanceNeed::WhenKnown, Ok(())), (BalanceNeed::Required, Err(vec!["balance_unknown"]))] {
        let rules = on(need);
        assert_eq!(told(&rules, None), unknown);
        assert_eq!(told(&rules, Some("0.01 USD")), Ok(()), "to exactly nothing");
        assert_eq!(told(&rules, Some("0.009999 USD")), Err(vec!["insufficient_balance"]));
        assert_eq!(told(&rules, Some("5 EUR")), Err(vec!["insufficient_balance"]), "other money is none");
    }
    for rules in [on(BalanceNeed::Off), rules(draft())] {
        assert_eq!((told(&rules, None), told(&rules, Some("0 USD"))), (Ok(()), Ok(())));
    }
}

#[test]
fn a_quarantine_ends_at_its_second() {
    let rules = five_dollars();
    let until = |until_s| Standing { quarantined_until_s: Some(until_s), ..standing(&rules) };
    assert_eq!(codes(&admitted(&rules, &until(NOW_S + 1), 10_000).unwrap_err()), ["host_quarantined"]);
    assert!(admitted(&rules, &until(NOW_S), 10_000).is_ok());
}

#[test]
fn the_same_may_be_bought_again_when_the_time_is_over_and_not_before() {
    let mut once_a_day = draft();
    once_a_day.payment.no_recurring = Some("1d".parse().unwrap());
    let rules = rules(once_a_day);
    let bought = |ago_s| Standing { bought_ago_s: ago_s, ..standing(&rules) };
    assert_eq!(codes(&admitted(&rules, &bought(Some(86_399)), 10_000).unwrap_err()), ["recurring"]);
    assert!(admitted(&rules, &bought(Some(86_400)), 10_000).is_ok());
    assert!(admitted(&rules, &bought(None), 10_000).is_ok());
}

/// Asks again and again, counting like a ledger; returns how many were admitted.
fn buy_until_refused(rules: &Rules, mut standing: Standing, prices: &[u128]) -> usize {
    let mut count = 0;
    for price in prices {
        let Ok(admitted) = admitted(rules, &standing, *price) else { continue };
        count += 1;
        standing.session.spent = standing.session.spent.checked_add(admitted.money()).unwrap();
        for total in &mut standing.totals {
            total.count += 1;
            total.amount = total.amount.checked_add(admitted.money()).unwrap();
            assert!(total.limit.max.is_none_or(|max| total.amount.is_within(max)));
            assert!(total.limit.count.is_none_or(|max| total.count <= max));
        }
        assert!(standing.session.spent.is_within(standing.session.budget));
    }
    count
}

#[test]
fn twenty_of_twenty_five_purchases_of_five_cents_fit_one_dollar() {
    let rules = five_dollars();
    assert_eq!(buy_until_refused(&rules, standing(&rules), &[50_000; 25]), 20);
}

proptest! {
    #[test]
    fn admission_never_overspends(
        budget in 1..500_000_u128,
        max in 1..500_000_u128,
        count in 1..12_u32,
        prices in prop::collection::vec(1..=50_000_u128, 0..40),
    ) {
        let dollars = |units: u128| Money::new(Currency::USD, units * 1_000_000_000_000);
        let limits = vec![
            Limit { max: Some(dollars(max)), ..limit(Scope::Payee, None, Some(count)) },
            limit(Scope::Host, Some("0.30 USD"), None),
        ];
        let rules = limited(limits);
        let mut standing = standing(&rules);
        standing.session.budget = dollars(budget);
        buy_until_refused(&rules, standing, &prices);
    }

    #[test]
    fn exactly_as_many_fit_as_the_division_says(budget in 1..1_000_000_u128, price in 20_000..=50_000_u128) {
        let rules = limited(Vec::new());
        let mut standing = standing(&rules);
        standing.session.budget = Money::new(Currency::USD, budget * 1_000_000_000_000);
        let expected = usize::try_from(budget / price).unwrap();
        let asked = vec![price; expected + 3];
        prop_assert_eq!(buy_until_refused(&rules, standing, &asked), expected);
    }

    #[test]
    fn whatever_the_ledger_says_nothing_panics(spent: u128, budget: u128, amount: u128, count: u32, now: u64, expires: u64) {
        let rules = limited(vec![limit(Scope::All, Some("5 USD"), Some(3))]);
        let mut odd = standing(&rules);
        let dollars = |atto| Money::new(Currency::USD, atto);
        odd.session.spent = dollars(spent);
        odd.session.budget = dollars(budget);
        odd.session.expires_s = expires;
        for total in &mut odd.totals {
            total.amount = dollars(amount);
            total.count = count;
        }
        let verdict = admit(&rules, &odd, vetted(&rules, 10_000), facts(), now);
        let cent = money("0.01 USD").atto();
        let fits = |used: u128, most: u128| used.checked_add(cent).is_some_and(|after| after <= most);
        let expected = fits(spent, budget) && fits(amount, money("5 USD").atto()) && count < 3 && now < expires;
        prop_assert_eq!(verdict.is_ok(), expected);
    }
}
