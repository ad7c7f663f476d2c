//! What the wallet holds, as a chain said last. Must never be on the disk, and never makes anything payable that is not.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bursar_policy::chain::{Address, AssetId};
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

/// The balances that are known, of each account apart: what one holds says nothing of the next one, and a reading of an
/// account that was handed on meanwhile comes too late for both.
#[derive(Debug, Default)]
pub(super) struct Purse(Mutex<BTreeMap<(Address, AssetId), Holding>>);

impl Purse {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<(Address, AssetId), Holding>> {
        // Each change is one call on the map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, holder: Address, asset: &AssetId, now_s: u64) -> Option<Holding> {
        self.kept().get(&(holder, *asset)).copied().filter(|reading| now_s < reading.until_s)
    }
}

impl Ledger {
    /// Keeps what a chain says that `holder` holds of `asset`.
    pub fn note_balance(&self, holder: Address, asset: AssetId, reading: Holding) {
        self.shared.purse.kept().insert((holder, asset), reading);
    }

    /// What `holder` holds of `asset`, where that is known and not too old.
    #[must_use]
    pub fn balance(&self, holder: Address, asset: &AssetId) -> Option<Holding> {
        self.shared.purse.at(holder, asset, self.time().now_s)
    }
}

/// What would be left of `asset` to `payer` if everything were cashed that may be: what is pending, and what was spent about since
/// the balance was read, which that may not have seen; but for a payment with `own` facts, which is asked about. `None`
/// while the balance is not known.
pub(super) fn left(
    tx: &Tx<'_>,
    payer: Option<Address>,
    asset: &AssetId,
    own: Option<&PaymentFacts>,
) -> Result<Option<Money>, LedgerFault> {
    let known = payer.and_then(|payer| tx.purse.at(payer, asset, tx.now_s));
    let Some(Holding { money, read_s, .. }) = known else { return Ok(None) };
    let key = TallyKey::of_asset(asset, money.currency());
    let taken = tally::used(tx.conn, key.as_str(), Some(read_s.saturating_sub(EXPIRY_MARGIN_S)))?;
    let taken = tally::without(taken, key.as_str(), own)?;
    Ok(Some(money.saturating_sub(Money::new(money.currency(), taken.atto))))
}
