//! Copies of the ledger under a passphrase, and a ledger from one. Must never put an older state in the place of a newer
//! one, nor a second ledger beside a key.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use super::anew::{self, Begun};
use super::audit::chain::Kept;
use super::audit::{self, Books};
use super::events;
use super::fault::LedgerFault;
use super::inspect::Inspector;
use super::meta::{self, Meta};
use super::open::{self, LedgerPlace, Lock};
use super::store::Store;
use crate::clock::TimeSource;
use crate::protocol::Passphrase;
use crate::sealed::{self, SealFault};

/// Writes a copy of the ledger at `place`, as it is at this moment, to the new file `out`. A vault may be running.
///
/// The copy is checked before it is sealed. It holds no key, and it holds what the ledger holds: the signatures of payments
/// too, which is why it is sealed.
///
/// # Errors
///
/// What is wrong with the ledger, or [`LedgerFault::Sealed`].
pub(crate) fn write(place: &LedgerPlace, sealed_with: &Passphrase, out: &mut File) -> Result<Books, LedgerFault> {
    // Never the name of a draft that a restore or a recovery may have: this one runs beside anything.
    let copy = open::scratch(&place.file)?;
    let made = open::copy_into(place, &copy).and_then(|()| {
        let conn = Store::Sqlite(open::connect(&copy)?);
        let books = audit::everything(&conn, Kept::default(), &mut |_progress| ())?;
        drop(conn);
        let mut from = BufReader::new(File::open(&copy).map_err(|fault| sealing(&fault.into()))?);
        let sealed = sealed::seal(&mut from, &mut BufWriter::new(&mut *out), sealed_with, place.setting);
        sealed.and_then(|()| Ok(out.sync_all()?)).map_err(|fault| sealing(&fault))?;
        Ok(books)
    });
    anew::clear(&copy);
    made
}

impl Lock {
    /// Makes the backup `from` the ledger at `place` and begins an epoch in it. Where there is a ledger already it has to be
    /// an earlier state of the same one, and is kept beside.
    ///
    /// `ledger` is the id that the keystore names.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::OtherLedger`] for a backup of another ledger, [`LedgerFault::NotOlder`] where the one here has gone as
    /// far or further, [`LedgerFault::WentApart`] where it went another way, [`LedgerFault::Sealed`], or what is wrong with either. Then nothing was changed.
    pub(crate) fn restore(
        &self,
        place: &LedgerPlace,
        ledger: &str,
        from: &Path,
        sealed_with: &Passphrase,
        time: Box<dyn TimeSource>,
    ) -> Result<Begun, LedgerFault> {
        let draft = open::draft(&place.file)?;
        let restored = unseal(from, &draft, sealed_with).and_then(|()| {
            let conn = open::open_draft(&draft, place)?;
            let known = meta::read(&conn)?;
            if known.ledger_id != ledger {
                return Err(LedgerFault::OtherLedger { path: from.to_owned() });
            }
            may_replace(place, &conn, &known)?;
            let begun = anew::begin(&conn, place, time, "it was restored from a backup")?;
            conn.close()?;
            let kept = anew::put_in_place(&draft, place)?;
            Ok(Begun { kept, ..begun })
        });
        anew::clear(&draft);
        restored
    }
}

fn unseal(from: &Path, draft: &Path, sealed_with: &Passphrase) -> Result<(), LedgerFault> {
    let system = |fault: std::io::Error| sealing(&fault.into());
    let mut sealed = BufReader::new(File::open(from).map_err(system)?);
    let mut to = BufWriter::new(File::options().write(true).truncate(true).open(draft).map_err(system)?);
    sealed::open(&mut sealed, &mut to, sealed_with).map_err(|fault| sealing(&fault))
}

/// Whether the ledger that is at `place`, if any, is an earlier state of the backup on `conn`: the backup's log goes on where
/// that one ends.
fn may_replace(place: &LedgerPlace, conn: &Store, backup: &Meta) -> Result<(), LedgerFault> {
    let here = match Inspector::open(place) {
        Err(LedgerFault::Missing { .. }) => return Ok(()),
        found => found?,
    };
    let (path, here) = (place.file.clone(), here.identity());
    if here.ledger != backup.ledger_id {
        return Err(LedgerFault::OtherLedger { path });
    }
    if backup.head.seq <= here.events {
        return Err(LedgerFault::NotOlder { path, here: here.events, there: backup.head.seq });
    }
    if events::hash_at(conn, here.events)? != Some(here.head) {
        return Err(LedgerFault::WentApart { path });
    }
    Ok(())
}

fn sealing(fault: &SealFault) -> LedgerFault {
    LedgerFault::Sealed { detail: fault.to_string(), code: fault.code() }
}
