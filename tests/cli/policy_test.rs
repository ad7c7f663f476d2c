//! `policy test`: an operator's own stories, judged without a seller, a vault or a profile.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::desk::Desk;
use crate::stall::{PAYEE, STRANGER, terms};

const URL: &str = "https://api.example.com/page";

/// Writes a story of a call for [`URL`].
fn story(folder: &Path, name: &str, reply: &str, want: &str) {
    let story = folder.join(name);
    fs::create_dir_all(&story).unwrap();
    fs::write(story.join("ask.json"), format!(r#"{{"tool": "x402_fetch", "arguments": {{"url": "{URL}"}}}}"#)).unwrap();
    fs::write(story.join("reply.http"), reply).unwrap();
    fs::write(story.join("want.toml"), want).unwrap();
}

#[tokio::test]
async fn the_examples_end_as_they_must_even_before_init() {
    let desk = Desk::empty();
    let folder = desk.home.with_file_name("stories");
    let name = folder.to_str().unwrap();
    let shown = desk.run(&["policy", "test", "--example", name]).await.done();
    for part in ["pays-a-listed-seller", "pay 0.01 USD to", "over_payment_cap", "2 stories, all as wanted."] {
        assert!(shown.contains(part), "`{part}` is not in: {shown}");
    }
    assert!(!desk.home.exists(), "a profile was made");
    desk.run(&["policy", "test", "--example", name]).await.says(2, &[name, "not there yet"]);
    assert_eq!(desk.run(&["policy", "test", name]).await.code, Some(0));

    let want = folder.join("pays-a-listed-seller/want.toml");
    let right = fs::read_to_string(&want).unwrap();
    for (from, to) in [
        ("0.01 USD", "0.02 USD"),
        ("0x209693Bc6afc0C5328bA36FaF03C514EF312287C", STRANGER),
        (right.as_str(), "outcome = \"nothing\""),
        (right.as_str(), "outcome = \"refuse\"\ncode = \"over_payment_cap\""),
    ] {
        assert!(right.contains(from), "{from}");
        fs::write(&want, right.replace(from, to)).unwrap();
        let said = desk.run(&["policy", "test", name]).await;
        assert_eq!((said.code, said.err.as_str()), (Some(3), ""), "{said:?}");
        assert!(said.out.contains("OTHERWISE") && said.out.contains("2 stories, 1 otherwise."), "{said:?}");
    }
}

#[tokio::test]
async fn stories_without_rules_are_judged_by_those_of_the_profile() {
    let desk = Desk::set_up(&["--allow", "https://api.example.com", "--recipient", PAYEE]).await;
    let folder = desk.home.with_file_name("stories");
    let name = folder.to_str().unwrap();
    story(&folder, "a-pays", &terms(URL, PAYEE), "outcome = \"pay\"");
    story(&folder, "b-stranger", &terms(URL, STRANGER), "outcome = \"refuse\"\ncode = \"payee_not_allowed\"");
    story(&folder, "c-free", "HTTP/1.1 200 OK\r\n\r\nhello", "outcome = \"nothing\"");
    story(&folder, "d-moved", "HTTP/1.1 302 Found\r\n\r\n", "outcome = \"refuse\"\ncode = \"redirect_refused\"");
    story(
        &folder,
        "e-junk",
        "HTTP/1.1 402 X\r\npayment-required: %%%\r\n\r\n",
        "outcome = \"refuse\"\ncode = \"terms_unreadable\"",
    );
    // What was recorded long ago is judged as of then: the seller's clock is not held against it.
    let old = terms(URL, PAYEE).replacen("\r\n", "\r\nDate: Tue, 03 Feb 2015 10:00:00 GMT\r\n", 1);
    story(&folder, "f-old", &old, "outcome = \"pay\"\nmoney = \"0.05 USD\"");
    let told: Value = serde_json::from_str(&desk.run(&["policy", "test", name, "--json"]).await.done()).unwrap();
    let cases = told.as_array().unwrap();
    assert_eq!(cases.len(), 6);
    assert!(cases.iter().all(|case| case["as_wanted"] == true), "{told}");
    assert_eq!(cases[1]["codes"][0], "payee_not_allowed");
    assert!(!desk.home.join("run").exists(), "a vault was started");

    // A folder that is a story is judged by itself.
    let one = folder.join("c-free");
    assert!(desk.run(&["policy", "test", one.to_str().unwrap()]).await.done().contains("1 story, as wanted."));
    let ask = one.join("ask.json");
    for (arguments, code) in [
        ("{\"url\": \"https://other.example/\"}", "host_not_allowed"),
        ("{\"url\": \"nonsense\"}", "url_invalid"),
        ("{\"url\": \"https://api.example.com/\", \"payee\": \"0x\"}", "bad_arguments"),
    ] {
        fs::write(&ask, format!("{{\"tool\": \"x402_fetch\", \"arguments\": {arguments}}}")).unwrap();
        fs::write(one.join("want.toml"), format!("outcome = \"refuse\"\ncode = \"{code}\"")).unwrap();
        assert_eq!(desk.run(&["policy", "test", one.to_str().unwrap()]).await.code, Some(0), "{code}");
    }
}

/// Judges the stories of `name`, of which there is one: it cannot be judged, for a reason that holds all of `parts`.
async fn is_not_judged(desk: &Desk, name: &str, code: i32, parts: &[&str]) {
    let said = desk.run(&["policy", "test", name, "--json"]).await;
    assert_eq!((said.code, said.err.as_str()), (Some(code), ""), "{said:?}");
    let told: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&told[0]["story"], told.as_array().unwrap().len()), (&"one".into(), 1), "{told}");
    let error = told[0]["error"].as_str().unwrap();
    assert!(!error.ends_with('.') && !error.contains('\n'), "{error}");
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    let said = desk.run(&["policy", "test", name]).await;
    assert_eq!((said.code, said.err.as_str()), (Some(code), ""), "{said:?}");
    assert!(said.out.contains("NOT JUDGED") && said.out.contains("1 story, not judged."), "{said:?}");
}

#[tokio::test]
async fn a_story_that_cannot_be_read_is_told_with_its_file() {
    let desk = Desk::empty();
    let folder = desk.home.with_file_name("stories");
    let name = folder.to_str().unwrap();
    desk.run(&["policy", "test", name]).await.says(2, &[name]);
    fs::create_dir(&folder).unwrap();
    desk.run(&["policy", "test", name]).await.says(2, &[name, "--example"]);
    for (want, parts) in [
        ("outcome = \"buy\"", &["want.toml"][..]),
        ("outcome = \"refuse\"", &["want.toml", "`code`"]),
        ("outcome = \"refuse\"\ncode = \"no_such_code\"", &["want.toml", "`no_such_code`"]),
        ("outcome = \"pay\"\ncode = \"no_offers\"", &["want.toml", "`code`"]),
        ("outcome = \"nothing\"\nmoney = \"1 USD\"", &["want.toml", "`money`"]),
        ("outcome = \"pay\"\nwhy = 1", &["want.toml", "`why`"]),
    ] {
        story(&folder, "one", &terms(URL, PAYEE), want);
        is_not_judged(&desk, name, 2, parts).await;
    }
    fs::remove_file(folder.join("one/want.toml")).unwrap();
    is_not_judged(&desk, name, 2, &["want.toml"]).await;
    story(&folder, "one", "hello", "outcome = \"pay\"");
    is_not_judged(&desk, name, 2, &["reply.http"]).await;
    story(&folder, "one", &terms(URL, PAYEE), "outcome = \"pay\"");
    is_not_judged(&desk, name, 4, &["bursar", "init`"]).await;
    fs::write(folder.join("one/rules.toml"), "[payment]\nmax_per_paymant = 1\n").unwrap();
    is_not_judged(&desk, name, 4, &["rules.toml", "line 2: ", "did you mean"]).await;
    fs::write(folder.join("one/ask.json"), "{\"tool\": \"x402_quote\", \"arguments\": {}}").unwrap();
    is_not_judged(&desk, name, 2, &["ask.json", "x402_fetch"]).await;
}

#[tokio::test]
async fn a_story_that_cannot_be_judged_hides_none_of_the_others() {
    let desk = Desk::set_up(&["--allow", "https://api.example.com", "--recipient", PAYEE]).await;
    let folder = desk.home.with_file_name("stories");
    let name = folder.to_str().unwrap();
    story(&folder, "a-broken", "hello", "outcome = \"pay\"");
    story(&folder, "b-pays", &terms(URL, PAYEE), "outcome = \"pay\"");
    story(&folder, "c-rules", &terms(URL, PAYEE), "outcome = \"pay\"");
    fs::write(folder.join("c-rules/rules.toml"), "[payment").unwrap();
    story(&folder, "d-otherwise", &terms(URL, STRANGER), "outcome = \"pay\"");
    let said = desk.run(&["policy", "test", name]).await;
    assert_eq!((said.code, said.err.as_str()), (Some(2), ""), "the first that could not be judged decides: {said:?}");
    for part in ["a-broken", "reply.http", "b-pays", "as wanted", "c-rules", "d-otherwise", "OTHERWISE"] {
        assert!(said.out.contains(part), "`{part}` is not in: {}", said.out);
    }
    assert!(said.out.contains("4 stories, 1 otherwise, 2 not judged."), "{said:?}");
    fs::remove_dir_all(folder.join("a-broken")).unwrap();
    assert_eq!(desk.run(&["policy", "test", name]).await.code, Some(4));
    fs::remove_dir_all(folder.join("d-otherwise")).unwrap();
    assert!(desk.run(&["policy", "test", name]).await.out.contains("2 stories, 1 not judged."));
    fs::remove_dir_all(folder.join("c-rules")).unwrap();
    assert!(desk.run(&["policy", "test", name]).await.done().contains("1 story, as wanted."));
}
