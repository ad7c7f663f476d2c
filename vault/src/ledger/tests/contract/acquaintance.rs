//! What is known of a host decides when a person looks first; and the same thing is bought once.

use std::sync::Arc;

use bursar_policy::caution::Concern;
use bursar_policy::chain::{Address, AssetId, ChainId};
use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::money::Amount;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::rules::draft::{Draft, Setting};
use bursar_policy::terms::Terms;

use super::world::{CENT, World, errand, errand_at, money, named, rules_with, terms};
use crate::ledger::{Counted, Ledger, NotSigned, SessionOpened};

const SEPOLIA_USDC: &str = "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238";
const OTHER: Address = Address::from_bytes([0x33; 20]);

fn world(payment: &str, tables: &str) -> World {
    let mut world = World::new("", "9 USD");
    world.rules = rules_with(payment, tables);
    world
}

/// Buys, or says why not.
fn buy(world: &World, errand: Errand, terms: Terms) -> Result<(), Vec<Refusal>> {
    let guard = world.new_claim(errand);
    match world.ledger().authorize(guard, world.ask(terms), &world.rules).unwrap() {
        Counted::Yes(exposed) => {
            world.sign(&exposed);
            Ok(())
        }
        Counted::No { reasons, .. } => Err(reasons),
    }
}

/// Why a person has to look at it.
fn concerns(world: &World, errand: Errand, terms: Terms) -> Vec<Concern> {
    match buy(world, errand, terms).unwrap_err().as_slice() {
        [Refusal::NeedsApproval { concerns, .. }] => concerns.clone(),
        other => panic!("not for a person: {other:?}"),
    }
}

fn to(payee: Address) -> Terms {
    Terms { payee, ..terms(CENT) }
}

const ANY: &str = "allow_any_host = true";

#[test]
fn the_first_payee_is_pinned_and_every_other_one_goes_to_a_person() {
    let world = world(ANY, "");
    buy(&world, errand("a"), terms(CENT)).unwrap();
    buy(&world, errand("b"), terms(CENT)).unwrap();
    assert_eq!(concerns(&world, errand("c"), to(OTHER)), [Concern::PayeeChanged { payee: OTHER }]);
    // Another host has a first payee of its own, and another port is another origin.
    buy(&world, errand_at("https://quite.elsewhere.org/a"), to(OTHER)).unwrap();
}

#[test]
fn what_is_known_outlives_a_restart_and_is_known_before_the_first_one_is_answered() {
    let mut world = world(ANY, "");
    let guard = world.new_claim(errand("a"));
    let counted = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules).unwrap();
    assert!(matches!(counted, Counted::Yes(_)));
    assert_eq!(concerns(&world, errand("b"), to(OTHER)), [Concern::PayeeChanged { payee: OTHER }]);
    drop(counted);
    world.reopen();
    assert_eq!(concerns(&world, errand("c"), to(OTHER)), [Concern::PayeeChanged { payee: OTHER }]);
}

#[test]
fn a_first_payee_goes_to_a_person_where_the_rules_say_so() {
    let world = world("allow_any_host = true\nfirst_payee = \"approve\"", "");
    let payee = terms(CENT).payee;
    assert_eq!(concerns(&world, errand("a"), terms(CENT)), [Concern::FirstPayee { payee }]);
}

#[test]
fn who_is_listed_or_may_rotate_needs_no_person() {
    let mut world = world(
        "",
        &format!(
            "[[host]]\norigin = \"https://listed.example.com\"\nrecipients = [\"{}\", \"{OTHER}\"]
             [[host]]\norigin = \"https://rotates.example.com\"\nallow_any_recipient = true
             [[host]]\norigin = \"https://pinned.example.com\"\nallow_any_recipient = true\nfirst_payee = \"pin\"",
            terms(CENT).payee
        ),
    );
    for host in ["listed", "rotates"] {
        let at = |path: &str| errand_at(&format!("https://{host}.example.com/{path}"));
        buy(&world, at("a"), terms(CENT)).unwrap();
        buy(&world, at("b"), to(OTHER)).unwrap();
    }
    let pinned = |path: &str| errand_at(&format!("https://pinned.example.com/{path}"));
    buy(&world, pinned("a"), terms(CENT)).unwrap();
    assert_eq!(concerns(&world, pinned("b"), to(OTHER)), [Concern::PayeeChanged { payee: OTHER }]);
    // What was paid while payees rotated is known when they no longer do.
    world.rules = rules_with(ANY, "");
    let at = |path: &str| errand_at(&format!("https://rotates.example.com/{path}"));
    buy(&world, at("c"), to(OTHER)).unwrap();
    let third = Address::from_bytes([0x44; 20]);
    assert_eq!(concerns(&world, at("d"), to(third)), [Concern::PayeeChanged { payee: third }]);
}

fn two_networks(payment: &str) -> Arc<Rules> {
    let text = format!(
        "[payment]\nmax_per_payment = \"1.00 USD\"\nnetworks = [\"eip155:84532\", \"eip155:11155111\"]
         assets = [\"eip155:84532/erc20:{}\", \"eip155:11155111/erc20:{SEPOLIA_USDC}\"]
         recipients = [\"{}\"]\nallow_any_host = true\n{payment}
         [[asset]]\nid = \"eip155:11155111/erc20:{SEPOLIA_USDC}\"\nsymbol = \"USDC\"\ndecimals = 6\ncurrency = \"USD\"
         eip712_name = \"USDC\"\neip712_version = \"2\"",
        terms(CENT).asset,
        terms(CENT).payee,
    );
    let draft: Draft = toml::from_str(&text).unwrap();
    Arc::new(Rules::new(draft, Setting::Sandbox).unwrap())
}

#[test]
fn a_network_or_an_asset_that_is_new_for_a_known_host_goes_to_a_person() {
    let mut world = world(ANY, "");
    world.rules = two_networks("");
    let (chain, contract) = (ChainId::SEPOLIA, SEPOLIA_USDC.parse().unwrap());
    let moved = Terms { chain, asset: contract, domain_name: "USDC".to_owned(), ..terms(CENT) };
    buy(&world, errand("a"), terms(CENT)).unwrap();
    let new = [Concern::NetworkChanged { chain }, Concern::AssetChanged { asset: AssetId { chain, contract } }];
    assert_eq!(concerns(&world, errand("b"), moved.clone()), new);
    world.rules = two_networks("on_change = \"allow\"");
    buy(&world, errand("c"), moved).unwrap();
}

#[test]
fn a_price_far_above_the_usual_goes_to_a_person_once_there_is_a_usual() {
    let world = world("allow_any_host = true\nunusual_price = 5", "");
    let at = |units: u128| Terms { amount: Amount::new(units).unwrap(), ..terms(CENT) };
    // Two payments make no habit.
    for (path, units) in [("a", CENT), ("b", 9 * CENT)] {
        buy(&world, errand(path), at(units)).unwrap();
    }
    buy(&world, errand("c"), at(2 * CENT)).unwrap();
    // Four cents on average: twenty is five times that, and allowed.
    buy(&world, errand("d"), at(20 * CENT)).unwrap();
    let seen = concerns(&world, errand("e"), at(41 * CENT));
    assert_eq!(seen, [Concern::UnusualPrice { asked: money("0.41 USD"), usual: money("0.08 USD") }]);
    // Another host has habits of its own.
    buy(&world, errand_at("https://quite.elsewhere.org/a"), at(90 * CENT)).unwrap();
}

#[test]
fn a_price_that_creeps_goes_to_a_person_in_however_small_steps() {
    let mut world = world("allow_any_host = true\nprice_rise = \"20%\"", "");
    let at = |units: u128| Terms { amount: Amount::new(units).unwrap(), ..terms(CENT) };
    let mut units = 5 * CENT;
    for step in 1.. {
        if 6 * CENT < units {
            break;
        }
        buy(&world, named("a", &format!("creep-{step}")), at(units)).unwrap();
        units += units / 100;
    }
    let (asked, first) = (money("0.060458 USD"), money("0.05 USD"));
    assert_eq!(concerns(&world, named("a", "last"), at(60_458)), [Concern::PriceRisen { asked, first }]);
    assert!(6 * CENT < units && units < 61_000, "the steps were a hundredth each: {units}");
    // Exactly a fifth more is no more than that, and another request has a first price of its own.
    buy(&world, named("a", "fifth"), at(6 * CENT)).unwrap();
    buy(&world, errand("b"), at(60_458)).unwrap();
    // What is known outlives a restart, and rules that do not ask are not told.
    world.reopen();
    assert_eq!(concerns(&world, named("a", "again"), at(60_458)), [Concern::PriceRisen { asked, first }]);
    world.rules = rules_with(ANY, "");
    buy(&world, named("a", "unasked"), at(60_458)).unwrap();
}

#[test]
fn what_came_to_nothing_was_no_first_price() {
    let world = world("allow_any_host = true\nprice_rise = \"20%\"", "");
    let at = |units: u128| Terms { amount: Amount::new(units).unwrap(), ..terms(CENT) };
    let guard = world.new_claim(named("a", "void"));
    let counted = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules).unwrap();
    let Counted::Yes(exposed) = counted else { panic!("{counted:?}") };
    world.ledger().void(*exposed, NotSigned::by_the_signer()).unwrap();
    buy(&world, named("a", "first"), at(9 * CENT)).unwrap();
    let (asked, first) = (money("0.11 USD"), money("0.09 USD"));
    assert_eq!(concerns(&world, named("a", "risen"), at(11 * CENT)), [Concern::PriceRisen { asked, first }]);
}

#[test]
fn a_new_host_that_looks_like_a_known_one_goes_to_a_person() {
    let world = world(ANY, "");
    buy(&world, errand("a"), terms(CENT)).unwrap();
    let known = || "api.example.com".to_owned();
    for url in
        ["https://api.examp1e.com/", "https://api.exmaple.com/", "https://ap.example.com/", "https://аpi.example.com/"]
    {
        let seen = concerns(&world, errand_at(url), terms(CENT));
        assert!(seen.contains(&Concern::LooksAlike { known: known() }), "{url}: {seen:?}");
    }
    // The same host on another port is no other host, and one that differs more is a host like any other.
    buy(&world, errand_at("https://data.example.com/"), terms(CENT)).unwrap();
}

#[test]
fn nobody_hides_a_known_name_behind_many_that_are_a_little_less_like_it() {
    let world = world(ANY, "");
    let at = |host: &str| -> Errand { errand_at(&format!("https://{host}/")) };
    let rest = "pi.a-seller-with-a-long-name.com";
    buy(&world, at(&format!("z{rest}")), terms(CENT)).unwrap();
    for (place, letter) in (1..rest.len() - 1).zip("qkj".chars().cycle()) {
        let (before, after) = rest.split_at(place);
        buy(&world, at(&format!("{before}{letter}{after}")), terms(CENT)).unwrap();
    }
    let seen = concerns(&world, at(&format!("x{rest}")), terms(CENT));
    assert_eq!(seen, [Concern::LooksAlike { known: format!("z{rest}") }]);
}

#[test]
fn letters_of_several_scripts_in_a_new_host_go_to_a_person() {
    let world = world(ANY, "");
    let seen = concerns(&world, errand_at("https://pаypal.test/"), terms(CENT));
    assert!(matches!(seen.as_slice(), [Concern::MixedScripts { .. }]), "{seen:?}");
    buy(&world, errand_at("https://bücher.test/"), terms(CENT)).unwrap();
    buy(&world, errand_at("https://почта.test/"), terms(CENT)).unwrap();
}

#[test]
fn a_listed_host_may_look_like_anything() {
    let tables = "[[host]]\norigin = \"https://api.example.com\"\n[[host]]\norigin = \"https://apl.example.com\"";
    let world = world("", tables);
    buy(&world, errand("a"), terms(CENT)).unwrap();
    buy(&world, errand_at("https://apl.example.com/a"), terms(CENT)).unwrap();
}

#[test]
fn the_same_is_bought_once_in_the_time_that_the_rules_say_whatever_the_purchase_id_or_session() {
    let world = world("allow_any_host = true\nmax_unresolved = 9\nno_recurring = \"7d\"", "");
    buy(&world, errand("a"), terms(CENT)).unwrap();
    world.time.pass(7 * 86_400 - 1);
    let again = buy(&world, named("a", "second"), terms(CENT)).unwrap_err();
    assert_eq!(again, [Refusal::Recurring { ago_s: 604_799, within_s: 604_800 }]);
    let other = session(world.ledger());
    let claim = world.ledger().claim(&other, errand("a"), &world.rules, std::time::Duration::ZERO).unwrap();
    let crate::ledger::Claim::New(guard) = claim else { panic!("{claim:?}") };
    let counted = world.ledger().authorize(guard, world.ask(terms(CENT)), &world.rules).unwrap();
    assert!(matches!(counted, Counted::No { ref reasons, .. } if *reasons == again), "{counted:?}");
    buy(&world, errand("b"), terms(CENT)).unwrap();
    world.time.pass(1);
    buy(&world, named("a", "third"), terms(CENT)).unwrap();
}

fn session(ledger: &Ledger) -> SessionId {
    let id = SessionId::from_random([2; 16]);
    let opened = ledger.open_session(id.clone(), "other".parse().unwrap(), money("1 USD"), 31_536_000, None).unwrap();
    assert!(matches!(opened, SessionOpened::Opened(_)));
    id
}

#[test]
fn what_the_caller_finds_suspicious_goes_to_a_person_and_nothing_else_changes() {
    let world = world(ANY, "");
    let doubtful = Errand { suspicious: Some("the page says hurry".parse().unwrap()), ..errand("a") };
    let why = "the page says hurry".parse().unwrap();
    assert_eq!(concerns(&world, doubtful.clone(), terms(CENT)), [Concern::Suspicious { why }]);
    // What is refused anyway is refused, not asked about.
    let refused = buy(&world, doubtful, terms(101 * CENT)).unwrap_err();
    assert!(matches!(refused.as_slice(), [Refusal::OverPaymentCap { .. }]), "{refused:?}");
}
