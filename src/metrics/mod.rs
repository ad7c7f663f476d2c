//! Counts of what happens, and the course of purchases, for whoever looks after machines. It must never hold a URL, a body or an
//! address, nor name a host unless the rules name hosts.
//!
//! Counters begin with the process that keeps them. Money and ends come from the events of the log; times and refusals are what
//! the vault measured in its memory, because the log knows whole seconds and has no room for every refusal; gauges are what the
//! vault says of this moment. No number here decides anything, and money stays exact: it is written as decimals and never passes
//! a float.

mod door;
mod mark;
mod otlp;
mod prometheus;
mod times;
mod traces;

use std::collections::{BTreeMap, BTreeSet};

use bursar_policy::Money;
use bursar_policy::rules::Labels;
use bursar_vault::protocol::{LegName, LogEntry, OperatorStatus, Passage, PassageEnd, PaymentDetail};

pub(crate) use door::{Admission, Shelf, answer};
pub(crate) use mark::{Fresh, Mark};
pub(crate) use otlp::request as otlp_request;
pub(crate) use prometheus::text as prometheus_text;
pub(crate) use times::Times;
pub(crate) use traces::{Trace, request as trace_request};

/// The most hosts that are told apart; what comes after them is counted as `other`.
const HOSTS_MAX: usize = 200;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Only grows, from zero at the beginning.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// The labels of a number. A label's name is ours; its value may be a word of the operator's.
type LabelSet = Vec<(&'static str, String)>;

/// One number with its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) labels: LabelSet,
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

/// Times with their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timed {
    pub(crate) labels: LabelSet,
    pub(crate) times: Times,
}

/// One histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) samples: Vec<Timed>,
}

/// What was counted since the process began.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    labels: Labels,
    hosts: BTreeSet<String>,
    spent: BTreeMap<(String, Option<String>), Money>,
    returned: BTreeMap<(String, Option<String>), Money>,
    payments: BTreeMap<(String, Option<String>), u64>,
    corrected: BTreeMap<(String, String, Option<String>), u64>,
    refused: BTreeMap<String, u64>,
    missed: u64,
    purchase: BTreeMap<PassageEnd, Times>,
    to_signature: Times,
    to_report: Times,
}

impl Counts {
    pub(crate) fn new(labels: Labels) -> Self {
        Self {
            labels,
            hosts: BTreeSet::new(),
            spent: BTreeMap::new(),
            returned: BTreeMap::new(),
            payments: BTreeMap::new(),
            corrected: BTreeMap::new(),
            refused: BTreeMap::new(),
            missed: 0,
            purchase: BTreeMap::new(),
            to_signature: Times::default(),
            to_report: Times::default(),
        }
    }

    /// Whether this event ends a payment, so that its detail is needed.
    pub(crate) fn is_an_end(event: &LogEntry) -> bool {
        ["settled", "presumed_spent", "lapsed", "voided"].contains(&event.kind.as_str()) && event.payment.is_some()
    }

    /// Counts a payment that came to an end by `event`. One that had ended before, which a late word of the seller's or a chain
    /// corrects, is counted as corrected and not once more; its money is counted when it first counts as spent, and as returned
    /// when it is back.
    pub(crate) fn ended(&mut self, event: &LogEntry, detail: &PaymentDetail) {
        let host = match self.labels {
            Labels::Nobody => None,
            Labels::Hosts => Some(self.host(detail.site.authority())),
        };
        let money = detail.receipt.money;
        let before = detail.events.iter().rev().find(|earlier| earlier.seq < event.seq && Self::is_an_end(earlier));
        let was_spent = before.is_some_and(counts_as_spent);
        match before {
            None => grow(&mut self.payments, (event.kind.clone(), host.clone())),
            Some(before) => grow(&mut self.corrected, (before.kind.clone(), event.kind.clone(), host.clone())),
        }
        let sums = match (was_spent, counts_as_spent(event)) {
            (false, true) => &mut self.spent,
            (true, false) => &mut self.returned,
            _ => return,
        };
        let sum = sums.entry((money.currency().to_string(), host)).or_insert_with(|| Money::zero(money.currency()));
        *sum = sum.checked_add(money).unwrap_or(*sum);
    }

    /// Counts what a vault measured.
    pub(crate) fn measured(&mut self, fresh: &Fresh) {
        self.missed = self.missed.saturating_add(fresh.missed);
        for (code, times) in &fresh.refused {
            let count = self.refused.entry(code.clone()).or_default();
            *count = count.saturating_add(*times);
        }
        for passage in &fresh.passages {
            self.passed(passage);
        }
    }

    fn passed(&mut self, passage: &Passage) {
        self.purchase.entry(passage.end).or_default().note(passage.took_us);
        let leg = |name| passage.legs.iter().find(|leg| leg.name == name);
        let Some(sign) = leg(LegName::Sign) else { return };
        if leg(LegName::Claim).is_some() {
            self.to_signature.note(sign.from_us.saturating_add(sign.took_us));
        }
        if let Some(pay) = leg(LegName::Pay) {
            self.to_report.note(pay.took_us);
        }
    }

    /// `new`, or `other` where it is one too many.
    fn host(&mut self, new: String) -> String {
        if self.hosts.len() < HOSTS_MAX || self.hosts.contains(&new) {
            self.hosts.insert(new.clone());
            return new;
        }
        "other".to_owned()
    }

    /// Everything but times, with what the vault says of this moment where it says anything.
    pub(crate) fn families(&self, status: Option<&OperatorStatus>) -> Vec<Family> {
        let of_host = |host: &Option<String>| host.iter().map(|host| ("host", host.clone())).collect::<LabelSet>();
        let sums = |sums: &BTreeMap<(String, Option<String>), Money>| {
            let sum = |((currency, host), money): (&(String, Option<String>), &Money)| Sample {
                labels: [vec![("currency", currency.clone())], of_host(host)].concat(),
                value: decimal(*money),
            };
            sums.iter().map(sum).collect::<Vec<_>>()
        };
        let payments = self.payments.iter().map(|((state, host), count)| Sample {
            labels: [vec![("state", state.clone())], of_host(host)].concat(),
            value: count.to_string(),
        });
        let corrected = self.corrected.iter().map(|((from, to, host), count)| Sample {
            labels: [vec![("from", from.clone()), ("to", to.clone())], of_host(host)].concat(),
            value: count.to_string(),
        });
        let refused = self
            .refused
            .iter()
            .map(|(code, count)| Sample { labels: vec![("code", code.clone())], value: count.to_string() });
        let missed = vec![Sample { labels: Vec::new(), value: self.missed.to_string() }];
        let counter = |name, help, samples| Family { name, help, kind: Kind::Counter, samples };
        let mut families = vec![
            counter(
                "bursar_spent_total",
                "Money that was settled, or counts as spent, each payment once.",
                sums(&self.spent),
            ),
            counter("bursar_returned_total", "Money that counted as spent and is back.", sums(&self.returned)),
            counter(
                "bursar_payments_total",
                "Payments that came to an end, by how they first ended.",
                payments.collect(),
            ),
            counter("bursar_corrected_total", "Payments whose end was corrected later.", corrected.collect()),
            counter("bursar_refused_total", "Refusals by code, under each of their codes.", refused.collect()),
            counter("bursar_purchases_missed_total", "Purchases whose times nobody asked for in time.", missed),
        ];
        families.extend(status.map(gauges).unwrap_or_default());
        families
    }

    /// Every time.
    pub(crate) fn spreads(&self) -> Vec<Spread> {
        let of_end = |(end, times): (&PassageEnd, &Times)| Timed {
            labels: vec![("outcome", end.word().to_owned())],
            times: times.clone(),
        };
        let alone = |times: &Times| vec![Timed { labels: Vec::new(), times: times.clone() }];
        let spread = |name, help, samples| Spread { name, help, samples };
        vec![
            spread("bursar_purchase_seconds", "From the claim of a purchase to its end.", {
                self.purchase.iter().map(of_end).collect()
            }),
            spread("bursar_claim_to_signature_seconds", "From the claim of a purchase to its signature.", {
                alone(&self.to_signature)
            }),
            spread(
                "bursar_signature_to_report_seconds",
                "From the signature of a payment to the report of what came back.",
                alone(&self.to_report),
            ),
        ]
    }
}

/// Whether a payment that ended by `event` counts as spent.
fn counts_as_spent(event: &LogEntry) -> bool {
    event.kind == "settled" || event.kind == "presumed_spent"
}

fn grow<K: Ord>(counts: &mut BTreeMap<K, u64>, of: K) {
    let count = counts.entry(of).or_default();
    *count = count.saturating_add(1);
}

/// What the vault says of this moment.
fn gauges(status: &OperatorStatus) -> Vec<Family> {
    let gauge = |name, help, samples| Family { name, help, kind: Kind::Gauge, samples };
    let one = |value: String| vec![Sample { labels: Vec::new(), value }];
    let flag = |is: bool| one(u8::from(is).to_string());
    let money = |labels: LabelSet, money: Money| Sample {
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
        gauge("bursar_unresolved", "Payments that are not resolved.", one(status.unresolved_count.to_string())),
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

#[cfg(test)]
mod tests;
