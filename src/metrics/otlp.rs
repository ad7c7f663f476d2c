//! Metrics as an OTLP collector takes them (opentelemetry-proto, `ExportMetricsServiceRequest`, in the JSON of proto3). It must
//! never name this machine, its user or its folders.

use serde_json::{Value, json};

use super::{BUCKETS_S, Family, Kind, Sample, Times};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;

/// The whole request, of counts that began at `start_s`, as of `now_s` (Unix seconds).
pub(crate) fn request(families: &[Family], times: &Times, start_s: u64, now_s: u64) -> String {
    let (start, now) = (nanoseconds(start_s), nanoseconds(now_s));
    let mut metrics: Vec<Value> = families.iter().map(|family| metric(family, &start, &now)).collect();
    let count: u64 = times.counts.iter().fold(0, |sum, count| sum.saturating_add(*count));
    metrics.push(json!({
        "name": "bursar_payment_seconds",
        "description": "Whole seconds from counting a payment to its settlement.",
        "unit": "s",
        "histogram": { "aggregationTemporality": CUMULATIVE, "dataPoints": [{
            "startTimeUnixNano": start, "timeUnixNano": now,
            "count": count.to_string(), "sum": times.sum_s,
            "bucketCounts": times.counts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "explicitBounds": BUCKETS_S,
        }] },
    }));
    json!({ "resourceMetrics": [{
        "resource": { "attributes": [attribute("service.name", "bursar")] },
        "scopeMetrics": [{ "scope": { "name": "bursar", "version": env!("CARGO_PKG_VERSION") }, "metrics": metrics }],
    }] })
    .to_string()
}

fn metric(family: &Family, start: &str, now: &str) -> Value {
    let points: Vec<Value> = family.samples.iter().map(|sample| point(sample, start, now)).collect();
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

fn point(sample: &Sample, start: &str, now: &str) -> Value {
    let attributes: Vec<Value> = sample.labels.iter().map(|(name, said)| attribute(name, said)).collect();
    // A double, as OTLP has it; the text that Prometheus reads is exact.
    let value: Option<Value> = serde_json::from_str(&sample.value).ok();
    json!({ "attributes": attributes, "startTimeUnixNano": start, "timeUnixNano": now, "asDouble": value })
}

fn attribute(name: &str, said: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": said } })
}

fn nanoseconds(seconds: u64) -> String {
    u128::from(seconds).saturating_mul(1_000_000_000).to_string()
}
