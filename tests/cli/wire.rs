//! What a client can do to the pipes of the real `serve`: odd lines, huge ones, a thousand calls at once, and an end of the
//! input at any byte.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::desk::{Desk, PATIENCE};

/// The longest line that is read as a message (tools/src/transport.rs).
const LINE_MAX_BYTES: usize = 2 * 1024 * 1024 + 256 * 1024;

const PARSE: i64 = -32700;
const REQUEST: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;
const REVISION: i64 = -32022;

/// Says all of `input` to a `serve` of its own, closes its input, and returns its answers. They are JSON-RPC, a line each, and
/// `serve` ends well.
async fn said(desk: &Desk, input: Vec<u8>) -> Vec<Value> {
    let mut command = desk.command();
    command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut serve = command.spawn().unwrap();
    let (mut to, mut from) = (serve.stdin.take().unwrap(), serve.stdout.take().unwrap());
    let writing = tokio::spawn(async move {
        to.write_all(&input).await.unwrap();
        drop(to);
    });
    let mut heard = String::new();
    timeout(PATIENCE, from.read_to_string(&mut heard)).await.unwrap().unwrap();
    writing.await.unwrap();
    assert!(timeout(PATIENCE, serve.wait()).await.unwrap().unwrap().success());
    assert!(heard.is_empty() || heard.ends_with('\n'), "half a line: {heard}");
    let answers: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"), "{heard}");
    answers
}

/// The `_meta` of the revision without a handshake.
fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn request(id: Value, method: &str, mut params: Value, version: &str) -> Vec<u8> {
    params["_meta"] = meta(version);
    let mut line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string().into_bytes();
    line.push(b'\n');
    line
}

/// A call that is answered without a seller.
fn status(id: Value) -> Vec<u8> {
    request(id, "tools/call", json!({"name": "payment_session_status"}), "2026-07-28")
}

fn greeting() -> Vec<u8> {
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

#[tokio::test]
async fn every_odd_line_of_a_real_client_is_answered_once_with_its_code_and_its_id() {
    let call = |arguments: Value| {
        let params = json!({"name": "x402_fetch", "arguments": arguments});
        request(json!(7), "tools/call", params, "2026-07-28")
    };
    let deep = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    let modern = |method: &str| request(json!(7), method, json!({}), "2026-07-28");
    let plain = |text: &str| format!("{text}\n").into_bytes();
    let (none, seven) = (Value::Null, json!(7));
    // What reaches the library is in the air for a moment, so that it needs an id of its own.
    let [bare, unknown, future] = [json!("bare"), json!("unknown"), json!("future")];
    let lines: Vec<(Vec<u8>, &Value, i64)> = vec![
        (plain("{"), &none, PARSE),
        (plain(r#"{"jsonrpc":"2.0","id":7,"method":"ping""#), &none, PARSE),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xFF\"}\n".to_vec(), &none, PARSE),
        (plain("\u{0}"), &none, PARSE),
        (plain(&deep), &seven, REQUEST),
        (plain(r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#), &none, REQUEST),
        (plain(r#"{"id":7,"method":"ping"}"#), &seven, REQUEST),
        (plain(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), &none, REQUEST),
        (plain(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#), &none, REQUEST),
        (plain(r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#), &none, REQUEST),
        (plain(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#), &none, REQUEST),
        (plain(r#"{"jsonrpc":"2.0","id":7,"id":7,"method":"ping"}"#), &none, REQUEST),
        (plain(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"a":1,"a":1}}"#), &seven, REQUEST),
        (plain(r#"{"jsonrpc":"2.0","id":"bare","method":"tools/call","params":{"name":"x402_fetch"}}"#), &bare, PARAMS),
        (call(json!([1])), &seven, PARAMS),
        (request(unknown.clone(), "tools/call", json!({"name": "pay"}), "2026-07-28"), &unknown, PARAMS),
        (request(future.clone(), "tools/list", json!({}), "2031-01-01"), &future, REVISION),
        (modern("ping"), &seven, METHOD),
        (modern("initialize"), &seven, METHOD),
        (modern("resources/list"), &seven, METHOD),
        (modern("no/such"), &seven, METHOD),
    ];
    let desk = Desk::with_vault().await;
    for greeted in [Vec::new(), greeting()] {
        // Once there was a handshake, a call without `_meta` is an ordinary one.
        let of_this = || lines.iter().filter(|(_, id, _)| greeted.is_empty() || **id != bare);
        let mut input = greeted.clone();
        of_this().for_each(|(line, _, _)| input.extend_from_slice(line));
        input.extend(status(json!("last")));
        let mut answers = said(&desk, input).await;
        answers.retain(|answer| answer["id"] != "hello");
        let last = answers.iter().position(|answer| answer["id"] == "last").unwrap();
        let last = answers.remove(last);
        assert!(last["result"]["structuredContent"]["code"].is_string(), "{last}");
        let mut got: Vec<(String, i64)> = answers
            .iter()
            .map(|answer| {
                assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
                (answer["id"].to_string(), answer["error"]["code"].as_i64().unwrap())
            })
            .collect();
        let mut meant: Vec<(String, i64)> = of_this().map(|(_, id, code)| (id.to_string(), *code)).collect();
        got.sort();
        meant.sort();
        assert_eq!(got, meant);
    }
}

#[tokio::test]
async fn huge_arguments_are_refused_in_a_sentence_or_by_the_cap_of_a_line() {
    let desk = Desk::with_vault().await;
    let fetch = |id: &str, body: &str| {
        let arguments = json!({"url": "https://shop.example/", "method": "POST", "body": body, "body_type": "text"});
        request(json!(id), "tools/call", json!({"name": "x402_fetch", "arguments": arguments}), "2026-07-28")
    };
    let mut input = fetch("large", &"x".repeat(2 * 1024 * 1024));
    input.extend(fetch("too long", &"x".repeat(LINE_MAX_BYTES)));
    input.extend(fetch("many times too long", &"x".repeat(4 * LINE_MAX_BYTES)));
    input.extend(status(json!("last")));
    let answers = said(&desk, input).await;
    let of =
        |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{id}: {answers:?}"));
    assert_eq!(of(json!("large"))["result"]["isError"], true);
    assert_eq!(of(json!("too long"))["error"]["code"], REQUEST);
    // Nothing is kept of a line as long as this one, and so no id.
    assert_eq!(of(Value::Null)["error"]["code"], REQUEST);
    assert!(of(json!("last"))["result"].is_object());
    assert_eq!(answers.len(), 4);
}

#[tokio::test]
async fn a_thousand_calls_in_one_breath_are_each_answered_once() {
    let desk = Desk::with_vault().await;
    let input: Vec<u8> = (0..1_000).flat_map(|id| status(json!(id))).collect();
    let answers = said(&desk, input).await;
    let ids: BTreeSet<i64> = answers.iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
    assert_eq!((answers.len(), ids.len()), (1_000, 1_000));
    assert!(answers.iter().all(|answer| answer["result"]["structuredContent"]["payer"].is_string()));
}

#[tokio::test]
async fn an_input_that_ends_at_any_byte_ends_serve_well_and_loses_no_answer() {
    let desk = Desk::with_vault().await;
    let mut whole = greeting();
    whole.extend(request(json!(1), "tools/list", json!({}), "2026-07-28"));
    whole.extend(status(json!(2)));
    let ends: Vec<usize> = (0..whole.len()).filter(|at| whole.get(*at) == Some(&b'\n')).collect();
    // Every byte around the end of a line, and every seventh between.
    let near = |at: usize| ends.iter().any(|end| at.abs_diff(*end) < 3);
    for at in (0..=whole.len()).filter(|at| at % 7 == 0 || near(*at)) {
        let (input, _) = whole.split_at(at);
        let answers = said(&desk, input.to_vec()).await;
        let ids: BTreeSet<String> = answers.iter().map(|answer| answer["id"].to_string()).collect();
        assert_eq!(ids.len(), answers.len(), "an answer came twice after {at} bytes");
        for (end, id) in ends.iter().zip(["\"hello\"", "", "1", "2"]) {
            // The bytes of a last line without its line feed are a line too.
            assert_eq!(!id.is_empty() && *end <= at, !id.is_empty() && ids.contains(id), "{id} after {at} bytes");
        }
        let cut = !ends.contains(&at) && at.checked_sub(1).is_some_and(|before| !ends.contains(&before));
        assert_eq!(ids.contains("null"), cut, "half a line after {at} bytes: {answers:?}");
    }
}
