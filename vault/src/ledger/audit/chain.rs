//! The log, event by event: each follows the one before, and every checkpoint is signed. Must never read another table, so
//! that it holds for an export without the ledger as well.

use bursar_policy::digest::Digest;
use serde::{Deserialize, Serialize};

use crate::audit_key::AuditPublic;
use crate::ledger::checkpoint::SignedCheckpoint;
use crate::ledger::events::{self, EventKind, Head, Link};
use crate::ledger::fault::LedgerFault;
use crate::ledger::number::from_sql;
use crate::ledger::rotation::{Rotation, SignedRotation};
use crate::ledger::store::Row;

/// One event with everything that its hash covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// Its place in the log, from 1, without gaps.
    pub seq: u64,
    /// Ledger time, Unix seconds.
    pub at_s: u64,
    /// What happened, a stable word.
    pub kind: String,
    /// The payment it concerns.
    pub payment: Option<String>,
    /// The id of the session it concerns.
    pub session: Option<String>,
    /// Details in plain words, one line of printable ASCII.
    pub detail: String,
    /// The digest of the row that it tells of, as that was then.
    pub fact: Option<String>,
    /// The hash of the event before.
    pub prev: String,
    /// Its own hash.
    pub hash: String,
}

/// The columns of an event in the order of [`Logged`].
pub(in crate::ledger) const COLUMNS: &str = "seq, at_s, kind, payment, session, detail, fact, prev, hash";

impl Logged {
    /// Reads a row of [`COLUMNS`].
    pub(in crate::ledger) fn read(row: &Row<'_>) -> Result<Self, LedgerFault> {
        Ok(Self {
            seq: from_sql(row.get(0)?)?,
            at_s: from_sql(row.get(1)?)?,
            kind: row.get(2)?,
            payment: row.get(3)?,
            session: row.get(4)?,
            detail: row.get(5)?,
            fact: row.get(6)?,
            prev: row.get(7)?,
            hash: row.get(8)?,
        })
    }
}

/// What is known from elsewhere and has to be so here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The key that signs checkpoints.
    pub key: Option<AuditPublic>,
    /// The hash of an event that was kept.
    pub head: Option<Digest>,
}

/// The log as far as it was read.
#[derive(Debug)]
pub(in crate::ledger) struct Chain {
    ledger: String,
    kept: Kept,
    head: Head,
    found_kept: bool,
    /// Epochs that were begun.
    pub(in crate::ledger) begun: u64,
    /// How many checkpoints there are.
    pub(in crate::ledger) checkpoints: u64,
    /// Each change of the account that pays.
    pub(in crate::ledger) rotations: Vec<Rotation>,
    /// The keys that sign checkpoints, one after another, and the event that tells of each first.
    keys: Vec<(u64, AuditPublic)>,
    /// The last checkpoint's own place, and what it says.
    pub(in crate::ledger) last: Option<(u64, SignedCheckpoint)>,
}

impl Chain {
    /// The log of `ledger` after `from`.
    pub(in crate::ledger) fn after(from: Head, ledger: &str, kept: Kept) -> Self {
        let found_kept = kept.head.is_none_or(|hash| hash == from.hash);
        Self {
            ledger: ledger.to_owned(),
            kept,
            head: from,
            found_kept,
            begun: 0,
            checkpoints: 0,
            rotations: Vec::new(),
            keys: Vec::new(),
            last: None,
        }
    }

    /// The next event, which has to follow.
    pub(in crate::ledger) fn next(&mut self, event: &Logged) -> Result<(), LedgerFault> {
        let seq = event.seq;
        let expected = self.head.seq.checked_add(1).ok_or_else(|| books("the log is too long to be counted"))?;
        if expected < seq {
            return Err(books(&format!("event {expected} is missing: the next one is {seq}")));
        }
        if seq < expected {
            return Err(books(&format!("event {seq} stands where event {expected} should be")));
        }
        if event.prev != self.head.hash.to_string() {
            return Err(books(&format!("event {seq} does not follow the one before it: one of the two was changed")));
        }
        let hash = events::link(&Link {
            prev: &self.head.hash,
            seq,
            at_s: event.at_s,
            kind: &event.kind,
            payment: event.payment.as_deref(),
            session: event.session.as_deref(),
            detail: &event.detail,
            fact: event.fact.as_deref(),
        });
        if event.hash != hash.to_string() {
            return Err(books(&format!("event {seq} was changed: it does not have the hash that it had")));
        }
        if event.kind == EventKind::Checkpoint.name() {
            self.checkpoint(event)?;
        }
        if event.kind == EventKind::KeyRotated.name() {
            self.rotation(event)?;
        }
        self.begun = self.begun.saturating_add(u64::from(event.kind == EventKind::EpochBegun.name()));
        self.found_kept |= self.kept.head == Some(hash);
        self.head = Head { seq, hash };
        Ok(())
    }

    /// A checkpoint signs the event before it, in this ledger, by one key until that hands on to the next.
    fn checkpoint(&mut self, event: &Logged) -> Result<(), LedgerFault> {
        let seq = event.seq;
        let read = SignedCheckpoint::read(&event.detail);
        let signed = read.ok_or_else(|| books(&format!("event {seq} is no checkpoint that anybody signed")))?;
        let said = &signed.checkpoint;
        self.is_by(seq, said.key)?;
        if said.ledger != self.ledger || (said.seq, said.hash) != (self.head.seq, self.head.hash) {
            return Err(books(&format!("the checkpoint in event {seq} is of another log than this one")));
        }
        if !signed.holds() {
            return Err(books(&format!("the checkpoint in event {seq} is not signed by the key that it names")));
        }
        self.checkpoints = self.checkpoints.saturating_add(1);
        self.last = Some((seq, signed));
        Ok(())
    }

    /// A change of the account signs the event before it, by the key that signed until then and by the next one.
    fn rotation(&mut self, event: &Logged) -> Result<(), LedgerFault> {
        let seq = event.seq;
        let read = SignedRotation::read(&event.detail);
        let signed =
            read.ok_or_else(|| books(&format!("event {seq} is no change of the account that anybody signed")))?;
        let said = &signed.rotation;
        self.is_by(seq, said.key)?;
        if said.ledger != self.ledger || (said.seq, said.hash) != (self.head.seq, self.head.hash) {
            return Err(books(&format!("the change of the account in event {seq} is of another log than this one")));
        }
        if self.rotations.last().is_some_and(|before| before.to != said.from) {
            return Err(books(&format!("the change of the account in event {seq} is not from the one that paid")));
        }
        if !signed.holds() {
            return Err(books(&format!("the change of the account in event {seq} is not signed by both of its keys")));
        }
        self.keys.push((seq, said.next));
        self.rotations.push(signed.rotation);
        Ok(())
    }

    /// The key that signs at this place is the one that signed before, or the first.
    fn is_by(&mut self, seq: u64, key: AuditPublic) -> Result<(), LedgerFault> {
        match self.keys.last() {
            Some((_, known)) if *known != key => {
                Err(books(&format!("the signature in event {seq} is by another key, `{key}`")))
            }
            Some(_) => Ok(()),
            None => {
                self.keys.push((seq, key));
                Ok(())
            }
        }
    }

    /// The key that signs what comes next, as far as anything was signed.
    pub(in crate::ledger) fn key(&self) -> Option<AuditPublic> {
        self.keys.last().map(|(_, key)| *key)
    }

    /// Where it ends; a fault when what was kept of it was not in it. A key that was kept may be any of those that handed on
    /// to one another: both sign each change, so that each vouches for the others.
    pub(in crate::ledger) fn end(&self) -> Result<&Head, LedgerFault> {
        if let (Some(kept), Some((seq, first))) = (self.kept.key, self.keys.first())
            && self.keys.iter().all(|(_, key)| *key != kept)
        {
            return Err(books(&format!("the signature in event {seq} is by another key, `{first}`")));
        }
        if self.found_kept {
            return Ok(&self.head);
        }
        Err(books("no event has the hash that was kept: the log was cut off before it, or written anew"))
    }
}

/// A fault of the books.
pub(in crate::ledger) fn books(detail: &str) -> LedgerFault {
    LedgerFault::Books { detail: detail.to_owned() }
}
