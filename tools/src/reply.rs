//! From plain answers to what the model is told: the parts that all tools share.
//!
//! Must never pass on a seller's word outside [`Untrusted`], a transaction id that is not exactly one, or the reason
//! why an offer was refused: all of those are one code, so that a seller cannot feel its way along the rules.

use bursar_policy::quantity::Moment;
use bursar_policy::refusal::{Audience, Refusal};
use bursar_policy::{ApprovalId, Method, Money, Site};
use schemars::JsonSchema;
use serde::Serialize;

use crate::payments::{OtherMethod, PaymentState, Reason, Receipt};
use crate::untrusted::{SellerText, Untrusted, line};

/// The most bytes of a sentence.
const SENTENCE_CAP_BYTES: usize = 400;

/// The code for arguments that cannot be used.
pub(crate) const BAD_ARGUMENTS: &str = "bad_arguments";

/// The code for a fault of bursar itself.
pub(crate) const INTERNAL_ERROR: &str = "internal_error";

/// A code, its sentence, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) next_step: Option<String>,
    pub(crate) seller_says: Option<Untrusted>,
}

impl Words {
    /// Words of ours.
    pub(crate) fn new(code: &str, message: &str, next_step: Option<&str>) -> Self {
        Self {
            code: code_text(code),
            message: sentence(message),
            next_step: next_step.map(sentence),
            seller_says: None,
        }
    }

    /// A person has to look first.
    pub(crate) fn needs_approval(approval: &ApprovalId, message: &str) -> Self {
        let next_step = format!(
            "ask the operator, a person, to run `bursar approve {approval}`, then call again with exactly the same arguments"
        );
        Self::new("needs_approval", message, Some(&next_step))
    }

    /// The words for a reason of the shell.
    pub(crate) fn of_reason(reason: &Reason, next_step: Option<&str>) -> Self {
        Self::new(reason.code(), reason.sentence(), next_step)
    }

    /// The words for a refusal: plain where it is about our own side, uniform where it is about the seller's offer.
    pub(crate) fn of_refusals(refusals: &[Refusal]) -> Self {
        let own = refusals.iter().find(|refusal| refusal.audience() == Audience::Own);
        let Some(refusal) = own.or_else(|| refusals.first()) else {
            return Self::new(Refusal::OFFER_REFUSED, OFFER_REFUSED, Some(OFFER_NEXT));
        };
        match refusal.audience() {
            Audience::Offer => Self::new(refusal.shown(), OFFER_REFUSED, Some(OFFER_NEXT)),
            Audience::Limit => {
                Self::new(refusal.shown(), "a spending limit does not allow this payment", Some(LIMIT_NEXT))
            }
            Audience::Own => Self::of_own(refusal),
        }
    }

    fn of_own(refusal: &Refusal) -> Self {
        let next_step = if FOR_THE_OPERATOR.contains(&refusal.code()) {
            format!("ask the operator, a person, to {}", refusal.next_step())
        } else {
            refusal.next_step().to_owned()
        };
        match refusal {
            // The sentence would carry the seller's words; they go into a frame instead.
            Refusal::RedirectRefused { location, .. } => Self {
                seller_says: Some(Untrusted::remark(&SellerText::from(location.as_str()))),
                ..Self::new(
                    refusal.shown(),
                    "the seller answered with a redirect, which is never followed",
                    Some(&next_step),
                )
            },
            // The address is the operator's business: names inside its network are nothing to feel for from here.
            Refusal::AddressNotPublic { .. } => Self::new(
                refusal.shown(),
                "the host leads to an address that is not on the public internet",
                Some(&next_step),
            ),
            Refusal::AddressDenied { .. } => Self::new(
                refusal.shown(),
                "the host leads to an address that the operator does not want dialled",
                Some(&next_step),
            ),
            // What the operator calls the secret is the operator's business.
            Refusal::SecretMissing { .. } => Self::new(
                refusal.shown(),
                "a secret that the operator's rules name for this request is not stored",
                Some(&next_step),
            ),
            // Why a person has to look is the person's business: else it could be felt for from here.
            Refusal::NeedsApproval { .. } => {
                Self::new(refusal.shown(), "a person has to approve this purchase first", Some(&next_step))
            }
            // Which part, and every number, is the operator's business: nobody feels their way along a mandate.
            Refusal::OutsideMandate { .. } => {
                Self::new(refusal.shown(), "the operator opened this session for something else", Some(&next_step))
            }
            // These sentences hold words of ours, of the caller and of the operator only.
            Refusal::WalletLocked
            | Refusal::Frozen
            | Refusal::LedgerLatched
            | Refusal::NoSession
            | Refusal::SessionExpired
            | Refusal::MandateMissing
            | Refusal::IdempotencyConflict
            | Refusal::OverSessionBudget { .. }
            | Refusal::QuoteUnknown
            | Refusal::QuoteChanged
            | Refusal::PriceAboveCeiling { .. }
            | Refusal::TooManyInFlight
            | Refusal::UrlInvalid { .. }
            | Refusal::HttpsRequired
            | Refusal::HostNotAllowed { .. }
            | Refusal::MethodNotAllowed { .. }
            | Refusal::BodyNotAllowed { .. }
            | Refusal::HeaderNotAllowed { .. }
            | Refusal::CurrencyWithoutCap { .. }
            | Refusal::InsufficientBalance { .. }
            | Refusal::BalanceUnknown { .. }
            | Refusal::ApprovalDenied
            | Refusal::TooManyApprovals { .. } => Self::new(refusal.shown(), &refusal.to_string(), Some(&next_step)),
            // A refusal that nobody has looked at yet tells its code and nothing else.
            _ => Self::new(refusal.shown(), "bursar refused this before anything was paid", Some(&next_step)),
        }
    }
}

const OFFER_REFUSED: &str =
    "the seller's payment terms do not pass the operator's rules, so nothing was paid; this is final";
const OFFER_NEXT: &str =
    "do not try again with other arguments; tell the user that the operator can read the reasons with `bursar log`";
const LIMIT_NEXT: &str =
    "do not try again with other arguments; tell the user that the operator can read the limits with `bursar status`";

/// What only a person at a terminal can change.
const FOR_THE_OPERATOR: [&str; 15] = [
    "wallet_locked",
    "frozen",
    "ledger_latched",
    "no_session",
    "session_expired",
    "mandate_missing",
    "secret_missing",
    "outside_mandate",
    "over_session_budget",
    "host_not_allowed",
    "method_not_allowed",
    "address_not_public",
    "address_denied",
    "too_many_approvals",
    "needs_approval",
];

/// Something that bursar noticed about the seller's terms. It changes nothing of what was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToldNote {
    /// What it is, as a stable code: other_method_documented.
    pub(crate) code: String,
    /// What was noticed, in one sentence by bursar.
    pub(crate) message: String,
    /// What to do about it, in one sentence by bursar.
    pub(crate) next_step: String,
}

impl From<OtherMethod> for ToldNote {
    fn from(OtherMethod { asked, documented }: OtherMethod) -> Self {
        let next_step = match documented.parse() {
            Ok(Method::Post) => {
                "if you mean the POST, ask the user, then call again with method POST and the body that the seller wants; \
                 the operator's rules have to list POST for this host"
                    .to_owned()
            }
            Ok(method @ (Method::Get | Method::Head)) => {
                format!("if you mean the {method}, ask the user, then call again with method {method} and no body")
            }
            Err(_) => format!("bursar sends no {documented}, so tell the user that this may not be had through it"),
        };
        Self {
            code: "other_method_documented".to_owned(),
            message: format!(
                "the seller's terms describe a {documented} for this URL and {asked} was asked, so what is paid for the \
                 {asked} may be of no use"
            ),
            next_step,
        }
    }
}

/// Proof of a payment, as far as it may be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToldReceipt {
    /// bursar's id of the payment; the operator finds it with `bursar log`.
    pub(crate) payment_id: String,
    /// What was paid, in the token, for example `0.01 USDC`.
    pub(crate) amount: String,
    /// The same in its currency, for example `0.01 USD`.
    pub(crate) money: String,
    /// The network in CAIP-2 form, for example `eip155:8453`.
    pub(crate) network: String,
    /// The account that is paid.
    pub(crate) payee: String,
    /// The origin that was asked.
    pub(crate) origin: String,
    /// The path that was asked, without the query.
    pub(crate) path: String,
    /// The transaction on the network as claimed by the seller, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transaction: Option<String>,
    /// Where the payment stands in the ledger; `held`, `exposed` and `presumed_spent` count as spent.
    pub(crate) state: ToldState,
    /// When the signed authorization ends, in UTC.
    pub(crate) expires: String,
}

/// Where a payment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToldState {
    Held,
    Exposed,
    Settled,
    PresumedSpent,
    Lapsed,
    Voided,
}

impl ToldReceipt {
    /// What is told of `receipt`, a payment for `site`.
    pub(crate) fn new(receipt: &Receipt, site: &Site) -> Self {
        Self {
            payment_id: receipt.payment.to_string(),
            amount: amount(receipt.money, &receipt.symbol),
            money: receipt.money.to_string(),
            network: receipt.chain.to_string(),
            payee: receipt.payee.to_string(),
            origin: site.origin().to_string(),
            path: site.path().to_owned(),
            transaction: receipt.transaction.as_deref().and_then(transaction_id),
            state: receipt.state.into(),
            expires: utc(receipt.expires_s),
        }
    }
}

impl From<PaymentState> for ToldState {
    fn from(state: PaymentState) -> Self {
        match state {
            PaymentState::Held => Self::Held,
            PaymentState::Exposed => Self::Exposed,
            PaymentState::Settled => Self::Settled,
            PaymentState::PresumedSpent => Self::PresumedSpent,
            PaymentState::Lapsed => Self::Lapsed,
            PaymentState::Voided => Self::Voided,
        }
    }
}

/// `0.01 USDC`: the number of the money, which is at par, and the symbol of the token.
pub(crate) fn amount(money: Money, symbol: &str) -> String {
    let text = money.to_string();
    let number = text.split_once(' ').map_or(text.as_str(), |(number, _)| number);
    format!("{number} {}", line(symbol, 16))
}

/// Seconds of Unix time as RFC 3339 in UTC; a time no calendar has is told as such.
pub(crate) fn utc(seconds: u64) -> String {
    Moment(seconds).to_string()
}

/// A sentence of ours on one line.
pub(crate) fn sentence(text: &str) -> String {
    line(text, SENTENCE_CAP_BYTES)
}

/// The id of a transaction in lower case: `0x` and 64 hex digits, else nothing.
fn transaction_id(text: &str) -> Option<String> {
    let digits = text.strip_prefix("0x")?;
    let exact = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    exact.then(|| text.to_ascii_lowercase())
}

/// A code of ours; what does not look like one is a fault of ours.
fn code_text(code: &str) -> String {
    let fits = (1..=64).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if fits { code.to_owned() } else { INTERNAL_ERROR.to_owned() }
}

#[cfg(test)]
mod tests;
