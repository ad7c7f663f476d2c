//! The rows of the page: budgets, limits, purchases that wait, payments and events.

use bursar_vault::protocol::{ApprovalState, ApprovalView, LimitView, LogEntry, Outstanding, PastPayment, SessionView};
use serde::Serialize;

use crate::console::burn::permille;
use crate::console::shown::Shown;
use crate::standing::{self, Note, Weight};
use crate::terms_shown;

/// What a person should know, in a sentence.
#[derive(Debug, Serialize)]
pub(super) struct Remark {
    kind: &'static str,
    text: Shown,
}

impl Remark {
    pub(super) fn of(note: &Note) -> Self {
        let kind = match note.weight {
            Weight::Good => "plain",
            Weight::Odd => "odd",
            Weight::Bad => "bad",
        };
        Self { kind, text: Shown::of(&note.says) }
    }
}

/// A budget.
#[derive(Debug, Serialize)]
pub(super) struct Budget {
    name: Shown,
    whole: Shown,
    spent: Shown,
    left: Shown,
    /// Spent, in thousandths.
    permille: u32,
    opened_s: u64,
    ends_s: u64,
    is: &'static str,
    purpose: Option<Shown>,
}

impl Budget {
    pub(super) fn of(session: &SessionView, now_s: u64) -> Self {
        Self {
            name: Shown::of(&session.name),
            whole: Shown::of(&session.budget),
            spent: Shown::of(&session.spent),
            left: Shown::of(&session.budget.saturating_sub(session.spent)),
            permille: permille(session.spent.atto(), session.budget.atto()),
            opened_s: session.created_s,
            ends_s: session.expires_s,
            is: match session.closed {
                true => "closed",
                false if session.expires_s <= now_s => "over",
                false => "open",
            },
            purpose: session.mandate.as_ref().map(|mandate| Shown::of(mandate.purpose())),
        }
    }
}

/// How much of a limit is used.
#[derive(Debug, Serialize)]
pub(super) struct Gauge {
    of: Shown,
    used: Shown,
    left: Shown,
    whole: Shown,
    permille: u32,
}

impl Gauge {
    /// One for the money of a limit and one for its count, as it has them.
    pub(super) fn of(limit: &LimitView) -> Vec<Self> {
        let of = Shown::of(&format!("{}, {}", limit.scope, limit.window));
        let money = limit.used.zip(limit.max).map(|(used, max)| Self {
            of: of.clone(),
            used: Shown::of(&used),
            left: Shown::of(&max.saturating_sub(used)),
            whole: Shown::of(&max),
            permille: permille(used.atto(), max.atto()),
        });
        let count = limit.count.map(|count| Self {
            of: of.clone(),
            used: Shown::of(&limit.count_used),
            left: Shown::of(&count.saturating_sub(limit.count_used)),
            whole: Shown::of(&format!("{count} payments")),
            permille: permille(limit.count_used.into(), count.into()),
        });
        money.into_iter().chain(count).collect()
    }
}

/// A purchase before a person.
#[derive(Debug, Serialize)]
pub(super) struct Approval {
    id: Shown,
    binding: Shown,
    is: &'static str,
    price: Shown,
    what: Shown,
    payee: Shown,
    asked_s: u64,
    ends_s: u64,
    /// Everything that a yes is bound to.
    terms: Vec<(&'static str, Shown)>,
    why: Vec<Shown>,
}

impl Approval {
    pub(super) fn of(view: &ApprovalView) -> Self {
        Self {
            id: Shown::of(&view.id),
            binding: Shown::of(&view.binding),
            is: match view.state {
                ApprovalState::Waiting => "waiting",
                ApprovalState::Approved => "approved",
                ApprovalState::Denied => "denied",
                ApprovalState::Used | ApprovalState::Expired => "over",
            },
            price: Shown::of(&view.money),
            what: Shown::of(&format!("{} {}", view.method, view.site)),
            payee: Shown::of(&view.terms.payee),
            asked_s: view.asked_s,
            ends_s: view.expires_s,
            terms: terms_shown::bound(view).iter().map(|(name, value)| (*name, Shown::whole(value))).collect(),
            why: view.concerns.iter().map(|concern| Shown::whole(concern)).collect(),
        }
    }
}

/// A payment whose end nobody knows yet.
#[derive(Debug, Serialize)]
pub(super) struct Open {
    payment: Shown,
    money: Shown,
    payee: Shown,
    what: Shown,
    /// Until when it can still be made use of, Unix seconds.
    ends_s: u64,
}

impl Open {
    pub(super) fn of(open: &Outstanding) -> Self {
        Self {
            payment: Shown::of(&open.receipt.payment),
            money: Shown::of(&open.receipt.money),
            payee: Shown::of(&open.receipt.payee),
            what: Shown::of(&format!("{}{}", open.origin, open.path)),
            ends_s: open.receipt.valid_before,
        }
    }
}

/// A payment.
#[derive(Debug, Serialize)]
pub(super) struct Payment {
    payment: Shown,
    at_s: u64,
    is: &'static str,
    known_by: &'static str,
    money: Shown,
    payee: Shown,
    what: Shown,
    budget: Shown,
    transaction: Option<Shown>,
}

impl Payment {
    pub(super) fn of(past: &PastPayment) -> Self {
        Self {
            payment: Shown::of(&past.payment),
            at_s: past.created_s,
            is: past.state.word(),
            known_by: standing::known_by(past.proof),
            money: Shown::of(&past.money),
            payee: Shown::of(&past.terms.payee),
            what: Shown::of(&format!("{} {}", past.method, past.site)),
            budget: Shown::of(&past.session_name),
            transaction: past.receipt.transaction.as_ref().map(Shown::of),
        }
    }
}

/// An event of the log.
#[derive(Debug, Serialize)]
pub(super) struct Event {
    seq: u64,
    at_s: u64,
    kind: Shown,
    budget: Option<Shown>,
    payment: Option<Shown>,
    detail: Shown,
}

impl Event {
    pub(super) fn of(entry: &LogEntry) -> Self {
        Self {
            seq: entry.seq,
            at_s: entry.at_s,
            kind: Shown::of(&entry.kind),
            budget: entry.session.as_ref().map(Shown::of),
            payment: entry.payment.as_ref().map(Shown::of),
            detail: Shown::of(&entry.detail),
        }
    }
}
