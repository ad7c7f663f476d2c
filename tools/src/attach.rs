//! `attach_browser_payment`: its arguments, its answer, and how an [`Attachment`] becomes that answer.
//!
//! Must never tell a byte of the header or of the page: what the browser shows is between it and the user.

use bursar_policy::{Handle, PageOpening, Refusal, Site};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::arguments::{Arguments, bad};
use crate::payments::{Attachment, Receipt};
use crate::reply::{INTERNAL_ERROR, ToldReceipt, Words};

/// The name of the tool.
pub(crate) const NAME: &str = "attach_browser_payment";

/// What the tool does, for the model.
pub(crate) const DESCRIPTION: &str = "Has the user's browser pay for the page that was prepared. The browser's trusted \
glue, a program of the operator's, puts the payment on the browser's own request for exactly that page; you never see \
it. Answers with what was paid, never with the page. Calling again with the same handle tells how it ended and never \
pays again. Without a connected browser the handle stays good for its time.";

/// The arguments, as the schema tells them.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "read by the schema only; the values are parsed by hand from the raw object")]
pub(crate) struct AttachArguments {
    /// The handle that prepare_browser_payment gave.
    handle: String,
    /// navigate (the default): the browser opens the page now, and the answer comes when it is paid for. wait: the
    /// answer comes as soon as the browser is ready; then make it ask for the page, by a click or otherwise.
    open: Option<OpenWord>,
}

/// The ways to open a page, for the schema.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "read by the schema only")]
pub(crate) enum OpenWord {
    Navigate,
    Wait,
}

/// The names of the arguments.
pub(crate) const ARGUMENTS: &[&str] = &["handle", "open"];

/// Understands the arguments of one call.
///
/// # Errors
///
/// What is wrong with them, in words for the caller.
pub(crate) fn read(given: Map<String, Value>) -> Result<(Handle, PageOpening), Box<Words>> {
    let mut given = Arguments::new(NAME, given, ARGUMENTS)?;
    let handle = given.text("handle")?.ok_or_else(|| bad("`handle` is missing; prepare_browser_payment gives one"))?;
    let handle = handle.parse().map_err(|fault| bad(&format!("`handle` can not be used: {fault}")))?;
    let open = match given.text("open")? {
        None => PageOpening::default(),
        Some(word) => PageOpening::EVERY
            .into_iter()
            .find(|open| open.as_str() == word)
            .ok_or_else(|| bad("`open` must be `navigate` or `wait`"))?,
    };
    Ok((handle, open))
}

/// The result of attach_browser_payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct AttachAnswer {
    /// How it stands: paid, unresolved (the money counts as spent), armed (the browser is ready and has not asked yet),
    /// refused, or failed (nothing was signed by this call).
    pub(crate) outcome: AttachOutcome,
    /// A stable code that says more than the outcome.
    pub(crate) code: String,
    /// What happened, in one sentence by bursar.
    pub(crate) message: String,
    /// What to do next, in one sentence by bursar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_step: Option<String>,
    /// Whether this is the end of an earlier call; then nothing was paid by this one.
    pub(crate) repeat: bool,
    /// How many seconds the handle is good for still; absent once it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_in_seconds: Option<u64>,
    /// The payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<ToldReceipt>,
}

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AttachOutcome {
    Paid,
    Unresolved,
    Armed,
    Refused,
    Failed,
}

const NOW_ASK: &str =
    "make the browser ask for exactly this page now; then call again with this handle to hear how it ended";
const STILL_GOOD: &str = "the handle is still good; when that is put right, call again with it";
const PREPARE_AGAIN: &str = "nothing was paid by this call; to go on, call prepare_browser_payment for the page";
const UNKNOWN: &str = "do not buy it again; calling prepare_browser_payment for the same page offers the same payment once \
more while it is good, and tells what is known after that";

impl AttachAnswer {
    /// What is told of `attachment`.
    pub(crate) fn new(attachment: &Attachment) -> Self {
        match attachment {
            Attachment::Paid { site, receipt } => {
                let told = ToldReceipt::new(receipt, site);
                let message = format!("paid {}; the browser has the page", told.amount);
                Self::bare(AttachOutcome::Paid, Words::new("paid", &message, None)).with(receipt, told)
            }
            Attachment::Unresolved { site, receipt, reason } => {
                let words = Words::of_reason(reason, Some(UNKNOWN));
                Self::bare(AttachOutcome::Unresolved, words).with(receipt, ToldReceipt::new(receipt, site))
            }
            Attachment::Armed { site, receipt, expires_in_s } => {
                let message = "the browser is ready to pay for the page, and nothing is signed yet";
                Self::open(
                    AttachOutcome::Armed,
                    Words::new("armed", message, Some(NOW_ASK)),
                    site,
                    receipt,
                    *expires_in_s,
                )
            }
            Attachment::NotYet { site, receipt, expires_in_s, reason } => {
                let words = Words::of_reason(reason, Some(STILL_GOOD));
                Self::open(AttachOutcome::Failed, words, site, receipt, *expires_in_s)
            }
            Attachment::Refused { refusals } => Self::refused(refusals),
            Attachment::Failed(reason) => {
                Self::bare(AttachOutcome::Failed, Words::of_reason(reason, Some(PREPARE_AGAIN)))
            }
        }
    }

    /// A refusal.
    pub(crate) fn refused(refusals: &[Refusal]) -> Self {
        Self::bare(AttachOutcome::Refused, Words::of_refusals(refusals))
    }

    /// Arguments that cannot be used.
    pub(crate) fn unusable(words: Words) -> Self {
        Self::bare(AttachOutcome::Refused, words)
    }

    /// A fault of bursar's own: nobody can tell here whether the browser paid.
    pub(crate) fn broken() -> Self {
        let message = "bursar failed on the way; if the browser paid it is in the ledger and counts as spent";
        let words = Words::new(INTERNAL_ERROR, message, Some("call again with this handle to hear how it ended"));
        Self::bare(AttachOutcome::Unresolved, words)
    }

    fn open(outcome: AttachOutcome, words: Words, site: &Site, receipt: &Receipt, expires_in_s: u64) -> Self {
        let bare = Self::bare(outcome, words).with(receipt, ToldReceipt::new(receipt, site));
        Self { expires_in_seconds: Some(expires_in_s), ..bare }
    }

    fn bare(outcome: AttachOutcome, words: Words) -> Self {
        Self {
            outcome,
            code: words.code,
            message: words.message,
            next_step: words.next_step,
            repeat: false,
            expires_in_seconds: None,
            receipt: None,
        }
    }

    fn with(self, receipt: &Receipt, told: ToldReceipt) -> Self {
        Self { repeat: receipt.repeat, receipt: Some(told), ..self }
    }
}
