//! Sessions for a purpose: who may open which, and what several of them at once may spend together.

use std::fs;

use crate::world::{
    Agent, PAYEE, RULES, SECRET, Sandbox, authorize, delivered, errand, name, named, said, session_new, terms,
};
use bursar_policy::{Digest, Errand, Mandate, Method, Money, Payees};
use bursar_vault::client::AgentClient;
use bursar_vault::protocol::{AgentAsk, AgentReply, Claimed, OperatorAsk, OperatorReply};
use bursar_vault::setup::Unlocking;

fn mandate(origin: &str, payees: Payees, most: &str) -> Mandate {
    let origins = vec![origin.parse().unwrap()];
    Mandate::new("weather for the trip".to_owned(), origins, payees, most.parse().unwrap()).unwrap()
}

fn usual() -> Mandate {
    mandate("https://api.example.com", Payees::Listed(vec![PAYEE.parse().unwrap()]), "0.05 USD")
}

fn for_a_purpose(session: &str, mandate: Mandate) -> OperatorAsk {
    let budget: Money = "1.00 USD".parse().unwrap();
    let mandate = Some(mandate);
    OperatorAsk::SessionNew { name: name(session), budget, minutes: 60, mandate, passphrase: said(SECRET) }
}

fn agent_of(sandbox: &Sandbox, session: &str) -> Agent {
    Agent(AgentClient::connect(&sandbox.profile, Some(name(session))).unwrap().0)
}

fn elsewhere() -> Errand {
    Errand::new("https://other.example.com/a".parse().unwrap(), Method::Get)
}

fn want_a_mandate(sandbox: &Sandbox) {
    let strict = RULES.replace("allow_any_host = true", "allow_any_host = true\nmandate = \"required\"");
    fs::write(sandbox.profile.rules(), &strict).unwrap();
    let reload = OperatorAsk::ReloadRules { rules: Digest::of(strict.as_bytes()), passphrase: said(SECRET) };
    assert!(matches!(sandbox.operator().ask(&reload), OperatorReply::Reloaded { .. }));
}

#[test]
fn a_mandate_that_rules_or_budget_contradict_opens_nothing() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let _running = sandbox.start();
    let operator = sandbox.operator();
    let stranger = Payees::Listed(vec!["0x2222222222222222222222222222222222222222".parse().unwrap()]);
    for contradiction in [
        mandate("http://api.example.com", Payees::Any, "0.05 USD"),
        mandate("https://api.example.com", stranger, "0.05 USD"),
        mandate("https://api.example.com", Payees::Any, "1.01 USD"),
        mandate("https://api.example.com", Payees::Any, "0.05 EUR"),
    ] {
        assert_eq!(operator.code(&for_a_purpose("trip", contradiction)), "mandate_contradicts");
    }
    let wrong = OperatorAsk::SessionNew {
        name: name("trip"),
        budget: "1.00 USD".parse().unwrap(),
        minutes: 60,
        mandate: Some(mandate("http://api.example.com", Payees::Any, "0.05 USD")),
        passphrase: said("somebody else's words"),
    };
    assert_eq!(operator.code(&wrong), "passphrase_wrong", "whoever is not the operator learns nothing of the rules");
    assert!(operator.status().sessions.is_empty());
    let OperatorReply::Session(opened) = operator.ask(&for_a_purpose("trip", usual())) else { panic!("not opened") };
    assert_eq!(opened.mandate, Some(usual()));
    assert_eq!(operator.status().sessions[0].mandate, Some(usual()));
}

#[test]
fn where_the_rules_want_a_mandate_no_session_is_opened_without_and_none_goes_on() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (operator, agent) = (sandbox.operator(), sandbox.agent());
    let quote = |errand| AgentAsk::Quote { errand, terms: None };
    let look = |agent: &Agent, errand| match agent.ask(&quote(errand)) {
        AgentReply::Quoted { quote: None, refusals } => refusals.iter().map(|reason| reason.code()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let missing = |agent: &Agent| match agent.ask(&AgentAsk::Status) {
        AgentReply::Status(status) => (status.mandate_missing, status.next_step),
        other => panic!("{other:?}"),
    };
    assert!(matches!(agent.claim(&errand("before")), Claimed::New));
    assert_eq!((look(&agent, errand("before")), missing(&agent)), (Vec::new(), (false, None)));
    want_a_mandate(&sandbox);
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("after") }), ["mandate_missing"]);
    assert_eq!(look(&agent, errand("after")), ["mandate_missing"]);
    let (is_missing, next_step) = missing(&agent);
    assert!(is_missing && next_step.is_some_and(|step| step.contains("bursar session close")));
    assert_eq!(operator.code(&session_new("second", "1.00 USD", SECRET)), "mandate_missing");
    let nobody = agent_of(&sandbox, "nobody");
    assert_eq!(
        look(&nobody, errand("after")),
        ["no_session", "mandate_missing"],
        "nobody opened a session for this seller"
    );
    assert!(missing(&nobody).1.is_some_and(|step| step.contains("with a mandate")));

    operator.ask(&for_a_purpose("second", usual()));
    let second = agent_of(&sandbox, "second");
    assert!(matches!(second.claim(&errand("after")), Claimed::New));
    assert_eq!((look(&second, errand("after")), missing(&second)), (Vec::new(), (false, None)));
    assert_eq!(look(&second, elsewhere()), ["outside_mandate"]);
    assert_eq!(second.refused(&AgentAsk::Claim { errand: elsewhere() }), ["outside_mandate"]);
}

#[test]
fn two_sessions_spend_their_own_budgets_under_the_limits_of_the_profile() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let _running = sandbox.start();
    let operator = sandbox.operator();
    // 5.00 USD a day for everything: less than both budgets together.
    for session in ["a", "b"] {
        operator.open_session(session, "3.00 USD");
    }
    let agents = [agent_of(&sandbox, "a"), agent_of(&sandbox, "b")];
    let buy = |agent: &Agent, id: &str| {
        assert!(matches!(agent.claim(&named("page", id)), Claimed::New));
        match agent.ask(&authorize(terms(100))) {
            AgentReply::Authorized(_) => {
                agent.report(delivered());
                "paid"
            }
            AgentReply::Refused(reasons) => reasons[0].code(),
            other => panic!("{other:?}"),
        }
    };
    // The same purchase of another session is another purchase.
    let [a, b] = &agents;
    let ends: Vec<&str> = ["1", "2", "3", "4"].map(|id| buy(a, id)).into();
    assert_eq!(ends, ["paid", "paid", "paid", "over_session_budget"], "its own budget");
    let ends: Vec<&str> = ["1", "2", "3"].map(|id| buy(b, id)).into();
    assert_eq!(ends, ["paid", "paid", "over_limit"], "all sessions together");
    let spent = |session: &str| {
        let sessions = operator.status().sessions;
        sessions.into_iter().find(|found| found.name == name(session)).unwrap().spent.to_string()
    };
    assert_eq!((spent("a"), spent("b")), ("3.00 USD".to_owned(), "2.00 USD".to_owned()));
}
