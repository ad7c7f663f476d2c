//! The agent socket's words: what `serve` may ask and what it hears. Must never carry a key or widen a right.

use super::glue::GlueRefusal;
use super::secret::Released;
use crate::blank::Blank;
use bursar_policy::{
    Address, Amount, ApprovalId, Authorization, ChainId, Digest, Domain, Errand, Handle, Mandate, Money, PageOpening,
    PaymentId, QuoteId, Quoted, Refusal, Scope, SessionName, Setting, Site, Terms, Version, Window,
};
use serde::{Deserialize, Serialize};

/// One ask on the agent socket.
///
/// The order of a purchase is `Hello`, `Claim`, `Authorize`, `Report`, and of one that a browser makes `Hello`, `Claim`,
/// `Hold` and later, on any connection of the session, `Attach`; `Quote` and `Status` may come at any time after `Hello`. A new `Claim` gives up the connection's earlier one, and so does closing the connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentAsk {
    /// Opens the conversation; must come first and once.
    Hello {
        /// The asker's [`PROTOCOL`](super::PROTOCOL).
        protocol: u16,
        /// The budget session to spend from; absent means the one called `default`.
        session: Option<SessionName>,
    },
    /// Claims the purchase identity of `errand` before the first byte goes out. The answer is held back while the
    /// identical purchase is in flight on another connection.
    Claim {
        /// The purchase meant.
        errand: Errand,
    },
    /// Asks for one signature for the claimed errand under `terms`, which the vault judges again.
    Authorize {
        /// The terms as trusted code rebuilt them.
        terms: Terms,
        /// Opaque bytes for a re-send, at most [`ENVELOPE_MAX_BYTES`](super::ENVELOPE_MAX_BYTES).
        envelope: String,
        /// The digest of the rules text that the asker judged under. When other rules are in force by now, the answer is
        /// the fault `rules_changed`: nothing is counted, nothing is signed, and the claim is kept.
        rules: Digest,
    },
    /// Asks for the money of the claimed errand to be set aside for a browser: like `Authorize`, but nothing is signed
    /// until the handle is redeemed on the glue socket. The errand is a plain `GET`. The claim ends with it, and is kept
    /// with a fault, such as `too_many_handles`.
    Hold {
        /// The terms as trusted code rebuilt them.
        terms: Terms,
        /// As in `Authorize`.
        envelope: String,
        /// The payment document with its payload left open; see [`Blank::fits_a_header`].
        blank: Blank,
        /// As in `Authorize`.
        rules: Digest,
    },
    /// Asks for a fresh handle for the payment that `Claim` said to send again. Redeeming it gives the same bytes. The
    /// claim ends with it.
    HoldAgain {
        /// The payment document with its payload left open.
        blank: Blank,
    },
    /// Has the session's glue pay for a page. The answer is held back: until the glue is ready (`wait`), or until it said
    /// what came back (`navigate`). For a handle that was redeemed it tells how that ended.
    Attach {
        /// What `Hold` gave.
        handle: Handle,
        /// How the browser comes to ask.
        open: PageOpening,
    },
    /// Asks what `Authorize` would say. Needs no claim, writes no money, signs nothing.
    Quote {
        /// The purchase meant.
        errand: Errand,
        /// The terms to pin; absent asks only whether the seller may be visited at all: whether it is in quarantine and
        /// the session is for it. Prices are looked at also where nothing could be bought now.
        terms: Option<Terms>,
    },
    /// Asks for the secrets that the rules name for the errand of this connection: the one that is claimed, or else the
    /// one of the last `Quote` without terms that nothing stood against. The vault finds the rule by itself.
    Secrets,
    /// Tells what came back after the payment of this connection's claim was sent.
    Report(Report),
    /// Tells the operator's log why a purchase was refused before the vault was asked to sign. Gives up nothing and
    /// moves no money; the log says that `serve` reported it.
    Decline {
        /// The purchase meant.
        errand: Errand,
        /// What the seller asked for, where its terms could be read: its first offers, at most [`SOUGHT_MAX`].
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sought: Vec<Sought>,
        /// Every reason, in precedence order.
        refusals: Vec<Refusal>,
    },
    /// Asks what this profile bought before, of all its sessions. Needs no claim, writes nothing and moves no money; it
    /// is answered while the wallet is locked or frozen too.
    Recall(Wanted),
    /// Asks for budgets, limits and what is unresolved.
    Status,
    /// Waits until a purchase of this session does not wait for a person any more, about 20 seconds at most. Decides nothing.
    Waits {
        /// What it waits, or waited, under.
        approval: ApprovalId,
    },
}

/// The most offers of a seller that go into the log with a refusal.
pub const SOUGHT_MAX: usize = 4;

/// What one offer asks for, in the seller's own words, quoted: believed by nobody, kept for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sought {
    /// Atomic units of the asset.
    pub amount: Quoted,
    /// The token contract.
    pub asset: Quoted,
    /// The network.
    pub network: Quoted,
    /// Who is to be paid.
    pub payee: Quoted,
}

/// Which earlier delivery is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Wanted {
    /// The newest one of exactly this body.
    Content(Digest),
    /// The newest good one (status 200 to 299, a body that was kept) to this request, if it is young enough.
    Request {
        /// Method, URL and body: [`Errand::subject`].
        subject: Digest,
        /// How many seconds ago its payment was counted, at most.
        max_age_s: u64,
    },
}

/// One reply on the agent socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentReply {
    /// To `Hello`.
    Welcome(Welcome),
    /// To `Claim`.
    Claimed(Claimed),
    /// To `Authorize`: signed, counted, stored.
    Authorized(Box<Signed>),
    /// To `Hold` and `HoldAgain`: set aside, nothing new is signed.
    Held {
        /// Good once, for this page, on the glue socket.
        handle: Handle,
        /// Seconds until it is over, by the ledger's clock.
        expires_in_s: u64,
        /// The payment.
        receipt: Receipt,
    },
    /// To `Attach`.
    Attached(Box<Attached>),
    /// To `Quote`: a quote id when it would be paid now, else every reason why not.
    Quoted {
        /// Pins the terms for a later fetch; absent when refused or when no terms were given.
        quote: Option<QuoteId>,
        /// Every reason, in precedence order; empty means yes.
        refusals: Vec<Refusal>,
    },
    /// To `Secrets`: those of exactly that errand's rule, perhaps none. A refusal names one that is not stored.
    Secrets(Box<Released>),
    /// To `Report`.
    Reported {
        /// The row as it now stands.
        receipt: Receipt,
    },
    /// To `Decline`: queued for the log, not waited for.
    Noted,
    /// To `Recall`; nothing when there was no such delivery.
    Recalled(Option<Box<Recalled>>),
    /// To `Status`.
    Status(Box<Status>),
    /// To `Waits`: whether it waits still. What the person said is not told here.
    Waits(bool),
    /// An answer: no, for these reasons. Nothing was signed and no money was set aside.
    Refused(Vec<Refusal>),
    /// A fault: the ask was not understood or could not be served. See [`super::frame`] for when the connection ends.
    Fault {
        /// A stable code.
        code: String,
        /// One sentence that says what to do next.
        message: String,
    },
}

/// What the vault says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Welcome {
    /// The vault's [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// The operator's rules as read from the file: TOML text.
    pub rules: String,
    /// The digest of exactly that text.
    pub rules_digest: Digest,
    /// Real money or a sandbox.
    pub setting: Setting,
    /// The paying account; known also while locked.
    pub payer: Option<Address>,
    /// No key is unlocked: a new purchase is refused with `wallet_locked`, an earlier one is still told.
    pub locked: bool,
    /// The vault's package version.
    pub version: String,
}

/// The answer to a claim.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Claimed {
    /// Nobody bought this within the repeat window: go ahead.
    New,
    /// Bought already: this is the result, nothing is sent again. It may be unresolved, when nothing may be sent now.
    Repeat(Box<Past>),
    /// Signed already and still unresolved: send exactly these bytes again, never a new signature.
    Resend(Box<Signed>),
}

/// How it stands with a page that a browser pays for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// The page.
    pub site: Site,
    /// The payment and, where it was said, what came back.
    pub past: Past,
    /// Where the glue is with it.
    pub how: AttachedHow,
    /// Seconds until the handle is over; absent once it is redeemed.
    pub expires_in_s: Option<u64>,
}

/// Where a glue is with a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AttachedHow {
    /// It is ready: the header goes onto the next request for the page.
    Armed,
    /// It was redeemed: the row says how that ended, as far as anybody knows.
    Redeemed,
    /// No glue serves the session. The handle stays good.
    NoGlue,
    /// The glue did not take it up in time, or went away before it redeemed. The handle stays good.
    GlueSilent,
    /// The glue could not do it. The handle stays good.
    Declined(GlueRefusal),
}

/// One signed payment: everything needed to build the payment header, and nothing that was not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The ledger row.
    pub payment: PaymentId,
    /// The six signed fields (EIP-3009).
    pub authorization: Authorization,
    /// `0x` and 130 lower-case hex digits: r, s, v with low s and v 27 or 28.
    pub signature: String,
    /// The account that signed; equals `authorization.from`.
    pub payer: Address,
    /// The EIP-712 domain signed under, from the operator's asset table.
    pub domain: Domain,
    /// The protocol version the seller speaks.
    pub version: Version,
    /// The envelope as handed in with `Authorize`.
    pub envelope: String,
    /// The terms that were judged.
    pub terms: Terms,
    /// Ledger time of the signature, Unix seconds.
    pub signed_at_s: u64,
}

/// What came back after a payment was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The seller's answer, or its silence.
    pub delivery: Delivery,
    /// The settlement header, a claim by the seller.
    pub settlement: Option<SettlementClaim>,
}

/// The seller's answer to a paid request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Delivery {
    /// Nothing usable came back; the money counts as spent.
    Silence {
        /// Our own words why, e.g. `timeout`.
        why: String,
    },
    /// A response came back.
    Answer {
        /// HTTP status.
        status: u16,
        /// The stored body, when there was one and it could be kept.
        content: Option<ContentRef>,
        /// Why the body was lost, in our own words.
        content_error: Option<String>,
    },
}

/// A stored body, by digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentRef {
    /// SHA-256 of the stored bytes.
    pub digest: Digest,
    /// Stored length in bytes.
    pub bytes: u64,
    /// The content type, from a closed list, else `other`.
    pub kind: String,
    /// The body was longer than the cap; only its beginning is stored.
    pub truncated: bool,
}

/// What a seller says about settlement. Believed only as far as our own row (or the chain) agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettlementClaim {
    /// The seller says that it was paid.
    pub success: bool,
    /// A transaction id as the seller wrote it, capped.
    pub transaction: Option<String>,
    /// The network as the seller wrote it, capped.
    pub network: Option<String>,
    /// The payer as the seller wrote it, capped.
    pub payer: Option<String>,
    /// The atomic units that it says it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// The seller's reason for a failure, capped.
    pub reason: Option<String>,
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowState {
    /// Set aside, nothing signed.
    Held,
    /// A signature may exist; counts as spent.
    Exposed,
    /// The seller's claim agrees with the row and names a transaction, or the chain shows the transfer.
    Settled,
    /// Expired without proof; counts as spent.
    PresumedSpent,
    /// Chain proof that the authorization went unused.
    Lapsed,
    /// Proof that nothing was signed or handed out.
    Voided,
}

impl RowState {
    /// Every state.
    pub const EVERY: [Self; 6] =
        [Self::Held, Self::Exposed, Self::Settled, Self::PresumedSpent, Self::Lapsed, Self::Voided];

    /// Its stable word, as it is stored and shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Exposed => "exposed",
            Self::Settled => "settled",
            Self::PresumedSpent => "presumed_spent",
            Self::Lapsed => "lapsed",
            Self::Voided => "voided",
        }
    }
}

/// What may be told about a payment; never a signature, never a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The ledger row.
    pub payment: PaymentId,
    /// Where it stands.
    pub state: RowState,
    /// Atomic units of the asset.
    pub amount: Amount,
    /// The same in the asset's currency, at par.
    pub money: Money,
    /// The asset's symbol, from the operator's table.
    pub symbol: String,
    /// The chain.
    pub chain: ChainId,
    /// Who is paid.
    pub payee: Address,
    /// The transaction id, only in the chain's exact form.
    pub transaction: Option<String>,
    /// One of `paid`, `paid_content_lost`, `unresolved`.
    pub outcome: String,
    /// Ledger time of the row, Unix seconds.
    pub created_s: u64,
    /// The authorization's end, Unix seconds.
    pub valid_before: u64,
    /// This is the result of an earlier identical call.
    pub identical_repeat: bool,
}

/// The result of an earlier purchase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Past {
    /// The row.
    pub receipt: Receipt,
    /// What came back then; absent when nobody reported.
    pub delivery: Option<Delivery>,
}

/// An earlier delivery: enough to find its body, and the rule that says how much of it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recalled {
    /// What was asked.
    pub site: Site,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The stored body.
    pub content: ContentRef,
    /// Ledger time of the payment, Unix seconds; the delivery came after it.
    pub created_s: u64,
}

/// Budgets, limits and what is open, as the agent may see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// The session named in `Hello`, when there is one.
    pub session: Option<SessionView>,
    /// Limits over everything and over the session; other scopes are not told to an agent.
    pub limits: Vec<LimitView>,
    /// Money in rows that are not resolved, one entry a currency.
    pub held: Vec<Money>,
    /// The newest unresolved rows, at most 20.
    pub unresolved: Vec<Receipt>,
    /// A person stopped all spending.
    pub frozen: bool,
    /// A storage or clock fault stopped all spending until a person confirms.
    pub latched: bool,
    /// No key is unlocked.
    pub locked: bool,
    /// When payments are made, where it is not such a time now.
    pub outside_hours: Option<String>,
    /// How many purchases of the session wait for a person.
    pub approvals_waiting: u32,
    /// The rules want a mandate of every session, and this one has none.
    pub mandate_missing: bool,
    /// What a person should do next, one sentence.
    pub next_step: Option<String>,
    /// The paying account.
    pub payer: Option<Address>,
}

/// A budget session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionView {
    /// Its name.
    pub name: SessionName,
    /// What a person allowed.
    pub budget: Money,
    /// Spent or set aside.
    pub spent: Money,
    /// When it opened, Unix seconds.
    pub created_s: u64,
    /// When it ends, Unix seconds.
    pub expires_s: u64,
    /// A person closed it.
    pub closed: bool,
    /// What it is for; absent where it is for everything that the rules allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mandate: Option<Mandate>,
}

/// One limit and how much of it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitView {
    /// Over what.
    pub scope: Scope,
    /// Over how long.
    pub window: Window,
    /// The most that may be spent, when the limit has an amount.
    pub max: Option<Money>,
    /// Spent or set aside within the window, in the currency of `max`.
    pub used: Option<Money>,
    /// The most payments, when the limit has a count.
    pub count: Option<u32>,
    /// Payments within the window.
    pub count_used: u32,
}
