//! Checking the books: the log's chain, the rows against the log, the totals against the rows. Must never repair.

use std::collections::BTreeMap;

use bursar_policy::digest::Digest;
use bursar_policy::errand::SessionId;
use bursar_policy::limit::TallyKey;
use bursar_policy::money::Currency;

use self::chain::{COLUMNS, Chain, Kept, Logged, books};
use super::checkpoint::{self, SignedCheckpoint};
use super::events::{self, EventKind};
use super::fault::LedgerFault;
use super::number::{from_sql, narrow};
use super::rows::{self, Payment};
use super::states::{self, Counts};
use super::store::{Store, bound};
use super::tally::{self, Tally, Used};
use super::{
    Ledger, acquaintance, approval, handle, meta, open, overdue, prove, returned, rotation, session, withdrawal,
};

pub(super) mod chain;
pub(super) mod living;

/// What a check found in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Books {
    /// Payments, of every state.
    pub payments: u64,
    /// Events.
    pub events: u64,
    /// The hash of the newest event: keep it elsewhere, and a ledger that was cut short cannot pass for this one.
    pub head: Digest,
    /// How often the books were begun anew, from 1.
    pub epoch: u64,
    /// Checkpoints, every one with a signature that holds.
    pub checkpoints: u64,
    /// The last one; what came after the event that it names is covered by the next one.
    pub signed: Option<SignedCheckpoint>,
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many events of so many.
    Events(u64, u64),
    /// So many payments of so many.
    Payments(u64, u64),
}

/// So many steps make one word of progress.
const STRIDE: u64 = 10_000;

const KEYS: &str = "SELECT key FROM tally";
const ENTRIES: &str = "SELECT spent.key, spent.seq, spent.at_s, spent.total, payment.money, payment.state, EXISTS
         (SELECT 1 FROM returned WHERE returned.payment = spent.payment AND returned.key = spent.key), payment.ended_s
     FROM spent JOIN payment ON payment.id = spent.payment ORDER BY spent.key, spent.at_s, spent.seq";
/// A name is in the words of an event where they are others without it.
const UNPARDONED: &str =
    "SELECT pardon.payment FROM pardon JOIN payment ON payment.id = pardon.payment WHERE NOT EXISTS
     (SELECT 1 FROM event WHERE event.payment = pardon.payment AND event.kind = ?1
      AND event.detail <> replace(event.detail, '`' || CASE WHEN pardon.scope = 'host' THEN payment.origin
                                                            ELSE payment.chain || ':' || payment.payee END || '`', ''))
     LIMIT 1";
const OPENINGS_AND_CLOSINGS: &str =
    "SELECT session, kind, detail, fact FROM event WHERE kind IN ('session_opened', 'session_closed')
     ORDER BY session, seq";

impl Ledger {
    /// Checks everything that was committed, on a connection of its own that can only read, while payments go on.
    ///
    /// It finds a change by anyone who did not also work out the whole chain of hashes anew; against that only a copy
    /// of [`Books::head`] kept elsewhere helps.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Books`] with the first thing that does not fit, or a fault of the storage.
    pub fn verify(&self) -> Result<Books, LedgerFault> {
        // What nobody waited for goes to the disk first, so that the check sees it.
        self.flush()?;
        let conn = open::open_to_read(&self.place)?;
        conn.begin_to_look()?;
        everything(&conn, Kept::default(), &mut |_progress| ())
    }
}

/// Checks a whole ledger, also against what is known of it from elsewhere.
pub(super) fn everything(conn: &Store, kept: Kept, progress: &mut dyn FnMut(Progress)) -> Result<Books, LedgerFault> {
    strangers(conn)?;
    let chain = log(conn, kept, progress)?;
    let head = chain.end()?;
    let payments = sums(conn, progress)?;
    entries(conn)?;
    proofs(conn)?;
    pardons(conn)?;
    acquaintances(conn)?;
    spoken(conn)?;
    held(conn)?;
    freeze(conn)?;
    sessions(conn)?;
    withdrawal::hold(conn)?;
    let (epoch, checkpoints) = (checkpoint::vouched(conn)?.epoch, chain.checkpoints);
    let (events, head) = (head.seq, head.hash);
    Ok(Books { payments, events, head, epoch, checkpoints, signed: chain.last.map(|(_, signed)| signed) })
}

/// Every row that another one names is there.
fn strangers(conn: &Store) -> Result<(), LedgerFault> {
    match conn.stranger()? {
        None => Ok(()),
        Some(place) => Err(books(&format!("{place} names a row that is not there: it was removed"))),
    }
}

/// Every event follows the one before, the last is the one that the ledger knows as its last, and what the ledger keeps of
/// its checkpoints is what the log says.
fn log(conn: &Store, kept: Kept, progress: &mut dyn FnMut(Progress)) -> Result<Chain, LedgerFault> {
    let known = meta::read(conn)?;
    let mut chain = Chain::after(events::Head { seq: 0, hash: Digest::of(b"") }, &known.ledger_id, kept);
    conn.each(&format!("SELECT {COLUMNS} FROM event ORDER BY seq"), bound![], |row| {
        let event = Logged::read(row)?;
        chain.next(&event)?;
        if event.seq.is_multiple_of(STRIDE) {
            progress(Progress::Events(event.seq, known.head.seq));
        }
        Ok(())
    })?;
    let head = chain.end()?;
    if head.seq < known.head.seq {
        let (last, marked) = (head.seq, known.head.seq);
        return Err(books(&format!("the log ends at event {last}, and had {marked}: what came after was cut off")));
    }
    if *head != known.head {
        return Err(books("the log does not end where the ledger says it ends"));
    }
    let kept = checkpoint::vouched(conn)?;
    let (seq, key) = (chain.last.as_ref().map_or(0, |(seq, _)| *seq), chain.key());
    if (kept.seq, kept.key) != (seq, key) || kept.epoch != chain.begun.saturating_add(1) {
        return Err(books("the checkpoints and epochs are not those that the log tells of"));
    }
    rotation::hold(conn, &chain.rotations, known.key_address)?;
    Ok(chain)
}

/// Every row is as its last event says, and all rows together are the running totals. How many rows there are.
fn sums(conn: &Store, progress: &mut dyn FnMut(Progress)) -> Result<u64, LedgerFault> {
    let all = from_sql(conn.one("SELECT count(*) FROM payment", bound![], |row| row.get(0))?)?;
    let mut expected: BTreeMap<String, (Used, Used)> = BTreeMap::new();
    let mut payments: u64 = 0;
    rows::each(conn, |row| {
        payments = payments.saturating_add(1);
        if payments.is_multiple_of(STRIDE) {
            progress(Progress::Payments(payments, all));
        }
        as_told(conn, &row)?;
        if acquaintance::counts(&row) && !acquaintance::is_learnt(conn, &row)? {
            return Err(books(&format!("what payment `{}` says of its host is not known", row.id)));
        }
        let facts = row.facts();
        if overdue::is(&row) {
            for subject in overdue::subjects(&facts) {
                if overdue::counts(conn, &row.id, subject.scope)? {
                    let (pending, _) = expected.entry(subject.key()).or_default();
                    *pending = tally::plus(*pending, tally::ONE)?;
                }
            }
        }
        for key in facts.keys() {
            let one = tally::one(key.as_str(), &facts);
            let (pending, spent) = expected.entry(key.as_str().to_owned()).or_default();
            match states::counts(row.state) {
                Counts::AsPending => *pending = tally::plus(*pending, one)?,
                Counts::AsSpent => *spent = tally::plus(*spent, one)?,
                // What lapsed after it was counted as spent is still in what was spent, and beside it as returned.
                Counts::Not if returned::holds(conn, row.id.as_str())? => *spent = tally::plus(*spent, one)?,
                Counts::Not => {}
            }
        }
        Ok(())
    })?;
    for key in conn.every(KEYS, bound![], |row| row.get::<String>(0))? {
        let Tally { pending, spent, .. } = tally::read(conn, &key)?;
        // What is overdue no longer leaves a total of nothing.
        if expected.remove(&key).unwrap_or_default() != (pending, spent) {
            return Err(books(&format!("the total `{key}` is not the sum of its payments")));
        }
    }
    match expected.into_keys().next() {
        None => Ok(payments),
        Some(key) => Err(books(&format!("the total `{key}` is missing"))),
    }
}

/// Every spent payment is written down once under every key, in order, with the right sum and at the time it ended.
fn entries(conn: &Store) -> Result<(), LedgerFault> {
    let mut last: BTreeMap<String, (Used, u64)> = BTreeMap::new();
    conn.each(ENTRIES, bound![], |row| {
        let key: String = row.get(0)?;
        let at_s = from_sql(row.get(2)?)?;
        let total = Used { atto: narrow(&row.get::<String>(3)?)?, count: from_sql(row.get(1)?)? };
        let state = states::from_word(&row.get::<String>(5)?);
        let money = if key.ends_with("|*") { 0 } else { narrow(&row.get::<String>(4)?)? };
        let (before, before_s) = last.get(&key).copied().unwrap_or_default();
        let counted = state.map(states::counts) == Some(Counts::AsSpent);
        let ended_s = row.get::<Option<i64>>(7)?.map(from_sql).transpose()?.unwrap_or_default();
        // It is spent when the payment ended, in the order in which that was written down. What lapsed ended once more.
        let in_time = if counted { at_s == before_s.max(ended_s) } else { before_s <= at_s };
        let right =
            counted != row.get::<bool>(6)? && tally::plus(before, Used { atto: money, count: 1 })? == total && in_time;
        if !right {
            return Err(books(&format!("entry {} of `{key}` is wrong", total.count)));
        }
        last.insert(key, (total, at_s));
        Ok(())
    })?;
    for key in conn.every(KEYS, bound![], |row| row.get::<String>(0))? {
        let tally = tally::read(conn, &key)?;
        if last.get(&key).copied().unwrap_or_default() != (tally.spent, tally.spent_last_s) {
            return Err(books(&format!("the entries of `{key}` do not end at its total")));
        }
    }
    Ok(())
}

/// What was returned is what lapsed after it was spent, and what lapsed is proved.
fn proofs(conn: &Store) -> Result<(), LedgerFault> {
    if let Some(key) = returned::misfit(conn)? {
        return Err(books(&format!("what was returned to `{key}` is not what lapsed")));
    }
    match prove::misfit(conn)? {
        None => Ok(()),
        Some(id) => Err(books(&format!("payment `{id}` is not as its proof says"))),
    }
}

/// Whatever a person put up with, for the host or for the payee, is in the log of that payment: whom for is in the words
/// of the event, between backticks.
fn pardons(conn: &Store) -> Result<(), LedgerFault> {
    match conn.first(UNPARDONED, bound![EventKind::Resumed.name()], |row| row.get::<String>(0))? {
        None => Ok(()),
        Some(id) => Err(books(&format!("nobody put up with the loss of payment `{id}`, by the log"))),
    }
}

/// Whatever is known of a host is what a payment says.
fn acquaintances(conn: &Store) -> Result<(), LedgerFault> {
    match acquaintance::made_up(conn)? {
        None => Ok(()),
        Some(origin) => Err(books(&format!("no payment says what is known of `{origin}`"))),
    }
}

/// Whatever a person is said to have said is told by the log.
fn spoken(conn: &Store) -> Result<(), LedgerFault> {
    match approval::untold(conn)? {
        None => Ok(()),
        Some(id) => Err(books(&format!("nobody said what stands under `{id}`, by the log"))),
    }
}

/// For whatever is held a handle is open.
fn held(conn: &Store) -> Result<(), LedgerFault> {
    match handle::held_for_nobody(conn)? {
        None => Ok(()),
        Some(id) => Err(books(&format!("payment `{id}` is held and no handle is open for it"))),
    }
}

/// Spending is frozen where the log ends in a freeze that nobody thawed, and nowhere else.
fn freeze(conn: &Store) -> Result<(), LedgerFault> {
    let sql = "SELECT kind FROM event WHERE kind IN ('frozen', 'thawed') ORDER BY seq DESC LIMIT 1";
    let last: Option<String> = conn.first(sql, bound![], |row| row.get(0))?;
    if (last.as_deref() == Some(EventKind::Frozen.name())) != meta::frozen(conn)?.is_some() {
        return Err(books("spending is not frozen or thawed as the log says"));
    }
    Ok(())
}

/// Every session is as the log says that a person opened it, its mandate included, open as long as nobody closed it,
/// and has spent no more.
fn sessions(conn: &Store) -> Result<(), LedgerFault> {
    let told = openings_and_closings(conn)?;
    conn.each("SELECT id, currency FROM session", bound![], |row| {
        let unreadable = LedgerFault::Unreadable { what: "session" };
        let id: SessionId = row.get::<String>(0)?.parse().map_err(|_fault| unreadable.clone())?;
        let currency: Currency = row.get::<String>(1)?.parse().map_err(|_fault| unreadable.clone())?;
        let Some(told) = told.get(id.as_str()) else {
            return Err(books(&format!("nobody opened session `{id}`, by the log")));
        };
        let fact = session::fact(conn, &id)?.to_string();
        if told.fact.as_ref().is_some_and(|told| *told != fact) {
            return Err(books(&format!("session `{id}` or its mandate is not as the log says")));
        }
        let found = session::by_id(conn, &id)?.ok_or(unreadable)?;
        let in_words = told.detail == session::opened_before_version_3(&found) && found.mandate.is_none();
        if (told.fact.is_none() && !in_words) || told.closed != found.closed {
            return Err(books(&format!("session `{id}` is not as the log says")));
        }
        let spent = session::spent(conn, &found)?;
        if !spent.is_within(found.budget) {
            let key = TallyKey::of_session(&id, currency);
            return Err(books(&format!("`{key}` is over its budget of {}", found.budget)));
        }
        Ok(())
    })
}

/// What the log says of one session.
#[derive(Debug, Default)]
struct Told {
    detail: String,
    fact: Option<String>,
    closed: bool,
}

/// What the log says of each session: how it was opened, and whether it was closed.
fn openings_and_closings(conn: &Store) -> Result<BTreeMap<String, Told>, LedgerFault> {
    let mut told: BTreeMap<String, Told> = BTreeMap::new();
    conn.each(OPENINGS_AND_CLOSINGS, bound![], |row| {
        let Some(session) = row.get::<Option<String>>(0)? else { return Ok(()) };
        let of_session = told.entry(session).or_default();
        if row.get::<String>(1)? == EventKind::SessionOpened.name() {
            (of_session.detail, of_session.fact) = (row.get(2)?, row.get(3)?);
        } else {
            of_session.closed = true;
        }
        Ok(())
    })?;
    Ok(told)
}

/// A row is as its last event says.
fn as_told(conn: &Store, row: &Payment) -> Result<(), LedgerFault> {
    let sql = "SELECT fact FROM event WHERE payment IS NOT NULL AND payment = ?1 ORDER BY seq DESC LIMIT 1";
    let told = conn.first(sql, bound![row.id.as_str()], |row| row.get::<Option<String>>(0))?.flatten();
    if told != Some(rows::fact(conn, &row.id)?.to_string()) {
        return Err(books(&format!("payment `{}` is not as the log says", row.id)));
    }
    Ok(())
}
