//! Counts of what happens, for whoever looks after machines. It must never hold a URL, a body or an address, nor a host unless
//! the rules name hosts.
//!
//! Counters begin with the process that keeps them and come from the events of the log; gauges are what the vault says of this
//! moment. No number here decides anything, and money stays exact: it is written as decimals and never passes a float.

mod door;
mod otlp;
mod prometheus;

use std::collections::BTreeMap;

use bursar_policy::Money;
use bursar_policy::rules::Labels;
use bursar_vault::protocol::{LogEntry, OperatorStatus, PaymentDetail};

pub(crate) use door::{Admission, Shelf, answer};
pub(crate) use otlp::request as otlp_request;
pub(crate) use prometheus::text as prometheus_text;

/// The upper ends of the buckets of a payment's time, in seconds. The log counts whole seconds.
const BUCKETS_S: [u64; 8] = [1, 2, 5, 10, 30, 60, 300, 900];

/// The most codes and hosts that are told apart; what comes after them is counted as `other`.
const WORDS_MAX: usize = 200;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Only grows, from zero at the beginning.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// One number with its labels. A label's name is ours; its value may be a word of the operator's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) labels: Vec<(&'static str, String)>,
    /// Decimal digits.
    pub(crate) value: String,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) kind: Kind,
    pub(crate) samples: Vec<Sample>,
}

/// How long payments took from being counted to being settled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// How many fell into each bucket, the last one without an upper end.
    pub(crate) counts: [u64; BUCKETS_S.len() + 1],
    pub(crate) sum_s: u64,
}

impl Times {
    fn note(&mut self, seconds: u64) {
        let place = BUCKETS_S.iter().position(|end| seconds <= *end).unwrap_or(BUCKETS_S.len());
        if let Some(count) = self.counts.get_mut(place) {
            *count = count.saturating_add(1);
        }
        self.sum_s = self.sum_s.saturating_add(seconds);
    }
}

/// What was counted since the process began.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    labels: Labels,
    spent: BTreeMap<(String, Option<String>), Money>,
    payments: BTreeMap<(String, Option<String>), u64>,
    refused: BTreeMap<String, u64>,
    pub(crate) times: Times,
}

impl Counts {
    pub(crate) const fn new(labels: Labels) -> Self {
        let times = Times { counts: [0; BUCKETS_S.len() + 1], sum_s: 0 };
        Self { labels, spent: BTreeMap::new(), payments: BTreeMap::new(), refused: BTreeMap::new(), times }
    }

    /// Whether this event ends a payment, so that its detail is needed.
    pub(crate) fn is_an_end(event: &LogEntry) -> bool {
        ["settled", "presumed_spent", "lapsed", "voided"].contains(&event.kind.as_str()) && event.payment.is_some()
    }

    /// Counts a payment that came to an end by `event`.
    pub(crate) fn ended(&mut self, event: &LogEntry, detail: &PaymentDetail) {
        let host = match self.labels {
            Labels::Nobody => None,
            Labels::Hosts => Some(word(&self.payments, |(_, host)| host.clone(), detail.site.authority())),
        };
        let count = self.payments.entry((event.kind.clone(), host.clone())).or_default();
        *count = count.saturating_add(1);
        if event.kind == "settled" || event.kind == "presumed_spent" {
            let money = detail.receipt.money;
            let key = (money.currency().to_string(), host);
            let sum = self.spent.entry(key).or_insert_with(|| Money::zero(money.currency()));
            *sum = sum.checked_add(money).unwrap_or(*sum);
        }
        if event.kind == "settled" {
            self.times.note(event.at_s.saturating_sub(detail.receipt.created_s));
        }
    }

    /// Counts a refusal by its first code, as the log tells it.
    pub(crate) fn refused(&mut self, event: &LogEntry) {
        if event.kind != "refused" {
            return;
        }
        let code = first_code(&event.detail).unwrap_or("other").to_owned();
        let known = self.refused.contains_key(&code) || self.refused.len() < WORDS_MAX;
        let count = self.refused.entry(if known { code } else { "other".to_owned() }).or_default();
        *count = count.saturating_add(1);
    }

    /// Everything but the times, with what the vault says of this moment where it says anything.
    pub(crate) fn families(&self, status: Option<&OperatorStatus>) -> Vec<Family> {
        let of_host = |host: &Option<String>| host.iter().map(|host| ("host", host.clone())).collect::<Vec<_>>();
        let spent = self.spent.iter().map(|((currency, host), money)| Sample {
            labels: [vec![("currency", currency.clone())], of_host(host)].concat(),
            value: decimal(*money),
        });
        let payments = self.payments.iter().map(|((state, host), count)| Sample {
            labels: [vec![("state", state.clone())], of_host(host)].concat(),
            value: count.to_string(),
        });
        let refused = self
            .refused
            .iter()
            .map(|(code, count)| Sample { labels: vec![("code", code.clone())], value: count.to_string() });
        let counter = |name, help, samples| Family { name, help, kind: Kind::Counter, samples };
        let mut families = vec![
            counter("bursar_spent_total", "Money that was settled, or counts as spent for good.", spent.collect()),
            counter("bursar_payments_total", "Payments that came to an end, by how they ended.", payments.collect()),
            counter("bursar_refused_total", "Refusals in the log, by their first code.", refused.collect()),
        ];
        families.extend(status.map(gauges).unwrap_or_default());
        families
    }
}

/// What the vault says of this moment.
fn gauges(status: &OperatorStatus) -> Vec<Family> {
    let gauge = |name, help, samples| Family { name, help, kind: Kind::Gauge, samples };
    let one = |value: String| vec![Sample { labels: Vec::new(), value }];
    let flag = |is: bool| one(u8::from(is).to_string());
    let money = |labels: Vec<(&'static str, String)>, money: Money| Sample {
        labels: [labels, vec![("currency", money.currency().to_string())]].concat(),
        value: decimal(money),
    };
    let open = || status.sessions.iter().filter(|session| !session.closed && status.now_s < session.expires_s);
    let session = |name: &str| vec![("session", name.to_owned())];
    let limits = || {
        let known =
            |limit: &bursar_vault::protocol::LimitView| Some((limit.window.to_string(), limit.max?, limit.used?));
        status.limits.iter().filter_map(known)
    };
    vec![
        gauge("bursar_held", "Money set aside in payments that are not resolved.", {
            status.held.iter().map(|held| money(Vec::new(), *held)).collect()
        }),
        gauge("bursar_unresolved", "Payments that are not resolved; 20 stands for 20 or more.", {
            one(status.unresolved.len().to_string())
        }),
        gauge("bursar_approvals_waiting", "Purchases that wait for a person.", {
            one(status.approvals_waiting.to_string())
        }),
        gauge("bursar_session_budget", "Budgets that are open.", {
            open().map(|one| money(session(one.name.as_str()), one.budget)).collect()
        }),
        gauge("bursar_session_spent", "Spent or set aside of budgets that are open.", {
            open().map(|one| money(session(one.name.as_str()), one.spent)).collect()
        }),
        gauge("bursar_limit_max", "Limits over everything, by their window.", {
            limits().map(|(window, max, _)| money(vec![("window", window)], max)).collect()
        }),
        gauge("bursar_limit_used", "Spent or set aside within these limits.", {
            limits().map(|(window, _, used)| money(vec![("window", window)], used)).collect()
        }),
        gauge("bursar_locked", "1 while the wallet is locked.", flag(status.locked)),
        gauge("bursar_frozen", "1 while an operator has stopped all spending.", flag(status.frozen.is_some())),
        gauge("bursar_shut", "1 while a fault has shut payments off.", flag(status.latched.is_some())),
    ]
}

/// The number of a money value.
fn decimal(money: Money) -> String {
    let text = money.to_string();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// The code of the first reason in the detail of a refusal: `METHOD ORIGIN; CODE: sentence; …`.
fn first_code(detail: &str) -> Option<&str> {
    let (code, _) = detail.split_once("; ")?.1.split_once(": ")?;
    let is_code = (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_code.then_some(code)
}

/// `new`, or `other` where it is one too many.
fn word<K, V>(known: &BTreeMap<K, V>, of: impl Fn(&K) -> Option<String>, new: String) -> String {
    let mut words: Vec<String> = known.keys().filter_map(of).collect();
    words.sort_unstable();
    words.dedup();
    if words.contains(&new) || words.len() < WORDS_MAX { new } else { "other".to_owned() }
}

#[cfg(test)]
mod tests;
