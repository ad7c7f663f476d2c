//! `payment_session_status`: its answer, and how a [`Standing`] becomes that answer.
//!
//! Must never tell limits over a host, a payee, an asset or a tag: towards the model those are "a spending limit".

use bursar_policy::{Money, Refusal, Scope};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::arguments::Arguments;
use crate::payments::{Books, LimitLine, Receipt, SessionLine, SessionState, Standing};
use crate::reply::{INTERNAL_ERROR, ToldState, Words, amount, sentence, utc};
use crate::untrusted::line;

/// The most bytes of a purpose: 200 characters of any kind.
const PURPOSE_CAP_BYTES: usize = 2_400;

/// The name of the tool.
pub(crate) const NAME: &str = "payment_session_status";

/// What the tool does, for the model.
pub(crate) const DESCRIPTION: &str = "Tells whether payments are possible now, what is left of the budget the operator \
opened, which payments are not resolved yet, and what a person should do next. Changes nothing.";

/// The arguments: none.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct StatusArguments {}

/// The names of the arguments.
pub(crate) const ARGUMENTS: &[&str] = &[];

/// Makes sure that there are no arguments.
///
/// # Errors
///
/// When there is one, in words for the caller.
pub(crate) fn read(given: Map<String, Value>) -> Result<(), Box<Words>> {
    Arguments::new(NAME, given, ARGUMENTS).map(drop)
}

/// The result of payment_session_status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct StatusAnswer {
    /// Whether a payment could be made now.
    pub(crate) ready: bool,
    /// `ready`, or a stable code for what stands in the way.
    pub(crate) code: String,
    /// How things stand, in one sentence.
    pub(crate) message: String,
    /// What a person should do next, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_step: Option<String>,
    /// The budget a person opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<ToldSession>,
    /// The limits over all payments and over this session.
    pub(crate) limits: Vec<ToldLimit>,
    /// What is nearly used up, one sentence each: the budget, or a limit of which 80% or more is used.
    pub(crate) warnings: Vec<String>,
    /// Money in payments that are not resolved yet, one entry a currency; it counts as spent.
    pub(crate) held: Vec<String>,
    /// The payments that are not resolved yet.
    pub(crate) unresolved: Vec<ToldOpen>,
    /// How many purchases wait for a person to approve them.
    pub(crate) approvals_waiting: u32,
    /// The account that pays; the operator funds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) payer: Option<String>,
}

/// A budget session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToldSession {
    /// The name of the session.
    pub(crate) name: String,
    /// open, expired or closed.
    pub(crate) state: ToldSessionState,
    /// What a person allowed, for example `1.00 USD`.
    pub(crate) budget: String,
    /// What is spent or set aside.
    pub(crate) spent: String,
    /// What is left to spend.
    pub(crate) left: String,
    /// When it ends, in UTC.
    pub(crate) expires: String,
    /// What the operator opened it for; absent where it is for everything that the rules allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mandate: Option<ToldMandate>,
}

/// What a session is for. Anything else is refused, also where a price or a payee is outside of what the operator set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToldMandate {
    /// The purpose, in the operator's words.
    pub(crate) purpose: String,
    /// The only origins that may be asked.
    pub(crate) origins: Vec<String>,
}

/// Whether a session still pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToldSessionState {
    Open,
    Expired,
    Closed,
}

/// A limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToldLimit {
    /// all (every payment of the wallet) or session.
    #[schemars(extend("enum" = ["all", "session"]))]
    pub(crate) scope: &'static str,
    /// How far back it looks, for example `24h`, `day in Europe/Berlin`, or lifetime.
    pub(crate) window: String,
    /// The most money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<String>,
    /// The money that is left of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left: Option<String>,
    /// The most payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u32>,
    /// The payments that are left of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count_left: Option<u32>,
}

/// A payment that is not resolved yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToldOpen {
    /// bursar's id of the payment.
    pub(crate) payment_id: String,
    /// The price in the token.
    pub(crate) amount: String,
    /// The same in its currency.
    pub(crate) money: String,
    /// The network in CAIP-2 form.
    pub(crate) network: String,
    /// The account that is paid.
    pub(crate) payee: String,
    /// Where it stands in the ledger.
    pub(crate) state: ToldState,
    /// When the signed authorization ends, in UTC.
    pub(crate) expires: String,
}

impl StatusAnswer {
    /// What is told of `standing`.
    pub(crate) fn new(standing: &Standing) -> Self {
        match standing {
            Standing::Failed(reason) => Self::bare(Words::of_reason(reason, None)),
            Standing::Known(books) => {
                let (ready, words) = readiness(books);
                let next_step = books.next_step.as_deref().map(sentence).or_else(|| words.next_step.clone());
                Self {
                    ready,
                    next_step,
                    session: books.session.as_ref().map(told_session),
                    limits: books.limits.iter().filter_map(told_limit).collect(),
                    warnings: warnings(books),
                    held: books.held.iter().map(ToString::to_string).collect(),
                    unresolved: books.unresolved.iter().map(told_open).collect(),
                    approvals_waiting: books.approvals_waiting,
                    payer: books.payer.as_ref().map(ToString::to_string),
                    ..Self::bare(words)
                }
            }
        }
    }

    /// Arguments that cannot be used.
    pub(crate) fn unusable(words: Words) -> Self {
        Self::bare(words)
    }

    /// A fault of bursar's own.
    pub(crate) fn broken() -> Self {
        Self::bare(Words::new(INTERNAL_ERROR, "bursar failed while it looked; nothing was changed", None))
    }

    fn bare(words: Words) -> Self {
        Self {
            ready: false,
            code: words.code,
            message: words.message,
            next_step: words.next_step,
            session: None,
            limits: Vec::new(),
            warnings: Vec::new(),
            held: Vec::new(),
            unresolved: Vec::new(),
            approvals_waiting: 0,
            payer: None,
        }
    }
}

/// Whether the books allow a payment, with the words for it.
fn readiness(books: &Books) -> (bool, Words) {
    let session = books.session.as_ref().map(|session| session.state);
    let refusal = if books.latched {
        Refusal::LedgerLatched
    } else if books.frozen {
        Refusal::Frozen
    } else if books.locked {
        Refusal::WalletLocked
    } else {
        match session {
            None | Some(SessionState::Closed) => Refusal::NoSession,
            Some(SessionState::Expired) => Refusal::SessionExpired,
            Some(SessionState::Open) if books.mandate_missing => Refusal::MandateMissing,
            Some(SessionState::Open) if books.outside_hours.is_some() => {
                Refusal::OutsideHours { hours: books.outside_hours.clone().unwrap_or_default() }
            }
            Some(SessionState::Open) => {
                return (true, Words::new("ready", "payments are possible within the limits below", None));
            }
        }
    };
    (false, Words::of_refusals(&[refusal]))
}

fn told_session(session: &SessionLine) -> ToldSession {
    ToldSession {
        name: session.name.to_string(),
        state: match session.state {
            SessionState::Open => ToldSessionState::Open,
            SessionState::Expired => ToldSessionState::Expired,
            SessionState::Closed => ToldSessionState::Closed,
        },
        budget: session.budget.to_string(),
        spent: session.spent.to_string(),
        left: session.budget.saturating_sub(session.spent).to_string(),
        expires: utc(session.expires_s),
        mandate: session.mandate.as_ref().map(|mandate| ToldMandate {
            purpose: line(&mandate.purpose, PURPOSE_CAP_BYTES),
            origins: mandate.origins.iter().map(ToString::to_string).collect(),
        }),
    }
}

fn told_limit(limit: &LimitLine) -> Option<ToldLimit> {
    let scope = match limit.scope {
        Scope::All | Scope::Session => limit.scope.name(),
        Scope::Host | Scope::Payee | Scope::Asset | Scope::Tag => return None,
    };
    Some(ToldLimit {
        scope,
        window: limit.window.to_string(),
        max: limit.money.map(|(max, _)| max.to_string()),
        left: limit.money.map(|(max, used)| max.saturating_sub(used).to_string()),
        count: limit.count.map(|(max, _)| max),
        count_left: limit.count.map(|(max, used)| max.saturating_sub(used)),
    })
}

/// One sentence for the budget and for each limit that is told, where 80% of it or more is used.
fn warnings(books: &Books) -> Vec<String> {
    let open = books.session.iter().filter(|session| session.state == SessionState::Open);
    let budget = open.filter_map(|session| warned("the budget", &Share::of(session.budget, session.spent)));
    let limits = books.limits.iter().flat_map(|limit| {
        let whose = match limit.scope {
            Scope::All => "all payments",
            Scope::Session => "this session",
            Scope::Host | Scope::Payee | Scope::Asset | Scope::Tag => return [None, None],
        };
        let name = format!("the limit over {whose} ({})", limit.window);
        let money = limit.money.and_then(|(max, used)| warned(&name, &Share::of(max, used)));
        [money, limit.count.and_then(|(max, used)| warned(&name, &Share::counted(max, used)))]
    });
    budget.chain(limits.flatten()).collect()
}

/// How much of something is used, and the words for it.
struct Share {
    used: u128,
    max: u128,
    left: String,
}

impl Share {
    fn of(max: Money, used: Money) -> Self {
        let left = format!("{} of {max} is left", max.saturating_sub(used));
        Self { used: used.atto(), max: max.atto(), left }
    }

    fn counted(max: u32, used: u32) -> Self {
        let left = format!("{} of {max} payments are left", max.saturating_sub(used));
        Self { used: used.into(), max: max.into(), left }
    }
}

fn warned(name: &str, share: &Share) -> Option<String> {
    let Share { used, max, left } = share;
    // Exactly four fifths, whatever the numbers; of what is too large to be multiplied, a percent too few may be told.
    let from = max.saturating_sub(max.checked_div(5)?);
    let percent = match used.checked_mul(100) {
        Some(hundredfold) => hundredfold.checked_div(*max)?,
        None => used.checked_div(max.div_ceil(100))?,
    };
    (from <= *used).then(|| sentence(&format!("{name} is {}% used: {left}", percent.min(100))))
}

fn told_open(receipt: &Receipt) -> ToldOpen {
    ToldOpen {
        payment_id: receipt.payment.to_string(),
        amount: amount(receipt.money, &receipt.symbol),
        money: receipt.money.to_string(),
        network: receipt.chain.to_string(),
        payee: receipt.payee.to_string(),
        state: receipt.state.into(),
        expires: utc(receipt.expires_s),
    }
}
