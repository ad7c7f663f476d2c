//! Tests of the ledger from inside: a real file in a fresh folder or a real database, a clock that the test moves by hand.

mod by_hand;
mod line_cutter;
mod server;
mod world;

/// What every ledger does, whatever keeps it: here on a file.
#[path = "tests/contract"]
mod on_a_file {
    pub(super) mod world {
        pub(super) use super::super::world::*;
    }

    pub(super) mod acquaintance;
    pub(super) mod approvals;
    pub(super) mod breaker;
    pub(super) mod breaker_law;
    pub(super) mod flood;
    pub(super) mod handles;
    pub(super) mod keys;
    pub(super) mod limits;
    pub(super) mod mandates;
    pub(super) mod prove;
    pub(super) mod purse;
    pub(super) mod race;
    pub(super) mod recall;
    pub(super) mod repeat;
    pub(super) mod resume;
    pub(super) mod settlement;
    pub(super) mod shut;
    pub(super) mod sums;
    pub(super) mod tags;
    pub(super) mod together;
    pub(super) mod unresolved;
    pub(super) mod words;
}

/// The same, on a server.
#[path = "tests/contract"]
mod on_a_server {
    #[path = "../server_world.rs"]
    pub(super) mod world;

    pub(super) mod acquaintance;
    pub(super) mod approvals;
    pub(super) mod breaker;
    pub(super) mod breaker_law;
    pub(super) mod flood;
    pub(super) mod handles;
    pub(super) mod keys;
    pub(super) mod limits;
    pub(super) mod mandates;
    pub(super) mod prove;
    pub(super) mod purse;
    pub(super) mod race;
    pub(super) mod recall;
    pub(super) mod repeat;
    pub(super) mod resume;
    pub(super) mod settlement;
    pub(super) mod shut;
    pub(super) mod sums;
    pub(super) mod tags;
    pub(super) mod together;
    pub(super) mod unresolved;
    pub(super) mod words;
}

mod backups;
mod checkpoints;
mod crash;
mod disk;
mod exports;
mod files;
mod forged_keys;
mod growth;
mod living;
mod on_disk;
mod outage;
mod recoveries;
mod server_rights;
mod set_back;
mod shared;
mod shares;
mod shares_center;
mod sim;
mod tamper;
mod upgrade;
