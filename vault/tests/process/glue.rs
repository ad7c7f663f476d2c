//! A browser's glue behind its own socket: one handle, one page, one header, and nothing else.

use crate::world::{
    Dial, SECRET, Sandbox, authorize, blank, delivered, errand, hold, judged_under, name, session_new, terms,
};
use bursar_policy::{Errand, Handle, Method, PageOpening};
use bursar_vault::client::{AgentClient, ClientFault, GlueClient};
use bursar_vault::protocol::frame::{self, ASK_MAX_BYTES, REPLY_MAX_BYTES};
use bursar_vault::protocol::{
    AgentAsk, AgentReply, AttachedHow, Claimed, Delivery, GlueAsk, GlueRefusal, HeaderName, OperatorAsk, PROTOCOL,
    PaymentHeader, Report, RowState,
};
use bursar_vault::setup::Unlocking;
use std::os::unix::net::UnixStream;

const PAGE: &str = "https://api.example.com/page?id=1";

fn code<T: std::fmt::Debug>(reply: Result<T, ClientFault>) -> String {
    match reply {
        Err(ClientFault::Said { code, .. }) => code,
        other => panic!("a fault was expected: {other:?}"),
    }
}

/// What a glue says after the seller delivered: no body.
fn shown() -> Report {
    let delivery = Delivery::Answer { status: 200, content: None, content_error: None };
    Report { delivery, ..delivered() }
}

fn document(header: &PaymentHeader) -> serde_json::Value {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(header.value()).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn a_page_is_paid_for_by_the_glue_and_the_agent_hears_of_it() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, glue) = (sandbox.agent(), sandbox.glue());
    let handle = agent.prepare("page?id=1", 5);
    assert_eq!(sandbox.operator().spent(), "0.05 USD", "set aside");
    let attached = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| agent.attach(&handle, PageOpening::Navigate));
        let task = glue.next().unwrap().unwrap();
        assert_eq!((task.url.as_str(), task.open, &task.handle), (PAGE, PageOpening::Navigate, &handle));
        glue.armed(&handle).unwrap();
        let header = glue.redeem(&handle, PAGE).unwrap();
        assert_eq!(header.name(), HeaderName::PaymentSignature);
        let said = document(&header);
        assert_eq!(said["payload"]["authorization"]["from"], sandbox.payer.to_string());
        assert_eq!(said["payload"]["authorization"]["value"], "50000");
        let receipt = glue.report(&handle, shown()).unwrap();
        assert_eq!((receipt.state, receipt.outcome.as_str()), (RowState::Settled, "paid"));
        assert_eq!(said["id"], receipt.payment.to_string());
        waiting.join().unwrap()
    });
    assert_eq!((attached.how, attached.past.receipt.outcome.as_str()), (AttachedHow::Redeemed, "paid"));
    assert!(!attached.past.receipt.identical_repeat);
    let again = agent.attach(&handle, PageOpening::Navigate);
    assert_eq!((again.how, again.past.receipt.identical_repeat), (AttachedHow::Redeemed, true));
    assert_eq!(code(glue.redeem(&handle, PAGE)), "handle_used");
    assert_eq!(sandbox.operator().spent(), "0.05 USD");
}

#[test]
fn waiting_for_the_browser_ends_when_the_glue_is_ready() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, glue) = (sandbox.agent(), sandbox.glue());
    let handle = agent.prepare("page?id=1", 5);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| agent.attach(&handle, PageOpening::Wait));
        assert_eq!(glue.next().unwrap().unwrap().open, PageOpening::Wait);
        glue.armed(&handle).unwrap();
        let attached = waiting.join().unwrap();
        assert_eq!((attached.how, attached.past.receipt.state), (AttachedHow::Armed, RowState::Held));
        assert!(attached.expires_in_s.is_some_and(|left| 0 < left && left <= 90));
    });
    assert_eq!(agent.attach(&handle, PageOpening::Wait).how, AttachedHow::Armed, "it has it already");
    glue.redeem(&handle, PAGE).unwrap();
    glue.report(&handle, shown()).unwrap();
    assert_eq!(agent.attach(&handle, PageOpening::Wait).past.receipt.outcome, "paid");
}

#[test]
fn what_a_glue_gave_up_is_given_to_it_again() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, glue) = (sandbox.agent(), sandbox.glue());
    let handle = agent.prepare("page?id=1", 5);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| agent.attach(&handle, PageOpening::Wait));
        glue.next().unwrap().unwrap();
        glue.armed(&handle).unwrap();
        assert_eq!(waiting.join().unwrap().how, AttachedHow::Armed);
    });
    assert_eq!(code(glue.redeem(&handle, "https://api.example.com/other")), "wrong_url");
    // It lets the page load without, and goes on.
    std::thread::scope(|scope| {
        let again = scope.spawn(|| {
            let given = glue.next().unwrap().expect("it is asked for again");
            glue.armed(&given.handle).unwrap();
            given.handle
        });
        while !again.is_finished() {
            agent.attach(&handle, PageOpening::Wait);
        }
        assert_eq!(again.join().unwrap(), handle);
    });
    glue.redeem(&handle, PAGE).unwrap();
}

#[test]
fn without_a_glue_or_with_one_that_cannot_the_handle_survives() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    let handle = agent.prepare("page?id=1", 5);
    assert_eq!(agent.attach(&handle, PageOpening::Navigate).how, AttachedHow::NoGlue);
    let glue = sandbox.glue();
    for why in GlueRefusal::EVERY {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| agent.attach(&handle, PageOpening::Navigate));
            glue.next().unwrap().unwrap();
            glue.refuse(&handle, why).unwrap();
            assert_eq!(waiting.join().unwrap().how, AttachedHow::Declined(why));
        });
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| agent.attach(&handle, PageOpening::Navigate));
        glue.next().unwrap().unwrap();
        drop(glue);
        assert_eq!(waiting.join().unwrap().how, AttachedHow::GlueSilent);
    });
    assert!(sandbox.glue().redeem(&handle, PAGE).is_ok());
}

#[test]
fn a_lifted_handle_buys_no_other_page_and_a_wrong_url_does_not_use_it_up() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, glue) = (sandbox.agent(), sandbox.glue());
    let handle = agent.prepare("page?id=1", 5);
    for elsewhere in [
        "https://api.example.com/page?id=2",
        "https://api.example.com/page",
        "https://api.example.com/",
        "https://evil.example.com/page?id=1",
        "https://api.example.com:444/page?id=1",
        "http://api.example.com/page?id=1",
        "https://user@api.example.com/page?id=1",
        "javascript:0",
        "",
    ] {
        assert_eq!(code(glue.redeem(&handle, elsewhere)), "wrong_url", "{elsewhere}");
    }
    assert_eq!(code(glue.redeem(&Handle::from_random([7; 24]), PAGE)), "handle_unknown");
    sandbox.operator().open_session("other", "1.00 USD");
    let (other, _) = GlueClient::connect(&sandbox.profile, Some(name("other"))).unwrap();
    assert_eq!(code(other.redeem(&handle, PAGE)), "handle_unknown", "another session's glue");
    let (foreign, _) = AgentClient::connect(&sandbox.profile, Some(name("other"))).unwrap();
    let stolen = AgentAsk::Attach { handle: handle.clone(), open: PageOpening::Navigate };
    assert_eq!(code(foreign.ask(&stolen)), "handle_unknown", "another session's agent");
    assert_eq!(sandbox.operator().status().unresolved.len(), 1);
    glue.redeem(&handle, "https://API.example.com:443/page?id=1#part").unwrap();
}

#[test]
fn one_glue_serves_a_session_and_its_place_is_free_when_it_hangs_up() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let glue = sandbox.glue();
    assert_eq!(code(GlueClient::connect(&sandbox.profile, None)), "glue_taken");
    drop(glue);
    let (_glue, welcome) = GlueClient::connect(&sandbox.profile, None).unwrap();
    assert_eq!((welcome.protocol, welcome.session), (PROTOCOL, name("default")));
}

#[test]
fn a_glue_may_come_right_after_one_that_hung_up_while_it_waited_for_work() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    for _glue in 0..3 {
        let glue = sandbox.glue();
        frame::write(glue.stream(), &GlueAsk::Next, ASK_MAX_BYTES).unwrap();
    }
}

#[test]
fn a_glue_that_dies_after_redeeming_leaves_the_money_counted_and_the_same_bytes_are_offered_again() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    let handle = agent.prepare("page?id=1", 5);
    let glue = sandbox.glue();
    let first = glue.redeem(&handle, PAGE).unwrap();
    drop(glue);
    let attached = agent.attach(&handle, PageOpening::Navigate);
    assert_eq!((attached.how, attached.past.receipt.state), (AttachedHow::Redeemed, RowState::Exposed));
    assert_eq!(attached.past.receipt.outcome, "unresolved");
    let Claimed::Resend(signed) = agent.claim(&errand("page?id=1")) else { panic!("no resend") };
    let (handle, receipt) = match agent.ask(&AgentAsk::HoldAgain { blank: blank() }) {
        AgentReply::Held { handle, receipt, .. } => (handle, receipt),
        other => panic!("{other:?}"),
    };
    assert_eq!((&receipt.payment, receipt.identical_repeat), (&signed.payment, true));
    let glue = sandbox.glue();
    assert_eq!(glue.redeem(&handle, PAGE).unwrap(), first, "nothing is signed twice");
    assert_eq!(code(glue.redeem(&handle, PAGE)), "handle_used");
    assert_eq!(sandbox.operator().spent(), "0.05 USD");
}

#[test]
fn what_stands_against_it_by_now_keeps_the_header_and_the_agent_hears_why() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, glue, operator) = (sandbox.agent(), sandbox.glue(), sandbox.operator());
    let handle = agent.prepare("page?id=1", 5);
    let attach = AgentAsk::Attach { handle: handle.clone(), open: PageOpening::Navigate };
    let refused = |reason: &str| {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| agent.refused(&attach));
            glue.next().unwrap().unwrap();
            assert_eq!(code(glue.redeem(&handle, PAGE)), "refused");
            assert_eq!(waiting.join().unwrap(), [reason]);
        });
    };
    operator.ask(&OperatorAsk::Freeze { reason: "odd".to_owned() });
    refused("frozen");
    operator.ask(&OperatorAsk::Thaw { passphrase: crate::world::said(SECRET) });
    operator.ask(&OperatorAsk::Lock);
    refused("wallet_locked");
    operator.ask(&crate::world::unlock(SECRET));
    operator.ask(&OperatorAsk::SessionClose { name: name("default") });
    refused("no_session");
    operator.ask(&session_new("default", "1.00 USD", SECRET));
    refused("no_session");
}

#[test]
fn time_and_a_restart_end_a_handle_and_give_the_money_back() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let dial = Dial::at(1_900_000_000);
    let running = sandbox.start_at(Box::new(dial.clone()));
    sandbox.operator().open_session("default", "1.00 USD");
    let agent = sandbox.agent();
    let (handle, glue) = (agent.prepare("page?id=1", 5), sandbox.glue());
    dial.pass(90);
    assert_eq!(code(glue.redeem(&handle, PAGE)), "handle_expired");
    assert_eq!(agent.code(&AgentAsk::Attach { handle, open: PageOpening::Wait }), "handle_expired");
    let handle = agent.prepare("page?id=1", 5);
    running.stop();
    let _running = sandbox.start_at(Box::new(dial));
    assert_eq!(sandbox.operator().spent(), "0.00 USD");
    assert_eq!(code(sandbox.glue().redeem(&handle, PAGE)), "handle_expired");
}

#[test]
fn a_glue_has_no_other_rights_and_nobody_else_has_its() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let handle = sandbox.agent().prepare("page?id=1", 5);
    let greeted = |path, hello: &serde_json::Value| {
        let stream = UnixStream::connect(path).unwrap();
        frame::write(&stream, hello, ASK_MAX_BYTES).unwrap();
        frame::read(&stream, REPLY_MAX_BYTES, None).unwrap().unwrap();
        stream
    };
    let told = |stream: &UnixStream, ask: &serde_json::Value| {
        frame::write(stream, ask, ASK_MAX_BYTES).unwrap();
        let content = frame::read(stream, REPLY_MAX_BYTES, None).unwrap().unwrap();
        let reply: serde_json::Value = serde_json::from_slice(&content).unwrap();
        reply.pointer("/fault/code").unwrap().as_str().unwrap().to_owned()
    };
    let hello = serde_json::json!({"hello": {"protocol": PROTOCOL, "session": null}});
    let operator = serde_json::json!({"hello": {"protocol": PROTOCOL}});
    let asks = [
        serde_json::to_value(AgentAsk::Claim { errand: errand("a") }).unwrap(),
        serde_json::to_value(authorize(terms(1))).unwrap(),
        serde_json::to_value(AgentAsk::Status).unwrap(),
        serde_json::to_value(OperatorAsk::Shutdown).unwrap(),
        serde_json::to_value(session_new("x", "1.00 USD", SECRET)).unwrap(),
    ];
    for (at, ask) in asks.iter().enumerate() {
        let hello = serde_json::json!({"hello": {"protocol": PROTOCOL, "session": format!("s{at}")}});
        assert_eq!(told(&greeted(sandbox.profile.glue_sock(), &hello), ask), "bad_frame", "{ask}");
    }
    let redeem = GlueAsk::Redeem { handle: handle.clone(), url: PAGE.to_owned() };
    let redeem = serde_json::to_value(redeem).unwrap();
    assert_eq!(told(&greeted(sandbox.profile.agent_sock(), &hello), &redeem), "bad_frame");
    assert_eq!(told(&greeted(sandbox.profile.operator_sock(), &operator), &redeem), "bad_frame");
    let stream = UnixStream::connect(sandbox.profile.glue_sock()).unwrap();
    assert_eq!(told(&stream, &redeem), "out_of_order", "without a hello");
}

#[test]
fn a_flood_of_prepared_pages_fills_no_disk_and_keeps_nobody_from_buying() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    for _page in 0..60 {
        agent.prepare("page?id=1", 5);
    }
    assert!(matches!(agent.claim(&errand("page?id=1")), Claimed::New));
    assert_eq!(agent.code(&hold(terms(5))), "too_many_handles");
    assert_eq!(sandbox.operator().spent(), "0.05 USD", "the last one is good still");
    assert!(matches!(agent.ask(&authorize(terms(5))), AgentReply::Authorized(_)), "the claim was kept");
    assert!(matches!(agent.ask(&AgentAsk::Report(delivered())), AgentReply::Reported { .. }));
    let other = sandbox.agent();
    assert!(matches!(other.claim(&errand("b")), Claimed::New));
    other.ask(&authorize(terms(5)));
    drop(other);
    let mut claimed = agent.claim(&errand("b"));
    while !matches!(claimed, Claimed::Resend(_)) {
        claimed = agent.claim(&errand("b"));
    }
    assert_eq!(agent.code(&AgentAsk::HoldAgain { blank: blank() }), "too_many_handles");
}

#[test]
fn what_no_browser_asks_for_by_itself_gets_no_handle_for_a_resend_either() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let head = Errand { method: Method::Head, ..errand("page?id=1") };
    let buyer = sandbox.agent();
    assert!(matches!(buyer.claim(&head), Claimed::New));
    assert_eq!(buyer.code(&hold(terms(5))), "not_a_page");
    assert!(matches!(buyer.ask(&authorize(terms(5))), AgentReply::Authorized(_)));
    drop(buyer);
    let agent = sandbox.agent();
    while !matches!(agent.claim(&head), Claimed::Resend(_)) {}
    assert_eq!(agent.code(&AgentAsk::HoldAgain { blank: blank() }), "not_a_page");
}

#[test]
fn words_out_of_order_change_nothing() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, glue) = (sandbox.agent(), sandbox.glue());
    assert_eq!(agent.code(&hold(terms(5))), "out_of_order", "nothing is claimed");
    assert_eq!(agent.code(&AgentAsk::HoldAgain { blank: blank() }), "out_of_order");
    let handle = agent.prepare("page?id=1", 5);
    assert_eq!(agent.code(&authorize(terms(5))), "out_of_order", "the claim ended with the hold");
    assert_eq!(code(glue.armed(&handle)), "handle_unknown", "it was not given");
    assert_eq!(code(glue.report(&handle, shown())), "out_of_order", "it was not redeemed");
    glue.redeem(&handle, PAGE).unwrap();
    assert_eq!(code(glue.refuse(&handle, GlueRefusal::Timeout)), "out_of_order", "it is redeemed");
    assert_eq!(code(glue.report(&handle, delivered())), "no_content");
    glue.report(&handle, shown()).unwrap();
    let stale = AgentAsk::Hold {
        terms: terms(5),
        envelope: String::new(),
        blank: blank(),
        rules: bursar_policy::Digest::of(b"other rules"),
    };
    assert!(matches!(agent.claim(&errand("b")), Claimed::New));
    assert_eq!(agent.code(&stale), "rules_changed");
    assert!(matches!(agent.ask(&hold(terms(5))), AgentReply::Held { .. }), "the claim was kept");
    assert_ne!(judged_under(), bursar_policy::Digest::of(b"other rules"));
}
