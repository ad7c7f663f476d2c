//! The world of `tests/world.rs` with its ledger on a server. Must never be another world.

use std::ops::{Deref, DerefMut};

use bursar_policy::mandate::Mandate;

use super::super::server::Database;
use super::super::world::World as Any;
pub(super) use super::super::world::{
    CENT, LIFE_S, PAYER, REPEAT_S, START, TRANSACTION, answer, answered, drawn, errand, errand_at, money, named,
    redeemer, rules, rules_with, settled, signature, silence, terms,
};

/// Each case has a database of its own, and the rules are the same text on both engines: a few are enough.
pub(super) const fn cases(all: u32) -> u32 {
    all.div_ceil(6)
}

/// Everything a test needs, with a database of its own.
pub(in crate::ledger::tests) struct World(Any);

impl World {
    pub(super) fn new(limits: &str, budget: &str) -> Self {
        Self::with_mandate(limits, budget, None)
    }

    pub(super) fn with_mandate(limits: &str, budget: &str, mandate: Option<Mandate>) -> Self {
        Self(Any::begin(Some(Database::new()), limits, budget, mandate))
    }
}

impl Deref for World {
    type Target = Any;

    fn deref(&self) -> &Any {
        &self.0
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Any {
        &mut self.0
    }
}
