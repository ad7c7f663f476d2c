//! What went wrong with an origin since its last good delivery, and its quarantine. Must never end a quarantine early,
//! nor let one origin's record touch another's.
//!
//! Two things are counted: paid deliveries that failed, one after the other, and security refusals that blame the
//! seller ([`Refusal::blames_the_seller`]). When either is as many as the rules allow, nothing new is asked of the origin
//! until its quarantine is over. Then it is half open: the counts stay, one more of either begins the next quarantine, and
//! a good delivery forgets both.

use std::sync::Arc;

use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::quantity::Moment;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::{Breaker, OnSecurityRefusal, Rules};
use bursar_policy::site::Origin;

use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::number::{from_sql, to_sql};
use super::rows::Payment;
use super::store::{Store, bound};
use super::writer::{Answer, Tx};
use super::{Ledger, session};
use crate::protocol::{Delivery, Quarantine};

pub(super) const OF_ORIGIN: &str = "SELECT failures, strikes, until_s FROM breaker WHERE origin = ?1";

/// The quarantines that end last.
pub(super) const LIST: &str = "SELECT origin, failures, strikes, until_s FROM breaker
     WHERE until_s > 0 AND until_s > ?1 ORDER BY until_s DESC LIMIT 20";

/// Every origin that something stands against.
const KNOWN: &str = "SELECT origin FROM breaker WHERE failures > 0 OR strikes > 0 OR until_s > 0 ORDER BY origin";

const WRITE: &str = "INSERT INTO breaker (origin, failures, strikes, until_s) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (origin) DO UPDATE SET failures = excluded.failures, strikes = excluded.strikes, until_s = excluded.until_s";

/// What stands against one origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Paid deliveries that failed since the last good one.
    pub(super) failures: u32,
    /// Security refusals that blame it since then.
    pub(super) strikes: u32,
    /// When its quarantine ends, or the last one ended; 0 without one.
    pub(super) until_s: u64,
}

/// Whether a refusal was counted against the seller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Struck {
    Yes,
    No,
}

impl Struck {
    /// `value`, once the strike is on the disk.
    pub(super) const fn answer<T>(self, value: T) -> Answer<T> {
        match self {
            Self::Yes => Answer::Durable(value),
            Self::No => Answer::AtOnce(value),
        }
    }
}

impl Ledger {
    /// Counts a refusal of somebody else's against the seller where one of `reasons` blames it, as [`Ledger::authorize`]
    /// and [`Ledger::quote`] do with their own; then, where the rules say so, the session that met it is closed as well.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; the refusal stands all the same.
    pub fn strike(
        &self,
        session: Option<&SessionId>,
        errand: &Errand,
        reasons: &[Refusal],
        rules: &Arc<Rules>,
    ) -> Result<(), LedgerFault> {
        if !reasons.iter().any(Refusal::blames_the_seller) {
            return Ok(());
        }
        let (session, errand, reasons, rules) = (session.cloned(), errand.clone(), reasons.to_vec(), Arc::clone(rules));
        self.writer.ask(move |tx| Ok(struck(tx, &rules, session.as_ref(), &errand, &reasons)?.answer(())))
    }
}

/// When the quarantine of `origin` ends, Unix seconds; it may be over. One index look-up.
pub(super) fn until_s(conn: &Store, origin: &Origin) -> Result<Option<u64>, LedgerFault> {
    Ok(read(conn, &origin.to_string())?.map(|record| record.until_s))
}

/// The refusal of whatever is asked of `origin` now, while it is in quarantine.
pub(super) fn refusal(tx: &Tx<'_>, origin: &Origin) -> Result<Option<Refusal>, LedgerFault> {
    let until_s = until_s(tx.conn, origin)?.filter(|until_s| tx.now_s < *until_s);
    Ok(until_s.map(|until_s| Refusal::HostQuarantined { origin: origin.to_string(), until_s }))
}

/// Counts what a report made of `before`: a failure once for each payment; a good delivery forgets everything.
pub(super) fn reported(tx: &Tx<'_>, breaker: &Breaker, before: &Payment, after: &Payment) -> Result<(), LedgerFault> {
    let origin = after.site.origin().to_string();
    match (went(before), went(after)) {
        (Some(Went::Badly), Some(Went::Badly)) | (Some(Went::Well), Some(Went::Well)) | (_, None) => Ok(()),
        (_, Some(Went::Well)) => forget(tx.conn, &origin),
        (_, Some(Went::Badly)) => {
            let mut record = read(tx.conn, &origin)?.unwrap_or_default();
            record.failures = record.failures.saturating_add(1);
            count(tx, breaker, Some(&after.session), &origin, record)
        }
    }
}

/// Counts one strike against the seller of `errand` when any of `reasons` blames it, and closes the session that met it
/// where the rules say so. A host that no rule covers was not asked, so it is not to blame for anything.
pub(super) fn struck(
    tx: &Tx<'_>,
    rules: &Rules,
    met_in: Option<&SessionId>,
    errand: &Errand,
    reasons: &[Refusal],
) -> Result<Struck, LedgerFault> {
    let Some(reason) = reasons.iter().find(|reason| reason.blames_the_seller()) else {
        return Ok(Struck::No);
    };
    if tx.latched || rules.host_rule(&errand.site).is_none() {
        return Ok(Struck::No);
    }
    let origin = errand.site.origin().to_string();
    let mut record = read(tx.conn, &origin)?.unwrap_or_default();
    record.strikes = record.strikes.saturating_add(1);
    count(tx, rules.breaker(), met_in, &origin, record)?;
    if rules.breaker().on_security_refusal() == OnSecurityRefusal::CloseSession
        && let Some(id) = met_in
        && let Some(open) = session::by_id(tx.conn, id)?.filter(|found| !found.closed)
    {
        session::close(tx, &open, &format!("a security refusal closes it: {} at {origin}", reason.code()))?;
    }
    Ok(Struck::Yes)
}

/// Counts one strike against the seller of `payment`: it named a transaction for it, and a chain shows that there is none.
pub(super) fn lied(tx: &Tx<'_>, breaker: &Breaker, payment: &Payment) -> Result<(), LedgerFault> {
    let origin = payment.site.origin().to_string();
    let mut record = read(tx.conn, &origin)?.unwrap_or_default();
    record.strikes = record.strikes.saturating_add(1);
    count(tx, breaker, Some(&payment.session), &origin, record)
}

/// Takes away everything that stands against `origin`, its quarantine included. What it was.
pub(super) fn lift(tx: &Tx<'_>, origin: &str) -> Result<Record, LedgerFault> {
    let record = read(tx.conn, origin)?.unwrap_or_default();
    if record != Record::default() {
        write(tx.conn, origin, Record::default())?;
    }
    Ok(record)
}

/// Every quarantine that is not over, at most 20, the longest first.
pub(super) fn list(tx: &Tx<'_>) -> Result<Vec<Quarantine>, LedgerFault> {
    tx.conn.every(LIST, bound![to_sql(tx.now_s)?], |row| {
        let (failures, strikes, until_s) = (row.get(1)?, row.get(2)?, from_sql(row.get(3)?)?);
        Ok(Quarantine { origin: row.get(0)?, failures, strikes, until_s })
    })
}

/// Every origin that something stands against.
pub(super) fn known(conn: &Store) -> Result<Vec<String>, LedgerFault> {
    conn.every(KNOWN, bound![], |row| row.get(0))
}

/// How a paid delivery went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Went {
    Well,
    Badly,
}

/// `None` while nobody said, and where goods came with a word on the payment that does not fit it: neither good nor lost.
fn went(payment: &Payment) -> Option<Went> {
    match payment.delivery.as_ref()? {
        Delivery::Answer { status: 200..=299, content_error: None, .. } => {
            (!payment.is_unresolved()).then_some(Went::Well)
        }
        Delivery::Silence { .. } | Delivery::Answer { .. } => Some(Went::Badly),
    }
}

/// Writes `record` down, and begins a quarantine when it is too much and none is running.
fn count(
    tx: &Tx<'_>,
    breaker: &Breaker,
    met_in: Option<&SessionId>,
    origin: &str,
    mut record: Record,
) -> Result<(), LedgerFault> {
    let too_much = breaker.after() <= record.failures.max(record.strikes);
    if !too_much || tx.now_s < record.until_s {
        return write(tx.conn, origin, record);
    }
    record.until_s = tx.now_s.saturating_add(breaker.quarantine_s());
    write(tx.conn, origin, record)?;
    let Record { failures, strikes, until_s } = record;
    let told = format!(
        "{origin} until {}: since its last good delivery {failures} paid deliveries failed and {strikes} \
         security refusals blame it",
        Moment(until_s)
    );
    let event = Event::new(EventKind::Quarantined, told);
    tx.event(&match met_in {
        Some(session) => event.session(session),
        None => event,
    })
}

/// Both counts begin anew; a quarantine goes on to its end.
fn forget(conn: &Store, origin: &str) -> Result<(), LedgerFault> {
    match read(conn, origin)? {
        Some(record) if record.failures != 0 || record.strikes != 0 => {
            write(conn, origin, Record { until_s: record.until_s, ..Record::default() })
        }
        _ => Ok(()),
    }
}

/// What stands against `origin`; `None` when nothing ever did.
pub(super) fn read(conn: &Store, origin: &str) -> Result<Option<Record>, LedgerFault> {
    let found = conn.first(OF_ORIGIN, bound![origin], |row| Ok((row.get(0)?, row.get(1)?, row.get::<i64>(2)?)))?;
    found.map(|(failures, strikes, until)| Ok(Record { failures, strikes, until_s: from_sql(until)? })).transpose()
}

fn write(conn: &Store, origin: &str, record: Record) -> Result<(), LedgerFault> {
    let Record { failures, strikes, until_s } = record;
    conn.execute(WRITE, bound![origin, failures, strikes, to_sql(until_s)?])?;
    Ok(())
}
