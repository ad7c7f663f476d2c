//! Draws lives from seeds. The same seed is the same life until the drawing changes.

use crate::act::{Bare, Call, Form, Lie, Life, Moment, Paid, Schedule, Strike, Write, Wrong};

/// Schedules of one life.
pub(crate) const SCHEDULES: usize = 25;

/// Sessions of one life.
pub(crate) const SESSIONS: usize = 3;

/// The life of `seed`.
pub(crate) fn life(seed: u64) -> Life {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6c69_7665_735f_0001);
    let schedules = (0..SCHEDULES).map(|host| schedule(&mut dice, host)).collect();
    Life { schedules }
}

fn schedule(dice: &mut Dice, host: usize) -> Schedule {
    let mut calls: Vec<Call> = Vec::new();
    for _ in 0..=dice.below(5) {
        let mut next = call(dice);
        // Most calls repeat an earlier one: what becomes of a purchase is what most can go wrong with.
        if !calls.is_empty() && dice.below(3) != 0 {
            let earlier = &calls[dice.below(calls.len())];
            (next.page, next.session, next.named) = (earlier.page, earlier.session, earlier.named);
        }
        calls.push(next);
    }
    Schedule { host, calls }
}

fn call(dice: &mut Dice) -> Call {
    Call {
        page: dice.one_of(&[0, 0, 1, 2, 3]),
        session: dice.below(SESSIONS),
        named: dice.below(2) == 0,
        wait_s: dice.one_of(&[0, 0, 1, 30, 119, 121, 400]),
        bare: bare(dice),
        paid: [paid(dice), paid(dice)],
        strike: strike(dice),
    }
}

fn bare(dice: &mut Dice) -> Bare {
    let form = [Form::Header, Form::Body, Form::FirstGeneration, Form::WithIdentifier, Form::AfterForeignOffers];
    let wrong = [
        Wrong::Payee,
        Wrong::Asset,
        Wrong::Price,
        Wrong::Host,
        Wrong::Domain,
        Wrong::Twice,
        Wrong::NotJson,
        Wrong::Identifier,
    ];
    match dice.below(20) {
        0 => Bare::Bad(dice.one_of(&wrong)),
        1 => Bare::Free,
        2 => dice.one_of(&[Bare::Fails, Bare::Redirects, Bare::Silence]),
        3 => Bare::Cut(dice.below(1000)),
        _ => Bare::Terms(dice.one_of(&form)),
    }
}

fn paid(dice: &mut Dice) -> Paid {
    let lies = [Lie::Payer, Lie::Network, Lie::Failure, Lie::Placeholder, Lie::NoJson];
    match dice.below(16) {
        0 => Paid::Delivers,
        1 => Paid::Contradicts(dice.one_of(&lies)),
        2 => Paid::Fails,
        3 => Paid::FailsSettled,
        4 => Paid::AsksAgain,
        5 => Paid::AsksForMore,
        6 => Paid::Redirects,
        7 | 8 => Paid::Silence,
        9 | 10 => Paid::Cut(dice.below(1000)),
        _ => Paid::Settles,
    }
}

fn strike(dice: &mut Dice) -> Strike {
    let moment = dice.one_of(&[Moment::Asked, Moment::Paid, Moment::Answered]);
    let write = dice.one_of(&[Write::Row, Write::Total, Write::Signature, Write::Delivery, Write::Event]);
    match dice.below(24) {
        0 | 1 => Strike::ServeDies(moment),
        2 => Strike::VaultDies(moment),
        3 => Strike::BothDie(moment),
        4 | 5 => Strike::NoWrite(write),
        6 | 7 => Strike::Twin,
        _ => Strike::Nothing,
    }
}

/// Numbers that look random and are the same each time (splitmix64).
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(sides).unwrap()).unwrap()
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
