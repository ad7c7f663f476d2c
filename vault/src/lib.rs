//! The hand: keys, ledger, budget sessions. Must never see MCP, and acts on no seller's word:
//! of a seller's bytes it keeps one opaque envelope and, as claims, the capped words of a settlement.
//!
//! A vault is one process with the exclusive lock on one ledger and two sockets with different rights. It judges every
//! payment again under its own rules, counts it durably, signs exactly what it judged, stores the signature, and only
//! then answers. A human at a terminal opens budgets on the operator socket; nothing on the agent socket can.
//!
//! The modules are in reading order: what is said, where things lie, what is remembered, who signs, how it is served.
#![cfg_attr(test, expect(clippy::duplicate_mod, reason = "the contract of the ledger is tried on each engine"))]

pub mod protocol;

mod accounts;
pub mod guarded;
pub mod hardened;
pub mod platform;
pub mod profile;
pub mod rules_file;
pub mod secret_store;
pub mod secrets;

pub mod confine;

pub mod clock;
pub mod failpoint;
pub mod ledger;
pub mod ledger_place;

pub mod audit_key;
pub mod blank;
mod keyring;
pub mod keystore;
pub mod passphrase;
pub mod setup;
pub mod sign;
mod wallet;

mod sealed;

pub mod chain;
pub mod notify;
pub mod outside;
pub mod share;

mod agent;
pub mod by_hand;
pub mod client;
mod desk;
mod draws;
mod glue;
mod operator;
mod passage;
pub mod process;
mod rotate;
mod server;
mod signing;
pub mod socket;
mod status;
mod trouble;
mod vault;
mod withdraw;
