//! What whoever measures is told of purchases, and that looking on keeps no vault.

use crate::world::{Operator, Sandbox, authorize, delivered, errand, hold, named, terms};
use bursar_policy::{Quoted, Refusal};
use bursar_vault::chain::NoChains;
use bursar_vault::client::OperatorClient;
use bursar_vault::clock::MachineTime;
use bursar_vault::process::{self, Ended};
use bursar_vault::protocol::{
    AgentAsk, AgentReply, Claimed, Delivery, LegName, Measures, OperatorAsk, OperatorReply, Passage, PassageEnd,
    Report, SecretValue, Sender,
};
use bursar_vault::setup::Unlocking;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

fn measures(operator: &Operator, after: u64) -> Measures {
    match operator.ask(&OperatorAsk::Measures { after }) {
        OperatorReply::Measures(measures) => *measures,
        other => panic!("{other:?}"),
    }
}

/// The purchases, once `count` are over.
fn over(operator: &Operator, count: u64) -> Vec<Passage> {
    loop {
        let found = measures(operator, 0);
        if count <= found.last {
            return found.passages;
        }
        thread::yield_now();
    }
}

fn legs(passage: &Passage) -> Vec<LegName> {
    let mut end_us = 0;
    for leg in &passage.legs {
        assert_eq!(leg.from_us, end_us, "each part begins where the one before ends: {passage:?}");
        end_us = end_us.saturating_add(leg.took_us);
    }
    assert!(end_us <= passage.took_us, "{passage:?}");
    passage.legs.iter().map(|leg| leg.name).collect()
}

#[test]
fn a_purchase_is_told_part_by_part_with_its_end_and_nothing_of_its_url() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let operator = sandbox.operator();
    let begun = measures(&operator, 0);
    assert_eq!((begun.last, begun.passages.len(), begun.refused.len()), (0, 0, 0));
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("private")), Claimed::New));
    let signed = agent.authorize(terms(5));
    agent.report(delivered());
    assert!(matches!(agent.claim(&errand("private")), Claimed::Repeat(_)));
    assert!(matches!(agent.claim(&named("private", "silent")), Claimed::New));
    agent.authorize(terms(5));
    agent.report(Report { delivery: Delivery::Silence { why: "timeout".to_owned() }, settlement: None });
    assert!(matches!(agent.claim(&named("private", "let-go")), Claimed::New));
    agent.authorize(terms(5));
    drop(agent);
    let passages = over(&operator, 4);
    let [paid, repeat, silent, let_go] = &passages[..] else { panic!("{passages:?}") };
    let signing = [LegName::Claim, LegName::Visit, LegName::Authorize, LegName::Sign];
    let whole = [&signing[..], &[LegName::Pay, LegName::Report]].concat();
    assert_eq!((legs(paid), legs(silent)), (whole.clone(), whole));
    assert_eq!((legs(repeat), legs(let_go)), (vec![LegName::Claim], signing.to_vec()));
    let ends: Vec<_> = passages.iter().map(|passage| passage.end).collect();
    assert_eq!(ends, [PassageEnd::Paid, PassageEnd::Repeat, PassageEnd::Unresolved, PassageEnd::Unreported]);
    for passage in &passages {
        assert_eq!((passage.by, passage.host.as_str()), (Sender::Serve, "api.example.com"));
        assert_eq!(passage.money.unwrap().to_string(), "0.05 USD");
        assert_eq!(passage.codes, [""; 0]);
        assert!(begun.since_us <= passage.began_us);
    }
    assert_eq!(paid.payment.as_ref(), Some(&signed.payment));
    let told = serde_json::to_string(&passages).unwrap();
    assert!(!told.contains("private") && !told.contains("0x"), "{told}");
    let rest = measures(&operator, 3);
    assert_eq!((rest.last, rest.since_us), (4, begun.since_us));
    assert_eq!(rest.passages, passages[3..]);
}

#[test]
fn a_refusal_is_counted_under_each_of_its_codes_and_ends_its_purchase() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let operator = sandbox.operator();
    let agent = sandbox.agent();
    let stranger = "0x1111111111111111111111111111111111111111".parse().unwrap();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let wrong = bursar_policy::Terms { payee: stranger, ..terms(101) };
    let codes = agent.refused(&authorize(wrong));
    assert!(
        1 < codes.len() && codes.contains(&"payee_not_allowed") && codes.contains(&"over_payment_cap"),
        "{codes:?}"
    );
    assert!(matches!(agent.claim(&errand("b")), Claimed::New));
    let refusals = vec![Refusal::TermsUnreadable { why: Quoted::of("; frozen: forged") }];
    let declined = agent.ask(&AgentAsk::Decline { errand: errand("b"), sought: Vec::new(), refusals });
    assert!(matches!(declined, AgentReply::Noted));
    assert!(matches!(agent.claim(&errand("c")), Claimed::New));
    drop(agent);
    let passages = over(&operator, 3);
    let ends: Vec<_> = passages.iter().map(|passage| passage.end).collect();
    assert_eq!(ends, [PassageEnd::Refused, PassageEnd::Refused, PassageEnd::Unpaid]);
    assert_eq!(passages[0].codes, codes);
    assert_eq!(legs(&passages[1]), [LegName::Claim, LegName::Visit]);
    let refused = measures(&operator, 0).refused;
    assert_eq!((refused.get("payee_not_allowed"), refused.get("over_payment_cap")), (Some(&1), Some(&1)));
    assert_eq!(refused.get("frozen"), None, "no word of a seller is a code: {refused:?}");
    assert_eq!(refused.values().sum::<u64>(), u64::try_from(codes.len()).unwrap().saturating_add(1));
}

#[test]
fn a_page_is_held_by_one_and_paid_for_by_the_other() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let operator = sandbox.operator();
    let (agent, glue) = (sandbox.agent(), sandbox.glue());
    assert!(matches!(agent.claim(&errand("page")), Claimed::New));
    let AgentReply::Held { handle, .. } = agent.ask(&hold(terms(5))) else { panic!("nothing is held") };
    glue.redeem(&handle, "https://api.example.com/page").unwrap();
    let delivery = Delivery::Answer { status: 200, content: None, content_error: None };
    glue.report(&handle, Report { delivery, ..delivered() }).unwrap();
    let passages = over(&operator, 2);
    let told: Vec<_> = passages.iter().map(|passage| (passage.by, passage.end, legs(passage))).collect();
    let held = vec![LegName::Claim, LegName::Visit, LegName::Authorize];
    let paid = vec![LegName::Authorize, LegName::Sign, LegName::Pay, LegName::Report];
    assert_eq!(told, [(Sender::Serve, PassageEnd::Held, held), (Sender::Browser, PassageEnd::Paid, paid)]);
    assert_eq!(passages[0].payment, passages[1].payment);
}

#[test]
fn what_is_not_resolved_is_counted_and_not_only_listed() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    for number in 0..25 {
        assert!(matches!(agent.claim(&named("a", &format!("n{number}"))), Claimed::New));
        agent.authorize(terms(1));
    }
    let status = sandbox.operator().status();
    assert_eq!((status.unresolved.len(), status.unresolved_count), (20, 25));
}

#[test]
fn looking_on_keeps_no_vault() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let idle = Some(Duration::from_millis(300));
    let start = || process::start(&sandbox.profile, idle, Box::new(MachineTime), Arc::new(NoChains)).unwrap();
    let token = || OperatorAsk::MetricsToken {
        shown: SecretValue::new(Zeroizing::new("a-guess-of-a-stranger".to_owned())).unwrap(),
    };
    // Asks again and again, each time by a connection of its own, until the vault is gone or long after it should be.
    let hammer = |ask: &dyn Fn() -> OperatorAsk| {
        let until = Instant::now().checked_add(Duration::from_secs(20)).unwrap();
        while Instant::now() < until {
            let Ok((client, _)) = OperatorClient::connect(&sandbox.profile) else { return };
            drop(client.ask(&ask()));
        }
        if let Ok((client, _)) = OperatorClient::connect(&sandbox.profile) {
            drop(client.ask(&OperatorAsk::Shutdown));
        }
    };
    let ended = |ask: &(dyn Fn() -> OperatorAsk + Sync)| {
        let running = start();
        thread::scope(|scope| {
            scope.spawn(|| hammer(ask));
            let ended = running.wait();
            running.stop();
            ended
        })
    };
    assert_eq!(ended(&token), Ended::Idle);
    assert_eq!(ended(&|| OperatorAsk::Measures { after: 0 }), Ended::Idle);
}
