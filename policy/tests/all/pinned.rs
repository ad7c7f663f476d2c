//! Two purchases that must never pass, each with every reason that stands against it: the gate's and the budget's side
//! by side. And what severity means, code by code. These lists are pinned: a reason that falls away is a hole.

use bursar_policy::refusal::Breach;
use bursar_policy::rules::draft::{Ceilings, OnSecurityRefusal};
use bursar_policy::*;

use crate::admission::{facts, limit, standing};
use crate::builders::*;

/// A seller that nobody listed, who wants to be paid where nobody listed either.
const STRANGER: &str = "https://stranger.test/thing";

/// Ten dollars a payment to one seller and one payee; 24 dollars a day.
fn pinned_rules() -> Rules {
    let mut strict = draft();
    strict.payment.max_per_payment = Ceilings(vec![money("10 USD")]);
    strict.payment.allow_any_recipient = false;
    strict.payment.recipients = Some(vec![address(PAYEE)]);
    strict.limits = vec![limit(Scope::All, Some("24 USD"), None)];
    rules(strict)
}

/// 20 dollars for the listed seller, at most 6 a payment.
fn pinned_standing(rules: &Rules) -> Standing {
    let origins = vec![ORIGIN.parse().unwrap()];
    let payees = Payees::Listed(vec![address(PAYEE)]);
    let mandate = Mandate::new("weather for the trip".to_owned(), origins, payees, money("6 USD")).unwrap();
    let mut standing = standing(rules);
    mandate.fits(rules, money("20 USD")).unwrap();
    standing.session.budget = money("20 USD");
    standing.session.mandate = Some(mandate);
    standing
}

/// Every reason, of gate and budget, against a purchase of `units` at the stranger's.
fn every_reason(units: &str) -> Vec<Refusal> {
    let rules = pinned_rules();
    let errand = errand_to(STRANGER);
    let offer = Offer { amount: Said::text(units), pay_to: Said::text(EVIL), ..offer() };
    let document = Challenge { resource: Said::text(STRANGER), ..challenge(vec![offer]) };
    let visit = may_visit(&rules, &errand).unwrap_err();
    let judged = judge(&rules, &errand, &document, Some(address(BUYER)), NOW_S).unwrap_err();
    assert!(visit.iter().all(|reason| judged.contains(reason)), "{visit:?} {judged:?}");
    let seen = inspect(&rules, &errand, &document, Some(address(BUYER)), NOW_S);
    assert_eq!((seen.chosen, &seen.offers[0].terms), (None, &None), "nothing was approved");
    let asked = seen.offers[0].asked.unwrap();
    let facts =
        PaymentFacts { site: errand.site, payee: asked.payee, asset: asked.asset, money: asked.money, ..facts() };
    let counted = budget::against(&rules, &pinned_standing(&rules), &facts, NOW_S);
    in_order([judged, counted].concat())
}

fn sentences(reasons: &[Refusal]) -> Vec<String> {
    reasons.iter().map(|reason| format!("{}: {reason}", reason.code())).collect()
}

#[test]
fn a_97_dollar_purchase_at_an_unlisted_seller_keeps_all_its_reasons() {
    let reasons = every_reason("97000000");
    assert_eq!(
        sentences(&reasons),
        [
            "outside_mandate: the session's mandate does not cover the site",
            "outside_mandate: the session's mandate does not cover the payee",
            "outside_mandate: the session's mandate does not cover the price",
            "over_session_budget: the price `97.00 USD` is over what the session has left, `20.00 USD`",
            "host_not_allowed: no host rule covers `https://stranger.test`",
            "payee_not_allowed: the payee `0x2222222222222222222222222222222222222222` on `eip155:8453` is not one that the \
         rules list",
            "over_payment_cap: the price `97.00 USD` is over the ceiling for one payment, `10.00 USD`",
            "over_limit: the limit `all` over `1d` would be exceeded: `97.00 USD` is more than what is left, `24.00 USD`",
        ]
    );
    let Some(Refusal::OverLimit { breach: Breach::Amount { .. }, .. }) = reasons.last() else { panic!("{reasons:?}") };
    assert!(reasons.iter().all(|reason| reason.severity() == Severity::Security));
}

#[test]
fn a_5_dollar_purchase_within_the_budget_at_the_same_seller_keeps_all_its_reasons() {
    assert_eq!(
        sentences(&every_reason("5000000")),
        [
            "outside_mandate: the session's mandate does not cover the site",
            "outside_mandate: the session's mandate does not cover the payee",
            "host_not_allowed: no host rule covers `https://stranger.test`",
            "payee_not_allowed: the payee `0x2222222222222222222222222222222222222222` on `eip155:8453` is not one that the \
         rules list",
        ]
    );
}

#[test]
fn each_kind_of_rule_refuses_both_by_itself() {
    // The gate without the budget, and the budget without the gate: neither leans on the other.
    for units in ["97000000", "5000000"] {
        let reasons = every_reason(units);
        let of_the_mandate = |reason: &&Refusal| reason.code() == "outside_mandate";
        assert!(reasons.iter().any(|reason| of_the_mandate(&reason)));
        assert!(reasons.iter().any(|reason| !of_the_mandate(&reason)));
        let first = reasons.first().unwrap();
        assert_eq!(first.shown(), "outside_mandate", "the model hears the first reason of our own side");
    }
}

/// What tells of a mistake and of no danger: it refuses, and nothing else comes of it.
const VALIDATION: [&str; 27] = [
    "wallet_locked",
    "no_session",
    "session_expired",
    "mandate_missing",
    "quote_unknown",
    "too_many_in_flight",
    "outside_hours",
    "secret_missing",
    "url_invalid",
    "body_not_allowed",
    "terms_unreadable",
    "terms_too_large",
    "unsupported_version",
    "no_offers",
    "clock_invalid",
    "unsupported_scheme",
    "unsupported_network",
    "unsupported_transfer_method",
    "unsupported_payment_flow",
    "amount_invalid",
    "address_invalid",
    "timeout_invalid",
    "lifetime_too_short",
    "insufficient_balance",
    "balance_unknown",
    "too_many_approvals",
    "needs_approval",
];

#[test]
fn severity_is_pinned_code_by_code() {
    let of_rows = crate::refusal_rows::severities();
    let validation: Vec<&str> =
        of_rows.iter().filter(|(_, severity)| *severity == Severity::Validation).map(|(code, _)| *code).collect();
    assert_eq!(validation, VALIDATION);
}

#[test]
fn a_security_refusal_counts_against_the_host_unless_the_rules_say_more() {
    let general = rules(draft());
    assert_eq!(general.breaker().on_security_refusal(), OnSecurityRefusal::Quarantine);
    let mut strict = draft();
    strict.payment.on_security_refusal = OnSecurityRefusal::CloseSession;
    assert_eq!(rules(strict).breaker().on_security_refusal(), OnSecurityRefusal::CloseSession);
}

#[test]
fn a_quarantine_comes_after_three_and_lasts_an_hour_unless_the_rules_say_otherwise() {
    let quarantine = |after, lasts: Option<&str>| {
        let mut draft = draft();
        draft.payment.quarantine_after = after;
        draft.payment.quarantine = lasts.map(|lasts| lasts.parse().unwrap());
        let rules = rules(draft);
        (rules.breaker().after(), rules.breaker().quarantine_s())
    };
    assert_eq!(quarantine(None, None), (3, 3_600));
    assert_eq!(quarantine(Some(1), Some("1m")), (1, 60));
    assert_eq!(quarantine(Some(1_000), Some("31d")), (1_000, 31 * 24 * 3_600));
}
