//! Handles of payments that a browser makes: money set aside, and let go of once. Must never keep a handle, only its
//! digest, and never count the money back while the handle is good.
//!
//! A held payment has one open handle. It is redeemed in the transaction that exposes the payment, or it is over and the
//! money is back in the same transaction: by time, by a restart, or because the same is bought anew.

use std::sync::Arc;
use std::time::Duration;

use bursar_policy::authorization::validity;
use bursar_policy::digest::Digest;
use bursar_policy::errand::SessionName;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::site::Site;
use thiserror::Error;

use super::authorize::{self, Purpose};
use super::claim::{ClaimGuard, Taken};
use super::events::EventKind;
use super::fault::LedgerFault;
use super::number::{from_sql, to_sql};
use super::rows::{self, Payment};
use super::states::{Exposed, Reservation, RowState};
use super::store::{Row, Store, bound};
use super::writer::{Answer, Tx};
use super::{Ask, Ledger, Price, Source, acquaintance, prove, session, standing, sweep};
use crate::blank::Blank;
use crate::failpoint;
use crate::protocol::{Past, Receipt, Signed};

/// How long a handle is good for, in seconds of ledger time.
pub const HANDLE_LIFE_S: u64 = 90;

/// A handle that was drawn and not given to anyone yet.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its digest.
    pub digest: Digest,
    /// The payment document that is filled in when it is redeemed.
    pub blank: Blank,
}

/// A payment that waits for a browser.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The payment: held, or exposed where it was redeemed before and nobody knows how that ended.
    pub receipt: Receipt,
    /// Seconds until the handle is over.
    pub expires_in_s: u64,
}

/// Whether money was set aside.
#[derive(Debug)]
pub enum Held {
    /// It is, on the disk.
    Yes(Box<Prepared>),
    /// It is not, for these reasons; the claim goes back to its owner.
    No {
        /// The claim.
        claim: ClaimGuard,
        /// The reasons, in order of precedence.
        reasons: Vec<Refusal>,
    },
}

/// Who wants to redeem a handle, and where the browser is.
#[derive(Clone, Debug)]
pub struct Redeemer {
    /// The handle's digest.
    pub handle: Digest,
    /// The session of the glue.
    pub session: SessionName,
    /// The URL of the request that the browser is about to send; `None` when it is none that bursar knows.
    pub site: Option<Site>,
}

/// What became of redeeming a handle.
#[derive(Debug)]
pub enum Redeemed {
    /// It is exposed, on the disk: sign it.
    First {
        /// The payment.
        reservation: Box<Reservation>,
        /// To be filled in.
        blank: Blank,
    },
    /// It was signed for an earlier handle: these bytes again, which is no second payment.
    Again {
        /// The payment.
        reservation: Box<Reservation>,
        /// The bytes.
        signed: Box<Signed>,
        /// To be filled in.
        blank: Blank,
    },
    /// The same purchase is being made at this moment, and was not done while the asker was ready to wait.
    InFlight,
    /// The handle is not good for this.
    Not(Unredeemable),
    /// The rules, a limit, the session or a person say no by now. The handle stays as it is.
    Refused(Vec<Refusal>),
}

/// Why a handle is not good. Only the words are an error: it is an answer like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unredeemable {
    /// No handle of the session has this digest.
    #[error("no such handle is known in this session; call prepare_browser_payment")]
    Unknown,
    /// Its time is over, the vault was restarted since, or the same was bought anew.
    #[error("the handle is over and the money is not set aside any more; call prepare_browser_payment again")]
    Expired,
    /// It was redeemed.
    #[error("the handle was redeemed already, and is good once; attach_browser_payment tells how it ended")]
    Used,
    /// It is for another page.
    #[error("the handle is for another page; origin, path and query must be those that were prepared")]
    OtherPage,
    /// The rules tag or price the payment differently by now, so that it would count under other limits, or as other money,
    /// than it was held under.
    #[error("the operator changed the rules meanwhile; call prepare_browser_payment again")]
    OtherRules,
}

impl Unredeemable {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unknown => "handle_unknown",
            Self::Expired => "handle_expired",
            Self::Used => "handle_used",
            Self::OtherPage => "wrong_url",
            Self::OtherRules => "rules_changed",
        }
    }
}

/// A handle as its owner may see it.
#[derive(Clone, Debug)]
pub struct Handled {
    /// The page.
    pub site: Site,
    /// The payment, and what came of it so far.
    pub past: Past,
    /// Seconds until it is over; `None` once it was redeemed.
    pub open_for_s: Option<u64>,
}

impl Ledger {
    /// Like [`Ledger::authorize`], but only sets the money aside, for [`HANDLE_LIFE_S`] seconds: nobody may sign until
    /// the handle is redeemed. Money that is held for the same purchase comes back first, and its handle is over.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then nothing is set aside.
    pub fn hold(&self, claim: ClaimGuard, ask: Ask, drawn: Drawn, rules: &Arc<Rules>) -> Result<Held, LedgerFault> {
        let held = self.count(&claim, ask, rules, Purpose::Hold(drawn))?;
        Ok(match held {
            Err(reasons) => Held::No { claim, reasons },
            Ok(row) => {
                failpoint::reach("vault-held-committed");
                Held::Yes(Box::new(Prepared { receipt: row.receipt(false), expires_in_s: HANDLE_LIFE_S }))
            }
        })
    }

    /// A fresh handle for a payment that was signed and never answered; one that is open for it is over. Redeeming it
    /// gives the same bytes. The claim is given up.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then there is no such handle.
    pub fn prepare_again(&self, exposed: Reservation, drawn: Drawn) -> Result<Prepared, LedgerFault> {
        let id = exposed.payment().clone();
        self.writer.ask(move |tx| {
            let row = rows::by_id(tx.conn, &id)?;
            close_of(tx, &row)?;
            open(tx, &row, &drawn)?;
            let prepared = Prepared { receipt: row.receipt(true), expires_in_s: HANDLE_LIFE_S };
            Ok(Answer::Durable(prepared))
        })
    }

    /// Redeems a handle: judges and admits its payment again under `rules` as they are now, beside everything else that
    /// is counted, and exposes it; its life begins now. One transaction: a handle is redeemed once, or over.
    ///
    /// Waits up to `patience` for an identical purchase in flight. Whatever is answered but [`Redeemed::First`] and
    /// [`Redeemed::Again`], the handle is as good as it was.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then there must be no signature.
    pub fn redeem(&self, who: &Redeemer, rules: &Arc<Rules>, patience: Duration) -> Result<Redeemed, LedgerFault> {
        let wanted = who.clone();
        let found = self.writer.ask(move |tx| Ok(Answer::AtOnce(good(tx, &wanted)?)))?;
        let (_kept, payment) = match found {
            Ok(found) => found,
            Err(why) => return Ok(Redeemed::Not(why)),
        };
        // Nobody buys the same over the wire while a browser has it in hand, nor the other way round.
        let claim = match self.claims.take(&payment.session, payment.errand(), patience) {
            Taken::Mine(claim) => claim,
            Taken::StillInFlight => return Ok(Redeemed::InFlight),
            Taken::TooMany => return Ok(Redeemed::Refused(vec![Refusal::TooManyInFlight])),
        };
        let (wanted, rules) = (who.clone(), Arc::clone(rules));
        let redeemed = self.writer.ask(move |tx| redeem(tx, &wanted, &rules))?;
        Ok(match redeemed {
            Step::Not(why) => Redeemed::Not(why),
            Step::Refused(reasons) => {
                let price = Price::Judged(&payment.terms);
                self.note_refused(Source::Vault, Some(claim.session()), claim.errand(), price, &reasons);
                Redeemed::Refused(reasons)
            }
            Step::Taken(row, blank) => {
                failpoint::reach("vault-redeemed-committed");
                let signed = row.signed().map(Box::new);
                let exposed = Exposed { authorization: row.authorization(), terms: row.terms };
                let reservation = Box::new(Reservation { payment: row.id, claim, exposed });
                match signed {
                    Some(signed) => Redeemed::Again { reservation, signed, blank },
                    None => Redeemed::First { reservation, blank },
                }
            }
        })
    }

    /// What became of a handle of `session`.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn handled(&self, handle: Digest, session: SessionName) -> Result<Result<Handled, Unredeemable>, LedgerFault> {
        self.writer.ask(move |tx| {
            let (kept, payment) = match of_session(tx, &handle, &session)? {
                Ok(found) => found,
                Err(why) => return Ok(Answer::AtOnce(Err(why))),
            };
            let open_for_s = match kept.is_open(tx.now_s) {
                Ok(left_s) => Some(left_s),
                Err(Unredeemable::Used) => None,
                Err(why) => return Ok(Answer::AtOnce(Err(why))),
            };
            Ok(Answer::AtOnce(Ok(Handled { site: payment.site.clone(), past: payment.past(), open_for_s })))
        })
    }

    /// Ends every handle that is open, and gives back what is held: nobody knows who has them after a restart. Does not
    /// wait.
    pub(super) fn end_handles(&self) {
        self.writer.tell(|tx| end_every(tx, "the vault began anew"));
    }
}

/// One row of the table.
#[derive(Debug)]
struct Kept {
    digest: Digest,
    payment: String,
    state: String,
    blank: String,
    created_s: u64,
    expires_s: u64,
}

impl Kept {
    /// How many seconds it is good for still, or why it is not.
    fn is_open(&self, now_s: u64) -> Result<u64, Unredeemable> {
        match (self.state.as_str(), self.expires_s.checked_sub(now_s)) {
            ("redeemed", _) => Err(Unredeemable::Used),
            // One that was made in a future that a mistaken clock made up is no good either.
            ("open", Some(left_s)) if 0 < left_s && self.created_s <= now_s => Ok(left_s),
            _ => Err(Unredeemable::Expired),
        }
    }

    fn blank(&self) -> Result<Blank, LedgerFault> {
        serde_json::from_str(&self.blank).map_err(|_fault| unreadable())
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT digest, payment, state, blank, created_s, expires_s FROM handle ", $rest)
    };
}

pub(super) const BY_DIGEST: &str = select!("WHERE digest = ?1");
pub(super) const OPEN_OF_PAYMENT: &str = select!("WHERE state = 'open' AND payment = ?1");
pub(super) const DUE: &str = select!("WHERE state = 'open' AND expires_s <= ?1 ORDER BY expires_s LIMIT 64");
const EVERY_OPEN: &str = select!("WHERE state = 'open'");
/// Held money without an open handle, which nobody could ever let go of.
pub(super) const HELD_FOR_NOBODY: &str = "SELECT id FROM payment WHERE state IN ('held', 'exposed') AND state = 'held'
     AND NOT EXISTS (SELECT 1 FROM handle WHERE handle.payment = payment.id AND handle.state = 'open') LIMIT 1";

/// What a redeeming transaction came to.
enum Step {
    Taken(Box<Payment>, Blank),
    Not(Unredeemable),
    Refused(Vec<Refusal>),
}

fn redeem(tx: &Tx<'_>, who: &Redeemer, rules: &Rules) -> Result<Answer<Step>, LedgerFault> {
    let (kept, mut row) = match good(tx, who)? {
        Ok(found) => found,
        Err(why) => return Ok(Answer::AtOnce(Step::Not(why))),
    };
    if row.state != RowState::Held {
        let shut = standing::shut(tx, &row.session)?;
        if !shut.is_empty() {
            return Ok(Answer::AtOnce(Step::Refused(shut)));
        }
        // The same payment may have been answered over the wire, or have run out, since the handle was drawn.
        let waits = row.state == RowState::Exposed && row.signature.is_some() && !row.is_answered();
        if !waits || row.valid_before <= tx.now_s {
            return Ok(Answer::AtOnce(Step::Not(Unredeemable::Expired)));
        }
    } else {
        let decided = authorize::decide(tx, rules, &row.session, &row.errand(), &row.terms, row.payer, Some(&row))?;
        let admitted = match decided {
            Ok(admitted) => admitted,
            Err(reasons) => return Ok(Answer::AtOnce(Step::Refused(reasons))),
        };
        if *admitted.facts() != row.facts() {
            return Ok(Answer::AtOnce(Step::Not(Unredeemable::OtherRules)));
        }
        let timeout_s = row.terms.max_timeout_s;
        let Some(life) = validity(row.terms.version, tx.now_s, timeout_s, rules.max_lifetime_s()) else {
            return Ok(Answer::AtOnce(Step::Refused(vec![Refusal::LifetimeTooShort { life_s: timeout_s }])));
        };
        (row.valid_after, row.valid_before) = life;
        expose(tx, &row)?;
    }
    end(tx, &kept, "redeemed")?;
    failpoint::reach("vault-redeemed-uncommitted");
    Ok(Answer::Durable(Step::Taken(Box::new(row), kept.blank()?)))
}

/// Lets held money be signed for, with the life that `row` has now.
fn expose(tx: &Tx<'_>, row: &Payment) -> Result<(), LedgerFault> {
    let (after, before) = (to_sql(row.valid_after)?, to_sql(row.valid_before)?);
    tx.conn.execute(
        "UPDATE payment SET state = 'exposed', valid_after = ?1, valid_before = ?2, updated_s = ?3 WHERE id = ?4",
        bound![after, before, to_sql(tx.now_s)?, row.id.as_str()],
    )?;
    acquaintance::learn(tx.conn, row)?;
    prove::remember(tx.conn, &Payment { state: RowState::Exposed, ..row.clone() })?;
    sweep::written(tx, row, EventKind::Exposed, authorize::told(row, None))
}

/// A handle that may be redeemed by `who` for what the browser is about to ask, with its payment.
fn good(tx: &Tx<'_>, who: &Redeemer) -> Result<Result<(Kept, Payment), Unredeemable>, LedgerFault> {
    let (kept, payment) = match of_session(tx, &who.handle, &who.session)? {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    if let Err(why) = kept.is_open(tx.now_s) {
        return Ok(Err(why));
    }
    if who.site.as_ref() != Some(&payment.site) {
        return Ok(Err(Unredeemable::OtherPage));
    }
    Ok(Ok((kept, payment)))
}

fn of_session(
    tx: &Tx<'_>,
    handle: &Digest,
    name: &SessionName,
) -> Result<Result<(Kept, Payment), Unredeemable>, LedgerFault> {
    let Some(kept) = tx.conn.every(BY_DIGEST, bound![handle.to_string()], read)?.pop() else {
        return Ok(Err(Unredeemable::Unknown));
    };
    let payment = payment_of(tx, &kept)?;
    let owner = session::by_id(tx.conn, &payment.session)?.ok_or_else(unreadable)?;
    Ok(if owner.name == *name { Ok((kept, payment)) } else { Err(Unredeemable::Unknown) })
}

/// Opens a handle for a payment, from now on.
pub(super) fn open(tx: &Tx<'_>, payment: &Payment, drawn: &Drawn) -> Result<(), LedgerFault> {
    tx.conn.execute(
        "INSERT INTO handle (digest, payment, state, blank, created_s, expires_s) VALUES (?1, ?2, 'open', ?3, ?4, ?5)",
        bound![
            drawn.digest.to_string(),
            payment.id.as_str(),
            rows::json(&drawn.blank)?,
            to_sql(tx.now_s)?,
            to_sql(tx.now_s.saturating_add(HANDLE_LIFE_S))?,
        ],
    )?;
    Ok(())
}

/// Ends the open handle of a payment, where there is one, and gives the money back where it was only held.
pub(super) fn close_of(tx: &Tx<'_>, payment: &Payment) -> Result<(), LedgerFault> {
    for kept in tx.conn.every(OPEN_OF_PAYMENT, bound![payment.id.as_str()], read)? {
        close(tx, &kept, "the same was asked for again")?;
    }
    Ok(())
}

/// Ends at most 64 handles whose time is over; how many. Costs one index look-up when there is none.
pub(super) fn due(tx: &Tx<'_>) -> Result<usize, LedgerFault> {
    let found = tx.conn.every(DUE, bound![to_sql(tx.now_s)?], read)?;
    for kept in &found {
        close(tx, kept, "its handle ran out unused")?;
    }
    Ok(found.len())
}

/// Ends every open handle, for this reason, and gives back what is held.
pub(super) fn end_every(tx: &Tx<'_>, why: &str) -> Result<(), LedgerFault> {
    tx.conn.every(EVERY_OPEN, bound![], read)?.iter().try_for_each(|kept| close(tx, kept, why))
}

/// Counts everything that is held as if its handle had been redeemed at the last moment, and ends every handle: in books
/// that go on from an older state, a row that says held proves nothing.
pub(super) fn presume_redeemed(tx: &Tx<'_>) -> Result<(), LedgerFault> {
    for kept in tx.conn.every(EVERY_OPEN, bound![], read)? {
        let mut payment = payment_of(tx, &kept)?;
        if payment.state == RowState::Held {
            payment.valid_before = payment.valid_before.saturating_add(HANDLE_LIFE_S);
            expose(tx, &payment)?;
        }
        end(tx, &kept, "over")?;
    }
    Ok(())
}

/// Ends an open handle. What was only held is given back: nobody was ever asked to sign it, which the row itself proves,
/// since it was written before any signing.
fn close(tx: &Tx<'_>, kept: &Kept, why: &str) -> Result<(), LedgerFault> {
    end(tx, kept, "over")?;
    let payment = payment_of(tx, kept)?;
    if payment.state == RowState::Held { sweep::void(tx, &payment, why) } else { Ok(()) }
}

fn end(tx: &Tx<'_>, kept: &Kept, state: &str) -> Result<(), LedgerFault> {
    tx.conn.execute(
        "UPDATE handle SET state = ?1, ended_s = ?2 WHERE digest = ?3",
        bound![state, to_sql(tx.now_s)?, kept.digest.to_string()],
    )?;
    Ok(())
}

fn payment_of(tx: &Tx<'_>, kept: &Kept) -> Result<Payment, LedgerFault> {
    rows::by_id(tx.conn, &kept.payment.parse().map_err(|_fault| unreadable())?)
}

fn read(row: &Row<'_>) -> Result<Kept, LedgerFault> {
    Ok(Kept {
        digest: row.get::<String>(0)?.parse().map_err(|_fault| unreadable())?,
        payment: row.get(1)?,
        state: row.get(2)?,
        blank: row.get(3)?,
        created_s: from_sql(row.get(4)?)?,
        expires_s: from_sql(row.get(5)?)?,
    })
}

/// A payment that is held for nobody; `None` where the books are in order.
pub(super) fn held_for_nobody(conn: &Store) -> Result<Option<String>, LedgerFault> {
    conn.first(HELD_FOR_NOBODY, bound![], |row| row.get(0))
}

const fn unreadable() -> LedgerFault {
    LedgerFault::Unreadable { what: "handle" }
}
