//! Claims: one purchase at a time, and the first one's result for whoever asks the same again. Must never lead to a
//! second signature for one purchase.
//!
//! A purchase is claimed before its first byte goes out. While the claim lives, an identical one waits; it lives in
//! memory as a [`ClaimGuard`] and ends when that is dropped, whatever happened to its owner. What must outlive the
//! process is in the ledger: the payment row under the purchase's identity, and what a purchase id means.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bursar_policy::digest::Digest;
use bursar_policy::errand::{Errand, PaymentId, PurchaseId, SessionId};
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;

use super::fault::LedgerFault;
use super::number::to_sql;
use super::rows::{self, Payment};
use super::states::{Exposed, Reservation, RowState};
use super::store::{Store, bound};
use super::writer::{Answer, Tx};
use super::{Ledger, Price, Source, session, standing, sweep};
use crate::failpoint;
use crate::protocol::{Past, Signed};

/// The most claims that live at once.
pub const CLAIMS_MAX: usize = 256;

/// The answer to a claim.
#[derive(Debug)]
pub enum Claim {
    /// Nobody bought this: go ahead.
    New(ClaimGuard),
    /// Somebody is buying it at this moment and did not finish while the asker was ready to wait.
    InFlight,
    /// It was bought: this is the result, marked as a repeat.
    Repeat(Box<Past>),
    /// It was signed and never answered: send these bytes again, which is no second purchase.
    Resend {
        /// The row, for the report.
        reservation: Box<Reservation>,
        /// The bytes.
        signed: Box<Signed>,
    },
    /// No.
    Refused(Vec<Refusal>),
}

/// A living claim on one purchase. Dropping it lets the next identical call go on.
#[must_use = "a dropped claim lets somebody else buy the same"]
#[derive(Debug)]
pub struct ClaimGuard {
    registry: Arc<Registry>,
    identity: Digest,
    session: SessionId,
    errand: Arc<Errand>,
}

impl ClaimGuard {
    /// What is being bought.
    #[must_use]
    pub fn errand(&self) -> &Errand {
        &self.errand
    }

    /// Which session pays.
    #[must_use]
    pub const fn session(&self) -> &SessionId {
        &self.session
    }

    /// The errand, to be taken along.
    pub(super) fn shared_errand(&self) -> Arc<Errand> {
        Arc::clone(&self.errand)
    }

    /// The purchase's identity.
    pub(super) const fn identity(&self) -> Digest {
        self.identity
    }
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        self.registry.live().remove(&self.identity);
        self.registry.freed.notify_all();
    }
}

/// Which purchases are being made at this moment.
#[derive(Debug, Default)]
pub(super) struct Registry {
    live: Mutex<HashSet<Digest>>,
    freed: Condvar,
}

/// What became of the wish to make a purchase.
pub(super) enum Taken {
    Mine(ClaimGuard),
    StillInFlight,
    TooMany,
}

impl Registry {
    /// Claims a purchase, waiting up to `patience` for an identical one to end.
    pub(super) fn take(self: &Arc<Self>, session: &SessionId, errand: Errand, patience: Duration) -> Taken {
        let identity = errand.identity(session);
        let give_up = Instant::now().checked_add(patience);
        let mut live = self.live();
        while live.contains(&identity) {
            let left = give_up.map_or(patience, |at| at.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Taken::StillInFlight;
            }
            let waited = self.freed.wait_timeout(live, left).unwrap_or_else(PoisonError::into_inner);
            live = waited.0;
        }
        if CLAIMS_MAX <= live.len() {
            return Taken::TooMany;
        }
        live.insert(identity);
        drop(live);
        Taken::Mine(ClaimGuard {
            registry: Arc::clone(self),
            identity,
            session: session.clone(),
            errand: Arc::new(errand),
        })
    }

    fn live(&self) -> MutexGuard<'_, HashSet<Digest>> {
        // A set of digests is whole between any two statements.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the ledger knows of a purchase.
#[derive(Debug)]
enum Known {
    Nothing,
    Bought(Box<Past>),
    Unanswered(Box<Payment>),
    Refused(Vec<Refusal>),
}

impl Ledger {
    /// Claims the purchase that `errand` means in `session`, waiting up to `patience` for an identical one to end.
    ///
    /// A repeat is answered even when the session is over, spending is frozen or the host is in quarantine: it moves
    /// nothing. A new purchase is refused here, before its first byte goes out, for each of these, and where the session
    /// is not for that site. `rules` say that, and how long a finished purchase without a purchase id answers for an
    /// identical call.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then nothing is claimed.
    pub fn claim(
        &self,
        session: &SessionId,
        errand: Errand,
        rules: &Arc<Rules>,
        patience: Duration,
    ) -> Result<Claim, LedgerFault> {
        let guard = match self.claims.take(session, errand, patience) {
            Taken::Mine(guard) => guard,
            Taken::StillInFlight => return Ok(Claim::InFlight),
            Taken::TooMany => return Ok(Claim::Refused(vec![Refusal::TooManyInFlight])),
        };
        let (session, errand, identity) = (guard.session.clone(), guard.errand.clone(), guard.identity);
        let rules = Arc::clone(rules);
        let known = self.writer.ask(move |tx| look(tx, &session, &errand, &identity, &rules).map(Answer::AtOnce))?;
        Ok(match known {
            Known::Nothing => Claim::New(guard),
            Known::Bought(past) => Claim::Repeat(past),
            Known::Refused(reasons) => {
                self.note_refused(Source::Vault, Some(&guard.session), &guard.errand, Price::Unsaid, &reasons);
                Claim::Refused(reasons)
            }
            Known::Unanswered(payment) => match payment.signed() {
                None => Claim::Repeat(Box::new(payment.past())),
                Some(signed) => {
                    let exposed = Exposed { authorization: payment.authorization(), terms: payment.terms };
                    let reservation = Box::new(Reservation { payment: payment.id, claim: guard, exposed });
                    Claim::Resend { reservation, signed: Box::new(signed) }
                }
            },
        })
    }

    /// The result of an earlier payment so far, marked as a repeat: for when nothing may be sent again.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::NoSuchPayment`], or a fault of the ledger.
    pub fn past(&self, payment: &PaymentId) -> Result<Past, LedgerFault> {
        let id = payment.clone();
        self.writer.ask(move |tx| Ok(Answer::AtOnce(rows::by_id(tx.conn, &id)?.past())))
    }
}

fn look(
    tx: &Tx<'_>,
    session: &SessionId,
    errand: &Errand,
    identity: &Digest,
    rules: &Rules,
) -> Result<Known, LedgerFault> {
    if !tx.latched {
        sweep::due(tx)?;
    }
    let subject = errand.subject();
    let meant = match &errand.purchase_id {
        None => None,
        Some(id) => meaning(tx.conn, session, id)?,
    };
    if meant.is_some_and(|meant| meant != subject) {
        return Ok(Known::Refused(vec![Refusal::IdempotencyConflict]));
    }
    let shut = standing::shut(tx, session)?;
    if let Some(payment) = rows::by_identity(tx.conn, identity)? {
        match verdict(&payment, tx.now_s, rules.repeat_window_s()) {
            // Nothing is sent while a person or a fault has stopped spending, not even what is counted already.
            Verdict::Resend if shut.is_empty() => return Ok(Known::Unanswered(Box::new(payment))),
            Verdict::Resend | Verdict::Repeat => return Ok(Known::Bought(Box::new(payment.past()))),
            Verdict::Over => {}
        }
    }
    // A new purchase asks the seller again, which an earlier result and the same signed bytes do not.
    let open = session::by_id(tx.conn, session)?;
    let unasked = standing::unasked(tx, rules, open.as_ref(), errand, shut)?;
    if !unasked.is_empty() {
        return Ok(Known::Refused(unasked));
    }
    if let (Some(id), None) = (&errand.purchase_id, meant) {
        bind(tx, session, id, &subject)?;
        failpoint::reach("vault-claim-bound");
    }
    Ok(Known::Nothing)
}

/// What an earlier payment of the same identity means for a call now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Repeat,
    Resend,
    /// It never happened, or long enough ago: this is a new purchase.
    Over,
}

fn verdict(payment: &Payment, now_s: u64, repeat_window_s: u64) -> Verdict {
    match payment.state {
        // What is held is bought anew: it comes back in the transaction that counts the next.
        RowState::Voided | RowState::Held => Verdict::Over,
        // The money never moved and nothing came for it.
        RowState::Lapsed if !payment.is_delivered() => Verdict::Over,
        RowState::Exposed => {
            let sendable = payment.signature.is_some() && now_s < payment.valid_before;
            if sendable && !payment.is_answered() { Verdict::Resend } else { Verdict::Repeat }
        }
        // Nobody knows what became of it: the identical call never buys it a second time. A new purchase id does.
        RowState::PresumedSpent if payment.is_unresolved() => Verdict::Repeat,
        RowState::Settled | RowState::PresumedSpent | RowState::Lapsed => {
            // A purchase id names one purchase for ever.
            let ended_s = payment.ended_s.unwrap_or(payment.valid_before);
            let recent = now_s < ended_s.saturating_add(repeat_window_s);
            if payment.purchase_id.is_some() || recent { Verdict::Repeat } else { Verdict::Over }
        }
    }
}

pub(super) const MEANING: &str = "SELECT subject FROM purchase WHERE session = ?1 AND purchase_id = ?2";

fn meaning(conn: &Store, session: &SessionId, id: &PurchaseId) -> Result<Option<Digest>, LedgerFault> {
    let found: Option<String> = conn.first(MEANING, bound![session.as_str(), id.as_str()], |row| row.get(0))?;
    found.map(|text| Digest::parse(&text).map_err(|_fault| LedgerFault::Unreadable { what: "purchase id" })).transpose()
}

fn bind(tx: &Tx<'_>, session: &SessionId, id: &PurchaseId, subject: &Digest) -> Result<(), LedgerFault> {
    tx.conn.execute(
        "INSERT INTO purchase (session, purchase_id, subject, bound_s) VALUES (?1, ?2, ?3, ?4)",
        bound![session.as_str(), id.as_str(), subject.to_string(), to_sql(tx.now_s)?],
    )?;
    Ok(())
}
