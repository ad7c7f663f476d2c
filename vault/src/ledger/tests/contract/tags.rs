//! Payments count for every tag that they carried when they were counted, whatever the rules say later.

use std::sync::Arc;

use bursar_policy::chain::Address;
use bursar_policy::rules::Rules;

use super::world::{CENT, LIFE_S, World, errand_at, rules_with, terms};
use crate::ledger::{Counted, EXPIRY_MARGIN_S};

/// Ten cents a day for `data` and three payments for `people`; what carries which is said by the two lines.
fn tagged(of_data: &str, of_news: &str) -> Arc<Rules> {
    let payee = Address::from_bytes([0x33; 20]);
    rules_with(
        "max_unresolved = 1000",
        &format!(
            r#"
            [[limit]]
            scope = "tag"
            tag = "data"
            window = "24h"
            max = "0.10 USD"
            [[limit]]
            scope = "tag"
            tag = "people"
            window = "24h"
            count = 3
            [[host]]
            origin = "https://data.example.com"
            allow_any_recipient = true
            {of_data}
            [[host]]
            origin = "https://news.example.com"
            allow_any_recipient = true
            {of_news}
            [[host]]
            origin = "https://other.example.com"
            allow_any_recipient = true
            tags = ["data"]
            [[payee]]
            address = "{payee}"
            tags = ["people", "data"]
            "#
        ),
    )
}

/// Asks for a payment; the code of the first reason against it.
fn pay(world: &World, host: &str, payee: u8, units: u128) -> &'static str {
    let ask = world.ask(bursar_policy::Terms { payee: Address::from_bytes([payee; 20]), ..terms(units) });
    let guard = world.new_claim(errand_at(&format!("https://{host}.example.com/{}", ask.payment)));
    match world.ledger().authorize(guard, ask, &world.rules).unwrap() {
        Counted::Yes(_) => "",
        Counted::No { reasons, .. } => reasons[0].code(),
    }
}

fn world() -> World {
    let mut world = World::new("", "100 USD");
    world.rules = tagged("tags = [\"data\"]", "");
    world
}

#[test]
fn hosts_and_payees_of_one_tag_share_its_limit_and_others_do_not() {
    let world = world();
    assert_eq!(pay(&world, "data", 0x22, 6 * CENT), "");
    assert_eq!(pay(&world, "news", 0x22, 90 * CENT), "", "carries nothing");
    assert_eq!(pay(&world, "news", 0x33, 5 * CENT), "over_limit", "its payee carries it");
    assert_eq!(pay(&world, "news", 0x33, 2 * CENT), "");
    assert_eq!(pay(&world, "data", 0x33, 2 * CENT), "", "carried twice and counted once");
    assert_eq!(pay(&world, "other", 0x22, CENT), "over_limit");
    assert_eq!(pay(&world, "news", 0x33, 1), "over_limit");
    world.ledger().verify().unwrap();
}

#[test]
fn a_count_of_a_tag_counts() {
    let world = world();
    for _ in 0..3 {
        assert_eq!(pay(&world, "news", 0x33, 1), "");
    }
    assert_eq!(pay(&world, "news", 0x33, 1), "over_limit");
    assert_eq!(pay(&world, "news", 0x22, 1), "");
}

#[test]
fn what_a_payment_carried_when_it_was_counted_stays() {
    let mut world = world();
    assert_eq!(pay(&world, "data", 0x22, 10 * CENT), "");
    world.rules = tagged("", "tags = [\"data\"]");
    assert_eq!(pay(&world, "data", 0x22, 10 * CENT), "", "this host carries it no longer");
    assert_eq!(pay(&world, "news", 0x22, CENT), "over_limit", "what was spent under the tag still is");
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S);
    world.ledger().sweep().unwrap();
    world.ledger().verify().unwrap();
    world.reopen();
    world.ledger().verify().unwrap();
    assert_eq!(pay(&world, "news", 0x22, CENT), "over_limit", "spent as it was set aside");
    world.time.pass(86_400);
    assert_eq!(pay(&world, "news", 0x22, CENT), "");
}

#[test]
fn a_tag_is_neither_added_nor_taken_away_later() {
    let world = world();
    assert_eq!(pay(&world, "data", 0x33, CENT), "");
    let other = world.by_hand();
    for sql in [
        "DELETE FROM payment_tag",
        "UPDATE payment_tag SET tag = 'x'",
        "UPDATE payment SET updated_s = updated_s + 1; INSERT INTO payment_tag SELECT id, 'late' FROM payment",
        "INSERT INTO payment_tag VALUES ('p_00', 'data')",
    ] {
        assert!(!other.tries(sql), "went through: {sql}");
    }
    other.forge(&["payment_tag_stays"], "DELETE FROM payment_tag WHERE tag = 'people'");
    assert!(world.ledger().verify().is_err(), "a tag that was taken away is found");
}
