//! The rules at work for a person's eyes: every rule of every offer, pass or fail. Claims nothing, signs nothing.

use bursar_policy::limit::PaymentFacts;
use bursar_policy::{
    Acquaintance, Concern, Errand, Judgement, Money, Refusal, Rules, SessionId, Site, Terms, Vetted, concerns, inspect,
    may_visit,
};
use bursar_tools::payments::OtherMethod;
use bursar_vault::protocol::{Released, Welcome};
use bursar_vault::rules_file;

use super::end::End;
use super::visit::redirect;
use super::{Buyer, other_method};
use crate::clock;
use crate::net::{Limits, Resolver};
use crate::wallet::{Conversation, WalletFault};
use crate::wire::challenge::MAX_BODY_BYTES;
use crate::wire::{Found, HeaderView, read};

/// What the rules in force make of an errand and a seller's answer.
#[derive(Debug)]
pub struct Inspection {
    /// The text of the rules that were held against it; empty where the vault could not be asked for them.
    pub rules: String,
    /// What came of it.
    pub verdict: Verdict,
}

/// What came of looking.
#[derive(Debug)]
pub enum Verdict {
    /// Terms were found, and each was held against each rule.
    Judged {
        /// Rule by rule.
        judgement: Box<Judgement>,
        /// The price of the terms that would be chosen.
        price: Option<Money>,
        /// The method that the seller describes, where it is another than the one that was asked.
        other_method: Option<OtherMethod>,
        /// Why a person would look at those terms first, as far as the rules alone say so: what is new for a host, or
        /// dear for it, only the ledger knows.
        concerns: Vec<Concern>,
    },
    /// The answer asks for nothing that bursar pays; one sentence says why.
    NothingToPay(String),
    /// Refused before terms were read.
    Refused(Vec<Refusal>),
    /// It could not be looked at; one sentence says why.
    Failed(String),
    /// The vault cannot be asked for the rules; one sentence says why.
    NotReady(String),
}

impl From<End> for Verdict {
    fn from(end: End) -> Self {
        match end {
            End::No(refusals) => Self::Refused(refusals),
            End::Fault(reason) => Self::Failed(reason.sentence().to_owned()),
        }
    }
}

impl<R: Resolver> Buyer<R> {
    /// Asks the seller without money, and without any secret, and holds its answer against the rules.
    pub async fn inspect_live(&self, errand: &Errand, body: Option<Vec<u8>>) -> Inspection {
        let vault = match self.wallet.open().await {
            Ok(vault) => vault,
            Err(fault) => return not_ready(&fault),
        };
        let verdict = self.look(&vault, errand, body).await.unwrap_or_else(Verdict::from);
        Inspection { rules: vault.welcome().rules.clone(), verdict }
    }

    /// Holds a recorded 402 against the rules; sends nothing.
    pub async fn inspect_recorded(&self, errand: &Errand, headers: &[(String, Vec<u8>)], body: &[u8]) -> Inspection {
        let vault = match self.wallet.open().await {
            Ok(vault) => vault,
            Err(fault) => return not_ready(&fault),
        };
        let verdict = weigh(&vault, errand, headers, body, None).unwrap_or_else(Verdict::from);
        Inspection { rules: vault.welcome().rules.clone(), verdict }
    }

    async fn look(&self, vault: &Conversation, errand: &Errand, body: Option<Vec<u8>>) -> Result<Verdict, End> {
        let site = may_look(vault, errand)?;
        let visit = self.reach(vault, errand, body, site, Released::default()).await?;
        let reply = visit.exchange.send(&visit.ask, &Limits::bare()).await?;
        match reply.status() {
            402 => {}
            300..=399 => return Err(End::No(vec![redirect(&reply)])),
            status => {
                return Ok(Verdict::NothingToPay(format!(
                    "the seller answered with status {status} and asks for nothing"
                )));
            }
        }
        let headers = reply.headers().to_vec();
        let cap = u64::try_from(MAX_BODY_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let (body, _) = reply.into_body().collect(cap).await;
        weigh(vault, errand, &headers, &body, Some(clock::now_s()))
    }
}

/// Without `at_s` the answer is judged as at its own time, where it tells one.
fn weigh(
    vault: &Conversation,
    errand: &Errand,
    headers: &[(String, Vec<u8>)],
    body: &[u8],
    at_s: Option<u64>,
) -> Result<Verdict, End> {
    match read(HeaderView::new(headers), body)? {
        Found::NotX402(rail) => Ok(Verdict::NothingToPay(rail.sentence().to_owned())),
        Found::Demand(demand) => {
            let (rules, payer) = (vault.rules(), vault.welcome().payer);
            let now_s = at_s.or(demand.challenge().seller_time_s).unwrap_or_else(clock::now_s);
            let judgement = inspect(&rules, errand, demand.challenge(), payer, now_s);
            let chosen = judgement.chosen.as_ref();
            let price = chosen.and_then(|terms| Money::of(terms.amount, rules.asset(&terms.asset_id())?));
            let concerns = chosen.zip(price).map(|(terms, price)| by_the_rules_alone(&rules, errand, terms, price));
            Ok(Verdict::Judged {
                other_method: other_method(&demand, errand),
                concerns: concerns.unwrap_or_default(),
                judgement: Box::new(judgement),
                price,
            })
        }
    }
}

/// What sends a payment to a person even where everything about its host is known.
fn by_the_rules_alone(rules: &Rules, errand: &Errand, terms: &Terms, money: Money) -> Vec<Concern> {
    let facts = PaymentFacts {
        session: SessionId::from_random([0; 16]),
        site: errand.site.clone(),
        payee: terms.payee,
        asset: terms.asset_id(),
        money,
        tags: rules.tags(&errand.site, &terms.payee),
    };
    let known = Acquaintance { paid_before: true, payee: true, network: true, asset: true, ..Acquaintance::default() };
    concerns(rules, &facts, &known, errand.suspicious.as_ref())
}

/// The site, vetted for a look that pays nothing: a person who asks what a seller wants may ask one that no rule lists
/// yet. Everything else that is asked of a site (https, a public address) stays asked.
fn may_look(vault: &Conversation, errand: &Errand) -> Result<Vetted<Site>, End> {
    let reasons = match may_visit(&vault.rules(), errand) {
        Ok(site) => return Ok(site),
        Err(reasons) => reasons,
    };
    let only_unlisted = reasons
        .iter()
        .all(|reason| matches!(reason, Refusal::HostNotAllowed { .. } | Refusal::MethodNotAllowed { .. }));
    let Welcome { rules, setting, .. } = vault.welcome();
    let listed =
        format!("{rules}\n[[host]]\norigin = \"{}\"\nmethods = [\"{}\"]\n", errand.site.origin(), errand.method);
    match rules_file::parse(&listed, *setting) {
        Ok(with_this_host) if only_unlisted => may_visit(&with_this_host, errand).map_err(End::No),
        _ => Err(End::No(reasons)),
    }
}

fn not_ready(fault: &WalletFault) -> Inspection {
    Inspection { rules: String::new(), verdict: Verdict::NotReady(fault.to_string()) }
}
