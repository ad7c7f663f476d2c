//! A mandate: what one session is for, in the operator's words and in terms that code holds. It must never widen what
//! the rules allow.

use alloc::string::String;
use alloc::vec::Vec;

use crate::chain::Address;
use crate::limit::PaymentFacts;
use crate::money::Money;
use crate::refusal::{MandatePart, Refusal};
use crate::site::{Origin, Site};

/// What a session may buy, beside everything that the rules say. Whole: each part is there.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mandate {
    /// What it is for, in the operator's words: shown to people, held against nothing.
    pub purpose: String,
    /// The origins that may be asked.
    pub origins: Vec<Origin>,
    /// Who may be paid; absent where everybody may whom the rules allow.
    pub payees: Option<Vec<Address>>,
    /// The most that one payment may cost.
    pub max_per_payment: Money,
}

impl Mandate {
    /// The reason against asking `site` at all.
    #[must_use]
    pub fn against_site(&self, site: &Site) -> Option<Refusal> {
        let covered = self.origins.contains(site.origin());
        (!covered).then_some(Refusal::OutsideMandate { part: MandatePart::Origin })
    }

    /// Every reason against a payment with `facts`.
    pub fn against(&self, facts: &PaymentFacts) -> impl Iterator<Item = Refusal> {
        let payee = self.payees.as_ref().is_none_or(|listed| listed.contains(&facts.payee));
        let price = facts.money.is_within(self.max_per_payment);
        let outside = [(payee, MandatePart::Payee), (price, MandatePart::Price)];
        let parts = outside.into_iter().filter(|(covered, _)| !covered).map(|(_, part)| part);
        self.against_site(&facts.site).into_iter().chain(parts.map(|part| Refusal::OutsideMandate { part }))
    }
}
