//! Tests of the ledger from inside: a real file in a fresh folder, a clock that the test moves by hand.

mod acquaintance;
mod approvals;
mod breaker;
mod breaker_law;
mod crash;
mod files;
mod flood;
mod growth;
mod handles;
mod limits;
mod mandates;
mod race;
mod recall;
mod repeat;
mod resume;
mod set_back;
mod settlement;
mod shut;
mod sums;
mod tags;
mod tamper;
mod together;
mod unresolved;
mod upgrade;
mod words;
mod world;
