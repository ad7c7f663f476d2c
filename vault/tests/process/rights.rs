//! What only a person may do, and only with the passphrase; what an agent can never reach.

use crate::world::{RULES, SECRET, Sandbox, authorize, delivered, errand, name, said, session_new, terms, unlock};
use bursar_policy::{Address, Digest, Money, PaymentId, Quoted, Refusal, Terms};
use bursar_vault::client::{AgentClient, ClientFault};
use bursar_vault::protocol::{
    AgentAsk, AgentReply, Claimed, LogEntry, OperatorAsk, OperatorReply, RowState, SecretValue, Wanted, WhichRules,
};
use bursar_vault::setup::Unlocking;
use std::fs;
use zeroize::Zeroizing;

fn reload(text: &str) -> OperatorAsk {
    OperatorAsk::ReloadRules { rules: Digest::of(text.as_bytes()), passphrase: said(SECRET) }
}

fn with_passphrase(typed: &str) -> [OperatorAsk; 8] {
    [
        unlock(typed),
        session_new("default", "1.00 USD", typed),
        OperatorAsk::Thaw { passphrase: said(typed) },
        OperatorAsk::Unlatch { passphrase: said(typed) },
        OperatorAsk::Resume { whom: "https://api.example.com".to_owned(), passphrase: said(typed) },
        OperatorAsk::SecretSet {
            name: "shop-key".parse().unwrap(),
            value: SecretValue::new(Zeroizing::new("sk-0123456789".to_owned())).unwrap(),
            passphrase: said(typed),
        },
        OperatorAsk::SecretRemove { name: "shop-key".parse().unwrap(), passphrase: said(typed) },
        OperatorAsk::ReloadRules { rules: Digest::of(RULES.as_bytes()), passphrase: said(typed) },
    ]
}

#[test]
fn a_locked_wallet_claims_nothing_until_a_person_unlocks_it() {
    let sandbox = Sandbox::new(Unlocking::ByPerson);
    let _running = sandbox.start();
    let operator = sandbox.operator();
    operator.open_session("default", "1.00 USD");
    let (client, welcome) = AgentClient::connect(&sandbox.profile, None).unwrap();
    assert!(welcome.locked);
    assert_eq!(welcome.payer, Some(sandbox.payer), "the account is known while locked");
    let agent = crate::world::Agent(client);
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("a") }), ["wallet_locked"]);

    let unlocked = operator.ask(&unlock(SECRET));
    assert!(matches!(unlocked, OperatorReply::Unlocked { payer } if payer == sandbox.payer));
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    operator.ask(&OperatorAsk::Lock);
    assert_eq!(agent.refused(&authorize(terms(5))), ["wallet_locked"], "locked between claim and authorize");
    operator.ask(&unlock(SECRET));
    agent.authorize(terms(5));
}

#[test]
fn a_locked_wallet_still_tells_what_was_bought_and_sends_nothing_again() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let operator = sandbox.operator();
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("answered")), Claimed::New));
    agent.authorize(terms(5));
    agent.report(delivered());
    let gone = sandbox.agent();
    assert!(matches!(gone.claim(&errand("unanswered")), Claimed::New));
    let signed = gone.authorize(terms(5));
    drop(gone);
    operator.ask(&OperatorAsk::Lock);

    assert!(matches!(agent.claim(&errand("answered")), Claimed::Repeat(past) if past.receipt.outcome == "paid"));
    match agent.claim(&errand("unanswered")) {
        Claimed::Repeat(past) => {
            assert_eq!((&past.receipt.payment, past.receipt.identical_repeat), (&signed.payment, true));
            assert_eq!((past.receipt.state, past.receipt.outcome.as_str()), (RowState::Exposed, "unresolved"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("new") }), ["wallet_locked"]);
    let wanted = Wanted::Request { subject: errand("answered").subject(), max_age_s: 600 };
    assert!(matches!(agent.ask(&AgentAsk::Recall(wanted)), AgentReply::Recalled(Some(_))), "reading again is free");
    operator.ask(&unlock(SECRET));
    assert!(matches!(agent.claim(&errand("unanswered")), Claimed::Resend(again) if *again == signed));
    assert!(matches!(sandbox.agent().claim(&errand("new")), Claimed::New), "the refused claim was given up");
}

#[test]
fn a_locked_wallet_is_told_before_a_missing_session() {
    let sandbox = Sandbox::new(Unlocking::ByPerson);
    let _running = sandbox.start();
    let codes = sandbox.agent().refused(&AgentAsk::Claim { errand: errand("a") });
    assert_eq!(codes, ["wallet_locked", "no_session"]);
}

#[test]
fn a_keystore_with_words_of_its_own_opens_for_the_operator_by_the_file_that_holds_them() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let _running = sandbox.start();
    let operator = sandbox.operator();
    assert!(!operator.status().locked);
    operator.ask(&OperatorAsk::Lock);
    assert_eq!(operator.status().next_step.unwrap(), "the wallet is locked: run `bursar unlock`");
    operator.ask(&unlock(SECRET));
    operator.ask(&OperatorAsk::Lock);
    let filed = fs::read_to_string(sandbox.profile.passphrase_file()).unwrap();
    assert_eq!(operator.code(&unlock(&filed)), "passphrase_wrong", "it is not a person's");
    fs::remove_file(sandbox.profile.passphrase_file()).unwrap();
    assert_eq!(operator.code(&unlock(SECRET)), "keystore");
    assert!(operator.status().locked);
}

#[test]
fn every_right_that_gives_more_needs_the_passphrase_each_time() {
    let sandbox = Sandbox::new(Unlocking::ByPerson);
    let _running = sandbox.start();
    let operator = sandbox.operator();
    for right in with_passphrase(SECRET) {
        operator.ask(&right);
        // A right answer before it opens no door for a wrong one after it.
        let wrong = OperatorAsk::Thaw { passphrase: said("guess") };
        assert_eq!(operator.code(&wrong), "passphrase_wrong");
    }
    let (right, wrong) = (with_passphrase(SECRET), with_passphrase("guess"));
    for (right, wrong) in right.into_iter().zip(wrong) {
        assert_eq!(operator.code(&wrong), "passphrase_wrong", "{wrong:?}");
        match operator.0.ask(&right) {
            Ok(_) => {}
            Err(ClientFault::Said { code, .. }) => assert_eq!(code, "session_exists"),
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_seller_that_is_blamed_is_left_alone_until_a_person_resumes_it() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    let quote = |terms| AgentAsk::Quote { errand: errand("a"), terms };
    assert!(matches!(agent.ask(&quote(None)), AgentReply::Quoted { quote: None, refusals } if refusals.is_empty()));
    // Its own refusal of a payment and of a quote, and what serve says of another.
    let swapped = Terms { payee: Address::from_bytes([0x66; 20]), ..terms(5) };
    let blamed = Refusal::OfferConflict { members: Quoted::of("payTo and recipient") };
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    for _twice in 0..2 {
        assert_eq!(agent.refused(&authorize(swapped.clone())), ["payee_not_allowed"]);
        let AgentReply::Quoted { refusals, .. } = agent.ask(&quote(Some(swapped.clone()))) else { panic!("no quote") };
        assert_eq!(refusals[0].code(), "payee_not_allowed");
        agent.ask(&AgentAsk::Decline { errand: errand("b"), sought: Vec::new(), refusals: vec![blamed.clone()] });
    }

    assert_eq!(sandbox.agent().refused(&AgentAsk::Claim { errand: errand("c") }), ["host_quarantined"]);
    let AgentReply::Quoted { refusals, .. } = agent.ask(&quote(None)) else { panic!("no quote") };
    assert_eq!(refusals[0].code(), "host_quarantined");
    assert_eq!(agent.refused(&authorize(terms(5))), ["host_quarantined"], "it was claimed before");
    let operator = sandbox.operator();
    assert_eq!(operator.status().quarantined.len(), 1);
    let whom = |whom: &str| OperatorAsk::Resume { whom: whom.to_owned(), passphrase: said(SECRET) };
    assert_eq!(operator.code(&whom("nobody.example.com")), "resume_unknown");
    let looked = |whom: &str| OperatorAsk::Resumable { whom: whom.to_owned() };
    assert_eq!(operator.code(&looked("nobody.example.com")), "resume_unknown");
    let OperatorReply::Resumable(found) = operator.ask(&looked("api.example.com")) else { panic!("not looked") };
    assert_eq!((found.of.as_str(), found.strikes, found.lost), ("https://api.example.com", 6, 0));
    assert_eq!(agent.refused(&authorize(terms(5))), ["host_quarantined"], "looking lifts nothing");
    let OperatorReply::Resumed(resumed) = operator.ask(&whom("api.example.com")) else { panic!("not resumed") };
    assert_eq!((resumed.of.as_str(), resumed.strikes), ("https://api.example.com", 6));
    agent.authorize(terms(5));
}

#[test]
fn five_wrong_passphrases_close_the_door_even_for_the_right_one_and_across_a_restart() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let running = sandbox.start();
    let operator = sandbox.operator();
    for _ in 0..5 {
        assert_eq!(operator.code(&session_new("default", "1.00 USD", "guess")), "passphrase_wrong");
    }
    assert_eq!(operator.code(&session_new("default", "1.00 USD", SECRET)), "passphrase_wait");
    assert_eq!(sandbox.operator().code(&unlock(SECRET)), "passphrase_wait");
    operator.ask(&OperatorAsk::Freeze { reason: "someone is guessing".to_owned() });
    running.stop();
    let _running = sandbox.start();
    let operator = sandbox.operator();
    assert_eq!(operator.code(&OperatorAsk::Thaw { passphrase: said(SECRET) }), "passphrase_wait");
    let log = log(&sandbox);
    let wrong = log.iter().filter(|entry| entry.kind.contains("wrong")).count();
    assert_eq!(wrong, 5, "every wrong answer is in the log");
    assert!(log.iter().all(|entry| !entry.detail.contains("guess") || entry.detail.contains("someone")));
}

#[test]
fn a_freeze_needs_no_passphrase_and_stops_everything() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let operator = sandbox.operator();
    operator.ask(&OperatorAsk::Freeze { reason: "lunch".to_owned() });
    assert_eq!(agent.refused(&authorize(terms(5))), ["frozen"]);
    assert_eq!(sandbox.agent().refused(&AgentAsk::Claim { errand: errand("b") }), ["frozen"]);
    assert_eq!(operator.status().frozen.as_deref(), Some("lunch"));
    operator.ask(&OperatorAsk::Thaw { passphrase: said(SECRET) });
    agent.authorize(terms(5));
}

#[test]
fn the_rules_in_force_change_only_on_the_operators_word() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let operator = sandbox.operator();
    let before = operator.status().rules_digest;
    let wider = RULES.replace("max_per_payment = \"1.00 USD\"", "max_per_payment = \"50.00 USD\"");
    fs::write(sandbox.profile.rules(), &wider).unwrap();
    let status = operator.status();
    assert!(status.rules_changed && status.rules_digest == before);
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let dear = authorize(terms(101));
    assert!(agent.refused(&dear).contains(&"over_payment_cap"), "an edited file changes nothing by itself");

    fs::write(sandbox.profile.rules(), "[payment]\nmax_per_paymant = 1\n").unwrap();
    let fault = operator.0.ask(&reload("[payment]\nmax_per_paymant = 1\n")).unwrap_err().to_string();
    assert!(fault.contains("line 2") && fault.contains("did you mean"), "{fault}");
    assert_eq!(operator.status().rules_digest, before, "refused rules leave the old ones in force");

    fs::write(sandbox.profile.rules(), &wider).unwrap();
    let unread = operator.0.ask(&reload(RULES)).unwrap_err().to_string();
    assert!(unread.contains("changed while you read it"), "{unread}");
    assert_eq!(operator.status().rules_digest, before, "only what a person agreed to is put in force");
    let shown = OperatorAsk::Rules { which: WhichRules::OnDisk };
    assert!(matches!(operator.ask(&shown), OperatorReply::Rules { text, .. } if text == wider));
    operator.ask(&reload(&wider));
    assert!(!operator.status().rules_changed);
    let known = AgentAsk::Authorize { terms: terms(101), envelope: String::new(), rules: Digest::of(wider.as_bytes()) };
    assert_eq!(agent.refused(&known), ["over_session_budget"]);
}

#[test]
fn what_was_judged_under_other_rules_is_neither_counted_nor_signed_and_the_claim_is_kept() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, operator) = (sandbox.agent(), sandbox.operator());
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let other = format!("{RULES}# the same, in other words\n");
    fs::write(sandbox.profile.rules(), &other).unwrap();
    operator.ask(&reload(&other));
    match agent.0.ask(&authorize(terms(5))) {
        Err(ClientFault::Said { code, message }) => {
            assert_eq!(code, "rules_changed");
            assert_eq!(message, "the operator changed the rules meanwhile; nothing was signed, call again");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(operator.spent(), "0.00 USD");
    let known = AgentAsk::Authorize { terms: terms(5), envelope: String::new(), rules: Digest::of(other.as_bytes()) };
    assert!(matches!(agent.ask(&known), AgentReply::Authorized(_)), "the claim was kept");
}

#[test]
fn sessions_are_opened_once_with_sense_and_closed_by_name() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let _running = sandbox.start();
    let operator = sandbox.operator();
    operator.open_session("trip", "2.50 USD");
    assert_eq!(operator.code(&session_new("trip", "2.50 USD", SECRET)), "session_exists");
    assert_eq!(operator.code(&session_new("euro", "2.50 EUR", SECRET)), "session_currency");
    assert_eq!(operator.code(&session_new("none", "0 USD", SECRET)), "session_pointless");
    for minutes in [0, 527_041] {
        let budget: Money = "1 USD".parse().unwrap();
        let ask =
            OperatorAsk::SessionNew { name: name("long"), budget, minutes, mandate: None, passphrase: said(SECRET) };
        assert_eq!(operator.code(&ask), "session_minutes");
    }
    match operator.ask(&OperatorAsk::SessionList) {
        OperatorReply::Sessions(sessions) => assert_eq!(sessions.len(), 1),
        other => panic!("{other:?}"),
    }
    assert!(
        matches!(operator.ask(&OperatorAsk::SessionClose { name: name("trip") }), OperatorReply::Session(s) if s.closed)
    );
    assert_eq!(operator.code(&OperatorAsk::SessionClose { name: name("trip") }), "session_unknown");
}

#[test]
fn a_long_log_comes_in_pages_that_fit() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let operator = sandbox.operator();
    for _ in 0..600 {
        operator.ask(&OperatorAsk::Freeze { reason: "\u{7}".repeat(1024) });
    }
    let page = |after| match operator.ask(&OperatorAsk::Log { limit: u32::MAX, after }) {
        OperatorReply::Log(page) => page,
        other => panic!("{other:?}"),
    };
    let newest = page(None);
    let (mut seen, mut last) = (0_u64, 0);
    loop {
        let next = page(Some(last));
        let Some(end) = next.last() else {
            break;
        };
        for entry in &next {
            seen = seen.saturating_add(1);
            assert_eq!(entry.seq, seen, "no entry is left out");
        }
        last = end.seq;
    }
    assert!(600 < seen);
    assert_eq!(newest.last().unwrap().seq, seen, "the newest page ends with the newest entry");
}

#[test]
fn past_payments_come_in_order_and_in_pages_without_a_passphrase_or_a_signature() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let (agent, operator) = (sandbox.agent(), sandbox.operator());
    let page = |limit, after: Option<&PaymentId>| match operator
        .ask(&OperatorAsk::Payments { limit, after: after.cloned() })
    {
        OperatorReply::Payments(page) => page,
        other => panic!("{other:?}"),
    };
    assert_eq!(page(500, None), []);
    let mut signed = Vec::new();
    for path in ["a", "b", "c"] {
        assert!(matches!(agent.claim(&errand(path)), Claimed::New));
        signed.push(agent.authorize(terms(5)));
        agent.report(delivered());
    }
    let whole = page(500, None);
    let ids: Vec<_> = whole.iter().map(|past| &past.payment).collect();
    assert_eq!(ids, signed.iter().map(|signed| &signed.payment).collect::<Vec<_>>());
    for (past, signed) in whole.iter().zip(&signed) {
        assert_eq!((&past.terms, past.payer, past.money), (&signed.terms, sandbox.payer, "0.05 USD".parse().unwrap()));
        assert_eq!(past.budget, "1.00 USD".parse().unwrap());
        assert_eq!(past.ended_s.is_some(), past.state == RowState::Settled);
        assert!(!serde_json::to_string(past).unwrap().contains(&signed.signature[2..]), "never the signature");
    }
    let mut walked = Vec::new();
    loop {
        let after = walked.last().map(|past: &bursar_vault::protocol::PastPayment| past.payment.clone());
        let next = page(2, after.as_ref());
        if next.is_empty() {
            break;
        }
        assert!(next.len() <= 2);
        walked.extend(next);
    }
    assert_eq!(walked, whole);
    let after = Some(PaymentId::from_random([9; 16]));
    assert_eq!(operator.code(&OperatorAsk::Payments { limit: 1, after: after.clone() }), "no_such_payment");

    // The same backwards.
    let mut back = Vec::new();
    loop {
        let before = back.last().map(|past: &bursar_vault::protocol::PastPayment| past.payment.clone());
        match operator.ask(&OperatorAsk::NewestPayments { limit: 2, before }) {
            OperatorReply::Payments(page) if page.is_empty() => break,
            OperatorReply::Payments(page) => back.extend(page),
            other => panic!("{other:?}"),
        }
    }
    back.reverse();
    assert_eq!(back, whole);
    assert_eq!(operator.code(&OperatorAsk::NewestPayments { limit: 1, before: after }), "no_such_payment");
}

#[test]
fn what_serve_reports_is_told_as_its_word_and_cannot_steer_a_terminal() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    let why = format!("\u{1b}[2J\u{202e}\nrefused: nothing {}", "x".repeat(9000));
    let hostile = Refusal::UrlInvalid { why };
    let ask = AgentAsk::Decline { errand: errand("a"), sought: Vec::new(), refusals: vec![hostile, Refusal::Frozen] };
    assert!(matches!(agent.ask(&ask), AgentReply::Noted));
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    agent.refused(&authorize(terms(101)));
    let refused: Vec<LogEntry> = log(&sandbox).into_iter().filter(|entry| entry.kind == "refused").collect();
    let [declined, own] = &refused[..] else { panic!("{refused:?}") };
    let detail = &declined.detail;
    assert!(detail.starts_with("as reported by serve: GET https://api.example.com; url_invalid: "), "{detail}");
    assert!(detail.contains(r"\u{1b}[2J\u{202e}\u{a}refused: nothing"), "{detail}");
    assert!(detail.contains("; frozen: "), "one long reason does not push the others out: {detail}");
    assert!(detail.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{detail}");
    assert!(own.detail.starts_with("GET https://api.example.com; over_payment_cap: "), "{}", own.detail);
}

fn log(sandbox: &Sandbox) -> Vec<LogEntry> {
    match sandbox.operator().ask(&OperatorAsk::Log { limit: 500, after: None }) {
        OperatorReply::Log(log) => log,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_is_in_the_log_with_its_reasons_and_a_payment_has_its_story() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    agent.refused(&authorize(terms(101)));
    let signed = agent.authorize(terms(5));
    let operator = sandbox.operator();
    let log = log(&sandbox);
    assert!(log.iter().any(|entry| entry.detail.contains("over_payment_cap")), "{log:?}");
    let detail = match operator.ask(&OperatorAsk::Payment { id: signed.payment.clone() }) {
        OperatorReply::Payment(detail) => *detail,
        other => panic!("{other:?}"),
    };
    assert!(detail.signed && detail.terms == terms(5) && detail.payer == sandbox.payer);
    assert!(!serde_json::to_string(&detail).unwrap().contains(&signed.signature[2..]), "never the signature");
    let none = bursar_policy::PaymentId::from_random([9; 16]);
    assert_eq!(operator.code(&OperatorAsk::Payment { id: none }), "no_such_payment");
}
