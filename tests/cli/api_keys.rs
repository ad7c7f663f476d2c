//! Sellers' API keys: kept and forgotten by a person, sent to their seller, and seen by nobody else.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, PASSPHRASE, write};
use crate::explain::{beside, call};
use crate::stall::Stall;

const KEY: &str = "sk-live_0123456789/abc+def";

/// A desk whose rules give the stall a key, under an open budget.
async fn wanting_a_key(stall: &Stall) -> Desk {
    let desk = beside(stall).await;
    let origin = format!("origin = \"{}\"", stall.origin());
    let text = fs::read_to_string(desk.rules()).unwrap();
    let keyed = format!("{origin}\nsecret_headers = [\"authorization: Bearer {{shop-key}}\"]\ncontent = \"text\"");
    assert!(text.contains(&origin) && !text.contains("\ncontent = "), "{text}");
    write(&desk.rules(), &text.replace(&origin, &keyed));
    desk.typing(&["reload"], PASSPHRASE).await.done();
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    desk
}

/// What a model is told that fetches `url`; whatever `serve` says, on either output, holds no key.
async fn fetched(desk: &Desk, url: &str) -> Value {
    let said = desk.typing(&["serve"], &call(&json!({"url": url})).to_string()).await;
    assert!(!said.out.contains(KEY) && !said.err.contains(KEY), "{said:?}");
    let answer: Value = serde_json::from_str(&said.done()).unwrap();
    answer["result"]["structuredContent"].clone()
}

fn typed(secret: &str) -> String {
    format!("{PASSPHRASE}\n{secret}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_kept_sent_echoed_as_stars_and_forgotten() {
    let stall = Stall::open().await;
    let desk = wanting_a_key(&stall).await;
    let url = format!("{}/free/echo", stall.origin());

    // Before it is kept, everything says what is missing.
    let missing = "names the secret `shop-key`, which is not kept";
    let plainly = |shown: String| shown.replace(&format!("--sandbox {} ", desk.home.display()), "");
    for command in [["secret", "list"].as_slice(), &["status"]] {
        let shown = plainly(desk.run(command).await.done());
        assert!(shown.contains("`shop-key`") && shown.contains("bursar secret set shop-key"), "{missing}: {shown}");
    }
    let told: Value = serde_json::from_str(&desk.run(&["check", "--json"]).await.done()).unwrap();
    let warned = &told["warnings"][0];
    assert_eq!((&warned["about"], &warned["key"]), (&json!("secret_missing"), &json!("host.secret_headers")), "{told}");
    assert!(warned["line"].is_u64(), "{told}");
    assert_eq!(desk.run(&["check", "--strict"]).await.code, Some(3));
    let answer = fetched(&desk, &url).await;
    assert_eq!((&answer["outcome"], &answer["code"]), (&json!("refused"), &json!("secret_missing")), "{answer}");
    assert!(answer["next_step"].as_str().unwrap().contains("bursar secret set"), "{answer}");

    // Only a person keeps one, and only one that fits.
    assert_eq!(desk.run(&["secret", "set", "shop-key", KEY]).await.code, Some(2), "never an argument");
    desk.typing(&["secret", "set", "shop-key"], &format!("wrong words\n{KEY}")).await.says(3, &["passphrase"]);
    desk.typing(&["secret", "set", "shop-key"], &typed("short")).await.says(2, &["8 to 2048"]);
    desk.typing(&["secret", "set", "shop-key"], &typed("Bearer 0123456789")).await.says(2, &["no space"]);
    assert_eq!(desk.typing(&["secret", "set", "Shop"], &typed(KEY)).await.code, Some(2));
    let shown = desk.typing(&["secret", "set", "shop-key"], &typed(KEY)).await.done();
    assert!(shown.contains("{shop-key}") && !shown.contains(KEY), "{shown}");
    let listed = desk.run(&["secret", "list"]).await.done();
    assert!(listed.contains("shop-key") && listed.contains("(authorization)"), "{listed}");
    assert_eq!(desk.run(&["check", "--strict"]).await.code, Some(0));

    // The seller gets it and says it back; a later reading of the copy has the same stars.
    let answer = fetched(&desk, &url).await;
    let text = answer["content"]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let stars = format!("authorization: Bearer {}", "*".repeat(KEY.len()));
    assert!(text.contains(&stars), "{answer}");
    let digest = answer["content"]["sha256"].as_str().unwrap();
    let copy = desk.run(&["content", "show", digest]).await.done();
    assert!(copy.contains(&stars) && !copy.contains(KEY), "{copy}");

    for (path, bytes) in desk.files() {
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{}", path.display());
    }
    let log = desk.run(&["log", "--json"]).await.done();
    assert!(log.contains("the secret shop-key was set") && !log.contains(KEY), "{log}");
    desk.is_private();

    // Locked, nothing goes out; forgotten, nothing goes out.
    desk.run(&["lock"]).await.done();
    assert_eq!(fetched(&desk, &format!("{url}/2")).await["code"], json!("wallet_locked"));
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["secret", "remove", "shop-key"], PASSPHRASE).await.done();
    desk.typing(&["secret", "remove", "shop-key"], PASSPHRASE).await.says(3, &["no secret `shop-key`"]);
    assert_eq!(fetched(&desk, &format!("{url}/3")).await["code"], json!("secret_missing"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_of_the_operators_sends_no_key_and_a_model_can_set_no_header_of_a_rule() {
    let stall = Stall::open().await;
    let desk = wanting_a_key(&stall).await;
    desk.typing(&["secret", "set", "shop-key"], &typed(KEY)).await.done();
    // The stall refuses to name terms to whoever brings a key, so these terms were named to somebody without one.
    let page = format!("{}/page/for-strangers", stall.origin());
    assert!(desk.run(&["explain", &page]).await.done().contains("passes every rule"));

    let arguments = json!({"url": page, "headers": {"authorization": "Bearer mine"}});
    let said = desk.typing(&["serve"], &call(&arguments).to_string()).await.done();
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert!(said.contains("accept-language") && answer["result"]["isError"] == json!(true), "{said}");
}

#[tokio::test]
async fn a_file_that_was_changed_is_told_by_check_list_and_the_vault() {
    let stall = Stall::open().await;
    let desk = wanting_a_key(&stall).await;
    desk.typing(&["secret", "set", "shop-key"], &typed(KEY)).await.done();
    let path = desk.profile().secrets();
    let text = fs::read_to_string(&path).unwrap();
    write(&path, &text.replace("\"shop-key\"", "\"shop-kex\""));
    desk.run(&["secret", "list"]).await.says(4, &["was sealed under another one, or changed"]);
    let answer = fetched(&desk, &format!("{}/free/echo", stall.origin())).await;
    assert_eq!((&answer["outcome"], &answer["code"]), (&json!("failed"), &json!("secrets_damaged")), "{answer}");
    write(&path, "{}");
    let told = desk.run(&["check", "--json"]).await.done();
    assert!(told.contains("secrets_unreadable"), "{told}");
}
