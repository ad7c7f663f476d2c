//! Steps 10 to 13: the paid leg. A signature is outside from its first byte on, so every end carries a receipt.

use bursar_policy::Rules;
use bursar_tools::SellerText;
use bursar_tools::payments::{Content, Purchase, Reason};
use bursar_tools::{Progress, Stage};
use bursar_vault::failpoint;
use bursar_vault::protocol::{Delivery, Report, Signed};

use super::end::End;
use super::visit::Visit;
use super::{Buyer, told};
use crate::net::{FaultCode, Reply, Resolver};
use crate::wallet::Conversation;
use crate::wire::{Envelope, HeaderView, read_claim};

/// A signed payment and the way to its seller.
#[derive(Debug)]
pub(super) struct Paying {
    pub(super) visit: Visit,
    pub(super) signed: Signed,
    pub(super) envelope: Envelope,
}

/// What came back on the paid leg, before the vault has said what it means.
struct Delivered {
    report: Report,
    content: Option<Content>,
    /// Why the goods did not come whole, if they did not.
    trouble: Option<Reason>,
}

impl<R: Resolver> Buyer<R> {
    /// Sends the payment, keeps the answer, reports it, and tells the model what the ledger makes of it.
    pub(super) async fn deliver(
        &self,
        vault: &mut Conversation,
        rules: &Rules,
        paying: Paying,
        progress: &Progress,
    ) -> Purchase {
        progress.at(Stage::Paying);
        let Delivered { report, content, trouble } = match self.offer(rules, &paying, progress).await {
            Ok(reply) => {
                failpoint::reach("serve-sent");
                progress.at(Stage::Storing);
                self.keep(rules, &paying, reply).await
            }
            Err(reason) => Delivered {
                report: Report { delivery: Delivery::Silence { why: reason.code().to_owned() }, settlement: None },
                content: None,
                trouble: Some(reason),
            },
        };
        let seller_says = report
            .settlement
            .as_ref()
            .and_then(|claim| claim.reason.as_deref())
            .map(|reason| SellerText::from_bytes(reason.as_bytes()));
        // A report that cannot be written never withholds what was delivered; the row stays exposed and counts.
        let (receipt, outcome, trouble) = match vault.report(report).await {
            Ok(receipt) => {
                let outcome = receipt.outcome.clone();
                (told::receipt(receipt), outcome, trouble)
            }
            Err(fault) => {
                tracing::error!("the outcome of {} could not be written down: {fault}", paying.signed.payment);
                let receipt = told::unwritten_receipt(&paying.signed, rules);
                (receipt, "unwritten".to_owned(), trouble.or_else(|| Some(told::unwritten())))
            }
        };
        failpoint::reach("serve-reported");
        told::bought(receipt, &outcome, content, trouble, seller_says)
    }

    async fn keep(&self, rules: &Rules, paying: &Paying, reply: Reply) -> Delivered {
        let status = reply.status();
        let settlement = read_claim(HeaderView::new(reply.headers())).for_the_ledger();
        failpoint::reach("serve-answered");
        let stored = self.store(rules, &paying.visit.errand.site, reply).await;
        failpoint::reach("serve-content-stored");
        let (kept, content, broken) = match stored {
            Ok((stored, kind)) => {
                let content = self.fresh(rules, &paying.visit.errand.site, &stored, kind, status);
                (Some(stored.content(kind)), Some(content), stored.note())
            }
            Err(lost) => (None, None, Some(End::from(lost).into_reason())),
        };
        let content_error = broken.as_ref().map(|reason| reason.sentence().to_owned());
        let trouble = match status {
            200..=299 => broken.map(|reason| Reason::new(reason.code().to_owned(), NOT_WHOLE)),
            402 => Some(still_asks()),
            300..=399 => Some(sent_elsewhere()),
            _ => Some(seller_failed(status)),
        };
        let delivery = Delivery::Answer { status, content: kept, content_error };
        Delivered { report: Report { delivery, settlement }, content, trouble }
    }
}

/// What the model hears when goods came that are not whole.
const NOT_WHOLE: &str = "the payment is with the seller, and what it delivered did not come whole or could not be kept";

pub(super) fn no_answer(code: FaultCode) -> Reason {
    Reason::new(
        code.as_str(),
        "the payment may be with the seller, and no usable answer came back; the amount counts as spent",
    )
}

pub(super) fn still_asks() -> Reason {
    Reason::new(
        "payment_not_accepted",
        "the seller still asks for money after it was sent a payment; it may yet take that one, so nothing was signed again",
    )
}

pub(super) fn sent_elsewhere() -> Reason {
    Reason::new(
        "redirect_refused",
        "the seller answered a payment with a redirect, which is never followed; the receipt says whether the money is known to be gone",
    )
}

pub(super) fn seller_failed(status: u16) -> Reason {
    Reason::new(
        "seller_error",
        format!(
            "the seller answered a payment with status {status}; the receipt says whether the money is known to be gone"
        ),
    )
}
