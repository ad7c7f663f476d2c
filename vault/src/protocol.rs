//! What crosses the vault's sockets: frames and the messages in them. Must never hold a key, and judges nothing.
//!
//! A conversation is strictly one ask, one reply. The agent socket knows [`AgentAsk`], the operator socket
//! [`OperatorAsk`], the glue socket [`GlueAsk`]; none understands another's words, so a right cannot be reached through
//! the wrong door.

pub mod agent;
pub mod chain;
pub mod frame;
pub mod glue;
pub mod keys;
pub mod lost;
pub mod operator;
pub mod passage;
pub mod past;
pub mod secret;

pub use agent::{
    AgentAsk, AgentReply, Attached, AttachedHow, Claimed, ContentRef, Delivery, LimitView, Past, Recalled, Receipt,
    Report, RowState, SOUGHT_MAX, SessionView, SettlementClaim, Signed, Sought, Status, Wanted, Welcome,
};
pub use chain::{BalanceView, ChainOutcome, ChainProof, ChainVerdict, ChainView, EndpointView, Reconciled};
pub use glue::{Attach, GlueAsk, GlueRefusal, GlueReply, GlueWelcome, HeaderName, PaymentHeader};
pub use keys::{SweepPlan, SweepSigned, SweepState, SweepView};
pub use lost::{Lost, Outstanding, Quarantine, Resumable, Resumed};
pub use operator::{
    ApprovalState, ApprovalView, LogEntry, OperatorAsk, OperatorReply, OperatorStatus, OperatorWelcome, SharesView,
    WhichRules,
};
pub use passage::{Leg, LegName, Measures, Passage, PassageEnd, Sender};
pub use past::{PastPayment, PaymentDetail, Proof};
pub use secret::{
    Passphrase, Released, ReleasedHeader, SECRET_MAX_BYTES, SECRET_MIN_BYTES, SecretList, SecretValue,
    SecretValueFault, SecretView,
};

/// The version that every socket speaks. A `Hello` with another number is answered with the fault `protocol_version`.
pub const PROTOCOL: u16 = 9;

/// The longest envelope a row may carry, in bytes. The vault stores it for a re-send and never parses it.
pub const ENVELOPE_MAX_BYTES: usize = 64 * 1024;
