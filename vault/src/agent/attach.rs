//! An agent has the session's glue pay for a page, and hears how that goes. Must never redeem anything itself.

use super::{AgentConversation, PATIENCE, Trouble, trouble};
use crate::desk::Stage;
use crate::ledger::{Handled, Unredeemable};
use crate::protocol::{AgentReply, Attach, Attached, AttachedHow};
use bursar_policy::{Digest, Handle, Method, PageOpening, SessionName};
use std::time::{Duration, Instant};

/// How long the glue may take to be ready.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// How long a page that the glue opens may take, from the beginning to the report.
const PAID_WITHIN: Duration = Duration::from_secs(60);

impl From<Unredeemable> for Trouble {
    fn from(why: Unredeemable) -> Self {
        Self::Fault { code: why.code(), message: why.to_string() }
    }
}

impl AgentConversation {
    /// Has the glue pay for the page of `handle`, and answers when that is as far as `open` waits for. For a handle that
    /// was redeemed before it tells how that ended, marked as a repeat.
    pub(super) fn attach(&self, handle: &Handle, open: PageOpening) -> Result<AgentReply, Trouble> {
        let session = self.session.clone().unwrap_or_default();
        let digest = handle.digest();
        let before = self.handled(digest, &session)?;
        let how = self.meet(handle, &session, open, &before)?;
        // The ledger knows best whether it was redeemed.
        let Handled { site, mut past, open_for_s } = self.handled(digest, &session)?;
        past.receipt.identical_repeat = before.open_for_s.is_none();
        let how = if open_for_s.is_some() { how } else { AttachedHow::Redeemed };
        Ok(AgentReply::Attached(Box::new(Attached { site, past, how, expires_in_s: open_for_s })))
    }

    /// Gives the payment to the glue, unless it is redeemed, and waits as long as `open` says.
    fn meet(
        &self,
        handle: &Handle,
        session: &SessionName,
        open: PageOpening,
        before: &Handled,
    ) -> Result<AttachedHow, Trouble> {
        let digest = handle.digest();
        if let Some(expires_in_s) = before.open_for_s {
            let url = before.site.url();
            let attach = Attach { handle: handle.clone(), url, method: Method::Get, open, expires_in_s };
            if !self.vault.desk.post(session, attach) {
                return Ok(AttachedHow::NoGlue);
            }
        }
        let begun = Instant::now();
        loop {
            let enough = |stage: &Stage| match stage {
                Stage::Posted | Stage::Given | Stage::Redeemed => false,
                Stage::Armed => open == PageOpening::Wait,
                Stage::Declined(_) | Stage::Refused(_) | Stage::Over => true,
            };
            let stage = self.vault.desk.wait(session, &digest, enough, PATIENCE);
            let waited = begun.elapsed();
            match stage {
                Some(Stage::Declined(why)) => return Ok(AttachedHow::Declined(why)),
                Some(Stage::Refused(reasons)) => return Err(Trouble::Refused(reasons)),
                Some(Stage::Over) => return Ok(AttachedHow::Redeemed),
                Some(Stage::Armed) if open == PageOpening::Wait || PAID_WITHIN <= waited => {
                    return Ok(AttachedHow::Armed);
                }
                Some(Stage::Redeemed) if PAID_WITHIN <= waited => return Ok(AttachedHow::Redeemed),
                Some(Stage::Posted | Stage::Given) if READY_WITHIN <= waited => {
                    self.vault.desk.withdraw(session, &digest);
                    return Ok(AttachedHow::GlueSilent);
                }
                Some(Stage::Posted | Stage::Given | Stage::Armed | Stage::Redeemed) => {
                    if self.peer.is_gone() || self.vault.is_ending().is_some() {
                        self.vault.desk.withdraw(session, &digest);
                        return Err(trouble("gone", "nobody waits for this answer"));
                    }
                }
                None => return Ok(AttachedHow::GlueSilent),
            }
        }
    }

    fn handled(&self, handle: Digest, session: &SessionName) -> Result<Handled, Trouble> {
        Ok(self.vault.ledger.handled(handle, session.clone())??)
    }
}
