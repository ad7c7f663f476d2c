//! The browser pair as a model meets it: what it may say, what it is told, and what it never is.

use bursar_tools::ServeOptions;
use serde_json::{Value, json};

use crate::client::Client;
use crate::shape::check;
use crate::shell::{Shell, handle};

const PREPARE: &str = "prepare_browser_payment";
const ATTACH: &str = "attach_browser_payment";

async fn told(client: &mut Client, tool: &str, arguments: &Value) -> Value {
    let result = client.call(1, tool, arguments).await;
    let schema = crate::catalog::schema_of(tool, "outputSchema");
    assert_eq!(check(&schema, &result["structuredContent"], ""), Vec::<String>::new(), "{result}");
    result
}

#[tokio::test]
async fn a_preparation_is_told_as_what_it_is() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    for (path, outcome, code, is_error, has) in [
        ("/paid", "prepared", "prepared", false, &["handle", "receipt", "expires_in_seconds"][..]),
        ("/again", "prepared", "offered_again", false, &["handle", "receipt", "expires_in_seconds"]),
        ("/free", "free", "free", false, &[]),
        ("/not-x402", "free", "not_x402_html", false, &[]),
        ("/repeat", "paid", "paid", false, &["receipt"]),
        ("/unresolved", "unresolved", "unresolved_before", false, &["receipt"]),
        ("/approval", "needs_approval", "needs_approval", false, &["approval_id", "expires"]),
        ("/redirect", "refused", "redirect_refused", false, &["seller_says"]),
        ("/refused", "refused", "offer_refused", false, &[]),
        ("/failed", "failed", "tls_failed", true, &[]),
        ("/panic", "failed", "internal_error", true, &[]),
    ] {
        let result = told(&mut client, PREPARE, &json!({"url": format!("https://shop.example{path}")})).await;
        let answer = &result["structuredContent"];
        assert_eq!(
            (&answer["outcome"], &answer["code"], &result["isError"]),
            (&json!(outcome), &json!(code), &json!(is_error)),
            "{path}"
        );
        for member in ["handle", "receipt", "expires_in_seconds", "approval_id", "expires", "seller_says"] {
            assert_eq!(answer.get(member).is_some(), has.contains(&member), "{path} {member}");
        }
        let repeat = matches!(path, "/again" | "/repeat" | "/unresolved");
        assert_eq!(answer["repeat"], repeat, "{path}");
    }
}

#[tokio::test]
async fn an_attachment_is_told_as_what_it_is_and_without_the_query() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    for (number, open, outcome, code, is_error) in [
        (1, "navigate", "paid", "paid", false),
        (1, "wait", "armed", "armed", false),
        (2, "navigate", "unresolved", "browser_silent", false),
        (3, "navigate", "failed", "no_browser_glue", true),
        (4, "navigate", "refused", "frozen", false),
        (5, "navigate", "paid", "paid", false),
        (6, "navigate", "unresolved", "internal_error", true),
        (7, "navigate", "failed", "handle_unknown", true),
    ] {
        let arguments = json!({"handle": handle(number).to_string(), "open": open});
        let result = told(&mut client, ATTACH, &arguments).await;
        let answer = &result["structuredContent"];
        assert_eq!(
            (&answer["outcome"], &answer["code"], &result["isError"]),
            (&json!(outcome), &json!(code), &json!(is_error)),
            "{number}"
        );
        assert_eq!(answer.get("expires_in_seconds").is_some(), matches!(code, "armed" | "no_browser_glue"), "{number}");
        assert_eq!(answer["repeat"], number == 5, "{number}");
        if let Some(receipt) = answer.get("receipt") {
            assert_eq!((&receipt["origin"], &receipt["path"]), (&json!("https://shop.example"), &json!("/paid")));
        }
        assert!(!result.to_string().contains("secret"), "the query is the caller's to know");
    }
}

#[tokio::test]
async fn what_is_no_page_or_no_handle_is_told_before_anybody_is_asked() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let good = handle(1).to_string();
    for (tool, arguments, needle) in [
        (PREPARE, json!({}), "`url` is missing"),
        (PREPARE, json!({"url": "https://shop.example/", "method": "GET"}), "`method` is not an argument"),
        (PREPARE, json!({"url": "https://shop.example/", "headers": {}}), "`headers` is not an argument"),
        (PREPARE, json!({"url": "https://shop.example/", "max_price": "much"}), "`max_price` can not be used"),
        (ATTACH, json!({}), "`handle` is missing"),
        (ATTACH, json!({"handle": 5}), "must be a string"),
        (ATTACH, json!({"handle": "h_12"}), "48 lower-case hex digits"),
        (ATTACH, json!({"handle": good, "open": "click"}), "`open` must be `navigate` or `wait`"),
        (ATTACH, json!({"handle": good, "url": "https://shop.example/"}), "`url` is not an argument"),
    ] {
        let result = told(&mut client, tool, &arguments).await;
        let message = result["structuredContent"]["message"].as_str().unwrap();
        assert!(message.contains(needle), "{message}");
        assert_eq!((&result["structuredContent"]["outcome"], &result["isError"]), (&json!("refused"), &json!(true)));
    }
    let not_a_url = told(&mut client, PREPARE, &json!({"url": "http:///"})).await;
    assert_eq!(not_a_url["structuredContent"]["code"], "url_invalid");
    assert!(shell.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_browser_takes_a_place_like_every_purchase() {
    let shell = Shell::new();
    let mut client = Client::with(&shell, ServeOptions::new("1").purchases_at_once(1)).greet("2025-06-18").await;
    let held = json!({"name": "x402_fetch", "arguments": {"url": "https://shop.example/held"}});
    client.request(1, "tools/call", &held).await;
    shell.begun(1).await;
    for (id, tool, arguments) in [
        (2, PREPARE, json!({"url": "https://shop.example/paid"})),
        (3, ATTACH, json!({"handle": handle(1).to_string()})),
    ] {
        let answer = client.ask(id, "tools/call", &json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(answer["result"]["structuredContent"]["code"], "too_many_in_flight", "{answer}");
    }
    shell.let_go();
}
