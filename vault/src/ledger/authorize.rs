//! Judge, admit and count one payment in one exclusive transaction. Must never let a signature be asked for before the
//! row is on the disk.
//!
//! The halves are private: nobody can count what was not judged in the same transaction, and nobody can sign what was
//! not counted, because only a counted row makes a `Reservation<Exposed>`.

use std::sync::Arc;

use bursar_policy::authorization::validity;
use bursar_policy::budget::{Admitted, admit};
use bursar_policy::chain::Address;
use bursar_policy::digest::Digest;
use bursar_policy::errand::{ApprovalId, Errand, Method, PaymentId, QuoteId, SessionId};
use bursar_policy::gate::judge;
use bursar_policy::limit::PaymentFacts;
use bursar_policy::money::Money;
use bursar_policy::quantity::Moment;
use bursar_policy::quoted::Quoted;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::site::Site;
use bursar_policy::terms::Terms;

use super::claim::ClaimGuard;
use super::events::EventKind;
use super::fault::LedgerFault;
use super::handle::{self, Drawn};
use super::number::to_sql;
use super::quote::Shelf;
use super::rows::{self, Payment};
use super::states::{Exposed, NotSigned, Reservation, RowState};
use super::store::bound;
use super::writer::{Answer, Tx};
use super::{
    Ledger, Price, Source, acquaintance, approval, breaker, claim as claims, custody, meta, prove, session, standing,
    sweep, tally,
};
use crate::failpoint;
use crate::protocol::{ENVELOPE_MAX_BYTES, Signed};

/// What is to be paid and by whom. Terms are judged again here; nothing in this is believed.
#[derive(Debug)]
pub struct Ask {
    /// The terms as trusted code rebuilt them.
    pub terms: Terms,
    /// Opaque bytes for a re-send.
    pub envelope: String,
    /// The account that would sign.
    pub payer: Address,
    /// The id of the row, from fresh random bytes.
    pub payment: PaymentId,
    /// The id of the question, from fresh random bytes, should a person have to look first.
    pub approval: ApprovalId,
    /// The authorization's nonce: 32 fresh random bytes.
    pub nonce: [u8; 32],
}

/// What became of an ask.
#[derive(Debug)]
pub enum Counted {
    /// It is counted and on the disk.
    Yes(Box<Reservation>),
    /// It is not, for these reasons; the claim goes back to its owner.
    No {
        /// The claim.
        claim: ClaimGuard,
        /// The reasons, in order of precedence.
        reasons: Vec<Refusal>,
    },
}

/// What a payment is counted for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// To be signed now.
    Sign,
    /// To be held until this handle is redeemed.
    Hold(Drawn),
}

impl Ledger {
    /// Judges `ask` for the claimed errand under `rules`, admits it against everything counted so far, and writes it
    /// down as exposed: from here on a signature may exist. Returns when that is on the disk.
    ///
    /// Where nothing but a person's word is missing, it is put before a person, and the refusal says under which id; a
    /// yes that was given is used up with the row.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then there must be no signature, whatever the disk says after the next start.
    pub fn authorize(&self, claim: ClaimGuard, ask: Ask, rules: &Arc<Rules>) -> Result<Counted, LedgerFault> {
        Ok(match self.count(&claim, ask, rules, Purpose::Sign)? {
            Err(reasons) => Counted::No { claim, reasons },
            Ok(row) => {
                failpoint::reach("vault-exposed-committed");
                let exposed = Exposed { authorization: row.authorization(), terms: row.terms };
                Counted::Yes(Box::new(Reservation { payment: row.id, claim, exposed }))
            }
        })
    }

    /// Gives exposed money back, and the claim, on the signer's own word that it made no signature. Takes effect only
    /// while the row has none.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then the money stays counted.
    pub fn void(&self, exposed: Reservation, _word: NotSigned) -> Result<(), LedgerFault> {
        let id = exposed.payment.clone();
        self.writer.ask(move |tx| {
            custody::check(tx, &id)?;
            let row = rows::by_id(tx.conn, &id)?;
            if row.signature.is_some() || row.state != RowState::Exposed {
                return Err(LedgerFault::Rule { detail: "the payment is signed or over".to_owned() });
            }
            sweep::void(tx, &row, "the signer says that it did not sign")?;
            Ok(Answer::Durable(()))
        })
    }

    /// Puts the signature on its row; returns when it is committed, so that a retry after a crash sends these bytes. A power
    /// cut may take it from the row and nothing else: the money is counted on the disk already, and a row without a
    /// signature is never signed later.
    ///
    /// `signature` is `0x` and 130 lower-case hex digits. The same one again changes nothing; another one is refused.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then the signature must not leave the process.
    pub fn store_signature(&self, exposed: &Reservation, signature: &str) -> Result<Signed, LedgerFault> {
        failpoint::reach("vault-signed");
        let (id, signature) = (exposed.payment.clone(), signature.to_owned());
        let signed = self.writer.ask(move |tx| {
            custody::check(tx, &id)?;
            let before = rows::by_id(tx.conn, &id)?;
            if let Some(signed) = before.signed().filter(|signed| signed.signature == signature) {
                return Ok(Answer::AfterCommit(signed));
            }
            tx.conn.execute(
                "UPDATE payment SET signature = ?1, signed_s = ?2, updated_s = ?2 WHERE id = ?3",
                bound![signature, to_sql(tx.now_s)?, id.as_str()],
            )?;
            let row = rows::by_id(tx.conn, &id)?;
            sweep::written(tx, &row, EventKind::Signed, format!("valid before {}", Moment(row.valid_before)))?;
            let signed = row.signed().ok_or(LedgerFault::Unreadable { what: "signature" })?;
            failpoint::reach("vault-signature-uncommitted");
            Ok(Answer::AfterCommit(signed))
        })?;
        failpoint::reach("vault-signature-committed");
        Ok(signed)
    }

    /// Judges, admits and counts for `purpose`. What is held for the same purchase comes back first: it is bought anew.
    pub(super) fn count(
        &self,
        claim: &ClaimGuard,
        ask: Ask,
        rules: &Arc<Rules>,
        purpose: Purpose,
    ) -> Result<Result<Payment, Vec<Refusal>>, LedgerFault> {
        let (terms, payment) = (ask.terms.clone(), ask.payment.clone());
        self.give_back_unsigned()?;
        let case = Case::of(claim, ask, rules, &self.quotes);
        let counted = self.writer.ask(move |tx| {
            meta::is_paid_by(tx.conn, case.ask.payer)?;
            claims::still_new(tx, &case.session, &case.errand, &case.identity, &case.rules)?;
            if !tx.latched {
                sweep::due(tx)?;
                if let Some(earlier) = rows::by_identity(tx.conn, &case.identity)? {
                    handle::close_of(tx, &earlier)?;
                }
            }
            let state = match purpose {
                Purpose::Sign => RowState::Exposed,
                Purpose::Hold(_) => RowState::Held,
            };
            let row = match case.decide(tx)?.and_then(|admitted| case.row(tx, &admitted, state)) {
                Ok(row) => row,
                Err(reasons) => return case.refused(tx, reasons),
            };
            rows::insert(tx.conn, &row)?;
            custody::take(tx, &row.id)?;
            tally::set_aside(tx.conn, &row.facts())?;
            prove::remember(tx.conn, &row)?;
            let approved = approval::use_up(tx, &case.errand.binding(&row.session, &row.terms), &row.id)?;
            let (kind, step) = match &purpose {
                Purpose::Sign => {
                    acquaintance::learn(tx.conn, &row)?;
                    (EventKind::Exposed, "vault-exposed-uncommitted")
                }
                Purpose::Hold(drawn) => {
                    handle::open(tx, &row, drawn)?;
                    (EventKind::Held, "vault-held-uncommitted")
                }
            };
            sweep::written(tx, &row, kind, told(&row, approved.as_ref()))?;
            failpoint::reach(step);
            Ok(Answer::Durable(Ok(row)))
        });
        let counted = self.or_unsigned(&payment, counted)?;
        if let Err(reasons) = &counted
            && !matches!(reasons[..], [Refusal::NeedsApproval { .. }])
        {
            self.note_refused(Source::Vault, Some(claim.session()), claim.errand(), Price::Judged(&terms), reasons);
        }
        Ok(counted)
    }
}

/// One ask with everything that its transaction needs, owned.
struct Case {
    session: SessionId,
    errand: Arc<Errand>,
    identity: Digest,
    ask: Ask,
    rules: Arc<Rules>,
    quotes: Arc<Shelf>,
}

impl Case {
    fn of(claim: &ClaimGuard, ask: Ask, rules: &Arc<Rules>, quotes: &Arc<Shelf>) -> Self {
        Self {
            session: claim.session().clone(),
            errand: claim.shared_errand(),
            identity: claim.identity(),
            ask,
            rules: Arc::clone(rules),
            quotes: Arc::clone(quotes),
        }
    }

    fn decide(&self, tx: &Tx<'_>) -> Result<Result<Admitted, Vec<Refusal>>, LedgerFault> {
        let pinned = self.errand.quote.as_ref().map(|quote| self.against_quote(quote, tx.now_s));
        if let Some(Err(reason)) = pinned {
            return Ok(Err(vec![reason]));
        }
        decide(tx, &self.rules, &self.session, &self.errand, &self.ask.terms, self.ask.payer, None)
    }

    fn against_quote(&self, quote: &QuoteId, now_s: u64) -> Result<(), Refusal> {
        self.quotes.check(quote, &self.session, &self.errand, &self.ask.terms, now_s)
    }

    /// Where only a person's word is missing, asks for it; every other refusal stays as it is, and counts against a
    /// seller that is to blame for it.
    fn refused(
        &self,
        tx: &Tx<'_>,
        reasons: Vec<Refusal>,
    ) -> Result<Answer<Result<Payment, Vec<Refusal>>>, LedgerFault> {
        let terms = &self.ask.terms;
        let asset = self.rules.asset(&terms.asset_id());
        let priced = asset.and_then(|asset| Some((asset, Money::of(terms.amount, asset)?)));
        let ([Refusal::NeedsApproval { concerns, .. }], Some((asset, money))) = (&reasons[..], priced) else {
            let struck = breaker::struck(tx, &self.rules, Some(&self.session), &self.errand, &reasons)?;
            return Ok(struck.answer(Err(reasons)));
        };
        let asking = approval::Asking {
            id: &self.ask.approval,
            session: &self.session,
            errand: &self.errand,
            terms,
            symbol: &asset.symbol,
            money,
            life_s: self.rules.approval_life_s(),
        };
        Ok(Answer::Durable(Err(vec![approval::ask(tx, &asking, concerns.clone())?])))
    }

    /// The row of an admitted payment. Everything in it comes from the terms that were judged and from the claim.
    fn row(&self, tx: &Tx<'_>, admitted: &Admitted, state: RowState) -> Result<Payment, Vec<Refusal>> {
        let terms = admitted.terms().clone();
        let life = validity(terms.version, tx.now_s, terms.max_timeout_s, self.rules.max_lifetime_s());
        let (valid_after, valid_before) =
            life.ok_or_else(|| vec![Refusal::LifetimeTooShort { life_s: terms.max_timeout_s }])?;
        if ENVELOPE_MAX_BYTES < self.ask.envelope.len() {
            let why = Quoted::of("what has to be kept for a re-send is over 64 KiB");
            return Err(vec![Refusal::TermsTooLarge { why }]);
        }
        let asset = self.rules.asset(&terms.asset_id());
        Ok(Payment {
            id: self.ask.payment.clone(),
            state,
            session: self.session.clone(),
            identity: self.identity,
            subject: self.errand.subject(),
            purchase_id: self.errand.purchase_id.clone(),
            site: self.errand.site.clone(),
            method: self.errand.method,
            body: self.errand.body.map(|body| body.digest),
            symbol: asset.map(|asset| asset.symbol.clone()).unwrap_or_default(),
            payer: self.ask.payer,
            money: admitted.money(),
            tags: admitted.facts().tags.clone(),
            nonce: self.ask.nonce,
            valid_after,
            valid_before,
            envelope: self.ask.envelope.clone(),
            created_s: tx.now_s,
            signature: None,
            delivery: None,
            claim: None,
            transaction: None,
            ended_s: None,
            proof: None,
            terms,
        })
    }
}

/// Judges `terms` for `errand` again and holds them against everything that is counted: the one place for everything that
/// can stand against a payment. `own` is the payment itself, where it is counted already; it does not stand in its own way.
pub(super) fn decide(
    tx: &Tx<'_>,
    rules: &Rules,
    session: &SessionId,
    errand: &Errand,
    terms: &Terms,
    payer: Address,
    own: Option<&Payment>,
) -> Result<Result<Admitted, Vec<Refusal>>, LedgerFault> {
    let vetted = match judge(rules, errand, &terms.to_challenge(), Some(payer), tx.now_s) {
        Ok(vetted) => vetted,
        Err(reasons) => return Ok(Err(reasons)),
    };
    let Some(open) = session::by_id(tx.conn, session)? else {
        return Ok(Err(vec![Refusal::NoSession]));
    };
    let asset = terms.asset_id();
    let Some(money) = rules.asset(&asset).and_then(|known| Money::of(terms.amount, known)) else {
        return Ok(Err(vec![Refusal::AssetNotAllowed { asset }]));
    };
    let payee = vetted.get().payee;
    let facts = PaymentFacts {
        session: session.clone(),
        site: errand.site.clone(),
        payee,
        asset,
        money,
        tags: rules.tags(&errand.site, &payee),
    };
    let standing = standing::read(tx, rules, &open, errand, Some(payer), &facts, own)?;
    let standing = approval::heard(tx, rules, &facts, standing, &errand.binding(session, vetted.get()), own)?;
    Ok(admit(rules, &standing, vetted, facts, tx.now_s))
}

/// What is paid to whom for what, for the log.
pub(super) fn deal(money: Money, terms: &Terms, symbol: &str, method: Method, site: &Site) -> String {
    let Terms { amount, payee, chain, .. } = terms;
    format!("{money} ({amount} {symbol}) to {payee} on {chain} for {method} {}", site.origin())
}

/// [`deal`], and whose word it took.
pub(super) fn told(row: &Payment, approved: Option<&ApprovalId>) -> String {
    let deal = deal(row.money, &row.terms, &row.symbol, row.method, &row.site);
    match approved {
        None => deal,
        Some(id) => format!("{deal}; a person said yes to `{id}`"),
    }
}
