//! How things stand for one payment at this moment, read inside the transaction that may count it. Must never decide.

use bursar_policy::budget::{SessionStanding, Standing, Total, Word};
use bursar_policy::chain::Address;
use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::gate::may_visit;
use bursar_policy::limit::PaymentFacts;
use bursar_policy::mandate::against_asking;
use bursar_policy::money::Money;
use bursar_policy::refusal::{Refusal, in_order};
use bursar_policy::rules::Rules;

use super::acquaintance;
use super::breaker;
use super::fault::LedgerFault;
use super::meta;
use super::overdue;
use super::purse;
use super::rows::Payment;
use super::session::{self, Session};
use super::tally::{self, Used};
use super::writer::Tx;

/// Everything that `admit` asks about, for a payment with `facts` by `payer` out of `session` that `errand` asks for. `own`
/// is the payment itself, where it is counted already: it is left out of every sum.
pub(super) fn read(
    tx: &Tx<'_>,
    rules: &Rules,
    session: &Session,
    errand: &Errand,
    payer: Option<Address>,
    facts: &PaymentFacts,
    own: Option<&Payment>,
) -> Result<Standing, LedgerFault> {
    let mut totals = Vec::with_capacity(rules.limits().len());
    let own_facts = own.map(Payment::facts);
    for limit in rules.limits().iter().filter(|limit| limit.concerns(facts)) {
        let key = limit.key(facts);
        let currency = limit.max.map_or(facts.money.currency(), Money::currency);
        let used = tally::used(tx.conn, key.as_str(), rules.window_begins_s(limit.window, tx.now_s))?;
        let used = tally::without(used, key.as_str(), own_facts.as_ref())?;
        let share = tx.shares.part(rules, limit, &key, tx.now_s);
        totals.push(Total { limit: *limit, key, amount: Money::new(currency, used.atto), count: count(used), share });
    }
    let once = rules.host_rule(&facts.site).is_some_and(|rule| rule.no_recurring_s().is_some());
    let bought_ago_s = if once {
        acquaintance::bought_ago_s(tx.conn, &errand.subject(), own.map(|own| &own.id), tx.now_s)?
    } else {
        None
    };
    let spent = session::spent(tx.conn, session)?;
    Ok(Standing {
        frozen: meta::frozen(tx.conn)?.is_some(),
        latched: tx.latched,
        session: SessionStanding {
            id: session.id.clone(),
            budget: session.budget,
            spent: own.map_or(spent, |own| spent.saturating_sub(own.money)),
            expires_s: session.expires_s,
            closed: session.closed,
            mandate: session.mandate.clone(),
        },
        totals,
        unresolved: overdue::read(tx.conn, facts)?,
        quarantined_until_s: breaker::until_s(tx.conn, facts.site.origin())?,
        bought_ago_s,
        funds: purse::left(tx, payer, &facts.asset, own_facts.as_ref())?,
        acquaintance: acquaintance::read(tx.conn, rules, errand, facts, own_facts.as_ref())?,
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

/// Why the seller of `errand` is not asked, as far as it is known before: for `reasons`, because the session is not for
/// this, or because the host is in quarantine. Where there is a reason, those of the rules stand beside it, so that the
/// operator reads all of them at once; empty when the seller may be asked as far as the ledger knows.
pub(super) fn unasked(
    tx: &Tx<'_>,
    rules: &Rules,
    session: Option<&Session>,
    errand: &Errand,
    mut reasons: Vec<Refusal>,
) -> Result<Vec<Refusal>, LedgerFault> {
    reasons.extend(against_asking(rules, session.and_then(|open| open.mandate.as_ref()), &errand.site));
    reasons.extend(breaker::refusal(tx, errand.site.origin())?);
    if !reasons.is_empty() {
        reasons.extend(may_visit(rules, errand).err().unwrap_or_default());
    }
    Ok(in_order(reasons))
}

/// A count as the rules have it.
pub(super) fn count(used: Used) -> u32 {
    u32::try_from(used.count).unwrap_or(u32::MAX)
}
