//! A hundred vaults, each with a ledger of its own, split the limits: whatever is lost, killed or late, they never spend more
//! together than one alone might have.

use std::collections::BTreeMap;
use std::sync::Arc;

use bursar_policy::refusal::{Breach, Refusal};
use bursar_policy::rules::Rules;

use super::world::{CENT, START, World, errand_at, rules_with, terms};
use crate::ledger::{Counted, Line};
use crate::share::tests::table::{Table, Weather};
use crate::share::{Center, Keeper, LEASE_S};

const SPLIT: &str = "allow_any_host = true\nmax_unresolved = 1000000\nquarantine_after = 1000";

pub(super) fn split(limits: &str) -> Arc<Rules> {
    rules_with(SPLIT, &format!("{limits}\n[shares]\ncenter = \"postgres://vaults@center.example/shares\""))
}

/// Numbers that look drawn and are the same in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).checked_rem(sides).unwrap()
    }
}

/// Names that nobody takes for one another.
const HOSTS: [&str; 6] =
    ["weather.test", "maps.example", "news.invalid", "poems.test", "stocks.example", "recipes.invalid"];

pub(super) struct Vault {
    world: World,
    pub(super) keeper: Keeper,
    bought: u64,
}

impl Vault {
    pub(super) fn new(number: u8, center: &Arc<dyn Center>, rules: &Arc<Rules>) -> Self {
        let mut world = World::called([number; 16], "100000 USD");
        world.rules = Arc::clone(rules);
        let keeper = Keeper::new(Arc::clone(center), world.ledger(), [number; 16]);
        Self { world, keeper, bought: 0 }
    }

    /// The process is killed and another begins: what is on the disk is there, what it held is not.
    fn restart(&mut self, table: &Arc<Table>, life: u64) {
        self.world.reopen();
        let mut drawn = [0; 16];
        drawn[..8].copy_from_slice(&life.to_be_bytes());
        self.keeper = Keeper::new(table.clone(), self.world.ledger(), drawn);
    }

    pub(super) fn beat(&self) -> bool {
        self.keeper.beat(self.world.ledger(), &self.world.rules).is_ok()
    }

    /// One purchase, as a conversation makes it: parts first, then the ledger. The reasons where it is refused.
    pub(super) fn buy(&mut self, host: usize, units: u128) -> Result<(), Vec<Refusal>> {
        self.bought = self.bought.saturating_add(1);
        let errand = errand_at(&format!("https://{}/{}", HOSTS[host], self.bought));
        let (ledger, rules) = (self.world.ledger(), &self.world.rules);
        // A center that does not answer leaves the parts as they are, and the ledger says what they allow.
        self.keeper.want(ledger, &self.world.session, &errand, &terms(units), rules).unwrap_or_default();
        let guard = self.world.new_claim(errand);
        match ledger.authorize(guard, self.world.ask(terms(units)), rules).unwrap() {
            Counted::No { reasons, .. } => Err(reasons),
            Counted::Yes(exposed) => {
                self.world.sign(&exposed);
                self.world.settle(&exposed);
                Ok(())
            }
        }
    }

    fn counted(&self) -> BTreeMap<Line, (u128, u128)> {
        let counted = self.world.ledger().counted(&self.world.rules).unwrap();
        counted.into_iter().map(|standing| (standing.line, (standing.used, standing.max))).collect()
    }
}

fn crowd(size: u8, table: &Arc<Table>, rules: &Arc<Rules>) -> Vec<Vault> {
    let center: Arc<dyn Center> = table.clone();
    (0..size).map(|number| Vault::new(number, &center, rules)).collect()
}

/// Nothing is over its limit, nobody holds more than the center thinks, and the center gave away no more than there is.
fn check(table: &Table, vaults: &[Vault], counted: &[BTreeMap<Line, (u128, u128)>]) {
    let mut sums: BTreeMap<&Line, (u128, u128)> = BTreeMap::new();
    for (line, (used, max)) in counted.iter().flatten() {
        let sum = sums.entry(line).or_insert((0, *max));
        sum.0 = sum.0.saturating_add(*used);
    }
    for (line, (used, max)) in sums {
        assert!(used <= max, "{used} of {max} was spent under {}", line.key);
        let held: u128 = vaults.iter().filter_map(|vault| vault.world.ledger().parts().get(line).copied()).sum();
        let given = table.given(line);
        assert!(held <= given, "{held} is held and {given} was given under {}", line.key);
        assert!(given <= max, "{given} of {max} was given under {}", line.key);
    }
}

#[test]
fn a_hundred_vaults_never_spend_more_than_one_might() {
    let rules = split(
        r#"
        [[limit]]
        scope = "all"
        window = "24h"
        max = "45 USD"
        [[limit]]
        scope = "all"
        window = "1h"
        count = 120
        [[limit]]
        scope = "host"
        window = "lifetime"
        max = "14 USD"
        "#,
    );
    let mut dice = Dice(20_261_130);
    let table = Arc::new(Table::new(START));
    let mut vaults = crowd(100, &table, &rules);
    let mut counted: Vec<_> = vaults.iter().map(Vault::counted).collect();
    let (mut bought, mut short, mut lives) = (0, 0, 1_000);
    for _step in 0..600 {
        let which = usize::try_from(dice.roll(100)).unwrap();
        let weather = [Weather::Fair, Weather::Fair, Weather::Fair, Weather::Fair, Weather::Lost, Weather::Unanswered];
        table.weather(weather[usize::try_from(dice.roll(6)).unwrap()]);
        match dice.roll(20) {
            0 => {
                lives += 1;
                vaults[which].restart(&table, lives);
            }
            1 => {
                let seconds = [1, 7, LEASE_S, 600, 7_200][usize::try_from(dice.roll(5)).unwrap()];
                table.pass(seconds);
                vaults.iter().for_each(|vault| vault.world.time.pass(seconds));
                counted = vaults.iter().map(Vault::counted).collect();
            }
            2..=6 => {
                vaults[which].beat();
            }
            _ => {
                vaults[which].beat();
                let host = usize::try_from(dice.roll(6)).unwrap();
                match vaults[which].buy(host, CENT * u128::from(1 + dice.roll(60))) {
                    Ok(()) => bought += 1,
                    Err(reasons) => short += usize::from(is_short(&reasons)),
                }
            }
        }
        counted[which] = vaults[which].counted();
        check(&table, &vaults, &counted);
    }
    assert!(100 < bought && 30 < short, "{bought} were bought and {short} were refused: that tests little");
}

pub(super) fn is_short(reasons: &[Refusal]) -> bool {
    reasons.iter().any(|reason| matches!(reason, Refusal::OverLimit { breach: Breach::Share, .. }))
}

#[test]
fn where_there_is_room_vaults_decide_alone() {
    let rules = split("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1000 USD\"");
    let table = Arc::new(Table::new(START));
    let mut vaults = crowd(16, &table, &rules);
    for vault in &mut vaults {
        assert!(vault.beat());
        (0..20).for_each(|_| vault.buy(0, CENT).unwrap());
    }
    assert_eq!(table.asks(), 2 * 16, "each vault asked once as it began and once for a slice, in 320 purchases");
}

#[test]
fn what_one_does_not_use_another_gets() {
    let rules = split("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1 USD\"");
    let table = Arc::new(Table::new(START));
    let mut vaults = crowd(3, &table, &rules);
    vaults.iter().for_each(|vault| assert!(vault.beat()));
    vaults[0].buy(0, 10 * CENT).unwrap();
    vaults[1].buy(0, 10 * CENT).unwrap();
    let refused = vaults[2].buy(0, 80 * CENT).unwrap_err();
    assert!(is_short(&refused), "the others hold a slice each: {refused:?}");
    vaults[..2].iter().for_each(|vault| assert!(vault.beat()));
    vaults[2].buy(0, 80 * CENT).unwrap();
    let over = vaults[0].buy(0, CENT).unwrap_err();
    assert!(is_short(&over), "{over:?}");
}

#[test]
fn without_the_centers_word_nothing_of_a_split_limit_is_spent() {
    let rules = split("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1 USD\"");
    let table = Arc::new(Table::new(START));
    let center: Arc<dyn Center> = table.clone();
    let mut vault = Vault::new(1, &center, &rules);
    table.weather(Weather::Lost);
    assert!(!vault.beat() && is_short(&vault.buy(0, CENT).unwrap_err()), "nothing was ever held");
    assert!(vault.keeper.trouble().is_some_and(|told| told.contains("does not answer")));
    table.weather(Weather::Fair);
    assert!(vault.beat());
    vault.buy(0, CENT).unwrap();
    table.weather(Weather::Lost);
    vault.buy(0, CENT).unwrap();
    vault.world.time.pass(LEASE_S);
    assert!(is_short(&vault.buy(0, CENT).unwrap_err()), "the word lasts as long as the lease");
}

#[test]
fn what_was_spent_before_a_limit_was_split_is_told_before_anybody_spends_more() {
    let limits = "[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1 USD\"";
    let rules = split(limits);
    let table = Arc::new(Table::new(START));
    let mut vaults = crowd(2, &table, &rules);
    vaults[0].world.rules = super::world::rules_with(SPLIT, limits);
    vaults[0].buy(0, 70 * CENT).unwrap();
    vaults[0].world.rules = Arc::clone(&rules);
    assert!(vaults[0].beat() && vaults[1].beat());
    assert!(is_short(&vaults[1].buy(0, 40 * CENT).unwrap_err()), "70 of 100 cents are spent");
    vaults[1].buy(0, 30 * CENT).unwrap();
}

#[test]
fn while_somebody_has_not_told_nobody_gets_more() {
    let day = "[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1 USD\"";
    let week = "[[limit]]\nscope = \"all\"\nwindow = \"7d\"\nmax = \"2 USD\"";
    let (old, new) = (split(day), split(&format!("{day}\n{week}")));
    let table = Arc::new(Table::new(START));
    let mut vaults = crowd(2, &table, &old);
    vaults.iter().for_each(|vault| assert!(vault.beat()));
    vaults[0].buy(0, 10 * CENT).unwrap();
    vaults[0].world.rules = Arc::clone(&new);
    assert!(vaults[0].beat() && vaults[0].beat());
    assert!(is_short(&vaults[0].buy(0, CENT).unwrap_err()), "the other may have spent anything in that week");
    vaults[1].world.rules = new;
    assert!(vaults[1].beat() && vaults[1].beat());
    vaults[0].buy(0, CENT).unwrap();
}

#[test]
fn a_copy_of_a_ledger_gets_nothing_while_the_other_lives() {
    let rules = split("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"1 USD\"");
    let table = Arc::new(Table::new(START));
    let center: Arc<dyn Center> = table.clone();
    let mut one = Vault::new(1, &center, &rules);
    assert!(one.beat());
    one.buy(0, CENT).unwrap();
    let mut copy = Vault::new(1, &center, &rules);
    copy.restart(&table, 99);
    assert!(!copy.beat() && is_short(&copy.buy(0, CENT).unwrap_err()));
    assert!(copy.keeper.trouble().is_some_and(|told| told.contains("another vault with the ledger")));
    table.pass(LEASE_S);
    copy.world.time.pass(LEASE_S);
    one.world.time.pass(LEASE_S);
    assert!(copy.beat(), "the first one's lease is over, and it can spend no more");
    assert!(is_short(&one.buy(0, 50 * CENT).unwrap_err()));
}
