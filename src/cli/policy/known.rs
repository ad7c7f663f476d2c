//! What would have been known of hosts in a past under other rules, as the ledger knows it of the one that was. Pure; it
//! must never ask the ledger anything.

use std::collections::{BTreeSet, HashMap};

use bursar_policy::likeness::are_alike;
use bursar_policy::{
    Acquaintance, Address, AssetId, ChainId, Currency, Digest, Host, Money, Origin, PaymentFacts, Rules, usual_price,
};

/// Everything that was learnt from the payments that were allowed.
#[derive(Debug, Default)]
pub(super) struct Known {
    hosts: HashMap<Origin, Facts>,
    names: BTreeSet<Host>,
    bought_s: HashMap<Digest, u64>,
    first_price: HashMap<(Digest, Currency), Money>,
}

#[derive(Debug, Default)]
struct Facts {
    payees: BTreeSet<(ChainId, Address)>,
    networks: BTreeSet<ChainId>,
    assets: BTreeSet<AssetId>,
    paid: HashMap<Currency, (Money, u64)>,
}

impl Known {
    /// What is known of the host of a payment with `facts`, and of the request `subject` that it is for.
    pub(super) fn of(&self, rules: &Rules, facts: &PaymentFacts, subject: Digest) -> Acquaintance {
        let Some(host) = self.hosts.get(facts.site.origin()) else {
            let name = facts.site.host();
            let alike = self.names.iter().find(|known| rules.allow_any_host() && are_alike(name, known));
            return Acquaintance { looks_like: alike.map(ToString::to_string), ..Acquaintance::default() };
        };
        let paid = host.paid.get(&facts.money.currency());
        Acquaintance {
            paid_before: true,
            payee: host.payees.contains(&(facts.asset.chain, facts.payee)),
            network: host.networks.contains(&facts.asset.chain),
            asset: host.assets.contains(&facts.asset),
            usual: paid.and_then(|(sum, count)| usual_price(*sum, *count)),
            first_price: self.first_price.get(&(subject, facts.money.currency())).copied(),
            looks_like: None,
        }
    }

    /// How many seconds before `now_s` the request was bought last.
    pub(super) fn bought_ago_s(&self, subject: &Digest, now_s: u64) -> Option<u64> {
        self.bought_s.get(subject).map(|at_s| now_s.saturating_sub(*at_s))
    }

    /// Learns from a payment that was allowed at `now_s`.
    pub(super) fn learn(&mut self, facts: &PaymentFacts, subject: Digest, now_s: u64) {
        let host = self.hosts.entry(facts.site.origin().clone()).or_default();
        host.payees.insert((facts.asset.chain, facts.payee));
        host.networks.insert(facts.asset.chain);
        host.assets.insert(facts.asset);
        let none = (Money::zero(facts.money.currency()), 0);
        let (sum, count) = host.paid.entry(facts.money.currency()).or_insert(none);
        // A sum that cannot be counted stays as it is: it makes a price look dearer, never cheaper.
        *sum = sum.checked_add(facts.money).unwrap_or(*sum);
        *count = count.saturating_add(1);
        self.names.insert(facts.site.host().clone());
        self.first_price.entry((subject, facts.money.currency())).or_insert(facts.money);
        self.bought_s.insert(subject, now_s);
    }
}
