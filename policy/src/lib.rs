//! The judge: what may be paid, to whom, and how much is left. It must never do I/O.
//!
//! `no_std` on purpose: without `std` there is no file, socket, clock, environment or thread to
//! reach for, so "the judge does no I/O" is checked by the compiler on every build. Every fact
//! (the time, the totals, the resolved addresses) comes in as an argument, and every answer goes
//! out as a value: a [`gate::Vetted`], a [`budget::Admitted`], or a list of [`refusal::Refusal`].
//!
//! The modules are listed in reading order: words first, then rules, then decisions.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod text_form;

pub mod address_block;
pub mod address_class;
pub mod asset;
pub mod authorization;
pub mod budget;
pub mod calendar;
pub mod caution;
pub mod chain;
pub mod digest;
pub mod errand;
pub mod gate;
pub mod handle;
pub mod hours;
pub mod likeness;
pub mod limit;
pub mod mandate;
pub mod money;
pub mod network_name;
pub mod offer;
pub mod path_prefix;
pub mod pointer;
pub mod quantity;
pub mod quoted;
pub mod refusal;
pub mod request_header;
pub mod rules;
pub mod secret;
pub mod site;
pub mod tag;
pub mod terms;
pub mod unseen;

pub use address_block::{AddressBlock, AddressBlockFault};
pub use address_class::{AddressClass, classify};
pub use asset::{Asset, AssetFault, AssetTable};
pub use authorization::{Authorization, Domain, validity};
pub use budget::{Admitted, SessionStanding, Standing, Total, Unresolved, Word, admit};
pub use calendar::{Unit, Zone};
pub use caution::{Acquaintance, Concern, concerns, usual_price};
pub use chain::{Address, AddressFault, AssetId, ChainId};
pub use digest::Digest;
pub use errand::{
    ApprovalId, Body, BodyType, Errand, Method, PaymentId, PurchaseId, QuoteId, SessionId, SessionName, SweepId,
};
pub use gate::{
    Asked, Finding, Judgement, OfferReport, Vetted, inspect, judge, may_ask, may_settle, may_tell, may_visit,
};
pub use handle::{Handle, HandleFault, PageOpening};
pub use hours::{Days, Hours, Opening};
pub use limit::{Limit, PaymentFacts, Scope, TallyKey, Window};
pub use mandate::{Mandate, MandateFault, Payees, against_asking, against_paying};
pub use money::{Amount, AmountFault, Currency, Money};
pub use offer::{Challenge, Offer, Said, Version};
pub use path_prefix::PathPrefix;
pub use pointer::Pointer;
pub use quoted::Quoted;
pub use refusal::{Audience, Question, Refusal, Severity, in_order};
pub use request_header::{HeaderName, HeaderText, Headers};
pub use rules::draft::{ContentMode, Draft, Setting};
pub use rules::{HostRule, RuleFault, Rules};
pub use secret::{SecretFault, SecretHeader, SecretName};
pub use site::{Host, Origin, Scheme, Site, SiteFault};
pub use tag::Tag;
pub use terms::Terms;
