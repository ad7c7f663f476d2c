//! How things stand for one payment at this moment, read inside the transaction that may count it. Must never decide.

use std::net::Ipv4Addr;

use bursar_policy::budget::{SessionStanding, Standing, Total};
use bursar_policy::chain::{Address, AssetId, ChainId};
use bursar_policy::errand::SessionId;
use bursar_policy::limit::{Limit, PaymentFacts, Scope, TallyKey, Window};
use bursar_policy::money::{Currency, Money};
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::site::{Host, Origin, Scheme};

use super::fault::LedgerFault;
use super::meta;
use super::session::{self, Session};
use super::tally::{self, Used};
use super::writer::Tx;

/// Everything that `admit` asks about, for a payment with `facts` out of `session`.
pub(super) fn read(
    tx: &Tx<'_>,
    rules: &Rules,
    session: &Session,
    facts: &PaymentFacts,
) -> Result<Standing, LedgerFault> {
    let mut totals = Vec::with_capacity(rules.limits().len());
    for limit in rules.limits() {
        let key = limit.key(facts);
        let currency = limit.max.map_or(facts.money.currency(), Money::currency);
        let used = tally::used(tx.conn, key.as_str(), limit.window, tx.now_s)?;
        totals.push(Total { limit: *limit, key, amount: Money::new(currency, used.atto), count: count(used) });
    }
    Ok(Standing {
        frozen: meta::frozen(tx.conn)?.is_some(),
        latched: tx.latched,
        session: SessionStanding {
            id: session.id.clone(),
            budget: session.budget,
            spent: session::spent(tx.conn, session)?,
            expires_s: session.expires_s,
            closed: session.closed,
        },
        totals,
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

/// The key of everything one session spends in one currency.
pub(super) fn key_of_session(session: &SessionId, currency: Currency) -> TallyKey {
    lifetime(Scope::Session, currency).key(&nobody(session, currency))
}

/// The key that `limit` reads for every payment of `session`; `None` when it depends on more than the session.
pub(super) fn key_without_payment(limit: &Limit, session: &SessionId) -> Option<TallyKey> {
    let currency = limit.max.map_or(Currency::USD, Money::currency);
    matches!(limit.scope, Scope::All | Scope::Session).then(|| limit.key(&nobody(session, currency)))
}

const fn lifetime(scope: Scope, currency: Currency) -> Limit {
    Limit { scope, window: Window::Lifetime, max: Some(Money::zero(currency)), count: None }
}

/// Facts for a key that asks about the session and nothing else.
fn nobody(session: &SessionId, currency: Currency) -> PaymentFacts {
    PaymentFacts {
        session: session.clone(),
        origin: Origin { scheme: Scheme::Https, host: Host::V4(Ipv4Addr::UNSPECIFIED), port: 0 },
        payee: Address::from_bytes([0; 20]),
        asset: AssetId { chain: ChainId::new(0), contract: Address::from_bytes([0; 20]) },
        money: Money::zero(currency),
    }
}
