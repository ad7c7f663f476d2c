//! What a start looks at before anything is served, when there are too many events for a look at all of them: everything
//! that decides what may be spent now. Must never take the place of the whole check, which follows beside the work.
//!
//! Its cost grows with what is open and with the number of sessions, not with the number of payments.

use std::collections::{BTreeMap, BTreeSet};

use bursar_policy::errand::PaymentId;

use super::chain::{COLUMNS, Chain, Kept, Logged, books};
use super::{Books, as_told, everything, freeze, held, pardons, sessions, spoken};
use crate::ledger::events::{self, Head};
use crate::ledger::fault::LedgerFault;
use crate::ledger::number::{from_sql, narrow, to_sql};
use crate::ledger::rows::{self, Payment};
use crate::ledger::states::{self, Counts};
use crate::ledger::store::{Store, bound};
use crate::ledger::tally::{self, Tally, Used};
use crate::ledger::{Ledger, checkpoint, meta, open, rotation};

/// Up to so many events a start looks at all of them, and at all pages of the file: that takes a second or two.
pub(in crate::ledger) const FEW_EVENTS: u64 = 20_000;

/// So many of the newest events are read, with the rows that they tell of, where there are more.
const TAIL_EVENTS: u64 = 4_000;

const LAST_ENTRY: &str = "SELECT seq, at_s, total FROM spent WHERE key = ?1 ORDER BY at_s DESC, seq DESC LIMIT 1";

/// What a start looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// Everything.
    Whole(Box<Books>),
    /// What decides what may be spent now. The rest is to be looked at beside the work.
    Living,
}

impl Ledger {
    /// Checks the books before anything is served: all of them where there are few, else what decides what may be spent
    /// now: the end of the log, the rows that it tells of and those that are open, what is pending, where the totals that
    /// they count in end, every session, yes, pardon and freeze, and every change of the account that pays.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Books`] with the first thing that does not fit, or a fault of the storage.
    pub fn look(&self) -> Result<Looked, LedgerFault> {
        self.flush()?;
        let conn = open::open_to_read(&self.place)?;
        conn.begin_to_look()?;
        if meta::read(&conn)?.head.seq <= FEW_EVENTS {
            return everything(&conn, Kept::default(), &mut |_progress| ()).map(|books| Looked::Whole(Box::new(books)));
        }
        living(&conn).map(|()| Looked::Living)
    }
}

/// The bounded look.
fn living(conn: &Store) -> Result<(), LedgerFault> {
    let told_of = tail(conn)?;
    let mut pending: BTreeMap<String, Used> = BTreeMap::new();
    let mut keys: BTreeSet<String> = conn.every(tally::PENDING, bound![], |row| row.get(0))?.into_iter().collect();
    let mut look_at = |row: &Payment| {
        as_told(conn, row)?;
        let facts = row.facts();
        for key in facts.keys() {
            if states::counts(row.state) == Counts::AsPending {
                let sum = pending.entry(key.as_str().to_owned()).or_default();
                *sum = tally::plus(*sum, tally::one(key.as_str(), &facts))?;
            }
            keys.insert(key.as_str().to_owned());
        }
        Ok(())
    };
    for id in &told_of {
        let row = rows::by_id(conn, id)?;
        // Those that are open come below, each once.
        if states::counts(row.state) != Counts::AsPending {
            look_at(&row)?;
        }
    }
    rows::each_of(conn, rows::OPEN, bound![i64::MAX], |row| look_at(&row))?;
    for key in keys {
        total(conn, &key, pending.get(&key).copied().unwrap_or_default())?;
    }
    held(conn)?;
    pardons(conn)?;
    spoken(conn)?;
    freeze(conn)?;
    let (known, vouched) = (meta::read(conn)?, checkpoint::vouched(conn)?);
    rotation::hold_alone(conn, &known.ledger_id, known.key_address, vouched.key)?;
    sessions(conn)
}

/// The newest events follow one another up to where the ledger says that the log ends, checkpoints among them are signed
/// by its key. The payments that they tell of.
fn tail(conn: &Store) -> Result<BTreeSet<PaymentId>, LedgerFault> {
    let (known, vouched) = (meta::read(conn)?, checkpoint::vouched(conn)?);
    let from = known.head.seq.saturating_sub(TAIL_EVENTS);
    let hash = events::hash_at(conn, from)?.ok_or_else(|| books(&format!("event {from} is missing")))?;
    let kept = Kept { key: vouched.key, head: None };
    let mut chain = Chain::after(Head { seq: from, hash }, &known.ledger_id, kept);
    let mut payments = BTreeSet::new();
    conn.each(&format!("SELECT {COLUMNS} FROM event WHERE ?1 < seq ORDER BY seq"), bound![to_sql(from)?], |row| {
        let event = Logged::read(row)?;
        if let Some(payment) = &event.payment {
            payments.insert(payment.parse().map_err(|_fault| LedgerFault::Unreadable { what: "event" })?);
        }
        chain.next(&event)
    })?;
    if *chain.end()? != known.head {
        return Err(books("the log does not end where the ledger says it ends"));
    }
    if chain.last.is_some_and(|(seq, _)| seq != vouched.seq) {
        return Err(books("the checkpoints are not those that the log tells of"));
    }
    Ok(payments)
}

/// A total has this much pending, and ends where what was spent under its key ends.
fn total(conn: &Store, key: &str, pending: Used) -> Result<(), LedgerFault> {
    let found: Tally = tally::read(conn, key)?;
    if found.pending != pending {
        return Err(books(&format!("the total `{key}` is not the sum of its payments")));
    }
    let last = conn.first(LAST_ENTRY, bound![key], |row| {
        let spent = Used { atto: narrow(&row.get::<String>(2)?)?, count: from_sql(row.get(0)?)? };
        Ok((spent, from_sql(row.get(1)?)?))
    })?;
    if last.unwrap_or_default() != (found.spent, found.spent_last_s) {
        return Err(books(&format!("the entries of `{key}` do not end at its total")));
    }
    Ok(())
}
