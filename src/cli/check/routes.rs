//! The sentences about who is told what beside the person at the terminal. Shows nothing of a webhook's URL but its origin.

use bursar_policy::rules::{Labels, MetricsDoor, Telling, Traces};
use bursar_vault::rules_file::Table;

use super::sentences::span;
use super::{Reading, Told};

/// Where messages go, and where counts are shown.
pub(super) fn of(read: &Reading<'_>, told: &mut Vec<Told>) {
    if let Some(webhook) = read.rules.notify() {
        let origin = webhook.url().origin();
        let place = |key: &str| Some(read.lines.place(Table::Notify, key));
        let says = format!(
            "{origin} is told what waits for a person and what stands still, signed with `{}`",
            webhook.secret()
        );
        told.push(Told { about: "a webhook", says, place: place("webhook") });
        let says = match webhook.telling() {
            Telling::Little => format!("{origin} is told an id, a host, an amount and times, and no more"),
            Telling::Details => format!("{origin} is told the whole URL, the payee and the reasons as well"),
        };
        told.push(Told { about: "a webhook", says, place: place("details") });
    }
    if let Some(metrics) = read.rules.metrics() {
        let mut tell = |says: String, key: &str| {
            told.push(Told { about: "metrics", says, place: Some(read.lines.place(Table::Metrics, key)) });
        };
        match (metrics.listen(), metrics.token()) {
            (Some(MetricsDoor::Loopback(address)), Some(token)) => {
                tell(format!("are read at `{address}` by whoever shows the secret `{token}`"), "listen");
            }
            (Some(_), _) => tell("are read at a socket of the profile, by its owner alone".to_owned(), "listen"),
            (None, _) => {}
        }
        if let Some(collector) = metrics.otlp() {
            tell(format!("are sent to {collector} every {}", span(metrics.every_s())), "otlp");
            if let Traces::Sent = metrics.traces() {
                let says =
                    format!("go with the course of each purchase: {collector} gets its parts and how long they took");
                tell(says, "traces");
            }
        }
        tell(
            match metrics.labels() {
                Labels::Nobody => "name no host".to_owned(),
                Labels::Hosts => "name the hosts that were paid".to_owned(),
            },
            "hosts",
        );
    }
}
