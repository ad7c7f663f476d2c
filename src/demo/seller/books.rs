//! The demo seller's books: requests and signatures counted by host and path, and the two play tokens.
//!
//! It must never forget a signature: every one that arrives is counted, on whatever path and however it is shaped.

use std::collections::{BTreeMap, BTreeSet};

use bursar_policy::chain::Address;

use super::presented::{Declined, Presented};
use super::terms::Asked;
use super::token::{Reverted, Token};
use super::world;

/// Counts for one host and path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Requests of any kind.
    pub(crate) requests: usize,
    /// Requests that carried a payment header.
    pub(crate) payments: usize,
    signatures: BTreeSet<String>,
}

impl Tally {
    /// Different signatures seen.
    pub(crate) fn signatures(&self) -> usize {
        self.signatures.len()
    }
}

/// A settlement the seller carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sale {
    /// Transaction id.
    pub(crate) transaction: String,
    /// Who paid.
    pub(crate) payer: Address,
}

/// All that the seller writes down.
#[derive(Debug)]
pub(crate) struct Books {
    test: Token,
    main: Token,
    tallies: BTreeMap<String, Tally>,
    signatures: BTreeSet<String>,
    sold: BTreeMap<String, (String, Sale)>,
}

impl Books {
    /// Books in which `buyer` owns `units` of either token.
    pub(crate) fn opened(buyer: Address, units: u128) -> Self {
        Self {
            test: Token::minted(world::test_domain(), buyer, units),
            main: Token::minted(world::main_domain(), buyer, units),
            tallies: BTreeMap::new(),
            signatures: BTreeSet::new(),
            sold: BTreeMap::new(),
        }
    }

    /// Counts a request for `place` (host and path), with the payment header it carried.
    pub(crate) fn count(&mut self, place: &str, payment: Option<&str>) {
        let tally = self.tallies.entry(place.to_owned()).or_default();
        tally.requests = tally.requests.saturating_add(1);
        if payment.is_some() {
            tally.payments = tally.payments.saturating_add(1);
        }
    }

    /// Counts the signature of a payment that arrived at `place`.
    pub(crate) fn count_signature(&mut self, place: &str, signature: &str) {
        self.tallies.entry(place.to_owned()).or_default().signatures.insert(signature.to_owned());
        self.signatures.insert(signature.to_owned());
    }

    /// Settles `payment` as an honest facilitator does: it must answer one of `asked`, and the token must agree.
    pub(crate) fn settle(
        &mut self,
        place: &str,
        payment: &Presented,
        asked: &[Asked],
        now_s: u64,
    ) -> Result<Sale, Declined> {
        let answers = asked.iter().map(|one| payment.answers(one));
        // The offers are tried in order; the last reason stands for all when none fits.
        if let Some(declined) = last_reason(answers) {
            return Err(declined);
        }
        let transaction = self
            .test
            .transfer(&payment.authorization, &payment.signature, now_s)
            .map_err(|reverted| Declined(reverted.code()))?;
        let sale = Sale { transaction, payer: payment.authorization.from };
        self.sold.insert(payment.signature.clone(), (place.to_owned(), sale.clone()));
        Ok(sale)
    }

    /// The sale made at `place` against this very signature, if there was one.
    pub(crate) fn sale(&self, place: &str, payment: &Presented) -> Option<Sale> {
        self.sold.get(&payment.signature).filter(|(sold_at, _)| sold_at == place).map(|(_, sale)| sale.clone())
    }

    /// Takes whatever `payment` can be turned into, on either chain, as a thief does.
    pub(crate) fn cash(&mut self, payment: &Presented, now_s: u64) -> Result<String, Reverted> {
        self.test
            .transfer(&payment.authorization, &payment.signature, now_s)
            .or_else(|_| self.main.transfer(&payment.authorization, &payment.signature, now_s))
    }

    /// What `holder` owns on the test network, in atomic units.
    pub(crate) fn test_balance(&self, holder: Address) -> u128 {
        self.test.balance(holder)
    }

    /// What `holder` owns on the other network, in atomic units.
    pub(crate) fn main_balance(&self, holder: Address) -> u128 {
        self.main.balance(holder)
    }

    /// The counts for `place`.
    pub(crate) fn tally(&self, place: &str) -> Tally {
        self.tallies.get(place).cloned().unwrap_or_default()
    }

    /// Different signatures seen anywhere.
    pub(crate) fn signatures(&self) -> usize {
        self.signatures.len()
    }
}

fn last_reason(answers: impl Iterator<Item = Result<(), Declined>>) -> Option<Declined> {
    let mut reason = Some(Declined("No matching payment requirements"));
    for answer in answers {
        match answer {
            Ok(()) => return None,
            Err(declined) => reason = Some(declined),
        }
    }
    reason
}
