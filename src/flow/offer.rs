//! The signed payment, offered to its seller: once, and again while nothing usable came back. It must never sign
//! anything, and never take a later answer for new terms.

use std::time::Duration;

use bursar_policy::{Method, Rules};
use bursar_tools::Progress;
use bursar_tools::payments::Reason;
use tokio::time::{Instant, sleep};

use super::Buyer;
use super::deliver::{Paying, no_answer};
use crate::net::{Ask, Limits, Reply, Resolver};
use crate::wire::{Claim, HeaderView, payment_header, read_claim};

/// How long after the first offer the last one begins, at most.
const OFFERS_WITHIN: Duration = Duration::from_secs(60);

/// How long a payment has to be good for still when it is offered again, in seconds: a seller has to settle it too.
const LIFE_LEFT_S: u64 = 10;

/// How long is waited before a payment is offered again: one pause for each further offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses(pub [Duration; 2]);

impl Default for Pauses {
    /// 1 second, then 4.
    fn default() -> Self {
        Self([Duration::from_secs(1), Duration::from_secs(4)])
    }
}

impl<R: Resolver> Buyer<R> {
    /// Sends the payment and gives the last answer.
    ///
    /// Where the seller is silent or fails (5xx) without a word on the settlement, the same bytes go out again, at most
    /// twice more: a GET or HEAD only, which may be repeated (RFC 9110 section 9.2.2), while the client waits, the
    /// payment is valid and there is time.
    pub(super) async fn offer(&self, rules: &Rules, paying: &Paying, progress: &Progress) -> Result<Reply, Reason> {
        let Paying { visit, signed, .. } = paying;
        let ask = self.with_payment(paying)?;
        let limits = Limits::paid().for_body(rules.body_cap_of(&visit.errand.site));
        let begun = Instant::now();
        let mut pauses = self.pauses.0.into_iter();
        loop {
            let answered = visit.exchange.send(&ask, &limits).await.map_err(|fault| no_answer(fault.code()));
            let Some(pause) = pauses.next() else { return answered };
            let valid_until_s = signed.authorization.valid_before.saturating_sub(LIFE_LEFT_S);
            let is_time = begun.elapsed().saturating_add(pause) < OFFERS_WITHIN
                && (self.now_s)().saturating_add(pause.as_secs()) < valid_until_s;
            let may_repeat = matches!(visit.errand.method, Method::Get | Method::Head);
            if !is_useless(&answered) || !may_repeat || !is_time || !progress.wanted() {
                return answered;
            }
            tracing::info!(payment = %signed.payment, "nothing usable came back; the same payment is offered again");
            sleep(pause).await;
        }
    }

    /// The request with the payment in its header.
    fn with_payment(&self, paying: &Paying) -> Result<Ask, Reason> {
        let Paying { visit, signed, envelope } = paying;
        let unsendable = |told: String| Reason::new("unsendable", told);
        let header = payment_header(envelope, &signed.payment, &signed.authorization, &signed.signature)
            .map_err(|fault| unsendable(fault.to_string()))?;
        visit
            .ask
            .clone()
            .with_header(header.name().as_str(), header.value())
            .map_err(|fault| unsendable(fault.to_string()))
    }
}

/// Whether an answer says nothing of the goods or of the money: silence, or a failure without a settlement header.
fn is_useless(answered: &Result<Reply, Reason>) -> bool {
    match answered {
        Err(_) => true,
        Ok(reply) => 500 <= reply.status() && matches!(read_claim(HeaderView::new(reply.headers())), Claim::Silent),
    }
}
