//! What crosses the vault's sockets: frames and the messages in them. Must never hold a key, and judges nothing.
//!
//! A conversation is strictly one ask, one reply. The agent socket knows [`AgentAsk`], the operator socket
//! [`OperatorAsk`]; neither understands the other's words, so a right cannot be reached through the wrong door.

pub mod agent;
pub mod chain;
pub mod frame;
pub mod operator;

pub use agent::{
    AgentAsk, AgentReply, Claimed, ContentRef, Delivery, LimitView, Past, Recalled, Receipt, Report, RowState,
    SessionView, SettlementClaim, Signed, Status, Wanted, Welcome,
};
pub use chain::{BalanceView, ChainOutcome, ChainProof, ChainVerdict, ChainView, EndpointView, Reconciled};
pub use operator::{
    ApprovalState, ApprovalView, LogEntry, Lost, OperatorAsk, OperatorReply, OperatorStatus, OperatorWelcome,
    Passphrase, PastPayment, PaymentDetail, Quarantine, Resumed, WhichRules,
};

/// The version both sockets speak. A `Hello` with another number is answered with the fault `protocol_version`.
pub const PROTOCOL: u16 = 6;

/// The longest envelope a row may carry, in bytes. The vault stores it for a re-send and never parses it.
pub const ENVELOPE_MAX_BYTES: usize = 64 * 1024;
