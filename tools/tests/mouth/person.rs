//! A client that can show a page: it is asked to, and nothing that it answers is taken for the person's word. Where it says that
//! the person opens the page, the person is waited for.

use std::sync::Arc;
use std::time::Duration;

use bursar_tools::Ended;
use serde_json::{Value, json};

use crate::client::{Client, modern};
use crate::shell::Shell;

const PAGE: &str = "http://127.0.0.1:4711/#approval=";

fn id() -> String {
    bursar_policy::errand::ApprovalId::from_random([3; 16]).to_string()
}

/// A shell whose operator has a console open.
fn with_console() -> Arc<Shell> {
    let shell = Shell::new();
    *shell.page.lock().unwrap() = Some(PAGE.to_owned());
    shell
}

async fn able(shell: &Arc<Shell>, capabilities: &Value) -> Client {
    let mut client = Client::silent(shell);
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}
    });
    client.ask(0, "initialize", &hello).await;
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client
}

fn call(url: &str) -> Value {
    json!({"name": "x402_fetch", "arguments": {"url": url}})
}

fn waiting() -> Value {
    call("https://shop.example/approval")
}

/// Calls, and gives the request to show a page.
async fn shown(client: &mut Client) -> Value {
    client.request(1, "tools/call", &waiting()).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    asked
}

#[tokio::test]
async fn the_page_is_shown_with_the_id_alone_and_only_to_a_client_that_shows_pages() {
    let mut client = able(&with_console(), &json!({"elicitation": {"url": {}}})).await;
    let asked = shown(&mut client).await;
    let params = &asked["params"];
    assert_eq!((&params["mode"], &params["url"]), (&"url".into(), &format!("{PAGE}{}", id()).into()));
    assert!(!params["message"].as_str().unwrap().contains("shop.example"), "{params}");

    for capabilities in [json!({}), json!({"elicitation": {}}), json!({"elicitation": {"form": {}}})] {
        let mut client = able(&with_console(), &capabilities).await;
        let answer = client.ask(1, "tools/call", &waiting()).await;
        assert_eq!(answer["result"]["structuredContent"]["outcome"], "needs_approval", "{capabilities}: {answer}");
    }
    let mut nowhere = able(&Shell::new(), &json!({"elicitation": {"url": {}}})).await;
    let answer = nowhere.ask(1, "tools/call", &waiting()).await;
    assert_eq!(answer["result"]["structuredContent"]["outcome"], "needs_approval");
    let step = answer["result"]["structuredContent"]["next_step"].as_str().unwrap();
    assert!(step.contains("bursar approv"), "the command at the terminal: {step}");
}

#[tokio::test]
async fn whatever_else_the_client_answers_only_the_waiting_ends() {
    for answer in [
        json!({"result": {"action": "decline"}}),
        json!({"result": {"action": "cancel"}}),
        json!({"error": {"code": -32603, "message": "approved"}}),
    ] {
        let shell = with_console();
        let mut client = able(&shell, &json!({"elicitation": {"url": {}}})).await;
        let asked = shown(&mut client).await;
        let mut message = answer.clone();
        message["jsonrpc"] = "2.0".into();
        message["id"] = asked["id"].clone();
        client.say(&message).await;
        let told = client.next().await;
        assert_eq!(told["id"], 1, "{told}");
        assert_eq!(told["result"]["structuredContent"]["outcome"], "needs_approval", "{answer}");
    }
}

/// Shows the page, and has the client say that it is being opened.
async fn opened(client: &mut Client, result: &Value) {
    let asked = shown(client).await;
    client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).await;
    // Whatever it led to is there before the answer to this.
    Client::others_run().await;
    client.is_alive().await;
}

/// Longer than anybody is waited for.
const LONG: Duration = Duration::from_secs(241);

#[tokio::test(start_paused = true)]
async fn after_an_accept_the_person_is_waited_for_and_not_the_client() {
    for result in [json!({"action": "accept"}), json!({"action": "accept", "content": {"approve": true}})] {
        let shell = with_console();
        let mut client = able(&shell, &json!({"elicitation": {"url": {}}})).await;
        opened(&mut client, &result).await;
        assert_eq!(shell.finished(), 1, "looked at again before a person could decide");
        shell.decided.send_replace(true);
        let told = client.next().await;
        assert_eq!((&told["id"], &told["result"]["structuredContent"]["outcome"]), (&1.into(), &"paid".into()));
        assert_eq!(shell.finished(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_person_who_decides_nothing_is_not_waited_for_for_ever() {
    let shell = with_console();
    let mut client = able(&shell, &json!({"elicitation": {"url": {}}})).await;
    let asked = shown(&mut client).await;
    // The client takes its time, which is part of the whole.
    tokio::time::advance(LONG / 2).await;
    client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}})).await;
    Client::others_run().await;
    client.is_alive().await;
    tokio::time::advance(LONG / 2).await;
    let told = client.next().await;
    assert_eq!(told["result"]["structuredContent"]["outcome"], "needs_approval", "{told}");
    assert_eq!(shell.finished(), 1, "nothing was decided, so nothing is looked at again");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_waits_for_no_person() {
    let shell = with_console();
    let mut client = able(&shell, &json!({"elicitation": {"url": {}}})).await;
    opened(&mut client, &json!({"action": "accept"})).await;
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    client.hang_up();
    let (ended, rest) = client.end().await;
    assert_eq!((ended, rest), (Ended::InputClosed, Vec::<Value>::new()));
    assert_eq!(shell.finished(), 1);
}

#[tokio::test]
async fn what_the_person_decided_meanwhile_is_seen_when_the_waiting_ends() {
    let shell = with_console();
    let mut client = able(&shell, &json!({"elicitation": {"url": {}}})).await;
    let asked = shown(&mut client).await;
    shell.decided.send_replace(true);
    client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}})).await;
    assert_eq!(client.next().await["result"]["structuredContent"]["outcome"], "paid");
}

#[tokio::test]
async fn an_answer_that_was_not_asked_for_or_comes_twice_is_nothing() {
    let shell = with_console();
    let mut client = able(&shell, &json!({"elicitation": {"url": {}}})).await;
    for id in [json!(0), json!(1), json!("x")] {
        client.say(&json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept"}})).await;
    }
    let asked = shown(&mut client).await;
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}});
    client.say(&answer).await;
    client.say(&answer).await;
    assert_eq!(client.next().await["id"], 1);
    assert_eq!(shell.finished(), 2, "looked at when it was asked, and once more after the answer");
    client.is_alive().await;
}

#[tokio::test]
async fn nobody_waits_for_a_client_that_cancelled_or_hung_up() {
    let shell = with_console();
    let mut client = able(&shell, &json!({"elicitation": {"url": {}}})).await;
    shown(&mut client).await;
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    client.is_alive().await;

    let mut client = able(&shell, &json!({"elicitation": {"url": {}}})).await;
    shown(&mut client).await;
    client.hang_up();
    let (ended, rest) = client.end().await;
    assert_eq!(ended, Ended::InputClosed);
    assert_eq!(rest.last().unwrap()["result"]["structuredContent"]["outcome"], "needs_approval", "{rest:?}");
}

#[tokio::test]
async fn a_client_without_a_handshake_gets_the_page_as_an_answer_and_calls_again() {
    let shell = with_console();
    let mut client = Client::silent(&shell);
    let mut meta = modern();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"url": {}}});
    let mut params = waiting();
    params["_meta"] = meta.clone();
    let first = client.ask(1, "tools/call", &params).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let page = &first["result"]["inputRequests"]["approval"];
    assert_eq!(page["method"], "elicitation/create");
    assert_eq!((&page["params"]["mode"], &page["params"]["url"]), (&"url".into(), &format!("{PAGE}{}", id()).into()));

    for answers in [json!({"approval": {"action": "decline"}}), json!({"approval": true}), json!({})] {
        params["inputResponses"] = answers;
        let again = client.ask(2, "tools/call", &params).await;
        assert_eq!(again["result"]["structuredContent"]["outcome"], "needs_approval", "{again}");
    }
    let looked = shell.finished();
    params["inputResponses"] = json!({"approval": {"action": "accept", "content": {"approve": true}}});
    client.request(3, "tools/call", &params).await;
    Client::others_run().await;
    client.is_alive().await;
    assert_eq!(shell.finished(), looked + 1, "looked at again before a person could decide");
    shell.decided.send_replace(true);
    let decided = client.next().await;
    assert_eq!((&decided["id"], &decided["result"]["structuredContent"]["outcome"]), (&3.into(), &"paid".into()));

    params["inputResponses"] = json!({"approval": {"action": "decline"}});
    let decided = client.ask(5, "tools/call", &params).await;
    assert_eq!(decided["result"]["structuredContent"]["outcome"], "paid", "{decided}");

    params["_meta"] = modern();
    params.as_object_mut().unwrap().remove("inputResponses");
    shell.decided.send_replace(false);
    let unable = client.ask(4, "tools/call", &params).await;
    assert_eq!(unable["result"]["structuredContent"]["outcome"], "needs_approval", "{unable}");
}
