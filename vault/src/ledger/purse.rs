//! What the wallet holds, as a chain said last. Must never be on the disk, and never makes anything payable that is not.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bursar_policy::chain::AssetId;
use bursar_policy::limit::{PaymentFacts, TallyKey};
use bursar_policy::money::Money;

use super::fault::LedgerFault;
use super::states::EXPIRY_MARGIN_S;
use super::writer::Tx;
use super::{Ledger, tally};

/// One balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The balance at par.
    pub money: Money,
    /// When it was asked for, Unix seconds of ledger time.
    pub read_s: u64,
    /// The first second at which it is too old to go by.
    pub until_s: u64,
}

/// The balances that are known.
#[derive(Debug, Default)]
pub(super) struct Purse(Mutex<BTreeMap<AssetId, Holding>>);

impl Purse {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<AssetId, Holding>> {
        // Each change is one call on the map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, asset: &AssetId, now_s: u64) -> Option<Holding> {
        self.kept().get(asset).copied().filter(|reading| now_s < reading.until_s)
    }
}

impl Ledger {
    /// Keeps what a chain says that the wallet holds of `asset`.
    pub fn note_balance(&self, asset: AssetId, reading: Holding) {
        self.shared.purse.kept().insert(asset, reading);
    }

    /// What the wallet holds of `asset`, where that is known and not too old.
    #[must_use]
    pub fn balance(&self, asset: &AssetId) -> Option<Holding> {
        self.shared.purse.at(asset, self.time().now_s)
    }
}

/// What would be left of `asset` if everything were cashed that may be: what is pending, and what was spent about since
/// the balance was read, which that may not have seen; but for a payment with `own` facts, which is asked about. `None`
/// while the balance is not known.
pub(super) fn left(tx: &Tx<'_>, asset: &AssetId, own: Option<&PaymentFacts>) -> Result<Option<Money>, LedgerFault> {
    let Some(Holding { money, read_s, .. }) = tx.purse.at(asset, tx.now_s) else { return Ok(None) };
    let key = TallyKey::of_asset(asset, money.currency());
    let taken = tally::used(tx.conn, key.as_str(), Some(read_s.saturating_sub(EXPIRY_MARGIN_S)))?;
    let taken = tally::without(taken, key.as_str(), own)?;
    Ok(Some(money.saturating_sub(Money::new(money.currency(), taken.atto))))
}
