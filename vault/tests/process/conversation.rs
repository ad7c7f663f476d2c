//! Claim, authorize, report: one purchase, one signature, counted before it exists.

use crate::world::{
    Agent, Dial, PAYEE, RULES, Sandbox, USDC, authorize, delivered, errand, judged_under, name, named, terms,
};
use bursar_policy::{Address, Errand, QuoteId, Terms};
use bursar_vault::client::AgentClient;
use bursar_vault::protocol::{AgentAsk, AgentReply, Claimed, Delivery, ENVELOPE_MAX_BYTES, Report, RowState};
use bursar_vault::setup::Unlocking;
use bursar_vault::sign::{Signature, recover};

fn quote(agent: &Agent, errand: &Errand, terms: Option<Terms>) -> (Option<QuoteId>, Vec<&'static str>) {
    match agent.ask(&AgentAsk::Quote { errand: errand.clone(), terms }) {
        AgentReply::Quoted { quote, refusals } => (quote, refusals.iter().map(bursar_policy::Refusal::code).collect()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_purchase_is_judged_counted_signed_and_its_signature_recovers_to_the_payer() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (client, welcome) = AgentClient::connect(&sandbox.profile, None).unwrap();
    assert_eq!(welcome.rules, RULES);
    assert_eq!(welcome.payer, Some(sandbox.payer));
    assert!(!welcome.locked);
    let agent = Agent(client);

    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let signed = agent.authorize(terms(5));
    assert_eq!(signed.payer, sandbox.payer);
    assert_eq!(signed.authorization.from, sandbox.payer);
    assert_eq!(signed.authorization.to, PAYEE.parse().unwrap());
    assert_eq!(signed.authorization.value.units(), 50_000);
    assert_eq!(signed.domain.contract, USDC.parse::<Address>().unwrap());
    assert_eq!(signed.envelope, "kept");
    let signature: Signature = signed.signature.parse().unwrap();
    assert_eq!(recover(&signed.authorization.digest(&signed.domain), &signature), Some(sandbox.payer));
    assert_eq!(sandbox.operator().spent(), "0.05 USD", "counted before it is reported");

    let receipt = agent.report(delivered());
    assert_eq!((receipt.state, receipt.outcome.as_str()), (RowState::Settled, "paid"));
    match agent.claim(&errand("a")) {
        Claimed::Repeat(past) => {
            assert!(past.receipt.identical_repeat);
            assert_eq!(past.receipt.payment, signed.payment);
            assert!(matches!(past.delivery, Some(Delivery::Answer { status: 200, .. })));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(sandbox.operator().spent(), "0.05 USD");
}

#[test]
fn two_purchases_have_two_nonces() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    let mut seen = std::collections::HashSet::new();
    for number in 0..8 {
        assert!(matches!(agent.claim(&named("a", &format!("n{number}"))), Claimed::New));
        assert!(seen.insert(agent.authorize(terms(1)).authorization.nonce));
    }
}

#[test]
fn a_dropped_connection_leaves_the_money_counted_and_a_retry_gets_the_same_bytes() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let first = sandbox.agent();
    assert!(matches!(first.claim(&errand("a")), Claimed::New));
    let signed = first.authorize(terms(5));
    drop(first);
    let second = sandbox.agent();
    match second.claim(&errand("a")) {
        Claimed::Resend(again) => assert_eq!(*again, signed),
        other => panic!("{other:?}"),
    }
    assert_eq!(second.code(&authorize(terms(5))), "out_of_order");
    let receipt = second.report(delivered());
    assert_eq!(receipt.payment, signed.payment);
    assert_eq!(sandbox.operator().spent(), "0.05 USD");
}

#[test]
fn an_identical_call_waits_for_the_first_one_and_gets_its_result() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let first = sandbox.agent();
    assert!(matches!(first.claim(&errand("a")), Claimed::New));
    let claimed = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sandbox.agent().claim(&errand("a")));
        first.authorize(terms(5));
        assert!(!waiting.is_finished(), "the answer is held back while the first is in flight");
        first.report(delivered());
        waiting.join().unwrap()
    });
    assert!(matches!(claimed, Claimed::Repeat(_)), "{claimed:?}");
    assert_eq!(sandbox.operator().spent(), "0.05 USD");
}

#[test]
fn terms_that_the_rules_forbid_are_refused_by_the_vault_itself() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let fine = terms(5);
    let stranger = "0x1111111111111111111111111111111111111111".parse().unwrap();
    for (wrong, code) in [
        (Terms { payee: stranger, ..fine.clone() }, "payee_not_allowed"),
        (Terms { payee: USDC.parse().unwrap(), ..fine.clone() }, "payee_forbidden"),
        (Terms { payee: sandbox.payer, ..fine.clone() }, "payee_forbidden"),
        (Terms { asset: stranger, ..fine.clone() }, "asset_not_allowed"),
        (Terms { chain: bursar_policy::ChainId::BASE, ..fine.clone() }, "unsupported_network"),
        (Terms { domain_name: "USD Coin".to_owned(), ..fine.clone() }, "domain_mismatch"),
        (Terms { max_timeout_s: 5, ..fine.clone() }, "lifetime_too_short"),
        (terms(101), "over_payment_cap"),
    ] {
        let codes = agent.refused(&authorize(wrong));
        assert!(codes.contains(&code), "{codes:?} lacks {code}");
    }
    let long = AgentAsk::Authorize {
        terms: fine.clone(),
        envelope: "x".repeat(ENVELOPE_MAX_BYTES + 1),
        rules: judged_under(),
    };
    assert_eq!(agent.code(&long), "envelope_too_large");
    assert_eq!(sandbox.operator().spent(), "0.00 USD");
    agent.authorize(fine);
}

#[test]
fn a_budget_is_spent_to_the_cent_and_no_further() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    for number in 0..4 {
        assert!(matches!(agent.claim(&named("a", &format!("n{number}"))), Claimed::New));
        agent.authorize(terms(25));
    }
    assert!(matches!(agent.claim(&named("a", "n4")), Claimed::New));
    let codes = agent.refused(&authorize(terms(1)));
    assert_eq!(codes, ["over_session_budget"]);
}

#[test]
fn without_a_session_nothing_is_claimed() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let _running = sandbox.start();
    let agent = sandbox.agent();
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("a") }), ["no_session"]);
    sandbox.operator().open_session("other", "1.00 USD");
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("a") }), ["no_session"]);
    let other = Agent(AgentClient::connect(&sandbox.profile, Some(name("other"))).unwrap().0);
    assert!(matches!(other.claim(&errand("a")), Claimed::New));
    sandbox.operator().open_session("default", "1.00 USD");
    assert!(matches!(agent.claim(&errand("a")), Claimed::New), "a session opened later is found");
}

#[test]
fn a_session_that_is_over_pays_nothing_but_still_tells_what_it_bought() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let dial = Dial::at(1_990_000_000);
    let _running = sandbox.start_at(Box::new(dial.clone()));
    sandbox.operator().open_session("default", "1.00 USD");
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    agent.authorize(terms(5));
    agent.report(delivered());
    dial.pass(3590);
    assert!(matches!(agent.claim(&errand("b")), Claimed::New));
    agent.authorize(terms(5));
    agent.report(delivered());
    dial.pass(11);
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("c") }), ["session_expired"]);
    assert!(matches!(agent.claim(&errand("b")), Claimed::Repeat(_)));
}

#[test]
fn a_quote_pins_its_terms_and_counts_nothing() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    assert_eq!(quote(&agent, &errand("a"), None), (None, vec![]));
    let (id, reasons) = quote(&agent, &errand("a"), Some(terms(5)));
    assert_eq!(reasons, Vec::<&str>::new());
    assert_eq!(quote(&agent, &errand("a"), Some(terms(200))).1, ["over_payment_cap"]);
    assert_eq!(sandbox.operator().status().held, []);

    let pinned = Errand { quote: id, ..errand("a") };
    assert!(matches!(agent.claim(&pinned), Claimed::New));
    let dearer = authorize(terms(6));
    assert_eq!(agent.refused(&dearer), ["quote_changed"]);
    agent.authorize(terms(5));

    let unknown = Errand { quote: Some(QuoteId::from_random([7; 16])), ..errand("b") };
    assert!(matches!(agent.claim(&unknown), Claimed::New));
    let ask = authorize(terms(5));
    assert_eq!(agent.refused(&ask), ["quote_unknown"]);
}

#[test]
fn asks_out_of_order_are_told_and_the_conversation_goes_on() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    let early = authorize(terms(5));
    let silence =
        || AgentAsk::Report(Report { delivery: Delivery::Silence { why: "timeout".to_owned() }, settlement: None });
    assert_eq!(agent.code(&early), "out_of_order");
    assert_eq!(agent.code(&silence()), "out_of_order");
    assert_eq!(
        agent.code(&AgentAsk::Hello { protocol: bursar_vault::protocol::PROTOCOL, session: None }),
        "out_of_order"
    );
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    assert_eq!(agent.code(&silence()), "out_of_order", "nothing was authorized yet");
    agent.authorize(terms(5));
    assert_eq!(agent.code(&early), "out_of_order", "one claim, one signature");
    let receipt = match agent.ask(&silence()) {
        AgentReply::Reported { receipt } => receipt,
        other => panic!("{other:?}"),
    };
    assert_eq!((receipt.state, receipt.outcome.as_str()), (RowState::Exposed, "unresolved"));
}

#[test]
fn the_status_shows_an_agent_its_own_budget_only() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    agent.authorize(terms(5));
    let status = |agent: &Agent| match agent.ask(&AgentAsk::Status) {
        AgentReply::Status(status) => *status,
        other => panic!("{other:?}"),
    };
    let own = status(&agent);
    assert_eq!(own.session.unwrap().spent.to_string(), "0.05 USD");
    assert_eq!(own.unresolved.len(), 1);
    assert_eq!(own.next_step, None);
    let stranger = Agent(AgentClient::connect(&sandbox.profile, Some(name("none"))).unwrap().0);
    let theirs = status(&stranger);
    assert_eq!((theirs.session, theirs.unresolved.len()), (None, 0));
    assert!(theirs.next_step.unwrap().contains("bursar session new"));
}
