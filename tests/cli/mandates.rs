//! Budgets for a purpose: typed whole or not at all, shown line by line, and held against everything.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, PASSPHRASE, Said, write};
use crate::stall::{PAYEE, STRANGER, terms_of};

const ORIGIN: &str = "https://api.example.com";
/// What stands before a budget for a purpose.
const NEW: [&str; 4] = ["session", "new", "--budget", "20.00 USD"];
const PURPOSE: [&str; 8] =
    ["--purpose", "weather for the trip", "--origin", ORIGIN, "--payee", PAYEE, "--max-per-payment", "6.00 USD"];

/// A sandbox whose rules allow one seller and one payee, 10 dollars a payment and 24 a day; `also` stands in `[payment]`.
async fn desk(also: &str) -> Desk {
    let mut desk = Desk::set_up(&["--allow", ORIGIN, "--recipient", PAYEE]).await;
    let text = fs::read_to_string(desk.rules()).unwrap();
    let line = |line: &str| match line.split(' ').next() {
        Some("max_per_payment") => format!("max_per_payment = \"10.00 USD\"\n{also}\n"),
        Some("max") => "max = \"24.00 USD\"\n".to_owned(),
        _ => format!("{line}\n"),
    };
    write(&desk.rules(), &text.lines().map(line).collect::<String>());
    desk.start_vault().await;
    desk
}

async fn opened(desk: &Desk, words: &[&str]) -> Said {
    let words: Vec<&str> = NEW.iter().chain(words).copied().collect();
    desk.typing(&words, PASSPHRASE).await
}

fn json_of(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|fault| panic!("{fault}: {said:?}"))
}

/// The last line of what a command said that showed something before it stopped.
fn last_words(said: &Said, code: i32, part: &str) {
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{said:?}");
    let last = said.err.lines().last().unwrap();
    assert!(last.starts_with("bursar: ") && last.contains(part), "`{part}` is not in: {last}");
}

#[tokio::test]
async fn part_of_a_mandate_is_none_and_nothing_is_asked_of_the_vault() {
    // No vault runs, and none is started: what is missing is told before one is needed.
    let desk = Desk::set_up(&["--allow", ORIGIN, "--recipient", PAYEE]).await;
    let before = desk.files();
    for (words, missing) in [
        (&PURPOSE[..2], "add `--origin`, `--payee` (or `--any-payee`), `--max-per-payment`"),
        (&PURPOSE[..6], "add `--max-per-payment`"),
        (&PURPOSE[2..], "add `--purpose`"),
        (&["--any-payee"], "add `--purpose`, `--origin`, `--max-per-payment`"),
    ] {
        opened(&desk, words).await.says(2, &["needs all of it", missing]);
    }
    let spoilt = |at: usize, with: &'static str| {
        let mut words = PURPOSE;
        words[at] = with;
        words
    };
    opened(&desk, &spoilt(1, " ")).await.says(2, &["a purpose has 1 to 200 characters"]);
    opened(&desk, &spoilt(3, "api.example.com")).await.says(2, &["`--origin api.example.com`"]);
    opened(&desk, &spoilt(3, "https://api.example.com/v1")).await.says(2, &["without a path"]);
    opened(&desk, &spoilt(5, "0x5e")).await.says(2, &["`--payee 0x5e`"]);
    opened(&desk, &spoilt(7, "six dollars")).await.says(2, &["`--max-per-payment six dollars`"]);
    let twice: Vec<&str> = PURPOSE.iter().chain(&["--payee", PAYEE]).copied().collect();
    opened(&desk, &twice).await.says(2, &["named twice"]);
    let both: Vec<&str> = PURPOSE.iter().chain(&["--any-payee"]).copied().collect();
    let said = opened(&desk, &both).await;
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:?}");
    assert_eq!(desk.files(), before, "a vault was started");
}

#[tokio::test]
async fn a_person_sees_each_line_before_agreeing_and_finds_it_again() {
    let desk = desk("").await;
    let said = opened(&desk, &PURPOSE).await;
    let shown = [
        "inside the rules, and only for this.",
        "    for           weather for the trip",
        "    may be asked  https://api.example.com",
        "    may be paid   0x5e5E5e5E5e5e5E5E5e5E5E5e5e5E5E5e5e5E5e5E",
        "    a payment     costs at most 6.00 USD",
    ];
    for line in shown {
        assert!(said.err.to_lowercase().contains(&line.to_lowercase()), "`{line}` is not in: {}", said.err);
    }
    assert!(said.clone().done().starts_with("Opened: 20.00 USD until"), "{said:?}");
    let others = ["--purpose", "maps", "--origin", ORIGIN, "--any-payee", "--max-per-payment", "1.00 USD"];
    let others: Vec<&str> = others.iter().chain(&["--name", "maps"]).copied().collect();
    opened(&desk, &others).await.done();
    for page in [desk.run(&["session", "list"]).await.done(), desk.run(&["status"]).await.done()] {
        for part in ["`default` is\n    for           weather for the trip", "anybody whom the rules allow"] {
            assert!(page.contains(part), "`{part}` is not in: {page}");
        }
    }
    let listed = json_of(&desk.run(&["session", "list", "--json"]).await);
    let told = &listed[1]["mandate"];
    assert_eq!((&told["purpose"], &told["origins"]), (&json!("weather for the trip"), &json!([ORIGIN])));
    assert_eq!((&listed[0]["mandate"]["payees"], &told["max_per_payment"]), (&json!("any"), &json!("6.00 USD")));
    let status = json_of(&desk.run(&["status", "--json"]).await);
    assert_eq!(status["sessions"], listed);
    let log = desk.run(&["log", "--json"]).await.done();
    assert!(log.contains("for `weather for the trip`: at most 6.00 USD a payment"), "{log}");
    desk.run(&["session", "close", "maps"]).await.done();
    assert!(!desk.run(&["session", "list"]).await.done().contains("anybody whom"), "a closed one is over");
}

#[tokio::test]
async fn the_vault_opens_no_contradiction_and_nothing_without_a_mandate_where_the_rules_want_one() {
    let desk = desk("mandate = \"required\"").await;
    last_words(&opened(&desk, &[]).await, 3, "give `--purpose`, `--origin`, `--payee` or `--any-payee`");
    for (at, with, sentence) in [
        (3, "https://other.example.com", "the rules let nothing be asked at `https://other.example.com`"),
        (5, STRANGER, "be paid at none of the origins; leave it out, or list it in the rules"),
        (7, "10.01 USD", "the rules let no payment there cost more than `10.00 USD`"),
        (7, "20.01 USD", "is over the whole budget, `20.00 USD`"),
    ] {
        let mut words = PURPOSE;
        words[at] = with;
        last_words(&opened(&desk, &words).await, 3, sentence);
    }
    assert_eq!(json_of(&desk.run(&["session", "list", "--json"]).await), json!([]));
    opened(&desk, &PURPOSE).await.done();
    let checked = desk.run(&["check"]).await;
    assert!(checked.out.contains("without one it pays nothing"), "{checked:?}");
}

/// Every reason that `explain` shows against the one offer of `told`: the document's, the offer's, the budget's.
fn reasons(told: &Value) -> Vec<String> {
    let offer = &told["offers"][0];
    let rows = [&told["document"], &offer["findings"], &offer["budget"]];
    let failed = rows.iter().flat_map(|rows| rows.as_array().unwrap()).filter(|row| row["pass"] == false);
    failed.map(|row| format!("{}: {}", row["code"].as_str().unwrap(), row["note"].as_str().unwrap())).collect()
}

/// The two purchases that must never pass, from a recorded answer: the gate hides nothing of what the budget says.
#[tokio::test]
async fn a_person_sees_all_that_stands_against_97_dollars_and_against_5_at_a_stranger() {
    let desk = desk("").await;
    opened(&desk, &PURPOSE).await.done();
    let url = "https://stranger.example.com/thing";
    let file = desk.home.with_file_name("402.http");
    let payee =
        "payee_not_allowed: the payee `0xbABabAbABabAbabAbABAbABabababAbAbABaba00` on `eip155:84532` is not one";
    let explain = ["explain", file.to_str().unwrap(), "--url", url, "--json", "--session", "default"];
    for (units, expected) in [
        (
            "97000000",
            &[
                "host_not_allowed: no host rule covers `https://stranger.example.com`",
                payee,
                "over_payment_cap: the price `97.00 USD` is over the ceiling for one payment, `10.00 USD`",
                "outside_mandate: the session's mandate does not cover the site",
                "outside_mandate: the session's mandate does not cover the payee",
                "outside_mandate: the session's mandate does not cover the price",
                "over_session_budget: the price `97.00 USD` is over what the session has left, `20.00 USD`",
                "over_limit: the limit `all` over `1d` would be exceeded: `97.00 USD` is more than what is left, `24.00 USD`",
            ][..],
        ),
        (
            "5000000",
            &[
                "host_not_allowed: no host rule covers `https://stranger.example.com`",
                payee,
                "outside_mandate: the session's mandate does not cover the site",
                "outside_mandate: the session's mandate does not cover the payee",
            ],
        ),
    ] {
        fs::write(&file, terms_of(url, STRANGER, units)).unwrap();
        let said = desk.run(&explain).await;
        assert_eq!((said.code, said.err.as_str()), (Some(3), ""), "{said:?}");
        let found = reasons(&json_of(&said));
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.to_lowercase().starts_with(&expected.to_lowercase()), "{found}\nis not\n{expected}");
        }
    }
    // The one purchase that the session is for, and the same out of no session.
    let here = format!("{ORIGIN}/page");
    fs::write(&file, terms_of(&here, PAYEE, "6000000")).unwrap();
    let mut words = explain;
    words[3] = &here;
    let told = json_of(&desk.run(&words).await);
    assert_eq!((&told["verdict"], reasons(&told)), (&json!("payable"), Vec::new()));
    words[6] = "nobody";
    let said = desk.run(&words).await;
    assert_eq!(
        (said.code, reasons(&json_of(&said))),
        (Some(3), vec!["no_session: no budget session of that name is open".to_owned()])
    );
    assert!(!desk.run(&["explain", words[1], "--url", &here]).await.done().contains("budget and the limits allow"));
    let log = desk.run(&["log", "--json"]).await.done();
    assert!(!log.contains("\"exposed\"") && !log.contains("\"refused\""), "an explanation did something: {log}");
}
