//! `policy replay`: a past of real payments under the rules in force and under others.

use std::fs;

use serde_json::{Value, json};

use crate::explain::{beside, live};
use crate::stall::Stall;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_past_is_judged_by_the_rules_in_force_and_by_new_ones() {
    let stall = Stall::open().await;
    let desk = beside(&stall).await;
    let shown = desk.run(&["policy", "replay"]).await.done();
    assert!(shown.contains("allowed  0 (0.00 USD)"), "{shown}");

    live(&desk, &stall).await;
    let log = desk.run(&["log", "--json"]).await.done();

    // What was counted under these rules would be again.
    let shown = desk.run(&["policy", "replay"]).await.done();
    for part in [
        "settled",
        "rules    in force",
        "allowed  2 (0.10 USD)",
        "blocked  0",
        "GET https://other.cli.test",
        "refused: host_not_allowed",
        "unknown  1 refusals",
    ] {
        assert!(shown.contains(part), "`{part}` is not in: {shown}");
    }

    let text = fs::read_to_string(desk.rules()).unwrap();
    let file = desk.home.with_file_name("new.toml");
    let name = file.to_str().unwrap();
    let new = async |from: &str, to: &str| -> Value {
        assert!(text.contains(from), "{from}");
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        let shown = desk.run(&["policy", "replay", "--rules", name, "--json"]).await.done();
        serde_json::from_str(&shown).unwrap()
    };
    let told = new("max_per_payment = \"0.05 USD\"", "max_per_payment = \"0.04 USD\"").await;
    assert_eq!((&told["blocked"]["payments"], &told["blocked"]["money"]), (&json!(2), &json!(["0.10 USD"])));
    assert_eq!(told["codes"], json!({"over_payment_cap": 2}));
    assert_eq!(told["payments"][0]["codes"], json!(["over_payment_cap"]));
    let told = new("[[limit]]", "[[limit]]\nscope = \"host\"\nwindow = \"1h\"\ncount = 1\n\n[[limit]]").await;
    assert_eq!((&told["payments"][0]["allowed"], &told["payments"][1]["allowed"]), (&json!(true), &json!(false)));
    assert_eq!(told["codes"], json!({"over_limit": 1}));
    let told = new("[[host]]", "[[host]]\norigin = \"https://other.cli.test\"\n\n[[host]]").await;
    assert_eq!(told["refusals"][0]["then"], "host_not_allowed");
    assert_eq!((&told["refusals"][0]["now"], &told["unknown"]), (&Value::Null, &json!(1)));
    assert_eq!(told["allowed"]["payments"], 2);

    let shown = desk.run(&["policy", "replay", "--since", "2100-01-01"]).await.done();
    assert!(shown.contains("allowed  0") && !shown.contains("unknown"), "{shown}");
    assert!(desk.run(&["policy", "replay", "--since", "1h"]).await.done().contains("allowed  2"));
    desk.run(&["policy", "replay", "--since", "soon"]).await.says(2, &["`--since soon`"]);
    fs::write(&file, text.replacen("networks =", "network =", 1)).unwrap();
    desk.run(&["policy", "replay", "--rules", name]).await.says(4, &[name, "line ", "`networks`"]);
    assert_eq!(desk.run(&["log", "--json"]).await.done(), log, "a replay left something in the log");
}
