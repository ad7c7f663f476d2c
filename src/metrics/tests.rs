//! What is counted, and how it is told.

use bursar_vault::protocol::LogEntry;
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
        "limits": [], "held": ["0.05 USD", "0.000000000000000001 EUR"], "unresolved": [], "lost": [], "quarantined": [],
        "shares": null, "approvals_waiting": 2, "secrets_missing": [],
        "rules_digest": bursar_policy::Digest::of(b"").to_string(), "rules_changed": false, "now_s": 1000, "next_step": null,
    });
    serde_json::from_value(told).unwrap()
}

fn refused(counts: &mut Counts, detail: &str) {
    counts.refused(&event("refused", 1, detail));
}

fn counts() -> Counts {
    let mut counts = Counts::new(Labels::Nobody);
    refused(&mut counts, "GET https://a.example; host_not_allowed: no; amount_over_ceiling: no");
    refused(&mut counts, "as reported by serve: GET https://a.example; host_not_allowed: no");
    refused(&mut counts, "GET https://a.example; evil\"} 1: no");
    for seconds in [0, 2, 3, 10_000] {
        counts.times.note(seconds);
    }
    counts
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
    let text = prometheus_text(&counts.families(Some(&status(hostile))), &counts.times);
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
    assert_eq!(value("bursar_refused_total", Some(("code", "other"))), "1");
    assert_eq!(value("bursar_held", Some(("currency", "EUR"))), "0.000000000000000001");
    assert_eq!(value("bursar_session_spent", Some(("session", hostile))), "0.25");
    assert_eq!(value("bursar_session_budget", Some(("session", "old"))), "", "what is closed is over");
    assert_eq!(
        (value("bursar_locked", None), value("bursar_frozen", None), value("bursar_shut", None)),
        ("1", "0", "1")
    );
    assert_eq!(value("bursar_payment_seconds_bucket", Some(("le", "1"))), "1");
    assert_eq!(value("bursar_payment_seconds_bucket", Some(("le", "5"))), "3", "each bucket has those below it");
    assert_eq!(value("bursar_payment_seconds_bucket", Some(("le", "+Inf"))), "4");
    assert_eq!(value("bursar_payment_seconds_sum", None), "10005");
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
    let text = prometheus_text(&[family], &Times::default());
    let line = text.lines().find(|line| line.starts_with("bursar_x{")).unwrap();
    assert_eq!(sample(line), ("bursar_x".to_owned(), vec![("session".to_owned(), said)], "1".to_owned()));
}

#[test]
fn otlp_has_the_members_of_its_schema_and_no_others() {
    let counts = counts();
    let request = otlp_request(&counts.families(Some(&status("default"))), &counts.times, 10, 20);
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
                assert_eq!((&point["count"], &point["sum"]), (&"4".into(), &10_005.into()));
            } else {
                assert_eq!(keys(point), ["asDouble", "attributes", "startTimeUnixNano", "timeUnixNano"]);
                assert!(point["asDouble"].is_number(), "{point}");
            }
        }
    }
}

#[test]
fn however_many_codes_and_hosts_there_are_only_so_many_are_told_apart() {
    let mut counts = Counts::new(Labels::Nobody);
    let letters = || ('a'..='z').map(String::from);
    for (one, other) in letters().flat_map(|one| letters().map(move |other| (one.clone(), other))) {
        refused(&mut counts, &format!("GET https://a.example; code_{one}{other}: no"));
    }
    let families = counts.families(None);
    assert_eq!(families[2].samples.len(), WORDS_MAX.checked_add(1).unwrap());
    let sum: u64 = families[2].samples.iter().map(|sample| sample.value.parse::<u64>().unwrap()).sum();
    assert_eq!(sum, 676);
}
