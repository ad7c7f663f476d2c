//! The center in a real database: it answers as the one in memory does, holds under a crowd, and comes back after a crash.

use std::sync::Arc;
use std::thread;

use bursar_policy::{Digest, TallyKey};
use bursar_postgres::State;

use super::server::cluster::Cluster;
use super::server::{Database, VAULTS};
use super::shares::{Dice, Vault, is_short, split};
use super::world::{CENT, START};
use crate::ledger::Line;
use crate::share::tests::table::Table;
use crate::share::{self, Asked, Center, CenterFault, Declared, Who};

fn center(database: &Database) -> Arc<dyn Center> {
    share::migrate(&database.server("keeper"), VAULTS).unwrap();
    Arc::new(share::Database::new(database.server(VAULTS)))
}

fn line(number: u64) -> Line {
    let Ok(key) = format!("host|https://host-{number}.example|USD").parse::<TallyKey>();
    Line { limit: Digest::of(b"a limit"), key }
}

fn who(number: u64, turn: u64) -> Who {
    Who { ledger: format!("{number:032x}"), life: [u8::try_from(number).unwrap(); 16], turn }
}

#[test]
fn the_one_in_a_database_answers_as_the_one_in_memory() {
    let (database, table) = (center(&Database::new()), Table::new(START));
    let mut dice = Dice(7);
    for turn in 1..=150 {
        let who = who(dice.roll(5), turn);
        let asked: Vec<Asked> = (0..dice.roll(3).saturating_add(1)).map(|_| asked(&mut dice)).collect();
        // No line twice in one ask, as a vault never does.
        let asked: Vec<Asked> = asked
            .iter()
            .enumerate()
            .filter(|(at, one)| asked[..*at].iter().all(|it| it.line != one.line))
            .map(|(_, it)| it.clone())
            .collect();
        let declared = Declared { limit: Digest::of(b"a limit"), lasts_s: Some(90_000) };
        let declared: &[Declared] = if dice.roll(3) == 0 { &[] } else { &[declared] };
        let mut answers = [database.settle(&who, &asked, declared), table.settle(&who, &asked, declared)];
        answers.iter_mut().flatten().for_each(|settled| settled.wanted.sort());
        assert_eq!(answers[0], answers[1], "at {turn}, asked {asked:?}");
    }
}

fn asked(dice: &mut Dice) -> Asked {
    let counted = u128::from(dice.roll(20));
    let need = counted.saturating_add(dice.roll(30).into());
    let want = need.saturating_add(dice.roll(40).into());
    let lasts_s = if dice.roll(2) == 0 { None } else { Some(90_000) };
    Asked { line: line(dice.roll(4)), counted, need, want, max: 100, lasts_s }
}

#[test]
fn what_comes_too_late_changes_nothing() {
    let center = center(&Database::new());
    let asked = |want| [Asked { line: line(1), counted: 0, need: want, want, max: 100, lasts_s: None }];
    let declared = [Declared { limit: Digest::of(b"a limit"), lasts_s: None }];
    assert_eq!(center.settle(&who(1, 2), &asked(60), &declared).unwrap().parts, [60]);
    assert_eq!(center.settle(&who(1, 1), &asked(5), &[]), Err(CenterFault::Overtaken));
    let copy = Who { life: [9; 16], ..who(1, 3) };
    assert!(matches!(center.settle(&copy, &asked(5), &[]), Err(CenterFault::Elsewhere(_))));
    assert_eq!(center.settle(&who(2, 1), &asked(50), &declared).unwrap().parts, [0], "60 of 100 are the first one's");
    assert_eq!(center.settle(&who(2, 2), &asked(40), &[]).unwrap().parts, [40]);
}

#[test]
fn vaults_that_race_for_a_limit_spend_all_of_it_and_not_a_cent_more() {
    let database = Database::new();
    let rules = split("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"0.60 USD\"");
    let bought: usize = thread::scope(|scope| {
        let vaults: Vec<_> = (0..4)
            .map(|number| {
                let (center, rules) = (center(&database), &rules);
                scope.spawn(move || {
                    let mut vault = Vault::new(number, &center, rules);
                    let mut bought = 0;
                    // Each is short at times, until the others have heard of it and given back.
                    for _round in 0..60 {
                        assert!(vault.beat());
                        match vault.buy(0, CENT) {
                            Ok(()) => bought += 1,
                            Err(reasons) => assert!(is_short(&reasons), "{reasons:?}"),
                        }
                    }
                    bought
                })
            })
            .collect();
        vaults.into_iter().map(|vault| vault.join().unwrap()).sum()
    });
    assert_eq!(bought, 60);
}

#[test]
fn a_center_that_crashed_knows_what_it_gave_away() {
    let cluster = Cluster::start(&[]);
    let database = Database::on(&cluster);
    let center = center(&database);
    let rules = split("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1 USD\"");
    let mut vaults: Vec<Vault> = (0..2).map(|number| Vault::new(number, &center, &rules)).collect();
    vaults.iter().for_each(|vault| assert!(vault.beat()));
    vaults[0].buy(0, 60 * CENT).unwrap();
    cluster.crash();
    assert!(is_short(&vaults[1].buy(0, 50 * CENT).unwrap_err()) && !vaults[1].beat());
    assert!(vaults[1].keeper.trouble().is_some());
    cluster.start_again();
    vaults.iter().for_each(|vault| assert!(vault.beat()));
    assert!(is_short(&vaults[1].buy(0, 50 * CENT).unwrap_err()), "60 of 100 cents are spent");
    assert!(vaults[0].beat(), "it hears that another one is short, and gives its slice back");
    vaults[1].buy(0, 40 * CENT).unwrap();
}

#[test]
fn the_role_of_vaults_cannot_forget_a_vault_or_what_it_told() {
    let database = Database::new();
    drop(center(&database));
    let vaults = super::server::open(&database.server(VAULTS));
    for sql in [
        "DELETE FROM bursar_share.vault",
        "DELETE FROM bursar_share.declared",
        "UPDATE bursar_share.declared SET name = name",
        "UPDATE bursar_share.vault SET ledger = ledger",
        "TRUNCATE bursar_share.part",
        "DROP TABLE bursar_share.part",
    ] {
        let refused = vaults.batch(sql).unwrap_err();
        let state = match &refused {
            bursar_postgres::Fault::Said { state, .. } => State::as_str(state),
            other => panic!("{sql}: {other}"),
        };
        assert_eq!(state, "42501", "{sql}: {refused}");
    }
}
