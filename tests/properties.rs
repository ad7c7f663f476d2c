//! What must hold for any bytes at the five doors of bursar. The fuzz targets of `fuzz/` check the very same functions;
//! here they run on every saved input, on bytes from nowhere, and on good inputs bent out of shape.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    unreachable_pub,
    reason = "a property that does not hold stops the test"
)]

#[path = "properties/answer.rs"]
mod answer;
#[path = "properties/base64.rs"]
mod base64;
#[path = "properties/bent.rs"]
mod bent;
#[path = "properties/challenge.rs"]
mod challenge;
#[path = "properties/claim.rs"]
mod claim;
#[path = "properties/frame.rs"]
mod frame;
#[path = "properties/header.rs"]
mod header;
#[path = "properties/purchase.rs"]
mod purchase;
#[path = "properties/rules.rs"]
mod rules;
#[path = "properties/saved.rs"]
mod saved;
#[path = "properties/seeds.rs"]
mod seeds;
#[path = "properties/toml.rs"]
mod toml;

use std::fs;

use bursar::wire::{Claim, Demand, Found, read, read_claim};
use bursar_policy::Setting;
use proptest::prelude::*;

use crate::answer::Answer;
use crate::bent::bent;

#[test]
fn every_challenge_that_was_saved_holds() {
    saved::replayed("challenge", challenge::holds);
}

#[test]
fn every_header_that_was_saved_holds() {
    saved::replayed("header", header::holds);
}

#[test]
fn every_claim_that_was_saved_holds() {
    saved::replayed("claim", claim::holds);
}

#[test]
fn every_rules_text_that_was_saved_holds() {
    saved::replayed("rules", rules::holds);
}

#[test]
fn every_frame_that_was_saved_holds() {
    saved::replayed("frame", frame::holds);
}

#[test]
fn the_targets_of_the_fuzzer_check_these_properties_and_nothing_else() {
    let text = |path: String| fs::read_to_string(format!("{}/fuzz/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (library, manifest) = (text("src/lib.rs".to_owned()), text("Cargo.toml".to_owned()));
    assert_eq!(manifest.matches("[[bin]]").count(), seeds::TARGETS.len());
    for target in seeds::TARGETS {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
        assert!(library.contains(&format!("#[path = \"../../tests/properties/{target}.rs\"]")), "{target}");
        let check = format!("fuzz_target!(|bytes: &[u8]| bursar_fuzz::{target}::holds(bytes));\n");
        assert!(text(format!("fuzz_targets/{target}.rs")).ends_with(&check), "{target}");
    }
    let names_a_module = |line: &str| ["//!", "#[path", "pub mod"].iter().any(|start| line.starts_with(start));
    assert!(library.lines().all(|line| line.is_empty() || names_a_module(line)), "a property of the fuzzer's own");
}

/// Properties of refusals alone would hold in a program that refuses everything.
#[test]
fn the_seeds_get_through_every_door() {
    let answers = |target| seeds::of(target).into_iter().map(|seed| Answer::of(&seed)).collect::<Vec<_>>();
    let demands: Vec<Demand> = answers("challenge").iter().filter_map(demand).collect();
    assert!(demands.len() > 40, "{} of the challenges are terms", demands.len());
    let payable = demands.iter().filter(|demand| purchase::holds(demand)).count();
    assert!(payable > 10, "{payable} demands may be paid");
    let said = answers("claim").iter().filter(|answer| matches!(read_claim(answer.view()), Claim::Said(_))).count();
    assert!(said > 10, "{said} of the answers claim a settlement");
    let in_header =
        |value: Vec<u8>| demand(&Answer { headers: vec![("payment-required".to_owned(), value)], body: vec![] });
    assert!(seeds::of("header").into_iter().filter_map(in_header).count() > 10);
    for rules in seeds::of("rules") {
        bursar_vault::rules_file::parse(std::str::from_utf8(&rules).unwrap(), Setting::Sandbox).unwrap();
    }
    for content in contents() {
        assert!(frame::is_a_message(&content), "nobody understands {}", String::from_utf8_lossy(&content));
    }
}

fn demand(answer: &Answer) -> Option<Demand> {
    match read(answer.view(), &answer.body) {
        Ok(Found::Demand(demand)) => Some(demand),
        _ => None,
    }
}

/// What is worth bending: the seeds, and every saved input.
fn good(target: &str) -> Vec<Vec<u8>> {
    [seeds::of(target), saved::inputs(target)].concat()
}

/// A frame around `content`, of the right length.
fn framed(content: &[u8]) -> Vec<u8> {
    [&u32::try_from(content.len()).unwrap().to_be_bytes(), content].concat()
}

/// What each kind of message says, without its frame.
fn contents() -> Vec<Vec<u8>> {
    seeds::messages().iter().map(|frame| frame[4..].to_vec()).collect()
}

proptest! {
    // A bend has to meet the one member that matters. What fails belongs into fuzz/corpus, so nothing else keeps it.
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_from_nowhere_hold_at_every_door(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        challenge::holds(&bytes);
        header::holds(&bytes);
        claim::holds(&bytes);
        rules::holds(&bytes);
        frame::holds(&bytes);
        frame::holds(&framed(&bytes));
    }

    #[test]
    fn bent_challenges_hold(bytes in bent(good("challenge"))) {
        challenge::holds(&bytes);
    }

    #[test]
    fn bent_headers_hold(bytes in bent(good("header"))) {
        header::holds(&bytes);
    }

    #[test]
    fn bent_claims_hold(bytes in bent(good("claim"))) {
        claim::holds(&bytes);
    }

    #[test]
    fn bent_rules_hold(bytes in bent(good("rules"))) {
        rules::holds(&bytes);
    }

    #[test]
    fn bent_frames_hold(whole in bent(good("frame")), content in bent(contents())) {
        frame::holds(&whole);
        frame::holds(&framed(&content));
    }
}
