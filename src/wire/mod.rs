//! The bytes of x402, both generations, in both directions: a 402 answer becomes loose offers for the judge and an
//! opaque envelope; a signed authorization becomes one request header; a settlement header becomes a claim.
//!
//! Nothing here decides whether to pay, and nothing here may: a member that is missing, mistyped or absurd is carried on
//! as it was said, and the judge in `bursar_policy` refuses it. What this module refuses on its own is a document that
//! cannot be read in exactly one way: two header values, a member named twice, text that is not JSON, a size over a cap.
//! No number passes through a float, and no text is repaired on the way in.

pub mod challenge;
pub mod claim;
mod documented;
pub mod envelope;
pub mod header;
mod identifier;
pub(crate) mod json;
mod offer;
pub mod payment;
pub mod pointed;
pub mod rail;
pub mod transfer;
pub mod unreadable;

pub use challenge::{Demand, Found, read};
pub use claim::{Claim, Settlement, read_claim};
pub use envelope::{Envelope, EnvelopeFault};
pub use header::HeaderView;
pub use json::JsonFault;
pub use payment::{Unsendable, blank, payment_header};
pub use pointed::{Pointed, pointed};
pub use rail::NotX402;
pub use unreadable::{Place, Unreadable};

#[cfg(test)]
mod tests;
