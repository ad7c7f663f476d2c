//! When a person looks first: what the rules say of it, in general and for one host. It must never say yes to a payment.

use alloc::collections::BTreeMap;

use super::RuleFault;
use super::build::{Range, ceilings_of, within};
use super::draft::{FirstPayee, HostDraft, OnChange, PaymentDraft};
use crate::money::{Currency, Money};
use crate::quantity::Percent;

/// `unusual_price`: least and most; there is no default.
const UNUSUAL: Range = Range { default: 0, least: 2, most: 1_000_000 };

/// What of a payment sends it to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caution {
    stated: Option<FirstPayee>,
    first_payee: Option<FirstPayee>,
    on_change: OnChange,
    unusual_times: Option<u32>,
    price_rise: Option<Percent>,
    approve_over: BTreeMap<Currency, Money>,
}

impl Caution {
    /// What `[payment]` says.
    pub(super) fn general(payment: &PaymentDraft) -> Result<Self, RuleFault> {
        Ok(Self {
            stated: payment.first_payee,
            first_payee: payment.allow_any_recipient.then(|| payment.first_payee.unwrap_or(FirstPayee::Pin)),
            on_change: payment.on_change.unwrap_or_default(),
            unusual_times: unusual(payment.unusual_price)?,
            price_rise: payment.price_rise,
            approve_over: payment.approve_over.as_ref().map_or(Ok(BTreeMap::new()), ceilings_of)?,
        })
    }

    /// What holds for `host`: its own word, or else the general one.
    ///
    /// Who is listed needs no pin, and the payees of a host with `allow_any_recipient` of its own rotate, unless the
    /// rules say what to do with the first.
    pub(super) fn of_host(&self, host: &HostDraft) -> Result<Self, RuleFault> {
        let free = host.recipients.is_none() && (self.first_payee.is_some() || host.allow_any_recipient);
        let first_payee = match (free, host.first_payee) {
            (false, Some(_)) => return Err(RuleFault::IdleFirstPayee(host.origin.clone())),
            (false, None) => None,
            (true, Some(own)) => Some(own),
            (true, None) => self.stated.or_else(|| self.first_payee.filter(|_pin| !host.allow_any_recipient)),
        };
        Ok(Self {
            stated: self.stated,
            first_payee,
            on_change: host.on_change.unwrap_or(self.on_change),
            unusual_times: unusual(host.unusual_price)?.or(self.unusual_times),
            price_rise: host.price_rise.or(self.price_rise),
            approve_over: host.approve_over.as_ref().map_or_else(|| Ok(self.approve_over.clone()), ceilings_of)?,
        })
    }

    /// What happens to the first payee; `None` where the operator listed the payees or lets them rotate.
    #[must_use]
    pub const fn first_payee(&self) -> Option<FirstPayee> {
        self.first_payee
    }

    /// What happens when a network or an asset is new for a known host.
    #[must_use]
    pub const fn on_change(&self) -> OnChange {
        self.on_change
    }

    /// How many times the usual price is unusual; `None` when no price is.
    #[must_use]
    pub const fn unusual_times(&self) -> Option<u32> {
        self.unusual_times
    }

    /// How far above its first price the same request may cost; `None` when it may cost anything.
    #[must_use]
    pub const fn price_rise(&self) -> Option<Percent> {
        self.price_rise
    }

    /// Above what price in `currency` a person looks.
    #[must_use]
    pub fn approve_over(&self, currency: Currency) -> Option<Money> {
        self.approve_over.get(&currency).copied()
    }

    /// Every price above which a person looks, one for each currency.
    pub fn thresholds(&self) -> impl Iterator<Item = Money> {
        self.approve_over.values().copied()
    }
}

fn unusual(given: Option<u32>) -> Result<Option<u32>, RuleFault> {
    let Some(times) = given else { return Ok(None) };
    within("unusual_price", Some(u64::from(times)), UNUSUAL, |number| alloc::format!("{number}"))?;
    Ok(Some(times))
}
