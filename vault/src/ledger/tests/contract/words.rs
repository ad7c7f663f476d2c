//! What a yes stands for: what the person was shown, said by a person, at a time that came.

use bursar_policy::chain::Address;
use bursar_policy::terms::Terms;

use super::approvals::{asked, world};
use super::world::{CENT, START, World, errand, errand_at, money, rules_with, terms};
use crate::ledger::{Claim, LedgerFault};
use crate::protocol::ApprovalState;

const OTHER: Address = Address::from_bytes([0x33; 20]);

fn assert_found(world: &World, what: &str) {
    let found = world.ledger().verify();
    assert!(matches!(found, Err(LedgerFault::Books { .. })), "not found: {what}: {found:?}");
}

#[test]
fn a_yes_is_none_to_what_the_person_was_not_shown() {
    let mut world = world();
    let first = "allow_any_host = true\nmax_unresolved = 9\nfirst_payee = \"approve\"";
    world.rules = rules_with(first, "");
    let to_other = || Terms { payee: OTHER, ..terms(CENT) };
    let one = world.asks(errand("one"), CENT);
    let (two, _) = asked(world.authorize_terms(errand("two"), to_other()));
    assert!(world.shown(&two).concerns.concat().contains("the first payment for this host"));
    world.says_yes(&one);
    world.says_yes(&two);
    world.buy(errand("one"), CENT);
    let (again, _) = asked(world.authorize_terms(errand("two"), to_other()));
    assert_ne!(again, two, "the host has another payee since, which nobody was shown");
    assert!(world.shown(&again).concerns.concat().contains("is new for this host"));
    world.says_yes(&again);
    drop(world.authorize_terms(errand("two"), to_other()).unwrap());

    let yes = world.asks(errand_at("https://quite.elsewhere.org/"), CENT);
    world.says_yes(&yes);
    world.rules = rules_with(&format!("{first}\napprove_over = \"0.005 USD\""), "");
    let both = world.asks(errand_at("https://quite.elsewhere.org/"), CENT);
    assert_eq!(world.shown(&both).concerns.len(), 2, "rules that want a person for more are not held by an older yes");
    world.rules = rules_with(first, "");
    assert_eq!(world.asks(errand_at("https://quite.elsewhere.org/"), CENT), both, "who is shown more is asked once");
    world.says_yes(&both);
    world.buy(errand_at("https://quite.elsewhere.org/"), CENT);
    world.ledger().verify().unwrap();
}

#[test]
fn a_seller_that_changes_its_terms_at_every_call_takes_one_place() {
    let world = world();
    let changed = |max_timeout_s| Terms { max_timeout_s, ..terms(3 * CENT) };
    let asked_for: Vec<_> = (0..9).map(|n| asked(world.authorize_terms(errand("dear"), changed(600 - n))).0).collect();
    assert_eq!(world.waiting(), 1);
    let open = world.ledger().approvals().unwrap();
    assert_eq!(open.iter().map(|view| &view.id).collect::<Vec<_>>(), [asked_for.last().unwrap()]);
    world.asks(errand_at("https://quite.elsewhere.org/"), 3 * CENT);
    // What was decided is not taken away: those terms may come again.
    world.says_yes(asked_for.last().unwrap());
    world.asks(errand("dear"), 3 * CENT);
    assert_eq!(world.shown(asked_for.last().unwrap()).state, ApprovalState::Approved);
    drop(world.authorize_terms(errand("dear"), changed(592)).unwrap());
}

#[test]
fn what_waits_is_listed_before_everything_that_was_decided() {
    let world = world();
    let decided: Vec<_> = ["a", "b", "c"].map(|path| world.asks(errand(path), 3 * CENT)).into();
    world.says_no(&decided[0]);
    world.says_yes(&decided[1]);
    world.says_no(&decided[2]);
    world.time.pass(60);
    let waits = ["d", "e"].map(|path| world.asks(errand(path), 3 * CENT));
    let listed: Vec<_> = world.ledger().approvals().unwrap().into_iter().map(|view| view.id).collect();
    assert_eq!(listed, [&waits[..], &decided[..]].concat(), "a page that is full hides no question behind a no");
}

#[test]
fn what_was_asked_or_allowed_in_a_future_that_is_none_is_over() {
    let world = world();
    let before = world.asks(errand("before"), 3 * CENT);
    world.time.set_wall(START + 300);
    world.ledger().unlatch().unwrap();
    let (open, yes) = (world.asks(errand("open"), 3 * CENT), world.asks(errand("yes"), 3 * CENT));
    world.says_yes(&yes);
    let binding = world.shown(&open).binding;
    world.time.set_wall(START);
    assert!(matches!(world.claim(errand("yes")), Claim::Refused(_)), "the clock is in doubt");
    world.ledger().unlatch().unwrap();
    let left: Vec<_> = world.ledger().approvals().unwrap().into_iter().map(|view| view.id).collect();
    assert_eq!(left, [before]);
    assert_eq!(world.ledger().approve(open, binding, 600).unwrap(), crate::ledger::Decided::Expired);
    let again = world.asks(errand("yes"), 3 * CENT);
    world.says_yes(&again);
    world.buy(errand("yes"), 3 * CENT);
    world.ledger().verify().unwrap();
}

#[test]
fn a_yes_that_no_person_gave_is_found_and_buys_nothing() {
    let by_hand = "UPDATE approval SET state = 'approved', decided_s = asked_s, said =";
    for (what, triggers, sql) in [
        ("no event at all", &[][..], format!("{by_hand} 1 WHERE state = 'waiting'")),
        (
            "the event of another yes",
            &[],
            format!("{by_hand} (SELECT said FROM approval WHERE state = 'approved') WHERE state = 'waiting'"),
        ),
        (
            "a yes that lasts for longer",
            &["approval_story", "approval_moves"],
            "UPDATE approval SET expires_s = expires_s + 1 WHERE state = 'approved'".to_owned(),
        ),
        (
            "a yes to another purchase",
            &["approval_story", "approval_moves"],
            "UPDATE approval SET state = 'expired' WHERE state = 'waiting';
             UPDATE approval SET binding = (SELECT binding FROM approval WHERE state = 'expired') WHERE state = 'approved'"
                .to_owned(),
        ),
    ] {
        let world = world();
        world.says_yes(&world.asks(errand("yes"), 3 * CENT));
        world.asks(errand("open"), 3 * CENT);
        world.ledger().verify().unwrap();
        world.ledger().flush().unwrap();
        world.by_hand().forge(triggers, &sql);
        assert_found(&world, what);
        let path = if what.contains("longer") { "yes" } else { "open" };
        let guard = world.new_claim(errand(path));
        let counted = world.ledger().authorize(guard, world.ask(terms(3 * CENT)), &world.rules);
        assert!(matches!(counted, Err(LedgerFault::Unreadable { .. })), "{what}: {counted:?}");
        assert_eq!(world.spent(), money("0.00 USD"), "{what}");
        assert!(world.ledger().unlatch().is_err(), "{what}: it stays shut");
    }
}
