//! Both kinds of client: those that shake hands, and those that do not any more.

use serde_json::{Value, json};

use crate::client::{Client, modern};
use crate::shell::Shell;

const FETCH: &str = "x402_fetch";
const TOOLS: [&str; 5] =
    ["x402_fetch", "x402_quote", "prepare_browser_payment", "attach_browser_payment", "payment_session_status"];

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_client_of_each_handshake_revision_lists_and_calls() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let shell = Shell::new();
        let mut client = Client::silent(&shell).greet(version).await;
        let list = client.ask(1, "tools/list", &json!({})).await;
        assert_eq!(names(&list), TOOLS);
        for member in ["ttlMs", "cacheScope", "resultType", "_meta"] {
            assert!(list["result"].get(member).is_none(), "{version}: {member}");
        }
        let result = client.call(2, FETCH, &json!({"url": "https://shop.example/paid"})).await;
        assert_eq!(result["structuredContent"]["outcome"], "paid");
        assert_eq!(result["isError"], false);
        assert!(result.get("resultType").is_none() && result.get("_meta").is_none());
    }
}

#[tokio::test]
async fn the_greeting_names_the_server_and_tells_the_model_what_matters() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = client.ask(1, "initialize", &hello).await;
    let result = &answer["result"];
    assert_eq!(result["serverInfo"]["name"], "bursar");
    assert_eq!(result["serverInfo"]["version"], "9.9.9");
    assert_eq!(result["capabilities"], json!({"tools": {}}));
    let words = result["instructions"].as_str().unwrap();
    for needed in ["A refusal is final", "attack", "does not pay again", "purchase_id"] {
        assert!(words.contains(needed), "{needed}");
    }
}

#[tokio::test]
async fn a_client_without_a_handshake_discovers_lists_and_calls() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    let found = client.ask("d", "server/discover", &json!({"_meta": modern()})).await;
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert_eq!(found["result"]["ttlMs"], 3_600_000);
    assert!(found["result"]["instructions"].as_str().unwrap().contains("A refusal is final"));
    let list = client.ask("l", "tools/list", &json!({"_meta": modern()})).await;
    assert_eq!(names(&list), TOOLS);
    assert_eq!(list["result"]["ttlMs"], 3_600_000);
    assert_eq!(list["result"]["cacheScope"], "public");
    assert_eq!(list["result"]["resultType"], "complete");
    let call = json!({"_meta": modern(), "name": FETCH, "arguments": {"url": "https://shop.example/paid"}});
    let answer = client.ask("c", "tools/call", &call).await;
    let result = &answer["result"];
    assert_eq!(result["structuredContent"]["outcome"], "paid");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "bursar");
}

#[tokio::test]
async fn the_first_line_may_be_a_call() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    let call = json!({"_meta": modern(), "name": "payment_session_status"});
    let answer = client.ask(1, "tools/call", &call).await;
    assert_eq!(answer["result"]["structuredContent"]["ready"], true);
}

#[tokio::test]
async fn a_client_that_discovers_may_still_shake_hands_and_mix() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    client.ask("d", "server/discover", &json!({"_meta": modern()})).await;
    let mut client = client.greet("2025-11-25").await;
    assert_eq!(client.call(1, "payment_session_status", &json!({})).await["isError"], false);
    client.is_alive().await;
    assert_eq!(client.ask(2, "ping", &json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn without_handshake_and_without_meta_nothing_is_bought() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    let call = json!({"name": FETCH, "arguments": {"url": "https://shop.example/paid"}});
    let answer = client.ask(1, "tools/call", &call).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(shell.asked.lock().unwrap().is_empty());
    assert_eq!(client.ask(2, "ping", &json!({})).await["result"], json!({}));
    client.greet("2025-06-18").await.is_alive().await;
}

#[tokio::test]
async fn an_unknown_revision_is_told_the_known_ones() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    let mut meta = modern();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let answer = client.ask(1, "tools/list", &json!({"_meta": meta})).await;
    assert_eq!(answer["error"]["code"], -32022);
    assert!(answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")));
    client.is_alive().await;
}

#[tokio::test]
async fn an_unknown_revision_in_a_greeting_is_offered_a_known_one() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    let hello =
        json!({"protocolVersion": "2031-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert_eq!(client.ask(1, "initialize", &hello).await["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn a_second_greeting_is_refused_and_changes_nothing() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let hello =
        json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "u", "version": "2"}});
    assert_eq!(client.ask(5, "initialize", &hello).await["error"]["code"], -32600);
    client.is_alive().await;
}

#[tokio::test]
async fn the_list_is_the_same_each_time_and_has_one_page() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let first = client.ask(1, "tools/list", &json!({})).await;
    let second = client.ask(1, "tools/list", &json!({})).await;
    assert_eq!(first.to_string(), second.to_string());
    assert_eq!(client.ask(2, "tools/list", &json!({"cursor": "x"})).await["error"]["code"], -32602);
}
