//! What a person should do next, in one sentence. Must never tell an agent how to do it without a person.

use crate::protocol::SessionView;

/// What stands between an agent and a payment.
#[derive(Debug)]
pub(crate) struct Needs<'a> {
    pub(crate) latched: bool,
    pub(crate) frozen: bool,
    pub(crate) locked: bool,
    pub(crate) session: Option<&'a SessionView>,
    /// The rules want a mandate of every session.
    pub(crate) mandated: bool,
    pub(crate) now_s: u64,
    pub(crate) approvals_waiting: u32,
}

/// The first thing that needs a person; `None` when nothing does.
pub(crate) fn next_step(needs: &Needs<'_>) -> Option<String> {
    let mandated = needs.mandated;
    let step = match needs.session {
        _ if needs.latched => "spending is shut after a fault: look at `bursar status`, then run `bursar unlatch`",
        _ if needs.frozen => "a person froze all spending: run `bursar thaw` to allow it again",
        _ if needs.locked => "the wallet is locked: run `bursar unlock`",
        None if mandated => "no budget is open: run `bursar session new` with a mandate, which the rules want",
        Some(session) if mandated && session.mandate.is_none() => {
            "the rules want a mandate: run `bursar session close`, then `bursar session new` with one"
        }
        None => "no budget is open: run `bursar session new --budget \"1.00 USD\"`",
        Some(session) if session.closed => "the budget was closed: run `bursar session new --budget \"1.00 USD\"`",
        Some(session) if session.expires_s <= needs.now_s => {
            "the budget's time is over: run `bursar session new --budget \"1.00 USD\"`"
        }
        Some(session) if session.budget.is_within(session.spent) => {
            "the budget is used up: run `bursar session close`, then `bursar session new --budget \"1.00 USD\"`"
        }
        Some(_) if needs.approvals_waiting == 1 => "a purchase waits for approval: run `bursar approvals`",
        Some(_) if 1 < needs.approvals_waiting => "purchases wait for approval: run `bursar approvals`",
        Some(_) => return None,
    };
    Some(step.to_owned())
}
