//! A law: nothing that one host does, and nothing that is refused there, changes what another host may do.

use std::collections::BTreeMap;

use bursar_policy::quoted::Quoted;
use bursar_policy::refusal::Refusal;
use proptest::prelude::*;

use super::world::{CENT, World, answered, errand_at, rules_with, silence};
use crate::ledger::Claim;

/// Names of which none reads like another.
const HOSTS: [&str; 3] = ["https://quotes.example.com", "https://weather.example.com", "https://maps.example.com"];
const AFTER: u32 = 3;
const QUARANTINE_S: u64 = 600;

/// What happens at a host.
#[derive(Clone, Copy, Debug)]
enum Act {
    Good,
    Silent,
    Blamed,
    Refused,
}

/// One host by itself, as a person would count on paper.
#[derive(Clone, Copy, Debug, Default)]
struct Alone {
    failures: u32,
    strikes: u32,
    until_s: u64,
}

impl Alone {
    fn met(&mut self, act: Act, now_s: u64) {
        match act {
            Act::Good => (self.failures, self.strikes) = (0, 0),
            Act::Silent => self.failures = self.failures.saturating_add(1),
            Act::Blamed => self.strikes = self.strikes.saturating_add(1),
            Act::Refused => {}
        }
        let bad = matches!(act, Act::Silent | Act::Blamed);
        if bad && AFTER <= self.failures.max(self.strikes) && self.until_s <= now_s {
            self.until_s = now_s.saturating_add(QUARANTINE_S);
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<(u8, Act, u64)>> {
    let act = prop_oneof![
        1 => Just(Act::Good),
        4 => Just(Act::Silent),
        4 => Just(Act::Blamed),
        2 => Just(Act::Refused),
    ];
    let passed_s = prop_oneof![6 => Just(0), 2 => 1_u64..400];
    prop::collection::vec((0_u8..3, act, passed_s), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::world::cases(24), ..ProptestConfig::default() })]

    #[test]
    fn what_is_met_at_one_host_changes_nothing_for_another(acts in acts()) {
        let mut world = World::new("", "100 USD");
        let hosts = "allow_any_host = true\nmax_unresolved = 1000\nquarantine_after = 3\nquarantine = \"10m\"";
        world.rules = rules_with(hosts, "");
        let mut alone: BTreeMap<u8, Alone> = (0..3).map(|host| (host, Alone::default())).collect();
        for (turn, (host, act, passed_s)) in acts.into_iter().enumerate() {
            world.time.pass(passed_s);
            let now_s = world.ledger().time().now_s;
            let errand = errand_at(&format!("{}/{turn}", HOSTS[usize::from(host)]));
            let expected = alone.get_mut(&host).unwrap();
            let is_open = expected.until_s <= now_s;
            match act {
                Act::Blamed | Act::Refused => {
                    let why = Quoted::of("x");
                    let dear = Refusal::OverPaymentCap { asked: why.clone(), cap: None };
                    let reasons = match act {
                        Act::Blamed => vec![dear, Refusal::TermsConflicting { why }],
                        _ => vec![dear],
                    };
                    world.ledger().strike(Some(&world.session), &errand, &reasons, &world.rules).unwrap();
                    expected.met(act, now_s);
                }
                Act::Good | Act::Silent if is_open => {
                    let exposed = world.authorize(errand, CENT).unwrap();
                    world.sign(&exposed);
                    let report = if matches!(act, Act::Good) { answered(None) } else { silence() };
                    world.ledger().report(&exposed, report, world.rules.breaker()).unwrap();
                    expected.met(act, now_s);
                }
                Act::Good | Act::Silent => {
                    let claim = world.claim(errand);
                    prop_assert!(matches!(claim, Claim::Refused(_)), "{claim:?}");
                }
            }
            for (host, expected) in &alone {
                let origin = HOSTS[usize::from(*host)].to_owned();
                let probe = errand_at(&format!("{origin}/probe"));
                let found = world.ledger().unasked(None, &probe, &world.rules).unwrap();
                let until_s = (now_s < expected.until_s).then_some(expected.until_s);
                let wanted = until_s.map(|until_s| Refusal::HostQuarantined { origin, until_s });
                let wanted: Vec<Refusal> = wanted.into_iter().collect();
                prop_assert_eq!(found, wanted, "host {} after turn {}", host, turn);
            }
        }
        world.ledger().verify().unwrap();
    }
}
