//! A mandate: what one session is for, in the operator's words and in terms that code holds. It must never widen what
//! the rules allow.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::chain::Address;
use crate::errand::{Errand, Method};
use crate::gate::may_visit;
use crate::limit::PaymentFacts;
use crate::money::Money;
use crate::path_prefix::PathPrefix;
use crate::refusal::{MandatePart, Refusal};
use crate::rules::{HostRule, MandateNeed, Rules};
use crate::site::{Origin, Site};

mod fault;

pub use self::fault::MandateFault;

/// The longest purpose, in characters.
const PURPOSE_MAX: usize = 200;
/// The most origins, and the most payees.
const LISTED_MAX: usize = 32;

/// What a session may buy, beside everything that the rules say. Whole: each part is there, and nothing is in it twice.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Mandate {
    purpose: String,
    origins: Vec<Origin>,
    payees: Payees,
    max_per_payment: Money,
}

/// Who may be paid under a mandate.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payees {
    /// Everybody whom the rules allow: the operator said so.
    Any,
    /// Whoever is listed, as far as the rules allow it.
    Listed(Vec<Address>),
}

/// A mandate as it is written down.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    purpose: String,
    origins: Vec<Origin>,
    payees: Payees,
    max_per_payment: Money,
}

impl TryFrom<Written> for Mandate {
    type Error = MandateFault;

    fn try_from(written: Written) -> Result<Self, MandateFault> {
        let Written { purpose, origins, payees, max_per_payment } = written;
        Self::new(purpose, origins, payees, max_per_payment)
    }
}

impl From<Mandate> for Written {
    fn from(mandate: Mandate) -> Self {
        let Mandate { purpose, origins, payees, max_per_payment } = mandate;
        Self { purpose, origins, payees, max_per_payment }
    }
}

impl Mandate {
    /// A mandate of these parts: a purpose of 1 to 200 characters on one line, 1 to 32 origins, 1 to 32 payees where
    /// they are listed, a ceiling above zero, and nothing listed twice.
    ///
    /// Whether the rules leave anything of it is [`Mandate::fits`]'s to say.
    ///
    /// # Errors
    ///
    /// The first [`MandateFault`] found.
    pub fn new(
        purpose: String,
        origins: Vec<Origin>,
        payees: Payees,
        max_per_payment: Money,
    ) -> Result<Self, MandateFault> {
        let long = PURPOSE_MAX < purpose.chars().count();
        if long || purpose.trim().is_empty() || purpose.chars().any(char::is_control) {
            return Err(MandateFault::Purpose);
        }
        if origins.is_empty() || LISTED_MAX < origins.len() {
            return Err(MandateFault::Origins);
        }
        if let Some(twice) = first_twice(&origins) {
            return Err(MandateFault::OriginTwice(twice.clone()));
        }
        if let Payees::Listed(listed) = &payees {
            if listed.is_empty() || LISTED_MAX < listed.len() {
                return Err(MandateFault::Payees);
            }
            if let Some(twice) = first_twice(listed) {
                return Err(MandateFault::PayeeTwice(*twice));
            }
        }
        if max_per_payment.is_zero() {
            return Err(MandateFault::Ceiling);
        }
        Ok(Self { purpose, origins, payees, max_per_payment })
    }

    /// What it is for, in the operator's words: shown to people and to the model, held against nothing.
    #[must_use]
    pub fn purpose(&self) -> &str {
        &self.purpose
    }

    /// The origins that may be asked.
    #[must_use]
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Who may be paid.
    #[must_use]
    pub const fn payees(&self) -> &Payees {
        &self.payees
    }

    /// The most that one payment may cost.
    #[must_use]
    pub const fn max_per_payment(&self) -> Money {
        self.max_per_payment
    }

    /// Whether the rules, and a session of `budget`, leave something of each of its parts: every origin can be asked
    /// somehow, every listed payee can be paid at one of the origins, and a payment as dear as its ceiling can be made.
    ///
    /// What is merely narrower than it says is no contradiction: an origin with a lower ceiling or other payees than
    /// the rest, and a limit over many payments. The rules hold beside it in any case.
    ///
    /// # Errors
    ///
    /// The first [`MandateFault`] found; fixing it may uncover another.
    pub fn fits(&self, rules: &Rules, budget: Money) -> Result<(), MandateFault> {
        let ceiling = self.max_per_payment;
        if ceiling.currency() != budget.currency() {
            return Err(MandateFault::Currencies { ceiling, budget });
        }
        if !ceiling.is_within(budget) {
            return Err(MandateFault::OverBudget { ceiling, budget });
        }
        let mut sellers: Vec<&HostRule> = Vec::new();
        for origin in &self.origins {
            let of_origin = askable(rules, origin);
            if of_origin.is_empty() {
                return Err(MandateFault::OriginNotAllowed(origin.clone()));
            }
            sellers.extend(of_origin);
        }
        if let Payees::Listed(listed) = &self.payees
            && let Some(payee) = listed.iter().find(|payee| !sellers.iter().any(|rule| rule.allows_payee(payee)))
        {
            return Err(MandateFault::PayeeNotAllowed(*payee));
        }
        let currency = ceiling.currency();
        let general = rules.ceiling(currency).ok_or(MandateFault::CurrencyNotAllowed(currency))?;
        let each = sellers.iter().map(|rule| rule.ceiling(currency).unwrap_or(general));
        match each.max_by_key(|most| most.atto()).filter(|most| !ceiling.is_within(*most)) {
            Some(most) => Err(MandateFault::OverRules { ceiling, most }),
            None => Ok(()),
        }
    }

    /// The reason against asking `site` at all.
    fn against_site(&self, site: &Site) -> Option<Refusal> {
        let covered = self.origins.contains(site.origin());
        (!covered).then_some(Refusal::OutsideMandate { part: MandatePart::Origin })
    }
}

/// The reason that a session's mandate gives against asking `site` at all, or the want of one does. It is known before
/// a byte goes out.
#[must_use]
pub fn against_asking(rules: &Rules, mandate: Option<&Mandate>, site: &Site) -> Option<Refusal> {
    match mandate {
        Some(mandate) => mandate.against_site(site),
        None => (rules.mandate() == MandateNeed::Required).then_some(Refusal::MandateMissing),
    }
}

/// Every reason that a session's mandate gives against a payment with `facts`, or the want of one does.
#[must_use]
pub fn against_paying(rules: &Rules, mandate: Option<&Mandate>, facts: &PaymentFacts) -> Vec<Refusal> {
    let mut reasons: Vec<Refusal> = against_asking(rules, mandate, &facts.site).into_iter().collect();
    if let Some(mandate) = mandate {
        let payee = match &mandate.payees {
            Payees::Any => true,
            Payees::Listed(listed) => listed.contains(&facts.payee),
        };
        let price = facts.money.is_within(mandate.max_per_payment);
        let parts = [(payee, MandatePart::Payee), (price, MandatePart::Price)];
        let outside = parts.into_iter().filter(|(covered, _)| !covered);
        reasons.extend(outside.map(|(_, part)| Refusal::OutsideMandate { part }));
    }
    reasons
}

/// The rules at `origin` under which at least one request may be made.
fn askable<'r>(rules: &'r Rules, origin: &Origin) -> Vec<&'r HostRule> {
    let of_origin = rules.host_rules().filter(|(listed, _)| *listed == origin).map(|(_, rule)| rule.path().as_str());
    let root = rules.allow_any_host().then_some(PathPrefix::ROOT);
    let asked = |path: &str| {
        let site = Site::parse(&format!("{origin}{path}")).ok()?;
        let rule = rules.host_rule(&site)?;
        let may = |method: &Method| may_visit(rules, &Errand::new(site.clone(), *method)).is_ok();
        rule.methods().iter().any(may).then_some(rule)
    };
    of_origin.chain(root).filter_map(asked).collect()
}

fn first_twice<T: PartialEq>(values: &[T]) -> Option<&T> {
    let twice = |(place, value): &(usize, &T)| values.iter().take(*place).any(|earlier| earlier == *value);
    values.iter().enumerate().find(twice).map(|(_, value)| value)
}
