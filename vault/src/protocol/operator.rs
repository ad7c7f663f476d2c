//! The operator socket's words: a human at a terminal. Must never be reachable from the agent socket.

use super::agent::{LimitView, SessionView};
use super::chain::{ChainView, Reconciled};
use super::keys::{SweepPlan, SweepSigned, SweepView};
use super::lost::{Lost, Outstanding, Quarantine, Resumable, Resumed};
use super::passage::Measures;
use super::past::{PastPayment, PaymentDetail};
use super::secret::{Passphrase, SecretList, SecretValue};
use bursar_policy::{
    Address, Amount, ApprovalId, Asked, AssetId, Digest, Errand, Headers, Mandate, Method, Money, PaymentId, Refusal,
    SecretName, SessionName, Setting, Site, SweepId, Terms,
};
use serde::{Deserialize, Serialize};

/// One ask on the operator socket. What gives the agent more carries the passphrase, every time.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum OperatorAsk {
    /// Opens the conversation; must come first and once.
    Hello {
        /// The asker's [`PROTOCOL`](super::PROTOCOL).
        protocol: u16,
    },
    /// Unlocks the key.
    Unlock {
        /// The operator's passphrase.
        passphrase: Passphrase,
        /// The digest of the rules text that the person was shown and agreed to; absent when nothing was shown. When
        /// the rules in force were never agreed to it must be theirs, else the answer is the fault `rules_changed`.
        rules: Option<Digest>,
    },
    /// Forgets the unlocked key.
    Lock,
    /// Opens a budget session.
    SessionNew {
        /// Its name; must not be open already.
        name: SessionName,
        /// The most it may spend.
        budget: Money,
        /// How long it lasts, in minutes, 1 to 527040 (a year).
        minutes: u32,
        /// What it is for; absent where it is for everything that the rules allow. One that the rules or the budget
        /// contradict is the fault `mandate_contradicts`, and none where the rules want one `mandate_missing`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mandate: Option<Mandate>,
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Lists every session.
    SessionList,
    /// Closes a session; what is in flight stays counted.
    SessionClose {
        /// Its name.
        name: SessionName,
    },
    /// Stops all spending.
    Freeze {
        /// Why, for the log.
        reason: String,
    },
    /// Allows spending again after a freeze.
    Thaw {
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Asks how everything stands.
    Status,
    /// Reads the event log, oldest first.
    Log {
        /// At most this many entries, capped at 500.
        limit: u32,
        /// Only entries with a higher sequence number; absent means the newest `limit`.
        after: Option<u64>,
    },
    /// Waits for events after this one, about 20 seconds at most, and reads them, oldest first; none where there were none.
    /// A vault that would end for idleness does not stay for it.
    Next {
        /// The sequence number of the last event that is known.
        after: u64,
    },
    /// Everything about one payment.
    Payment {
        /// Its id.
        id: PaymentId,
    },
    /// Reads past payments, oldest first, without their signatures.
    Payments {
        /// At most this many, capped at 500.
        limit: u32,
        /// Only payments counted after this one; absent means from the first.
        after: Option<PaymentId>,
    },
    /// Reads past payments, newest first, without their signatures. However many there are, no payment waits for it.
    NewestPayments {
        /// At most this many, capped at 500.
        limit: u32,
        /// Only payments counted before this one; absent means from the last.
        before: Option<PaymentId>,
    },
    /// Asks what `Resume` would lift. Lifts nothing.
    Resumable {
        /// Whom, as `Resume` takes it.
        whom: String,
    },
    /// Lifts what stands against a host or a payee: the host's quarantine and what led to it, and the payments it lost.
    Resume {
        /// An origin, the name of a host of which one origin is known, or a payee as `Status` lists it.
        whom: String,
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Asks what stands against a payment beside the rules that the gate judges by: freezes, the session with its
    /// budget and mandate, limits, and what is known of the seller. Counts nothing.
    Against {
        /// The session that would pay.
        session: SessionName,
        /// What would be asked for.
        errand: Box<Errand>,
        /// What the seller wants for it, also where the gate refuses that.
        asked: Asked,
    },
    /// Lifts a latch after a storage or clock fault, once the ledger was checked again.
    Unlatch {
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Asks for the rules as they are written: those in force, or those in the file now.
    Rules {
        /// Which.
        which: WhichRules,
    },
    /// Puts the rules of the file in force. Rows keep the rules they were judged under.
    ReloadRules {
        /// The digest of the text that the person was shown and agreed to; another text is not put in force.
        rules: Digest,
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Signs how far the log has come. Gives nobody more; needs the wallet unlocked, because the key that signs is there
    /// only then.
    Checkpoint,
    /// Lists the purchases that wait for a person, and those that one decided about and nobody bought yet.
    Approvals,
    /// A person's yes to one purchase: for one payment, and for as long as the rules say.
    Approve {
        /// What it waits under.
        id: ApprovalId,
        /// The binding that the person was shown; another purchase is not approved.
        binding: Digest,
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// A person's no to one purchase that waits, or that was approved and not bought yet.
    Deny {
        /// What it waits under.
        id: ApprovalId,
    },
    /// Stores a secret for a seller or the proxy, in place of one of the same name.
    SecretSet {
        /// What the rules call it.
        name: SecretName,
        /// The secret.
        value: SecretValue,
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Lists the names of the secrets.
    SecretList,
    /// Forgets a secret.
    SecretRemove {
        /// What the rules call it.
        name: SecretName,
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Asks whether this is the secret that `token` of `[metrics]` names; `Done` when it is. The secret itself is told nobody.
    MetricsToken {
        /// What a reader of metrics showed.
        shown: SecretValue,
    },
    /// Asks how purchases went by. A vault that would end for idleness does not stay for it.
    Measures {
        /// Only purchases with a higher number.
        after: u64,
    },
    /// Asks every chain of the rules now what it shows of the payments that are not proved. Gives an agent nothing.
    Reconcile,
    /// Asks what there is to move out of an account. Moves nothing.
    SweepPlan {
        /// An account that the ledger counts for, or did.
        account: Address,
        /// The token, one of the rules'.
        asset: AssetId,
    },
    /// Has money moved out of an account: written down, frozen, signed. One that is live already is the fault
    /// `sweep_exists`, what there is not the fault `sweep_short`, and `sweep_unseen` where nobody says what there is and
    /// payments may still take some of it.
    Sweep {
        /// An account that the ledger counts for, or did.
        account: Address,
        /// Who gets the money.
        to: Address,
        /// The token, one of the rules'.
        asset: AssetId,
        /// Atomic units of the token.
        amount: Amount,
        /// How long it may be used, in minutes, 1 to 1440 (a day).
        minutes: u32,
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Signs a live sweep again: the same bytes.
    SweepAgain {
        /// Which.
        id: SweepId,
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Lists the newest sweeps, oldest first.
    Sweeps,
    /// Lets another account pay from now on, with a key of its own. While a payment is open it is the fault `payment_open`.
    Rotate {
        /// The operator's passphrase.
        passphrase: Passphrase,
    },
    /// Ends the vault cleanly.
    Shutdown,
}

/// Which rules are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhichRules {
    /// Those that payments are judged by now.
    InForce,
    /// Those in the file, if they can be read as rules.
    OnDisk,
}

/// One reply on the operator socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum OperatorReply {
    /// To `Hello`.
    Welcome(OperatorWelcome),
    /// Done, and durable.
    Done,
    /// To `Unlock`: the account that now signs.
    Unlocked {
        /// The paying account.
        payer: Address,
    },
    /// To `SessionNew` and `SessionClose`.
    Session(SessionView),
    /// To `SessionList`.
    Sessions(Vec<SessionView>),
    /// To `Status`.
    Status(Box<OperatorStatus>),
    /// To `Log` and `Next`.
    Log(Vec<LogEntry>),
    /// To `Payment`.
    Payment(Box<PaymentDetail>),
    /// To `Rules`: the whole text, and its digest.
    Rules {
        /// TOML, exactly as in the file.
        text: String,
        /// The digest of exactly that text.
        digest: Digest,
    },
    /// To `Payments` and `NewestPayments`: as many as fit into a reply; none means that there are no more.
    Payments(Vec<PastPayment>),
    /// To `Resumable`.
    Resumable(Box<Resumable>),
    /// To `Resume`: what was lifted, and durably.
    Resumed(Box<Resumed>),
    /// To `Approvals`: as many as fit into a reply, the oldest first.
    Approvals {
        /// Those that wait, and those whose word still stands.
        approvals: Vec<ApprovalView>,
        /// Ledger time, Unix seconds.
        now_s: u64,
    },
    /// To `Approve` and `Deny`: how it stands now.
    Decided(Box<ApprovalView>),
    /// To `Reconcile`: what was proved.
    Reconciled(Box<Reconciled>),
    /// To `Against`: every reason, in precedence order.
    Against(Vec<Refusal>),
    /// To `SweepPlan`.
    SweepPlan(Box<SweepPlan>),
    /// To `Sweep` and `SweepAgain`.
    Swept(Box<SweepSigned>),
    /// To `Sweeps`.
    Sweeps(Vec<SweepView>),
    /// To `Rotate`: durable, and the key of the first is kept.
    Rotated {
        /// The account that paid until now.
        from: Address,
        /// The account that pays from now on.
        to: Address,
    },
    /// To `SecretList`: names, never a secret.
    Secrets(Box<SecretList>),
    /// To `Measures`.
    Measures(Box<Measures>),
    /// To `Checkpoint`: the newest one, durable. Kept elsewhere, it shows later whether the log was cut off or changed.
    Checkpoint {
        /// What is signed, and the signature, in one line.
        line: String,
    },
    /// To `ReloadRules`.
    Reloaded {
        /// The digest of the text now in force.
        rules_digest: Digest,
    },
    /// The ask was not understood, not allowed or could not be served.
    Fault {
        /// A stable code, e.g. `passphrase_wrong`, `rules_changed`, `session_exists`, `approval_unknown`.
        code: String,
        /// One sentence that says what to do next.
        message: String,
    },
}

/// What the vault says about itself to its operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorWelcome {
    /// The vault's [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// Real money or a sandbox.
    pub setting: Setting,
    /// The vault's package version.
    pub version: String,
    /// The vault's process id.
    pub pid: u32,
    /// No key is unlocked.
    pub locked: bool,
    /// The paying account.
    pub payer: Option<Address>,
}

/// One vault's dealings with the center of shares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharesView {
    /// Where the center is.
    pub center: String,
    /// How many parts are held at this moment.
    pub parts: usize,
    /// What stood in the way when it was last asked.
    pub trouble: Option<String>,
}

/// How everything stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorStatus {
    /// The paying account.
    pub payer: Option<Address>,
    /// No key is unlocked.
    pub locked: bool,
    /// Why spending is frozen, when it is.
    pub frozen: Option<String>,
    /// Why the ledger is latched, when it is.
    pub latched: Option<String>,
    /// Every session that is open or was used last, newest first.
    pub sessions: Vec<SessionView>,
    /// Limits over everything.
    pub limits: Vec<LimitView>,
    /// Money in rows that are not resolved, one entry a currency.
    pub held: Vec<Money>,
    /// The newest unresolved rows, at most 20.
    pub unresolved: Vec<Outstanding>,
    /// How many rows are not resolved.
    #[serde(default)]
    pub unresolved_count: u64,
    /// What `max_unresolved` counts, the most first, at most 20 hosts and payees.
    pub lost: Vec<Lost>,
    /// The hosts in quarantine, the longest first, at most 20.
    pub quarantined: Vec<Quarantine>,
    /// The newest payments, at most 20, that are settled on the word of a seller which a chain denies.
    #[serde(default)]
    pub denied: Vec<PaymentId>,
    /// The sweeps that may still be used.
    #[serde(default)]
    pub sweeps: Vec<SweepView>,
    /// The accounts that paid before, oldest first.
    #[serde(default)]
    pub former: Vec<Address>,
    /// The chains that the rules have asked.
    #[serde(default)]
    pub chains: Vec<ChainView>,
    /// How it stands with this vault's parts of the limits, where vaults split them.
    pub shares: Option<SharesView>,
    /// How many purchases wait for a person.
    pub approvals_waiting: u32,
    /// The secrets that the rules in force name and that are not stored.
    pub secrets_missing: Vec<SecretName>,
    /// The digest of the rules in force.
    pub rules_digest: Digest,
    /// The rules file on disk differs from the rules in force.
    pub rules_changed: bool,
    /// Ledger time, Unix seconds.
    pub now_s: u64,
    /// What a person should do next, one sentence.
    pub next_step: Option<String>,
}

/// Where a question before a person stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody said anything yet.
    Waiting,
    /// A person said yes, and nobody bought it yet.
    Approved,
    /// A person said no, and that still stands.
    Denied,
    /// A person said yes, and it was bought.
    Used,
    /// Its time was over.
    Expired,
}

impl ApprovalState {
    /// Every state.
    pub const EVERY: [Self; 5] = [Self::Waiting, Self::Approved, Self::Denied, Self::Used, Self::Expired];
}

/// One purchase before a person: what is decided about, and nothing that a model or a seller says about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalView {
    /// What it waits under.
    pub id: ApprovalId,
    /// Where it stands.
    pub state: ApprovalState,
    /// The session that would pay.
    pub session: SessionName,
    /// The digest of session, method, URL, body, headers and every term: what a yes is bound to.
    pub binding: Digest,
    /// The method.
    pub method: Method,
    /// The URL, as reported by `serve`.
    pub site: Site,
    /// The digest of what would be sent along.
    pub body: Option<Digest>,
    /// The headers that the caller chose.
    pub headers: Headers,
    /// The terms that were judged.
    pub terms: Terms,
    /// The asset's symbol, from the operator's table.
    pub symbol: String,
    /// The price, at par.
    pub money: Money,
    /// Why a person has to look, a sentence each; what the caller or a host's name adds is quoted.
    pub concerns: Vec<String>,
    /// When it was asked, Unix seconds of ledger time.
    pub asked_s: u64,
    /// When it is over, Unix seconds: the question, or the word about it.
    pub expires_s: u64,
}

/// One event of the append-only log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogEntry {
    /// Its place in the log, from 1, without gaps.
    pub seq: u64,
    /// Ledger time, Unix seconds.
    pub at_s: u64,
    /// What happened, a stable word.
    pub kind: String,
    /// The payment it concerns.
    pub payment: Option<PaymentId>,
    /// The session it concerns.
    pub session: Option<SessionName>,
    /// Details in plain words; never a secret or a signature.
    pub detail: String,
}
