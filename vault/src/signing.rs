//! A counted payment gets its signature, which is on the disk before anybody hears of it. Must never sign twice.

use crate::ledger::{LedgerFault, NotSigned, Reservation};
use crate::protocol::Signed;
use crate::sign::{Key, SignFault};
use crate::vault::Vault;
use bursar_policy::{AssetId, Rules};
use thiserror::Error;

/// Why a counted payment has no signature that may be used.
#[derive(Debug, Error)]
pub(crate) enum Unsigned {
    /// The signer made none, or none that may be used.
    #[error(transparent)]
    Signer(#[from] SignFault),
    /// It could not be written down.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
}

impl Unsigned {
    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Signer(_) => "not_signed",
            Self::Ledger(fault) => fault.code(),
        }
    }
}

impl Vault {
    /// Signs a payment that is counted and judged under `rules`, and stores the signature. Whatever fails here leaves the
    /// money counted, unless provably nothing was signed.
    pub(crate) fn sign(
        &self,
        exposed: Reservation,
        key: &Key,
        rules: &Rules,
    ) -> Result<(Reservation, Signed), Unsigned> {
        let domain = exposed.exposed().domain();
        // The rules it was judged under: the asset is in their table, or it would not have been admitted.
        let asset = rules.asset(&AssetId { chain: domain.chain, contract: domain.contract });
        let made = asset.ok_or(SignFault::OtherAsset).and_then(|asset| key.sign(exposed.exposed(), asset));
        match made {
            Ok((signature, _domain)) => {
                let signed = self.ledger.store_signature(&exposed, &signature.to_string())?;
                Ok((exposed, signed))
            }
            Err(fault) => {
                tracing::error!(payment = %exposed.payment(), %fault, "a payment was not signed");
                if fault.nothing_was_signed() {
                    self.ledger.void(exposed, NotSigned::by_the_signer())?;
                }
                Err(fault.into())
            }
        }
    }
}
