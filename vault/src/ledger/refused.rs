//! Refusals in the log: written without anyone waiting for the disk. Must never change what was refused.

use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::refusal::Refusal;

use super::Ledger;
use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::session;
use super::writer::Tx;

/// The most reasons that one event spells out.
const REASONS_MAX: usize = 8;

impl Ledger {
    /// Puts a refusal into the log without waiting; the ledger does so itself for those it makes. A refusal stands
    /// whether or not it can be written down.
    pub fn note_refused(&self, session: Option<&SessionId>, errand: &Errand, reasons: &[Refusal]) {
        let (session, errand, reasons) = (session.cloned(), errand.clone(), reasons.to_vec());
        self.writer.tell(move |tx| write_down(tx, session.as_ref(), &errand, &reasons));
    }
}

/// Adds the event. A session that does not exist is left out of it.
fn write_down(
    tx: &Tx<'_>,
    session: Option<&SessionId>,
    errand: &Errand,
    reasons: &[Refusal],
) -> Result<(), LedgerFault> {
    let mut told = format!("{} {}", errand.method, errand.site.origin());
    for reason in reasons.iter().take(REASONS_MAX) {
        told.push_str("; ");
        told.push_str(reason.code());
        told.push_str(": ");
        told.push_str(&reason.to_string());
    }
    let event = Event::new(EventKind::Refused, told);
    let known = match session {
        None => None,
        Some(id) => session::by_id(tx.conn, id)?.map(|found| found.id),
    };
    tx.event(&match known {
        Some(id) => event.session(&id),
        None => event,
    })
}
