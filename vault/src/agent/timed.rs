//! The stopwatch of a conversation with `serve`: which ask begins a purchase, what ends a part of it, what ends all of it.
//! Must never change an answer.

use super::{AgentConversation, Trouble};
use crate::protocol::{AgentAsk, AgentReply, Claimed, LegName, PassageEnd, Sender, Signed};
use std::time::Instant;

/// What an ask is to the purchase of its connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Claim,
    Secrets,
    Authorize,
    Hold,
    Report,
    /// Nothing.
    Other,
}

impl AgentConversation {
    /// Before `ask` is answered.
    pub(super) fn asked(&mut self, ask: &AgentAsk, now: Instant) -> Step {
        match ask {
            AgentAsk::Claim { errand } => {
                self.stopwatch.begin(Sender::Serve, &errand.site, now);
                Step::Claim
            }
            AgentAsk::Secrets => Step::Secrets,
            AgentAsk::Authorize { .. } => {
                self.stopwatch.mark(LegName::Visit, now);
                Step::Authorize
            }
            AgentAsk::Hold { .. } | AgentAsk::HoldAgain { .. } => {
                self.stopwatch.mark(LegName::Visit, now);
                Step::Hold
            }
            AgentAsk::Report(_) => Step::Report,
            AgentAsk::Decline { refusals, .. } => {
                self.stopwatch.mark(LegName::Visit, now);
                self.stopwatch.refused(refusals, now);
                Step::Other
            }
            _ => Step::Other,
        }
    }

    /// After it: `asked` is when it was heard.
    pub(super) fn answered(&mut self, step: Step, answered: &Result<AgentReply, Trouble>, asked: Instant) {
        let now = Instant::now();
        match (step, answered) {
            (Step::Claim, Ok(AgentReply::Claimed(claimed))) => {
                self.stopwatch.mark(LegName::Claim, now);
                match claimed {
                    Claimed::New => {}
                    Claimed::Repeat(past) => self.stopwatch.told(PassageEnd::Repeat, &past.receipt, now),
                    Claimed::Resend(signed) => {
                        let Signed { payment, terms, .. } = &**signed;
                        self.stopwatch.counted(payment, terms, &self.vault.rules().rules);
                        self.stopwatch.signed();
                    }
                }
            }
            (Step::Authorize, Ok(_)) => {
                self.stopwatch.mark(LegName::Sign, now);
                self.stopwatch.signed();
            }
            (Step::Hold, Ok(AgentReply::Held { receipt, .. })) => {
                self.stopwatch.mark(LegName::Authorize, now);
                self.stopwatch.told(PassageEnd::Held, receipt, now);
            }
            (Step::Report, Ok(AgentReply::Reported { receipt })) => {
                self.stopwatch.mark(LegName::Pay, asked);
                self.stopwatch.mark(LegName::Report, now);
                self.stopwatch.reported(receipt, now);
            }
            (Step::Claim | Step::Secrets | Step::Authorize | Step::Hold, Err(trouble)) => {
                match step {
                    Step::Claim => self.stopwatch.mark(LegName::Claim, now),
                    Step::Secrets => self.stopwatch.mark(LegName::Visit, now),
                    _ => self.stopwatch.mark(LegName::Authorize, now),
                }
                match trouble {
                    Trouble::Refused(reasons) => self.stopwatch.refused(reasons, now),
                    Trouble::Fault { code, .. } => self.stopwatch.failed(code, now),
                }
            }
            _ => {}
        }
    }
}
