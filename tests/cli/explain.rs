//! `explain`: a recording, a live seller and a payment, each held against the rules without paying.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, PASSPHRASE, write};
use crate::stall::{HOST, PAYEE, STRANGER, Stall, terms};

/// A sandbox whose rules allow the stall, with a running vault.
pub(crate) async fn beside(stall: &Stall) -> Desk {
    let origin = stall.origin();
    let mut desk = Desk::set_up(&["--allow", &origin, "--recipient", PAYEE]).await;
    write(&desk.home.join("ca.pem"), &stall.authority_pem);
    let text = fs::read_to_string(desk.rules()).unwrap();
    // As the comments of the file say.
    let edited = text
        .replace("# hosts = { \"shop.test\" = \"127.0.0.1\" }", &format!("hosts = {{ \"{HOST}\" = \"127.0.0.1\" }}"))
        .replace("# ca = \"ca.pem\"", "ca = \"ca.pem\"");
    write(&desk.rules(), &edited);
    desk.start_vault().await;
    desk
}

/// Opens a budget out of which two things are bought and two are refused.
pub(crate) async fn live(desk: &Desk, stall: &Stall) {
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    for path in ["page", "page?again"] {
        let told = fetched(desk, &format!("{}/{path}", stall.origin())).await;
        assert_eq!(told["outcome"], "paid", "{told}");
    }
    assert_eq!(fetched(desk, "https://other.cli.test/page").await["code"], "host_not_allowed");
    assert_eq!(fetched(desk, &format!("{}/crooked", stall.origin())).await["outcome"], "refused");
}

/// What a model is told that fetches `url` by a `serve` of its own.
pub(crate) async fn fetched(desk: &Desk, url: &str) -> Value {
    asked(desk, json!({"url": url})).await
}

/// What a model is told that calls x402_fetch with `arguments`, by a `serve` of its own.
pub(crate) async fn asked(desk: &Desk, arguments: Value) -> Value {
    let call = call(&arguments);
    let answer: Value = serde_json::from_str(&desk.typing(&["serve"], &call.to_string()).await.done()).unwrap();
    answer["result"]["structuredContent"].clone()
}

/// One call of x402_fetch, as a client of the present revision makes it.
pub(crate) fn call(arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "x402_fetch", "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "cli", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_seller_is_judged_and_not_paid() {
    let stall = Stall::open().await;
    let desk = beside(&stall).await;
    let origin = stall.origin();
    let shown = desk.run(&["explain", &format!("{origin}/page")]).await.done();
    assert!(shown.contains("Offer 0 passes every rule: 0.05 USD to"), "{shown}");
    assert!(shown.contains("pass") && shown.contains("offer") && shown.contains("rule"), "{shown}");

    let said = desk.run(&["explain", &format!("{origin}/crooked")]).await;
    assert_eq!((said.code, said.err.as_str()), (Some(3), ""), "{said:?}");
    assert!(said.out.contains("payee_not_allowed") && said.out.contains("nothing would be paid"), "{said:?}");

    let shown = desk.run(&["explain", &format!("{origin}/free")]).await.done();
    assert!(shown.contains("status 200 and asks for nothing"), "{shown}");

    let said = desk.run(&["explain", "http://other.cli.test/"]).await;
    assert_eq!((said.code, said.err.as_str()), (Some(3), ""), "{said:?}");
    assert!(said.out.contains("https_required"), "{said:?}");
    // No rule lists this origin, and a person may look all the same; nobody is there.
    desk.run(&["explain", "https://shop.cli.test:1/page"]).await.says(1, &["refuses connections"]);
    let said = desk.run(&["explain", "--method", "POST", &format!("{origin}/page")]).await;
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.out.contains("method_not_allowed"), "{said:?}");

    desk.run(&["explain", "https:///"]).await.sentence(2);
    desk.run(&["explain", "--method", "get", &format!("{origin}/page")]).await.says(2, &["`--method get`"]);
    let log = desk.run(&["log", "--json"]).await.done();
    assert!(!log.contains("\"exposed\""), "an explanation set money aside: {log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seller_that_does_not_answer_is_a_failure_not_a_refusal() {
    let stall = Stall::open().await;
    let desk = beside(&stall).await;
    let url = format!("{}/page", stall.origin());
    drop(stall);
    desk.run(&["explain", &url]).await.sentence(1);
}

#[tokio::test]
async fn a_recording_is_judged_by_the_url_it_came_from() {
    let mut desk = Desk::set_up(&["--allow", "https://api.example.com", "--recipient", PAYEE]).await;
    desk.start_vault().await;
    let url = "https://api.example.com/page";
    let file = desk.home.with_file_name("402.http");
    let name = file.to_str().unwrap();

    fs::write(&file, terms(url, PAYEE)).unwrap();
    assert!(desk.run(&["explain", name, "--url", url]).await.done().contains("Offer 0 passes every rule"));
    // A recording of long ago is judged as at its own time.
    let old = terms(url, PAYEE).replacen("\r\n", "\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 1);
    fs::write(&file, old).unwrap();
    assert!(desk.run(&["explain", name, "--url", url]).await.done().contains("Offer 0 passes every rule"));
    fs::write(&file, terms(url, PAYEE)).unwrap();
    desk.run(&["explain", name]).await.says(2, &["`--url URL`"]);
    desk.run(&["explain", name, "--url", "nonsense"]).await.says(2, &["`nonsense`"]);
    let visit = desk.run(&["explain", "--json", "--method", "POST", url]).await;
    let told: Value = serde_json::from_str(&visit.out).unwrap();
    assert_eq!((visit.code, &told["document"][0]["code"]), (Some(3), &json!("method_not_allowed")));
    assert_eq!(told["document"][0]["key"], "host.methods");
    let elsewhere = desk.run(&["explain", name, "--url", "https://evil.example/page"]).await;
    assert_eq!(elsewhere.code, Some(3), "the rules do not allow that host: {elsewhere:?}");

    let text = fs::read_to_string(desk.rules()).unwrap();
    let line = |word: &str| text.lines().position(|line| line.starts_with(word)).unwrap().saturating_add(1);
    let shown = desk.run(&["explain", name, "--url", url]).await.done();
    for part in [
        &format!("line {}: payment.recipients", line("recipients")),
        &format!("line {}: payment.networks", line("networks")),
        "built in",
        "host.methods, left out",
    ] {
        assert!(shown.contains(part), "`{part}` is not in: {shown}");
    }
    let told: Value = serde_json::from_str(&desk.run(&["explain", name, "--url", url, "--json"]).await.done()).unwrap();
    assert_eq!((&told["verdict"], &told["rules_changed"]), (&json!("payable"), &json!(false)));
    let findings = told["offers"][0]["findings"].as_array().unwrap();
    let asset = findings.iter().find(|finding| finding["rule"] == "asset").unwrap();
    assert_eq!((&asset["key"], &asset["line"]), (&json!("payment.assets"), &json!(line("assets"))));

    // The lines are of the rules in force, and it is said when the file has others by now.
    crate::desk::write(&desk.rules(), &format!("# one line more\n{text}"));
    let shown = desk.run(&["explain", name, "--url", url]).await.done();
    assert!(shown.contains("bursar reload") && shown.contains(&format!("line {}: payment.networks", line("networks"))));
    crate::desk::write(&desk.rules(), &text);

    fs::write(&file, terms(url, STRANGER)).unwrap();
    let said = desk.run(&["explain", name, "--url", url]).await;
    assert_eq!((said.code, said.err.as_str()), (Some(3), ""), "{said:?}");
    assert!(said.out.contains("payee_not_allowed"), "{said:?}");

    fs::write(&file, "HTTP/1.1 402 Payment Required\r\npayment-required: %%%\r\n\r\n").unwrap();
    let said = desk.run(&["explain", name, "--url", url]).await;
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.out.contains("terms_unreadable"), "{said:?}");

    fs::write(&file, "HTTP/1.1 402 Payment Required\r\n\r\n<html>pay me</html>").unwrap();
    assert!(desk.run(&["explain", name, "--url", url]).await.done().contains("Nothing would be paid"));
    fs::write(&file, "HTTP/1.1 200 OK\r\n\r\nhello").unwrap();
    assert!(desk.run(&["explain", name]).await.done().contains("status 200"));

    for bytes in [&b""[..], b"hello\n", b"HTTP/1.1 402 Payment Required\nno colon\n\n"] {
        fs::write(&file, bytes).unwrap();
        desk.run(&["explain", name, "--url", url]).await.says(2, &[name]);
    }
    fs::remove_file(&file).unwrap();
    desk.run(&["explain", name, "--url", url]).await.says(2, &[name]);
}

#[tokio::test]
async fn a_seller_that_describes_another_method_is_explained() {
    let mut desk = Desk::set_up(&["--allow", "https://api.example.com", "--recipient", PAYEE]).await;
    desk.start_vault().await;
    let file = desk.home.with_file_name("402.http");
    let terms = json!({"x402Version": 1, "accepts": [{
        "scheme": "exact", "network": "base-sepolia", "maxAmountRequired": "50000", "payTo": PAYEE,
        "maxTimeoutSeconds": 60, "resource": "https://api.example.com/page",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "extra": {"name": "USDC", "version": "2"},
        "outputSchema": {"input": {"type": "http", "method": "POST"}},
    }]});
    fs::write(&file, format!("HTTP/1.1 402 Payment Required\r\n\r\n{terms}")).unwrap();
    let words = ["explain", file.to_str().unwrap(), "--url", "https://api.example.com/page"];
    let sentence = "The seller's terms describe a POST for this URL, and GET was asked.";
    let shown = desk.run(&words).await.done();
    assert!(shown.contains("Offer 0 passes every rule") && shown.contains(sentence), "{shown}");
    let words = [&words[..], &["--json"]].concat();
    let told: Value = serde_json::from_str(&desk.run(&words).await.done()).unwrap();
    assert_eq!(told["other_method"], sentence);
    let same = terms.to_string().replace("POST", "GET");
    fs::write(&file, format!("HTTP/1.1 402 Payment Required\r\n\r\n{same}")).unwrap();
    let told: Value = serde_json::from_str(&desk.run(&words).await.done()).unwrap();
    assert_eq!(told.get("other_method"), None, "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_is_told_from_its_first_event_to_its_last() {
    let stall = Stall::open().await;
    let desk = beside(&stall).await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    let told = fetched(&desk, &format!("{}/page", stall.origin())).await;
    assert_eq!(told["outcome"], "paid", "{told}");
    let payment = told["receipt"]["payment_id"].as_str().unwrap();

    let shown = desk.run(&["explain", payment]).await.done();
    for part in
        [payment, "settled", "0.05 USD", "50000 atomic units", "stored on the row", "exposed", "signed", "5eed5eed"]
    {
        assert!(shown.contains(part), "`{part}` is not in: {shown}");
    }
    let told: Value = serde_json::from_str(&desk.run(&["explain", "--json", payment]).await.done()).unwrap();
    assert_eq!((&told["receipt"]["payment"], &told["signed"]), (&json!(payment), &json!(true)));
    assert!(told["events"].as_array().unwrap().len() > 2, "{told}");
    assert!(desk.run(&["log"]).await.done().contains(payment));
    for beginning in [&payment[..12], "p_"] {
        assert_eq!(desk.run(&["explain", beginning]).await.done(), shown, "as much of its id as no other has");
    }
    desk.run(&["explain", "p_ffff0"]).await.says(3, &["there is no payment `p_ffff0`", "bursar receipts"]);
    desk.run(&["explain", "api.example.com/page"]).await.says(2, &["is no file", "`https://`"]);
    let status: Value = serde_json::from_str(&desk.run(&["status", "--json"]).await.done()).unwrap();
    assert_eq!(status["sessions"][0]["spent"], "0.05 USD");
    assert!(desk.run(&["session", "close"]).await.done().contains("0.05 USD of 1.00 USD was spent"));
    desk.run(&["explain", "p_00000000000000000000000000000000"]).await.says(3, &["bursar log"]);
}
