//! The gate: may this be asked, may these terms be paid. It must never count money or keep state.

use alloc::string::String;
use alloc::vec::Vec;

use crate::chain::{Address, AssetId, ChainId};
use crate::errand::{Errand, Method};
use crate::money::Money;
use crate::offer::Challenge;
use crate::refusal::{Refusal, in_order};
use crate::rules::{ChainRule, Rules};
use crate::site::Site;
use crate::terms::Terms;

mod document;
mod notes;
mod visit;
mod weigh;

use self::notes::{Findings, Reasons};
pub(crate) use self::visit::unlisted;
use self::weigh::{Case, Weighed};

pub use self::sealed::Vetted;

mod sealed {
    /// Proof that the gate said yes to exactly this value.
    ///
    /// Made by the gate alone; neither `Clone`, `Default` nor `Deserialize`, so a yes is used once
    /// and cannot come from outside. Only the value inside may be copied, and is then no proof.
    #[must_use = "a vetted value that is dropped was allowed and then forgotten"]
    #[derive(Debug, PartialEq, Eq)]
    pub struct Vetted<T>(T);

    impl<T> Vetted<T> {
        pub(super) const fn new(value: T) -> Self {
            Self(value)
        }

        /// The value.
        pub const fn get(&self) -> &T {
            &self.0
        }

        /// The value; the proof is used up.
        pub fn into_inner(self) -> T {
            self.0
        }
    }
}

/// Whether the errand's site may be asked: scheme, host, port, method, body.
///
/// It does not know the addresses behind a name: whoever resolves it classifies each one.
///
/// # Errors
///
/// Every reason against it, in order of precedence; never an empty list.
pub fn may_visit(rules: &Rules, errand: &Errand) -> Result<Vetted<Site>, Vec<Refusal>> {
    let mut reasons = Reasons::default();
    visit::check(rules, errand, &mut reasons);
    if reasons.0.is_empty() { Ok(Vetted::new(errand.site.clone())) } else { Err(in_order(reasons.0)) }
}

/// The endpoints of `chain` that may be asked what became of payments on it: exactly those that the rules name.
///
/// Like [`may_visit`] it does not know the addresses behind a name.
pub fn may_ask(rules: &Rules, chain: ChainId) -> Vec<Vetted<Site>> {
    let endpoints = rules.chain_rule(chain).map(ChainRule::endpoints).unwrap_or_default();
    endpoints.iter().map(|url| Vetted::new(url.site().clone())).collect()
}

/// Whether a facilitator that the operator names on the command line may be handed a transfer that the operator ordered: by
/// https to a public address, or on loopback where a sandbox maps it. No host rule is asked, because no agent is.
///
/// Like [`may_visit`] it does not know the addresses behind a name.
///
/// # Errors
///
/// Every reason against it, in order of precedence.
pub fn may_settle(rules: &Rules, facilitator: &Site) -> Result<Vetted<Site>, Vec<Refusal>> {
    let errand = Errand::new(facilitator.clone(), Method::Post);
    let mut reasons = Reasons::default();
    visit::reachable(rules, &errand, &mut reasons);
    if reasons.0.is_empty() { Ok(Vetted::new(facilitator.clone())) } else { Err(in_order(reasons.0)) }
}

/// The webhook of the operator's that may be told something: exactly the one that the rules name, if they name one.
///
/// Like [`may_visit`] it does not know the addresses behind its name.
pub fn may_tell(rules: &Rules) -> Option<Vetted<Site>> {
    rules.notify().map(|webhook| Vetted::new(webhook.url().site().clone()))
}

/// Whether the seller's terms for `errand` may be paid at `now_s` (Unix seconds), and which.
///
/// Among the offers that pass, the answer is the cheapest in the currency of the first one; among
/// equals the first. Offers of an unsupported kind are passed over. Everything in the answer is
/// parsed or comes from the asset table; no seller text is in it that differs from our own.
///
/// `payer` is who would pay, where that is known. It does not look at budgets, limits or freezes:
/// [`admit`](crate::budget::admit) does, next to the ledger.
///
/// # Errors
///
/// Every reason of every judged offer and of the document, in order of precedence and without
/// repetitions; never an empty list. Reasons for passing over an offer are there only when no
/// offer was judged.
pub fn judge(
    rules: &Rules,
    errand: &Errand,
    challenge: &Challenge,
    payer: Option<Address>,
    now_s: u64,
) -> Result<Vetted<Terms>, Vec<Refusal>> {
    let case = Case::new(rules, errand, challenge, payer, now_s);
    let mut document = Reasons::default();
    visit::check(rules, errand, &mut document);
    document::check(&case, &mut document);

    let (mut refused, mut passed_over) = (Reasons::default(), Reasons::default());
    let mut best: Option<Passed> = None;
    for offer in &challenge.offers {
        let mut reasons = Reasons::default();
        match weigh::weigh(&case, offer, &mut reasons) {
            Weighed::Unsupported => passed_over.0.append(&mut reasons.0),
            Weighed::Refused(_) => refused.0.append(&mut reasons.0),
            Weighed::Passed(terms, money) => best = Some(cheaper(best, Passed { terms, money })),
        }
    }
    match best {
        Some(best) if document.0.is_empty() => Ok(Vetted::new(best.terms)),
        Some(_) => Err(in_order(document.0)),
        None => {
            let offers = if refused.0.is_empty() { passed_over } else { refused };
            document.0.extend(offers.0);
            Err(in_order(document.0))
        }
    }
}

/// Like [`judge`], but for a person who wants to see every rule: passes as well as failures.
///
/// [`Judgement::chosen`] is exactly what [`judge`] would approve. It is not a proof, and nothing
/// can be paid with it.
#[must_use]
pub fn inspect(rules: &Rules, errand: &Errand, challenge: &Challenge, payer: Option<Address>, now_s: u64) -> Judgement {
    let case = Case::new(rules, errand, challenge, payer, now_s);
    let mut document = Findings::default();
    visit::check(rules, errand, &mut document);
    document::check(&case, &mut document);

    let mut best: Option<Passed> = None;
    let mut offers = Vec::with_capacity(challenge.offers.len());
    for offer in &challenge.offers {
        let mut findings = Findings::default();
        let weighed = weigh::weigh(&case, offer, &mut findings);
        let skipped = matches!(weighed, Weighed::Unsupported);
        let (mut terms, mut asked) = (None, None);
        match weighed {
            Weighed::Unsupported => {}
            Weighed::Refused(read) => asked = read,
            Weighed::Passed(passed, money) => {
                asked = Some(Asked { payee: passed.payee, asset: passed.asset_id(), money });
                terms = Some(passed.clone());
                best = Some(cheaper(best, Passed { terms: passed, money }));
            }
        }
        offers.push(OfferReport { index: offer.index, skipped, findings: findings.0, terms, asked });
    }
    let document = document.0;
    let chosen = best.filter(|_| document.iter().all(Finding::passed)).map(|best| best.terms);
    Judgement { document, offers, chosen }
}

/// Everything that the gate thinks of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The rules about errand and document.
    pub document: Vec<Finding>,
    /// The rules about each offer, in the seller's order.
    pub offers: Vec<OfferReport>,
    /// The terms that would be approved.
    pub chosen: Option<Terms>,
}

/// Everything that the gate thinks of one offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferReport {
    /// Its place in the seller's list, from 0.
    pub index: u32,
    /// Whether it was passed over as unsupported; its other rules were then not looked at.
    pub skipped: bool,
    /// Every rule that was looked at, in order.
    pub findings: Vec<Finding>,
    /// Its terms, if it passed.
    pub terms: Option<Terms>,
    /// What it asks for, as far as it can be read: also of an offer that is refused.
    pub asked: Option<Asked>,
}

/// What an offer asks for, refused or not: for people who want to know what else stands against it. Nothing can be paid
/// with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The payee.
    pub payee: Address,
    /// The asset, one that the rules list.
    pub asset: AssetId,
    /// The price, at par.
    pub money: Money,
}

impl OfferReport {
    /// The reasons against it, in the order of the rules.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.findings.iter().filter_map(|finding| finding.refusal.as_ref())
    }
}

/// One rule and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the rule, for people.
    pub rule: &'static str,
    /// The reason, if it failed.
    pub refusal: Option<Refusal>,
    /// What was looked at, escaped; or the reason as a sentence.
    pub note: String,
}

impl Finding {
    /// Whether the rule let it through.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.refusal.is_none()
    }
}

struct Passed {
    terms: Terms,
    money: Money,
}

/// The better one of two that pass: the earlier, unless the later costs less of the same currency.
fn cheaper(best: Option<Passed>, next: Passed) -> Passed {
    match best {
        Some(best) if best.money.is_within(next.money) => best,
        Some(best) if best.money.currency() != next.money.currency() => best,
        _ => next,
    }
}
