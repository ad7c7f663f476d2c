//! What one step came to: how the calls ended, which signatures exist, and what left the buyer.
//!
//! It must never round or leave out: two accounts are equal only if everything in them is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::demo::money::dollars;

/// How a call ends that brings the goods of an earlier payment.
pub(crate) const AGAIN: &str = "delivered without paying again";

/// How a call ends whose goods came without a settlement that the ledger believes.
pub(crate) const UNPROVEN: &str = "unresolved, goods delivered";

/// What a step came to, or should come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// How the calls ended, and how many ended so.
    pub(crate) ends: BTreeMap<String, usize>,
    /// Why calls were refused, by the operator's log.
    pub(crate) reasons: BTreeSet<String>,
    /// What the model was told instead.
    pub(crate) told: BTreeSet<String>,
    /// New signatures the seller saw.
    pub(crate) seen: usize,
    /// New signatures in the ledger.
    pub(crate) signed: usize,
    /// New payments the ledger counts.
    pub(crate) counted: usize,
    /// Payments the ledger came to take for settled.
    pub(crate) settled: usize,
    /// What left the buyer, in atomic units.
    pub(crate) moved: u128,
    /// What the session has used up, in words of the ledger, where the step looks at it.
    pub(crate) spent: Option<String>,
    /// What arrived on the path, where the step looks at it.
    pub(crate) visits: Option<Visits>,
}

/// What arrived on one path of the seller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visits {
    /// Requests.
    pub(crate) requests: usize,
    /// Requests that carried a payment.
    pub(crate) payments: usize,
    /// Different signatures on them.
    pub(crate) signatures: usize,
}

impl fmt::Display for Visits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.requests, self.payments, self.signatures) {
            (1, 0, _) => f.write_str("1 unpaid request"),
            (requests, 0, _) => write!(f, "{requests} unpaid requests"),
            (requests, paid, different) if paid == different => write!(f, "{requests} requests, {paid} paid"),
            (requests, paid, 1) => write!(f, "{requests} requests, {paid} with the same payment"),
            (requests, paid, different) => write!(f, "{requests} requests, {paid} paid, {different} differently"),
        }
    }
}

impl Account {
    /// `count` calls that ended as `end`.
    pub(crate) fn of(end: &str, count: usize) -> Self {
        Self::default().and(end, count)
    }

    /// Another `count` calls that ended as `end`.
    pub(crate) fn and(mut self, end: &str, count: usize) -> Self {
        self.ends.insert(end.to_owned(), count);
        self
    }

    /// `count` signatures that the seller saw and the ledger stored, counts and takes for settled, moving `units` in all.
    pub(crate) fn paying(self, count: usize, units: u128) -> Self {
        Self { settled: count, ..self.exposing(count, units) }
    }

    /// The same, with nothing settled as far as the ledger knows.
    pub(crate) fn exposing(self, count: usize, units: u128) -> Self {
        Self { seen: count, signed: count, counted: count, moved: units, ..self }
    }

    /// Refused for `reasons`, of which the model hears `told`.
    pub(crate) fn because(mut self, reasons: &[&str], told: &str) -> Self {
        self.reasons.extend(reasons.iter().map(|reason| (*reason).to_owned()));
        self.told.insert(told.to_owned());
        self
    }

    /// The session has used up `money`.
    pub(crate) fn leaving_spent(mut self, money: &str) -> Self {
        self.spent = Some(money.to_owned());
        self
    }

    /// The path got `requests`, of which `payments` carried a payment, with so many different `signatures`.
    pub(crate) fn visited(mut self, requests: usize, payments: usize, signatures: usize) -> Self {
        self.visits = Some(Visits { requests, payments, signatures });
        self
    }

    fn signatures(&self) -> String {
        let told = match (self.seen, self.signed, self.counted) {
            (0, 0, 0) => "nothing signed".to_owned(),
            (1, 1, 1) => "1 signature".to_owned(),
            (seen, signed, counted) if seen == signed && signed == counted => format!("{seen} signatures"),
            (seen, signed, counted) => {
                format!("signatures: {seen} at the seller, {signed} in the ledger, {counted} counted as spent")
            }
        };
        match self.settled {
            settled if settled == self.counted => told,
            0 => format!("{told}, not settled"),
            settled => format!("{told}, {settled} settled"),
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let only_one = self.ends.values().sum::<usize>() == 1;
        let ends: Vec<String> = self
            .ends
            .iter()
            .map(|(end, count)| if only_one { end.clone() } else { format!("{count} {end}") })
            .collect();
        f.write_str(&ends.join(", "))?;
        if !self.reasons.is_empty() {
            write!(f, " ({}", listed(&self.reasons))?;
            if self.told != self.reasons {
                write!(f, ", told as {}", listed(&self.told))?;
            }
            f.write_str(")")?;
        }
        if !self.ends.is_empty() {
            f.write_str("; ")?;
        }
        f.write_str(&self.signatures())?;
        match self.moved {
            0 => f.write_str(", nothing moved")?,
            units => write!(f, ", {} moved", dollars(units))?,
        }
        if let Some(visits) = self.visits {
            write!(f, "; {visits}")?;
        }
        match &self.spent {
            Some(spent) => write!(f, "; the session has used {spent}"),
            None => Ok(()),
        }
    }
}

fn listed(words: &BTreeSet<String>) -> String {
    words.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::Account;

    #[test]
    fn an_account_reads_like_a_sentence() {
        for (account, text) in [
            (Account::of("paid", 1).paying(1, 50_000), "paid; 1 signature, 0.05 moved"),
            (
                Account::of("refused", 1).because(&["payee_not_allowed"], "offer_refused").visited(1, 0, 0),
                "refused (payee_not_allowed, told as offer_refused); nothing signed, nothing moved; 1 unpaid request",
            ),
            (
                Account::of("paid", 20).and("refused", 5).because(&["over"], "over").paying(20, 1_000_000),
                "20 paid, 5 refused (over); 20 signatures, 1.00 moved",
            ),
            (
                Account::default().paying(1, 1).leaving_spent("0.05 USD"),
                "1 signature, 0.000001 moved; the session has used 0.05 USD",
            ),
            (Account::of("paid", 1).exposing(1, 0), "paid; 1 signature, not settled, nothing moved"),
            (
                Account::of("paid", 2).paying(1, 0).visited(3, 2, 1),
                "2 paid; 1 signature, nothing moved; 3 requests, 2 with the same payment",
            ),
        ] {
            assert_eq!(account.to_string(), text);
        }
    }

    #[test]
    fn a_signature_that_only_one_side_saw_is_told_and_makes_accounts_differ() {
        let honest = Account::of("paid", 1).paying(1, 0);
        let hidden = Account { seen: 2, ..honest.clone() };
        assert_ne!(honest, hidden);
        assert!(hidden.to_string().contains("2 at the seller, 1 in the ledger, 1 counted"), "{hidden}");
    }
}
