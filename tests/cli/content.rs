//! `content`: what was bought and fetched, listed, looked at, copied out and pruned.

use std::fs;

use bursar_policy::Digest;
use serde_json::{Value, json};

use crate::desk::{Desk, PASSPHRASE, write};
use crate::explain::{asked, beside, fetched};
use crate::stall::{HOSTILE, PAYEE, Stall};

/// What the stall sells.
const BOUGHT: &[u8] = b"the page";

/// A desk at which one page was bought and one text was had for nothing.
async fn stocked(stall: &Stall) -> Desk {
    let desk = beside(stall).await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    assert_eq!(fetched(&desk, &format!("{}/page", stall.origin())).await["outcome"], "paid");
    assert_eq!(fetched(&desk, &format!("{}/free/text", stall.origin())).await["outcome"], "free");
    desk
}

fn lines(said: &str) -> Vec<Value> {
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn listed(desk: &Desk) -> Vec<Value> {
    lines(&desk.run(&["content", "list", "--json"]).await.done())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_stored_is_listed_shown_safely_and_copied_out() {
    let stall = Stall::open().await;
    let desk = stocked(&stall).await;
    let (bought, free) = (Digest::of(BOUGHT).to_string(), Digest::of(HOSTILE.as_bytes()).to_string());

    let items = listed(&desk).await;
    let of = |digest: &str| items.iter().find(|item| item["sha256"] == digest).unwrap();
    assert_eq!(items.len(), 2);
    assert_eq!((&of(&bought)["bytes"], &of(&bought)["type"]), (&json!(8), &json!("other")));
    assert_eq!(of(&bought)["payments"].as_array().unwrap().len(), 1);
    assert_eq!(of(&bought)["url"], format!("{}/page", stall.origin()));
    assert_eq!((&of(&free)["payments"], &of(&free)["type"]), (&json!([]), &json!("text")));
    assert_eq!(of(&free)["url"], format!("{}/free/text", stall.origin()));
    let shown = desk.run(&["content", "list"]).await.done();
    for part in [&bought[..12], &free[..12], "nothing", "p_", "/free/text"] {
        assert!(shown.contains(part), "`{part}` is not in: {shown}");
    }

    let shown = desk.run(&["content", "show", &free[..8]]).await.done();
    let mut told = shown.lines();
    assert!(told.next().unwrap().contains("untrusted"), "{shown}");
    assert_eq!(told.next(), Some("    | first\\u{1B}[2J\\u{202E}"));
    assert_eq!(told.next(), Some("    |     end of it"));
    assert_eq!((told.next(), told.next()), (Some("    | last\\u{200B}"), None));
    desk.run(&["content", "show", &bought]).await.says(3, &["is no text", "bursar content export"]);
    desk.run(&["content", "show", &"0".repeat(64)]).await.says(3, &["nothing is stored"]);
    for bad in ["abc", "ABCDEF0123", "../../etc/passwd"] {
        desk.run(&["content", "show", bad]).await.says(2, &["is no digest"]);
    }

    let file = desk.home.with_file_name("copy");
    let name = file.to_str().unwrap();
    desk.run(&["content", "export", &bought[..10], name]).await.done();
    assert_eq!(fs::read(&file).unwrap(), BOUGHT);
    desk.run(&["content", "export", &free, name]).await.says(2, &[name, "exists"]);
    assert_eq!(fs::read(&file).unwrap(), BOUGHT, "an existing file is left alone");
    desk.is_private();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_was_changed_or_pruned_is_told_as_such() {
    let stall = Stall::open().await;
    let desk = stocked(&stall).await;
    let (bought, free) = (Digest::of(BOUGHT).to_string(), Digest::of(HOSTILE.as_bytes()).to_string());
    let again = async |digest: &str| asked(&desk, json!({"content_sha256": digest})).await;
    assert_eq!(again(&bought).await["outcome"], "stored");
    assert_eq!(again(&free).await["content"]["stored"], true);

    let file = desk.profile().content_dir().join(&bought);
    write(&file, "the pale");
    assert_eq!(again(&bought).await["code"], "content_damaged");
    let copy = desk.home.with_file_name("copy");
    let name = copy.to_str().unwrap();
    desk.run(&["content", "export", &bought, name]).await.says(3, &["changed on disk"]);
    assert!(!copy.exists(), "half a copy is no copy");
    write(&file, "the page");
    assert_eq!(again(&bought).await["outcome"], "stored");

    let dry = desk.run(&["content", "prune", "--over", "1 B", "--paid", "--dry-run"]).await.done();
    assert!(dry.contains("Would remove 2 bodies"), "{dry}");
    assert_eq!(listed(&desk).await.len(), 2);
    let told = desk.run(&["content", "prune", "--over", "1 B"]).await.done();
    assert!(told.contains("Removed 1 bodies") && told.contains("Spared were 1"), "{told}");
    assert_eq!(listed(&desk).await.len(), 1);
    assert_eq!(
        (&again(&free).await["code"], &again(&bought).await["outcome"]),
        (&json!("content_unknown"), &json!("stored"))
    );
    let told = desk.run(&["content", "prune", "--over", "1B", "--paid", "--json"]).await.done();
    assert_eq!(
        lines(&told)[0],
        json!({
            "removed": 1, "freed_bytes": 8, "left": 0, "left_bytes": 0, "spared": 0, "dry_run": false,
        })
    );
    assert_eq!(again(&bought).await["code"], "content_gone");
    assert_eq!(fs::read_dir(desk.profile().content_dir()).unwrap().count(), 0, "notes go with their bodies");
    desk.run(&["content", "prune"]).await.says(2, &["`--older-than`", "`max_content`"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_the_limit_of_the_rules_nothing_free_is_fetched_and_what_is_paid_for_is_kept() {
    let stall = Stall::open().await;
    let desk = stocked(&stall).await;
    let text = fs::read_to_string(desk.rules()).unwrap();
    write(&desk.rules(), &text.replacen("[payment]", "[payment]\nmax_content = \"1 MiB\"\ncontent_age = \"1h\"", 1));
    desk.typing(&["reload"], PASSPHRASE).await.done();
    let big = "x".repeat(2 << 20);
    write(&desk.profile().content_dir().join(Digest::of(big.as_bytes()).to_string()), &big);

    let told = fetched(&desk, &format!("{}/free", stall.origin())).await;
    assert_eq!((&told["outcome"], &told["code"]), (&json!("failed"), &json!("content_full")), "{told}");
    assert_eq!(fetched(&desk, &format!("{}/page?again", stall.origin())).await["outcome"], "paid");
    let told = desk.run(&["content", "prune"]).await.done();
    assert!(told.contains("Removed 2 bodies") || told.contains("Removed 1 bodies"), "{told}");
    assert!(listed(&desk).await.iter().all(|item| item["bytes"] != 2 << 20));
    assert_eq!(fetched(&desk, &format!("{}/free", stall.origin())).await["outcome"], "free");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_holds_everything_about_a_payment_but_the_signature() {
    let stall = Stall::open().await;
    let desk = stocked(&stall).await;
    let items = listed(&desk).await;
    let payment = items.iter().find_map(|item| item["payments"][0].as_str()).unwrap();
    let file = desk.home.with_file_name("claim.json");
    let name = file.to_str().unwrap();
    let told = desk.run(&["claim", payment, "--out", name]).await.done();
    assert!(told.contains("nothing wrong"), "{told}");
    let text = fs::read_to_string(&file).unwrap();
    let claim: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&claim["bursar_claim"], &claim["payment"], &claim["outcome"]),
        (&json!(1), &json!(payment), &json!("paid"))
    );
    assert_eq!(claim["request"]["url"], format!("{}/page", stall.origin()));
    assert_eq!(claim["delivery"]["answer"]["content"]["digest"], Digest::of(BOUGHT).to_string());
    assert_eq!((&claim["paid"]["money"], &claim["paid"]["amount"]), (&json!("0.05 USD"), &json!("50000")));
    assert_eq!(claim["paid"]["nonce"].as_str().unwrap().len(), 66);
    assert!(claim["paid"]["transaction"].as_str().unwrap().starts_with("0x5eed"));
    assert!(claim["terms"]["payee"].as_str().unwrap().eq_ignore_ascii_case(PAYEE));
    assert!(claim["events"].as_array().unwrap().len() > 2, "{claim}");
    let hex_run = text.split(|letter: char| !letter.is_ascii_hexdigit()).map(str::len).max().unwrap();
    assert!(hex_run < 130, "a signature has 130 digits");
    desk.run(&["claim", payment, "--out", name]).await.says(2, &[name, "exists"]);
    let second = desk.home.with_file_name("claim2.json");
    desk.run(&["claim", &payment[..12], "--out", second.to_str().unwrap()]).await.done();
    assert_eq!(fs::read_to_string(&second).unwrap(), text, "as much of its id as no other has");
    desk.run(&["claim", "claim.json"]).await.says(2, &["`claim.json` is no payment", "bursar receipts"]);
    desk.run(&["claim", "p_00000000000000000000000000000000"]).await.says(3, &["bursar log"]);
    desk.is_private();
}
