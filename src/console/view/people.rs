//! Whom the money goes to: hosts and payees, those of the rules and those of the newest payments, with what stands against them.

use std::collections::BTreeMap;

use bursar_policy::{Money, Rules, Scope};
use bursar_vault::protocol::{OperatorStatus, PastPayment, RowState};
use serde::Serialize;

use crate::console::shown::Shown;

/// One host, or one payee.
#[derive(Debug, Serialize)]
pub(super) struct Person {
    who: Shown,
    /// Whether the rules name it.
    listed: bool,
    /// Of the newest payments, those that count.
    payments: u32,
    money: Vec<Shown>,
    last_s: Option<u64>,
    /// Payments that ran out and nobody knows how they ended.
    lost: u32,
    quarantined_until_s: Option<u64>,
}

#[derive(Debug, Default)]
struct Known {
    listed: bool,
    payments: u32,
    money: Vec<Money>,
    last_s: Option<u64>,
    lost: u32,
    quarantined_until_s: Option<u64>,
}

/// The hosts, the latest paid first.
pub(super) fn hosts(status: &OperatorStatus, rules: Option<&Rules>, payments: &[&PastPayment]) -> Vec<Person> {
    let mut known = counted(payments, |payment| payment.site.origin().to_string());
    for (origin, _) in rules.into_iter().flat_map(Rules::host_rules) {
        known.entry(origin.to_string()).or_default().listed = true;
    }
    for host in &status.quarantined {
        known.entry(host.origin.clone()).or_default().quarantined_until_s = Some(host.until_s);
    }
    lost(&mut known, status, Scope::Host);
    in_order(known)
}

/// The payees, the latest paid first.
pub(super) fn payees(status: &OperatorStatus, rules: Option<&Rules>, payments: &[&PastPayment]) -> Vec<Person> {
    let mut known = counted(payments, |payment| format!("{}:{}", payment.terms.chain, payment.terms.payee));
    for payee in rules.and_then(Rules::recipients).into_iter().flatten() {
        let address = payee.to_string();
        let mut paid = known.iter_mut().filter(|(who, _)| who.ends_with(&address)).map(|(_, known)| known).peekable();
        if paid.peek().is_some() {
            paid.for_each(|known| known.listed = true);
        } else {
            drop(paid);
            known.entry(address).or_default().listed = true;
        }
    }
    lost(&mut known, status, Scope::Payee);
    in_order(known)
}

fn counted(payments: &[&PastPayment], who: impl Fn(&PastPayment) -> String) -> BTreeMap<String, Known> {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for payment in payments {
        if matches!(payment.state, RowState::Voided | RowState::Lapsed) {
            continue;
        }
        let person = known.entry(who(payment)).or_default();
        person.payments = person.payments.saturating_add(1);
        person.last_s = person.last_s.max(Some(payment.created_s));
        match person.money.iter_mut().find_map(|sum| Some((sum.checked_add(payment.money)?, sum))) {
            Some((more, sum)) => *sum = more,
            None => person.money.push(payment.money),
        }
    }
    known
}

fn lost(known: &mut BTreeMap<String, Known>, status: &OperatorStatus, scope: Scope) {
    for lost in status.lost.iter().filter(|lost| lost.scope == scope) {
        known.entry(lost.of.clone()).or_default().lost = lost.count;
    }
}

fn in_order(known: BTreeMap<String, Known>) -> Vec<Person> {
    let mut known: Vec<(String, Known)> = known.into_iter().collect();
    known.sort_by_key(|(_, person)| std::cmp::Reverse(person.last_s));
    let person = |(who, known): (String, Known)| Person {
        who: Shown::of(&who),
        listed: known.listed,
        payments: known.payments,
        money: known.money.iter().map(Shown::of).collect(),
        last_s: known.last_s,
        lost: known.lost,
        quarantined_until_s: known.quarantined_until_s,
    };
    known.into_iter().map(person).collect()
}
