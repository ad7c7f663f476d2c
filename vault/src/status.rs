//! What a person should do next, in one sentence. Must never tell an agent how to do it without a person.

use crate::protocol::SessionView;

/// What stands between an agent and a payment.
#[derive(Debug)]
pub(crate) struct Needs<'a> {
    pub(crate) latched: bool,
    pub(crate) frozen: bool,
    /// Money of the account that pays is being moved out.
    pub(crate) sweep: bool,
    pub(crate) locked: bool,
    pub(crate) session: Option<&'a SessionView>,
    /// The rules want a mandate of every session.
    pub(crate) mandated: bool,
    pub(crate) now_s: u64,
    pub(crate) approvals_waiting: u32,
}

/// The first thing that needs a person; `None` when nothing does.
pub(crate) fn next_step(needs: &Needs<'_>) -> Option<String> {
    let new = if needs.mandated {
        "`bursar session new` with a mandate, which the rules want"
    } else {
        "`bursar session new --budget \"1.00 USD\"`"
    };
    Some(match needs.session {
        _ if needs.latched => {
            "spending is shut after a fault: look at `bursar status`, then run `bursar unlatch`".to_owned()
        }
        _ if needs.sweep => {
            "money is being moved out: `bursar reconcile` asks the chain how that ended, and `bursar thaw` lets \
                             payments go on after it"
                .to_owned()
        }
        _ if needs.frozen => "a person froze all spending: run `bursar thaw` to allow it again".to_owned(),
        _ if needs.locked => "the wallet is locked: run `bursar unlock`".to_owned(),
        None => format!("no budget is open: run {new}"),
        Some(session) if session.closed => format!("the budget was closed: run {new}"),
        Some(session) if session.expires_s <= needs.now_s => format!("the budget's time is over: run {new}"),
        Some(session) if needs.mandated && session.mandate.is_none() => {
            format!("the budget has no mandate: run `bursar session close`, then {new}")
        }
        Some(session) if session.budget.is_within(session.spent) => {
            format!("the budget is used up: run `bursar session close`, then {new}")
        }
        Some(_) if needs.approvals_waiting == 1 => "a purchase waits for approval: run `bursar approvals`".to_owned(),
        Some(_) if 1 < needs.approvals_waiting => "purchases wait for approval: run `bursar approvals`".to_owned(),
        Some(_) => return None,
    })
}
