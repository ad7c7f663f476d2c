//! One purchase, top to bottom. Each line consumes the value the line above produced; nothing here decides.
//!
//! The rules are applied in `bursar_policy` and, for everything that is signed, again in the vault. Up to
//! [`Conversation::authorize`] a purchase can be given up as if it had never been asked for; after it, the seller may
//! hold a signature, and every end says so with a receipt.

mod browser;
mod deliver;
mod end;
mod inspect;
mod offer;
mod recall;
mod shown;
mod told;
mod verify;
mod visit;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use bursar_policy::{Digest, Errand, Handle, Money, PageOpening, Rules, Terms, Vetted, judge, may_visit};
use bursar_tools::payments::{
    Attachment, Content, Noticed, OtherMethod, Payments, Preparation, Price, Purchase, Quote, Reason, Recall, Standing,
    Wanted,
};
use bursar_tools::{Progress, Stage};
use bursar_vault::failpoint;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{Claimed, Past, Released, Signed};

use crate::authorities;
use crate::clock;
use crate::console_note;
use crate::content::ContentStore;
use crate::net::{Resolver, Tls};
use crate::wallet::{Conversation, Wallet, WalletFault};
use crate::wire::{Demand, Envelope};
use deliver::Paying;
use end::{Declined, End};
pub use inspect::{Inspection, Verdict};
pub use offer::Pauses;
use visit::{Seen, Visit};

/// The shell's implementation of the tools: it has the network and the content folder, and asks the vault for the rest.
#[derive(Debug)]
pub struct Buyer<R> {
    wallet: Wallet,
    resolver: R,
    content: ContentStore,
    profile: Profile,
    home: PathBuf,
    pauses: Pauses,
    now_s: fn() -> u64,
    tls: Mutex<Option<(Digest, Tls)>>,
}

impl<R: Resolver> Buyer<R> {
    /// A buyer for `profile` that spends through `wallet` and finds sellers with `resolver`.
    #[must_use]
    pub fn new(profile: &Profile, wallet: Wallet, resolver: R, content: ContentStore) -> Self {
        Self {
            wallet,
            resolver,
            content,
            profile: profile.clone(),
            home: profile.home().to_owned(),
            pauses: Pauses::default(),
            now_s: clock::now_s,
            tls: Mutex::new(None),
        }
    }

    /// The same with other pauses before a payment is offered again.
    #[must_use]
    pub fn pausing(self, pauses: Pauses) -> Self {
        Self { pauses, ..self }
    }

    /// The same by another clock, which tells Unix seconds.
    #[must_use]
    pub fn by_clock(self, now_s: fn() -> u64) -> Self {
        Self { now_s, ..self }
    }

    async fn purchase(
        &self,
        errand: &Errand,
        body: Option<Vec<u8>>,
        progress: &Progress,
        noticed: &mut Option<OtherMethod>,
    ) -> Result<Purchase, End> {
        progress.at(Stage::Claiming);
        let mut vault = self.wallet.open().await?;
        let claimed = vault.claim(errand).await??;
        failpoint::reach("serve-claimed");
        match claimed {
            Claimed::New => self.buy(&mut vault, errand, body, progress, noticed).await,
            Claimed::Repeat(past) => Ok(self.past(&vault, errand, &past)),
            Claimed::Resend(signed) => Ok(self.send_again(&mut vault, errand, body, *signed, progress).await),
        }
    }

    /// A purchase that nobody made yet: steps 3 to 13.
    async fn buy(
        &self,
        vault: &mut Conversation,
        errand: &Errand,
        body: Option<Vec<u8>>,
        progress: &Progress,
        noticed: &mut Option<OtherMethod>,
    ) -> Result<Purchase, End> {
        let rules = vault.rules();
        let released = vault.secrets(errand).await??;
        let judged = self.terms(vault, errand, body, released, progress, noticed).await;
        let (visit, demand, terms) = match judged {
            Ok(Judged::Payable { visit, demand, terms }) => (visit, demand, terms),
            Ok(Judged::Free { content, note }) => return Ok(Purchase::Free { content, note }),
            Err(declined) => return Err(self.declined(vault, errand, declined).await),
        };
        let Some(envelope) = demand.envelope(terms.get().offer) else {
            return Err(End::broken("the chosen offer is not in the seller's list"));
        };
        if !progress.wanted() {
            return Err(End::given_up());
        }
        self.content.room()?;
        progress.at(Stage::Authorizing);
        let signed = match vault.authorize(terms.get(), envelope.to_text()).await {
            Ok(answer) => *answer?,
            // No yes and no no: a signature may exist in the vault, so this is not told as a failure.
            Err(fault) if fault.may_have_signed() => return Ok(told::no_word_from_the_vault(&fault)),
            Err(fault) => return Err(fault.into()),
        };
        // From here on a signature exists.
        failpoint::reach("serve-authorized");
        let payer = vault.welcome().payer;
        let checked = verify::signed_as_judged(&signed, terms.get(), &rules, payer)
            .and_then(|()| verify::window_as_judged(&signed.authorization, terms.get(), &rules, (self.now_s)()));
        if let Err(fault) = checked {
            return Ok(told::mismatch(&signed, &rules, &fault));
        }
        let paying = Paying { visit: *visit, signed, envelope };
        Ok(self.deliver(vault, &rules, paying, progress).await)
    }

    /// Signed before and still unresolved: the same bytes go out again, to an address that is judged anew.
    async fn send_again(
        &self,
        vault: &mut Conversation,
        errand: &Errand,
        body: Option<Vec<u8>>,
        signed: Signed,
        progress: &Progress,
    ) -> Purchase {
        let rules = vault.rules();
        let terms = signed.terms.clone();
        let checked = verify::signed_as_judged(&signed, &terms, &rules, vault.welcome().payer);
        let envelope = Envelope::parse(&signed.envelope);
        let reached = match (may_visit(&rules, errand), vault.secrets(errand).await) {
            (Ok(site), Ok(Ok(released))) => self.reach(vault, errand, body, site, released).await,
            (Err(refusals), _) | (_, Ok(Err(refusals))) => Err(End::No(refusals)),
            (_, Err(fault)) => Err(fault.into()),
        };
        let (Ok(()), Ok(envelope), Ok(visit)) = (checked, envelope, reached) else {
            return told::not_sent_again(&signed, &rules);
        };
        let paying = Paying { visit, signed, envelope };
        told::repeated(self.deliver(vault, &rules, paying, progress).await)
    }

    /// Bought before: the result of then, with nothing sent.
    fn past(&self, vault: &Conversation, errand: &Errand, past: &Past) -> Purchase {
        told::past(past, |content, status| self.shown(&vault.rules(), &errand.site, content, status))
    }

    /// Steps 3 to 7: from an errand to terms that the rules allow, or to an answer that costs nothing. What is worth a
    /// note about a seller's terms is put into `noticed`, whatever the rules say of them.
    async fn terms(
        &self,
        vault: &Conversation,
        errand: &Errand,
        body: Option<Vec<u8>>,
        released: Released,
        progress: &Progress,
        noticed: &mut Option<OtherMethod>,
    ) -> Result<Judged, Declined> {
        let rules = vault.rules();
        let site = may_visit(&rules, errand).map_err(End::No)?;
        progress.at(Stage::Visiting);
        let visit = self.reach(vault, errand, body, site, released).await?;
        let demand = match self.ask_bare(&rules, &visit).await? {
            Seen::Free { content, note } => return Ok(Judged::Free { content, note }),
            Seen::Demand(demand) => demand,
        };
        progress.at(Stage::Judging);
        *noticed = other_method(&demand, errand);
        let terms = judge(&rules, errand, demand.challenge(), vault.welcome().payer, (self.now_s)())
            .map_err(|refusals| Declined::by_the_rules(refusals, demand.challenge()))?;
        Ok(Judged::Payable { visit: Box::new(visit), demand: Box::new(demand), terms })
    }

    /// Tells the operator's log about a refusal that the vault did not see.
    async fn declined(&self, vault: &mut Conversation, errand: &Errand, declined: Declined) -> End {
        let Declined { end, sought } = declined;
        if let End::No(refusals) = &end
            && let Err(fault) = vault.decline(errand, sought, refusals).await
        {
            tracing::warn!("a refusal could not be written to the log: {fault}");
        }
        end
    }

    async fn price(
        &self,
        errand: &Errand,
        body: Option<Vec<u8>>,
        noticed: &mut Option<OtherMethod>,
    ) -> Result<Quote, End> {
        let mut vault = self.wallet.open().await?;
        let rules = vault.rules();
        // Before the first byte goes out, as a claim is for a purchase.
        vault.quote(errand, None).await??;
        let released = vault.secrets(errand).await??;
        match self.terms(&vault, errand, body, released, &Progress::silent(), noticed).await {
            Ok(Judged::Free { content, note }) => Ok(Quote::Free { content, note }),
            Ok(Judged::Payable { terms, .. }) => {
                let terms = terms.into_inner();
                let asset = rules.asset(&terms.asset_id()).ok_or_else(|| End::broken("the asset is in no table"))?;
                let money = Money::of(terms.amount, asset).ok_or_else(|| End::broken("the price cannot be counted"))?;
                let price = Price {
                    money,
                    symbol: asset.symbol.clone(),
                    chain: terms.chain,
                    payee: terms.payee,
                    description: None,
                };
                match vault.quote(errand, Some(&terms)).await?? {
                    Some(quote) => Ok(Quote::Payable { quote, price }),
                    None => Err(End::broken("the vault gave no quote id")),
                }
            }
            Err(declined) => Err(self.declined(&mut vault, errand, declined).await),
        }
    }

    /// The TLS configuration for `rules`: the public web's authorities, the one that a corporate network needs, and in a
    /// sandbox its own.
    fn tls(&self, rules: &Rules, digest: Digest) -> Result<Tls, End> {
        let mut known = self.tls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tls)) = known.as_ref()
            && *of == digest
        {
            return Ok(tls.clone());
        }
        let pems = authorities::read(rules, &self.home).map_err(|fault| End::unreadable_authority(&fault))?;
        let built = Tls::also_trusting(pems.iter().map(Vec::as_slice));
        let tls = built.map_err(|fault| End::fault("tls_setup", fault.to_string()))?;
        *known = Some((digest, tls.clone()));
        Ok(tls)
    }
}

/// The method that a seller describes in place of the one that it was asked by.
fn other_method(demand: &Demand, errand: &Errand) -> Option<OtherMethod> {
    demand.other_method(errand.method).map(|documented| OtherMethod { asked: errand.method, documented })
}

/// What an errand came to before any money was set aside.
enum Judged {
    /// Terms that the rules allow.
    Payable { visit: Box<Visit>, demand: Box<Demand>, terms: Vetted<Terms> },
    /// Nothing to pay.
    Free { content: Content, note: Option<Reason> },
}

impl<R: Resolver + 'static> Payments for Buyer<R> {
    async fn fetch(&self, errand: Errand, body: Option<Vec<u8>>, progress: Progress) -> Noticed<Purchase> {
        let mut other_method = None;
        let purchase = self.purchase(&errand, body, &progress, &mut other_method).await;
        Noticed { answer: purchase.unwrap_or_else(End::into_purchase), other_method }
    }

    async fn recall(&self, wanted: Wanted) -> Recall {
        self.copy(wanted).await.unwrap_or_else(|end| Recall::Not(end.into_reason()))
    }

    async fn quote(&self, errand: Errand, body: Option<Vec<u8>>) -> Noticed<Quote> {
        let mut other_method = None;
        let quote = self.price(&errand, body, &mut other_method).await;
        Noticed { answer: quote.unwrap_or_else(End::into_quote), other_method }
    }

    async fn prepare(&self, errand: Errand, progress: Progress) -> Preparation {
        self.preparation(&errand, &progress).await.unwrap_or_else(End::into_preparation)
    }

    async fn attach(&self, handle: Handle, open: PageOpening) -> Attachment {
        self.attachment(&handle, open).await.unwrap_or_else(End::into_attachment)
    }

    async fn status(&self) -> Standing {
        let asked = async { self.wallet.open().await?.status().await };
        match asked.await {
            Ok(status) => Standing::Known(Box::new(told::books(status, (self.now_s)()))),
            Err(fault) => Standing::Failed(End::from(fault).into_reason()),
        }
    }

    fn approval_page(&self, approval: &str) -> Option<String> {
        console_note::page(&self.profile, &approval.parse().ok()?)
    }

    async fn decided(&self, approval: &str) {
        let Ok(approval) = approval.parse() else { return };
        let asked = async {
            let mut vault = self.wallet.open().await?;
            while vault.waits(&approval).await? {}
            Ok::<(), WalletFault>(())
        };
        if let Err(fault) = asked.await {
            tracing::debug!(%fault, "nobody tells whether a purchase waits still");
        }
    }
}
