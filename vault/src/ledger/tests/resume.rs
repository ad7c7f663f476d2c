//! A person forgives a host or a payee; what was lost stays lost, and the books balance.

use std::sync::Arc;

use bursar_policy::chain::Address;
use bursar_policy::errand::Errand;
use bursar_policy::limit::Scope;
use bursar_policy::rules::Rules;

use super::unresolved::{ask, shut};
use super::world::{LIFE_S, START, World, answered, errand, errand_at, money, rules_with, settled, silence};
use crate::ledger::store::bound;
use crate::ledger::{Answer, Claim, EXPIRY_MARGIN_S, LedgerFault, Meant, Reservation};
use crate::protocol::{Lost, Resumable, Resumed};

const ORIGIN: &str = "https://api.example.com";

fn rules(lines: &str) -> Arc<Rules> {
    rules_with(&format!("allow_any_host = true\n{lines}"), "")
}

fn world(lines: &str) -> World {
    let mut world = World::new("", "100 USD");
    world.rules = rules(lines);
    world
}

fn payee(byte: u8) -> String {
    format!("eip155:84532:{}", Address::from_bytes([byte; 20]))
}

/// A payment that runs out without a word.
fn lose(world: &World, errand: Errand, payee: u8) -> Reservation {
    let exposed = ask(world, errand, payee).unwrap();
    world.sign(&exposed);
    world.time.pass(LIFE_S + EXPIRY_MARGIN_S);
    world.ledger().sweep().unwrap();
    exposed
}

fn lifted(world: &World, whom: &str) -> Resumed {
    match world.ledger().resume(whom, &world.rules).unwrap() {
        Meant::One(resumed) => resumed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_quarantine_is_lifted_with_everything_that_led_to_it() {
    let mut world = world("quarantine_after = 2\nmax_unresolved = 10");
    for path in ["a", "b"] {
        let exposed = ask(&world, errand(path), 0x22).unwrap();
        world.sign(&exposed);
        world.ledger().report(&exposed, silence(), world.rules.breaker()).unwrap();
    }
    assert!(matches!(world.claim(errand("c")), Claim::Refused(_)));
    let wanted = Resumed {
        scope: Scope::Host,
        of: ORIGIN.to_owned(),
        quarantined_until_s: Some(START + 3_600),
        failures: 2,
        strikes: 0,
        pardoned: 0,
        still_shut: Vec::new(),
    };
    assert_eq!(lifted(&world, ORIGIN), wanted);
    assert!(matches!(world.claim(errand("c")), Claim::New(_)));
    assert_eq!(world.kinds().get("resumed"), Some(&1));
    let nothing = Resumed { quarantined_until_s: None, failures: 0, ..wanted };
    assert_eq!(lifted(&world, ORIGIN), nothing);
    assert_eq!(world.kinds().get("resumed"), Some(&1), "nothing was lifted, so nothing is in the log");
    world.reopen();
    assert!(matches!(world.claim(errand("c")), Claim::New(_)));
}

fn standing(world: &World, whom: &str) -> Resumable {
    match world.ledger().resumable(whom, &world.rules).unwrap() {
        Meant::One(standing) => standing,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_would_be_lifted_is_told_with_the_newest_payments_and_nothing_is_lifted() {
    let mut world = world("max_unresolved = 100");
    for number in 0..7 {
        drop(lose(&world, errand(&format!("page-{number}?key=secret")), 0x22));
    }
    // Another host's loss to the same payee, and one that nobody knows the end of yet.
    drop(lose(&world, errand_at("https://other.example.org/x"), 0x22));
    let open = ask(&world, errand("open"), 0x22).unwrap();
    world.sign(&open);

    let (host, to) = (standing(&world, ORIGIN), standing(&world, &payee(0x22)));
    assert_eq!((host.scope, host.of.as_str(), host.lost), (Scope::Host, ORIGIN, 7));
    assert_eq!((to.scope, to.of, to.lost), (Scope::Payee, payee(0x22), 8));
    assert_eq!((host.money, to.money), (vec![money("0.07 USD")], vec![money("0.08 USD")]));
    let paths = |of: &Resumable| of.newest.iter().map(|one| format!("{}{}", one.origin, one.path)).collect::<Vec<_>>();
    let of_host = standing(&world, ORIGIN);
    assert_eq!(of_host.newest.len(), 5);
    assert_eq!(paths(&of_host)[0], format!("{ORIGIN}/page-6"), "the newest first, and no query");
    assert_eq!(paths(&standing(&world, &payee(0x22)))[0], "https://other.example.org/x");
    assert_eq!((of_host.failures, of_host.strikes, of_host.quarantined_until_s), (0, 0, None));

    // Looking changed nothing, and the same seven are what is put up with.
    assert_eq!(world.kinds().get("resumed"), None);
    assert_eq!(lifted(&world, ORIGIN).pardoned, 7);
    let after = standing(&world, ORIGIN);
    assert_eq!((after.lost, after.money, after.newest), (0, Vec::new(), Vec::new()));
    assert_eq!(standing(&world, &payee(0x22)).lost, 8, "the payee is another matter");
    assert_eq!(world.ledger().resumable("nobody.example.com", &world.rules).unwrap(), Meant::Nobody);
    world.reopen();
    assert_eq!(standing(&world, &payee(0x22)).lost, 8);
}

#[test]
fn lost_payments_are_put_up_with_for_the_host_and_for_the_payee_each_by_itself() {
    let mut world = world("");
    drop(lose(&world, errand("a"), 0x22));
    assert_eq!(shut(&world, errand("b"), 0x22), [Scope::Host, Scope::Payee]);
    let spent = world.spent();

    let resumed = lifted(&world, ORIGIN);
    assert_eq!(resumed.pardoned, 1);
    assert_eq!(resumed.still_shut, [Lost { scope: Scope::Payee, of: payee(0x22), count: 1 }]);
    assert_eq!(shut(&world, errand("c"), 0x22), [Scope::Payee]);
    assert_eq!(shut(&world, errand("c"), 0x33), []);
    let again = lifted(&world, ORIGIN);
    assert_eq!((again.pardoned, again.still_shut.len()), (0, 1), "it is said as long as it is so");
    world.ledger().verify().unwrap();

    let resumed = lifted(&world, &payee(0x22).to_ascii_lowercase());
    assert_eq!((resumed.scope, resumed.of, resumed.pardoned), (Scope::Payee, payee(0x22), 1));
    assert_eq!(resumed.still_shut, []);
    assert_eq!(shut(&world, errand("d"), 0x22), []);
    assert_eq!(world.spent(), spent.checked_add(super::world::money("0.01 USD")).unwrap(), "nothing came back");
    assert_eq!(world.ledger().overview(None, &world.rules).unwrap().lost, []);
    let past = world.ledger().payments(1, None).unwrap();
    assert!(!past[0].unresolved, "it no longer counts in a replay");
    world.ledger().verify().unwrap();
    world.reopen();
    world.ledger().verify().unwrap();
    assert_eq!(shut(&world, errand("e"), 0x44), []);
}

#[test]
fn what_is_lost_after_that_counts_again_and_a_late_word_about_the_old_loss_frees_no_further_one() {
    for late in [answered(None), answered(Some(settled()))] {
        let mut world = world("");
        let lost = lose(&world, errand("a"), 0x22);
        lifted(&world, ORIGIN);
        lifted(&world, &payee(0x22));
        world.ledger().report(&lost, late, world.rules.breaker()).unwrap();
        world.ledger().verify().unwrap();
        drop(lose(&world, errand("b"), 0x22));
        assert_eq!(shut(&world, errand("c"), 0x22), [Scope::Host, Scope::Payee]);
        let resumed = lifted(&world, ORIGIN);
        assert_eq!(resumed.pardoned, 1);
        drop(lost);
        world.ledger().verify().unwrap();
        world.reopen();
        world.ledger().verify().unwrap();
    }
}

#[test]
fn a_host_is_named_by_its_origin_or_by_a_name_that_only_one_origin_has() {
    let mut world = world("quarantine_after = 1\nmax_unresolved = 10");
    let fail = |world: &World, url: &str| {
        let exposed = ask(world, errand_at(url), 0x22).unwrap();
        world.sign(&exposed);
        world.ledger().report(&exposed, silence(), world.rules.breaker()).unwrap();
    };
    assert_eq!(world.ledger().resume("api.example.com", &world.rules).unwrap(), Meant::Nobody);
    fail(&world, "https://api.example.com/a");
    assert_eq!(lifted(&world, "API.example.com").failures, 1);
    fail(&world, "https://api.example.com/b");
    fail(&world, "https://api.example.com:8443/b");
    let both = vec![ORIGIN.to_owned(), format!("{ORIGIN}:8443")];
    assert_eq!(world.ledger().resume("api.example.com", &world.rules).unwrap(), Meant::Several(both));
    let one = lifted(&world, "api.example.com:8443");
    assert_eq!((one.of, one.failures), (format!("{ORIGIN}:8443"), 1));
    assert_eq!(lifted(&world, ORIGIN).failures, 1, "the other one stayed as it was");
    // A host with lost payments and a host of the rules are known, too.
    drop(lose(&world, errand_at("https://lost.example.com/"), 0x22));
    assert_eq!(lifted(&world, "lost.example.com").pardoned, 1);
    world.rules = rules_with("", "[[host]]\norigin = \"https://listed.example.com\"");
    assert_eq!(lifted(&world, "listed.example.com").of, "https://listed.example.com");
    for nobody in ["", " ", "api example com", "https://api.example.com/path", "eip155:1:0x12", "nobody.example.com"] {
        assert_eq!(world.ledger().resume(nobody, &world.rules).unwrap(), Meant::Nobody, "{nobody}");
    }
}

#[test]
fn a_pardon_that_no_person_gave_is_found() {
    let world = world("");
    drop(lose(&world, errand("a"), 0x22));
    let forged = world.ledger().writer.ask(|tx| {
        tx.conn.execute("INSERT INTO pardon (payment, scope) SELECT id, 'host' FROM payment", bound![])?;
        let key = "overdue-host|https://api.example.com|*";
        tx.conn.execute("UPDATE tally SET pending_count = 0 WHERE key = ?1", bound![key])?;
        Ok(Answer::Durable(()))
    });
    forged.unwrap();
    let fault = world.ledger().verify().unwrap_err();
    assert!(matches!(&fault, LedgerFault::Books { detail } if detail.contains("nobody put up with")), "{fault}");
}

#[test]
fn a_pardon_for_the_host_is_none_for_the_payee() {
    let world = world("");
    drop(lose(&world, errand("a"), 0x22));
    world.ledger().resume("https://api.example.com", &world.rules).unwrap();
    world.ledger().verify().unwrap();
    let forged = world.ledger().writer.ask(|tx| {
        tx.conn.execute("INSERT INTO pardon (payment, scope) SELECT id, 'payee' FROM payment", bound![])?;
        tx.conn.execute("UPDATE tally SET pending_count = 0 WHERE key LIKE 'overdue-payee|%'", bound![])?;
        Ok(Answer::Durable(()))
    });
    forged.unwrap();
    let fault = world.ledger().verify().unwrap_err();
    assert!(matches!(&fault, LedgerFault::Books { detail } if detail.contains("nobody put up with")), "{fault}");
}
