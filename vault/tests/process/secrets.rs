//! Secrets for sellers: who may set them, and for which errand of which connection they are released.

use crate::world::{Agent, RULES, SECRET, Sandbox, authorize, delivered, judged_under, said, terms, unlock};
use bursar_policy::{Digest, Errand, Method, SecretName, Site};
use bursar_vault::client::{AgentClient, ClientFault};
use bursar_vault::process::Running;
use bursar_vault::protocol::{
    AgentAsk, AgentReply, Claimed, LogEntry, OperatorAsk, OperatorReply, Released, SecretList, SecretValue, Wanted,
};
use bursar_vault::setup::Unlocking;
use std::fs;
use zeroize::Zeroizing;

const SHOP: &str = "sk-shop-0123456789";
const OTHER: &str = "tk-other-0123456789";
const CORP: &str = "user:corp-password";

/// Rules under which three parts of two sellers want secrets, and the proxy another.
fn rules() -> String {
    let host =
        |origin: &str, path: &str, more: &str| format!("[[host]]\norigin = \"{origin}\"\npath = \"{path}\"\n{more}\n");
    RULES.replace("allow_any_host = true\n", "")
        + &host("https://api.example.com", "/v1", "secret_headers = [\"x-api-key: {shop}\"]")
        + &host(
            "https://api.example.com",
            "/v2",
            "secret_headers = [\"authorization: Bearer {other}\", \"x-api-key: {shop}\"]",
        )
        + &host("https://api.example.com", "/", "methods = [\"GET\", \"POST\"]")
        + &host("https://api.example.com:8443", "/v1", "")
        + &host("https://late.example.com", "/", "secret_headers = [\"x-api-key: {late}\"]")
}

fn with_proxy() -> String {
    rules() + "[network]\nproxy = \"http://proxy.example.com:3128\"\nproxy_secret = \"corp\"\n"
}

fn errand(url: &str) -> Errand {
    Errand::new(Site::parse(url).unwrap(), Method::Get)
}

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn set(secret: &str, value: &str, passphrase: &str) -> OperatorAsk {
    let value = SecretValue::new(Zeroizing::new(value.to_owned())).unwrap();
    OperatorAsk::SecretSet { name: name(secret), value, passphrase: said(passphrase) }
}

/// A vault with a dollar under `rules`, and secrets in it.
fn with_secrets(rules: &str) -> (Sandbox, Running) {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    fs::write(sandbox.profile.rules(), rules).unwrap();
    let running = sandbox.start();
    let operator = sandbox.operator();
    operator.open_session("default", "1.00 USD");
    for (secret, value) in [("shop", SHOP), ("other", OTHER), ("corp", CORP)] {
        assert!(matches!(operator.ask(&set(secret, value, SECRET)), OperatorReply::Done));
    }
    (sandbox, running)
}

fn released(agent: &Agent) -> Vec<String> {
    match agent.ask(&AgentAsk::Secrets) {
        AgentReply::Secrets(released) => {
            let Released { headers, proxy } = *released;
            let told = |header: &bursar_vault::protocol::ReleasedHeader| {
                format!("{}={}", header.header.name(), header.secret.expose())
            };
            let proxy = proxy.map(|proxy| format!("proxy={}", proxy.expose()));
            headers.iter().map(told).chain(proxy).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn looks_at(agent: &Agent, errand: &Errand) {
    let reply = agent.ask(&AgentAsk::Quote { errand: errand.clone(), terms: None });
    assert!(matches!(&reply, AgentReply::Quoted { refusals, .. } if refusals.is_empty()), "{reply:?}");
}

fn listed(sandbox: &Sandbox) -> SecretList {
    match sandbox.operator().ask(&OperatorAsk::SecretList) {
        OperatorReply::Secrets(list) => *list,
        other => panic!("{other:?}"),
    }
}

fn log(sandbox: &Sandbox) -> Vec<LogEntry> {
    match sandbox.operator().ask(&OperatorAsk::Log { limit: 500, after: Some(0) }) {
        OperatorReply::Log(log) => log,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_secret_is_released_for_exactly_the_rule_of_the_claimed_errand() {
    let (sandbox, _running) = with_secrets(&rules());
    for (url, wanted) in [
        ("https://api.example.com/v1/data?q=1", vec![format!("x-api-key={SHOP}")]),
        ("https://api.example.com/v2", vec![format!("authorization={OTHER}"), format!("x-api-key={SHOP}")]),
        ("https://api.example.com/v10", vec![]),
        ("https://api.example.com/", vec![]),
        ("https://api.example.com:8443/v1", vec![]),
    ] {
        let agent = sandbox.agent();
        assert!(matches!(agent.claim(&errand(url)), Claimed::New));
        assert_eq!(released(&agent), wanted, "{url}");
        assert_eq!(released(&agent), wanted, "a second time, for the same claim");
    }
    for (url, method) in [
        ("https://api.example.com/v1", Method::Post),
        ("https://api.example.com/V1", Method::Get),
        ("https://api.example.com/v1%2f..%2f..", Method::Get),
        ("https://evil.example.com/v1", Method::Get),
        ("https://late.example.com:444/", Method::Get),
    ] {
        let agent = sandbox.agent();
        let asked = Errand { method, ..errand(url) };
        assert!(matches!(agent.claim(&asked), Claimed::New), "a claim is not yet a visit");
        let refused = agent.refused(&AgentAsk::Secrets);
        assert!(refused == ["method_not_allowed"] || refused == ["host_not_allowed"], "{url}: {refused:?}");
    }
}

#[test]
fn nothing_is_released_without_an_errand_or_after_its_end() {
    let (sandbox, _running) = with_secrets(&rules());
    let agent = sandbox.agent();
    assert_eq!(agent.code(&AgentAsk::Secrets), "out_of_order");
    let wanted = Wanted::Request { subject: errand("https://api.example.com/v1").subject(), max_age_s: 9 };
    agent.ask(&AgentAsk::Recall(wanted));
    agent.ask(&AgentAsk::Status);
    assert_eq!(agent.code(&AgentAsk::Secrets), "out_of_order");

    let bought = errand("https://api.example.com/v1/bought");
    assert!(matches!(agent.claim(&bought), Claimed::New));
    let judged = Digest::of(rules().as_bytes());
    let ask = AgentAsk::Authorize { terms: terms(5), envelope: String::new(), rules: judged };
    assert!(matches!(agent.ask(&ask), AgentReply::Authorized(_)));
    assert_eq!(released(&agent), [format!("x-api-key={SHOP}")], "both legs need it");
    assert_eq!(sandbox.agent().code(&AgentAsk::Secrets), "out_of_order", "another connection has no part in it");
    drop(agent);
    let again = sandbox.agent();
    assert!(matches!(again.claim(&bought), Claimed::Resend(_)));
    assert_eq!(released(&again), [format!("x-api-key={SHOP}")], "the same bytes go out again");
    again.report(delivered());
    assert_eq!(again.code(&AgentAsk::Secrets), "out_of_order");
    assert!(matches!(again.claim(&bought), Claimed::Repeat(_)));
    assert_eq!(again.code(&AgentAsk::Secrets), "out_of_order", "what is told again asks nobody");
    assert_ne!(judged, judged_under());
    assert_eq!(again.code(&authorize(terms(5))), "out_of_order");
}

#[test]
fn a_look_at_a_price_gets_what_its_rule_names_and_replaces_no_claim() {
    let (sandbox, _running) = with_secrets(&rules());
    let agent = sandbox.agent();
    looks_at(&agent, &errand("https://api.example.com/v2/x"));
    assert_eq!(released(&agent).len(), 2);
    looks_at(&agent, &errand("https://api.example.com/other"));
    assert_eq!(released(&agent), [""; 0]);
    assert_eq!(agent.code(&authorize(terms(5))), "out_of_order", "a look is no claim");

    assert!(matches!(agent.claim(&errand("https://api.example.com/other")), Claimed::New));
    looks_at(&agent, &errand("https://api.example.com/v1/x"));
    assert_eq!(released(&agent), [""; 0], "the claimed errand counts");
}

#[test]
fn what_stops_payments_stops_secrets_and_says_so() {
    let (sandbox, _running) = with_secrets(&rules());
    let (operator, agent) = (sandbox.operator(), sandbox.agent());
    let shop = errand("https://api.example.com/v1");
    assert!(matches!(agent.claim(&shop), Claimed::New));
    operator.ask(&OperatorAsk::Freeze { reason: "for a test".to_owned() });
    assert_eq!(agent.refused(&AgentAsk::Secrets), ["frozen"]);
    operator.ask(&OperatorAsk::Thaw { passphrase: said(SECRET) });
    operator.ask(&OperatorAsk::Lock);
    assert_eq!(agent.refused(&AgentAsk::Secrets), ["wallet_locked"]);
    let looker = sandbox.agent();
    looks_at(&looker, &shop);
    assert_eq!(looker.refused(&AgentAsk::Secrets), ["wallet_locked"], "a look as well");
    operator.ask(&unlock(SECRET));
    assert_eq!(released(&agent).len(), 1);
    operator.ask(&OperatorAsk::SessionClose { name: "default".parse().unwrap() });
    assert_eq!(agent.refused(&AgentAsk::Secrets), ["no_session"]);
    let stranger = Agent(AgentClient::connect(&sandbox.profile, Some("nobody".parse().unwrap())).unwrap().0);
    looks_at(&stranger, &shop);
    assert_eq!(stranger.refused(&AgentAsk::Secrets), ["no_session"]);
}

#[test]
fn a_secret_that_is_not_stored_is_one_refusal_that_the_log_knows() {
    let (sandbox, _running) = with_secrets(&rules());
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("https://late.example.com/")), Claimed::New));
    assert_eq!(agent.refused(&AgentAsk::Secrets), ["secret_missing"]);
    assert_eq!(sandbox.operator().status().secrets_missing, [name("late")]);
    sandbox.operator().ask(&set("late", "lk-0123456789", SECRET));
    assert_eq!(released(&agent), ["x-api-key=lk-0123456789"]);
    assert!(sandbox.operator().status().secrets_missing.is_empty());
    let told = log(&sandbox);
    let told = told.iter().find(|entry| entry.kind == "refused").unwrap();
    assert!(told.detail.contains("secret_missing: the secret `late`"), "{}", told.detail);
}

#[test]
fn the_proxys_credentials_go_with_every_errand_that_may_be_asked() {
    let (sandbox, _running) = with_secrets(&with_proxy());
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("https://api.example.com/other")), Claimed::New));
    assert_eq!(released(&agent), [format!("proxy={CORP}")]);
    assert!(matches!(agent.claim(&errand("https://evil.example.com/")), Claimed::New));
    assert_eq!(agent.refused(&AgentAsk::Secrets), ["host_not_allowed"]);
}

#[test]
fn only_the_operator_sets_and_removes_and_only_names_are_told_and_logged() {
    let (sandbox, _running) = with_secrets(&rules());
    let operator = sandbox.operator();
    assert_eq!(operator.code(&set("shop", "another-secret", "wrong words")), "passphrase_wrong");
    let remove =
        |secret: &str, passphrase: &str| OperatorAsk::SecretRemove { name: name(secret), passphrase: said(passphrase) };
    assert_eq!(operator.code(&remove("shop", "wrong words")), "passphrase_wrong");
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("https://api.example.com/v1")), Claimed::New));
    assert_eq!(released(&agent), [format!("x-api-key={SHOP}")], "a wrong passphrase changed nothing");

    operator.ask(&OperatorAsk::Lock);
    operator.ask(&set("shop", "replaced-while-locked", SECRET));
    assert_eq!(agent.refused(&AgentAsk::Secrets), ["wallet_locked"], "the passphrase of one ask unlocks nothing");
    operator.ask(&unlock(SECRET));
    assert_eq!(released(&agent), ["x-api-key=replaced-while-locked"]);
    operator.ask(&remove("other", SECRET));
    assert_eq!(operator.code(&remove("other", SECRET)), "secret_unknown");

    let list = listed(&sandbox);
    let names: Vec<&str> = list.secrets.iter().map(|secret| secret.name.as_str()).collect();
    assert_eq!(names, ["corp", "shop"]);
    assert_eq!(list.missing, [name("late"), name("other")]);
    let uses = ["https://api.example.com/v1/ (x-api-key)", "https://api.example.com/v2/ (x-api-key)"];
    assert_eq!(list.secrets.last().unwrap().used_by, uses);
    assert!(list.secrets.first().unwrap().used_by.is_empty());

    let told = serde_json::to_string(&(list, log(&sandbox), operator.status())).unwrap();
    for event in ["secret shop was set", "secret shop was replaced", "secret other was removed"] {
        assert!(told.contains(event), "{told}");
    }
    for secret in [SHOP, OTHER, CORP, "replaced-while-locked", "another-secret"] {
        assert!(!told.contains(secret), "{secret}");
        for entry in walk(sandbox.folder.path()) {
            let bytes = fs::read(&entry).unwrap();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{}", entry.display());
        }
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(walk(&entry.path()));
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn a_file_of_another_profile_opens_nothing_and_is_told() {
    let (sandbox, _running) = with_secrets(&rules());
    let (other, _other_running) = with_secrets(&rules());
    fs::copy(other.profile.secrets(), sandbox.profile.secrets()).unwrap();
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("https://api.example.com/v1")), Claimed::New));
    assert_eq!(agent.code(&AgentAsk::Secrets), "secrets_damaged");
    assert_eq!(sandbox.operator().code(&OperatorAsk::SecretList), "secrets_damaged");
    assert_eq!(sandbox.operator().code(&set("shop", "another-secret", SECRET)), "secrets_damaged");
    fs::remove_file(sandbox.profile.secrets()).unwrap();
    assert_eq!(agent.refused(&AgentAsk::Secrets), ["secret_missing"]);
    sandbox.operator().ask(&set("shop", SHOP, SECRET));
    assert_eq!(released(&agent), [format!("x-api-key={SHOP}")]);
}

#[test]
fn two_sessions_get_what_their_own_errands_need() {
    let (sandbox, _running) = with_secrets(&rules());
    sandbox.operator().open_session("second", "1.00 USD");
    let first = sandbox.agent();
    let second = Agent(AgentClient::connect(&sandbox.profile, Some("second".parse().unwrap())).unwrap().0);
    assert!(matches!(first.claim(&errand("https://api.example.com/v1")), Claimed::New));
    assert!(matches!(second.claim(&errand("https://api.example.com/other")), Claimed::New));
    assert_eq!((released(&first).len(), released(&second).len()), (1, 0));
}

#[test]
fn the_agents_door_knows_no_way_to_set_list_or_name_a_secret() {
    let (sandbox, _running) = with_secrets(&rules());
    for words in [
        r#"{"secrets":{"name":"shop"}}"#,
        r#"{"secret_list":null}"#,
        r#""secret_list""#,
        r#"{"secret_set":{"name":"shop","value":"0123456789","passphrase":"x"}}"#,
        r#"{"secret_remove":{"name":"shop","passphrase":"x"}}"#,
    ] {
        assert!(serde_json::from_str::<AgentAsk>(words).is_err(), "{words}");
    }
    let fault = AgentClient::connect(&sandbox.profile, None).unwrap().0.ask(&AgentAsk::Secrets).unwrap_err();
    assert!(matches!(fault, ClientFault::Said { code, .. } if code == "out_of_order"));
}
