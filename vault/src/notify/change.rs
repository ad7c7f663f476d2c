//! What changed between two looks at how everything stands, as messages. Must never hold more of a purchase than the rules
//! let a message say.

use std::collections::{BTreeMap, BTreeSet};

use bursar_policy::quantity::Moment;
use bursar_policy::rules::Telling;
use bursar_policy::{ApprovalId, Digest};
use serde_json::{Map, Value, json};

use crate::protocol::{ApprovalState, ApprovalView, SessionView};

/// How long before its end a session is told to be ending, in seconds; a short one half of its life before.
const ENDING_S: u64 = 600;

/// How everything stands.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) approvals: Vec<ApprovalView>,
    pub(super) frozen: Option<String>,
    pub(super) latched: Option<String>,
    pub(super) sessions: Vec<SessionView>,
    pub(super) now_s: u64,
}

/// What was told already.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    waiting: BTreeMap<ApprovalId, ApprovalView>,
    is_frozen: bool,
    is_latched: bool,
    ending: BTreeSet<(String, u64)>,
}

/// Something to tell, before it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    /// The same for the same thing, also after a restart; but a ledger that a vault finds shut at its start is told anew, under
    /// an id of its own: nobody knows whether it is the same fault.
    pub(super) id: String,
    pub(super) body: String,
}

impl Told {
    /// As if a freeze that is there at the beginning had been told: a person made it.
    pub(super) fn beginning(standing: &Standing) -> Self {
        Self { is_frozen: standing.frozen.is_some(), ..Self::default() }
    }

    /// What is new in `now`, and remembers it. `became` says where a question stands that is no longer listed.
    pub(super) fn news(
        &mut self,
        now: &Standing,
        telling: Telling,
        became: impl Fn(&ApprovalId) -> Option<ApprovalState>,
    ) -> Vec<Notice> {
        let mut notices = self.approvals(now, telling, became);
        if self.is_frozen != now.frozen.is_some() {
            self.is_frozen = !self.is_frozen;
            let kind = if self.is_frozen { "spending.frozen" } else { "spending.thawed" };
            notices.push(notice(kind, &now.now_s.to_string(), now.now_s, reason(&now.frozen, telling)));
        }
        if self.is_latched != now.latched.is_some() {
            self.is_latched = !self.is_latched;
            let kind = if self.is_latched { "spending.shut" } else { "spending.reopened" };
            notices.push(notice(kind, &now.now_s.to_string(), now.now_s, reason(&now.latched, telling)));
        }
        let open = |session: &&SessionView| !session.closed && now.now_s < session.expires_s;
        for session in now.sessions.iter().filter(open).filter(|session| ends_soon(session, now.now_s)) {
            let known = (session.name.to_string(), session.created_s);
            let subject = format!("{} {}", known.0, known.1);
            if self.ending.insert(known) {
                let data = json!({ "session": session.name.to_string(), "expires": time(session.expires_s) });
                notices.push(notice("session.ending", &subject, now.now_s, data));
            }
        }
        let listed: BTreeSet<_> = now.sessions.iter().map(|one| (one.name.to_string(), one.created_s)).collect();
        self.ending.retain(|known| listed.contains(known));
        notices
    }

    fn approvals(
        &mut self,
        now: &Standing,
        telling: Telling,
        became: impl Fn(&ApprovalId) -> Option<ApprovalState>,
    ) -> Vec<Notice> {
        let mut notices = Vec::new();
        let mut waiting = BTreeMap::new();
        for view in now.approvals.iter().filter(|view| view.state == ApprovalState::Waiting) {
            if !self.waiting.contains_key(&view.id) {
                notices.push(of_approval("approval.waiting", view, now.now_s, telling));
            }
            waiting.insert(view.id.clone(), view.clone());
        }
        for (id, view) in std::mem::replace(&mut self.waiting, waiting) {
            if self.waiting.contains_key(&id) {
                continue;
            }
            let listed = now.approvals.iter().find(|one| one.id == id).map(|one| one.state);
            let kind = match listed.or_else(|| became(&id)) {
                Some(ApprovalState::Approved | ApprovalState::Used) => "approval.approved",
                Some(ApprovalState::Denied) => "approval.denied",
                _ => "approval.expired",
            };
            notices.push(of_approval(kind, &view, now.now_s, telling));
        }
        notices
    }
}

/// Whether a session is in its last minutes.
fn ends_soon(session: &SessionView, now_s: u64) -> bool {
    let half = session.expires_s.saturating_sub(session.created_s) / 2;
    session.expires_s.saturating_sub(now_s) <= ENDING_S.min(half)
}

fn of_approval(kind: &str, view: &ApprovalView, now_s: u64, telling: Telling) -> Notice {
    let mut data = json!({
        "approval": view.id.to_string(),
        "host": view.site.authority(),
        "amount": view.money.to_string(),
        "expires": time(view.expires_s),
    });
    if let (Telling::Details, Some(data)) = (telling, data.as_object_mut()) {
        let terms = &view.terms;
        data.insert("url".to_owned(), view.site.url().into());
        data.insert("method".to_owned(), view.method.to_string().into());
        data.insert("session".to_owned(), view.session.to_string().into());
        data.insert("payee".to_owned(), terms.payee.to_string().into());
        data.insert("asset".to_owned(), terms.asset_id().to_string().into());
        data.insert("reasons".to_owned(), view.concerns.clone().into());
    }
    notice(kind, view.id.as_str(), now_s, data)
}

fn reason(reason: &Option<String>, telling: Telling) -> Value {
    match (telling, reason) {
        (Telling::Details, Some(reason)) => json!({ "reason": reason }),
        _ => Value::Object(Map::new()),
    }
}

fn notice(kind: &str, subject: &str, now_s: u64, data: Value) -> Notice {
    let id = Digest::of_parts(&[b"bursar webhook 1", kind.as_bytes(), subject.as_bytes()]).to_string();
    let id = format!("msg_{}", id.get(..32).unwrap_or(&id));
    Notice { id, body: json!({ "type": kind, "timestamp": time(now_s), "data": data }).to_string() }
}

fn time(seconds: u64) -> String {
    Moment(seconds).to_string()
}

#[cfg(test)]
mod tests;
