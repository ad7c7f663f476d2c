//! Quotes: terms that were shown and may be paid later, unchanged. Must never count money or outlive the vault.
//!
//! They are kept in memory: after a restart a quote is unknown and the caller asks for another, which costs nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bursar_policy::budget::against;
use bursar_policy::chain::Address;
use bursar_policy::digest::Digest;
use bursar_policy::errand::{Errand, QuoteId, SessionId, SessionName};
use bursar_policy::gate::Asked;
use bursar_policy::limit::PaymentFacts;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::{MandateNeed, Rules};
use bursar_policy::terms::Terms;

use super::fault::LedgerFault;
use super::writer::Answer;
use super::{Ledger, authorize, breaker, meta, session, standing};

/// How long a quote holds, in seconds.
pub const QUOTE_LIFE_S: u64 = 600;

/// The most quotes that are kept; the oldest goes first.
const KEPT_MAX: usize = 1024;

/// The quotes that are still good.
#[derive(Debug, Default)]
pub(super) struct Shelf(Mutex<BTreeMap<QuoteId, Quote>>);

#[derive(Debug)]
struct Quote {
    session: SessionId,
    subject: Digest,
    terms: Terms,
    expires_s: u64,
}

impl Shelf {
    /// Whether `terms` are what `quote` promised for this errand.
    pub(super) fn check(
        &self,
        quote: &QuoteId,
        session: &SessionId,
        errand: &Errand,
        terms: &Terms,
        now_s: u64,
    ) -> Result<(), Refusal> {
        let kept = self.kept();
        let found = kept.get(quote).filter(|found| now_s < found.expires_s);
        let found = found.filter(|found| found.session == *session && found.subject == errand.subject());
        match found {
            None => Err(Refusal::QuoteUnknown),
            Some(found) if same_deal(&found.terms, terms) => Ok(()),
            Some(_) => Err(Refusal::QuoteChanged),
        }
    }

    fn keep(&self, id: QuoteId, quote: Quote, now_s: u64) {
        let mut kept = self.kept();
        kept.retain(|_id, old| now_s < old.expires_s);
        if KEPT_MAX <= kept.len() {
            let oldest = kept.iter().min_by_key(|(_, old)| old.expires_s).map(|(id, _)| id.clone());
            if let Some(oldest) = oldest {
                kept.remove(&oldest);
            }
        }
        kept.insert(id, quote);
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<QuoteId, Quote>> {
        // Each change is one call on the map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Equal in everything that is signed. The place in the seller's list and its timeout may move.
fn same_deal(one: &Terms, other: &Terms) -> bool {
    one.chain == other.chain
        && one.asset == other.asset
        && one.payee == other.payee
        && one.amount == other.amount
        && one.domain_name == other.domain_name
        && one.domain_version == other.domain_version
}

impl Ledger {
    /// What [`Ledger::authorize`] would say now: every reason against it, or nothing. When it is nothing, `id` pins the
    /// terms for [`QUOTE_LIFE_S`]. Counts no money and promises none: a later fetch is judged and admitted anew. A refusal
    /// that blames the seller counts against it, as one of a purchase does.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn quote(
        &self,
        id: QuoteId,
        session: &SessionId,
        errand: &Errand,
        terms: Terms,
        payer: Address,
        rules: &Arc<Rules>,
    ) -> Result<Vec<Refusal>, LedgerFault> {
        let (session, errand, rules) = (session.clone(), errand.clone(), Arc::clone(rules));
        let quotes = Arc::clone(&self.quotes);
        self.writer.ask(move |tx| {
            let decided = authorize::decide(tx, &rules, &session, &errand, &terms, payer, None)?;
            let reasons = decided.err().unwrap_or_default();
            if reasons.is_empty() {
                let expires_s = tx.now_s.saturating_add(QUOTE_LIFE_S);
                let quote = Quote { session, subject: errand.subject(), terms, expires_s };
                quotes.keep(id, quote, tx.now_s);
                return Ok(Answer::AtOnce(reasons));
            }
            let struck = breaker::struck(tx, &rules, Some(&session), &errand, &reasons)?;
            Ok(struck.answer(reasons))
        })
    }

    /// Why the seller of `errand` is not visited for a quote out of `session`; nothing when it may be. A price is looked at
    /// also where nothing could be bought now, but not where the rules want a mandate and nobody opened a session.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn unasked(
        &self,
        session: Option<&SessionId>,
        errand: &Errand,
        rules: &Arc<Rules>,
    ) -> Result<Vec<Refusal>, LedgerFault> {
        let (session, errand, rules) = (session.cloned(), errand.clone(), Arc::clone(rules));
        self.writer.ask(move |tx| {
            let open = session.map_or(Ok(None), |id| session::by_id(tx.conn, &id))?;
            let nobody = open.is_none() && rules.mandate() == MandateNeed::Required;
            let reasons = nobody.then_some(Refusal::NoSession).into_iter().collect();
            standing::unasked(tx, &rules, open.as_ref(), &errand, reasons).map(Answer::AtOnce)
        })
    }

    /// What stands against a payment of `asked` for `errand` out of the newest session called `name`, beside the rules
    /// that the gate judges by: every reason, or nothing. For the operator's eyes; counts nothing.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn against(
        &self,
        name: SessionName,
        errand: Errand,
        asked: Asked,
        rules: &Arc<Rules>,
    ) -> Result<Vec<Refusal>, LedgerFault> {
        let rules = Arc::clone(rules);
        self.writer.ask(move |tx| {
            let Some(open) = session::named(tx.conn, &name)? else {
                return Ok(Answer::AtOnce(vec![Refusal::NoSession]));
            };
            let facts = PaymentFacts {
                session: open.id.clone(),
                site: errand.site.clone(),
                payee: asked.payee,
                asset: asked.asset,
                money: asked.money,
                tags: rules.tags(&errand.site, &asked.payee),
            };
            let payer = meta::read(tx.conn)?.key_address;
            let standing = standing::read(tx, &rules, &open, &errand, payer, &facts, None)?;
            Ok(Answer::AtOnce(against(&rules, &standing, &facts, tx.now_s)))
        })
    }
}
