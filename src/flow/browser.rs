//! A page that the user's browser pays for: money set aside as for a purchase, and the glue that takes it from there. It
//! must never see a header, and sends nothing but the request without money.

use bursar_policy::{Errand, Handle, PageOpening, Quoted, Refusal, may_visit};
use bursar_tools::payments::{Attachment, Preparation};
use bursar_tools::{Progress, Stage};
use bursar_vault::blank::Blank;
use bursar_vault::failpoint;
use bursar_vault::protocol::{Attached, AttachedHow, Claimed, Signed};

use super::end::End;
use super::{Buyer, Judged, told, verify};
use crate::net::Resolver;
use crate::wallet::{Conversation, Set};
use crate::wire::{Envelope, Unsendable, blank};

impl<R: Resolver> Buyer<R> {
    /// Steps 1 to 10 of a purchase, and the money set aside instead of signed for.
    pub(super) async fn preparation(&self, errand: &Errand, progress: &Progress) -> Result<Preparation, End> {
        progress.at(Stage::Claiming);
        let mut vault = self.wallet.open().await?;
        if vault.rules().host_rule(&errand.site).is_some_and(|rule| !rule.secret_headers().is_empty()) {
            return Err(End::not_for_a_browser());
        }
        let claimed = vault.claim(errand).await??;
        failpoint::reach("serve-claimed");
        match claimed {
            Claimed::New => self.set_aside(&mut vault, errand, progress).await,
            Claimed::Repeat(past) => Ok(told::prepared_before(&past)),
            Claimed::Resend(signed) => prepare_again(&mut vault, errand, *signed).await,
        }
    }

    async fn set_aside(
        &self,
        vault: &mut Conversation,
        errand: &Errand,
        progress: &Progress,
    ) -> Result<Preparation, End> {
        let released = vault.secrets(errand).await??;
        let (demand, terms) = match self.terms(vault, errand, None, released, progress, &mut None).await {
            Ok(Judged::Payable { demand, terms, .. }) => (demand, terms.into_inner()),
            Ok(Judged::Free { note, .. }) => return Ok(Preparation::Free { note }),
            Err(declined) => return Err(self.declined(vault, errand, declined).await),
        };
        let Some(envelope) = demand.envelope(terms.offer) else {
            return Err(End::broken("the chosen offer is not in the seller's list"));
        };
        let blank = match blank_for_a_header(blank(&envelope, terms.amount, terms.payee)) {
            Ok(blank) => blank,
            Err(end) => return Err(self.declined(vault, errand, end.into()).await),
        };
        if !progress.wanted() {
            return Err(End::given_up());
        }
        progress.at(Stage::Authorizing);
        let set = vault.hold(&terms, envelope.to_text(), blank).await??;
        failpoint::reach("serve-held");
        Ok(prepared(set))
    }

    /// Has the session's glue pay.
    pub(super) async fn attachment(&self, handle: &Handle, open: PageOpening) -> Result<Attachment, End> {
        let mut vault = self.wallet.open().await?;
        let Attached { site, past, how, expires_in_s } = vault.attach(handle, open).await??;
        let receipt = told::receipt(past.receipt.clone());
        let Some(expires_in_s) = expires_in_s else {
            return Ok(told::paid_by_a_browser(site, &past));
        };
        Ok(match how {
            AttachedHow::Armed => Attachment::Armed { site, receipt, expires_in_s },
            how => Attachment::NotYet { site, receipt, expires_in_s, reason: told::no_browser(how) },
        })
    }
}

/// Signed before and never answered: the same payment, for a handle of its own.
async fn prepare_again(vault: &mut Conversation, errand: &Errand, signed: Signed) -> Result<Preparation, End> {
    let rules = vault.rules();
    // It is the browser that visits; the rules have to allow it by now all the same.
    drop(may_visit(&rules, errand).map_err(End::No)?);
    let checked = verify::signed_as_judged(&signed, &signed.terms, &rules, vault.welcome().payer);
    let envelope = Envelope::parse(&signed.envelope);
    let (Ok(()), Ok(envelope)) = (checked, envelope) else {
        return Ok(told::not_prepared_again(&signed, &rules));
    };
    let document = blank(&envelope, signed.authorization.value, signed.authorization.to);
    let Ok(blank) = blank_for_a_header(document) else {
        return Ok(told::not_prepared_again(&signed, &rules));
    };
    Ok(prepared(vault.hold_again(blank).await?))
}

fn prepared(Set { handle, expires_in_s, receipt }: Set) -> Preparation {
    Preparation::Prepared { handle, expires_in_s, receipt: told::receipt(receipt) }
}

/// The payment document, if it is one that a header can carry.
fn blank_for_a_header(document: Result<Blank, Unsendable>) -> Result<Blank, End> {
    let why = match document {
        Ok(blank) if blank.fits_a_header() => return Ok(blank),
        Ok(_) => "what has to be sent is over 48 KiB".to_owned(),
        Err(fault) => fault.to_string(),
    };
    Err(End::No(vec![Refusal::TermsTooLarge { why: Quoted::of(&why) }]))
}
