//! The states of a payment and how one becomes another. Must never let counted money go without proof.
//!
//! `held → exposed → settled | presumed_spent | lapsed | voided`, and `held → voided`. What may be done with a payment
//! is a type: an exposed payment is a [`Reservation`], and its money is freed only with the signer's own word ([`NotSigned`])
//! that there is no signature. Time frees nothing that may be signed: an exposed payment that runs out is presumed spent.
//! The database holds the same table in a trigger.

use bursar_policy::authorization::{Authorization, Domain};
use bursar_policy::chain::Address;
use bursar_policy::errand::PaymentId;
use bursar_policy::terms::Terms;

use super::claim::ClaimGuard;
pub use crate::protocol::RowState;

/// How long after its end an authorization is still taken to be alive, in seconds: chain time is not wall time.
pub const EXPIRY_MARGIN_S: u64 = 60;

/// Money for which a signature may exist. Counts until it is settled, or for ever.
///
/// Not Clone: there is one for each purchase, and it carries the claim, so nobody else works on the same purchase.
/// Dropping it gives up the claim and leaves the money counted.
#[must_use = "a dropped reservation stays counted until it is settled or runs out"]
#[derive(Debug)]
pub struct Reservation {
    pub(super) payment: PaymentId,
    pub(super) claim: ClaimGuard,
    pub(super) exposed: Exposed,
}

impl Reservation {
    /// The payment's id.
    #[must_use]
    pub const fn payment(&self) -> &PaymentId {
        &self.payment
    }

    /// The claim on the purchase.
    pub const fn claim(&self) -> &ClaimGuard {
        &self.claim
    }

    /// What is to be signed and under which domain.
    #[must_use]
    pub const fn exposed(&self) -> &Exposed {
        &self.exposed
    }
}

/// What is signed, as it stands in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    pub(super) authorization: Authorization,
    pub(super) terms: Terms,
}

impl Exposed {
    /// What is to be signed, field by field, as it stands in the ledger.
    #[must_use]
    pub const fn authorization(&self) -> &Authorization {
        &self.authorization
    }

    /// The EIP-712 domain to sign under, from the operator's asset table by way of the judged terms.
    #[must_use]
    pub fn domain(&self) -> Domain {
        domain(&self.terms)
    }

    /// The account that signs.
    #[must_use]
    pub const fn payer(&self) -> Address {
        self.authorization.from
    }
}

/// The domain of judged terms.
pub(super) fn domain(terms: &Terms) -> Domain {
    Domain {
        name: terms.domain_name.clone(),
        version: terms.domain_version.clone(),
        chain: terms.chain,
        contract: terms.asset,
    }
}

/// The signer's own word that it made no signature. Only the signing code of this crate can make one.
#[derive(Debug)]
pub struct NotSigned(());

impl NotSigned {
    /// For the code that was asked to sign, did not, and knows it.
    #[must_use]
    pub(crate) const fn by_the_signer() -> Self {
        Self(())
    }
}

/// The state a word stands for.
pub(super) fn from_word(word_read: &str) -> Option<RowState> {
    RowState::EVERY.into_iter().find(|state| state.word() == word_read)
}

/// How a state counts in every limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// Set aside: counts at any age.
    AsPending,
    /// Gone: counts from the moment it was written down as such.
    AsSpent,
    /// Proved not to have moved.
    Not,
}

/// How `state` counts.
pub(super) const fn counts(state: RowState) -> Counts {
    match state {
        RowState::Held | RowState::Exposed => Counts::AsPending,
        RowState::Settled | RowState::PresumedSpent => Counts::AsSpent,
        RowState::Lapsed | RowState::Voided => Counts::Not,
    }
}
