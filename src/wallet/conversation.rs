//! The words of one conversation with the vault, ask by ask. Must never hold a key, nor guess what an answer left out.

use std::sync::Arc;
use std::time::Duration;

use bursar_policy::errand::{Errand, QuoteId};
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::terms::Terms;
use bursar_policy::{ApprovalId, Handle, PageOpening};
use bursar_vault::blank::Blank;
use bursar_vault::protocol::frame::{self, HEADER_BYTES};
use bursar_vault::protocol::{
    AgentAsk, AgentReply, Attached, Claimed, Recalled, Receipt, Released, Report, Signed, Sought, Status, Wanted,
    Welcome,
};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zeroize::Zeroizing;

use super::WalletFault;
use crate::platform::Stream;

/// How long the vault may take for an answer, and for one that waits for another purchase to end: as long as the two
/// legs of that purchase may take, and a while more.
const ANSWER: Duration = Duration::from_secs(30);
const HELD_BACK: Duration = Duration::from_secs(240);

/// One conversation: after the greeting, about one purchase. Dropping it gives the claim up.
#[derive(Debug)]
pub struct Conversation {
    pub(super) link: Link,
    pub(super) welcome: Welcome,
    pub(super) rules: Arc<Rules>,
}

/// Money that is set aside for a page.
#[derive(Debug)]
pub struct Set {
    /// What the browser's glue redeems.
    pub handle: Handle,
    /// How many seconds it is good for.
    pub expires_in_s: u64,
    /// The payment.
    pub receipt: Receipt,
}

/// A yes or the vault's reasons.
pub type Answer<T> = Result<T, Vec<Refusal>>;

impl Conversation {
    /// The operator's rules, as the vault holds them.
    #[must_use]
    pub fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules)
    }

    /// What the vault said of itself.
    #[must_use]
    pub const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Claims the purchase before its first byte goes out.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when the vault cannot be asked.
    pub async fn claim(&mut self, errand: &Errand) -> Result<Answer<Claimed>, WalletFault> {
        match self.link.ask_patiently(&AgentAsk::Claim { errand: errand.clone() }).await? {
            AgentReply::Claimed(claimed) => Ok(Ok(claimed)),
            AgentReply::Refused(reasons) => Ok(Err(reasons)),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// The secrets that the rules name for `errand`, which is claimed or was looked at on this conversation; the vault is
    /// asked only where the rules name any.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when the vault cannot be asked.
    pub async fn secrets(&mut self, errand: &Errand) -> Result<Answer<Released>, WalletFault> {
        let for_the_seller = self.rules.host_rule(&errand.site).is_some_and(|rule| !rule.secret_headers().is_empty());
        if !for_the_seller && self.rules.network().proxy_secret().is_none() {
            return Ok(Ok(Released::default()));
        }
        match self.link.ask(&AgentAsk::Secrets).await? {
            AgentReply::Secrets(released) => Ok(Ok(*released)),
            AgentReply::Refused(reasons) => Ok(Err(reasons)),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Has the claimed purchase judged again, counted and signed.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when no answer came: a signature may exist, so the money counts as spent.
    pub async fn authorize(&mut self, terms: &Terms, envelope: String) -> Result<Answer<Box<Signed>>, WalletFault> {
        match self
            .link
            .ask(&AgentAsk::Authorize { terms: terms.clone(), envelope, rules: self.welcome.rules_digest })
            .await?
        {
            AgentReply::Authorized(signed) => Ok(Ok(signed)),
            AgentReply::Refused(reasons) => Ok(Err(reasons)),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Has the claimed page judged again and its money set aside. The claim ends with a yes.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when no answer came: money may be set aside, which comes back by itself. Nothing is signed.
    pub async fn hold(&mut self, terms: &Terms, envelope: String, blank: Blank) -> Result<Answer<Set>, WalletFault> {
        let rules = self.welcome.rules_digest;
        match self.link.ask(&AgentAsk::Hold { terms: terms.clone(), envelope, blank, rules }).await? {
            AgentReply::Held { handle, expires_in_s, receipt } => Ok(Ok(Set { handle, expires_in_s, receipt })),
            AgentReply::Refused(reasons) => Ok(Err(reasons)),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Asks for a handle for the payment that the claim said to send again.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when there is none.
    pub async fn hold_again(&mut self, blank: Blank) -> Result<Set, WalletFault> {
        match self.link.ask(&AgentAsk::HoldAgain { blank }).await? {
            AgentReply::Held { handle, expires_in_s, receipt } => Ok(Set { handle, expires_in_s, receipt }),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Has the session's glue pay for the page of `handle`; the answer is held back as long as `open` waits.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when the vault cannot be asked, or the handle is not good.
    pub async fn attach(&mut self, handle: &Handle, open: PageOpening) -> Result<Answer<Attached>, WalletFault> {
        match self.link.ask_patiently(&AgentAsk::Attach { handle: handle.clone(), open }).await? {
            AgentReply::Attached(attached) => Ok(Ok(*attached)),
            AgentReply::Refused(reasons) => Ok(Err(reasons)),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Asks what [`Self::authorize`] would say; without terms, whether the session is for this seller at all.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when the vault cannot be asked.
    pub async fn quote(
        &mut self,
        errand: &Errand,
        terms: Option<&Terms>,
    ) -> Result<Answer<Option<QuoteId>>, WalletFault> {
        match self.link.ask(&AgentAsk::Quote { errand: errand.clone(), terms: terms.cloned() }).await? {
            AgentReply::Quoted { quote, refusals } if refusals.is_empty() => Ok(Ok(quote)),
            AgentReply::Quoted { refusals, .. } | AgentReply::Refused(refusals) => Ok(Err(refusals)),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Tells what came back after the payment was sent.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when it could not be written: the row stays exposed and counts.
    pub async fn report(&mut self, report: Report) -> Result<Receipt, WalletFault> {
        match self.link.ask(&AgentAsk::Report(report)).await? {
            AgentReply::Reported { receipt } => Ok(receipt),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Tells the operator's log why a purchase of what is `sought` was refused before the vault was asked to sign.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when the vault cannot be asked; the refusal stands all the same.
    pub async fn decline(
        &mut self,
        errand: &Errand,
        sought: Vec<Sought>,
        refusals: &[Refusal],
    ) -> Result<(), WalletFault> {
        let ask = AgentAsk::Decline { errand: errand.clone(), sought, refusals: refusals.to_vec() };
        match self.link.ask(&ask).await? {
            AgentReply::Noted => Ok(()),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Asks what was delivered before; `None` when nothing of the kind was.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when the vault cannot be asked.
    pub async fn recall(&mut self, wanted: Wanted) -> Result<Option<Recalled>, WalletFault> {
        match self.link.ask(&AgentAsk::Recall(wanted)).await? {
            AgentReply::Recalled(found) => Ok(found.map(|found| *found)),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Waits until a purchase of this session does not wait for a person any more, a while at most; whether it waits still.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when the vault cannot be asked.
    pub async fn waits(&mut self, approval: &ApprovalId) -> Result<bool, WalletFault> {
        match self.link.ask(&AgentAsk::Waits { approval: approval.clone() }).await? {
            AgentReply::Waits(waits) => Ok(waits),
            _ => Err(WalletFault::OutOfTurn),
        }
    }

    /// Asks for budgets and what is open.
    ///
    /// # Errors
    ///
    /// [`WalletFault`] when the vault cannot be asked.
    pub async fn status(&mut self) -> Result<Status, WalletFault> {
        match self.link.ask(&AgentAsk::Status).await? {
            AgentReply::Status(status) => Ok(*status),
            _ => Err(WalletFault::OutOfTurn),
        }
    }
}

/// One ask, one reply.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) stream: Stream,
}

impl Link {
    pub(super) async fn ask<A: Serialize + Sync>(&mut self, ask: &A) -> Result<AgentReply, WalletFault> {
        match tokio::time::timeout(ANSWER, self.converse(ask)).await {
            Ok(answered) => answered,
            Err(_) => Err(WalletFault::Silent),
        }
    }

    /// [`Self::ask`] for an answer that the vault may hold back: while an identical purchase is in flight elsewhere, or
    /// while a browser is on its way.
    async fn ask_patiently<A: Serialize + Sync>(&mut self, ask: &A) -> Result<AgentReply, WalletFault> {
        match tokio::time::timeout(HELD_BACK, self.converse(ask)).await {
            Ok(answered) => answered,
            Err(_) => Err(WalletFault::Silent),
        }
    }

    async fn converse<A: Serialize + Sync>(&mut self, ask: &A) -> Result<AgentReply, WalletFault> {
        let sent = frame::encode(ask, frame::ASK_MAX_BYTES)?;
        // A vault that is full or ending says so and closes before it has read: its words count, not the broken pipe.
        let written = self.stream.write_all(&sent).await;
        match (self.reply().await, written) {
            (Ok(AgentReply::Fault { code, message }), _) => Err(WalletFault::Fault { code, message }),
            (Ok(reply), _) => Ok(reply),
            (Err(_), Err(fault)) => Err(fault.into()),
            (Err(fault), Ok(())) => Err(fault),
        }
    }

    async fn reply(&mut self) -> Result<AgentReply, WalletFault> {
        let mut header = [0_u8; HEADER_BYTES];
        self.stream.read_exact(&mut header).await?;
        // It may hold secrets.
        let mut content = Zeroizing::new(vec![0_u8; frame::announced(header, frame::REPLY_MAX_BYTES)?]);
        self.stream.read_exact(&mut content).await?;
        Ok(frame::decode(&content)?)
    }
}
