//! The last yes before money is counted: freezes, session, limits. It must never read a ledger; the
//! caller reads it inside the transaction that writes the row.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::caution::{Acquaintance, concerns};
use crate::errand::SessionId;
use crate::gate::{Vetted, unlisted};
use crate::limit::{Limit, PaymentFacts, Scope, TallyKey};
use crate::mandate::{Mandate, against_paying};
use crate::money::Money;
use crate::quoted::Quoted;
use crate::refusal::{Breach, Refusal, in_order};
use crate::rules::{BalanceNeed, ChainRule, Rules};
use crate::terms::Terms;

pub use self::sealed::Admitted;

/// What the ledger says at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether a person froze all spending.
    pub frozen: bool,
    /// Whether the ledger latched itself shut.
    pub latched: bool,
    /// The session that pays.
    pub session: SessionStanding,
    /// The running total for every limit of the rules.
    pub totals: Vec<Total>,
    /// What earlier payments to the same host and payee came to nothing that anybody knows of.
    pub unresolved: Unresolved,
    /// When the quarantine of the host ends, Unix seconds; absent when it is in none.
    pub quarantined_until_s: Option<u64>,
    /// How many seconds ago the same request was last bought, in any session; absent when it never was.
    pub bought_ago_s: Option<u64>,
    /// What the chain says the wallet has left of the asset beside all that may still be cashed; absent while that is
    /// not known.
    pub funds: Option<Money>,
    /// What is known of the host from earlier payments.
    pub acquaintance: Acquaintance,
    /// What the caller finds suspicious about the purchase.
    pub suspicious: Option<Quoted>,
    /// What a person said about exactly this purchase.
    pub word: Word,
}

/// What a person said about exactly this purchase, and still stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Word {
    /// Nothing.
    #[default]
    None,
    /// Yes, and it was not used yet.
    Yes,
    /// No.
    No,
}

/// How many earlier payments ran out without a settlement and without a delivery: the authorization can no longer be
/// used, and nobody knows whether it was. What is in flight is not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unresolved {
    /// For the same origin.
    pub host: u32,
    /// To the same payee on the same chain.
    pub payee: u32,
}

/// One session's budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStanding {
    /// Which session.
    pub id: SessionId,
    /// What a person allowed it to spend.
    pub budget: Money,
    /// What it spent or may yet turn out to have spent: pending payments count in full.
    pub spent: Money,
    /// The first Unix second at which it is over.
    pub expires_s: u64,
    /// Whether a person closed it.
    pub closed: bool,
    /// What it is for; absent where it is for everything that the rules allow.
    pub mandate: Option<Mandate>,
}

/// What a limit has to go by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    /// The limit, as the rules have it.
    pub limit: Limit,
    /// The key that the total was read with.
    pub key: TallyKey,
    /// The money counted within the limit's window, pending payments in full.
    pub amount: Money,
    /// The number of payments counted within it.
    pub count: u32,
    /// How far this ledger may count by itself, where several vaults split the limit: steps of 10^-18 of the currency of
    /// `max`, or payments. Absent where the whole limit is this ledger's.
    pub share: Option<u128>,
}

impl Total {
    /// What the payment with `facts` brings it to, in the unit of [`Total::share`]; absent where that is no number.
    #[must_use]
    pub fn with(&self, facts: &PaymentFacts) -> Option<u128> {
        match self.limit.max {
            Some(_) => self.amount.checked_add(facts.money).map(Money::atto),
            None => u128::from(self.count).checked_add(1),
        }
    }
}

mod sealed {
    use crate::gate::Vetted;
    use crate::limit::PaymentFacts;
    use crate::money::Money;
    use crate::terms::Terms;

    /// Proof that vetted terms fit everything that is left. Made by [`admit`](super::admit) alone;
    /// neither `Clone` nor `Deserialize`. It holds only as long as the totals it was made from: use
    /// it up inside the same transaction.
    #[must_use = "an admitted payment that is dropped was allowed and then forgotten"]
    #[derive(Debug, PartialEq, Eq)]
    pub struct Admitted {
        vetted: Vetted<Terms>,
        facts: PaymentFacts,
    }

    impl Admitted {
        pub(super) const fn new(vetted: Vetted<Terms>, facts: PaymentFacts) -> Self {
            Self { vetted, facts }
        }

        /// What would be signed.
        #[must_use]
        pub const fn terms(&self) -> &Terms {
            self.vetted.get()
        }

        /// What it counts as.
        #[must_use]
        pub const fn money(&self) -> Money {
            self.facts.money
        }

        /// What limits may ask about it. Payee, asset and money are those of the terms.
        #[must_use]
        pub const fn facts(&self) -> &PaymentFacts {
            &self.facts
        }
    }
}

/// Admits a vetted payment when nothing is frozen or latched, the session is open at `now_s` (Unix
/// seconds), has the money and a mandate that covers it, no limit of `rules` would be exceeded, the host is not in
/// quarantine, neither the host nor the payee has as many unresolved payments as the host's rule allows, and either
/// nothing about the payment wants a person or a person said yes to exactly this one. Spending a budget or a limit to
/// exactly nothing is allowed.
///
/// A person's yes takes the place of [`concerns`] and of nothing else; a person is asked only where nothing else
/// stands against the payment.
///
/// Of `facts` only session and site are believed; payee, asset and money are taken from the
/// terms, and tags from the rules. A limit without a total, or with one that was read for another payment, refuses.
///
/// # Errors
///
/// Every reason against it, in order of precedence; never an empty list.
pub fn admit(
    rules: &Rules,
    standing: &Standing,
    vetted: Vetted<Terms>,
    facts: PaymentFacts,
    now_s: u64,
) -> Result<Admitted, Vec<Refusal>> {
    let terms = vetted.get();
    let id = terms.asset_id();
    let price = rules.asset(&id).and_then(|asset| Money::of(terms.amount, asset));
    let Some(money) = price else {
        return Err([Refusal::AssetNotAllowed { asset: id }].into());
    };
    let tags = rules.tags(&facts.site, &terms.payee);
    let facts = PaymentFacts { payee: terms.payee, asset: id, money, tags, ..facts };
    let mut reasons = against(rules, standing, &facts, now_s);
    if reasons.is_empty() && standing.word == Word::None {
        reasons.extend(for_a_person(rules, standing, &facts));
    }
    if reasons.is_empty() { Ok(Admitted::new(vetted, facts)) } else { Err(reasons) }
}

/// Every reason in order of precedence that [`admit`] would give against a payment with `facts` at `now_s` (Unix
/// seconds), whatever the gate says of it; but not that a person has to look.
///
/// For people who want to see all that stands against a payment, also one that the gate refuses already. An empty list
/// is no permission: only [`admit`] gives one.
#[must_use]
pub fn against(rules: &Rules, standing: &Standing, facts: &PaymentFacts, now_s: u64) -> Vec<Refusal> {
    let mut reasons = Vec::new();
    if standing.frozen {
        reasons.push(Refusal::Frozen);
    }
    if standing.latched {
        reasons.push(Refusal::LedgerLatched);
    }
    reasons.extend(against_session(rules, &standing.session, facts, now_s));
    reasons.extend(rules.limits().iter().filter_map(|limit| against_limit(limit, standing, facts)));
    match rules.host_rule(&facts.site) {
        Some(rule) => {
            reasons.extend(against_unresolved(rule.max_unresolved(), standing.unresolved));
            reasons.extend(against_recurring(rule.no_recurring_s(), standing.bought_ago_s));
        }
        None => reasons.push(unlisted(rules, &facts.site)),
    }
    if let Some(until_s) = standing.quarantined_until_s.filter(|until_s| now_s < *until_s) {
        reasons.push(Refusal::HostQuarantined { origin: facts.site.origin().to_string(), until_s });
    }
    reasons.extend(against_funds(rules, standing.funds, facts));
    reasons.extend(against_word(standing.word));
    in_order(reasons)
}

/// The same again too soon.
fn against_recurring(within_s: Option<u64>, ago_s: Option<u64>) -> Option<Refusal> {
    let (within_s, ago_s) = (within_s?, ago_s?);
    (ago_s < within_s).then_some(Refusal::Recurring { ago_s, within_s })
}

/// What the wallet cannot pay.
fn against_funds(rules: &Rules, funds: Option<Money>, facts: &PaymentFacts) -> Option<Refusal> {
    let (chain, asked) = (facts.asset.chain, facts.money);
    let need = rules.chain_rule(chain).map_or(BalanceNeed::Off, ChainRule::balance);
    match (need, funds) {
        (BalanceNeed::Off, _) | (BalanceNeed::WhenKnown, None) => None,
        (BalanceNeed::Required, None) => Some(Refusal::BalanceUnknown { chain }),
        (_, Some(left)) if asked.is_within(left) => None,
        (_, Some(left)) => Some(Refusal::InsufficientBalance { asked, left, chain }),
    }
}

fn against_word(word: Word) -> Option<Refusal> {
    (word == Word::No).then_some(Refusal::ApprovalDenied)
}

/// What sends it to a person.
fn for_a_person(rules: &Rules, standing: &Standing, facts: &PaymentFacts) -> Option<Refusal> {
    let concerns = concerns(rules, facts, &standing.acquaintance, standing.suspicious.as_ref());
    (!concerns.is_empty()).then_some(Refusal::NeedsApproval { approval: None, concerns })
}

/// Every reason that the session gives against the payment.
fn against_session(rules: &Rules, session: &SessionStanding, facts: &PaymentFacts, now_s: u64) -> Vec<Refusal> {
    if session.closed || session.id != facts.session {
        return [Refusal::NoSession].into();
    }
    let mut reasons = Vec::new();
    if session.expires_s <= now_s {
        reasons.push(Refusal::SessionExpired);
    }
    reasons.extend(against_paying(rules, session.mandate.as_ref(), facts));
    let after = session.spent.checked_add(facts.money);
    if !after.is_some_and(|after| after.is_within(session.budget)) {
        let left = session.budget.saturating_sub(session.spent);
        reasons.push(Refusal::OverSessionBudget { asked: facts.money, left });
    }
    reasons
}

/// The reason that one limit gives against the payment. A limit in another currency or over another tag has none.
fn against_limit(limit: &Limit, standing: &Standing, facts: &PaymentFacts) -> Option<Refusal> {
    if !limit.concerns(facts) || limit.max.is_some_and(|max| max.currency() != facts.money.currency()) {
        return None;
    }
    let key = limit.key(facts);
    let total = standing.totals.iter().find(|total| total.limit == *limit && total.key == key);
    let breach = match total {
        None => Some(Breach::Unread),
        Some(total) => {
            over_amount(limit, total, facts).or_else(|| over_count(limit, total)).or_else(|| over_share(total, facts))
        }
    };
    breach.map(|breach| Refusal::OverLimit {
        scope: limit.scope,
        tag: limit.tag.map(Box::new),
        window: limit.window,
        breach,
    })
}

/// What other vaults may be spending at this moment cannot be spent here.
fn over_share(total: &Total, facts: &PaymentFacts) -> Option<Breach> {
    let share = total.share?;
    let fits = total.with(facts).is_some_and(|after| after <= share);
    (!fits).then_some(Breach::Share)
}

/// The reasons that unresolved payments give against another one: as many as are allowed are there already.
fn against_unresolved(max: u32, unresolved: Unresolved) -> impl Iterator<Item = Refusal> {
    let each = [(Scope::Host, unresolved.host), (Scope::Payee, unresolved.payee)];
    let full = move |(_, count): &(Scope, u32)| max <= *count;
    each.into_iter().filter(full).map(move |(scope, unresolved)| Refusal::TooManyUnresolved { scope, unresolved, max })
}

fn over_amount(limit: &Limit, total: &Total, facts: &PaymentFacts) -> Option<Breach> {
    let max = limit.max?;
    if total.amount.currency() != max.currency() {
        return Some(Breach::Unread);
    }
    let after = total.amount.checked_add(facts.money);
    let fits = after.is_some_and(|after| after.is_within(max));
    (!fits).then_some(Breach::Amount { asked: facts.money, left: max.saturating_sub(total.amount) })
}

fn over_count(limit: &Limit, total: &Total) -> Option<Breach> {
    let max = limit.count?;
    let fits = total.count < max;
    (!fits).then_some(Breach::Count { used: total.count, max })
}
