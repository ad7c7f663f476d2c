//! Metrics as Prometheus reads them (text exposition format 0.0.4). It must never let a label end before its quote.

use std::fmt::Write as _;

use super::times::{BUCKETS_US, seconds};
use super::{Family, Kind, Spread, Timed};

/// What the text is, as HTTP tells it.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The whole text.
pub(crate) fn text(families: &[Family], spreads: &[Spread]) -> String {
    let mut out = String::new();
    for Family { name, help, kind, samples } in families {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        head(&mut out, name, help, kind);
        for sample in samples {
            line(&mut out, name, "", &sample.labels, &sample.value);
        }
    }
    for Spread { name, help, samples } in spreads {
        head(&mut out, name, help, "histogram");
        for Timed { labels, times } in samples {
            let mut below = 0_u64;
            let ends = BUCKETS_US.iter().map(|end| seconds(*end)).chain(["+Inf".to_owned()]);
            for (count, end) in times.counts.iter().zip(ends) {
                below = below.saturating_add(*count);
                let labels = [&labels[..], &[("le", end)]].concat();
                line(&mut out, name, "_bucket", &labels, &below.to_string());
            }
            line(&mut out, name, "_sum", labels, &seconds(times.sum_us));
            line(&mut out, name, "_count", labels, &below.to_string());
        }
    }
    out
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    // Writing to a text does not fail.
    write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n").unwrap_or_default();
}

fn line(out: &mut String, name: &str, of: &str, labels: &[(&'static str, String)], value: &str) {
    out.push_str(name);
    out.push_str(of);
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
