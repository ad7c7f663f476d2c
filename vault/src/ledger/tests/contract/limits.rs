//! Rolling windows, lifetimes, scopes and counts, against the real rows.

use bursar_policy::errand::{SessionId, SessionName};
use bursar_policy::limit::Scope;
use bursar_policy::refusal::Refusal;

use super::world::{CENT, LIFE_S, World, errand, errand_at, money, named, rules, terms};
use crate::ledger::{EXPIRY_MARGIN_S, SessionOpened};

fn limit(scope: &str, window: &str, max: &str) -> String {
    format!("[[limit]]\nscope = \"{scope}\"\nwindow = \"{window}\"\n{max}\n")
}

fn breaches(reasons: &[Refusal]) -> Vec<Scope> {
    let scope = |reason: &Refusal| match reason {
        Refusal::OverLimit { scope, .. } => Some(*scope),
        _ => None,
    };
    reasons.iter().filter_map(scope).collect()
}

#[test]
fn what_was_settled_slides_out_of_the_window_to_the_second() {
    let world = World::new(&limit("all", "1h", "max = \"0.10 USD\""), "100 USD");
    world.buy(errand("a"), 6 * CENT);
    world.time.pass(1_800);
    world.buy(errand("b"), 4 * CENT);
    assert!(world.authorize(errand("c"), CENT).is_err(), "full");
    world.time.pass(1_799);
    assert!(world.authorize(errand("c"), CENT).is_err(), "one second short of an hour after the first");
    world.time.pass(1);
    assert!(world.authorize(errand("c"), 6 * CENT).is_ok(), "the first slid out, and only the first");
    assert!(world.authorize(errand("d"), CENT).is_err());
}

#[test]
fn a_pending_payment_never_slides_out_and_a_presumed_one_starts_at_its_end() {
    let world = World::new(&limit("all", "30s", "max = \"0.10 USD\""), "100 USD");
    drop(world.authorize(errand("a"), 10 * CENT).unwrap());
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S - 1);
    assert!(world.authorize(errand("b"), CENT).is_err(), "far older than the window, and pending");
    world.time.pass(1);
    assert!(world.authorize(errand("b"), CENT).is_err(), "presumed spent just now: its window begins here");
    world.time.pass(29);
    assert!(world.authorize(errand("b"), CENT).is_err());
    world.time.pass(1);
    assert!(world.authorize(errand("b"), 10 * CENT).is_ok());
}

#[test]
fn a_late_sweep_does_not_hold_money_longer() {
    let world = World::new(&limit("all", "30s", "max = \"0.10 USD\""), "100 USD");
    drop(world.authorize(errand("a"), 10 * CENT).unwrap());
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S + 30);
    assert!(
        world.authorize(errand("b"), 10 * CENT).is_ok(),
        "it entered its window when it ran out, not when we looked"
    );
}

#[test]
fn a_calendar_day_is_full_until_midnight_where_people_live_and_allows_twice_around_it() {
    let limits = limit("all", "day", "time_zone = \"Europe/Berlin\"\nmax = \"0.10 USD\"");
    let world = World::new(&limits, "100 USD");
    // The test begins at 17:46:40 UTC on a Sunday in March, an hour later in Berlin.
    let midnight_s = 86_400 - (18 * 3_600 + 46 * 60 + 40);
    world.time.pass(midnight_s - 1);
    world.buy(errand("a"), 10 * CENT);
    assert_eq!(breaches(&world.authorize(errand("b"), CENT).unwrap_err()), [Scope::All]);
    let seen = world.ledger().overview(None, &world.rules).unwrap().limits;
    assert_eq!(
        (seen[0].used, seen[0].window.to_string()),
        (Some(money("0.10 USD")), "day in Europe/Berlin".to_owned())
    );
    world.time.pass(1);
    world.buy(errand("b"), 10 * CENT);
    assert!(world.authorize(errand("c"), CENT).is_err(), "the new day is full");
    world.time.pass(86_399);
    assert!(world.authorize(errand("c"), CENT).is_err(), "one second short of the next");
    world.time.pass(1);
    assert!(world.authorize(errand("c"), 10 * CENT).is_ok());
}

#[test]
fn weeks_begin_on_monday_and_months_on_the_first() {
    for (window, days) in [("week", 1), ("month", 15)] {
        let world = World::new(&limit("all", window, "time_zone = \"UTC\"\ncount = 1"), "100 USD");
        // Sunday, 17 March 2030, 17:46:40.
        world.buy(errand("a"), CENT);
        world.time.pass(days * 86_400 - (17 * 3_600 + 46 * 60 + 40) - 1);
        assert!(world.authorize(errand("b"), CENT).is_err(), "{window}");
        world.time.pass(1);
        assert!(world.authorize(errand("b"), CENT).is_ok(), "{window}");
    }
}

#[test]
fn what_is_pending_counts_in_the_next_day_too() {
    let limits = limit("all", "day", "time_zone = \"UTC\"\nmax = \"0.10 USD\"");
    let world = World::new(&limits, "100 USD");
    world.time.pass(86_400 - (17 * 3_600 + 46 * 60 + 40) - 1);
    drop(world.authorize(errand("a"), 10 * CENT).unwrap());
    world.time.pass(1);
    assert!(world.authorize(errand("b"), CENT).is_err(), "it may still be spent today");
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S);
    assert!(world.authorize(errand("b"), CENT).is_err(), "it is presumed to have been");
}

#[test]
fn a_lifetime_never_forgets() {
    let world = World::new(&limit("all", "lifetime", "max = \"0.10 USD\""), "100 USD");
    world.buy(errand("a"), 10 * CENT);
    world.time.pass(20 * 86_400);
    assert_eq!(breaches(&world.authorize(errand("b"), CENT).unwrap_err()), [Scope::All]);
}

#[test]
fn counts_count_and_money_is_left() {
    let world = World::new(&limit("all", "24h", "count = 2"), "100 USD");
    world.buy(errand("a"), CENT);
    world.buy(errand("b"), CENT);
    assert_eq!(breaches(&world.authorize(errand("c"), CENT).unwrap_err()), [Scope::All]);
    world.time.pass(86_400);
    assert!(world.authorize(errand("c"), CENT).is_ok());
}

#[test]
fn each_scope_adds_up_its_own() {
    let limits = [
        limit("host", "24h", "max = \"0.02 USD\""),
        limit("payee", "24h", "max = \"0.04 USD\""),
        limit("asset", "24h", "max = \"0.06 USD\""),
    ]
    .concat();
    let world = World::new(&limits, "100 USD");
    let buy = |host: &str, path: &str, payee: u8| {
        let mut wanted = terms(CENT);
        wanted.payee = bursar_policy::Address::from_bytes([payee; 20]);
        let guard = world.new_claim(errand_at(&format!("https://{host}/{path}")));
        match world.ledger().authorize(guard, world.ask(wanted), &world.rules).unwrap() {
            crate::ledger::Counted::Yes(_) => Vec::new(),
            crate::ledger::Counted::No { reasons, .. } => breaches(&reasons),
        }
    };
    assert_eq!(buy("one.example.com", "1", 0x22), []);
    assert_eq!(buy("one.example.com", "2", 0x22), []);
    assert_eq!(buy("one.example.com", "3", 0x22), [Scope::Host]);
    assert_eq!(buy("two.example.com", "1", 0x22), []);
    assert_eq!(buy("two.example.com", "2", 0x22), []);
    assert_eq!(buy("ten.example.com", "1", 0x22), [Scope::Payee]);
    assert_eq!(buy("ten.example.com", "2", 0x33), []);
    assert_eq!(buy("six.example.com", "1", 0x33), []);
    assert_eq!(buy("six.example.com", "2", 0x44), [Scope::Asset]);
}

#[test]
fn a_limit_written_later_counts_what_was_spent_before() {
    let mut world = World::new("", "100 USD");
    world.buy(errand("a"), 9 * CENT);
    world.rules = rules(&limit("host", "7d", "max = \"0.10 USD\""));
    assert!(world.authorize(errand("b"), 2 * CENT).is_err());
    assert!(world.authorize(errand("b"), CENT).is_ok());
}

#[test]
fn a_session_spends_its_budget_and_its_time() {
    let world = World::new("", "0.10 USD");
    world.buy(errand("a"), 9 * CENT);
    let reasons = world.authorize(errand("b"), 2 * CENT).unwrap_err();
    assert_eq!(reasons[0].code(), "over_session_budget");
    world.buy(errand("b"), CENT);
    world.time.pass(31_536_000);
    let claim = world.claim(errand("c"));
    assert!(matches!(&claim, crate::ledger::Claim::Refused(why) if why[..] == [Refusal::SessionExpired]), "{claim:?}");
}

#[test]
fn a_name_has_one_open_session_and_a_new_one_starts_anew() {
    let world = World::new("", "0.10 USD");
    world.buy(errand("a"), 10 * CENT);
    let name = SessionName::default();
    let open = |byte: u8, budget: &str, life_s: u64| {
        world
            .ledger()
            .open_session(SessionId::from_random([byte; 16]), name.clone(), money(budget), life_s, None)
            .unwrap()
    };
    assert!(matches!(open(2, "1 USD", 60), SessionOpened::AlreadyOpen(view) if view.spent == money("0.10 USD")));
    assert_eq!(world.ledger().close_session(name.clone()).unwrap().unwrap().spent, money("0.10 USD"));
    assert_eq!(world.ledger().close_session(name.clone()).unwrap(), None);
    assert_eq!(open(3, "0 USD", 60), SessionOpened::Pointless);
    assert_eq!(open(3, "1 USD", 0), SessionOpened::Pointless);
    assert!(matches!(open(4, "1 USD", 60), SessionOpened::Opened(view) if view.spent == money("0.00 USD")));
    assert_eq!(world.ledger().session_named(name.clone()).unwrap().unwrap().id, SessionId::from_random([4; 16]));
    world.time.pass(60);
    assert!(matches!(open(5, "1 USD", 60), SessionOpened::Opened(_)), "one that ran out makes room");
    let listed = world.ledger().sessions().unwrap();
    assert_eq!(listed.iter().map(|session| session.closed).collect::<Vec<_>>(), [false, true, true]);
    world.ledger().verify().unwrap();
}

#[test]
fn the_overview_tells_what_is_used_and_what_is_open() {
    let limits = [limit("all", "24h", "max = \"1.00 USD\""), limit("session", "24h", "count = 9")].concat();
    let world = World::new(&limits, "5.00 USD");
    world.buy(named("a", "one"), 10 * CENT);
    let open = world.authorize(named("a", "two"), 20 * CENT).unwrap();
    let seen = world.ledger().overview(Some(&world.session), &world.rules).unwrap();
    assert_eq!(seen.session.unwrap().spent, money("0.30 USD"));
    assert_eq!(seen.held, [money("0.20 USD")]);
    assert_eq!(seen.unresolved.len(), 1);
    assert_eq!(seen.unresolved[0].receipt.payment, *open.payment());
    assert_eq!(seen.limits[0].used, Some(money("0.30 USD")));
    assert_eq!(seen.limits[1].count_used, 2);
    let all = world.ledger().overview(None, &world.rules).unwrap();
    assert_eq!((all.limits.len(), all.unresolved_count, all.session), (1, 1, None));
}

#[test]
fn a_quote_pins_its_terms_and_nothing_else_is_paid_with_it() {
    let world = World::new("", "5.00 USD");
    let id = bursar_policy::QuoteId::from_random([8; 16]);
    let quote = |terms| {
        world.ledger().quote(id.clone(), &world.session, &errand("a"), terms, super::world::PAYER, &world.rules)
    };
    assert_eq!(quote(terms(101 * CENT)).unwrap()[0].code(), "over_payment_cap");
    let with = |path: &str| bursar_policy::Errand { quote: Some(id.clone()), ..errand(path) };
    let codes = |errand, units| -> Vec<&'static str> {
        world.authorize(errand, units).err().unwrap_or_default().iter().map(Refusal::code).collect()
    };
    assert_eq!(codes(with("a"), 5 * CENT), ["quote_unknown"], "a refused quote pins nothing");
    assert_eq!(quote(terms(5 * CENT)).unwrap(), []);
    assert_eq!(world.spent(), money("0.00 USD"), "a quote counts nothing");
    assert_eq!(codes(with("a"), 6 * CENT), ["quote_changed"]);
    assert_eq!(codes(with("b"), 5 * CENT), ["quote_unknown"], "for this errand only");
    assert_eq!(codes(with("a"), 5 * CENT), Vec::<&str>::new());
    world.time.pass(crate::ledger::QUOTE_LIFE_S);
    assert_eq!(
        codes(bursar_policy::Errand { purchase_id: "x".parse().ok(), ..with("a") }, 5 * CENT),
        ["quote_unknown"]
    );
}
