//! What people and agents may see of the ledger. Must never change it, and never shows a signature.

use std::sync::Arc;

use bursar_policy::errand::{PaymentId, SessionId, SessionName};
use bursar_policy::limit::Scope;
use bursar_policy::money::Money;
use bursar_policy::rules::Rules;

use super::fault::LedgerFault;
use super::number::{from_sql, to_sql};
use super::rows::Payment;
use super::store::{Row, Store, bound};
use super::writer::{Answer, Tx};
use super::{Ledger, approval, breaker, meta, open, overdue, prove, rows, session, standing, tally};
use crate::protocol::{
    Delivery, LimitView, LogEntry, Lost, Outstanding, PastPayment, PaymentDetail, Proof, Quarantine, RowState,
    SessionView,
};

/// The most unresolved payments that a view shows.
const UNRESOLVED_MAX: u32 = 20;

/// The most hosts and payees with lost payments that a view shows.
const LOST_MAX: u32 = 20;

/// The most events that one page shows.
pub const LOG_PAGE_MAX: u32 = 500;

/// How everything stands at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// The session that was asked about.
    pub session: Option<SessionView>,
    /// Limits over everything, and over the session when one was asked about.
    pub limits: Vec<LimitView>,
    /// Money in payments that are not resolved, one entry a currency.
    pub held: Vec<Money>,
    /// The newest unresolved payments, at most 20; of the session when one was asked about.
    pub unresolved: Vec<Outstanding>,
    /// How many payments ran out unresolved, by host and by payee; for everyone only, at most 20.
    pub lost: Vec<Lost>,
    /// The hosts in quarantine, at most 20; for everyone only.
    pub quarantined: Vec<Quarantine>,
    /// The newest payments of which a chain denies what the seller says, at most 20; for everyone only.
    pub denied: Vec<PaymentId>,
    /// How many payments are not resolved, of all sessions.
    pub unresolved_count: u64,
    /// How many purchases wait for a person; of the session when one was asked about.
    pub approvals_waiting: u32,
    /// Why a person stopped all spending.
    pub frozen: Option<String>,
    /// Why payments are shut until a person looks.
    pub latched: Option<String>,
    /// Ledger time, Unix seconds.
    pub now_s: u64,
}

pub(super) const LOG_AFTER: &str = "SELECT event.seq, event.at_s, event.kind, event.payment, session.name, event.detail
     FROM event LEFT JOIN session ON session.id = event.session WHERE event.seq > ?1 ORDER BY event.seq LIMIT ?2";
pub(super) const LOG_NEWEST: &str =
    "SELECT event.seq, event.at_s, event.kind, event.payment, session.name, event.detail
     FROM event LEFT JOIN session ON session.id = event.session ORDER BY event.seq DESC LIMIT ?1";
pub(super) const LOG_OF_PAYMENT: &str =
    "SELECT event.seq, event.at_s, event.kind, event.payment, session.name, event.detail
     FROM event LEFT JOIN session ON session.id = event.session
     WHERE event.payment IS NOT NULL AND event.payment = ?1 ORDER BY event.seq";

impl Ledger {
    /// How everything stands, for everyone or for one session.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn overview(&self, session: Option<&SessionId>, rules: &Arc<Rules>) -> Result<Overview, LedgerFault> {
        let (session, rules, shared) = (session.cloned(), Arc::clone(rules), Arc::clone(&self.shared));
        self.writer.ask(move |tx| {
            let unresolved = match &session {
                Some(id) => rows::list(tx.conn, rows::OPEN_OF_SESSION, bound![id.as_str(), UNRESOLVED_MAX])?,
                None => rows::list(tx.conn, rows::OPEN, bound![UNRESOLVED_MAX])?,
            };
            let known = match &session {
                Some(id) => session::by_id(tx.conn, id)?,
                None => None,
            };
            Ok(Answer::AtOnce(Overview {
                limits: limits(tx, &rules, session.as_ref())?,
                held: match &known {
                    // An agent sees what its own session has set aside, and nothing of any other.
                    Some(own) => tally::pending_of_session(tx.conn, &own.id, own.budget.currency())?,
                    None => tally::pending(tx.conn)?,
                },
                lost: if session.is_none() { overdue::list(tx.conn, LOST_MAX)? } else { Vec::new() },
                quarantined: if session.is_none() { breaker::list(tx)? } else { Vec::new() },
                denied: if session.is_none() { prove::denied(tx.conn)? } else { Vec::new() },
                session: known.map(|found| session::view(tx.conn, found)).transpose()?,
                unresolved: unresolved.iter().map(Payment::outstanding).collect(),
                unresolved_count: tally::pending_count(tx.conn)?,
                approvals_waiting: approval::waiting(tx, session.as_ref())?,
                frozen: meta::frozen(tx.conn)?,
                latched: shared.latch.reason(),
                now_s: tx.now_s,
            }))
        })
    }

    /// Events, oldest first: those after sequence number `after`, or the newest. At most `limit` and [`LOG_PAGE_MAX`].
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn log(&self, limit: u32, after: Option<u64>) -> Result<Vec<LogEntry>, LedgerFault> {
        let limit = limit.min(LOG_PAGE_MAX);
        self.writer.ask(move |tx| {
            let found = match after {
                Some(after) => {
                    tx.conn.every(LOG_AFTER, bound![to_sql(after.min(i64::MAX.unsigned_abs()))?, limit], entry)?
                }
                None => {
                    let mut newest = tx.conn.every(LOG_NEWEST, bound![limit], entry)?;
                    newest.reverse();
                    newest
                }
            };
            Ok(Answer::AtOnce(found))
        })
    }

    /// Payments without their signatures, oldest first: those counted after `after`, or from the first. At most `limit`
    /// and [`LOG_PAGE_MAX`].
    ///
    /// # Errors
    ///
    /// [`LedgerFault::NoSuchPayment`] when there is no `after`, or a fault of the ledger.
    pub fn payments(&self, limit: u32, after: Option<&PaymentId>) -> Result<Vec<PastPayment>, LedgerFault> {
        let (limit, after) = (limit.min(LOG_PAGE_MAX), after.cloned());
        self.writer.ask(move |tx| {
            if let Some(after) = &after {
                rows::by_id(tx.conn, after)?;
            }
            let after = after.as_ref().map_or("", PaymentId::as_str);
            let mut found = Vec::new();
            for row in rows::list(tx.conn, rows::AFTER, bound![after, limit])? {
                found.push(past(tx.conn, row)?);
            }
            Ok(Answer::AtOnce(found))
        })
    }

    /// Payments without their signatures, newest first: those counted before `before`, or from the last. At most `limit` and
    /// [`LOG_PAGE_MAX`]. Whatever was answered before is in it; it is read beside the writer, which waits for nothing of it.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::NoSuchPayment`] when there is no `before`, or a fault of the ledger.
    pub fn newest_payments(&self, limit: u32, before: Option<&PaymentId>) -> Result<Vec<PastPayment>, LedgerFault> {
        // What the writer answered and has not committed yet is not to be seen from beside it.
        self.writer.ask(|_tx| Ok(Answer::AfterCommit(())))?;
        let conn = open::open_to_read(&self.place)?;
        conn.begin_to_look()?;
        if let Some(before) = before {
            rows::by_id(&conn, before)?;
        }
        let before = before.map_or("", PaymentId::as_str);
        let found = rows::list(&conn, rows::BEFORE, bound![before, limit.min(LOG_PAGE_MAX)])?;
        found.into_iter().map(|row| past(&conn, row)).collect()
    }

    /// Everything about one payment except its signature.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::NoSuchPayment`], or a fault of the ledger.
    pub fn payment(&self, id: &PaymentId) -> Result<PaymentDetail, LedgerFault> {
        let id = id.clone();
        self.writer.ask(move |tx| {
            let row = rows::by_id(tx.conn, &id)?;
            let session = session::by_id(tx.conn, &row.session)?.ok_or(LedgerFault::Unreadable { what: "session" })?;
            Ok(Answer::AtOnce(PaymentDetail {
                receipt: row.receipt(false),
                session: session.name,
                site: row.site,
                method: row.method,
                terms: row.terms,
                payer: row.payer,
                nonce: format!("0x{}", hex::encode(row.nonce)),
                signed: row.signature.is_some(),
                proof: row.proof,
                delivery: row.delivery,
                settlement: row.claim,
                events: tx.conn.every(LOG_OF_PAYMENT, bound![id.as_str()], entry)?,
            }))
        })
    }
}

fn limits(tx: &Tx<'_>, rules: &Rules, session: Option<&SessionId>) -> Result<Vec<LimitView>, LedgerFault> {
    let nobody = SessionId::from_random([0; 16]);
    let mut views = Vec::new();
    for limit in rules.limits() {
        if limit.scope == Scope::Session && session.is_none() {
            continue;
        }
        let Some(key) = limit.key_of_session(session.unwrap_or(&nobody)) else {
            continue;
        };
        let used = tally::used(tx.conn, key.as_str(), rules.window_begins_s(limit.window, tx.now_s))?;
        views.push(LimitView {
            scope: limit.scope,
            window: limit.window,
            max: limit.max,
            used: limit.max.map(|max| Money::new(max.currency(), used.atto)),
            count: limit.count,
            count_used: standing::count(used),
        });
    }
    Ok(views)
}

fn past(conn: &Store, row: rows::Payment) -> Result<PastPayment, LedgerFault> {
    let session = session::by_id(conn, &row.session)?.ok_or(LedgerFault::Unreadable { what: "session" })?;
    Ok(PastPayment {
        unresolved: overdue::is(&row) && !overdue::is_pardoned(conn, &row.id)?,
        waiting: matches!(row.state, RowState::Held | RowState::Exposed) || row.is_unresolved(),
        content: match &row.delivery {
            Some(Delivery::Answer { content, .. }) => content.clone(),
            _ => None,
        },
        session_name: session.name,
        receipt: row.receipt(false),
        terms_digest: row.terms_digest()?,
        nonce: format!("0x{}", hex::encode(row.nonce)),
        proof: proof(&row),
        payment: row.id,
        state: row.state,
        session: row.session,
        budget: session.budget,
        session_expires_s: session.expires_s,
        mandate: session.mandate,
        site: row.site,
        method: row.method,
        body: row.body,
        subject: row.subject,
        terms: row.terms,
        payer: row.payer,
        money: row.money,
        created_s: row.created_s,
        ended_s: row.ended_s,
    })
}

/// By what it is known that a payment is in its state.
fn proof(row: &rows::Payment) -> Option<Proof> {
    match row.state {
        RowState::Held | RowState::Exposed => None,
        RowState::Settled => Some(match &row.proof {
            None => Proof::SellerSays,
            Some(shown) if shown.denies => Proof::ChainDenies,
            Some(_) => Proof::ChainShows,
        }),
        RowState::PresumedSpent => Some(Proof::TimeIsOver),
        RowState::Voided => Some(Proof::NeverSigned),
        RowState::Lapsed => Some(Proof::Chain),
    }
}

fn entry(row: &Row<'_>) -> Result<LogEntry, LedgerFault> {
    let unreadable = LedgerFault::Unreadable { what: "event" };
    let payment: Option<String> = row.get(3)?;
    let session: Option<String> = row.get(4)?;
    Ok(LogEntry {
        seq: from_sql(row.get(0)?)?,
        at_s: from_sql(row.get(1)?)?,
        kind: row.get(2)?,
        payment: payment.map(|id| id.parse::<PaymentId>()).transpose().map_err(|_fault| unreadable.clone())?,
        session: session.map(|name| name.parse::<SessionName>()).transpose().map_err(|_fault| unreadable)?,
        detail: row.get(5)?,
    })
}
