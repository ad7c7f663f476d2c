//! Who is told what, beside the person at the terminal: a webhook, and whoever reads metrics.

use bursar_policy::*;

use crate::builders::parse;
use crate::rule_faults::{contradiction, file, refused};

#[test]
fn a_webhook_is_told_in_private_and_keeps_its_url_to_itself() {
    let notify = |url: &str| format!("[notify]\nwebhook = \"{url}\"\nsecret = \"hook\"\n");
    contradiction(&[], &notify("http://hook.test/k3y"), "is not https");
    refused(&[], "[notify]\nwebhook = \"https://hook.test/\"\n", "missing field `secret`");
    let rules = parse(&file(&[], &notify("https://hook.test/k3y?a=b")), Setting::Real).unwrap();
    assert_eq!(may_tell(&rules).unwrap().into_inner().url(), "https://hook.test/k3y?a=b");
    assert!(!format!("{rules:?}").contains("k3y"));
    assert_eq!(rules.notify().map(rules::Webhook::telling), Some(rules::Telling::Little));
    assert_eq!(rules.secret_uses().into_keys().map(SecretName::as_str).collect::<Vec<_>>(), ["hook"]);
    assert!(may_tell(&parse(&file(&[], ""), Setting::Real).unwrap()).is_none());
}

#[test]
fn metrics_stay_on_this_machine_and_a_port_wants_a_token() {
    let metrics = |more: &str| format!("[metrics]\n{more}");
    contradiction(&[], &metrics(""), "needs `listen`");
    contradiction(&[], &metrics("listen = \"127.0.0.1:9464\"\n"), "needs a `token`");
    contradiction(&[], &metrics("listen = \"socket\"\ntoken = \"scrape\"\n"), "needs a `token`");
    contradiction(&[], &metrics("otlp = \"http://127.0.0.1:4318\"\ntoken = \"scrape\"\n"), "needs a `token`");
    for open in ["https://127.0.0.1:4318", "http://192.0.2.1:4318", "http://collector.test:4318"] {
        contradiction(&[], &metrics(&format!("otlp = \"{open}\"\n")), "plain http to a loopback address");
    }
    contradiction(&[], &metrics("listen = \"socket\"\nevery = \"2s\"\n"), "`every` is `2s`; give 5s to 1h");
    for open in ["0.0.0.0:9464", "192.0.2.1:9464", "127.0.0.1:0", "127.0.0.1", "localhost:9464", "[::]:9464"] {
        refused(&[], &metrics(&format!("listen = \"{open}\"\ntoken = \"scrape\"\n")), "a loopback address with a port");
    }
    contradiction(&[], &metrics("listen = \"socket\"\ntraces = true\n"), "`traces` of [metrics] needs `otlp`");
    let sent = parse(&file(&[], &metrics("otlp = \"http://127.0.0.1:4318\"\ntraces = true\n")), Setting::Real).unwrap();
    assert_eq!(sent.metrics().unwrap().traces(), rules::Traces::Sent);
    let text = metrics("listen = \"[::1]:9464\"\ntoken = \"scrape\"\notlp = \"http://127.0.0.1:4318\"\nhosts = true\n");
    let rules = parse(&file(&[], &text), Setting::Real).unwrap();
    let metrics = rules.metrics().unwrap();
    assert_eq!((metrics.every_s(), metrics.labels()), (60, rules::Labels::Hosts));
    assert_eq!(metrics.traces(), rules::Traces::Kept, "no trace leaves unless the rules say so");
    assert_eq!(metrics.listen().unwrap().to_string(), "[::1]:9464");
    assert_eq!(rules.secret_uses().into_keys().map(SecretName::as_str).collect::<Vec<_>>(), ["scrape"]);
}
