//! A payment that the wallet cannot cover is refused, as far as the balance is known.

use bursar_policy::chain::{Address, AssetId, ChainId};
use bursar_policy::refusal::Refusal;

use super::world::{CENT, PAYER, World, errand, money, rules_with, terms};
use crate::ledger::{Ask, Counted, Holding, Rotated};

fn world(balance: &str) -> World {
    let mut world = World::new("", "10 USD");
    let chain = "[[chain]]\nnetwork = \"eip155:84532\"\nrpc = [\"https://rpc.example.com/key\"]";
    world.rules =
        rules_with("allow_any_host = true\nmax_unresolved = 1000", &format!("{chain}\nbalance = \"{balance}\""));
    world
}

fn usdc() -> AssetId {
    AssetId { chain: ChainId::BASE_SEPOLIA, contract: terms(1).asset }
}

fn holds(world: &World, balance: &str) {
    let now_s = world.time.now_s();
    let reading = Holding { money: money(balance), read_s: now_s, until_s: now_s.saturating_add(120) };
    world.ledger().note_balance(PAYER, usdc(), reading);
}

fn refused(world: &World, path: &str, cents: u128) -> Vec<Refusal> {
    world.authorize(errand(path), cents.saturating_mul(CENT)).map(drop).err().unwrap_or_default()
}

#[test]
fn what_is_known_decides_and_pending_payments_are_taken_off() {
    let world = world("when_known");
    holds(&world, "0.05 USD");
    assert_eq!(refused(&world, "a", 3), []);
    let told = Refusal::InsufficientBalance {
        asked: money("0.03 USD"),
        left: money("0.02 USD"),
        chain: ChainId::BASE_SEPOLIA,
    };
    assert_eq!(refused(&world, "b", 3), [told]);
    assert_eq!(refused(&world, "b", 2), [], "to exactly nothing");
    holds(&world, "0.06 USD");
    assert_eq!(refused(&world, "c", 1), [], "a deposit");
}

#[test]
fn what_was_settled_since_the_reading_is_taken_off_and_what_was_before_is_not() {
    let world = world("when_known");
    holds(&world, "0.05 USD");
    world.buy(errand("a"), 4 * CENT);
    assert_eq!(refused(&world, "b", 2).len(), 1, "the reading has not seen it");
    world.time.pass(61);
    holds(&world, "0.02 USD");
    assert_eq!(refused(&world, "b", 2), []);
}

#[test]
fn an_unknown_balance_stops_only_where_the_rules_want_it_known() {
    let lenient = world("when_known");
    assert_eq!(refused(&lenient, "a", 100), []);
    let strict = world("required");
    let unknown = Refusal::BalanceUnknown { chain: ChainId::BASE_SEPOLIA };
    assert_eq!(refused(&strict, "a", 1), std::slice::from_ref(&unknown));
    holds(&strict, "1 USD");
    assert_eq!(refused(&strict, "b", 1), []);
    strict.time.pass(120);
    assert_eq!(refused(&strict, "c", 1), [unknown], "it is too old to go by");
    let off = world("off");
    holds(&off, "0 USD");
    assert_eq!(refused(&off, "a", 100), []);
}

#[test]
fn what_the_old_account_holds_says_nothing_of_the_new_one_however_late_it_is_read() {
    let world = world("required");
    let new = Address::from_bytes([0x55; 20]);
    world.ledger().bind_key(PAYER).unwrap();
    holds(&world, "5 USD");
    assert_eq!(world.ledger().rotate(super::keys::hand_over(0x55, PAYER, 7, 8)).unwrap(), Rotated::Done);
    // A reading that was under way lands now, and is of the account that was asked about.
    holds(&world, "5 USD");
    assert_eq!(world.ledger().balance(new, &usdc()), None);
    let asked = |path| {
        let ask = Ask { payer: new, ..world.ask(terms(CENT)) };
        match world.ledger().authorize(world.new_claim(errand(path)), ask, &world.rules).unwrap() {
            Counted::Yes(_) => Vec::new(),
            Counted::No { reasons, .. } => reasons,
        }
    };
    assert_eq!(asked("a"), [Refusal::BalanceUnknown { chain: ChainId::BASE_SEPOLIA }]);
    let reading = Holding { money: money("0 USD"), read_s: world.time.now_s(), until_s: world.time.now_s() + 120 };
    world.ledger().note_balance(new, usdc(), reading);
    holds(&world, "5 USD");
    assert_eq!(asked("b")[0].code(), "insufficient_balance");
}
