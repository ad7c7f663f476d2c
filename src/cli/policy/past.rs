//! The past under other rules: each payment judged again, and admitted over the totals of those that would have been
//! allowed before it. Pure; it must never ask the ledger anything or count in it.

use std::collections::HashMap;

use bursar_policy::budget::against;
use bursar_policy::errand::BodyType;
use bursar_policy::limit::Window;
use bursar_policy::{
    Address, Body, ChainId, Errand, Headers, Limit, Money, Origin, PaymentFacts, Refusal, Rules, SessionId,
    SessionStanding, Standing, TallyKey, Total, Unresolved, Word, admit, in_order, judge,
};
use bursar_vault::protocol::{PastPayment, RowState};

use super::known::Known;

/// What would have become of the payments of a past, handed over in the order in which they were counted.
#[derive(Debug)]
pub(super) struct Past<'r> {
    rules: &'r Rules,
    totals: HashMap<(Limit, TallyKey), Running>,
    sessions: HashMap<SessionId, Running>,
    lost: Vec<Lost>,
    known: Known,
}

/// A payment that was allowed and ran out unresolved.
#[derive(Debug)]
struct Lost {
    origin: Origin,
    payee: (ChainId, Address),
    /// From then on, Unix seconds.
    from_s: u64,
}

/// Everything that was allowed under one key, as far as it still counts.
#[derive(Debug, Default)]
struct Running {
    /// What counts whatever the time.
    settled: Sum,
    /// What may stop counting.
    live: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    atto: u128,
    count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    atto: u128,
    end: End,
}

/// When a payment stopped being pending, Unix seconds.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It is pending still.
    Never,
    /// It was spent then.
    Spent(u64),
    /// It was shown then not to have moved.
    Freed(u64),
}

/// How long an entry counts, seen at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// At this moment, and perhaps not later.
    Now,
    /// From now on at any time.
    Always,
    /// Neither now nor later.
    NoMore,
}

impl<'r> Past<'r> {
    /// A past of which nothing was told yet, under `rules`.
    pub(super) fn under(rules: &'r Rules) -> Self {
        Self { rules, totals: HashMap::new(), sessions: HashMap::new(), lost: Vec::new(), known: Known::default() }
    }

    /// Whether the rules would have allowed this payment at its time, after those that were handed over before it.
    ///
    /// Terms, errand and time are those of the row, and budget and mandate are those of its session. The size of a body
    /// is not kept, so no limit on it is asked. What a person said then is not asked either: a payment that the rules
    /// would have put before one is not allowed here. A freeze or a latch of then is not asked about: no row was counted
    /// under one.
    ///
    /// # Errors
    ///
    /// Every reason against it, as at its time; never an empty list.
    pub(super) fn admit(&mut self, past: &PastPayment) -> Result<(), Vec<Refusal>> {
        let now_s = past.created_s;
        let errand = Errand {
            site: past.site.clone(),
            method: past.method,
            body: past.body.map(|digest| Body { digest, bytes: 0, kind: BodyType::Octet }),
            headers: Headers::none(),
            ceiling: None,
            purchase_id: None,
            quote: None,
            suspicious: None,
        };
        let judged = judge(self.rules, &errand, &past.terms.to_challenge(), Some(past.payer), now_s);
        let facts = PaymentFacts {
            session: past.session.clone(),
            site: past.site.clone(),
            payee: past.terms.payee,
            asset: past.terms.asset_id(),
            money: past.money,
            tags: self.rules.tags(&past.site, &past.terms.payee),
        };
        let mut totals = Vec::with_capacity(self.rules.limits().len());
        for limit in self.rules.limits() {
            let key = limit.key(&facts);
            let currency = limit.max.map_or(facts.money.currency(), Money::currency);
            let running = self.totals.get_mut(&(*limit, key.clone()));
            let sum = running.map_or_else(Sum::default, |running| {
                running.at(limit.window, self.rules.window_begins_s(limit.window, now_s), now_s)
            });
            totals.push(Total {
                limit: *limit,
                key,
                amount: Money::new(currency, sum.atto),
                count: sum.count,
                share: None,
            });
        }
        let subject = past.subject;
        let unresolved = self.unresolved(&facts, now_s);
        let session = self.sessions.entry(past.session.clone()).or_default();
        let spent = session.at(Window::Lifetime, None, now_s);
        let standing = Standing {
            frozen: false,
            latched: false,
            session: SessionStanding {
                id: past.session.clone(),
                budget: past.budget,
                spent: Money::new(past.budget.currency(), spent.atto),
                expires_s: past.session_expires_s,
                closed: false,
                mandate: past.mandate.clone(),
            },
            totals,
            unresolved,
            quarantined_until_s: None,
            funds: None,
            bought_ago_s: self.known.bought_ago_s(&subject, now_s),
            acquaintance: self.known.of(self.rules, &facts, subject),
            suspicious: None,
            word: Word::None,
        };
        let vetted = match judged {
            Ok(vetted) => vetted,
            // What the budget has against it is told as well: a gate that says no hides nothing.
            Err(reasons) => return Err(in_order([reasons, against(self.rules, &standing, &facts, now_s)].concat())),
        };
        let admitted = admit(self.rules, &standing, vetted, facts, now_s)?;
        self.known.learn(admitted.facts(), subject, now_s);
        let entry = Entry { atto: admitted.money().atto(), end: end_of(past) };
        session.live.push(entry);
        for limit in self.rules.limits() {
            let same_currency = limit.max.is_none_or(|max| max.currency() == admitted.money().currency());
            if same_currency && limit.concerns(admitted.facts()) {
                self.totals.entry((*limit, limit.key(admitted.facts()))).or_default().live.push(entry);
            }
        }
        if past.unresolved {
            let payee = (past.terms.chain, past.terms.payee);
            let from_s = past.ended_s.unwrap_or(now_s);
            self.lost.push(Lost { origin: past.site.origin().clone(), payee, from_s });
        }
        Ok(())
    }

    /// What had run out unresolved by `now_s`. What became of it later is known today and was not then; it is not counted.
    fn unresolved(&self, facts: &PaymentFacts, now_s: u64) -> Unresolved {
        let of = |is_it: &dyn Fn(&Lost) -> bool| {
            let lost = self.lost.iter().filter(|lost| lost.from_s <= now_s && is_it(lost)).count();
            u32::try_from(lost).unwrap_or(u32::MAX)
        };
        Unresolved {
            host: of(&|lost| lost.origin == *facts.site.origin()),
            payee: of(&|lost| lost.payee == (facts.asset.chain, facts.payee)),
        }
    }
}

impl Running {
    /// What counts at `now_s` within `window`, which begins at `first_s` or counts everything. Time never goes back by
    /// much: what stopped counting is forgotten.
    fn at(&mut self, window: Window, first_s: Option<u64>, now_s: u64) -> Sum {
        let mut now = self.settled;
        let mut settled = self.settled;
        self.live.retain(|entry| match counts(entry.end, window, first_s, now_s) {
            Counts::Now => {
                now = now.and(entry.atto);
                true
            }
            Counts::Always => {
                now = now.and(entry.atto);
                settled = settled.and(entry.atto);
                false
            }
            Counts::NoMore => false,
        });
        self.settled = settled;
        now
    }
}

impl Sum {
    const fn and(self, atto: u128) -> Self {
        Self { atto: self.atto.saturating_add(atto), count: self.count.saturating_add(1) }
    }
}

/// Whether what ended so counts at `now_s` within `window`, of which `first_s` is the first second: everything pending
/// does, at any age; what was spent does as long as the window holds it.
const fn counts(end: End, window: Window, first_s: Option<u64>, now_s: u64) -> Counts {
    match end {
        End::Freed(at_s) if at_s <= now_s => Counts::NoMore,
        End::Never | End::Freed(_) => Counts::Now,
        End::Spent(at_s) if now_s < at_s => Counts::Now,
        End::Spent(_) if matches!(window, Window::Lifetime) => Counts::Always,
        End::Spent(at_s) => match first_s {
            Some(first_s) if at_s < first_s => Counts::NoMore,
            _ => Counts::Now,
        },
    }
}

fn end_of(past: &PastPayment) -> End {
    match (past.state, past.ended_s) {
        (RowState::Held | RowState::Exposed, _) | (_, None) => End::Never,
        (RowState::Settled | RowState::PresumedSpent, Some(at_s)) => End::Spent(at_s),
        (RowState::Lapsed | RowState::Voided, Some(at_s)) => End::Freed(at_s),
    }
}

#[cfg(test)]
mod tests;
