//! `init` as a conversation: from nothing to a guarded agent with Enter and a passphrase, left at any point, gone on with
//! later; and `init --from` for machines where nobody talks.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::desk::{Desk, PASSPHRASE, write};
use crate::terminal::{AGAIN, ASKED, NEW, Terminal};

/// A home folder with one client.
fn home(desk: &Desk) -> PathBuf {
    let home = desk.home.with_file_name("home");
    fs::create_dir_all(home.join(".cursor")).unwrap();
    home
}

fn begun(desk: &Desk) -> Terminal {
    Terminal::run(desk, &format!("init --home '{}'", home(desk).display()))
}

/// The questions before anything is made, and an answer to each.
const QUESTIONS: [(&str, &str); 6] = [
    ("Per payment [0.05 USD]:", "0.10 USD"),
    ("Per day [1.00 USD]:", ""),
    ("Sellers, with spaces between [none]:", "https://api.example.com https://b.example"),
    ("Payees [none]:", "any"),
    ("Unlock by a file? [y/N]", ""),
    ("Write these rules and make the key? [Y/n]", ""),
];

async fn answered(terminal: &mut Terminal, count: usize) {
    for (question, answer) in QUESTIONS.into_iter().take(count) {
        terminal.sees(question).await;
        terminal.types(answer).await;
    }
}

async fn passphrase_chosen(terminal: &mut Terminal) {
    terminal.sees(NEW).await;
    terminal.types(PASSPHRASE).await;
    terminal.sees(AGAIN).await;
    terminal.types(PASSPHRASE).await;
}

async fn json(desk: &Desk, words: &[&str]) -> Value {
    serde_json::from_str(&desk.run(words).await.done()).unwrap()
}

#[tokio::test]
async fn from_nothing_to_a_guarded_agent_in_one_conversation() {
    let desk = Desk::empty();
    let mut terminal = begun(&desk);
    answered(&mut terminal, 6).await;
    passphrase_chosen(&mut terminal).await;
    for part in ["account  0x", "network  eip155:84532", "asset    USDC 0x", "fund it", "█▀"] {
        terminal.sees(part).await;
    }
    terminal.sees("Type the amount").await;
    terminal.types("one dollar").await;
    terminal.sees("Type the amount").await;
    terminal.types("1.00 USD").await;
    terminal.sees("For how many minutes [60]:").await;
    terminal.types("").await;
    terminal.sees("Opened: 1.00 USD until ").await;
    terminal.sees("Look at what would be added to their files? [Y/n]").await;
    terminal.types("").await;
    terminal.sees("\"bursar\": {").await;
    terminal.sees("Write this change? [y/N]").await;
    terminal.types("y").await;
    terminal.sees("Cursor: written").await;
    terminal.sees("Watch it? [Y/n]").await;
    terminal.types("").await;
    terminal.sees("it is paid: the seller saw 1 signature, and 0.05 left the wallet").await;
    terminal.sees("the seller saw 0 signatures, and 0.00 left the wallet").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains(PASSPHRASE), "{shown}");

    let rules = fs::read_to_string(desk.rules()).unwrap();
    for part in ["\"0.10 USD\"", "\"https://b.example\"", "allow_any_recipient = true"] {
        assert!(rules.contains(part), "`{part}` is not in {rules}");
    }
    let session = json(&desk, &["session", "list", "--json"]).await;
    assert_eq!((&session[0]["name"], &session[0]["budget"]), (&"default".into(), &"1.00 USD".into()));
    assert!(fs::read_to_string(home(&desk).join(".cursor/mcp.json")).unwrap().contains("serve"));
    desk.is_private();

    // Once more: nothing is left to do but to look.
    let mut terminal = begun(&desk);
    terminal.sees("is set up already; nothing of it is replaced").await;
    terminal.sees("budget   `default`").await;
    terminal.sees("clients  registered with Cursor").await;
    terminal.sees("Watch it? [y/N]").await;
    terminal.types("").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(fs::read_to_string(desk.rules()).unwrap(), rules);
}

#[tokio::test]
async fn ctrl_c_at_any_question_leaves_nothing_behind() {
    for count in 0..=QUESTIONS.len() {
        let desk = Desk::empty();
        let mut terminal = begun(&desk);
        answered(&mut terminal, count).await;
        terminal.sees(QUESTIONS.get(count).map_or(NEW, |(question, _)| question)).await;
        terminal.presses(b"\x03").await;
        let (code, shown) = terminal.ended().await;
        assert_ne!(code, Some(0), "{shown}");
        assert!(!desk.home.exists(), "something was made after {count} answers: {shown}");
    }
    let desk = Desk::empty();
    let mut terminal = begun(&desk);
    answered(&mut terminal, 5).await;
    terminal.sees(QUESTIONS[5].0).await;
    terminal.types("n").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(2), "{shown}");
    assert!(!desk.home.exists(), "a no makes nothing: {shown}");
}

#[tokio::test]
async fn ctrl_c_while_it_is_made_leaves_all_of_it_or_nothing() {
    let desk = Desk::empty();
    let mut terminal = begun(&desk);
    answered(&mut terminal, 6).await;
    passphrase_chosen(&mut terminal).await;
    terminal.presses(b"\x03").await;
    if terminal.sees_or_ends("Type the amount").await {
        terminal.presses(b"\x03").await;
    }
    terminal.ended().await;
    assert_eq!(desk.home.join("keystore.json").exists(), desk.home.exists());
    if desk.home.exists() {
        desk.typing(&["unlock"], PASSPHRASE).await.done();
    }
}

#[tokio::test]
async fn it_goes_on_where_it_was_left() {
    let desk = Desk::empty();
    let mut terminal = begun(&desk);
    answered(&mut terminal, 6).await;
    passphrase_chosen(&mut terminal).await;
    terminal.sees("Type the amount").await;
    terminal.presses(b"\x03").await;
    terminal.ended().await;
    let account = json(&desk, &["status", "--json"]).await["payer"].clone();

    let mut terminal = begun(&desk);
    terminal.sees("is set up already").await;
    terminal.sees(account.as_str().unwrap()).await;
    terminal.sees("Type the amount").await;
    terminal.types("0.50 USD").await;
    terminal.sees("For how many minutes").await;
    terminal.types("5").await;
    terminal.sees(ASKED).await;
    terminal.types(PASSPHRASE).await;
    terminal.sees("Opened: 0.50 USD").await;
    terminal.sees("Look at what would be added").await;
    terminal.types("n").await;
    terminal.sees("Watch it? [y/N]").await;
    terminal.types("").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(json(&desk, &["session", "list", "--json"]).await[0]["budget"], "0.50 USD");
    assert!(!home(&desk).join(".cursor/mcp.json").exists());
}

#[tokio::test]
async fn a_passphrase_that_was_mistyped_is_asked_for_again() {
    let desk = Desk::empty();
    let mut terminal = begun(&desk);
    answered(&mut terminal, 6).await;
    for (first, second, told) in
        [("short", None, "shorter than 8"), (PASSPHRASE, Some("another one"), "the two passphrases differ")]
    {
        terminal.sees(NEW).await;
        terminal.types(first).await;
        if let Some(second) = second {
            terminal.sees(AGAIN).await;
            terminal.types(second).await;
        }
        terminal.sees(told).await;
    }
    passphrase_chosen(&mut terminal).await;
    terminal.sees("account  0x").await;
    terminal.sees("Type the amount").await;
    terminal.presses(b"\x03").await;
    terminal.ended().await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
}

#[tokio::test]
async fn a_fleet_gets_rules_and_nothing_else() {
    let source = Desk::set_up(&["--allow", "https://api.example.com"]).await;
    let desk = Desk::empty();
    let file = source.rules();
    let from = ["init", "--from", file.to_str().unwrap()];
    let told = desk.run(&from).await.done();
    assert!(told.contains("init` goes on from there"), "{told}");
    let names: Vec<_> = desk.files().into_keys().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["bursar.schema.json", "bursar.toml"], "no key, no ledger, no budget");
    assert_eq!(fs::read(desk.rules()).unwrap(), fs::read(&file).unwrap());
    desk.is_private();
    desk.run(&from).await.done();

    let other = source.home.with_file_name("other.toml");
    write(&other, &format!("{}\n# other\n", fs::read_to_string(&file).unwrap()));
    desk.run(&["init", "--from", other.to_str().unwrap()]).await.says(3, &["other rules", "`bursar reload`"]);
    write(&other, "[payment]\n");
    Desk::empty().run(&["init", "--from", other.to_str().unwrap()]).await.says(4, &["other.toml"]);
    desk.run(&["init", "--from", "x", "--daily", "1 USD"]).await.code.filter(|code| *code == 2).unwrap();

    // The key is made later, for these rules and no others.
    desk.typing(&["init", "--daily", "9.00 USD"], PASSPHRASE).await.says(2, &["other rules"]);
    let before = fs::read(desk.rules()).unwrap();
    desk.typing(&["init"], PASSPHRASE).await.done();
    assert_eq!(fs::read(desk.rules()).unwrap(), before);
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.run(&from).await.done();
}
