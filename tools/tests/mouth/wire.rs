//! Every odd line a client can write: answered if it can be, and never the end of the conversation.

use serde_json::{Value, json};

use crate::client::{Client, modern};
use crate::shell::Shell;

#[tokio::test]
async fn each_bad_line_is_answered_and_the_next_good_one_too() {
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"a":{}{}}}}}"#, "[".repeat(70), "]".repeat(70));
    let lines: [(&[u8], Value, i64); 14] = [
        (b"{", Value::Null, -32700),
        (b"hello", Value::Null, -32700),
        (b"\xFF\xFE{}", Value::Null, -32700),
        (b"[]", Value::Null, -32600),
        (b"\"x\"", Value::Null, -32600),
        (br#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#, Value::Null, -32600),
        (br#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7), -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"tools/call"}"#, Value::Null, -32600),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null, -32600),
        (br#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"x402_fetch","arguments":[1]}}"#, json!("q"), -32602),
        (br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x402_fetch","arguments":{"url":"https://a.example","url":"https://b.example"}}}"#, json!(7), -32600),
        (br#"{"jsonrpc":"2.0","id":7,"method":"no/such/method"}"#, json!(7), -32601),
        (br#"{"jsonrpc":"2.0","id":7,"method":"resources/list"}"#, json!(7), -32601),
        (deep.as_bytes(), json!(7), -32600),
    ];
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    for (line, id, code) in lines {
        client.write(line).await;
        client.write(b"\n").await;
        let answer = client.next().await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["error"]["message"].is_string());
        client.is_alive().await;
    }
    assert!(shell.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_unknown_tool_is_told_the_known_ones() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let answer = client.ask(1, "tools/call", &json!({"name": "approve\u{202E}"})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("x402_quote") && message.contains("\\u{202E}"), "{message}");
}

#[tokio::test]
async fn a_line_may_be_long_but_not_too_long() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let cap = 2 * 1024 * 1024 + 256 * 1024;
    let padded = |length: usize| {
        let bare = r#"{"jsonrpc":"2.0","id":"long","method":"ping","params":{"x":""}}"#;
        bare.replace("\"\"", &format!("\"{}\"", "x".repeat(length - bare.len())))
    };
    for (length, fits, id) in
        [(cap, true, json!("long")), (cap + 1, false, json!("long")), (2 * cap + 1, false, Value::Null)]
    {
        let line = padded(length);
        assert_eq!(line.len(), length);
        client.write(line.as_bytes()).await;
        client.write(b"\n").await;
        let answer = client.next().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer.get("result").is_some(), fits, "{answer}");
        client.is_alive().await;
    }
}

#[tokio::test]
async fn blank_lines_a_byte_order_mark_and_carriage_returns_are_passed_over() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    client.write(b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\r\n\n  \n").await;
    assert_eq!(client.next().await["id"], 1);
    client.is_alive().await;
}

#[tokio::test]
async fn what_comes_before_the_first_request_does_not_end_the_conversation() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}})).await;
    client.say(&json!({"jsonrpc": "2.0", "id": 3, "result": {}})).await;
    client.say(&json!({"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": "no"}})).await;
    client.greet("2025-06-18").await.is_alive().await;
}

#[tokio::test]
async fn an_id_that_is_in_the_air_is_refused_and_the_first_answer_stays_whole() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let call = json!({"name": "x402_fetch", "arguments": {"url": "https://shop.example/held"}});
    client.request(7, "tools/call", &call).await;
    shell.begun(1).await;
    let refusal = client.ask(7, "tools/call", &call).await;
    assert_eq!(refusal["error"]["code"], -32600);
    // The same digits as a text are another id.
    client.request("7", "ping", &json!({})).await;
    assert_eq!(client.next().await["id"], "7");
    shell.let_go();
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["result"]["structuredContent"]["outcome"]), (&json!(7), &json!("paid")));
    assert_eq!(shell.finished(), 1);
    assert!(client.ask(7, "ping", &json!({})).await.get("result").is_some());
}

#[tokio::test]
async fn a_thousand_bad_lines_all_get_an_answer_from_a_client_that_reads_late() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let mut input = client.input.take().unwrap();
    let writer = tokio::spawn(async move {
        for _ in 0..1000 {
            tokio::io::AsyncWriteExt::write_all(&mut input, b"{\n").await.unwrap();
        }
        input
    });
    Client::others_run().await;
    for _ in 0..1000 {
        assert_eq!(client.next().await["error"]["code"], -32700);
    }
    client.input = Some(writer.await.unwrap());
    client.is_alive().await;
}

#[tokio::test]
async fn progress_is_told_in_order_and_before_the_result() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    for token in [json!("t"), json!(12)] {
        let call = json!({"name": "x402_fetch", "arguments": {"url": "https://shop.example/paid"}, "_meta": {"progressToken": token}});
        client.request(1, "tools/call", &call).await;
        let mut told = Vec::new();
        let answer = loop {
            let message = client.next().await;
            if message.get("id").is_some() {
                break message;
            }
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], token);
            assert!(message["params"]["message"].is_string());
            told.push(message["params"]["progress"].as_f64().unwrap());
        };
        assert_eq!(answer["result"]["structuredContent"]["outcome"], "paid");
        assert_eq!(told, [1.0, 2.0, 5.0]);
    }
}

#[tokio::test]
async fn an_odd_progress_token_counts_as_none() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    for token in [json!({"a": 1}), json!([1]), json!(1.5), json!(true), json!("x".repeat(129)), Value::Null] {
        let call = json!({"name": "x402_fetch", "arguments": {"url": "https://shop.example/paid"}, "_meta": {"progressToken": token}});
        let answer = client.ask(1, "tools/call", &call).await;
        assert_eq!(answer["result"]["structuredContent"]["outcome"], "paid", "{token}");
    }
}

#[tokio::test]
async fn calls_in_a_row_and_an_unfinished_last_line_are_answered_after_the_end_of_input() {
    let shell = Shell::new();
    let mut client = Client::silent(&shell);
    for id in 0..5 {
        client.request(id, "tools/call", &json!({"name": "payment_session_status", "_meta": modern()})).await;
    }
    let last = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": modern()}});
    client.write(last.to_string().as_bytes()).await;
    client.hang_up();
    let (_, rest) = client.end().await;
    let mut ids: Vec<i64> = rest.iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
    assert!(rest.iter().all(|answer| answer.get("result").is_some()));
}

#[tokio::test]
async fn lines_that_come_byte_by_byte_between_answers_stay_whole() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let mut input = client.input.take().unwrap();
    let writer = tokio::spawn(async move {
        for id in 0..100 {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "payment_session_status"}});
            for byte in format!("{call}\n").bytes() {
                tokio::io::AsyncWriteExt::write_all(&mut input, &[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
        input
    });
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let answer = client.next().await;
        assert_eq!(answer["result"]["structuredContent"]["ready"], true, "{answer}");
        ids.insert(answer["id"].as_i64().unwrap());
    }
    assert_eq!(ids.len(), 100);
    drop(writer.await.unwrap());
}
