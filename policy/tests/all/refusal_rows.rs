//! One row for every refusal code, in precedence order: how it comes about, and what is said.

use bursar_policy::refusal::BodyRefusal;
use bursar_policy::rules::{BalanceNeed, MandateNeed};
use bursar_policy::*;

use crate::admission;
use crate::builders::*;

/// How a code comes about.
enum Row {
    /// Some other crate says it, about something that this one never sees.
    Elsewhere(Refusal),
    /// The gate says it about an errand.
    Visit(Errand),
    /// The gate says it about a document.
    Document(Challenge),
    /// The gate says it about a document for this errand.
    Errand(Errand, Challenge),
    /// The gate says it about an honest document, with these hours in the rules.
    Hours(&'static str),
    /// The budget says it.
    Admit(Vec<Refusal>),
}

fn only(offer: Offer) -> Row {
    Row::Document(challenge(vec![offer]))
}

fn with_header(name: &str, value: &str) -> Errand {
    let mut errand = errand();
    assert!(errand.headers.add(name.parse().unwrap(), value.parse().unwrap()));
    errand
}

#[rustfmt::skip]
fn rows() -> Vec<(&'static str, Row)> {
    use Row::{Admit, Document, Elsewhere, Errand as ForErrand, Hours, Visit};
    let text = Said::text;
    vec![
        ("wallet_locked", Elsewhere(Refusal::WalletLocked)),
        ("frozen", Admit(admission::refusals(|standing| standing.frozen = true))),
        ("ledger_latched", Admit(admission::refusals(|standing| standing.latched = true))),
        ("no_session", Admit(admission::refusals(|standing| standing.session.closed = true))),
        ("session_expired", Admit(admission::refusals(|standing| standing.session.expires_s = NOW_S))),
        ("mandate_missing", Admit(admission::refusals_under(
            |payment| payment.mandate = MandateNeed::Required, |_standing| {},
        ))),
        ("outside_mandate", Admit(admission::refusals(|standing| standing.session.mandate = Some(elsewhere())))),
        ("idempotency_conflict", Elsewhere(Refusal::IdempotencyConflict)),
        ("over_session_budget", Admit(admission::refusals(|standing| standing.session.spent = money("0.995 USD")))),
        ("quote_unknown", Elsewhere(Refusal::QuoteUnknown)),
        ("quote_changed", Elsewhere(Refusal::QuoteChanged)),
        ("price_above_ceiling", ForErrand(
            Errand { ceiling: Some(money("0.009 USD")), ..errand() }, challenge(vec![offer()]),
        )),
        ("too_many_in_flight", Elsewhere(Refusal::TooManyInFlight)),
        ("outside_hours", Hours("00:00-16:00")),
        ("secret_missing", Elsewhere(Refusal::SecretMissing { name: "shop-key".parse().unwrap() })),
        ("url_invalid", Elsewhere(Site::parse("https://user@a.test/").unwrap_err().into())),
        ("https_required", Visit(errand_to("http://api.merchant.test/"))),
        ("host_not_allowed", Visit(errand_to("https://evil.test/"))),
        ("host_quarantined", Admit(admission::refusals(|standing| standing.quarantined_until_s = Some(NOW_S + 1)))),
        ("method_not_allowed", Visit(Errand { method: Method::Post, ..errand() })),
        ("body_not_allowed", Visit(Errand {
            body: Some(Body { digest: Digest::of(b""), bytes: 1, kind: BodyType::Text }), ..errand()
        })),
        ("header_not_allowed", Visit(with_header("accept", "text/plain"))),
        ("address_not_public", Visit(errand_to("https://169.254.169.254/latest"))),
        ("address_denied", Elsewhere(Refusal::AddressDenied {
            address: "93.184.216.34".to_owned(), block: "93.184.216.0/24".parse().ok(),
        })),
        ("redirect_refused", Elsewhere(Refusal::RedirectRefused {
            status: 302, location: Quoted::of("http://169.254.169.254/"),
        })),
        ("terms_unreadable", Elsewhere(Refusal::TermsUnreadable { why: Quoted::of("not base64") })),
        ("terms_conflicting", Elsewhere(Refusal::TermsConflicting { why: Quoted::of("two headers") })),
        ("terms_too_large", Elsewhere(Refusal::TermsTooLarge { why: Quoted::of("more than 32 offers") })),
        ("unsupported_version", Elsewhere(Refusal::UnsupportedVersion { version: Quoted::of("3") })),
        ("no_offers", Document(challenge(Vec::new()))),
        ("resource_mismatch", Document(Challenge {
            resource: text("https://other.test/"), ..challenge(vec![offer()])
        })),
        ("clock_invalid", Document(Challenge { seller_time_s: Some(NOW_S + 31), ..challenge(vec![offer()]) })),
        ("unsupported_scheme", only(Offer { scheme: text("upto"), ..offer() })),
        ("unsupported_network", only(Offer { network: text("eip155:1"), ..offer() })),
        ("unsupported_transfer_method", only(Offer { transfer_method: text("permit2"), ..offer() })),
        ("unsupported_payment_flow", only(Offer { payment_flow: text("upfront"), ..offer() })),
        ("shadowed_offer", Document(Challenge {
            version: Version::V1,
            ..challenge(vec![Offer { transfer_method: text("permit2"), ..offer() }, offer()])
        })),
        ("offer_conflict", only(Offer { conflicts: vec!["amount and maxAmountRequired".into()], ..offer() })),
        ("amount_invalid", only(Offer { amount: text("1e4"), ..offer() })),
        ("address_invalid", only(Offer { pay_to: text(""), ..offer() })),
        ("timeout_invalid", only(Offer { max_timeout: Said::Absent, ..offer() })),
        ("asset_not_allowed", only(Offer { asset: text(TEST_USDC), ..offer() })),
        ("domain_mismatch", only(Offer { domain_name: text("USDC"), ..offer() })),
        ("payee_forbidden", only(Offer { pay_to: text(USDC), ..offer() })),
        ("payee_not_allowed", only(Offer { pay_to: text(EVIL), ..offer() })),
        ("over_payment_cap", only(Offer { amount: text("50001"), ..offer() })),
        ("currency_without_cap", ForErrand(
            Errand { ceiling: Some(money("1 EUR")), ..errand() }, challenge(vec![offer()]),
        )),
        ("lifetime_too_short", only(Offer { max_timeout: Said::Number("9".into()), ..offer() })),
        ("over_limit", Admit(admission::refusals(|standing| standing.totals[0].amount = money("4.995 USD")))),
        ("too_many_unresolved", Admit(admission::refusals(|standing| standing.unresolved.host = 1))),
        ("recurring", Admit(admission::refusals_under(
            |payment| payment.no_recurring = Some("1d".parse().unwrap()), |standing| standing.bought_ago_s = Some(86_399),
        ))),
        ("insufficient_balance", Admit(admission::refusals_on_a_chain(
            BalanceNeed::WhenKnown, |standing| standing.funds = Some(money("0.009 USD")),
        ))),
        ("balance_unknown", Admit(admission::refusals_on_a_chain(BalanceNeed::Required, |_standing| {}))),
        ("approval_denied", Admit(admission::refusals(|standing| standing.word = Word::No))),
        ("too_many_approvals", Elsewhere(Refusal::TooManyApprovals { max: 5 })),
        ("needs_approval", Admit(admission::refusals(|standing| standing.suspicious = Some(Quoted::of("hurry"))))),
    ]
}

/// A mandate for another site.
fn elsewhere() -> Mandate {
    let origins = vec!["https://weather.test".parse().unwrap()];
    Mandate::new("weather".to_owned(), origins, Payees::Any, money("1 USD")).unwrap()
}

fn rules_with_a_payee() -> Rules {
    let mut pinned = draft();
    pinned.hosts[0].recipients = Some(vec![address(PAYEE), address(USDC)]);
    pinned.hosts.push(host("https://169.254.169.254"));
    rules(pinned)
}

fn reason(row: Row) -> Refusal {
    let first = |reasons: Vec<Refusal>| {
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        reasons.into_iter().next().unwrap()
    };
    let rules = rules_with_a_payee();
    match row {
        Row::Elsewhere(refusal) => refusal,
        Row::Visit(errand) => may_visit(&rules, &errand).map(Vetted::into_inner).unwrap_err().remove(0),
        Row::Document(document) => first(judged(&rules, &errand(), &document).unwrap_err()),
        Row::Errand(errand, document) => first(judged(&rules, &errand, &document).unwrap_err()),
        Row::Hours(hours) => {
            let mut timed = draft();
            timed.payment.hours = Some(hours.parse().unwrap());
            timed.payment.time_zone = Some("UTC".parse().unwrap());
            first(judged(&crate::builders::rules(timed), &errand(), &challenge(vec![offer()])).unwrap_err())
        }
        Row::Admit(reasons) => first(reasons),
    }
}

#[test]
fn every_code_comes_about_in_precedence_order() {
    let rows = rows();
    assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), Refusal::CODES);
    for (rank, (code, row)) in rows.into_iter().enumerate() {
        let refusal = reason(row);
        assert_eq!((refusal.code(), refusal.rank()), (code, rank));
    }
}

#[test]
fn every_refusal_crosses_a_socket_under_its_own_code() {
    for (code, row) in rows() {
        let refusal = reason(row);
        let text = serde_json::to_string(&refusal).unwrap();
        assert!(text.starts_with(&format!("{{\"code\":\"{code}\"")), "{text}");
        assert_eq!(serde_json::from_str::<Refusal>(&text).unwrap(), refusal);
    }
}

#[test]
fn every_refusal_has_a_sentence_and_a_next_step() {
    let mut sentences = Vec::new();
    for (code, row) in rows() {
        let refusal = reason(row);
        for text in [refusal.to_string(), refusal.next_step().to_owned()] {
            assert!(text.is_ascii() && !text.contains('\n'), "{code}: {text}");
            assert!(!text.ends_with('.') && text.len() > 10, "{code}: {text}");
            let start = text.chars().next().unwrap();
            assert!(!start.is_uppercase() || text.starts_with("the URL"), "{code}: {text}");
        }
        assert!(!sentences.contains(&refusal.to_string()), "{code}");
        sentences.push(refusal.to_string());
    }
}

#[test]
fn the_model_hears_one_word_about_offers_and_limits() {
    for (code, row) in rows() {
        let refusal = reason(row);
        let shown = match refusal.audience() {
            Audience::Offer => "offer_refused",
            Audience::Limit => "spending_limit",
            Audience::Own => code,
        };
        assert_eq!(refusal.shown(), shown);
    }
    assert!(!Refusal::CODES.contains(&Refusal::OFFER_REFUSED));
    assert!(!Refusal::CODES.contains(&Refusal::SPENDING_LIMIT));
    let rank = |code: &str| Refusal::CODES.iter().position(|known| *known == code).unwrap();
    for (code, row) in rows() {
        let offers = rank("terms_unreadable")..=rank("lifetime_too_short");
        let about_offer = offers.contains(&rank(code)) && code != "currency_without_cap";
        assert_eq!(reason(row).audience() == Audience::Offer, about_offer, "{code}");
    }
}

#[test]
fn dangers_are_told_from_mistakes() {
    let severity = |code: &str| {
        let row = rows().into_iter().find(|row| row.0 == code).unwrap();
        reason(row.1).severity()
    };
    for code in ["payee_not_allowed", "over_payment_cap", "resource_mismatch", "address_not_public", "over_limit"] {
        assert_eq!(severity(code), Severity::Security, "{code}");
    }
    for code in ["amount_invalid", "no_offers", "unsupported_scheme", "wallet_locked", "timeout_invalid"] {
        assert_eq!(severity(code), Severity::Validation, "{code}");
    }
}

#[test]
fn a_strike_is_what_no_honest_seller_does_whatever_it_is_asked() {
    let strikes = rows().into_iter().map(|row| reason(row.1)).filter(Refusal::blames_the_seller);
    let strikes: Vec<(&str, Severity)> = strikes.map(|refusal| (refusal.code(), refusal.severity())).collect();
    let wanted = [
        "terms_conflicting",
        "resource_mismatch",
        "offer_conflict",
        "domain_mismatch",
        "payee_forbidden",
        "payee_not_allowed",
    ];
    assert_eq!(strikes, wanted.map(|code| (code, Severity::Security)));
}

#[test]
fn asking_an_honest_seller_for_anything_is_no_strike_against_it() {
    // Too dear, in other money, on other networks, twice on one network, with another method, body or ceiling.
    let dear = Offer { amount: Said::text("97000000"), ..offer() };
    let foreign = Offer { network: Said::text("eip155:1"), pay_to: Said::text("0x"), ..offer() };
    let other_money = Offer { asset: Said::text("0x808456652fdb597867f38412077A9182bf77359F"), ..offer() };
    let offers = [dear.clone(), foreign, other_money, Offer { max_timeout: Said::Number("1".to_owned()), ..dear }];
    let errands = [
        errand(),
        Errand { method: Method::Post, ..errand() },
        Errand { ceiling: Some(money("0.000001 USD")), ..errand() },
        Errand { body: Some(Body { digest: Digest::of(b""), bytes: 1, kind: BodyType::Text }), ..errand() },
    ];
    for version in [Version::V1, Version::V2] {
        for errand in &errands {
            for kept in 1..1_usize << offers.len() {
                let listed = (0..).zip(&offers).filter(|(place, _)| kept >> place & 1 == 1);
                let listed = listed.map(|(_, offer)| offer.clone()).collect();
                let document = Challenge { version, ..challenge(listed) };
                let reasons = judged(&rules(draft()), errand, &document).unwrap_err();
                assert!(!reasons.iter().any(Refusal::blames_the_seller), "{reasons:?}");
            }
        }
    }
}

#[test]
fn seller_text_is_escaped_wherever_it_is_shown() {
    let evil = "x`\u{202e}\n\u{1b}[31m\u{200b}é\u{0}".repeat(40);
    let said = || Said::text(evil.clone());
    let offers = [
        Offer { scheme: said(), ..offer() },
        Offer { network: said(), ..offer() },
        Offer { transfer_method: said(), ..offer() },
        Offer { payment_flow: said(), ..offer() },
        Offer { amount: said(), ..offer() },
        Offer { amount: Said::Number(evil.clone()), ..offer() },
        Offer { asset: said(), ..offer() },
        Offer { pay_to: said(), ..offer() },
        Offer { max_timeout: said(), ..offer() },
        Offer { domain_name: said(), ..offer() },
        Offer { domain_version: said(), ..offer() },
        Offer { verifying_contract: said(), ..offer() },
        Offer { chain_id: said(), ..offer() },
        Offer { conflicts: vec![evil.clone()], ..offer() },
    ];
    let safe = |text: &str| {
        assert!(text.chars().all(|letter| letter == ' ' || letter.is_ascii_graphic()), "{text:?}");
        assert!(text.len() <= 320, "{text:?}");
    };
    for spoilt in offers {
        let document = Challenge { resource: Said::text(format!("https://x/{evil}")), ..challenge(vec![spoilt]) };
        let reasons = judged(&rules(draft()), &errand(), &document).unwrap_err();
        assert!(reasons.len() >= 2);
        reasons.iter().for_each(|reason| safe(&reason.to_string()));
        let seen = inspect(&rules(draft()), &errand(), &document, None, NOW_S);
        let findings = seen.offers.iter().flat_map(|offer| &offer.findings).chain(&seen.document);
        findings.for_each(|finding| safe(&finding.note));
    }
}

#[test]
fn a_refused_body_says_what_would_fit() {
    let why = BodyRefusal::TooLarge { bytes: 70_000, cap: 65_536 };
    let text = Refusal::BodyNotAllowed { why }.to_string();
    assert!(text.contains("70000") && text.contains("65536"), "{text}");
}

/// The severity of every code, in precedence order.
pub(crate) fn severities() -> Vec<(&'static str, Severity)> {
    rows().into_iter().map(|(code, row)| (code, reason(row).severity())).collect()
}
