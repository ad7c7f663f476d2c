//! When a person looks first: every concern by itself, what a yes takes the place of, and what it does not.

use bursar_policy::rules::{FirstPayee, OnChange};
use bursar_policy::*;
use proptest::prelude::*;

use crate::admission::facts;
use crate::builders::*;

/// A host that was paid with everything that `facts` say.
fn friend() -> Acquaintance {
    Acquaintance { paid_before: true, payee: true, network: true, asset: true, ..Acquaintance::default() }
}

fn seen(spoil: impl Fn(&mut Draft), known: &Acquaintance) -> Vec<Concern> {
    let mut draft = draft();
    spoil(&mut draft);
    let rules = rules(draft);
    let facts = PaymentFacts { tags: rules.tags(&facts().site, &address(PAYEE)), ..facts() };
    concerns(&rules, &facts, known, None)
}

#[test]
fn a_friend_at_a_usual_price_concerns_nobody() {
    assert_eq!(seen(|_| {}, &friend()), []);
    // A first payment is pinned without a word.
    assert_eq!(seen(|_| {}, &Acquaintance::default()), []);
}

#[test]
fn each_concern_comes_about_by_itself() {
    let payee = address(PAYEE);
    let changed = |spoil: fn(&mut Acquaintance)| {
        let mut known = friend();
        spoil(&mut known);
        seen(|_| {}, &known)
    };
    assert_eq!(changed(|known| known.payee = false), [Concern::PayeeChanged { payee }]);
    assert_eq!(changed(|known| known.network = false), [Concern::NetworkChanged { chain: ChainId::BASE }]);
    assert_eq!(changed(|known| known.asset = false), [Concern::AssetChanged { asset: usdc() }]);
    let approve = |draft: &mut Draft| draft.payment.first_payee = Some(FirstPayee::Approve);
    assert_eq!(seen(approve, &Acquaintance::default()), [Concern::FirstPayee { payee }]);
    assert_eq!(seen(approve, &friend()), []);
    let (asked, threshold) = (money("0.01 USD"), money("0.009999 USD"));
    let over = |draft: &mut Draft| draft.payment.approve_over = Some(rules::draft::Ceilings(vec![threshold]));
    assert_eq!(seen(over, &friend()), [Concern::OverThreshold { asked, threshold }]);
    let exactly = |draft: &mut Draft| draft.payment.approve_over = Some(rules::draft::Ceilings(vec![asked]));
    assert_eq!(seen(exactly, &friend()), []);
    let tag: Tag = "gifts".parse().unwrap();
    let tagged = |draft: &mut Draft| {
        draft.hosts[0].tags = vec![tag];
        draft.payment.approve_tags = vec![tag];
    };
    assert_eq!(seen(tagged, &friend()), [Concern::Tagged { tag: Box::new(tag) }]);
}

#[test]
fn what_the_caller_finds_suspicious_is_the_first_concern() {
    let (rules, why) = (rules(draft()), Quoted::of("it begs"));
    let doubted = concerns(&rules, &facts(), &friend(), Some(&why));
    assert_eq!(doubted, [Concern::Suspicious { why: why.clone() }], "a friend is no excuse");
    let moved = Acquaintance { payee: false, ..friend() };
    let both = [Concern::Suspicious { why: why.clone() }, Concern::PayeeChanged { payee: address(PAYEE) }];
    assert_eq!(concerns(&rules, &facts(), &moved, Some(&why)), both);
}

#[test]
fn each_concern_is_told_with_what_it_is_about() {
    let (payee, chain, tag) = (address(PAYEE), ChainId::BASE, Box::new("gifts".parse().unwrap()));
    let (asked, usual, threshold) = (money("0.05 USD"), money("0.01 USD"), money("0.02 USD"));
    let name = Quoted::of("p\u{430}ypal.test");
    for (concern, told) in [
        (
            Concern::FirstPayee { payee },
            "the first payment for this host would go to `0x1111111111111111111111111111111111111111`",
        ),
        (
            Concern::PayeeChanged { payee },
            "the payee `0x1111111111111111111111111111111111111111` is new for this host",
        ),
        (Concern::NetworkChanged { chain }, "the network `eip155:8453` is new for this host"),
        (
            Concern::AssetChanged { asset: usdc() },
            "the asset `eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913` is new for this host",
        ),
        (
            Concern::UnusualPrice { asked, usual },
            "the price `0.05 USD` is far above what is usual for this host, `0.01 USD`",
        ),
        (
            Concern::PriceRisen { asked, first: usual },
            "the price `0.05 USD` is far above what the same request cost first, `0.01 USD`",
        ),
        (
            Concern::OverThreshold { asked, threshold },
            "the price `0.05 USD` is above `0.02 USD`, from where on a person looks",
        ),
        (Concern::Tagged { tag }, "it carries the tag `gifts`"),
        (
            Concern::LooksAlike { known: "api.merchant.test".to_owned() },
            "the host is new and looks like the known host `api.merchant.test`",
        ),
        (Concern::MixedScripts { name }, "the host name `p\\u{430}ypal.test` mixes letters of several scripts"),
        (Concern::Suspicious { why: Quoted::of("it begs") }, "the caller finds it suspicious: `it begs`"),
    ] {
        assert_eq!(concern.to_string(), told);
    }
}

#[test]
fn who_looked_at_a_concern_looked_at_it_in_other_words_and_at_no_other() {
    let (asked, other) = (money("0.05 USD"), money("0.06 USD"));
    let over = |threshold| Concern::OverThreshold { asked, threshold };
    let tagged = |tag: &str| Concern::Tagged { tag: Box::new(tag.parse().unwrap()) };
    let alike = |known: &str| Concern::LooksAlike { known: known.to_owned() };
    let suspicious = |why: &str| Concern::Suspicious { why: Quoted::of(why) };
    assert!(over(asked).covers(&over(other)) && suspicious("it begs").covers(&suspicious("it hurries")));
    let each = [over(asked), tagged("gifts"), tagged("data"), alike("a.test"), alike("b.test"), suspicious("it begs")];
    for (place, one) in each.iter().enumerate() {
        for (other_place, other) in each.iter().enumerate() {
            assert_eq!(one.covers(other), place == other_place, "{one:?} {other:?}");
        }
    }
}

#[test]
fn unusual_is_above_so_many_times_the_mean() {
    let times_five = |draft: &mut Draft| draft.payment.unusual_price = Some(5);
    let usual_is = |usual: &str| Acquaintance { usual: Some(money(usual)), ..friend() };
    assert_eq!(seen(times_five, &usual_is("0.002 USD")), []);
    let (asked, usual) = (money("0.01 USD"), money("0.001999 USD"));
    assert_eq!(seen(times_five, &usual_is("0.001999 USD")), [Concern::UnusualPrice { asked, usual }]);
    assert_eq!(seen(times_five, &friend()), [], "nothing is usual yet");
    assert_eq!(usual_price(money("0.30 USD"), 2), None);
    assert_eq!(usual_price(money("0.30 USD"), 3), Some(money("0.10 USD")));
}

#[test]
fn risen_is_above_the_first_price_and_so_many_hundredths_of_it() {
    let may_rise = |draft: &mut Draft| draft.payment.price_rise = Some("25%".parse().unwrap());
    let first_was = |first: &str| Acquaintance { first_price: Some(money(first)), ..friend() };
    assert_eq!(seen(may_rise, &first_was("0.008 USD")), [], "a cent is a quarter more than eight tenths of one");
    let (asked, first) = (money("0.01 USD"), money("0.007999 USD"));
    assert_eq!(seen(may_rise, &first_was("0.007999 USD")), [Concern::PriceRisen { asked, first }]);
    assert_eq!(seen(may_rise, &first_was("0.02 USD")), [], "it became cheaper");
    assert_eq!(seen(may_rise, &friend()), [], "it was never paid for");
    assert_eq!(seen(|_| {}, &first_was("0.000001 USD")), [], "the rules do not ask");
    let own = |draft: &mut Draft| {
        may_rise(draft);
        draft.hosts[0].price_rise = Some("26%".parse().unwrap());
    };
    assert_eq!(seen(own, &first_was("0.007999 USD")), [], "the host has a word of its own");
    let beyond = Acquaintance { first_price: Some(Money::new(Currency::USD, u128::MAX)), ..friend() };
    assert_eq!(seen(may_rise, &beyond), [], "no price is above what cannot be counted");
}

#[test]
fn names_matter_where_any_host_may_be_asked_and_only_for_new_ones() {
    let any = |draft: &mut Draft| {
        draft.hosts = Vec::new();
        draft.payment.allow_any_host = true;
    };
    let known = "api.merchant.test".to_owned();
    let alike = Acquaintance { looks_like: Some(known.clone()), ..Acquaintance::default() };
    assert_eq!(seen(any, &alike), [Concern::LooksAlike { known }]);
    assert_eq!(seen(|_| {}, &alike), [], "a listed host is the operator's word");
    assert_eq!(seen(any, &Acquaintance { looks_like: alike.looks_like, ..friend() }), []);
    let mut anywhere = draft();
    any(&mut anywhere);
    let (anywhere, site) = (rules(anywhere), "https://p\u{430}ypal.test/".parse().unwrap());
    let (mixed, name) = (PaymentFacts { site, ..facts() }, Quoted::of("p\u{430}ypal.test"));
    assert_eq!(concerns(&anywhere, &mixed, &Acquaintance::default(), None), [Concern::MixedScripts { name }]);
    assert_eq!(concerns(&anywhere, &mixed, &friend(), None), []);
}

#[test]
fn a_host_has_its_own_word_on_each() {
    let (payee, chain) = (address(PAYEE), ChainId::BASE);
    let moved = Acquaintance { payee: false, network: false, asset: false, ..friend() };
    let own = |draft: &mut Draft| {
        draft.payment.on_change = Some(OnChange::Allow);
        draft.hosts[0].on_change = Some(OnChange::Approve);
        draft.hosts[0].allow_any_recipient = true;
    };
    let both = [Concern::NetworkChanged { chain }, Concern::AssetChanged { asset: usdc() }];
    assert_eq!(seen(own, &moved), both, "its payees rotate");
    let quiet = |draft: &mut Draft| draft.payment.on_change = Some(OnChange::Allow);
    let same_payee = Acquaintance { payee: true, ..moved.clone() };
    assert_eq!(seen(quiet, &same_payee), [], "the rules allow a change");
    let quiet_here = |draft: &mut Draft| draft.hosts[0].on_change = Some(OnChange::Allow);
    assert_eq!(seen(quiet_here, &same_payee), [], "and so does a host for itself");
    let pinned = |draft: &mut Draft| {
        own(draft);
        draft.payment.first_payee = Some(FirstPayee::Pin);
    };
    assert_eq!(seen(pinned, &moved)[0], Concern::PayeeChanged { payee }, "the rules say so of every first payee");
    let listed = |draft: &mut Draft| draft.hosts[0].recipients = Some(vec![payee]);
    assert_eq!(seen(listed, &Acquaintance { payee: false, ..friend() }), [], "the operator listed it");
}

fn acquaintance() -> impl Strategy<Value = Acquaintance> {
    let price = || prop::option::of(0..100_000_u128);
    (any::<[bool; 4]>(), price(), price(), any::<bool>()).prop_map(|(known, usual, first, alike)| {
        let dollars = |units: u128| Money::new(Currency::USD, units * 1_000_000_000_000);
        Acquaintance {
            paid_before: known[0],
            payee: known[1],
            network: known[2],
            asset: known[3],
            usual: usual.map(dollars),
            first_price: first.map(dollars),
            looks_like: alike.then(|| "api.merchants.test".to_owned()),
        }
    })
}

proptest! {
    /// A person's yes takes the place of concerns and of nothing else; a person's no is final.
    #[test]
    fn a_yes_allows_nothing_that_anything_but_a_concern_stands_against(
        known in acquaintance(),
        spent in 0..2_000_000_u128,
        quarantined: bool,
        frozen: bool,
        doubt: bool,
        unusual in prop::option::of(2..9_u32),
    ) {
        let mut wary = draft();
        wary.payment.unusual_price = unusual;
        wary.payment.price_rise = Some("20%".parse().unwrap());
        let rules = rules(wary);
        let with = |word: Word| {
            let mut standing = crate::admission::standing(&rules);
            standing.acquaintance = known.clone();
            standing.session.spent = Money::new(Currency::USD, spent * 1_000_000_000_000);
            standing.quarantined_until_s = quarantined.then_some(NOW_S + 1);
            standing.frozen = frozen;
            standing.suspicious = doubt.then(|| Quoted::of("hurry"));
            standing.word = word;
            admit(&rules, &standing, crate::admission::vetted(&rules, 10_000), facts(), NOW_S).map(|_| ())
        };
        let without = with(Word::None);
        match (without.clone(), with(Word::Yes)) {
            (Ok(()), yes) => prop_assert_eq!(yes, Ok(())),
            (Err(reasons), yes) => {
                let only_a_person = matches!(reasons.as_slice(), [Refusal::NeedsApproval { .. }]);
                prop_assert_eq!(yes.is_ok(), only_a_person);
                // Whatever else stands against it, a person is not asked about it.
                let asked = reasons.iter().any(|reason| matches!(reason, Refusal::NeedsApproval { .. }));
                prop_assert_eq!(asked, only_a_person);
            }
        }
        let no = with(Word::No).unwrap_err();
        prop_assert!(no.contains(&Refusal::ApprovalDenied));
    }
}
