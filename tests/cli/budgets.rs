//! Budgets, the stop button and the log: what the operator does every day.

use serde_json::Value;

use crate::desk::{Desk, PASSPHRASE, Said};

const BUDGET: [&str; 4] = ["session", "new", "--budget", "1.00 USD"];

fn json(said: Said) -> Value {
    serde_json::from_str(&said.done()).unwrap()
}

/// The sentence of a command that showed something else on standard error before it.
fn last_words(said: &Said, code: i32, part: &str) {
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{said:?}");
    let last = said.err.lines().last().unwrap();
    assert!(last.starts_with("bursar: ") && last.contains(part), "`{part}` is not in: {last}");
}

#[tokio::test]
async fn a_budget_is_opened_shown_and_closed() {
    let desk = Desk::with_vault().await;
    assert!(
        desk.run(&["session", "list"]).await.done().contains("bursar session new"),
        "an empty list says how to go on"
    );
    assert_eq!(json(desk.run(&["session", "list", "--json"]).await), Value::Array(Vec::new()));

    let said = desk.typing(&BUDGET, PASSPHRASE).await;
    assert!(said.err.contains("A budget of 1.00 USD for 60 minutes, called `default`."), "{said:?}");
    assert!(said.done().starts_with("Opened: 1.00 USD until "));
    let listed = json(desk.run(&["session", "list", "--json"]).await);
    assert_eq!(listed[0]["name"], "default");
    assert_eq!(listed[0]["budget"], "1.00 USD");
    assert_eq!(listed[0]["spent"], "0.00 USD");
    assert_eq!(listed[0]["closed"], false);
    let lasts = listed[0]["expires_s"].as_u64().unwrap().checked_sub(listed[0]["created_s"].as_u64().unwrap());
    assert_eq!(lasts, Some(3600));
    let shown = desk.run(&["session", "list"]).await.done();
    assert!(shown.contains("default") && shown.contains("1.00 USD") && shown.contains("................"), "{shown}");

    last_words(&desk.typing(&BUDGET, PASSPHRASE).await, 3, "is open already");
    let other = ["session", "new", "--budget", "0.10 USD", "--name", "night-shift", "--minutes", "5"];
    desk.typing(&other, PASSPHRASE).await.done();
    assert_eq!(json(desk.run(&["session", "list", "--json"]).await).as_array().unwrap().len(), 2);

    assert_eq!(desk.run(&["session", "close"]).await.done(), "Closed `default`: 0.00 USD of 1.00 USD was spent.\n");
    desk.run(&["session", "close"]).await.says(3, &["`default`", "bursar session list"]);
    desk.run(&["session", "close", "nobody"]).await.says(3, &["`nobody`"]);
    desk.typing(&BUDGET, PASSPHRASE).await.done();
}

#[tokio::test]
async fn a_budget_that_cannot_be_is_refused_before_anything_is_asked() {
    let desk = Desk::with_vault().await;
    for (words, part) in [
        (&["--budget", "1,00 USD"][..], "`--budget`"),
        (&["--budget", "1"], "`--budget`"),
        (&["--budget", "1.00 USD", "--name", "Bad Name"], "`Bad Name`"),
    ] {
        let words: Vec<&str> = ["session", "new"].iter().chain(words).copied().collect();
        desk.typing(&words, PASSPHRASE).await.says(2, &[part]);
    }
    for (words, part) in [
        (&["--budget", "0.00 USD"][..], "above zero"),
        (&["--budget", "1.00 EUR"], "`EUR`"),
        (&["--budget", "1.00 USD", "--minutes", "0"], "minutes"),
        (&["--budget", "1.00 USD", "--minutes", "600000"], "minutes"),
    ] {
        let words: Vec<&str> = ["session", "new"].iter().chain(words).copied().collect();
        last_words(&desk.typing(&words, PASSPHRASE).await, 2, part);
    }
    assert_eq!(json(desk.run(&["session", "list", "--json"]).await), Value::Array(Vec::new()));
}

#[tokio::test]
async fn only_the_operators_passphrase_opens_anything() {
    let desk = Desk::with_vault().await;
    last_words(&desk.typing(&BUDGET, "a wrong passphrase").await, 3, "4 more wrong and the door closes");
    last_words(&desk.typing(&BUDGET, "").await, 2, "nothing was typed");
    desk.typing(&["unlock"], "a wrong passphrase").await.says(3, &["3 more wrong and"]);
    assert_eq!(json(desk.run(&["session", "list", "--json"]).await), Value::Array(Vec::new()));
    for left in ["2 more wrong and", "1 more wrong and", "not looked at for a while"] {
        desk.typing(&["unlock"], "a wrong passphrase").await.says(3, &[left]);
    }
    // The door is closed now, for the right passphrase too.
    desk.typing(&["unlock"], PASSPHRASE).await.says(3, &["wait", "seconds"]);
    last_words(&desk.typing(&BUDGET, PASSPHRASE).await, 3, "wait");
    assert_eq!(json(desk.run(&["status", "--json"]).await)["locked"], true);
}

#[tokio::test]
async fn status_is_a_page_for_people_and_a_line_for_programs() {
    let desk = Desk::with_vault().await;
    let status = json(desk.run(&["status", "--json"]).await);
    assert_eq!(status["locked"], true);
    assert_eq!(status["rules_changed"], false);
    assert_eq!((&status["frozen"], &status["latched"]), (&Value::Null, &Value::Null));
    assert_eq!(status["limits"][0]["max"], "1.00 USD");
    assert!(status["next_step"].as_str().unwrap().contains("bursar unlock"), "{status}");

    let payer = status["payer"].as_str().unwrap();
    assert_eq!(
        desk.typing(&["unlock"], PASSPHRASE).await.done(),
        format!("Unlocked. Payments are signed by {payer}.\n")
    );
    let status = json(desk.run(&["status", "--json"]).await);
    assert_eq!(status["locked"], false);
    assert!(status["next_step"].as_str().unwrap().contains("bursar session new"), "{status}");

    desk.typing(&BUDGET, PASSPHRASE).await.done();
    let status = json(desk.run(&["status", "--json"]).await);
    assert_eq!(status["next_step"], Value::Null, "all is ready");
    let page = desk.run(&["status"]).await.done();
    for part in [payer, "(unlocked)", "session", "default", "0.00 USD", "1.00 USD", "limit", "window"] {
        assert!(page.contains(part), "`{part}` is not in: {page}");
    }
    assert!(!page.contains("next "), "{page}");
    assert!(desk.run(&["lock"]).await.done().contains("bursar unlock"));
    assert!(desk.run(&["status"]).await.done().contains("(locked)"));
}

#[tokio::test]
async fn anybody_at_the_terminal_may_stop_and_only_the_operator_may_go_on() {
    let desk = Desk::with_vault().await;
    assert!(desk.run(&["freeze", "--reason", "odd bills"]).await.done().contains("bursar thaw"));
    assert_eq!(json(desk.run(&["status", "--json"]).await)["frozen"], "odd bills");
    assert!(desk.run(&["status"]).await.done().contains("FROZEN      odd bills"));
    desk.typing(&["thaw"], "a wrong passphrase").await.says(3, &["not the operator's passphrase"]);
    desk.typing(&["thaw"], "").await.says(2, &["nothing was typed"]);
    assert_eq!(json(desk.run(&["status", "--json"]).await)["frozen"], "odd bills");
    desk.typing(&["thaw"], PASSPHRASE).await.done();
    assert_eq!(json(desk.run(&["status", "--json"]).await)["frozen"], Value::Null);
}

#[tokio::test]
async fn the_log_has_every_act_once_in_order() {
    let desk = Desk::with_vault().await;
    desk.typing(&["unlock"], "a wrong passphrase").await.sentence(3);
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&BUDGET, PASSPHRASE).await.done();
    desk.run(&["freeze"]).await.done();
    desk.typing(&["thaw"], PASSPHRASE).await.done();
    desk.run(&["lock"]).await.done();
    desk.run(&["session", "close"]).await.done();

    let shown = desk.run(&["log", "--json"]).await.done();
    let entries: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seqs: Vec<u64> = entries.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    let last = *seqs.last().unwrap();
    assert_eq!(seqs, (1..=last).collect::<Vec<u64>>(), "without gaps, from the start");
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    let acts: Vec<&str> = kinds.into_iter().skip_while(|kind| *kind != "passphrase_wrong").collect();
    assert_eq!(
        acts,
        [
            "passphrase_wrong",
            "unlocked",
            "checkpoint",
            "session_opened",
            "frozen",
            "thawed",
            "checkpoint",
            "locked",
            "session_closed"
        ]
    );
    let opened = entries.iter().find(|entry| entry["kind"] == "session_opened").unwrap();
    assert_eq!(opened["session"], "default");
    assert!(!shown.contains(PASSPHRASE) && !shown.contains("a wrong passphrase"));

    let newest = desk.run(&["log", "--json", "--limit", "2"]).await.done();
    assert_eq!(
        newest.lines().collect::<Vec<_>>(),
        shown.lines().skip(entries.len().saturating_sub(2)).collect::<Vec<_>>()
    );
    assert_eq!(desk.run(&["log", "--json", "--after", &last.to_string()]).await.done(), "");
    let table = desk.run(&["log"]).await.done();
    assert!(table.contains("session_opened") && table.contains("when"), "{table}");
}
