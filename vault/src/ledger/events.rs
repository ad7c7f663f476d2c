//! The log: append-only, each event carrying the hash of the one before. Must never hold a secret or the signature of a
//! payment.

use bursar_policy::digest::Digest;
use bursar_policy::errand::{PaymentId, SessionId};

use super::fault::LedgerFault;
use super::number::{from_sql, to_sql};
use super::store::{Store, bound};

/// The longest detail of an event, in bytes of printable ASCII; a longer one is cut.
pub const DETAIL_MAX_BYTES: usize = 8192;

/// What an event is about. The words are stable; the database knows the same list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The ledger was made.
    LedgerCreated,
    /// A vault opened the ledger.
    Opened,
    /// A vault closed the ledger in order.
    Closed,
    /// The ledger was bound to a key.
    KeyBound,
    /// The key was unlocked.
    Unlocked,
    /// The key was locked.
    Locked,
    /// A passphrase was wrong.
    PassphraseWrong,
    /// The rules were read.
    RulesLoaded,
    /// A person opened a budget.
    SessionOpened,
    /// A person closed a budget, or a new one of the same name replaced one that had run out.
    SessionClosed,
    /// A person stopped all spending.
    Frozen,
    /// A person allowed spending again.
    Thawed,
    /// A fault shut the ledger.
    Latched,
    /// A person opened it again after a check.
    Unlatched,
    /// A person confirmed the clock.
    ClockConfirmed,
    /// Something was refused.
    Refused,
    /// Money was set aside.
    Held,
    /// Money was set aside for a signature that may exist from now on.
    Exposed,
    /// The signature was stored.
    Signed,
    /// What came back was told.
    Reported,
    /// The seller's claim agrees with our row, or a chain shows the payment.
    Settled,
    /// A payment expired without proof and counts as spent.
    PresumedSpent,
    /// It is proved that nothing was signed.
    Voided,
    /// A purchase was put before a person.
    ApprovalAsked,
    /// A person said yes to a purchase.
    Approved,
    /// A person said no to a purchase.
    Denied,
    /// A host was put in quarantine.
    Quarantined,
    /// A person lifted what stood against a host.
    Resumed,
    /// A chain shows that the money moved as the seller says.
    Proved,
    /// A chain shows that the money never moved and cannot any more.
    Lapsed,
    /// A chain shows that the money never moved, although the row is settled on the seller's word.
    ChainDisagrees,
    /// The log was signed up to the event before.
    Checkpoint,
    /// The books were begun anew from a backup or from what could be read of a damaged ledger.
    EpochBegun,
    /// The account that pays was changed, by a person.
    KeyRotated,
    /// A person had money moved out of an account.
    SweepOrdered,
    /// It is known how that ended, or its time is over.
    SweepEnded,
    /// Anything else that an operator may want to know.
    Note,
}

impl EventKind {
    /// Every kind.
    pub const EVERY: [Self; 37] = [
        Self::LedgerCreated,
        Self::Opened,
        Self::Closed,
        Self::KeyBound,
        Self::Unlocked,
        Self::Locked,
        Self::PassphraseWrong,
        Self::RulesLoaded,
        Self::SessionOpened,
        Self::SessionClosed,
        Self::Frozen,
        Self::Thawed,
        Self::Latched,
        Self::Unlatched,
        Self::ClockConfirmed,
        Self::Refused,
        Self::Held,
        Self::Exposed,
        Self::Signed,
        Self::Reported,
        Self::Settled,
        Self::PresumedSpent,
        Self::Voided,
        Self::ApprovalAsked,
        Self::Approved,
        Self::Denied,
        Self::Quarantined,
        Self::Resumed,
        Self::Proved,
        Self::Lapsed,
        Self::ChainDisagrees,
        Self::Checkpoint,
        Self::EpochBegun,
        Self::KeyRotated,
        Self::SweepOrdered,
        Self::SweepEnded,
        Self::Note,
    ];

    /// Its stable word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LedgerCreated => "ledger_created",
            Self::Opened => "opened",
            Self::Closed => "closed",
            Self::KeyBound => "key_bound",
            Self::Unlocked => "unlocked",
            Self::Locked => "locked",
            Self::PassphraseWrong => "passphrase_wrong",
            Self::RulesLoaded => "rules_loaded",
            Self::SessionOpened => "session_opened",
            Self::SessionClosed => "session_closed",
            Self::Frozen => "frozen",
            Self::Thawed => "thawed",
            Self::Latched => "latched",
            Self::Unlatched => "unlatched",
            Self::ClockConfirmed => "clock_confirmed",
            Self::Refused => "refused",
            Self::Held => "held",
            Self::Exposed => "exposed",
            Self::Signed => "signed",
            Self::Reported => "reported",
            Self::Settled => "settled",
            Self::PresumedSpent => "presumed_spent",
            Self::Voided => "voided",
            Self::ApprovalAsked => "approval_asked",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Quarantined => "quarantined",
            Self::Resumed => "resumed",
            Self::Proved => "proved",
            Self::Lapsed => "lapsed",
            Self::ChainDisagrees => "chain_disagrees",
            Self::Checkpoint => "checkpoint",
            Self::EpochBegun => "epoch_begun",
            Self::KeyRotated => "key_rotated",
            Self::SweepOrdered => "sweep_ordered",
            Self::SweepEnded => "sweep_ended",
            Self::Note => "note",
        }
    }
}

/// One event before it has a place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    kind: EventKind,
    payment: Option<PaymentId>,
    session: Option<SessionId>,
    detail: String,
    fact: Option<Digest>,
}

impl Event {
    /// An event with its details in plain words. Whatever is not printable ASCII is spelt out as `\u{…}`, so that no
    /// word of a seller's can steer a terminal, end a line or turn the reading direction.
    #[must_use]
    pub fn new(kind: EventKind, detail: impl AsRef<str>) -> Self {
        let detail = spelt_out(detail.as_ref());
        Self { kind, payment: None, session: None, detail, fact: None }
    }

    /// The session it concerns.
    #[must_use]
    pub fn session(mut self, session: &SessionId) -> Self {
        self.session = Some(session.clone());
        self
    }

    /// The payment it concerns.
    pub(super) fn payment(mut self, payment: &PaymentId) -> Self {
        self.payment = Some(payment.clone());
        self
    }

    /// The digest of what the row said then, so that the chain also covers the row.
    pub(super) const fn fact(mut self, fact: Digest) -> Self {
        self.fact = Some(fact);
        self
    }
}

/// Printable ASCII, cut before the first character that would not fit.
fn spelt_out(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(DETAIL_MAX_BYTES));
    for letter in text.chars() {
        let before = shown.len();
        if letter == ' ' || letter.is_ascii_graphic() {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_unicode());
        }
        if DETAIL_MAX_BYTES < shown.len() {
            shown.truncate(before);
            break;
        }
    }
    shown
}

/// The newest event's place and hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) hash: Digest,
}

pub(super) const HEAD: &str = "SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1";

/// Adds one event to the open transaction.
pub(super) fn append(conn: &Store, at_s: u64, event: &Event) -> Result<(), LedgerFault> {
    let Head { seq, hash: prev } = head(conn)?;
    let seq = seq.checked_add(1).ok_or(LedgerFault::Unreadable { what: "event" })?;
    let payment = event.payment.as_ref().map(ToString::to_string);
    let session = event.session.as_ref().map(ToString::to_string);
    let fact = event.fact.as_ref().map(ToString::to_string);
    let hash = link(&Link {
        prev: &prev,
        seq,
        at_s,
        kind: event.kind.name(),
        payment: payment.as_deref(),
        session: session.as_deref(),
        detail: &event.detail,
        fact: fact.as_deref(),
    });
    conn.execute(
        "INSERT INTO event (seq, at_s, kind, payment, session, detail, fact, prev, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        bound![
            to_sql(seq)?,
            to_sql(at_s)?,
            event.kind.name(),
            payment,
            session,
            event.detail,
            fact,
            prev.to_string(),
            hash.to_string(),
        ],
    )?;
    Ok(())
}

/// Where the log ends; sequence number 0 and the digest of nothing for an empty one.
pub(super) fn head(conn: &Store) -> Result<Head, LedgerFault> {
    let found = conn.first(HEAD, bound![], |row| Ok((row.get::<i64>(0)?, row.get::<String>(1)?)))?;
    match found {
        None => Ok(Head { seq: 0, hash: Digest::of(b"") }),
        Some((seq, hash)) => {
            let hash = Digest::parse(&hash).map_err(|_fault| LedgerFault::Unreadable { what: "event" })?;
            Ok(Head { seq: from_sql(seq)?, hash })
        }
    }
}

/// The hash of event `seq`; the digest of nothing for 0, `None` for one that is not there.
pub(super) fn hash_at(conn: &Store, seq: u64) -> Result<Option<Digest>, LedgerFault> {
    if seq == 0 {
        return Ok(Some(Digest::of(b"")));
    }
    let sql = "SELECT hash FROM event WHERE seq = ?1";
    let found: Option<String> = conn.first(sql, bound![to_sql(seq)?], |row| row.get(0))?;
    found.map(|hash| Digest::parse(&hash)).transpose().map_err(|_fault| LedgerFault::Unreadable { what: "event" })
}

/// Everything an event's hash covers.
pub(super) struct Link<'a> {
    pub(super) prev: &'a Digest,
    pub(super) seq: u64,
    pub(super) at_s: u64,
    pub(super) kind: &'a str,
    pub(super) payment: Option<&'a str>,
    pub(super) session: Option<&'a str>,
    pub(super) detail: &'a str,
    pub(super) fact: Option<&'a str>,
}

/// The hash of one event. Absent and empty differ, and no field can run into the next.
pub(super) fn link(link: &Link<'_>) -> Digest {
    let presence = [u8::from(link.payment.is_some()), u8::from(link.session.is_some()), u8::from(link.fact.is_some())];
    Digest::of_parts(&[
        b"bursar event 1",
        link.prev.as_bytes(),
        &link.seq.to_be_bytes(),
        &link.at_s.to_be_bytes(),
        link.kind.as_bytes(),
        &presence,
        link.payment.unwrap_or_default().as_bytes(),
        link.session.unwrap_or_default().as_bytes(),
        link.detail.as_bytes(),
        link.fact.unwrap_or_default().as_bytes(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_one_line_of_printable_ascii_whoever_said_it() {
        let said = "a `b`\r\n2 paid\u{1b}[2J\u{202e}\u{2028}\u{200b}é\u{7f}";
        let event = Event::new(EventKind::Note, said);
        assert_eq!(event.detail, r"a `b`\u{d}\u{a}2 paid\u{1b}[2J\u{202e}\u{2028}\u{200b}\u{e9}\u{7f}");
    }

    #[test]
    fn a_long_detail_is_cut_and_never_in_the_middle_of_a_character() {
        assert_eq!(Event::new(EventKind::Note, "x".repeat(9000)).detail.len(), DETAIL_MAX_BYTES);
        let spelt = Event::new(EventKind::Note, "é".repeat(9000)).detail;
        assert!(spelt.len() <= DETAIL_MAX_BYTES && spelt.ends_with('}'), "{}", spelt.len());
    }
}
