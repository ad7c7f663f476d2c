//! One vault, several `serve`: one budget, one signature a purchase, and nobody has to start the vault first.

use bursar_policy::{Mandate, Payees};
use bursar_vault::client::OperatorClient;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::join;

use crate::books::{Books, money};
use crate::seller::{Hold, PRICE_UNITS};
use crate::stand::{Stand, write};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clients_spend_one_budget_to_the_cent() {
    let mut stand = Stand::with_budget("1.00 USD").await;
    let mut clients = [stand.serve(), stand.serve()];
    let mut calls = Vec::new();
    for number in 0..25 {
        let url = stand.seller.url(&format!("/page/{number}"));
        let which = number % 2;
        calls.push((which, clients[which].fetch(&url, Some(&format!("both-{number}"))).await));
    }
    let (mut paid, mut refused) = (0, 0);
    for (which, call) in calls {
        let told = clients[which].told(call).await.unwrap();
        match (told["outcome"].as_str().unwrap(), told["code"].as_str().unwrap()) {
            ("paid", _) => paid += 1,
            ("refused", "over_session_budget") => refused += 1,
            _ => panic!("neither paid nor over the budget: {told}"),
        }
    }
    assert_eq!((paid, refused), (20, 5));
    assert_eq!(stand.seller.nonces().len(), 20);
    assert_eq!(clients[1].status().await["session"]["left"], "0.00 USD");
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    assert_eq!((books.rows.len(), books.session().spent), (20, money(20 * PRICE_UNITS)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_purchase_from_two_clients_is_signed_once() {
    let mut stand = Stand::with_budget("1.00 USD").await;
    let mut clients = [stand.serve(), stand.serve()];
    let url = stand.seller.url("/page");
    stand.seller.hold(Hold::Goods);
    let mut calls = Vec::new();
    for number in 0..10 {
        calls.push((number % 2, clients[number % 2].fetch(&url, None).await));
    }
    stand.seller.was_paid(1).await;
    stand.seller.hold(Hold::Nothing);
    let mut repeats = 0;
    for (which, call) in calls {
        let told = clients[which].told(call).await.unwrap();
        assert_eq!(told["outcome"], "paid", "{told}");
        repeats += usize::from(told["repeat"].as_bool().unwrap());
    }
    assert_eq!((repeats, stand.seller.payments()), (9, 1));
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    assert_eq!(books.rows.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sessions_at_once_each_spend_their_own_budget_and_no_other() {
    let mut stand = Stand::without_vault().await;
    stand.start_vault().await;
    let origins = vec![stand.seller.url("").parse().unwrap()];
    let mandate = Mandate::new("pages".to_owned(), origins, Payees::Any, "0.05 USD".parse().unwrap()).unwrap();
    stand.open_session_for("a", "0.20 USD", None);
    stand.open_session_for("b", "0.30 USD", Some(mandate));
    let mut clients = [stand.serve_from("a"), stand.serve_from("b")];
    let mut calls = Vec::new();
    for number in 0..16 {
        let which = number % 2;
        let url = stand.seller.url(&format!("/page/{number}"));
        // The same ids: what one session calls its purchases means nothing to the other.
        calls.push((which, clients[which].fetch(&url, Some(&format!("p-{}", number / 2))).await));
    }
    let mut paid = [0, 0];
    for (which, call) in calls {
        let told = clients[which].told(call).await.unwrap();
        match (told["outcome"].as_str().unwrap(), told["code"].as_str().unwrap(), &told["repeat"]) {
            ("paid", _, repeat) if repeat == false => paid[which] += 1,
            ("refused", "over_session_budget", _) => {}
            _ => panic!("neither paid anew nor over the budget: {told}"),
        }
    }
    assert_eq!(paid, [4, 6]);
    // No word of the model's reaches another session, whatever it is called.
    for argument in ["session", "session_name", "name", "budget", "mandate"] {
        let mut arguments = json!({ "url": stand.seller.url("/page/99") });
        arguments[argument] = json!("b");
        let call = clients[0].call("x402_fetch", &arguments).await;
        let told = clients[0].told(call).await.unwrap();
        assert_eq!((&told["outcome"], &told["code"]), (&"refused".into(), &"bad_arguments".into()), "{told}");
    }
    let [a, b] = &mut clients;
    let (a, b) = (a.status().await, b.status().await);
    assert_eq!((&a["session"]["name"], &a["session"]["left"]), (&"a".into(), &"0.00 USD".into()), "{a}");
    assert_eq!((&b["session"]["name"], &b["session"]["mandate"]["purpose"]), (&"b".into(), &"pages".into()), "{b}");
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    assert_eq!(books.rows.len(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_starts_the_vault_that_is_not_there() {
    let stand = Stand::without_vault().await;
    let mut clients = [stand.serve(), stand.serve()];
    let [first, second] = &mut clients;
    let (one, other) = join!(first.status(), second.status());
    assert_eq!((&one["code"], &other["code"]), (&"no_session".into(), &"no_session".into()), "{one} {other}");
    let vault = pid(&stand);
    stand.open_session("1.00 USD");
    let url = stand.seller.url("/page");
    let bought = clients[0].buy(&url, None).await;
    assert_eq!((&bought["outcome"], &bought["repeat"]), (&"paid".into(), &false.into()), "{bought}");
    // Both found the same vault, although both started one.
    let again = clients[1].buy(&url, None).await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&"paid".into(), &true.into()), "{again}");
    assert_eq!(pid(&stand), vault);

    kill_process(vault, Signal::KILL).unwrap();
    stand.no_vault_is_left().await;
    let again = clients[1].buy(&url, None).await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&"paid".into(), &true.into()), "{again}");
    assert_ne!(pid(&stand), vault, "another vault was started");
    assert_eq!(stand.seller.nonces().len(), 1);
    Books::of_the_vault(&stand.profile).hold_against(&stand.seller);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vault_that_cannot_start_is_told_by_a_code_and_without_a_path() {
    let stand = Stand::without_vault().await;
    write(&stand.profile.rules(), "[payment]\nmax_per_paymant = \"500 USD\"\n");
    let mut client = stand.serve();
    let told = client.buy(&stand.seller.url("/page"), None).await;
    assert_eq!((&told["outcome"], &told["code"]), (&"failed".into(), &"vault_unavailable".into()), "{told}");
    let told = told.to_string();
    let home = stand.profile.home().to_str().unwrap();
    for kept in [home, "bursar.toml", "agent.sock", "max_per_paymant", "500 USD"] {
        assert!(!told.contains(kept), "the model hears of `{kept}`: {told}");
    }
    assert_eq!((stand.seller.payments(), stand.seller.nonces().len()), (0, 0));
    assert!(stand.words().contains("max_per_payment"), "the operator is told: {}", stand.words());
}

/// The process id of the vault that answers.
pub(crate) fn pid(stand: &Stand) -> Pid {
    let (_, welcome) = OperatorClient::connect(&stand.profile).unwrap();
    Pid::from_raw(i32::try_from(welcome.pid).unwrap()).unwrap()
}
