//! Purchases before a person: asked, answered, used once, over in time. Must never let a yes stand for anything but
//! exactly what the person was shown, nor in the place of a rule.
//!
//! A question is bound to the digest of session, method, URL, body, headers and every term. While it waits, the same purchase
//! finds it again; a yes is used up in the transaction that counts the payment, and a no stands until its time is over.

use bursar_policy::budget::{Standing, Word};
use bursar_policy::caution::{Concern, concerns};
use bursar_policy::digest::Digest;
use bursar_policy::errand::{ApprovalId, Errand, PaymentId, SessionId};
use bursar_policy::limit::PaymentFacts;
use bursar_policy::money::{Currency, Money};
use bursar_policy::quoted::Quoted;
use bursar_policy::refusal::{self, Refusal};
use bursar_policy::request_header::Headers;
use bursar_policy::rules::Rules;
use bursar_policy::site::Site;
use bursar_policy::terms::Terms;

use super::events::{self, Event, EventKind};
use super::fault::LedgerFault;
use super::number::{from_sql, narrow, to_sql, wide};
use super::rows::Payment;
use super::store::{Row, Store, bound};
use super::writer::{Answer, Tx};
use super::{Ledger, authorize, rows, session};
use crate::protocol::{ApprovalState, ApprovalView};

/// The most purchases of one session that wait for a person.
pub const APPROVALS_WAITING_MAX: u32 = 5;

/// What became of a person's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It stands, and is on the disk.
    Done(Box<ApprovalView>),
    /// Nothing was asked under this id.
    Unknown,
    /// Its time was over.
    Expired,
    /// It was decided before, and how.
    Before(ApprovalState),
    /// The person was shown another purchase than the one that waits under this id.
    Differs,
    /// The ledger is shut after a fault. A yes ends by the clock, and that may be what is in doubt.
    Shut,
}

/// A purchase that needs a person, before it is asked about.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    pub(super) id: &'a ApprovalId,
    pub(super) session: &'a SessionId,
    pub(super) errand: &'a Errand,
    pub(super) terms: &'a Terms,
    pub(super) symbol: &'a str,
    pub(super) money: Money,
    /// How long it waits, in seconds.
    pub(super) life_s: u64,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, state, session, binding, method, url, body, terms, symbol, money, currency, concerns, asked_s, \
             expires_s, said, headers FROM approval ",
            $rest
        )
    };
}

/// At most one is open for a binding.
pub(super) const OPEN_OF_BINDING: &str =
    select!("WHERE binding = ?1 AND state IN ('waiting', 'approved', 'denied') AND ?2 < expires_s");
pub(super) const BY_ID: &str = select!("WHERE id = ?1");
pub(super) const OPEN: &str = select!(
    "WHERE state IN ('waiting', 'approved', 'denied') AND ?1 < expires_s ORDER BY state <> 'waiting', asked_s, seq"
);
pub(super) const WAITING_OF_SESSION: &str =
    "SELECT count(*) FROM approval WHERE state = 'waiting' AND session = ?1 AND ?2 < expires_s";
pub(super) const WAITING: &str = "SELECT count(*) FROM approval WHERE state = 'waiting' AND ?1 < expires_s";
pub(super) const OF_REQUEST: &str =
    select!("WHERE state = 'waiting' AND session = ?1 AND method = ?2 AND url = ?3 AND body IS NOT DISTINCT FROM ?4");
pub(super) const USED_BY: &str = select!("WHERE payment IS NOT NULL AND payment = ?1");
const WORDS: &str = select!("WHERE state IN ('approved', 'denied', 'used') ORDER BY seq");
const SAID: &str = "SELECT kind, fact FROM event WHERE seq = ?1";
pub(super) const DUE: &str =
    "UPDATE approval SET state = 'expired' WHERE state IN ('waiting', 'approved', 'denied') AND expires_s <= ?1";

impl Ledger {
    /// Every question that waits, and then every word that still stands; of each the oldest first.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn approvals(&self) -> Result<Vec<ApprovalView>, LedgerFault> {
        self.writer.ask(|tx| {
            let open = tx.conn.every(OPEN, bound![to_sql(tx.now_s)?], read)?;
            let views: Result<_, _> = open.into_iter().map(|row| row.view(tx.conn)).collect();
            Ok(Answer::AtOnce(views?))
        })
    }

    /// The question `id`, wherever it stands; `None` where nothing was asked under it.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn approval(&self, id: &ApprovalId) -> Result<Option<ApprovalView>, LedgerFault> {
        let id = id.clone();
        self.writer.ask(move |tx| {
            let found = tx.conn.first(BY_ID, bound![id.as_str()], read)?;
            Ok(Answer::AtOnce(found.map(|row| row.view(tx.conn)).transpose()?))
        })
    }

    /// A person's yes to the question `id`, whose terms were shown under `binding`. It holds for `life_s` seconds, for
    /// one payment, and no longer than the session. The caller has checked the passphrase.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then nothing is approved.
    pub fn approve(&self, id: ApprovalId, binding: Digest, life_s: u64) -> Result<Decided, LedgerFault> {
        self.writer.ask(move |tx| match open(tx, &id)? {
            _ if tx.latched => Ok(Answer::AtOnce(Decided::Shut)),
            Err(not) => Ok(Answer::AtOnce(not)),
            Ok(row) if row.state != ApprovalState::Waiting => Ok(Answer::AtOnce(Decided::Before(row.state))),
            Ok(row) if row.binding != binding => Ok(Answer::AtOnce(Decided::Differs)),
            Ok(row) => decide(tx, row, ApprovalState::Approved, life_s),
        })
    }

    /// A person's no to the question `id`, or to a yes that was not used yet: it stands for `life_s` seconds.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then nothing changed.
    pub fn deny(&self, id: ApprovalId, life_s: u64) -> Result<Decided, LedgerFault> {
        self.writer.ask(move |tx| match open(tx, &id)? {
            Err(not) => Ok(Answer::AtOnce(not)),
            Ok(row) if row.state == ApprovalState::Denied => Ok(Answer::AtOnce(Decided::Before(row.state))),
            Ok(row) => decide(tx, row, ApprovalState::Denied, life_s),
        })
    }
}

/// How things stand with what a person said, or is being asked, about the purchase of `binding`.
///
/// A doubt that the caller raised stands while the question waits, whoever leaves it out the next time; and a yes is
/// none to a concern that the person was not shown, be it a doubt that was raised later, or a host that became known
/// under another payee since. A yes that the log does not tell of is a ledger that was changed by hand.
pub(super) fn heard(
    tx: &Tx<'_>,
    rules: &Rules,
    facts: &PaymentFacts,
    standing: Standing,
    binding: &Digest,
    own: Option<&Payment>,
) -> Result<Standing, LedgerFault> {
    let used = own.map_or(Ok(None), |own| used_by(tx, &own.id))?;
    let open = of_binding(tx, binding)?;
    let Some(row) = open.into_iter().chain(used).next() else { return Ok(standing) };
    let now = concerns(rules, facts, &standing.acquaintance, standing.suspicious.as_ref());
    Ok(match row.state {
        ApprovalState::Denied => Standing { word: Word::No, ..standing },
        ApprovalState::Approved if !row.is_told(tx.conn)? => return Err(unreadable()),
        ApprovalState::Approved if row.covers(&now) => Standing { word: Word::Yes, ..standing },
        ApprovalState::Waiting => {
            let suspicious = standing.suspicious.or_else(|| row.doubt().cloned());
            Standing { suspicious, ..standing }
        }
        // A yes that this payment used up when it was counted is good for it until it is signed.
        ApprovalState::Used if row.is_told(tx.conn)? && row.covers(&now) => Standing { word: Word::Yes, ..standing },
        ApprovalState::Approved | ApprovalState::Used | ApprovalState::Expired => standing,
    })
}

/// Puts a purchase before a person for these `concerns`, or finds the question that waits already. The refusal says
/// which, or that too many wait.
///
/// One request waits once: when the seller's terms are no longer those that wait, nobody can buy at those, and a seller
/// that changes them at every call takes no place from another.
pub(super) fn ask(tx: &Tx<'_>, asking: &Asking<'_>, concerns: Vec<Concern>) -> Result<Refusal, LedgerFault> {
    let binding = asking.errand.binding(asking.session, asking.terms);
    if let Some(known) = of_binding(tx, &binding)? {
        if known.state == ApprovalState::Waiting && known.covers(&concerns) {
            return Ok(needs(known.id, known.expires_s, concerns));
        }
        // It was asked, or answered, before there was this concern: the person looks at that too.
        becomes(tx, &known.id, ApprovalState::Expired)?;
    }
    let body = asking.errand.body.map(|body| body.digest.to_string());
    let (session, method, url) = (asking.session.as_str(), asking.errand.method.as_str(), asking.errand.site.url());
    for earlier in tx.conn.every(OF_REQUEST, bound![session, method, url, body], read)? {
        becomes(tx, &earlier.id, ApprovalState::Expired)?;
    }
    if APPROVALS_WAITING_MAX <= waiting(tx, Some(asking.session))? {
        return Ok(Refusal::TooManyApprovals { max: APPROVALS_WAITING_MAX });
    }
    let expires_s = until(tx, asking.session, asking.life_s)?;
    insert(tx, asking, &binding, &concerns, expires_s)?;
    let deal = authorize::deal(asking.money, asking.terms, asking.symbol, asking.errand.method, &asking.errand.site);
    let event = Event::new(EventKind::ApprovalAsked, format!("`{}`: {deal}", asking.id));
    tx.event(&event.session(asking.session))?;
    Ok(needs(asking.id.clone(), expires_s, concerns))
}

/// Uses the yes to the purchase of `binding` up for `payment`, whose row is there; which one it was. A question that
/// still waits is over: what it asks is being bought.
pub(super) fn use_up(tx: &Tx<'_>, binding: &Digest, payment: &PaymentId) -> Result<Option<ApprovalId>, LedgerFault> {
    let Some(row) = of_binding(tx, binding)? else { return Ok(None) };
    if row.state != ApprovalState::Approved {
        becomes(tx, &row.id, ApprovalState::Expired)?;
        return Ok(None);
    }
    tx.conn.execute(
        "UPDATE approval SET state = 'used', payment = ?1 WHERE id = ?2",
        bound![payment.as_str(), row.id.as_str()],
    )?;
    Ok(Some(row.id))
}

/// Ends every question and every word whose time is over. Costs one index look-up when there is none.
pub(super) fn due(tx: &Tx<'_>) -> Result<(), LedgerFault> {
    tx.conn.execute(DUE, bound![to_sql(tx.now_s)?])?;
    Ok(())
}

/// Ends every question and every word of a session that is over.
pub(super) fn session_closed(tx: &Tx<'_>, session: &SessionId) -> Result<(), LedgerFault> {
    tx.conn.execute(
        "UPDATE approval SET state = 'expired' WHERE state IN ('waiting', 'approved', 'denied') AND session = ?1",
        bound![session.as_str()],
    )?;
    Ok(())
}

/// Ends what was asked or allowed after `now_s`, in a future that a person has just said is none: it would last until
/// that future comes.
pub(super) fn clock_set_back(conn: &Store, now_s: u64) -> Result<(), LedgerFault> {
    conn.execute(
        "UPDATE approval SET state = 'expired'
         WHERE state IN ('waiting', 'approved') AND (?1 < asked_s OR ?1 < decided_s)",
        bound![to_sql(now_s)?],
    )?;
    Ok(())
}

/// The first word that the log does not tell as it stands; `None` when it tells them all.
pub(super) fn untold(conn: &Store) -> Result<Option<ApprovalId>, LedgerFault> {
    for row in conn.every(WORDS, bound![], read)? {
        if !row.is_told(conn)? {
            return Ok(Some(row.id));
        }
    }
    Ok(None)
}

/// How many purchases wait for a person, of one session or of all.
pub(super) fn waiting(tx: &Tx<'_>, session: Option<&SessionId>) -> Result<u32, LedgerFault> {
    let now_s = to_sql(tx.now_s)?;
    match session {
        Some(id) => tx.conn.one(WAITING_OF_SESSION, bound![id.as_str(), now_s], |row| row.get(0)),
        None => tx.conn.one(WAITING, bound![now_s], |row| row.get(0)),
    }
}

/// One question as it is stored.
#[derive(Debug)]
struct Stored {
    id: ApprovalId,
    state: ApprovalState,
    session: SessionId,
    binding: Digest,
    method: bursar_policy::Method,
    site: Site,
    body: Option<Digest>,
    headers: Headers,
    terms: Terms,
    symbol: String,
    money: Money,
    concerns: Vec<Concern>,
    asked_s: u64,
    expires_s: u64,
    said: Option<u64>,
}

impl Stored {
    /// What the caller found suspicious when it was asked.
    fn doubt(&self) -> Option<&Quoted> {
        self.concerns.iter().find_map(|concern| match concern {
            Concern::Suspicious { why } => Some(why),
            _ => None,
        })
    }

    /// Whether a person who looks at this question looks at each of these `concerns`. One doubt is enough to look
    /// closely: other words for it are no new question.
    fn covers(&self, concerns: &[Concern]) -> bool {
        concerns.iter().all(|concern| self.concerns.iter().any(|shown| shown.covers(concern)))
    }

    /// Whether the log tells the word as it stands here: that it was said, to what, and until when.
    fn is_told(&self, conn: &Store) -> Result<bool, LedgerFault> {
        let word = if self.state == ApprovalState::Denied { EventKind::Denied } else { EventKind::Approved };
        let told: Option<(String, Option<String>)> = match self.said {
            None => None,
            Some(seq) => conn.first(SAID, bound![to_sql(seq)?], |row| Ok((row.get(0)?, row.get(1)?)))?,
        };
        let fact = fact(word, &self.id, &self.binding, self.expires_s).to_string();
        Ok(told == Some((word.name().to_owned(), Some(fact))))
    }

    fn view(self, conn: &Store) -> Result<ApprovalView, LedgerFault> {
        let session = session::by_id(conn, &self.session)?.ok_or(LedgerFault::Unreadable { what: "session" })?;
        Ok(ApprovalView {
            id: self.id,
            state: self.state,
            session: session.name,
            binding: self.binding,
            method: self.method,
            site: self.site,
            body: self.body,
            headers: self.headers,
            terms: self.terms,
            symbol: self.symbol,
            money: self.money,
            concerns: self.concerns.iter().map(ToString::to_string).collect(),
            asked_s: self.asked_s,
            expires_s: self.expires_s,
        })
    }
}

/// The digest of a word, for the event that tells it.
fn fact(word: EventKind, id: &ApprovalId, binding: &Digest, expires_s: u64) -> Digest {
    let word = word.name().as_bytes();
    Digest::of_parts(&[b"bursar word 1", word, id.as_str().as_bytes(), binding.as_bytes(), &expires_s.to_be_bytes()])
}

fn needs(id: ApprovalId, expires_s: u64, concerns: Vec<Concern>) -> Refusal {
    Refusal::NeedsApproval { approval: Some(Box::new(refusal::Question { id, expires_s })), concerns }
}

/// When something that begins now is over: with its own time, or with the session's.
fn until(tx: &Tx<'_>, session: &SessionId, life_s: u64) -> Result<u64, LedgerFault> {
    let session = session::by_id(tx.conn, session)?.ok_or(LedgerFault::Unreadable { what: "session" })?;
    Ok(tx.now_s.saturating_add(life_s).min(session.expires_s))
}

/// What stands under `id` and can still be decided, or why nothing does.
fn open(tx: &Tx<'_>, id: &ApprovalId) -> Result<Result<Stored, Decided>, LedgerFault> {
    let Some(row) = tx.conn.every(BY_ID, bound![id.as_str()], read)?.pop() else { return Ok(Err(Decided::Unknown)) };
    Ok(match row.state {
        ApprovalState::Used => Err(Decided::Before(row.state)),
        ApprovalState::Expired => Err(Decided::Expired),
        ApprovalState::Waiting | ApprovalState::Approved | ApprovalState::Denied if row.expires_s <= tx.now_s => {
            Err(Decided::Expired)
        }
        ApprovalState::Waiting | ApprovalState::Approved | ApprovalState::Denied => Ok(row),
    })
}

/// Writes a person's word down. A no to an earlier yes ends when that yes would have.
fn decide(tx: &Tx<'_>, row: Stored, word: ApprovalState, life_s: u64) -> Result<Answer<Decided>, LedgerFault> {
    let first = row.state == ApprovalState::Waiting;
    let expires_s = if first { until(tx, &row.session, life_s)? } else { row.expires_s };
    let kind = if word == ApprovalState::Approved { EventKind::Approved } else { EventKind::Denied };
    let deal = authorize::deal(row.money, &row.terms, &row.symbol, row.method, &row.site);
    let fact = fact(kind, &row.id, &row.binding, expires_s);
    tx.event(&Event::new(kind, format!("`{}`: {deal}", row.id)).session(&row.session).fact(fact))?;
    let said = events::head(tx.conn)?.seq;
    tx.conn.execute(
        "UPDATE approval SET state = ?1, expires_s = ?2, decided_s = coalesce(decided_s, ?3), said = ?4
             WHERE id = ?5",
        bound![word_of(word), to_sql(expires_s)?, to_sql(tx.now_s)?, to_sql(said)?, row.id.as_str()],
    )?;
    let view = Stored { state: word, expires_s, said: Some(said), ..row }.view(tx.conn)?;
    Ok(Answer::Durable(Decided::Done(Box::new(view))))
}

fn becomes(tx: &Tx<'_>, id: &ApprovalId, state: ApprovalState) -> Result<(), LedgerFault> {
    tx.conn.execute("UPDATE approval SET state = ?1 WHERE id = ?2", bound![word_of(state), id.as_str()])?;
    Ok(())
}

fn insert(
    tx: &Tx<'_>,
    asking: &Asking<'_>,
    binding: &Digest,
    concerns: &[Concern],
    expires_s: u64,
) -> Result<(), LedgerFault> {
    tx.conn.execute(
        "INSERT INTO approval (id, state, session, binding, method, url, body, headers, terms, symbol, money, currency,
                concerns, asked_s, expires_s)
             VALUES (?1, 'waiting', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        bound![
            asking.id.as_str(),
            asking.session.as_str(),
            binding.to_string(),
            asking.errand.method.as_str(),
            asking.errand.site.url(),
            asking.errand.body.map(|body| body.digest.to_string()),
            rows::json(&asking.errand.headers)?,
            rows::json(asking.terms)?,
            asking.symbol,
            wide(asking.money.atto()),
            asking.money.currency().letters(),
            rows::json(&concerns)?,
            to_sql(tx.now_s)?,
            to_sql(expires_s)?,
        ],
    )?;
    Ok(())
}

/// The yes that a payment used up.
fn used_by(tx: &Tx<'_>, payment: &PaymentId) -> Result<Option<Stored>, LedgerFault> {
    Ok(tx.conn.every(USED_BY, bound![payment.as_str()], read)?.pop())
}

/// What is open for a purchase now, swept or not.
fn of_binding(tx: &Tx<'_>, binding: &Digest) -> Result<Option<Stored>, LedgerFault> {
    Ok(tx.conn.every(OPEN_OF_BINDING, bound![binding.to_string(), to_sql(tx.now_s)?], read)?.pop())
}

fn read(row: &Row<'_>) -> Result<Stored, LedgerFault> {
    let text = |column| row.get::<String>(column);
    let currency: Currency = parsed(&text(10)?)?;
    Ok(Stored {
        id: parsed(&text(0)?)?,
        state: state_of(&text(1)?).ok_or_else(unreadable)?,
        session: parsed(&text(2)?)?,
        binding: parsed(&text(3)?)?,
        method: parsed(&text(4)?)?,
        site: Site::parse(&text(5)?).map_err(|_fault| unreadable())?,
        body: row.get::<Option<String>>(6)?.map(|text| parsed(&text)).transpose()?,
        headers: serde_json::from_str(&text(15)?).map_err(|_fault| unreadable())?,
        terms: serde_json::from_str(&text(7)?).map_err(|_fault| unreadable())?,
        symbol: text(8)?,
        money: Money::new(currency, narrow(&text(9)?)?),
        concerns: serde_json::from_str(&text(11)?).map_err(|_fault| unreadable())?,
        asked_s: from_sql(row.get(12)?)?,
        expires_s: from_sql(row.get(13)?)?,
        said: row.get::<Option<i64>>(14)?.map(from_sql).transpose()?,
    })
}

const fn word_of(state: ApprovalState) -> &'static str {
    match state {
        ApprovalState::Waiting => "waiting",
        ApprovalState::Approved => "approved",
        ApprovalState::Denied => "denied",
        ApprovalState::Used => "used",
        ApprovalState::Expired => "expired",
    }
}

fn state_of(word: &str) -> Option<ApprovalState> {
    ApprovalState::EVERY.into_iter().find(|state| word_of(*state) == word)
}

fn parsed<T: std::str::FromStr>(text: &str) -> Result<T, LedgerFault> {
    text.parse().map_err(|_fault| unreadable())
}

const fn unreadable() -> LedgerFault {
    LedgerFault::Unreadable { what: "approval" }
}
