//! Metrics as an OTLP collector takes them (opentelemetry-proto, `ExportMetricsServiceRequest`, in the JSON of proto3). It must
//! never name this machine, its user or its folders.

use serde_json::{Value, json};

use super::times::{BUCKETS_US, seconds};
use super::{Family, Kind, Sample, Spread, Timed};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;

/// From when to when, in nanoseconds as OTLP writes them.
struct Span {
    start: String,
    now: String,
}

/// The whole request, of counts that began at `start_s`, as of `now_s` (Unix seconds).
pub(crate) fn request(families: &[Family], spreads: &[Spread], start_s: u64, now_s: u64) -> String {
    let span = Span { start: nanoseconds(start_s), now: nanoseconds(now_s) };
    let metrics: Vec<Value> = families
        .iter()
        .map(|family| metric(family, &span))
        .chain(spreads.iter().map(|spread| histogram(spread, &span)))
        .collect();
    json!({ "resourceMetrics": [{
        "resource": resource(), "scopeMetrics": [{ "scope": scope(), "metrics": metrics }],
    }] })
    .to_string()
}

/// What tells: the program, and nothing of where it runs.
pub(super) fn resource() -> Value {
    json!({ "attributes": [attribute("service.name", "bursar")] })
}

pub(super) fn scope() -> Value {
    json!({ "name": "bursar", "version": env!("CARGO_PKG_VERSION") })
}

pub(super) fn attribute(name: &str, said: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": said } })
}

fn metric(family: &Family, span: &Span) -> Value {
    let points: Vec<Value> = family.samples.iter().map(|sample| point(sample, span)).collect();
    let mut metric = json!({ "name": family.name, "description": family.help });
    let (kind, data) = match family.kind {
        Kind::Counter => {
            ("sum", json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points }))
        }
        Kind::Gauge => ("gauge", json!({ "dataPoints": points })),
    };
    if let Some(members) = metric.as_object_mut() {
        members.insert(kind.to_owned(), data);
    }
    metric
}

fn point(sample: &Sample, span: &Span) -> Value {
    json!({
        "attributes": attributes(&sample.labels), "startTimeUnixNano": span.start, "timeUnixNano": span.now,
        "asDouble": number(&sample.value),
    })
}

fn histogram(spread: &Spread, span: &Span) -> Value {
    let bounds: Vec<Value> = BUCKETS_US.iter().map(|end| number(&seconds(*end))).collect();
    let point = |Timed { labels, times }: &Timed| {
        json!({
            "attributes": attributes(labels), "startTimeUnixNano": span.start, "timeUnixNano": span.now,
            "count": times.count().to_string(), "sum": number(&seconds(times.sum_us)),
            "bucketCounts": times.counts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "explicitBounds": bounds,
        })
    };
    json!({
        "name": spread.name, "description": spread.help, "unit": "s",
        "histogram": {
            "aggregationTemporality": CUMULATIVE, "dataPoints": spread.samples.iter().map(point).collect::<Vec<_>>(),
        },
    })
}

fn attributes(labels: &[(&'static str, String)]) -> Vec<Value> {
    labels.iter().map(|(name, said)| attribute(name, said)).collect()
}

/// A double, as OTLP has it; the text that Prometheus reads is exact.
fn number(decimal: &str) -> Value {
    serde_json::from_str(decimal).unwrap_or_default()
}

fn nanoseconds(seconds: u64) -> String {
    u128::from(seconds).saturating_mul(1_000_000_000).to_string()
}
