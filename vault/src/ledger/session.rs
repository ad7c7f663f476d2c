//! Budget sessions: opened and closed by a person. Must never be opened, raised or extended by anything an agent says.

use bursar_policy::digest::Digest;
use bursar_policy::errand::{SessionId, SessionName};
use bursar_policy::limit::TallyKey;
use bursar_policy::mandate::{Mandate, Payees};
use bursar_policy::money::Money;
use bursar_policy::quantity::Moment;

use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::number::{from_sql, narrow, to_sql, wide};
use super::store::{Row, Store, bound};
use super::writer::{Answer, Tx};
use super::{Ledger, approval, tally};
use crate::failpoint;
use crate::protocol::SessionView;

/// What became of the wish to open a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionOpened {
    /// It is open, and on the disk.
    Opened(SessionView),
    /// One of that name is open and has not run out.
    AlreadyOpen(SessionView),
    /// A budget of nothing, or a life of no time, opens nothing.
    Pointless,
}

/// A session as a conversation needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id, which never changes and is never used again.
    pub id: SessionId,
    /// Its name, which a later session may have again.
    pub name: SessionName,
    /// What a person allowed.
    pub budget: Money,
    /// When it opened, Unix seconds.
    pub created_s: u64,
    /// When it ends, Unix seconds.
    pub expires_s: u64,
    /// A person closed it.
    pub closed: bool,
    /// What it is for; absent where it is for everything that the rules allow.
    pub mandate: Option<Mandate>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, currency, budget, created_s, expires_s, closed_s,
                    (SELECT mandate FROM mandate WHERE mandate.session = session.id) FROM session ",
            $rest
        )
    };
}

pub(super) const BY_ID: &str = select!("WHERE id = ?1");
pub(super) const NEWEST_OF_NAME: &str = select!("WHERE name = ?1 ORDER BY seq DESC LIMIT 1");
pub(super) const EVERY_OPEN: &str = select!("WHERE closed_s IS NULL ORDER BY seq");
pub(super) const NEWEST: &str = select!("ORDER BY seq DESC LIMIT ?1");

const FACT: &str = "SELECT name, currency, budget, CAST(created_s AS TEXT), CAST(expires_s AS TEXT),
        coalesce((SELECT mandate FROM mandate WHERE mandate.session = session.id), '')
     FROM session WHERE id = ?1";

/// The most sessions that a list shows.
const LISTED_MAX: u32 = 100;

impl Ledger {
    /// Opens a session of `budget` for `life_s` seconds, for everything that the rules allow or for what `mandate` says.
    /// The caller has checked the passphrase, and that rules and budget leave something of the mandate.
    ///
    /// One of the same name that has run out is closed first. The name starts anew: nothing of the earlier session
    /// counts against the new budget, and no purchase of it is a repeat of an earlier one.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then nothing was opened.
    pub fn open_session(
        &self,
        id: SessionId,
        name: SessionName,
        budget: Money,
        life_s: u64,
        mandate: Option<Mandate>,
    ) -> Result<SessionOpened, LedgerFault> {
        let opened = self.writer.ask(move |tx| {
            if let Some(earlier) = named(tx.conn, &name)?.filter(|earlier| !earlier.closed) {
                if tx.now_s < earlier.expires_s {
                    return Ok(Answer::AtOnce(SessionOpened::AlreadyOpen(view(tx.conn, earlier)?)));
                }
                close(tx, &earlier, "its time was over and a new one took its name")?;
            }
            if budget.is_zero() || life_s == 0 {
                return Ok(Answer::AtOnce(SessionOpened::Pointless));
            }
            let expires_s = tx.now_s.saturating_add(life_s);
            let session = Session { id, name, budget, created_s: tx.now_s, expires_s, closed: false, mandate };
            insert(tx.conn, &session)?;
            let bounds = session.mandate.as_ref().map(in_words).unwrap_or_default();
            let told = format!("session `{}` with {budget} until {}{bounds}", session.name, Moment(expires_s));
            if let Some(mandate) = &session.mandate {
                give(tx.conn, &session.id, mandate)?;
            }
            let event = Event::new(EventKind::SessionOpened, told).session(&session.id);
            tx.event(&event.fact(fact(tx.conn, &session.id)?))?;
            Ok(Answer::Durable(SessionOpened::Opened(view(tx.conn, session)?)))
        })?;
        failpoint::reach("vault-session-committed");
        Ok(opened)
    }

    /// Closes the open session of this name; what it set aside stays counted. `None` when none is open.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn close_session(&self, name: SessionName) -> Result<Option<SessionView>, LedgerFault> {
        self.writer.ask(move |tx| {
            let Some(mut open) = named(tx.conn, &name)?.filter(|found| !found.closed) else {
                return Ok(Answer::AtOnce(None));
            };
            close(tx, &open, "a person closed it")?;
            open.closed = true;
            Ok(Answer::Durable(Some(view(tx.conn, open)?)))
        })
    }

    /// The newest session of this name, open or not.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn session_named(&self, name: SessionName) -> Result<Option<Session>, LedgerFault> {
        self.writer.ask(move |tx| Ok(Answer::AtOnce(named(tx.conn, &name)?)))
    }

    /// Sessions, newest first, at most 100.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn sessions(&self) -> Result<Vec<SessionView>, LedgerFault> {
        self.writer.ask(|tx| Ok(Answer::AtOnce(newest(tx.conn)?)))
    }
}

/// Sessions, newest first.
pub(super) fn newest(conn: &Store) -> Result<Vec<SessionView>, LedgerFault> {
    conn.every(NEWEST, bound![LISTED_MAX], |row| view(conn, read(row)?))
}

/// The session with this id.
pub(super) fn by_id(conn: &Store, id: &SessionId) -> Result<Option<Session>, LedgerFault> {
    first(conn, BY_ID, id.as_str())
}

/// A session with what is spent and set aside of it.
pub(super) fn view(conn: &Store, session: Session) -> Result<SessionView, LedgerFault> {
    let spent = spent(conn, &session)?;
    let Session { name, budget, created_s, expires_s, closed, mandate, .. } = session;
    Ok(SessionView { name, budget, spent, created_s, expires_s, closed, mandate })
}

/// What is spent or set aside of a session's budget, in its currency.
pub(super) fn spent(conn: &Store, session: &Session) -> Result<Money, LedgerFault> {
    let key = TallyKey::of_session(&session.id, session.budget.currency());
    let ever = tally::used(conn, key.as_str(), None)?;
    Ok(Money::new(session.budget.currency(), ever.atto))
}

/// The newest session of this name.
pub(super) fn named(conn: &Store, name: &SessionName) -> Result<Option<Session>, LedgerFault> {
    first(conn, NEWEST_OF_NAME, name.as_str())
}

fn insert(conn: &Store, session: &Session) -> Result<(), LedgerFault> {
    conn.execute(
        "INSERT INTO session (id, name, currency, budget, created_s, expires_s) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        bound![
            session.id.as_str(),
            session.name.as_str(),
            session.budget.currency().letters(),
            wide(session.budget.atto()),
            to_sql(session.created_s)?,
            to_sql(session.expires_s)?,
        ],
    )?;
    Ok(())
}

/// Writes a session's mandate down, for good.
fn give(conn: &Store, session: &SessionId, mandate: &Mandate) -> Result<(), LedgerFault> {
    let text = serde_json::to_string(mandate).map_err(|fault| LedgerFault::Rule { detail: fault.to_string() })?;
    conn.execute("INSERT INTO mandate (session, mandate) VALUES (?1, ?2)", bound![session.as_str(), text])?;
    Ok(())
}

/// The digest of everything that a person allowed with a session, as it is stored, its mandate included. It goes into
/// the event of the opening, so that the log's chain also covers the row.
pub(super) fn fact(conn: &Store, id: &SessionId) -> Result<Digest, LedgerFault> {
    let parts: [String; 6] = conn.one(FACT, bound![id.as_str()], |row| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?])
    })?;
    let [name, currency, budget, created_s, expires_s, mandate] = parts.each_ref().map(String::as_bytes);
    let id = id.as_str().as_bytes();
    Ok(Digest::of_parts(&[b"bursar session 1", id, name, currency, budget, created_s, expires_s, mandate]))
}

/// How the log of versions 1 and 2 tells that it was opened: in words, and without a digest.
pub(super) fn opened_before_version_3(session: &Session) -> String {
    let Session { name, budget, expires_s, .. } = session;
    format!("session `{name}` with {budget} until {expires_s}")
}

/// What a mandate says, for the log; what a long one says last may be cut.
fn in_words(mandate: &Mandate) -> String {
    let listed: Vec<String> = mandate.origins().iter().map(ToString::to_string).collect();
    let payees = match mandate.payees() {
        Payees::Any => "to any payee that the rules allow".to_owned(),
        Payees::Listed(payees) => {
            format!("to {}", payees.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    };
    let (most, purpose) = (mandate.max_per_payment(), mandate.purpose());
    format!(" for `{purpose}`: at most {most} a payment, {payees}, at {}", listed.join(", "))
}

/// Closes every session that nobody closed.
pub(super) fn close_every(tx: &Tx<'_>, why: &str) -> Result<(), LedgerFault> {
    tx.conn.every(EVERY_OPEN, bound![], read)?.iter().try_for_each(|session| close(tx, session, why))
}

/// Closes an open session, with the reason in the log; what it set aside stays counted.
pub(super) fn close(tx: &Tx<'_>, session: &Session, why: &str) -> Result<(), LedgerFault> {
    // A person who confirmed an earlier clock may close what was opened in the mistaken future.
    let closed_s = tx.now_s.max(session.created_s);
    tx.conn
        .execute("UPDATE session SET closed_s = ?1 WHERE id = ?2", bound![to_sql(closed_s)?, session.id.as_str()])?;
    approval::session_closed(tx, &session.id)?;
    let told = format!("session `{}`: {why}", session.name);
    tx.event(&Event::new(EventKind::SessionClosed, told).session(&session.id))
}

fn first(conn: &Store, sql: &str, key: &str) -> Result<Option<Session>, LedgerFault> {
    conn.first(sql, bound![key], read)
}

fn read(row: &Row<'_>) -> Result<Session, LedgerFault> {
    let unreadable = || LedgerFault::Unreadable { what: "session" };
    let text = |column| row.get::<String>(column);
    let currency = text(2)?.parse().map_err(|_fault| unreadable())?;
    Ok(Session {
        id: text(0)?.parse().map_err(|_fault| unreadable())?,
        name: text(1)?.parse().map_err(|_fault| unreadable())?,
        budget: Money::new(currency, narrow(&text(3)?)?),
        created_s: from_sql(row.get(4)?)?,
        expires_s: from_sql(row.get(5)?)?,
        closed: row.get::<Option<i64>>(6)?.is_some(),
        mandate: row.get::<Option<String>>(7)?.as_deref().map(mandate_of).transpose()?,
    })
}

fn mandate_of(text: &str) -> Result<Mandate, LedgerFault> {
    serde_json::from_str(text).map_err(|_fault| LedgerFault::Unreadable { what: "mandate" })
}
