//! The mouth of bursar: everything a model sees, and the only crate that knows MCP.
//!
//! It never sees a network, a ledger or a key. It declares what it needs done as the trait [`Payments`], turns a
//! call's JSON into an errand, runs it, and turns the plain answer into what the model is told: one outcome, one
//! code, one sentence, a receipt, and at most a framed piece of what the seller sent. What is not in the types of
//! [`payments`] can not be said.
//!
//! The modules are listed in reading order, group by group.

// A seller's words.
mod untrusted;

// What is asked of the shell, and what it answers.
pub mod payments;
mod progress;

// The tools.
mod arguments;
mod content;
mod reply;
mod stored;

mod fetch;
mod quote;

mod attach;
mod prepare;

mod status;

mod call;
mod catalog;

// The wire.
mod envelope;
mod flights;
mod strict_json;
mod transport;

mod person;
mod server;

pub use catalog::{ToolRow, tool_schemas, tool_table};
pub use fetch::{Unusable, errand_of_call};
pub use payments::Payments;
pub use progress::{Progress, Stage};
pub use server::{Ended, PURCHASES_AT_ONCE, ServeFault, ServeOptions, serve, stdio};
pub use untrusted::{REMARK_CAP_BYTES, SellerText, TEXT_CAP_BYTES, Untrusted};
