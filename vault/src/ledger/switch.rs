//! The switches a person has: freeze, thaw, unlatch, and the key the ledger counts for. Must never be reachable by an
//! agent.

use bursar_policy::chain::Address;

use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::writer::Answer;
use super::{Ledger, meta, withdrawal};

/// The longest reason that is kept, in bytes.
const REASON_MAX_BYTES: usize = 1024;

impl Ledger {
    /// Stops all spending; what is counted stays counted. A second freeze replaces the reason.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then spending may go on, so try again or stop the vault.
    pub fn freeze(&self, reason: &str) -> Result<(), LedgerFault> {
        let mut end = reason.len().min(REASON_MAX_BYTES);
        while !reason.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let reason = reason.get(..end).unwrap_or_default().to_owned();
        self.writer.ask(move |tx| {
            meta::set_frozen(tx.conn, Some(&reason))?;
            tx.event(&Event::new(EventKind::Frozen, reason))?;
            Ok(Answer::Durable(()))
        })
    }

    /// Lets spending go on. The caller has checked the passphrase.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::SweepLive`] while a sweep may take the money of the account that pays, or a fault of the ledger; then
    /// spending stays frozen.
    pub fn thaw(&self) -> Result<(), LedgerFault> {
        self.writer.ask(|tx| {
            if meta::frozen(tx.conn)?.is_none() {
                return Ok(Answer::AtOnce(()));
            }
            withdrawal::may_thaw(tx)?;
            meta::set_frozen(tx.conn, None)?;
            tx.event(&Event::new(EventKind::Thawed, "a person allowed spending again"))?;
            Ok(Answer::Durable(()))
        })
    }

    /// Lets payments go on after a fault or a jump of the clock: opens the file anew, checks all of it, takes the
    /// person's word that the wall clock is right. The caller has checked the passphrase.
    ///
    /// # Errors
    ///
    /// What the check found; then the ledger stays shut.
    pub fn unlatch(&self) -> Result<(), LedgerFault> {
        self.writer.recheck()
    }

    /// Shuts the ledger for payments until [`Ledger::unlatch`], for a fault that was found outside it.
    pub fn latch(&self, reason: &str) {
        self.shared.latch.shut(reason.to_owned());
        // Any write carries the latch to the disk.
        self.note(Event::new(EventKind::Note, "payments are shut from outside the ledger"));
    }

    /// Binds the ledger to the account it counts for; only `Ledger::rotate` changes it after that. The same account again changes nothing.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::OtherKey`] when it counts for another account.
    pub fn bind_key(&self, address: Address) -> Result<(), LedgerFault> {
        self.writer.ask(move |tx| match meta::read(tx.conn)?.key_address {
            Some(known) if known == address => Ok(Answer::AtOnce(())),
            Some(known) => Err(LedgerFault::OtherKey { ledger: known.to_string(), key: address.to_string() }),
            None => {
                meta::bind_key(tx.conn, address)?;
                tx.event(&Event::new(EventKind::KeyBound, address.to_string()))?;
                Ok(Answer::Durable(()))
            }
        })
    }

    /// The account the ledger counts for.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn key_address(&self) -> Result<Option<Address>, LedgerFault> {
        self.writer.ask(|tx| Ok(Answer::AtOnce(meta::read(tx.conn)?.key_address)))
    }

    /// Adds an event without waiting for the disk. It is there at the latest when the ledger is closed in order.
    pub fn note(&self, event: Event) {
        self.writer.tell(move |tx| tx.event(&event));
    }
}
