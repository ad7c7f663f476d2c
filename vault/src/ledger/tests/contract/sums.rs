//! Random purchases against a second, dumber ledger: a list that is added up from scratch every time.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "the numbers of this test are small and its sums are meant to be plain"
)]

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use bursar_policy::digest::Digest;
use bursar_policy::errand::Errand;

use super::world::{CENT, LIFE_S, World, drawn, named, settled, silence, terms};
use crate::ledger::{
    Claim, Counted, EXPIRY_MARGIN_S, HANDLE_LIFE_S, Held, NotSigned, Redeemed, Reservation, Unredeemable,
};
use crate::protocol::{Report, SettlementClaim};

const WINDOW_S: u64 = 900;
const LIMITS: &str = "
[[limit]]
scope = \"all\"
window = \"15m\"
max = \"0.50 USD\"

[[limit]]
scope = \"all\"
window = \"day\"
time_zone = \"Asia/Dhaka\"
max = \"0.70 USD\"

[[limit]]
scope = \"all\"
window = \"lifetime\"
count = 30
";
/// Dhaka is six hours ahead of UTC all year, and its midnight 800 seconds after a test begins.
const DHAKA_AHEAD_S: u64 = 6 * 3_600;
const DAY_CENTS: u128 = 70;
const LIMIT_CENTS: u128 = 50;
const COUNT_MAX: usize = 30;
const BUDGET_CENTS: u128 = 200;

/// One thing that may happen.
#[derive(Clone, Debug)]
enum Op {
    Buy { cents: u128, hold: bool },
    Sign { which: usize },
    Report { which: usize, word: u8 },
    Void { which: usize },
    Redeem { which: usize },
    Pass { seconds: u64 },
    Sweep,
    Again { which: usize },
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (1_u128..30, any::<bool>()).prop_map(|(cents, hold)| Op::Buy { cents, hold: hold && cents % 3 == 0 }),
        4 => any::<usize>().prop_map(|which| Op::Sign { which }),
        4 => (any::<usize>(), 0_u8..3).prop_map(|(which, word)| Op::Report { which, word }),
        1 => any::<usize>().prop_map(|which| Op::Void { which }),
        2 => any::<usize>().prop_map(|which| Op::Redeem { which }),
        4 => (1_u64..400).prop_map(|seconds| Op::Pass { seconds }),
        1 => Just(Op::Sweep),
        2 => any::<usize>().prop_map(|which| Op::Again { which }),
        1 => Just(Op::Restart),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Now {
    Held,
    Pending,
    Spent { at_s: u64 },
    Free,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    InFlight,
    New,
    Repeat,
    Resend,
}

/// One payment as the dumb ledger knows it.
#[derive(Debug)]
struct Line {
    errand: Errand,
    cents: u128,
    ends_s: u64,
    signed: bool,
    now: Now,
}

#[derive(Default)]
struct Model {
    lines: Vec<Line>,
    last_s: u64,
}

impl Model {
    fn pass(&mut self, now_s: u64) {
        for line in self.lines.iter_mut().filter(|line| line.now == Now::Held && line.ends_s <= now_s) {
            line.now = Now::Free;
        }
        let mut due: Vec<&mut Line> =
            self.lines.iter_mut().filter(|line| line.ends_s + EXPIRY_MARGIN_S <= now_s).collect();
        due.sort_by_key(|line| line.ends_s);
        for line in due {
            match line.now {
                Now::Pending => {
                    self.last_s = self.last_s.max(line.ends_s + EXPIRY_MARGIN_S);
                    line.now = Now::Spent { at_s: self.last_s };
                }
                Now::Held | Now::Spent { .. } | Now::Free => {}
            }
        }
    }

    fn total(&self, counts: impl Fn(&Line) -> bool) -> u128 {
        self.lines.iter().filter(|line| line.now != Now::Free && counts(line)).map(|line| line.cents).sum()
    }

    fn fits(&self, cents: u128, now_s: u64) -> bool {
        let in_window = self.total(|line| match line.now {
            Now::Spent { at_s } => now_s < at_s + WINDOW_S,
            _ => true,
        });
        let count = self.lines.iter().filter(|line| line.now != Now::Free).count();
        let since_midnight_s = (now_s + DHAKA_AHEAD_S) % 86_400;
        let today = self.total(|line| match line.now {
            Now::Spent { at_s } => now_s - since_midnight_s <= at_s,
            _ => true,
        });
        in_window + cents <= LIMIT_CENTS
            && today + cents <= DAY_CENTS
            && self.total(|_| true) + cents <= BUDGET_CENTS
            && count < COUNT_MAX
    }
}

enum Kept {
    Held(Digest),
    Exposed(Box<Reservation>),
    Gone,
}

struct Run {
    world: World,
    model: Model,
    kept: Vec<Kept>,
}

impl Run {
    fn step(&mut self, op: &Op) {
        let now_s = self.world.time.now_s();
        match *op {
            Op::Buy { cents, hold } => self.buy(cents, hold, now_s),
            Op::Sign { which } => self.sign(which),
            Op::Report { which, word } => self.report(which, word, now_s),
            Op::Void { which } => self.void(which, now_s),
            Op::Redeem { which } => self.redeem(which, now_s),
            Op::Pass { seconds } => self.world.time.pass(seconds),
            Op::Sweep => {
                self.world.ledger().sweep().unwrap();
                self.model.pass(now_s);
            }
            Op::Again { which } => self.again(which, now_s),
            Op::Restart => {
                self.kept.iter_mut().for_each(|kept| *kept = Kept::Gone);
                self.world.reopen();
                for line in self.model.lines.iter_mut().filter(|line| line.now == Now::Held) {
                    line.now = Now::Free;
                }
            }
        }
    }

    fn buy(&mut self, cents: u128, hold: bool, now_s: u64) {
        let ask = self.world.ask(terms(cents * CENT));
        let errand = named("page", ask.payment.as_str());
        let guard = self.world.new_claim(errand.clone());
        self.model.pass(now_s);
        let ledger = self.world.ledger();
        let kept = if hold {
            let drawn = drawn(&ask.payment);
            let handle = drawn.digest;
            match ledger.hold(guard, ask, drawn, &self.world.rules).unwrap() {
                Held::Yes(_) => Some(Kept::Held(handle)),
                Held::No { .. } => None,
            }
        } else {
            match ledger.authorize(guard, ask, &self.world.rules).unwrap() {
                Counted::Yes(exposed) => Some(Kept::Exposed(exposed)),
                Counted::No { .. } => None,
            }
        };
        assert_eq!(kept.is_some(), self.model.fits(cents, now_s), "{cents} cents at {now_s}: {:?}", self.model.lines);
        if let Some(kept) = kept {
            let now = if hold { Now::Held } else { Now::Pending };
            let life_s = if hold { HANDLE_LIFE_S } else { LIFE_S };
            self.model.lines.push(Line { errand, cents, ends_s: now_s + life_s, signed: false, now });
            self.kept.push(kept);
        }
    }

    fn pick(&self, which: usize) -> Option<usize> {
        which.checked_rem(self.kept.len())
    }

    fn sign(&mut self, which: usize) {
        let Some(at) = self.pick(which) else { return };
        let Kept::Exposed(exposed) = &self.kept[at] else { return };
        let line = &mut self.model.lines[at];
        let stored = self.world.ledger().store_signature(exposed, &super::world::signature()).is_ok();
        // A payment that is over takes no first signature; the same one again changes nothing.
        assert_eq!(stored, line.now == Now::Pending || line.signed, "{line:?}");
        line.signed |= stored;
    }

    fn report(&mut self, which: usize, word: u8, now_s: u64) {
        let Some(at) = self.pick(which) else { return };
        let Kept::Exposed(exposed) = &self.kept[at] else { return };
        let report = match word {
            0 => silence(),
            1 => super::world::answered(Some(settled())),
            _ => Report { settlement: Some(SettlementClaim { success: false, ..settled() }), ..silence() },
        };
        self.world.ledger().report(exposed, report, self.world.rules.breaker()).unwrap();
        if word == 1 && self.model.lines[at].now == Now::Pending {
            self.model.last_s = self.model.last_s.max(now_s);
            self.model.lines[at].now = Now::Spent { at_s: self.model.last_s };
        }
    }

    fn void(&mut self, which: usize, now_s: u64) {
        let Some(at) = self.pick(which) else { return };
        let Kept::Exposed(exposed) = std::mem::replace(&mut self.kept[at], Kept::Gone) else { return };
        let voided = self.world.ledger().void(*exposed, NotSigned::by_the_signer()).is_ok();
        let line = &mut self.model.lines[at];
        assert_eq!(voided, line.now == Now::Pending && !line.signed, "{line:?} at {now_s}");
        if voided {
            line.now = Now::Free;
        }
    }

    /// What is held is let go of once, while its handle is good; then it lives from that moment on.
    fn redeem(&mut self, which: usize, now_s: u64) {
        let Some(at) = self.pick(which) else { return };
        let Kept::Held(handle) = self.kept[at] else { return };
        let redeemed = self.world.redeem(handle, "page");
        let line = &mut self.model.lines[at];
        match redeemed {
            Redeemed::First { reservation, .. } => {
                assert!(line.now == Now::Held && now_s < line.ends_s, "{line:?} at {now_s}");
                (line.now, line.ends_s) = (Now::Pending, now_s + LIFE_S);
                self.kept[at] = Kept::Exposed(reservation);
            }
            Redeemed::Not(Unredeemable::Expired) => assert!(line.ends_s <= now_s, "{line:?} at {now_s}"),
            other => panic!("{other:?}"),
        }
    }

    /// The identical call finds the first purchase, whatever became of it, and counts nothing.
    fn again(&mut self, which: usize, now_s: u64) {
        let Some(at) = self.pick(which) else { return };
        let found = match self.world.claim(self.model.lines[at].errand.clone()) {
            Claim::InFlight => Found::InFlight,
            Claim::New(_) => Found::New,
            Claim::Repeat(_) => Found::Repeat,
            Claim::Resend { .. } => Found::Resend,
            other @ Claim::Refused(_) => panic!("{other:?}"),
        };
        let line = &self.model.lines[at];
        let expected = match (&self.kept[at], line.now) {
            (Kept::Exposed(_), _) => Found::InFlight,
            (Kept::Held(_), _) => Found::New,
            (Kept::Gone, Now::Free) => Found::New,
            (Kept::Gone, Now::Pending) if line.signed && now_s < line.ends_s => Found::Resend,
            (Kept::Gone, _) => Found::Repeat,
        };
        assert_eq!(found, expected, "{line:?} at {now_s}");
        if found != Found::InFlight {
            self.model.pass(now_s);
        }
    }

    fn check(&mut self) {
        let now_s = self.world.time.now_s();
        self.world.ledger().sweep().unwrap();
        self.model.pass(now_s);
        let spent = self.world.spent();
        assert_eq!(spent.atto(), self.model.total(|_| true) * 10_u128.pow(16), "{:?}", self.model.lines);
        self.world.ledger().verify().unwrap();
    }
}

proptest! {
    #![proptest_config(Config { cases: super::world::cases(24), rng_seed: RngSeed::Fixed(402), failure_persistence: None, ..Config::default() })]

    #[test]
    fn every_yes_and_every_sum_is_what_a_list_says(ops in prop::collection::vec(op(), 1..60)) {
        let world = World::new(LIMITS, "2.00 USD");
        let mut run = Run { world, model: Model::default(), kept: Vec::new() };
        for op in &ops {
            run.step(op);
        }
        run.check();
        run.step(&Op::Restart);
        run.check();
    }
}
