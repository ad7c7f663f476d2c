//! The plain answers about a page that the user's browser pays for. No MCP in here.
//!
//! Must never name a header, a signature, or anything that a page showed.

use bursar_policy::errand::ApprovalId;
use bursar_policy::refusal::Refusal;
use bursar_policy::{Handle, Site};

use super::{Reason, Receipt};

/// What became of setting money aside for a page.
#[derive(Clone, Debug)]
pub enum Preparation {
    /// It is set aside, or it was signed before and the same payment is offered again.
    Prepared {
        /// What the browser's glue redeems.
        handle: Handle,
        /// How many seconds it is good for.
        expires_in_s: u64,
        /// The payment.
        receipt: Receipt,
    },
    /// The page asks for nothing that bursar pays.
    Free {
        /// Why a 402 would not be paid, if it was one that carries no x402 terms.
        note: Option<Reason>,
    },
    /// It was paid for before.
    Paid {
        /// The payment.
        receipt: Receipt,
    },
    /// It was signed before, cannot be offered again, and nobody knows how it ended.
    Unresolved {
        /// The payment.
        receipt: Receipt,
        /// Why it is not known.
        reason: Reason,
    },
    /// The rules, a limit or the caller's own ceiling said no. Nothing was set aside.
    Refused {
        /// Every reason, in precedence order.
        refusals: Vec<Refusal>,
    },
    /// A person has to look first, and was asked. Nothing was set aside.
    NeedsApproval {
        /// What it waits under.
        approval: ApprovalId,
        /// When the question is over, Unix seconds.
        expires_s: u64,
    },
    /// It could not be tried. Nothing was signed.
    Failed(Reason),
}

/// How it stands with a page that a browser pays for.
#[derive(Clone, Debug)]
pub enum Attachment {
    /// The seller delivered and the payment is with it.
    Paid {
        /// The page.
        site: Site,
        /// The payment.
        receipt: Receipt,
    },
    /// Signed and with the browser; it is not known whether the seller took the money.
    Unresolved {
        /// The page.
        site: Site,
        /// The payment.
        receipt: Receipt,
        /// Why it is not known.
        reason: Reason,
    },
    /// The browser is ready. Nothing is signed.
    Armed {
        /// The page.
        site: Site,
        /// The payment.
        receipt: Receipt,
        /// How many seconds the handle is good for still.
        expires_in_s: u64,
    },
    /// The browser could not do it. Nothing is signed, and the handle is still good.
    NotYet {
        /// The page.
        site: Site,
        /// The payment.
        receipt: Receipt,
        /// How many seconds the handle is good for still.
        expires_in_s: u64,
        /// Why.
        reason: Reason,
    },
    /// The rules, a limit, the session or a person say no by now. Nothing is signed.
    Refused {
        /// Every reason, in precedence order.
        refusals: Vec<Refusal>,
    },
    /// It could not be tried, or the handle is not good. Nothing was signed by this.
    Failed(Reason),
}
