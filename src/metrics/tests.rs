//! What is counted, and how it is told.

use bursar_vault::protocol::{Leg, Sender};
use serde_json::{Value, json};

use super::*;

fn event(kind: &str, at_s: u64, detail: &str) -> LogEntry {
    let payment = (kind != "refused").then(|| bursar_policy::PaymentId::from_random([1; 16]));
    LogEntry { seq: 1, at_s, kind: kind.to_owned(), payment, session: None, detail: detail.to_owned() }
}

fn status(session: &str) -> OperatorStatus {
    let told = json!({
        "payer": null, "locked": true, "frozen": null, "latched": "a fault", "sessions": [
            { "name": session, "budget": "1.50 USD", "spent": "0.25 USD", "created_s": 1, "expires_s": 5000, "closed": false },
            { "name": "old", "budget": "9.00 USD", "spent": "9.00 USD", "created_s": 1, "expires_s": 900, "closed": true },
        ],
        "limits": [], "held": ["0.05 USD", "0.000000000000000001 EUR"], "unresolved": [], "unresolved_count": 25, "lost": [], "quarantined": [],
        "shares": null, "approvals_waiting": 2, "secrets_missing": [],
        "rules_digest": bursar_policy::Digest::of(b"").to_string(), "rules_changed": false, "now_s": 1000, "next_step": null,
    });
    serde_json::from_value(told).unwrap()
}

fn passage(end: PassageEnd, took_us: u64, legs: &[(LegName, u64)]) -> Passage {
    let mut from_us = 0;
    let leg = |(name, took_us): &(LegName, u64)| {
        let leg = Leg { name: *name, from_us, took_us: *took_us };
        from_us = from_us.saturating_add(*took_us);
        leg
    };
    let payment = Some(bursar_policy::PaymentId::from_random([2; 16]));
    let (host, money) = ("secret-host.example".to_owned(), Some("0.05 USD".parse().unwrap()));
    let legs = legs.iter().map(leg).collect();
    Passage {
        number: 1,
        by: Sender::Serve,
        host,
        began_us: 1_700_000_000_000_001,
        took_us,
        legs,
        end,
        codes: Vec::new(),
        payment,
        money,
    }
}

/// A payment with these events, of which the last one has just happened.
fn payment(site: &str, kinds: &[&str]) -> (LogEntry, PaymentDetail) {
    let numbered = (1_u64..).zip(kinds).map(|(seq, kind)| LogEntry { seq, ..event(kind, seq, "told") });
    let events: Vec<LogEntry> = numbered.collect();
    let id = bursar_policy::PaymentId::from_random([1; 16]);
    let (payee, asset) = ("0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "0x036CbD53842c5426634e7929541eC2318f3dCF7e");
    let detail = json!({
        "receipt": {
            "payment": id, "state": "settled", "amount": "50000", "money": "0.05 USD", "symbol": "USDC",
            "chain": "eip155:84532", "payee": payee, "transaction": null, "outcome": "paid", "created_s": 1,
            "valid_before": 60, "identical_repeat": false,
        },
        "session": "default", "site": site, "method": "GET",
        "terms": {
            "version": "v2", "offer": 0, "chain": "eip155:84532", "asset": asset, "payee": payee, "amount": "50000",
            "max_timeout_s": 60, "domain_name": "USDC", "domain_version": "2",
        },
        "payer": payee, "nonce": "0x00", "signed": true, "delivery": null, "settlement": null, "events": events,
    });
    (events.last().unwrap().clone(), serde_json::from_value(detail).unwrap())
}

fn counts() -> Counts {
    let mut counts = Counts::new(Labels::Nobody);
    let refused = BTreeMap::from([("host_not_allowed".to_owned(), 2), ("amount_over_ceiling".to_owned(), 1)]);
    let legs = [(LegName::Claim, 400), (LegName::Visit, 1_600), (LegName::Sign, 500), (LegName::Pay, 30_000)];
    let passages = vec![
        passage(PassageEnd::Paid, 40_000, &legs),
        passage(PassageEnd::Paid, 2_345_678, &[(LegName::Claim, 1), (LegName::Pay, 2)]),
        passage(PassageEnd::Refused, 700, &[]),
    ];
    counts.measured(&Fresh { passages, refused, missed: 3, more: false });
    counts
}

/// The value of one sample, empty where there is none.
fn value(families: &[Family], name: &str, labels: &[(&str, &str)]) -> String {
    let family = families.iter().find(|family| family.name == name).unwrap();
    let is_it = |sample: &&Sample| {
        let told: Vec<(&str, &str)> = sample.labels.iter().map(|(name, said)| (*name, said.as_str())).collect();
        told == labels
    };
    family.samples.iter().find(is_it).map(|sample| sample.value.clone()).unwrap_or_default()
}

#[test]
fn a_payment_is_counted_once_and_a_correction_apart() {
    let mut counts = Counts::new(Labels::Nobody);
    let stories: [&[&str]; 5] = [
        &["exposed", "signed", "settled"],
        &["exposed", "signed", "presumed_spent", "settled"],
        &["exposed", "signed", "presumed_spent", "reported", "lapsed"],
        &["exposed", "lapsed"],
        &["held", "voided"],
    ];
    for story in stories {
        for end in 1..=story.len() {
            let (event, detail) = payment("https://a.example/private", &story[..end]);
            if Counts::is_an_end(&event) {
                counts.ended(&event, &detail);
            }
        }
    }
    let families = counts.families(None);
    let told = |name, labels: &[(&str, &str)]| value(&families, name, labels);
    assert_eq!(told("bursar_spent_total", &[("currency", "USD")]), "0.15", "three payments, each once");
    assert_eq!(told("bursar_returned_total", &[("currency", "USD")]), "0.05");
    let payments = |state| told("bursar_payments_total", &[("state", state)]);
    assert_eq!(["settled", "presumed_spent", "lapsed", "voided"].map(payments), ["1", "2", "1", "1"]);
    let corrected = |to| told("bursar_corrected_total", &[("from", "presumed_spent"), ("to", to)]);
    assert_eq!(["settled", "lapsed"].map(corrected), ["1", "1"]);
}

/// A strict reader of one line: name, labels, value.
fn sample(line: &str) -> (String, Vec<(String, String)>, String) {
    let (head, value) = line.rsplit_once(' ').unwrap();
    let Some((name, rest)) = head.split_once('{') else { return (head.to_owned(), Vec::new(), value.to_owned()) };
    let mut labels = Vec::new();
    let mut rest = rest.strip_suffix('}').unwrap();
    while !rest.is_empty() {
        let (label, quoted) = rest.split_once("=\"").unwrap();
        assert!(label.bytes().all(|byte| byte.is_ascii_lowercase()), "{line}");
        let (mut said, mut letters) = (String::new(), quoted.char_indices());
        let end = loop {
            match letters.next().unwrap() {
                (_, '\\') => said.push(match letters.next().unwrap().1 {
                    'n' => '\n',
                    other @ ('\\' | '"') => other,
                    other => panic!("\\{other} in {line}"),
                }),
                (at, '"') => break at,
                (_, letter) => said.push(letter),
            }
        };
        labels.push((label.to_owned(), said));
        rest = quoted[end..].strip_prefix('"').unwrap();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    (name.to_owned(), labels, value.to_owned())
}

#[test]
fn the_text_has_a_type_for_every_metric_exact_decimals_and_labels_that_end_where_they_end() {
    let counts = counts();
    let hostile = "a-b";
    let text = prometheus_text(&counts.families(Some(&status(hostile))), &counts.spreads());
    let mut known = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(typed) = line.strip_prefix("# TYPE ") {
            known = typed.split(' ').next().unwrap().to_owned();
        } else if !line.starts_with('#') {
            let (name, labels, value) = sample(line);
            assert!(name.starts_with(&known), "{line} comes without its type");
            let digits = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            assert!(digits && !value.is_empty(), "{line}");
            found.push((name, labels, value));
        }
    }
    let value = |name: &str, label: Option<(&str, &str)>| {
        let is_it = |(known, labels, _): &&(String, Vec<(String, String)>, String)| {
            known == name && label.is_none_or(|(label, said)| labels.iter().any(|(a, b)| a == label && b == said))
        };
        found.iter().find(is_it).map_or("", |(_, _, value)| value)
    };
    assert_eq!(value("bursar_refused_total", Some(("code", "host_not_allowed"))), "2");
    assert_eq!(
        value("bursar_refused_total", Some(("code", "amount_over_ceiling"))),
        "1",
        "each code, not the first alone"
    );
    assert_eq!((value("bursar_unresolved", None), value("bursar_purchases_missed_total", None)), ("25", "3"));
    assert_eq!(value("bursar_held", Some(("currency", "EUR"))), "0.000000000000000001");
    assert_eq!(value("bursar_session_spent", Some(("session", hostile))), "0.25");
    assert_eq!(value("bursar_session_budget", Some(("session", "old"))), "", "what is closed is over");
    assert_eq!(
        (value("bursar_locked", None), value("bursar_frozen", None), value("bursar_shut", None)),
        ("1", "0", "1")
    );
    let paid = |le: &str| {
        let is_it = |(name, labels, _): &&(String, Vec<(String, String)>, String)| {
            name == "bursar_purchase_seconds_bucket" && *labels == labelled(&[("outcome", "paid"), ("le", le)])
        };
        found.iter().find(is_it).map(|(_, _, value)| value.as_str())
    };
    assert_eq!(
        (paid("0.025"), paid("0.05"), paid("2.5")),
        (Some("0"), Some("1"), Some("2")),
        "each has those below it"
    );
    assert_eq!((paid("+Inf"), value("bursar_purchase_seconds_count", Some(("outcome", "refused")))), (Some("2"), "1"));
    assert_eq!(value("bursar_purchase_seconds_sum", Some(("outcome", "paid"))), "2.385678");
    assert_eq!(value("bursar_claim_to_signature_seconds_sum", None), "0.0025", "of the one that was signed");
    assert_eq!(value("bursar_signature_to_report_seconds_sum", None), "0.03");
    assert_eq!(
        value("bursar_signature_to_report_seconds_count", None),
        "1",
        "no time of a payment that was signed before"
    );
}

fn labelled(labels: &[(&str, &str)]) -> Vec<(String, String)> {
    labels.iter().map(|(name, said)| ((*name).to_owned(), (*said).to_owned())).collect()
}

#[test]
fn a_label_cannot_end_before_its_quote() {
    let said = "a\"} 9\nb\\".to_owned();
    let family = Family {
        name: "bursar_x",
        help: "X.",
        kind: Kind::Gauge,
        samples: vec![Sample { labels: vec![("session", said.clone())], value: "1".to_owned() }],
    };
    let text = prometheus_text(&[family], &[]);
    let line = text.lines().find(|line| line.starts_with("bursar_x{")).unwrap();
    assert_eq!(sample(line), ("bursar_x".to_owned(), vec![("session".to_owned(), said)], "1".to_owned()));
}

#[test]
fn otlp_has_the_members_of_its_schema_and_no_others() {
    let counts = counts();
    let request = otlp_request(&counts.families(Some(&status("default"))), &counts.spreads(), 10, 20);
    let request: Value = serde_json::from_str(&request).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&request), ["resourceMetrics"]);
    let resource = &request["resourceMetrics"][0];
    assert_eq!(
        resource["resource"],
        json!({ "attributes": [
        { "key": "service.name", "value": { "stringValue": "bursar" } } ] }),
        "nothing of this machine"
    );
    for metric in resource["scopeMetrics"][0]["metrics"].as_array().unwrap() {
        let (data, members) = ["sum", "gauge", "histogram"]
            .into_iter()
            .find_map(|kind| metric.get(kind).map(|data| (kind, data)))
            .unwrap();
        let wanted: &[&str] = match data {
            "sum" => &["aggregationTemporality", "dataPoints", "isMonotonic"],
            "gauge" => &["dataPoints"],
            _ => &["aggregationTemporality", "dataPoints"],
        };
        assert_eq!(keys(members), wanted, "{metric}");
        for point in members["dataPoints"].as_array().unwrap() {
            assert_eq!(
                (&point["startTimeUnixNano"], &point["timeUnixNano"]),
                (&"10000000000".into(), &"20000000000".into())
            );
            if data == "histogram" {
                let buckets = point["bucketCounts"].as_array().unwrap().len();
                assert_eq!(buckets.checked_sub(1), Some(point["explicitBounds"].as_array().unwrap().len()));
                let counted: u64 = point["bucketCounts"].as_array().unwrap().iter().map(number).sum();
                assert_eq!(number(&point["count"]), counted);
                assert!(point["sum"].is_number() && point["explicitBounds"][0] == 0.0005, "{point}");
            } else {
                assert_eq!(keys(point), ["asDouble", "attributes", "startTimeUnixNano", "timeUnixNano"]);
                assert!(point["asDouble"].is_number(), "{point}");
            }
        }
    }
}

/// A 64-bit number as the JSON of proto3 writes it: decimal digits in a text.
fn number(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn a_trace_has_the_members_of_its_schema_ids_of_its_own_and_no_host_unless_hosts_are_on() {
    let legs = [(LegName::Claim, 400), (LegName::Visit, 1_600), (LegName::Pay, 37_999)];
    let mut failed = passage(PassageEnd::Failed, 50, &[(LegName::Claim, 50)]);
    failed.codes = vec!["gone".to_owned()];
    let traces = [passage(PassageEnd::Paid, 40_000, &legs), failed].map(|passage| Trace::of(passage).unwrap());
    let request: Value = serde_json::from_str(&trace_request(&traces, Labels::Nobody)).unwrap();
    assert!(!request.to_string().contains("secret-host"), "{request}");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&request), ["resourceSpans"]);
    assert_eq!(keys(&request["resourceSpans"][0]), ["resource", "scopeSpans"]);
    let scope = &request["resourceSpans"][0]["scopeSpans"][0];
    assert_eq!(keys(scope), ["scope", "spans"]);
    let spans = scope["spans"].as_array().unwrap();
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["purchase", "claim", "visit", "pay", "purchase", "claim"]);
    let mut ids = BTreeSet::new();
    for (place, span) in spans.iter().enumerate() {
        let (root, of_trace) = if place < 4 { (&spans[0], 0) } else { (&spans[4], 4) };
        let hex = |value: &Value, digits| {
            let text = value.as_str().unwrap();
            assert!(text.len() == digits && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte)), "{span}");
        };
        hex(&span["traceId"], 32);
        hex(&span["spanId"], 16);
        assert!(ids.insert(span["spanId"].to_string()), "an id twice: {request}");
        assert_eq!(span["traceId"], root["traceId"]);
        assert_eq!(span.get("parentSpanId"), (place != of_trace).then_some(&root["spanId"]));
        let (from, until) = (number(&span["startTimeUnixNano"]), number(&span["endTimeUnixNano"]));
        assert!(from <= until && until <= number(&root["endTimeUnixNano"]), "{span}");
        assert!(number(&root["startTimeUnixNano"]) <= from, "{span}");
        assert!([1, 3].contains(&span["kind"].as_u64().unwrap()), "{span}");
    }
    assert_ne!(spans[0]["traceId"], spans[4]["traceId"]);
    assert_eq!(spans[2]["startTimeUnixNano"], "1700000000000401000");
    assert_eq!((spans[0].get("status"), &spans[4]["status"]), (None, &json!({ "code": 2 })));
    let text = |key: &str, said: &str| json!({ "key": key, "value": { "stringValue": said } });
    let payment = bursar_policy::PaymentId::from_random([2; 16]);
    let told = [
        text("bursar.outcome", "paid"),
        text("bursar.sender", "serve"),
        text("bursar.payment", payment.as_str()),
        text("bursar.money", "0.05 USD"),
    ];
    assert_eq!(spans[0]["attributes"], json!(told));
    let codes = json!({ "key": "bursar.codes", "value": { "arrayValue": { "values": [{ "stringValue": "gone" }] } } });
    assert_eq!(spans[4]["attributes"][2], codes);
    let named: Value = serde_json::from_str(&trace_request(&traces, Labels::Hosts)).unwrap();
    let named = &named["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(named["attributes"][4], text("bursar.host", "secret-host.example"));
    assert_eq!(named["traceId"], spans[0]["traceId"], "what is sent again is the same trace");
}

#[test]
fn however_many_hosts_there_are_only_so_many_are_told_apart() {
    let mut counts = Counts::new(Labels::Hosts);
    for number in 0..=HOSTS_MAX {
        let (event, detail) = payment(&format!("https://h{number}.example/"), &["settled"]);
        counts.ended(&event, &detail);
        counts.ended(&event, &detail);
    }
    let families = counts.families(None);
    let payments = families.iter().find(|family| family.name == "bursar_payments_total").unwrap();
    assert_eq!(payments.samples.len(), HOSTS_MAX.checked_add(1).unwrap());
    assert_eq!(value(&families, "bursar_payments_total", &[("state", "settled"), ("host", "other")]), "2");
}
