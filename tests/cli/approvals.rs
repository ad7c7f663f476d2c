//! A purchase that waits for a person: listed, looked at term by term, approved or denied at the terminal.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, PASSPHRASE, write};
use crate::explain::{beside, fetched};
use crate::stall::{HOST, PAYEE, Stall};
use crate::terminal::{ASKED, Terminal};

const PRICE: &str = "Type the price (0.05 USD) to approve this one payment:";

/// A sandbox with an open budget, whose operator wants to look at everything above two cents.
pub(crate) async fn cautious(stall: &Stall) -> Desk {
    let desk = beside(stall).await;
    let text = fs::read_to_string(desk.rules()).unwrap();
    write(&desk.rules(), &text.replacen("[payment]\n", "[payment]\napprove_over = \"0.02 USD\"\n", 1));
    desk.typing(&["reload"], PASSPHRASE).await.done();
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    // Longer than an approval's hour, which ends with its session at the latest.
    desk.typing(&["session", "new", "--budget", "1.00 USD", "--minutes", "120"], PASSPHRASE).await.done();
    desk
}

async fn json(desk: &Desk, words: &[&str]) -> Value {
    serde_json::from_str(&desk.run(words).await.done()).unwrap()
}

/// Asks for a page; the id that it waits under.
pub(crate) async fn asked(desk: &Desk, url: &str) -> String {
    let told = fetched(desk, url).await;
    assert_eq!((&told["outcome"], &told["code"]), (&"needs_approval".into(), &"needs_approval".into()), "{told}");
    told["approval_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_waits_and_is_listed_until_it_is_approved_and_bought_once() {
    let stall = Stall::open().await;
    let desk = cautious(&stall).await;
    assert_eq!(desk.run(&["approvals"]).await.done(), "No purchase waits for you.\n");
    let url = format!("{}/page", stall.origin());
    let id = asked(&desk, &url).await;
    assert_eq!(asked(&desk, &url).await, id, "the same question");

    let listed = json(&desk, &["approvals", "--json"]).await;
    let [view] = &listed["approvals"].as_array().unwrap()[..] else { panic!("{listed}") };
    assert_eq!(
        (&view["id"], &view["state"], &view["money"]),
        (&id.as_str().into(), &"waiting".into(), &"0.05 USD".into())
    );
    assert_eq!((&view["site"], &view["terms"]["amount"]), (&url.as_str().into(), &"50000".into()));
    assert_eq!(view["concerns"][0], "the price `0.05 USD` is above `0.02 USD`, from where on a person looks");
    assert_eq!(
        view["expires_s"].as_u64().unwrap().checked_sub(view["asked_s"].as_u64().unwrap()),
        Some(3600),
        "an hour unless the rules say otherwise"
    );
    let page = desk.run(&["approvals"]).await.done();
    for part in [id.as_str(), "GET https://", "0.05 USD", "from where on a person looks", "min left"] {
        assert!(page.contains(part), "`{part}` is not in: {page}");
    }
    let status = desk.run(&["status"]).await.done();
    assert!(status.contains("approvals   1 purchase waits for you"), "{status}");
    assert!(status.contains("next        a purchase waits for approval: run `bursar --sandbox"), "{status}");

    let explained = desk.run(&["explain", &url]).await.done();
    assert!(explained.contains("A person looks first: the price `0.05 USD` is above `0.02 USD`"), "{explained}");

    let approved = desk.typing(&["approve", &id[..8]], PASSPHRASE).await.done();
    assert!(approved.starts_with("Approved, for one payment: 0.05 USD to "), "{approved}");
    assert!(approved.to_lowercase().contains(PAYEE), "{approved}");
    desk.typing(&["approve", &id], PASSPHRASE).await.says(3, &["a person said yes to", "already"]);
    assert_eq!(json(&desk, &["approvals", "--json"]).await["approvals"][0]["state"], "approved");
    assert_eq!(json(&desk, &["status", "--json"]).await["approvals_waiting"], 0);

    let paid = fetched(&desk, &url).await;
    assert_eq!((&paid["outcome"], &paid["repeat"]), (&"paid".into(), &false.into()), "{paid}");
    assert_eq!(fetched(&desk, &url).await["repeat"], true);
    assert_eq!(json(&desk, &["status", "--json"]).await["sessions"][0]["spent"], "0.05 USD");
    desk.typing(&["approve", &id], PASSPHRASE).await.says(3, &["no purchase waits under", "bursar approvals"]);
    desk.run(&["deny", &id]).await.says(3, &["a person said yes to it and it was bought"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_no_needs_no_passphrase_holds_and_is_not_turned_into_a_yes() {
    let stall = Stall::open().await;
    let desk = cautious(&stall).await;
    let url = format!("{}/page", stall.origin());
    let (id, other) = (asked(&desk, &url).await, asked(&desk, &format!("{url}?other")).await);
    desk.run(&["deny", "a_"]).await.says(2, &["`a_` begins more than one id"]);
    desk.run(&["deny", "a_nobody"]).await.says(3, &["no purchase waits under `a_nobody`"]);
    desk.run(&["deny", &format!("a_{}", "0".repeat(32))]).await.says(3, &["was ever put before a person"]);
    assert!(desk.run(&["deny", &id]).await.done().starts_with("Denied: 0.05 USD to "));
    assert_eq!(fetched(&desk, &url).await["code"], "approval_denied");
    desk.run(&["deny", &id]).await.says(3, &["a person said no to it already"]);
    desk.typing(&["approve", &id], PASSPHRASE).await.says(3, &["a person said no to"]);
    desk.typing(&["approve", &other], PASSPHRASE).await.done();
    assert!(desk.run(&["deny", &other]).await.done().starts_with("Denied: "), "a yes that is not used is taken back");
    assert_eq!(fetched(&desk, &format!("{url}?other")).await["code"], "approval_denied");
    let page = desk.run(&["approvals"]).await.done();
    assert_eq!(page.matches("denied, ").count(), 2, "{page}");
    assert_eq!(json(&desk, &["status", "--json"]).await["sessions"][0]["spent"], "0.00 USD");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approving_shows_every_term_and_wants_the_price_typed_and_the_passphrase() {
    let stall = Stall::open().await;
    let desk = cautious(&stall).await;
    let url = format!("{}/page", stall.origin());
    let id = asked(&desk, &url).await;
    let approve = format!("approve {}", &id[..12]);

    let mut terminal = Terminal::run(&desk, &approve);
    terminal.sees(&format!("GET {url} (host, as reported by serve)")).await;
    terminal.sees("0.05 USD, which is 0.05 USDC (50000 atomic units)").await;
    terminal.sees("eip155:84532").await;
    terminal.sees("takes the payment for 1m").await;
    terminal.sees("is above `0.02 USD`, from where on a person looks").await;
    terminal.sees(PRICE).await;
    terminal.types("0.04 USD").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("bursar: something else was typed, so nothing was done") && shown.contains(HOST), "{shown}");

    let mut terminal = Terminal::run(&desk, &approve);
    terminal.sees(PRICE).await;
    terminal.types("0.05 USD").await;
    terminal.sees(ASKED).await;
    terminal.types("a wrong passphrase").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("4 more wrong and the door closes") && !shown.contains("a wrong passphrase"), "{shown}");
    assert_eq!(json(&desk, &["approvals", "--json"]).await["approvals"][0]["state"], "waiting");

    let mut terminal = Terminal::run(&desk, &approve);
    terminal.sees(PRICE).await;
    terminal.types("0.05 USD").await;
    terminal.sees(ASKED).await;
    terminal.types(PASSPHRASE).await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Approved, for one payment: 0.05 USD to ") && !shown.contains(PASSPHRASE), "{shown}");
    assert_eq!(fetched(&desk, &url).await["outcome"], "paid");
}
