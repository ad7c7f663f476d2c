//! A purchase that was begun comes to its end, whatever the client does meanwhile.

use bursar_tools::{Ended, ServeOptions};
use serde_json::json;
use std::sync::atomic::Ordering;

use crate::client::Client;
use crate::shell::Shell;

const FETCH: &str = "x402_fetch";

fn held() -> serde_json::Value {
    json!({"name": FETCH, "arguments": {"url": "https://shop.example/held"}})
}

#[tokio::test]
async fn a_cancelled_purchase_goes_on_unanswered_and_keeps_its_id_until_it_is_done() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    client.request(1, "tools/call", &held()).await;
    shell.begun(1).await;
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "tired"}})).await;
    client.is_alive().await;
    assert_eq!(client.ask(1, "ping", &json!({})).await["error"]["code"], -32600);
    shell.let_go();
    client.hang_up();
    let (ended, rest) = client.end().await;
    assert_eq!(ended, Ended::InputClosed);
    assert_eq!(rest, Vec::<serde_json::Value>::new());
    assert_eq!((shell.finished(), shell.unwanted.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test]
async fn a_cancelled_id_can_be_used_again_when_its_purchase_is_done() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    client.request(1, "tools/call", &held()).await;
    shell.begun(1).await;
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    client.is_alive().await;
    shell.let_go();
    // The second purchase ends after the first; its answer is the only one.
    let answer = loop {
        let answer = client.ask(1, "tools/call", &held()).await;
        if answer.get("error").is_none() {
            break answer;
        }
        Client::others_run().await;
    };
    assert_eq!(answer["result"]["structuredContent"]["outcome"], "paid");
    assert_eq!((shell.finished(), shell.unwanted.load(Ordering::SeqCst)), (2, 1));
}

/// However long it takes; the clock is not the real one.
#[tokio::test(start_paused = true)]
async fn the_end_of_input_waits_for_a_purchase_and_its_answer() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    client.request(1, "tools/call", &held()).await;
    shell.begun(1).await;
    client.hang_up();
    Client::others_run().await;
    tokio::time::advance(std::time::Duration::from_secs(3600)).await;
    Client::others_run().await;
    assert!(!client.server.is_finished());
    shell.let_go();
    let (ended, rest) = client.end().await;
    assert_eq!(ended, Ended::InputClosed);
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["result"]["structuredContent"]["outcome"], "paid");
}

#[tokio::test(start_paused = true)]
async fn the_order_to_stop_takes_nothing_new_and_finishes_what_runs() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    client.request(1, "tools/call", &held()).await;
    shell.begun(1).await;
    client.stop();
    Client::others_run().await;
    tokio::time::advance(std::time::Duration::from_secs(3600)).await;
    client.request(2, "tools/call", &held()).await;
    Client::others_run().await;
    assert!(!client.server.is_finished());
    shell.let_go();
    let (ended, rest) = client.end().await;
    assert_eq!(ended, Ended::Asked);
    assert_eq!(rest.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [&json!(1)]);
    assert_eq!(shell.finished(), 1);
}

#[tokio::test]
async fn a_client_that_stops_reading_does_not_stop_a_purchase() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    client.request(1, "tools/call", &held()).await;
    shell.begun(1).await;
    client.output = None;
    client.request(2, "ping", &json!({})).await;
    Client::others_run().await;
    assert!(!client.server.is_finished());
    shell.let_go();
    let (ended, _) = client.end().await;
    assert_eq!(ended, Ended::OutputClosed);
    assert_eq!(shell.finished(), 1);
}

#[tokio::test]
async fn an_idle_server_ends_at_once() {
    let shell = Shell::new();
    let mut fresh = Client::silent(&shell);
    fresh.hang_up();
    assert_eq!(fresh.end().await, (Ended::InputClosed, Vec::new()));
    let mut greeted = Client::greeted(&shell).await;
    greeted.hang_up();
    assert_eq!(greeted.end().await, (Ended::InputClosed, Vec::new()));
    let mut asked = Client::silent(&shell);
    asked.stop();
    assert_eq!(asked.end().await, (Ended::Asked, Vec::new()));
}

#[tokio::test]
async fn a_panic_is_an_answer_and_frees_its_place() {
    let shell = Shell::new();
    let options = ServeOptions::new("1").purchases_at_once(1);
    let mut client = Client::with(&shell, options).greet("2025-06-18").await;
    for id in 1..4 {
        let result = client.call(id, FETCH, &json!({"url": "https://shop.example/panic"})).await;
        assert_eq!(result["isError"], true);
        assert_eq!(result["structuredContent"]["outcome"], "unresolved");
        assert_eq!(result["structuredContent"]["code"], "internal_error");
        assert!(!result.to_string().contains("fault of the shell"));
    }
    let result = client.call(4, FETCH, &json!({"url": "https://shop.example/paid"})).await;
    assert_eq!(result["structuredContent"]["outcome"], "paid");
    let quote = client.call(5, "x402_quote", &json!({"url": "https://shop.example/panic"})).await;
    assert_eq!((&quote["isError"], &quote["structuredContent"]["outcome"]), (&json!(true), &json!("failed")));
}

#[tokio::test]
async fn of_two_hundred_calls_at_once_as_many_run_as_there_are_places() {
    for (options, places) in [(ServeOptions::new("1"), 64), (ServeOptions::new("1").purchases_at_once(1000), 200)] {
        let shell = Shell::new();
        let mut client = Client::with(&shell, options).greet("2025-06-18").await;
        let mut refused = 0;
        for id in 1..=200 {
            client.request(id, "tools/call", &held()).await;
            if places < id {
                let answer = client.next().await;
                assert_eq!(answer["result"]["structuredContent"]["code"], "too_many_in_flight", "{answer}");
                assert_eq!(answer["result"]["isError"], false);
                refused += 1;
            } else {
                shell.begun(id).await;
            }
        }
        shell.let_go();
        let mut paid = std::collections::BTreeSet::new();
        for _ in 0..places {
            let answer = client.next().await;
            assert_eq!(answer["result"]["structuredContent"]["outcome"], "paid", "{answer}");
            paid.insert(answer["id"].as_i64().unwrap());
        }
        assert_eq!((paid.len(), refused), (places, 200 - places));
        assert_eq!(shell.finished(), places);
    }
}

/// A client that neither reads nor hangs up: purchases are finished, then it is given up. The clock is not the real one.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_does_not_hold_up_the_end() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    for id in 1..=100 {
        client.request(id, "tools/list", &json!({})).await;
    }
    client.request(101, "tools/call", &held()).await;
    shell.begun(1).await;
    client.stop();
    Client::others_run().await;
    assert!(!client.server.is_finished());
    shell.let_go();
    let ended = crate::client::within(&mut client.server).await.unwrap().unwrap();
    assert_eq!(ended, Ended::Asked);
    assert_eq!(shell.finished(), 1);
}

#[tokio::test]
async fn a_cancelled_purchase_tells_no_more_progress() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let mut call = held();
    call["_meta"] = json!({"progressToken": "t"});
    client.request(1, "tools/call", &call).await;
    for _ in 0..2 {
        assert_eq!(client.next().await["method"], "notifications/progress");
    }
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    client.is_alive().await;
    shell.let_go();
    client.hang_up();
    assert_eq!(client.end().await, (Ended::InputClosed, Vec::new()));
}

/// Beyond that no line is read until an answer went out, so that a client cannot fill the memory.
#[tokio::test]
async fn at_most_two_hundred_and_fifty_six_requests_are_in_the_air() {
    let shell = Shell::new();
    let options = ServeOptions::new("1").purchases_at_once(1000);
    let mut client = Client::with(&shell, options).greet("2025-06-18").await;
    let mut input = client.input.take().unwrap();
    let writer = tokio::spawn(async move {
        for id in 1..=300 {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": held()});
            tokio::io::AsyncWriteExt::write_all(&mut input, format!("{call}\n").as_bytes()).await.unwrap();
        }
        input
    });
    shell.begun(256).await;
    Client::others_run().await;
    assert_eq!(*shell.begun.borrow(), 256);
    shell.let_go();
    for _ in 0..300 {
        assert_eq!(client.next().await["result"]["structuredContent"]["outcome"], "paid");
    }
    drop(writer.await.unwrap());
    assert_eq!(shell.finished(), 300);
}
