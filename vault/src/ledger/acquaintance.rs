//! What is known of a host from earlier payments: whom, where and with what it was paid, for how much, and what its name
//! looks like. Must never forget, and never decide.
//!
//! What a payment says is known from the moment it may be signed: a second one at the same time is then held against it.

use bursar_policy::caution::{Acquaintance, usual_price};
use bursar_policy::digest::Digest;
use bursar_policy::errand::{Errand, PaymentId};
use bursar_policy::likeness::{are_alike, shapes};
use bursar_policy::limit::{PaymentFacts, TallyKey};
use bursar_policy::money::Money;
use bursar_policy::rules::Rules;
use bursar_policy::site::Host;

use super::fault::LedgerFault;
use super::number::{from_sql, narrow};
use super::rows::{self, Payment};
use super::states::RowState;
use super::store::{Store, bound};
use super::tally;

/// How many names of one shape are looked at: more than anybody pays for to hide behind.
const ALIKE_MAX: u32 = 4096;

pub(super) const FAMILIAR: &str = "SELECT 1 FROM familiar WHERE origin = ?1 AND kind = ?2 AND value = ?3";
pub(super) const ANY_FAMILIAR: &str = "SELECT 1 FROM familiar WHERE origin = ?1 LIMIT 1";
pub(super) const ALIKE: &str = "SELECT host FROM likeness WHERE shape = ?1 LIMIT ?2";
pub(super) const LAST_BOUGHT: &str = "SELECT created_s FROM payment WHERE subject = ?1
      AND state NOT IN ('voided', 'lapsed') AND id IS DISTINCT FROM ?2 ORDER BY seq DESC LIMIT 1";
pub(super) const FIRST_BOUGHT: &str = "SELECT money FROM payment WHERE subject = ?1 AND currency = ?2
     AND state NOT IN ('voided', 'lapsed') ORDER BY seq LIMIT 1";

const LEARN: &str =
    "INSERT INTO familiar (origin, kind, value, payment) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
const LEARN_SHAPE: &str = "INSERT INTO likeness (shape, host) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

/// What is known of the host of a payment with `facts`, which may be counted already with its `own`, and of `errand`,
/// which it is for.
pub(super) fn read(
    conn: &Store,
    rules: &Rules,
    errand: &Errand,
    facts: &PaymentFacts,
    own: Option<&PaymentFacts>,
) -> Result<Acquaintance, LedgerFault> {
    let origin = facts.site.origin().to_string();
    let paid_before = conn.has(ANY_FAMILIAR, bound![&origin])?;
    let [payee, network, asset] = Fact::all(facts);
    let knows = |fact: Fact| -> Result<bool, LedgerFault> {
        Ok(paid_before && conn.has(FAMILIAR, bound![origin, fact.kind, fact.value])?)
    };
    let host = rules.host_rule(&facts.site);
    let asks_what_is_usual = host.is_some_and(|rule| rule.caution().unusual_times().is_some());
    let asks_what_was_first = host.is_some_and(|rule| rule.caution().price_rise().is_some());
    let is_new_among_any = !paid_before && rules.allow_any_host();
    Ok(Acquaintance {
        paid_before,
        payee: knows(payee)?,
        network: knows(network)?,
        asset: knows(asset)?,
        usual: if asks_what_is_usual { usual(conn, facts, own)? } else { None },
        first_price: if paid_before && asks_what_was_first { first_price(conn, errand, facts)? } else { None },
        looks_like: if is_new_among_any { looks_like(conn, facts.site.host())? } else { None },
    })
}

/// How many seconds ago the same request was counted last, by another payment than `own`, unless that came to nothing
/// for certain.
pub(super) fn bought_ago_s(
    conn: &Store,
    subject: &Digest,
    own: Option<&PaymentId>,
    now_s: u64,
) -> Result<Option<u64>, LedgerFault> {
    let found: Option<i64> =
        conn.first(LAST_BOUGHT, bound![subject.to_string(), own.map(PaymentId::as_str)], |row| row.get(0))?;
    Ok(found.map(from_sql).transpose()?.map(|at_s| now_s.saturating_sub(at_s)))
}

/// Learns what the payment, just counted, says of its host.
pub(super) fn learn(conn: &Store, payment: &Payment) -> Result<(), LedgerFault> {
    let facts = payment.facts();
    let origin = facts.site.origin().to_string();
    let is_new = !conn.has(ANY_FAMILIAR, bound![&origin])?;
    for fact in Fact::all(&facts) {
        remember(conn, &origin, &fact, &payment.id)?;
    }
    if is_new {
        let host = facts.site.host();
        let name = host.to_string();
        for shape in shapes(host) {
            conn.execute(LEARN_SHAPE, bound![&shape, &name])?;
        }
    }
    Ok(())
}

/// Whether a payment is one to learn from: nothing is known from what came to nothing, or is only held.
pub(super) fn counts(payment: &Payment) -> bool {
    !matches!(payment.state, RowState::Voided | RowState::Lapsed | RowState::Held)
}

/// Whether everything that `payment` says of its host is known.
pub(super) fn is_learnt(conn: &Store, payment: &Payment) -> Result<bool, LedgerFault> {
    let facts = payment.facts();
    let origin = facts.site.origin().to_string();
    for fact in Fact::all(&facts) {
        if !conn.has(FAMILIAR, bound![origin, fact.kind, fact.value])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An origin of which something is known that the payment it is said to be known from does not say.
pub(super) fn made_up(conn: &Store) -> Result<Option<String>, LedgerFault> {
    let mut made_up = None;
    conn.each("SELECT origin, kind, value, payment FROM familiar", bound![], |row| {
        let (origin, kind, value): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let id = row.get::<String>(3)?.parse().map_err(|_fault| LedgerFault::Unreadable { what: "familiar" })?;
        let facts = rows::by_id(conn, &id)?.facts();
        let says = Fact::all(&facts).iter().any(|fact| fact.kind == kind && fact.value == value);
        if made_up.is_none() && (!says || facts.site.origin().to_string() != origin) {
            made_up = Some(origin);
        }
        Ok(())
    })?;
    Ok(made_up)
}

/// One thing that a host was paid with.
struct Fact {
    kind: &'static str,
    value: String,
}

impl Fact {
    fn all(facts: &PaymentFacts) -> [Self; 3] {
        [Self::payee(facts), Self::network(facts), Self::asset(facts)]
    }

    fn payee(facts: &PaymentFacts) -> Self {
        Self { kind: "payee", value: format!("{}:{}", facts.asset.chain, facts.payee) }
    }

    fn network(facts: &PaymentFacts) -> Self {
        Self { kind: "network", value: facts.asset.chain.to_string() }
    }

    fn asset(facts: &PaymentFacts) -> Self {
        Self { kind: "asset", value: facts.asset.to_string() }
    }
}

fn remember(conn: &Store, origin: &str, fact: &Fact, payment: &PaymentId) -> Result<(), LedgerFault> {
    conn.execute(LEARN, bound![origin, fact.kind, fact.value, payment.as_str()])?;
    Ok(())
}

/// The mean of all other payments of the host in the currency of this one.
fn usual(conn: &Store, facts: &PaymentFacts, own: Option<&PaymentFacts>) -> Result<Option<Money>, LedgerFault> {
    let key = TallyKey::of_host(facts);
    let all = tally::without(tally::used(conn, key.as_str(), None)?, key.as_str(), own)?;
    Ok(usual_price(Money::new(facts.money.currency(), all.atto), all.count))
}

/// What the same request cost when it was paid for the first time in the currency of this payment.
fn first_price(conn: &Store, errand: &Errand, facts: &PaymentFacts) -> Result<Option<Money>, LedgerFault> {
    let currency = facts.money.currency();
    let (subject, letters) = (errand.subject().to_string(), currency.to_string());
    let found: Option<String> = conn.first(FIRST_BOUGHT, bound![subject, letters], |row| row.get(0))?;
    Ok(found.map(|text| narrow(&text)).transpose()?.map(|atto| Money::new(currency, atto)))
}

/// A host that was paid before and that `host` looks like.
fn looks_like(conn: &Store, host: &Host) -> Result<Option<String>, LedgerFault> {
    for shape in shapes(host) {
        let found = conn.every(ALIKE, bound![shape, ALIKE_MAX], |row| row.get::<String>(0))?;
        let is_alike = |known: &String| known.parse::<Host>().is_ok_and(|known| are_alike(host, &known));
        if let Some(known) = found.into_iter().find(is_alike) {
            return Ok(Some(known));
        }
    }
    Ok(None)
}
