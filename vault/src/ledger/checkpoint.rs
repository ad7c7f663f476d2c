//! Checkpoints: from time to time a signature over how far the log has come. Must never be made while the ledger is shut.
//!
//! A checkpoint is an event like any other, so the chain covers it and an export carries it. It signs the event right
//! before it. Whoever changes an event before a checkpoint has to change the hash that was signed, and cannot sign anew.

use bursar_policy::digest::Digest;

use super::Ledger;
use super::events::{self, Event, EventKind, Head};
use super::fault::LedgerFault;
use super::number::{from_sql, to_sql};
use super::store::{Store, bound};
use super::writer::Answer;
use crate::audit_key::{AuditKey, AuditPublic, AuditSignature};

/// After so many events a checkpoint is due.
pub const CHECKPOINT_EVENTS: u64 = 1000;

/// After so many seconds with anything new a checkpoint is due.
pub const CHECKPOINT_S: u64 = 900;

/// What a checkpoint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The ledger's id.
    pub ledger: String,
    /// How often the books were begun anew, from 1: a restore and a recovery begin an epoch.
    pub epoch: u64,
    /// The event up to which the log is signed.
    pub seq: u64,
    /// The hash of that event, which covers every event before it.
    pub hash: Digest,
    /// Ledger time, Unix seconds.
    pub at_s: u64,
    /// The key that signs.
    pub key: AuditPublic,
}

/// A checkpoint and its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// What is signed.
    pub checkpoint: Checkpoint,
    /// By the key that it names.
    pub signature: AuditSignature,
}

/// When a checkpoint is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Where there is something new and [`CHECKPOINT_EVENTS`] or [`CHECKPOINT_S`] have passed.
    Due,
    /// Where there is anything new.
    Now,
}

/// What became of the wish for a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkpointed {
    /// It is on the disk.
    Made(SignedCheckpoint),
    /// Nothing happened since this one.
    Already(SignedCheckpoint),
    /// None is due.
    NotDue,
    /// The ledger is shut, and nobody vouches for it before a person looked.
    Shut,
}

impl Checkpoint {
    /// The text that is signed, one line without its end.
    #[must_use]
    pub fn statement(&self) -> String {
        let Self { ledger, epoch, seq, hash, at_s, key } = self;
        format!("bursar checkpoint 1: ledger {ledger} epoch {epoch} event {seq} hash {hash} at {at_s} key {key}")
    }
}

impl SignedCheckpoint {
    /// The text of its event.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} signed {}", self.checkpoint.statement(), self.signature)
    }

    /// Reads [`SignedCheckpoint::line`]; `None` for anything else. Does not say whether the signature holds.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("bursar checkpoint 1: ")?.split(' ');
        let mut after = |name: &str| words.next().filter(|word| *word == name).and_then(|_name| words.next());
        let checkpoint = Checkpoint {
            ledger: after("ledger")?.to_owned(),
            epoch: after("epoch")?.parse().ok()?,
            seq: after("event")?.parse().ok()?,
            hash: after("hash")?.parse().ok()?,
            at_s: after("at")?.parse().ok()?,
            key: after("key")?.parse().ok()?,
        };
        let signed = Self { checkpoint, signature: after("signed")?.parse().ok()? };
        // One text for one checkpoint.
        (signed.line() == line).then_some(signed)
    }

    /// Whether the key that it names made the signature. Which key that has to be is the caller's to know.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checkpoint.key.made(&self.signature, &self.checkpoint.statement())
    }
}

/// How the log is vouched for, as the ledger keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vouched {
    pub(super) epoch: u64,
    pub(super) key: Option<AuditPublic>,
    /// The event that is the last checkpoint; 0 when there is none.
    pub(super) seq: u64,
    /// When that was, Unix seconds of ledger time.
    pub(super) at_s: u64,
}

pub(super) const VOUCHED: &str = "SELECT epoch, key, checkpoint_seq, checkpoint_s FROM audit WHERE id = 1";

/// Reads it.
pub(super) fn vouched(conn: &Store) -> Result<Vouched, LedgerFault> {
    let (epoch, key, seq, at_s) =
        conn.one(VOUCHED, bound![], |row| Ok((row.get(0)?, row.get::<Option<String>>(1)?, row.get(2)?, row.get(3)?)))?;
    let key = key.map(|key| key.parse()).transpose();
    let key = key.map_err(|_fault| LedgerFault::Unreadable { what: "audit key" })?;
    Ok(Vouched { epoch: from_sql(epoch)?, key, seq: from_sql(seq)?, at_s: from_sql(at_s)? })
}

/// Begins the next epoch, with the reason in the log. Which one it is.
pub(super) fn next_epoch(conn: &Store, now_s: u64, why: &str) -> Result<u64, LedgerFault> {
    let epoch = vouched(conn)?.epoch.saturating_add(1);
    conn.execute("UPDATE audit SET epoch = ?1 WHERE id = 1", bound![to_sql(epoch)?])?;
    events::append(conn, now_s, &Event::new(EventKind::EpochBegun, format!("epoch {epoch}: {why}")))?;
    Ok(epoch)
}

impl Ledger {
    /// Signs how far the log has come, if one is wanted, and returns when that is on the disk. The first key that signs
    /// is this ledger's for good.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::OtherAuditKey`], or another fault of the ledger.
    pub(crate) fn checkpoint(&self, key: AuditKey, when: When) -> Result<Checkpointed, LedgerFault> {
        let ledger = self.id.clone();
        self.writer.ask(move |tx| {
            if tx.latched {
                return Ok(Answer::AtOnce(Checkpointed::Shut));
            }
            let (Head { seq, hash }, last, public) = (events::head(tx.conn)?, vouched(tx.conn)?, key.public());
            if last.key.is_some_and(|known| known != public) {
                return Err(LedgerFault::OtherAuditKey);
            }
            let new = seq.saturating_sub(last.seq);
            if new == 0 {
                return Ok(Answer::Durable(Checkpointed::Already(at(tx.conn, last.seq)?)));
            }
            let is_due = CHECKPOINT_EVENTS <= new || CHECKPOINT_S <= tx.now_s.saturating_sub(last.at_s);
            if when == When::Due && !is_due {
                return Ok(Answer::AtOnce(Checkpointed::NotDue));
            }
            let checkpoint = Checkpoint { ledger, epoch: last.epoch, seq, hash, at_s: tx.now_s, key: public };
            let signed = SignedCheckpoint { signature: key.sign(&checkpoint.statement()), checkpoint };
            tx.event(&Event::new(EventKind::Checkpoint, signed.line()))?;
            let place = to_sql(events::head(tx.conn)?.seq)?;
            tx.conn.execute(
                "UPDATE audit SET key = ?1, checkpoint_seq = ?2, checkpoint_s = ?3 WHERE id = 1",
                bound![public.to_string(), place, to_sql(tx.now_s)?],
            )?;
            Ok(Answer::Durable(Checkpointed::Made(signed)))
        })
    }
}

fn at(conn: &Store, seq: u64) -> Result<SignedCheckpoint, LedgerFault> {
    let line: String = conn.one("SELECT detail FROM event WHERE seq = ?1", bound![to_sql(seq)?], |row| row.get(0))?;
    SignedCheckpoint::read(&line).ok_or(LedgerFault::Unreadable { what: "checkpoint" })
}
