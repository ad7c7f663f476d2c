//! `check`: the rules in sentences, warnings, the schema, and what is said of a file that cannot be used.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::desk::{Desk, write};
use crate::stall::PAYEE;

const SCHEMA: &str = include_str!("../../schema/bursar.schema.json");

#[tokio::test]
async fn the_rules_of_init_are_told_line_by_line_without_a_vault() {
    let desk = Desk::set_up(&["--allow", "https://api.example.com", "--recipient", PAYEE]).await;
    let shown = desk.run(&["check"]).await.done();
    for part in [
        desk.rules().to_str().unwrap(),
        "costs at most 0.05 USD",
        "Base Sepolia (eip155:84532)",
        PAYEE,
        "all payments together: at most 1.00 USD in any 1d",
        "https://api.example.com by GET, HEAD; the model sees nothing of an answer",
        "Nothing here is wider than it looks.",
    ] {
        let (shown, part) = (shown.to_ascii_lowercase(), part.to_ascii_lowercase());
        assert!(shown.contains(&part), "`{part}` is not in: {shown}");
    }
    assert!(!desk.home.join("run").exists(), "a vault was started");
    assert_eq!(desk.run(&["check", "--strict"]).await.code, Some(0));

    let told: Value = serde_json::from_str(&desk.run(&["check", "--json"]).await.done()).unwrap();
    let text = fs::read_to_string(desk.rules()).unwrap();
    let line = |word: &str| text.lines().position(|line| line.starts_with(word)).unwrap() + 1;
    let limit = told["rules"].as_array().unwrap().iter().find(|told| told["about"] == "limit").unwrap();
    assert_eq!(
        (limit["key"].as_str(), limit["line"].as_u64()),
        (Some("limit.scope"), u64::try_from(line("scope")).ok())
    );
    assert_eq!(told["warnings"], Value::Array(Vec::new()));
    assert_eq!(told["file"], desk.rules().to_str().unwrap());
}

#[tokio::test]
async fn wide_rules_are_warned_about_and_strict_makes_it_an_exit_code() {
    let desk = Desk::set_up(&["--allow", "https://api.example.com", "--any-recipient"]).await;
    let said = desk.run(&["check"]).await;
    assert!(said.clone().done().contains("any_recipient"), "{said:?}");
    let strict = desk.run(&["check", "--strict", "--json"]).await;
    assert_eq!((strict.code, strict.err.as_str()), (Some(3), ""), "{strict:?}");
    let told: Value = serde_json::from_str(&strict.out).unwrap();
    assert_eq!(told["warnings"][0]["about"], "any_recipient");
    assert_eq!(told["warnings"][0]["key"], "payment.allow_any_recipient");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_exit_code_4_with_file_and_line() {
    let desk = Desk::set_up(&[]).await;
    let good = fs::read_to_string(desk.rules()).unwrap();
    let other = desk.home.with_file_name("new.toml");
    let name = other.to_str().unwrap();
    // A file elsewhere needs no private mode: it is not the one in force.
    fs::write(&other, &good).unwrap();
    assert!(desk.run(&["check", name]).await.done().contains(name));
    let line = good.lines().position(|line| line.starts_with("networks")).unwrap() + 1;
    for (from, to) in [("networks =", "network ="), ("[\"eip155:84532\"]", "[\"eip155:8453\"]")] {
        fs::write(&other, good.replacen(from, to, 1)).unwrap();
        desk.run(&["check", name]).await.says(4, &[name, &format!("line {line}: ")]);
        let json = desk.run(&["check", name, "--json"]).await;
        let told: Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!((json.code, &told["line"], &told["file"]), (Some(4), &line.into(), &name.into()));
        assert!(told["error"].as_str().unwrap().contains("network"), "{told}");
    }
    fs::write(&other, b"[payment]\n# \xff\n").unwrap();
    desk.run(&["check", name]).await.says(4, &[name, "UTF-8"]);
    fs::write(&other, format!("{good}\n# {}", "x".repeat(300_000))).unwrap();
    desk.run(&["check", name]).await.says(4, &[name, "bytes"]);
    fs::remove_file(&other).unwrap();
    desk.run(&["check", name]).await.says(4, &[name]);
    write(&desk.rules(), &good.replace("max_lifetime", "max_lifetimes"));
    desk.run(&["check"]).await.says(4, &[desk.rules().to_str().unwrap(), "did you mean `max_lifetime`?"]);
}

#[tokio::test]
async fn the_schema_is_printed_and_lies_beside_the_rules() {
    let desk = Desk::set_up(&[]).await;
    assert_eq!(desk.run(&["check", "--schema"]).await.done(), SCHEMA);
    let text = fs::read_to_string(desk.rules()).unwrap();
    let pointed = text.lines().next().unwrap().strip_prefix("#:schema ").unwrap();
    let beside = desk.home.join(pointed.strip_prefix("./").unwrap());
    assert_eq!(fs::read_to_string(&beside).unwrap(), SCHEMA);
    assert_eq!(beside.parent().map(Path::to_owned), desk.rules().parent().map(Path::to_owned));
    desk.is_private();
}
