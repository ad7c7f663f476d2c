//! How everything stands for one agent, and whether a purchase of its session waits for a person still. Must never tell what a
//! person said, nor of another session.

use std::time::{Duration, Instant};

use bursar_policy::ApprovalId;
use bursar_policy::rules::MandateNeed;

use super::{AgentConversation, PATIENCE, Trouble, trouble};
use crate::protocol::{AgentReply, ApprovalState, Status};
use crate::status::{Needs, next_step};

/// How long an asker is kept waiting for a person's word.
const WAIT: Duration = Duration::from_secs(20);

impl AgentConversation {
    /// Budgets, limits and what is unresolved, as far as they concern this session.
    pub(super) fn status(&self) -> Result<AgentReply, Trouble> {
        let session = self.known_session()?;
        let rules = self.vault.rules();
        let overview = self.vault.ledger.overview(session.as_ref(), &rules.rules)?;
        let locked = self.vault.wallet.is_locked();
        // Without a session of its own an agent sees nobody else's payments and questions.
        let (unresolved, approvals_waiting) = match session {
            Some(_) => {
                let unresolved = overview.unresolved.into_iter().map(|open| open.receipt).collect();
                (unresolved, overview.approvals_waiting)
            }
            None => (Vec::new(), 0),
        };
        let mandated = rules.rules.mandate() == MandateNeed::Required;
        let closed = rules.rules.opening().filter(|opening| !opening.is_open(overview.now_s));
        Ok(AgentReply::Status(Box::new(Status {
            outside_hours: closed.map(ToString::to_string),
            mandate_missing: mandated && overview.session.as_ref().is_some_and(|session| session.mandate.is_none()),
            next_step: next_step(&Needs {
                sweep: false,
                latched: overview.latched.is_some(),
                frozen: overview.frozen.is_some(),
                locked,
                session: overview.session.as_ref(),
                mandated,
                now_s: overview.now_s,
                approvals_waiting,
            }),
            approvals_waiting,
            session: overview.session,
            limits: overview.limits,
            held: overview.held,
            unresolved,
            frozen: overview.frozen.is_some(),
            latched: overview.latched.is_some(),
            locked,
            payer: Some(self.vault.wallet.address()),
        })))
    }

    /// Whether the purchase waits for a person still: told as soon as it does not, or after a while.
    pub(super) fn waits(&self, approval: &ApprovalId) -> Result<AgentReply, Trouble> {
        let (began, ledger) = (Instant::now(), &self.vault.ledger);
        loop {
            let came_to = ledger.came_to();
            if !self.is_waiting(approval)? {
                return Ok(AgentReply::Waits(false));
            }
            if self.peer.is_gone() {
                return Err(trouble("gone", "nobody waits for this answer"));
            }
            if WAIT <= began.elapsed() || self.vault.is_ending().is_some() {
                return Ok(AgentReply::Waits(true));
            }
            // Its time may be over without an event, so it is looked at again in any case.
            let _news = ledger.wait_past(came_to, PATIENCE);
        }
    }

    fn is_waiting(&self, approval: &ApprovalId) -> Result<bool, Trouble> {
        let (own, now_s) = (self.session.clone().unwrap_or_default(), self.vault.ledger.time().now_s);
        let found = self.vault.ledger.approval(approval)?;
        Ok(found
            .is_some_and(|view| view.session == own && view.state == ApprovalState::Waiting && now_s < view.expires_s))
    }
}
