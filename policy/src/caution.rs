//! What a person should look at before it is paid, though no rule forbids it. It must never allow anything.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::mem::discriminant;

use crate::chain::{Address, AssetId, ChainId};
use crate::likeness::mixed_scripts;
use crate::limit::PaymentFacts;
use crate::money::Money;
use crate::quoted::Quoted;
use crate::rules::{Caution, FirstPayee, OnChange, Rules};
use crate::tag::Tag;

/// One reason to let a person look first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    /// The first payment for a host whose payees nobody listed.
    FirstPayee {
        /// The payee.
        payee: Address,
    },
    /// A payee that this host never named before.
    PayeeChanged {
        /// The payee.
        payee: Address,
    },
    /// A network that this host was never paid on.
    NetworkChanged {
        /// The network.
        chain: ChainId,
    },
    /// An asset that this host was never paid with.
    AssetChanged {
        /// The asset.
        asset: AssetId,
    },
    /// A price far above what payments for this host cost so far.
    UnusualPrice {
        /// The price.
        asked: Money,
        /// What is usual.
        usual: Money,
    },
    /// A price above what the same request cost when it was paid for the first time.
    PriceRisen {
        /// The price.
        asked: Money,
        /// What it cost then.
        first: Money,
    },
    /// A price above the threshold from which a person looks.
    OverThreshold {
        /// The price.
        asked: Money,
        /// The threshold.
        threshold: Money,
    },
    /// A tag for which a person looks.
    Tagged {
        /// The tag.
        tag: Box<Tag>,
    },
    /// A host that is new and reads like one that is known.
    LooksAlike {
        /// The known host.
        known: String,
    },
    /// A host name whose letters are of several scripts.
    MixedScripts {
        /// The name as people would see it, spelt out.
        name: Quoted,
    },
    /// The caller itself finds it suspicious.
    Suspicious {
        /// The caller's words.
        why: Quoted,
    },
}

impl fmt::Display for Concern {
    /// Part of a sentence for the operator.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstPayee { payee } => write!(out, "the first payment for this host would go to `{payee}`"),
            Self::PayeeChanged { payee } => write!(out, "the payee `{payee}` is new for this host"),
            Self::NetworkChanged { chain } => write!(out, "the network `{chain}` is new for this host"),
            Self::AssetChanged { asset } => write!(out, "the asset `{asset}` is new for this host"),
            Self::UnusualPrice { asked, usual } => {
                write!(out, "the price `{asked}` is far above what is usual for this host, `{usual}`")
            }
            Self::PriceRisen { asked, first } => {
                write!(out, "the price `{asked}` is far above what the same request cost first, `{first}`")
            }
            Self::OverThreshold { asked, threshold } => {
                write!(out, "the price `{asked}` is above `{threshold}`, from where on a person looks")
            }
            Self::Tagged { tag } => write!(out, "it carries the tag `{tag}`"),
            Self::LooksAlike { known } => write!(out, "the host is new and looks like the known host `{known}`"),
            Self::MixedScripts { name } => write!(out, "the host name `{name}` mixes letters of several scripts"),
            Self::Suspicious { why } => write!(out, "the caller finds it suspicious: `{why}`"),
        }
    }
}

impl Concern {
    /// Whether a person who looked at this has looked at `other` as well: it is the same matter, in whatever words or
    /// numbers. Who asks holds the two purchases equal in everything that is paid.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tagged { tag: one }, Self::Tagged { tag: other }) => one == other,
            (Self::LooksAlike { known: one }, Self::LooksAlike { known: other }) => one == other,
            (one, other) => discriminant(one) == discriminant(other),
        }
    }
}

/// What the ledger knows of a host from earlier payments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acquaintance {
    /// Whether it was paid before.
    pub paid_before: bool,
    /// Whether the payee was among those who were paid for it.
    pub payee: bool,
    /// Whether the network was among those it was paid on.
    pub network: bool,
    /// Whether the asset was among those it was paid with.
    pub asset: bool,
    /// What a payment for it costs on average, in the currency of this one; absent while there are too few, and may be
    /// where the rules do not ask.
    pub usual: Option<Money>,
    /// What the same request cost when it was paid for the first time, in the currency of this payment; absent where it
    /// never was, and may be where the rules do not ask.
    pub first_price: Option<Money>,
    /// A known host that it looks like, where it is new itself.
    pub looks_like: Option<String>,
}

/// How many payments a usual price needs.
const USUAL_AFTER: u64 = 3;

/// What a payment usually costs where `count` of them cost `sum` together: the mean, in whole steps, once there are three.
#[must_use]
pub fn usual_price(sum: Money, count: u64) -> Option<Money> {
    let mean = (USUAL_AFTER <= count).then(|| sum.atto().checked_div(u128::from(count)))?;
    mean.map(|atto| Money::new(sum.currency(), atto))
}

/// Every reason to let a person look at a payment with `facts` first; none when it may go ahead.
///
/// `suspicious` is what the caller finds wrong with it. Nothing here is a permission: the gate, the limits and the
/// budget have said yes already, and say it again when the approved purchase is made.
#[must_use]
pub fn concerns(
    rules: &Rules,
    facts: &PaymentFacts,
    known: &Acquaintance,
    suspicious: Option<&Quoted>,
) -> Vec<Concern> {
    let mut found = Vec::new();
    found.extend(suspicious.map(|why| Concern::Suspicious { why: why.clone() }));
    if let Some(rule) = rules.host_rule(&facts.site) {
        let caution = rule.caution();
        found.extend(of_payee(caution, facts, known));
        found.extend(of_change(caution, facts, known));
        found.extend(of_price(caution, facts, known));
    }
    if rules.allow_any_host() && !known.paid_before {
        found.extend(mixed_scripts(facts.site.host()).map(|name| Concern::MixedScripts { name: Quoted::of(&name) }));
        found.extend(known.looks_like.clone().map(|known| Concern::LooksAlike { known }));
    }
    let tagged = facts.tags.iter().filter(|tag| rules.wants_a_person_for(tag));
    found.extend(tagged.map(|tag| Concern::Tagged { tag: Box::new(*tag) }));
    found
}

/// A payee that the operator listed is the operator's word; so is a host that may name any. Else the first one is what
/// the rules say of first payees, and every other one is a change.
fn of_payee(caution: &Caution, facts: &PaymentFacts, known: &Acquaintance) -> Option<Concern> {
    let payee = facts.payee;
    match (caution.first_payee()?, known.paid_before, known.payee) {
        (_, true, true) | (FirstPayee::Pin, false, _) => None,
        (FirstPayee::Approve, false, _) => Some(Concern::FirstPayee { payee }),
        (_, true, false) => Some(Concern::PayeeChanged { payee }),
    }
}

fn of_change(caution: &Caution, facts: &PaymentFacts, known: &Acquaintance) -> Vec<Concern> {
    if caution.on_change() == OnChange::Allow || !known.paid_before {
        return Vec::new();
    }
    let chain = facts.asset.chain;
    let network = (!known.network).then_some(Concern::NetworkChanged { chain });
    let asset = (!known.asset).then_some(Concern::AssetChanged { asset: facts.asset });
    network.into_iter().chain(asset).collect()
}

fn of_price(caution: &Caution, facts: &PaymentFacts, known: &Acquaintance) -> Vec<Concern> {
    let asked = facts.money;
    let threshold = caution.approve_over(asked.currency()).filter(|threshold| !asked.is_within(*threshold));
    let most = |usual: Money| usual.checked_times(caution.unusual_times()?);
    let usual = known.usual.filter(|usual| most(*usual).is_some_and(|most| !asked.is_within(most)));
    let highest = |first: Money| {
        let atto = caution.price_rise()?.on_top_of(first.atto())?;
        Some(Money::new(first.currency(), atto))
    };
    let first = known.first_price.filter(|first| highest(*first).is_some_and(|highest| !asked.is_within(highest)));
    let over = threshold.map(|threshold| Concern::OverThreshold { asked, threshold });
    let unusual = usual.map(|usual| Concern::UnusualPrice { asked, usual });
    let risen = first.map(|first| Concern::PriceRisen { asked, first });
    over.into_iter().chain(unusual).chain(risen).collect()
}
