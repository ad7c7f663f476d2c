//! What the tools need somebody to do, and the plain answers they get. No MCP in here.
//!
//! Must never name a key, a signature, a payment header, or a way to widen a limit: what is not in these types
//! cannot reach the model. A seller's words travel as [`SellerText`] only.

use core::future::Future;
use std::borrow::Cow;

use bursar_policy::errand::{ApprovalId, Errand, Method, PaymentId, QuoteId, SessionName};
use bursar_policy::limit::{Scope, Window};
use bursar_policy::money::Money;
use bursar_policy::refusal::Refusal;
use bursar_policy::{Address, ChainId, Digest, Handle, Origin, PageOpening, Pointer};

pub use self::browser::{Attachment, Preparation};
use crate::progress::Progress;
use crate::untrusted::SellerText;

mod browser;

/// One method a tool. Implemented by the shell of bursar, and by a fake in tests.
///
/// A future is run to its end whatever the client does; see [`Progress::wanted`] for the one thing it may ask.
pub trait Payments: Send + Sync + 'static {
    /// Fetches, and pays if the rules allow. `body` holds exactly the bytes that `errand.body` describes.
    fn fetch(
        &self,
        errand: Errand,
        body: Option<Vec<u8>>,
        progress: Progress,
    ) -> impl Future<Output = Noticed<Purchase>> + Send;

    /// Reads a stored copy again. Never asks a seller, and never pays.
    fn recall(&self, wanted: Wanted) -> impl Future<Output = Recall> + Send;

    /// Asks for the price and whether it would be paid. Never signs.
    fn quote(&self, errand: Errand, body: Option<Vec<u8>>) -> impl Future<Output = Noticed<Quote>> + Send;

    /// Judges a page, and sets the money for it aside until a browser pays. Never signs.
    fn prepare(&self, errand: Errand, progress: Progress) -> impl Future<Output = Preparation> + Send;

    /// Has the browser's glue pay for the page of `handle`, and says how that went as far as `open` waits for it.
    fn attach(&self, handle: Handle, open: PageOpening) -> impl Future<Output = Attachment> + Send;

    /// Reads how the wallet stands. Changes nothing.
    fn status(&self) -> impl Future<Output = Standing> + Send;

    /// The URL of the page where the operator decides about the purchase that waits under `approval`, where there is such a
    /// page. It holds that id and no login, and looking at it decides nothing.
    fn approval_page(&self, approval: &str) -> Option<String> {
        let _nowhere = approval;
        None
    }

    /// Ends when the purchase under `approval` does not wait for the operator any more, or nobody can tell. Decides nothing.
    fn decided(&self, approval: &str) -> impl Future<Output = ()> + Send;
}

/// An answer, and what was noticed about the seller's terms on the way to it, whatever the answer is.
#[derive(Clone, Debug)]
pub struct Noticed<T> {
    /// The answer.
    pub answer: T,
    /// The seller describes another method than the one that was asked.
    pub other_method: Option<OtherMethod>,
}

impl<T> From<T> for Noticed<T> {
    /// Nothing was noticed.
    fn from(answer: T) -> Self {
        Self { answer, other_method: None }
    }
}

/// A seller that describes what it sells with another method than the one it was asked by. Decides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherMethod {
    /// The method of the call.
    pub asked: Method,
    /// The one that the seller describes: a word of HTTP's, none of the seller's.
    pub documented: &'static str,
}

/// How a fetch ended. Every end after which a signature may be outside the wallet carries a [`Receipt`].
#[derive(Clone, Debug)]
pub enum Purchase {
    /// Nothing was paid and nothing was asked for in a way bursar pays.
    Free {
        /// The seller's answer.
        content: Content,
        /// Why a 402 was not paid, if it was one that carries no x402 terms.
        note: Option<Reason>,
    },
    /// Paid, and the body is stored.
    Paid {
        /// The payment.
        receipt: Receipt,
        /// The seller's answer.
        content: Content,
    },
    /// Paid, and the body could not be kept.
    PaidContentLost {
        /// The payment.
        receipt: Receipt,
        /// Why.
        reason: Reason,
    },
    /// Signed and sent, or perhaps sent; it is not known whether the seller took the money.
    Unresolved {
        /// The payment.
        receipt: Receipt,
        /// Why it is not known.
        reason: Reason,
        /// What the seller answered, if anything was stored.
        content: Option<Content>,
        /// What the seller gave as a reason.
        seller_says: Option<SellerText>,
    },
    /// The wallet was asked to sign and no answer came: a signature may exist, and the amount may count as spent.
    Unknown(Reason),
    /// The rules, a limit or the caller's own ceiling said no. Nothing was signed.
    Refused {
        /// Every reason, in precedence order.
        refusals: Vec<Refusal>,
    },
    /// A person has to look first, and was asked. Nothing was signed. Why is the person's business.
    NeedsApproval {
        /// What it waits under.
        approval: ApprovalId,
        /// When the question is over, Unix seconds.
        expires_s: u64,
    },
    /// It could not be tried. Nothing was signed.
    Failed(Reason),
}

/// Which stored copy is meant, and how much of it is wanted: as much as the rule shows, where no view is named.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// Exactly this body.
    Content {
        /// SHA-256 of the stored bytes.
        digest: Digest,
        /// How much of it.
        view: Option<View>,
    },
    /// The newest good answer to this request.
    Request {
        /// The request.
        errand: Box<Errand>,
        /// How many seconds ago it was delivered, at most.
        max_age_s: u64,
        /// How much of it.
        view: Option<View>,
    },
}

/// How much of a stored copy is shown. What a caller names is shown only where the operator's rule for the host shows
/// as much by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// Facts about it, and nothing of the body.
    Withhold,
    /// These fields of a JSON document.
    Fields(Vec<Pointer>),
    /// Its beginning, as text.
    Text,
    /// The name of its file, and a little of the beginning.
    File,
}

/// What became of reading a stored copy again.
#[derive(Clone, Debug)]
pub enum Recall {
    /// It is there, as it was delivered.
    Found {
        /// As the seller delivered it, and as the rules in force now show it.
        content: Content,
        /// When it was delivered, Unix seconds.
        delivered_s: u64,
    },
    /// It is not to be had.
    Not(Reason),
    /// The operator's rule for the host does not show as much as was asked for, whether there is a copy or not.
    TooWide(Reason),
}

/// What a purchase would be.
#[derive(Clone, Debug)]
pub enum Quote {
    /// The seller asks for nothing that bursar pays.
    Free {
        /// The seller's answer.
        content: Content,
        /// Why a 402 would not be paid, if it was one that carries no x402 terms.
        note: Option<Reason>,
    },
    /// It would be paid now.
    Payable {
        /// Pins these terms for a later fetch.
        quote: QuoteId,
        /// The terms.
        price: Price,
    },
    /// A person would have to look first; nobody was asked.
    NeedsApproval,
    /// It would be refused.
    Refused {
        /// Every reason, in precedence order.
        refusals: Vec<Refusal>,
    },
    /// It could not be tried.
    Failed(Reason),
}

/// How the wallet stands.
#[derive(Clone, Debug)]
pub enum Standing {
    /// The wallet answered.
    Known(Box<Books>),
    /// The wallet could not be asked.
    Failed(Reason),
}

/// A code of ours and one sentence of ours. Never holds a seller's words, a path or a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    code: Cow<'static, str>,
    sentence: Cow<'static, str>,
}

impl Reason {
    /// A reason. The code is snake_case and never changes its meaning; the sentence starts in lower case, has no
    /// full stop and says what to do next.
    #[must_use]
    pub fn new(code: impl Into<Cow<'static, str>>, sentence: impl Into<Cow<'static, str>>) -> Self {
        Self { code: code.into(), sentence: sentence.into() }
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The sentence.
    #[must_use]
    pub fn sentence(&self) -> &str {
        &self.sentence
    }
}

/// What came over the wire, already stored under its digest.
#[derive(Clone, Debug)]
pub struct Content {
    /// HTTP status.
    pub status: u16,
    /// What the seller calls the bytes, as a word of the closed list.
    pub kind: ContentKind,
    /// How many bytes are stored.
    pub bytes: u64,
    /// SHA-256 of exactly the stored bytes.
    pub digest: Digest,
    /// Whether the stored bytes are known to be only the beginning.
    pub truncated: bool,
    /// What the operator's rule for the host lets the model see.
    pub shown: Shown,
}

/// What the model may see of a body.
#[derive(Clone, Debug)]
pub enum Shown {
    /// Nothing: status, type, length and digest have to do.
    Withheld,
    /// Nothing, because the caller asked for the facts alone.
    LeftOut,
    /// The values that the rule or the caller names, in that order.
    Fields(Vec<Field>),
    /// Values were named, and this body has none to show, for this reason.
    NoFields(Reason),
    /// The text, framed and cut.
    Text(SellerText),
    /// Where the stored bytes are, for an agent that can read files.
    File {
        /// A path of ours, never of the seller's choosing.
        path: String,
        /// How a text begins.
        preview: Option<SellerText>,
    },
}

/// One value of a JSON document.
#[derive(Clone, Debug)]
pub struct Field {
    /// Where it is: a JSON pointer of the operator's or the caller's.
    pub pointer: String,
    /// What is there.
    pub value: FieldValue,
}

/// What is at a pointer.
#[derive(Clone, Debug)]
pub enum FieldValue {
    /// A string.
    Text(SellerText),
    /// The digits of a number, as they were sent.
    Number(SellerText),
    /// True or false.
    Bool(bool),
    /// Null.
    Null,
    /// An object or an array, of which nothing is told.
    NotAScalar,
    /// Nothing.
    Missing,
}

/// The closed list of content types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentKind(&'static str);

impl ContentKind {
    /// Every word of the list.
    pub const WORDS: [&'static str; 15] = [
        "json", "text", "html", "xml", "csv", "pdf", "png", "jpeg", "gif", "webp", "audio", "video", "zip", "octet",
        "other",
    ];

    /// The kind with this name; any other name is `other`.
    #[must_use]
    pub fn named(word: &str) -> Self {
        Self(Self::WORDS.into_iter().find(|known| *known == word).unwrap_or("other"))
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// Whether the bytes are meant to be read as text.
    #[must_use]
    pub fn is_textual(self) -> bool {
        matches!(self.0, "json" | "text" | "html" | "xml" | "csv")
    }
}

/// What may be told about a payment.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// The ledger row.
    pub payment: PaymentId,
    /// Where it stands.
    pub state: PaymentState,
    /// The price at par.
    pub money: Money,
    /// The asset's symbol, from the operator's table.
    pub symbol: String,
    /// The network.
    pub chain: ChainId,
    /// Who is paid.
    pub payee: Address,
    /// A transaction id; told only if it is `0x` and 64 hex digits.
    pub transaction: Option<String>,
    /// The end of the authorization, Unix seconds.
    pub expires_s: u64,
    /// Whether this is the result of an earlier identical call.
    pub repeat: bool,
}

/// Where a payment stands in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentState {
    /// Set aside, nothing signed.
    Held,
    /// A signature may exist; counts as spent.
    Exposed,
    /// Taken by the seller.
    Settled,
    /// Expired without proof; counts as spent.
    PresumedSpent,
    /// Proven unused.
    Lapsed,
    /// Proven never handed out.
    Voided,
}

/// The terms of a quote.
#[derive(Clone, Debug)]
pub struct Price {
    /// The price at par.
    pub money: Money,
    /// The asset's symbol, from the operator's table.
    pub symbol: String,
    /// The network.
    pub chain: ChainId,
    /// Who would be paid.
    pub payee: Address,
    /// What the seller says it sells.
    pub description: Option<SellerText>,
}

/// The wallet as the model may see it.
#[derive(Clone, Debug)]
pub struct Books {
    /// No key is unlocked.
    pub locked: bool,
    /// A person stopped all spending.
    pub frozen: bool,
    /// A storage or clock fault stopped all spending.
    pub latched: bool,
    /// When payments are made, where it is not such a time now.
    pub outside_hours: Option<String>,
    /// The rules want a mandate of every session, and this one has none.
    pub mandate_missing: bool,
    /// The paying account.
    pub payer: Option<Address>,
    /// The budget session, if one is or was open under this name.
    pub session: Option<SessionLine>,
    /// The limits. Only those over everything and over the session are told.
    pub limits: Vec<LimitLine>,
    /// Money in payments that are not resolved, one entry a currency.
    pub held: Vec<Money>,
    /// Payments that are not resolved.
    pub unresolved: Vec<Receipt>,
    /// Purchases that wait for a person.
    pub approvals_waiting: u32,
    /// What a person should do next, one sentence of ours.
    pub next_step: Option<String>,
}

/// A budget session.
#[derive(Clone, Debug)]
pub struct SessionLine {
    /// Its name.
    pub name: SessionName,
    /// What a person allowed.
    pub budget: Money,
    /// Spent or set aside.
    pub spent: Money,
    /// When it ends, Unix seconds.
    pub expires_s: u64,
    /// Whether it still pays.
    pub state: SessionState,
    /// What it is for; absent where it is for everything that the rules allow.
    pub mandate: Option<MandateLine>,
}

/// What a session is for, as far as the model may know: not whom it may pay, nor how much at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MandateLine {
    /// In the operator's words.
    pub purpose: String,
    /// The origins that may be asked.
    pub origins: Vec<Origin>,
}

/// Whether a session still pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// It does.
    Open,
    /// Its time is over.
    Expired,
    /// A person closed it.
    Closed,
}

/// A limit and how much of it is used.
#[derive(Clone, Debug)]
pub struct LimitLine {
    /// Over what.
    pub scope: Scope,
    /// Over how long.
    pub window: Window,
    /// The most money and how much of it is used.
    pub money: Option<(Money, Money)>,
    /// The most payments and how many there were.
    pub count: Option<(u32, u32)>,
}
