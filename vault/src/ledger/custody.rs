//! Whose an open payment is, where several vaults share a ledger. Must never give one payment to two, nor let the money of
//! one go because its vault is silent.
//!
//! The vault that counts a payment has it, and only that one, in the same epoch, may put a signature on it. When a vault
//! was silent for longer than its lease, another takes over what it left open, once: in the transaction in which it does,
//! the old one loses it for good. The new one does what a vault does with its own payments after a restart: it ends handles,
//! whose money is held and provably never left, and offers signed bytes again. It never signs what another one counted.
//!
//! On a file there is one vault, and nothing of this is asked.

use bursar_policy::errand::PaymentId;

use super::events::EventKind;
use super::fault::LedgerFault;
use super::store::bound;
use super::writer::Tx;
use super::{handle, rows, sweep};

const TAKE: &str = "INSERT INTO custody (payment, vault, epoch) VALUES (?1, ?2, ?3)
     ON CONFLICT (payment) DO UPDATE SET vault = excluded.vault, epoch = excluded.epoch";
const OWN: &str = "SELECT 1 FROM custody WHERE payment = ?1 AND vault = ?2 AND epoch = ?3";
const OTHERS: &str = "SELECT 1 FROM custody JOIN vault ON vault.id = custody.vault AND vault.epoch = custody.epoch
     WHERE custody.payment = ?1 AND custody.vault <> ?2 AND ?3 < vault.until_s";
const LEFT: &str = "SELECT payment.id, custody.vault, custody.epoch, vault.host FROM payment
     JOIN custody ON custody.payment = payment.id JOIN vault ON vault.id = custody.vault
     WHERE payment.state IN ('held', 'exposed') AND (vault.until_s <= ?1 OR custody.epoch < vault.epoch)
     ORDER BY payment.seq LIMIT 64";
const ADOPT: &str = "UPDATE custody SET vault = ?1, epoch = ?2 WHERE payment = ?3 AND vault = ?4 AND epoch = ?5";

/// This vault counts `payment`, or lets go of it, in the open transaction.
pub(super) fn take(tx: &Tx<'_>, payment: &PaymentId) -> Result<(), LedgerFault> {
    if let Some(me) = tx.conn.tenure() {
        tx.conn.execute(TAKE, bound![payment.as_str(), *me.vault, me.epoch])?;
    }
    Ok(())
}

/// Whether this vault may still put its signature, or its word that there is none, on `payment`.
///
/// # Errors
///
/// [`LedgerFault::Elsewhere`] where it was silent for too long since it counted it.
pub(super) fn check(tx: &Tx<'_>, payment: &PaymentId) -> Result<(), LedgerFault> {
    match tx.conn.tenure() {
        Some(me) if !tx.conn.has(OWN, bound![payment.as_str(), *me.vault, me.epoch])? => Err(LedgerFault::Elsewhere),
        _ => Ok(()),
    }
}

/// Whether another vault has `payment` in hand and is not silent.
pub(super) fn is_anothers(tx: &Tx<'_>, payment: &PaymentId) -> Result<bool, LedgerFault> {
    match (tx.conn.tenure(), tx.conn.seen()) {
        (Some(me), Some(seen)) => {
            tx.conn.has(OTHERS, bound![payment.as_str(), *me.vault, super::number::to_sql(seen.now_s)?])
        }
        _ => Ok(false),
    }
}

/// Takes over at most 64 payments that silent vaults left open, each once; how many.
pub(super) fn adopt(tx: &Tx<'_>) -> Result<usize, LedgerFault> {
    let (Some(me), Some(seen)) = (tx.conn.tenure(), tx.conn.seen()) else { return Ok(0) };
    let left = tx.conn.every(LEFT, bound![super::number::to_sql(seen.now_s)?], |row| {
        Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<i64>(2)?, row.get::<String>(3)?))
    })?;
    let mut adopted: usize = 0;
    for (payment, vault, epoch, host) in left {
        if tx.conn.execute(ADOPT, bound![*me.vault, me.epoch, payment, vault, epoch])? != 1 {
            continue;
        }
        adopted = adopted.saturating_add(1);
        let id = payment.parse().map_err(|_fault| LedgerFault::Unreadable { what: "custody" })?;
        let row = rows::by_id(tx.conn, &id)?;
        let told = format!("taken over from vault {vault} on `{host}`, which was silent for too long");
        sweep::written(tx, &row, EventKind::Note, told)?;
        handle::close_of(tx, &row)?;
    }
    Ok(adopted)
}
