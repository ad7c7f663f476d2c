//! How things stand for one payment at this moment, read inside the transaction that may count it. Must never decide.

use bursar_policy::budget::{SessionStanding, Standing, Total, Word};
use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::limit::PaymentFacts;
use bursar_policy::money::Money;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;

use super::acquaintance;
use super::breaker;
use super::fault::LedgerFault;
use super::meta;
use super::overdue;
use super::session::{self, Session};
use super::tally::{self, Used};
use super::writer::Tx;

/// Everything that `admit` asks about, for a payment with `facts` out of `session` that `errand` asks for.
pub(super) fn read(
    tx: &Tx<'_>,
    rules: &Rules,
    session: &Session,
    errand: &Errand,
    facts: &PaymentFacts,
) -> Result<Standing, LedgerFault> {
    let mut totals = Vec::with_capacity(rules.limits().len());
    for limit in rules.limits().iter().filter(|limit| limit.concerns(facts)) {
        let key = limit.key(facts);
        let currency = limit.max.map_or(facts.money.currency(), Money::currency);
        let used = tally::used(tx.conn, key.as_str(), rules.window_begins_s(limit.window, tx.now_s))?;
        totals.push(Total { limit: *limit, key, amount: Money::new(currency, used.atto), count: count(used) });
    }
    let once = rules.host_rule(&facts.site).is_some_and(|rule| rule.no_recurring_s().is_some());
    let bought_ago_s = if once { acquaintance::bought_ago_s(tx.conn, &errand.subject(), tx.now_s)? } else { None };
    Ok(Standing {
        frozen: meta::frozen(tx.conn)?.is_some(),
        latched: tx.latched,
        session: SessionStanding {
            id: session.id.clone(),
            budget: session.budget,
            spent: session::spent(tx.conn, session)?,
            expires_s: session.expires_s,
            closed: session.closed,
            mandate: None,
        },
        totals,
        unresolved: overdue::read(tx.conn, facts)?,
        quarantined_until_s: breaker::until_s(tx.conn, facts.site.origin())?,
        bought_ago_s,
        acquaintance: acquaintance::read(tx.conn, rules, facts)?,
        suspicious: errand.suspicious.clone(),
        word: Word::None,
    })
}

/// Why nothing can be bought in this session now, whatever it is; empty when something may be.
pub(super) fn shut(tx: &Tx<'_>, session: &SessionId) -> Result<Vec<Refusal>, LedgerFault> {
    let mut reasons = Vec::new();
    if meta::frozen(tx.conn)?.is_some() {
        reasons.push(Refusal::Frozen);
    }
    if tx.latched {
        reasons.push(Refusal::LedgerLatched);
    }
    match session::by_id(tx.conn, session)? {
        Some(open) if !open.closed && tx.now_s < open.expires_s => {}
        Some(over) if !over.closed => reasons.push(Refusal::SessionExpired),
        _ => reasons.push(Refusal::NoSession),
    }
    Ok(reasons)
}

/// A count as the rules have it.
pub(super) fn count(used: Used) -> u32 {
    u32::try_from(used.count).unwrap_or(u32::MAX)
}
