//! The tools as a file under version control, and what must hold for each of them.

use std::collections::BTreeSet;

use bursar_tools::{tool_schemas, tool_table};
use serde_json::{Value, json};

use crate::client::Client;
use crate::shell::Shell;

fn tools() -> Vec<(&'static str, Value)> {
    let schemas = tool_schemas().unwrap();
    schemas.into_iter().map(|(name, text)| (name, serde_json::from_str(&text).unwrap())).collect()
}

/// A schema of a tool: `inputSchema` or `outputSchema`.
pub(crate) fn schema_of(tool: &str, which: &str) -> Value {
    tools().into_iter().find(|(name, _)| *name == tool).expect("a tool of this name").1[which].clone()
}

/// Every object with schema words in `schema`, itself first.
fn walk<'a>(schema: &'a Value, into: &mut Vec<&'a Value>) {
    into.push(schema);
    for inner in schema["properties"].as_object().into_iter().flat_map(|members| members.values()) {
        walk(inner, into);
    }
    if let Some(items) = schema.get("items") {
        walk(items, into);
    }
}

#[test]
fn the_snapshots_are_up_to_date() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas");
    let mut names = BTreeSet::new();
    for (name, text) in tool_schemas().unwrap() {
        let kept = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap_or_default();
        assert!(kept == text, "{name} was changed; if on purpose, run `cargo run -p bursar-tools --example schemas`");
        names.insert(format!("{name}.json"));
    }
    let found =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, found);
}

/// Invariant 6: no call can raise a limit, add a payee, open a session, approve, thaw, or choose a signer.
/// What the argument `headers` takes.
const HEADERS: [&str; 6] =
    ["accept", "accept-language", "content-language", "idempotency-key", "prefer", "x-request-id"];

#[tokio::test]
async fn no_argument_chooses_a_payee_a_limit_or_a_signer() {
    let allowed: [(&str, &[&str]); 5] = [
        (
            "x402_fetch",
            &[
                "url",
                "method",
                "body",
                "body_type",
                "headers",
                "max_price",
                "purchase_id",
                "quote",
                "suspicious",
                "max_age_seconds",
                "content_sha256",
                "content",
                "fields",
            ],
        ),
        ("x402_quote", &["url", "method", "body", "body_type", "headers", "max_price"]),
        ("prepare_browser_payment", &["url", "max_price", "purchase_id", "quote", "suspicious"]),
        ("attach_browser_payment", &["handle", "open"]),
        ("payment_session_status", &[]),
    ];
    let forbidden = [
        "payee",
        "pay_to",
        "payTo",
        "recipient",
        "recipients",
        "to",
        "amount",
        "value",
        "price",
        "limit",
        "max",
        "max_per_payment",
        "budget",
        "session",
        "network",
        "chain",
        "asset",
        "token",
        "header",
        "host",
        "authorization",
        "cookie",
        "key",
        "signer",
        "from",
        "signature",
        "authorization",
        "nonce",
        "approve",
        "approved",
        "approval",
        "approval_id",
        "binding",
        "deny",
        "confirm",
        "thaw",
        "unlock",
        "passphrase",
        "force",
        "proxy",
        "redirect",
        "rules",
        "profile",
        "_meta",
    ];
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    for (tool, names) in allowed {
        let mut schemas = Vec::new();
        let input = schema_of(tool, "inputSchema");
        walk(&input, &mut schemas);
        for schema in &schemas {
            if schema["type"] == "object" {
                assert_eq!(schema["additionalProperties"], false, "{tool}");
            }
        }
        let found: BTreeSet<&str> = schemas
            .iter()
            .flat_map(|schema| schema["properties"].as_object().into_iter().flatten())
            .map(|(name, _)| name.as_str())
            .collect();
        let inside = if names.contains(&"headers") { &HEADERS[..] } else { &[] };
        assert_eq!(found, names.iter().chain(inside).copied().collect(), "{tool}");
        for name in forbidden {
            assert!(!found.contains(name), "{tool} takes {name}");
            let takes_url = names.contains(&"url");
            let mut arguments = if takes_url { json!({"url": "https://shop.example/paid"}) } else { json!({}) };
            arguments[name] = json!("0x2222222222222222222222222222222222222222");
            let result = client.call(1, tool, &arguments).await;
            assert_eq!(result["isError"], true, "{tool} {name}");
            let message = result["structuredContent"]["message"].as_str().unwrap();
            for needle in [format!("`{name}` is not an argument of {tool}"), "payee, amount and network".to_owned()] {
                assert!(message.contains(&needle), "{message}");
            }
            assert!(names.iter().all(|known| message.contains(known)), "{message}");
        }
    }
    assert!(shell.asked.lock().unwrap().is_empty());
}

#[test]
fn every_schema_is_one_that_strict_clients_take() {
    for (name, tool) in tools() {
        for which in ["inputSchema", "outputSchema"] {
            let root = &tool[which];
            assert_eq!(root["type"], "object", "{name}");
            assert!(root["properties"].is_object(), "{name}");
            let mut schemas = Vec::new();
            walk(root, &mut schemas);
            for schema in schemas {
                for word in schema.as_object().unwrap().keys() {
                    assert!(
                        [
                            "type",
                            "properties",
                            "required",
                            "description",
                            "enum",
                            "items",
                            "minimum",
                            "maximum",
                            "additionalProperties"
                        ]
                        .contains(&word.as_str()),
                        "{name} {which}: {word}"
                    );
                }
                for (member, inner) in schema["properties"].as_object().into_iter().flatten() {
                    assert!(
                        inner["description"].as_str().is_some_and(|text| 10 < text.len()),
                        "{name}: {member} is not described"
                    );
                    assert!(inner["type"].is_string(), "{name}: {member}");
                }
            }
        }
        assert!(tool["description"].as_str().unwrap().len() < 1024, "{name}");
    }
}

#[test]
fn the_hints_are_honest() {
    let hints = |tool: &str| tools().into_iter().find(|(name, _)| *name == tool).unwrap().1["annotations"].clone();
    let fetch = hints("x402_fetch");
    assert_eq!(
        (&fetch["readOnlyHint"], &fetch["destructiveHint"], &fetch["idempotentHint"], &fetch["openWorldHint"]),
        (&json!(false), &json!(true), &json!(false), &json!(true))
    );
    for tool in ["prepare_browser_payment", "attach_browser_payment"] {
        assert_eq!(hints(tool)["destructiveHint"], true, "{tool}");
        assert_eq!(hints(tool)["idempotentHint"], false, "{tool}");
    }
    assert_eq!(hints("x402_quote")["readOnlyHint"], true);
    assert_eq!(hints("payment_session_status")["readOnlyHint"], true);
}

#[test]
fn the_table_has_a_row_for_each_tool() {
    let rows = tool_table();
    assert_eq!(rows.len(), tools().len());
    for (row, (name, tool)) in rows.iter().zip(tools()) {
        assert_eq!(row.name, name);
        assert!(row.does.ends_with('.') && tool["description"].as_str().unwrap().starts_with(&row.does), "{row:?}");
        assert!(!row.does.contains('|') && !row.effects.contains('|'));
        let input: BTreeSet<&str> =
            tool["inputSchema"]["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(input, row.arguments.iter().copied().collect());
    }
}
