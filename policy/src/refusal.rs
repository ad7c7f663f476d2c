//! Every way to say no: one enum, in precedence order. It must never hold a fault of ours.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::address_block::AddressBlock;
use crate::caution::Concern;
use crate::chain::{Address, AssetId, ChainId};
use crate::errand::{ApprovalId, Method};
use crate::limit::{Scope, Window};
use crate::money::{Currency, Money};
use crate::quoted::Quoted;
use crate::request_header::HeaderName;
use crate::secret::SecretName;
use crate::site::SiteFault;
use crate::tag::Tag;

mod blame;
mod code;
mod sentence;

pub use self::code::{Advice, in_order};

/// Why something was refused. Variants stand in order of precedence: where several apply, the
/// first one is the answer and the others are details. A refusal is an answer, not an error.
///
/// What a seller said appears only as [`Quoted`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Refusal {
    // Our own side.
    /// The keystore is locked.
    WalletLocked,
    /// A person froze all spending.
    Frozen,
    /// The ledger latched itself shut after a storage or clock fault.
    LedgerLatched,
    /// No session of that name is open.
    NoSession,
    /// The session's time is over.
    SessionExpired,
    /// The rules want a mandate of every session, and this one has none.
    MandateMissing,
    /// The session's mandate does not cover the purchase.
    OutsideMandate {
        /// What of it.
        part: MandatePart,
    },
    /// The purchase id was used for another URL, method or body.
    IdempotencyConflict,
    /// The session's budget does not cover the price.
    OverSessionBudget {
        /// The price.
        asked: Money,
        /// What is left of the budget.
        left: Money,
    },
    /// There is no quote with that id, or its time is over.
    QuoteUnknown,
    /// The seller's terms are no longer those of the quote.
    QuoteChanged,
    /// The price is above the caller's own ceiling.
    PriceAboveCeiling {
        /// The price.
        asked: Money,
        /// What the caller was ready to pay.
        ceiling: Money,
    },
    /// Too many purchases run at once.
    TooManyInFlight,
    /// Not a time in which payments are made.
    OutsideHours {
        /// The times in which they are.
        hours: String,
    },
    /// A secret that the rules name for this request is not stored.
    SecretMissing {
        /// The secret.
        name: SecretName,
    },

    // The errand.
    /// The URL cannot be used.
    UrlInvalid {
        /// What is wrong with it.
        why: String,
    },
    /// The URL is not https.
    HttpsRequired,
    /// No host rule covers the URL.
    HostNotAllowed {
        /// The origin, and the path too where only paths of that origin are listed.
        origin: String,
    },
    /// The host is in quarantine: too much went wrong with it.
    HostQuarantined {
        /// The origin.
        origin: String,
        /// When the quarantine ends, Unix seconds.
        until_s: u64,
    },
    /// The host rule does not list the method.
    MethodNotAllowed {
        /// The method.
        method: Method,
    },
    /// A body that may not be sent.
    BodyNotAllowed {
        /// Why.
        why: BodyRefusal,
    },
    /// A header that the host's rule does not list.
    HeaderNotAllowed {
        /// The header.
        name: HeaderName,
    },
    /// The host leads to an address that is not on the public internet.
    AddressNotPublic {
        /// The address.
        address: String,
        /// What it is.
        block: String,
    },
    /// The operator's lists of addresses stand against dialling the host.
    AddressDenied {
        /// The address.
        address: String,
        /// The denied block that it is in; absent where it is in none of those that are allowed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block: Option<AddressBlock>,
    },
    /// The seller answered with a redirect.
    RedirectRefused {
        /// The HTTP status.
        status: u16,
        /// Where it pointed.
        location: Quoted,
    },

    // The terms document.
    /// The 402 document cannot be read.
    TermsUnreadable {
        /// What is wrong with it.
        why: Quoted,
    },
    /// The 402 document says one thing twice, differently.
    TermsConflicting {
        /// What it contradicts itself about.
        why: Quoted,
    },
    /// The 402 document is over a cap.
    TermsTooLarge {
        /// Which cap.
        why: Quoted,
    },
    /// A version of x402 that is neither 1 nor 2.
    UnsupportedVersion {
        /// The version as said.
        version: Quoted,
    },
    /// `accepts` is empty.
    NoOffers,
    /// The terms are for another host.
    ResourceMismatch {
        /// The resource that the seller named.
        named: Quoted,
        /// The host that was asked.
        asked: String,
    },
    /// The seller's clock and ours are too far apart to agree on an expiry.
    ClockInvalid {
        /// How far, in seconds.
        apart_s: u64,
    },

    // An offer.
    /// Not a scheme that the rules list.
    UnsupportedScheme {
        /// The scheme as said.
        scheme: Quoted,
    },
    /// Not a network that the rules list.
    UnsupportedNetwork {
        /// The network as said.
        network: Quoted,
    },
    /// Not EIP-3009.
    UnsupportedTransferMethod {
        /// The method as said.
        method: Quoted,
    },
    /// Not the flow that settles after delivery.
    UnsupportedPaymentFlow {
        /// The flow as said.
        flow: Quoted,
    },
    /// A v1 offer behind another one with the same scheme and network: the seller would take a
    /// payment of this one for a payment of that one.
    ShadowedOffer {
        /// The place of the first one in the seller's list, from 0.
        first: u32,
    },
    /// The offer says one thing twice, differently.
    OfferConflict {
        /// The members that disagree.
        members: Quoted,
    },
    /// The amount is not the canonical text of a whole number above zero.
    AmountInvalid {
        /// What was said.
        said: Quoted,
        /// What is wrong with it.
        why: String,
    },
    /// An address is malformed.
    AddressInvalid {
        /// The member it is in.
        member: AddressMember,
        /// What was said.
        said: Quoted,
        /// What is wrong with it.
        why: String,
    },
    /// The timeout is not a whole number of seconds from 1 to a day.
    TimeoutInvalid {
        /// What was said.
        said: Quoted,
    },
    /// Not an asset that the rules list.
    AssetNotAllowed {
        /// The asset.
        asset: AssetId,
    },
    /// The EIP-712 domain that the seller states is not the token's.
    DomainMismatch {
        /// The member of `extra`.
        member: DomainMember,
        /// What was said.
        said: Quoted,
        /// What the asset table says.
        known: String,
    },
    /// Nobody should be paid there.
    PayeeForbidden {
        /// The payee.
        payee: Address,
        /// What it is.
        why: ForbiddenPayee,
    },
    /// The payee is not listed.
    PayeeNotAllowed {
        /// The payee.
        payee: Address,
        /// Its chain.
        chain: ChainId,
    },
    /// The price is above the ceiling for one payment.
    OverPaymentCap {
        /// The price: money at par, or atomic units where it cannot be counted as money.
        asked: Quoted,
        /// The ceiling; `None` where the asset has none because it is not allowed.
        cap: Option<Money>,
    },
    /// The price is in a currency that no ceiling covers, the caller's own included.
    CurrencyWithoutCap {
        /// The currency of the price.
        currency: Currency,
    },
    /// The authorization would expire in flight.
    LifetimeTooShort {
        /// The seconds it would live.
        life_s: u64,
    },

    // Limits over many payments.
    /// A limit would be exceeded.
    OverLimit {
        /// Whose payments it adds up.
        scope: Scope,
        /// Of which tag, where it is a tag's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<Box<Tag>>,
        /// How far back it looks.
        window: Window,
        /// What does not fit.
        breach: Breach,
    },
    /// Earlier payments to the same host or payee ran out unresolved, as many as are allowed.
    TooManyUnresolved {
        /// The host or the payee.
        scope: Scope,
        /// How many there are.
        unresolved: u32,
        /// How many there may be.
        max: u32,
    },
    /// The same was bought before, within the time in which the rules want it bought once.
    Recurring {
        /// How many seconds ago.
        ago_s: u64,
        /// The time in which it is bought once, in seconds.
        within_s: u64,
    },

    // The wallet.
    /// The wallet does not hold the price, beside what may still be cashed.
    InsufficientBalance {
        /// The price.
        asked: Money,
        /// What is left of the asset.
        left: Money,
        /// Its chain.
        chain: ChainId,
    },
    /// The rules want the balance known, and the chain does not tell it.
    BalanceUnknown {
        /// The chain.
        chain: ChainId,
    },

    // A person.
    /// A person looked at exactly this purchase and said no.
    ApprovalDenied,
    /// As many purchases of the session wait for a person as may.
    TooManyApprovals {
        /// How many may.
        max: u32,
    },
    /// Nothing forbids it, and a person has to look first.
    NeedsApproval {
        /// The question that waits; absent where nothing was put before a person, as for a quote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<Box<Question>>,
        /// Why.
        concerns: Vec<Concern>,
    },
}

/// A purchase that was put before a person.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What it waits under.
    pub id: ApprovalId,
    /// When it is over, Unix seconds.
    pub expires_s: u64,
}

/// What of a purchase a mandate does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MandatePart {
    /// The origin.
    Origin,
    /// The payee.
    Payee,
    /// The price.
    Price,
}

/// What of a limit does not fit one more payment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breach {
    /// The amount.
    Amount {
        /// The price.
        asked: Money,
        /// What is left of the limit.
        left: Money,
    },
    /// The number of payments.
    Count {
        /// What is counted already.
        used: u32,
        /// The limit.
        max: u32,
    },
    /// Several vaults split the limit, and the part of this one does not reach.
    Share,
    /// The ledger gave no total for it: nobody knows what is left.
    Unread,
}

/// Why a body may not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyRefusal {
    /// The method carries none.
    Method,
    /// It is over the host rule's cap.
    TooLarge {
        /// Its length in bytes.
        bytes: u64,
        /// The cap in bytes.
        cap: u64,
    },
}

/// A member of an offer that holds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressMember {
    /// `asset`
    Asset,
    /// `payTo`
    PayTo,
}

/// A member of `extra` that speaks of the EIP-712 domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainMember {
    /// `extra.name`
    Name,
    /// `extra.version`
    Version,
    /// `extra.verifyingContract`
    VerifyingContract,
    /// `extra.chainId`
    ChainId,
}

/// A payee that nobody should pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForbiddenPayee {
    /// The zero address.
    Zero,
    /// The token contract itself: money sent there is lost.
    TokenContract,
    /// The payer itself.
    Payer,
}

/// Whether a refusal tells of a mistake or of a danger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Malformed, unsupported or not ready.
    Validation,
    /// Something that a rule exists to stop.
    Security,
}

/// Whose business a refusal is, hence how much of it the model hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Audience {
    /// The seller's document or offer: one uniform code, so that nobody can probe the rules.
    Offer,
    /// A limit over many payments: "a spending limit".
    Limit,
    /// Our own side or the caller's own argument: told plainly.
    Own,
}

impl From<SiteFault> for Refusal {
    fn from(fault: SiteFault) -> Self {
        Self::UrlInvalid { why: fault.to_string() }
    }
}

impl fmt::Display for Refusal {
    /// One sentence for the operator, with every seller value escaped and in backticks.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        sentence::write(self, out)
    }
}
