//! `x402_quote`: its arguments, its answer, and how a [`Quote`] becomes that answer.
//!
//! Must never promise: a quote pins terms, it sets no money aside.

use bursar_policy::{Refusal, Site};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::arguments::{Arguments, Order, Said};
use crate::content::ToldContent;
use crate::fetch::{BodyTypeWord, HeaderWords, MethodWord};
use crate::payments::{Noticed, Price, Quote};
use crate::reply::{INTERNAL_ERROR, ToldNote, Words, amount};
use crate::untrusted::Untrusted;

/// The name of the tool.
pub(crate) const NAME: &str = "x402_quote";

/// What the tool does, for the model.
pub(crate) const DESCRIPTION: &str = "Asks what a URL would cost and whether the operator's rules and budget would pay \
for it now. Sends the request without money, never signs and never pays. The quote id it gives can be handed to \
x402_fetch, which then pays only if the terms are still the same.";

/// The arguments, as the schema tells them.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "read by the schema only; the values are parsed by hand from the raw object")]
pub(crate) struct QuoteArguments {
    /// The full https URL, with its query.
    url: String,
    /// GET (the default), HEAD or POST. The operator's rules say which of them a host allows.
    method: Option<MethodWord>,
    /// The body of a POST, as text, at most 1 MiB, or less where the operator's rules say so. Write JSON as text.
    body: Option<String>,
    /// What `body` is: json (the default), form or text.
    body_type: Option<BodyTypeWord>,
    /// Headers to send, where the operator's rules list them for the host. They are part of what makes a call the same
    /// call again.
    headers: Option<HeaderWords>,
    /// The most you are willing to pay, for example "0.05 USD". It can only make the operator's limits tighter.
    max_price: Option<String>,
}

/// The names of the arguments.
pub(crate) const ARGUMENTS: &[&str] = &["url", "method", "body", "body_type", "headers", "max_price"];

/// Understands the arguments of one call.
///
/// # Errors
///
/// What is wrong with them, in words for the caller.
pub(crate) fn read(given: Map<String, Value>) -> Result<Order, Box<Words>> {
    let mut given = Arguments::new(NAME, given, ARGUMENTS)?;
    Said {
        url: given.text("url")?,
        method: given.text("method")?,
        body: given.text("body")?,
        body_type: given.text("body_type")?,
        headers: given.members("headers")?,
        max_price: given.text("max_price")?,
        ..Said::default()
    }
    .into_order()
}

/// The result of x402_quote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct QuoteAnswer {
    /// What a fetch would do now: pay, free (nothing would be asked for), needs_approval (a person would have to look
    /// first), refused, or failed (it could not be asked).
    pub(crate) outcome: QuoteOutcome,
    /// A stable code that says more than the outcome.
    pub(crate) code: String,
    /// What was found out, in one sentence by bursar.
    pub(crate) message: String,
    /// What to do next, in one sentence by bursar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_step: Option<String>,
    /// What bursar noticed about the seller's terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<ToldNote>,
    /// Give this to x402_fetch as `quote` to pay these terms and no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quote: Option<String>,
    /// The terms that would be paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) price: Option<ToldPrice>,
    /// What came from a seller that asks for no payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<ToldContent>,
    /// What the seller says about the matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seller_says: Option<Untrusted>,
}

/// What a fetch would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QuoteOutcome {
    Pay,
    Free,
    NeedsApproval,
    Refused,
    Failed,
}

/// Terms that passed the operator's rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ToldPrice {
    /// The price in the token, for example `0.01 USDC`.
    pub(crate) amount: String,
    /// The same in its currency, for example `0.01 USD`.
    pub(crate) money: String,
    /// The network in CAIP-2 form, for example `eip155:8453`.
    pub(crate) network: String,
    /// The account that would be paid.
    pub(crate) payee: String,
    /// The origin that was asked.
    pub(crate) origin: String,
    /// The path that was asked, without the query.
    pub(crate) path: String,
}

impl ToldPrice {
    fn new(price: &Price, site: &Site) -> Self {
        Self {
            amount: amount(price.money, &price.symbol),
            money: price.money.to_string(),
            network: price.chain.to_string(),
            payee: price.payee.to_string(),
            origin: site.origin().to_string(),
            path: site.path().to_owned(),
        }
    }
}

impl QuoteAnswer {
    /// What is told of `quote`, an errand to `site`.
    pub(crate) fn new(quote: &Noticed<Quote>, site: &Site) -> Self {
        Self { note: quote.other_method.map(ToldNote::from), ..Self::of(&quote.answer, site) }
    }

    fn of(quote: &Quote, site: &Site) -> Self {
        match quote {
            Quote::Free { content, note } => {
                let words = note.as_ref().map_or_else(
                    || {
                        Words::new(
                            "free",
                            "the seller asks for no money",
                            Some("x402_fetch would get it without paying"),
                        )
                    },
                    |note| Words::of_reason(note, Some("nothing can be paid here")),
                );
                Self { content: Some(content.into()), ..Self::bare(QuoteOutcome::Free, words) }
            }
            Quote::Payable { quote, price } => {
                let told = ToldPrice::new(price, site);
                let message = format!("x402_fetch would pay {} now; nothing was paid or set aside", told.amount);
                let next = "to buy, call x402_fetch with the same arguments and this quote id";
                Self {
                    quote: Some(quote.to_string()),
                    price: Some(told),
                    seller_says: price.description.as_ref().map(Untrusted::remark),
                    ..Self::bare(QuoteOutcome::Pay, Words::new("payable", &message, Some(next)))
                }
            }
            Quote::NeedsApproval => {
                let message =
                    "a person would have to approve this purchase first; nobody was asked and nothing was paid";
                let next = "to have a person asked, call x402_fetch with the same arguments";
                Self::bare(QuoteOutcome::NeedsApproval, Words::new("needs_approval", message, Some(next)))
            }
            Quote::Refused { refusals } => Self::refused(refusals),
            Quote::Failed(reason) => Self::bare(
                QuoteOutcome::Failed,
                Words::of_reason(reason, Some("the same call may be tried again later")),
            ),
        }
    }

    /// A refusal.
    pub(crate) fn refused(refusals: &[Refusal]) -> Self {
        Self::bare(QuoteOutcome::Refused, Words::of_refusals(refusals))
    }

    /// Arguments that cannot be used.
    pub(crate) fn unusable(words: Words) -> Self {
        Self::bare(QuoteOutcome::Refused, words)
    }

    /// A fault of bursar's own.
    pub(crate) fn broken() -> Self {
        let words = Words::new(INTERNAL_ERROR, "bursar failed on the way; nothing was paid", None);
        Self::bare(QuoteOutcome::Failed, words)
    }

    fn bare(outcome: QuoteOutcome, words: Words) -> Self {
        Self {
            outcome,
            code: words.code,
            message: words.message,
            next_step: words.next_step,
            note: None,
            quote: None,
            price: None,
            content: None,
            seller_says: words.seller_says,
        }
    }
}
