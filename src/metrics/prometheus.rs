//! Metrics as Prometheus reads them (text exposition format 0.0.4). It must never let a label end before its quote.

use std::fmt::Write as _;

use super::{BUCKETS_S, Family, Kind, Times};

/// What the text is, as HTTP tells it.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The whole text.
pub(crate) fn text(families: &[Family], times: &Times) -> String {
    let mut out = String::new();
    for Family { name, help, kind, samples } in families {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        head(&mut out, name, help, kind);
        for sample in samples {
            line(&mut out, name, &sample.labels, &sample.value);
        }
    }
    let name = "bursar_payment_seconds";
    head(&mut out, name, "Whole seconds from counting a payment to its settlement.", "histogram");
    let mut below = 0_u64;
    let ends = BUCKETS_S.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
    for (count, end) in times.counts.iter().zip(ends) {
        below = below.saturating_add(*count);
        line(&mut out, "bursar_payment_seconds_bucket", &[("le", end)], &below.to_string());
    }
    line(&mut out, "bursar_payment_seconds_sum", &[], &times.sum_s.to_string());
    line(&mut out, "bursar_payment_seconds_count", &[], &below.to_string());
    out
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    // Writing to a text does not fail.
    write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n").unwrap_or_default();
}

fn line(out: &mut String, name: &str, labels: &[(&'static str, String)], value: &str) {
    out.push_str(name);
    for (place, (label, said)) in labels.iter().enumerate() {
        out.push(if place == 0 { '{' } else { ',' });
        let said = said.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        write!(out, "{label}=\"{said}\"").unwrap_or_default();
    }
    if !labels.is_empty() {
        out.push('}');
    }
    writeln!(out, " {value}").unwrap_or_default();
}
