//! Money moved out and another key, as a person at a terminal does it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::desk::{Desk, PASSPHRASE};
use crate::terminal::{ASKED, Terminal};

const TO: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";

async fn status(desk: &Desk) -> Value {
    serde_json::from_str(&desk.run(&["status", "--json"]).await.done()).unwrap()
}

fn paper(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[tokio::test]
async fn a_sweep_is_typed_back_written_out_frozen_and_the_same_again() {
    let desk = Desk::with_vault().await;
    let file = desk.home.with_file_name("out.json");
    let mut person =
        Terminal::run(&desk, &format!("sweep --to {} --amount '1.25 USD' --out {}", TO.to_lowercase(), file.display()));
    for shown in ["out of", TO, "1.25 USD (1250000 USDC)", "60 minutes"] {
        person.sees(shown).await;
    }
    // Without its checksum the address is typed twice.
    person.sees("Type the address again:").await;
    person.types(TO).await;
    person.sees("Type the amount (1.25 USD) to move it there, and to freeze spending:").await;
    person.types("1.25 USD").await;
    person.sees(ASKED).await;
    person.types(PASSPHRASE).await;
    let (code, shown) = person.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    let first = paper(&file);
    assert_eq!((&first["to"], &first["value"]), (&TO.into(), &"1250000".into()));
    let data = first["transaction"]["data"].as_str().unwrap();
    assert!(data.starts_with("0xe3ee160e") && data.len() == 2 + 8 + 9 * 64, "{data}");
    let told = status(&desk).await;
    assert_eq!((&told["sweeps"][0]["id"], told["frozen"].is_string()), (&first["id"], true));

    let said = desk.typing(&["sweep", "--to", TO, "--amount", "1 USD"], PASSPHRASE).await;
    said.says(3, &["is live already", "bursar sweep --again"]);
    desk.typing(&["thaw"], PASSPHRASE).await.says(3, &["may take the money until"]);
    let copy = desk.home.with_file_name("copy.json");
    desk.typing(&["sweep", "--again", "--out", copy.to_str().unwrap()], PASSPHRASE).await.done();
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&file).unwrap(), "the same bytes");
    let page = desk.run(&["receipts"]).await.done();
    assert!(page.contains("ordered") && page.contains("1.25 USD"), "{page}");
    let page = desk.run(&["receipts", first["id"].as_str().unwrap()]).await.done();
    assert!(page.contains("whoever has its file may still submit it"), "{page}");
    assert!(desk.run(&["log"]).await.done().contains("sweep_ordered"));
    desk.run(&["audit", "verify"]).await.done();
}

#[tokio::test]
async fn what_is_typed_otherwise_moves_nothing() {
    let desk = Desk::with_vault().await;
    let sweep = |words: &'static [&'static str]| {
        let words: Vec<&str> = ["sweep"].iter().chain(words).copied().collect();
        let desk = &desk;
        async move { desk.typing(&words, PASSPHRASE).await }
    };
    sweep(&["--to", TO]).await.says(2, &["nobody says what the account holds", "give `--amount`"]);
    let bent = &["--to", "0x209693bC6afc0C5328bA36FaF03C514EF312287C", "--amount", "1 USD"];
    sweep(bent).await.says(2, &["checksum"]);
    sweep(&["--to", TO, "--amount", "0.0000001 USD"]).await.says(2, &["cannot be paid in USDC exactly"]);
    sweep(&["--to", TO, "--amount", "1 USD", "--asset", "EURC"]).await.says(2, &["name one token of the rules"]);
    sweep(&["--to", TO, "--amount", "1 USD", "--from", TO]).await.says(3, &["never counted for the account"]);
    sweep(&["--again"]).await.says(3, &["no sweep out of"]);
    sweep(&["--to", TO, "--amount", "1 USD", "--facilitator", "ftp://x"]).await.says(2, &["--facilitator"]);
    let mut person = Terminal::run(&desk, &format!("sweep --to {TO} --amount '1 USD'"));
    person.sees("Type the amount").await;
    person.types("2 USD").await;
    assert_eq!(person.ended().await.0, Some(3));
    let said = desk.typing(&["sweep", "--to", TO, "--amount", "1 USD"], "a wrong passphrase").await;
    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!(status(&desk).await["sweeps"], Value::Array(Vec::new()));
    assert!(status(&desk).await["frozen"].is_null());
}

#[tokio::test]
async fn another_key_is_made_shown_and_told_everywhere_and_the_log_holds() {
    let mut desk = Desk::with_vault().await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    let before = status(&desk).await["payer"].as_str().unwrap().to_owned();
    let key = desk.run(&["audit", "key"]).await.done().trim().to_owned();
    let mut person = Terminal::run(&desk, "rotate");
    person.sees(&before).await;
    person.sees("Type `rotate` to make it:").await;
    person.types("rotate").await;
    person.sees(ASKED).await;
    person.types(PASSPHRASE).await;
    person.sees("account").await;
    person.sees("before").await;
    let (code, shown) = person.ended().await;
    assert!(code == Some(0) && shown.contains("sweep --from"), "{shown}");
    let told = status(&desk).await;
    let after = told["payer"].as_str().unwrap().to_owned();
    assert!(after != before && shown.contains(&after) && told["former"][0] == before.as_str(), "{told}");
    desk.run(&["audit", "verify"]).await.done();
    desk.run(&["audit", "verify", "--key", key.split_whitespace().next_back().unwrap()]).await.done();
    desk.run(&["ledger", "verify"]).await.done();
    desk.is_private();
    desk.stop_vault().await;
    desk.start_vault().await;
    assert_eq!(status(&desk).await["payer"], after.as_str());
    let page = desk.run(&["doctor"]).await;
    assert!(page.out.contains("ledger"), "{page:?}");

    // What is left on the old account is moved by its key, and nothing waits for that.
    let left = desk.home.with_file_name("left.json");
    let words = ["sweep", "--from", &before, "--to", &after, "--amount", "2 USD", "--out", left.to_str().unwrap()];
    let shown = desk.typing(&words, PASSPHRASE).await.done();
    assert!(shown.contains(&after) && !shown.contains("frozen") && !shown.contains("thaw"), "{shown}");
    assert_eq!(paper(&left)["from"].as_str().map(str::to_lowercase), Some(before.to_lowercase()));
    assert!(status(&desk).await["frozen"].is_null());
}
