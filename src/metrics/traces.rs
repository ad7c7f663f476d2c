//! The course of purchases as an OTLP collector takes it (opentelemetry-proto, `ExportTraceServiceRequest`, in the JSON of
//! proto3): a span for each purchase, and one below it for each of its parts. It must never name this machine or its user, nor
//! say a URL, a body or an address, nor a host unless the rules name hosts.

use bursar_policy::rules::Labels;
use bursar_vault::protocol::{Leg, LegName, Passage, PassageEnd, Sender};
use serde_json::{Value, json};

use super::otlp::{attribute, resource, scope};

/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u8 = 1;
/// `SPAN_KIND_CLIENT`.
const CLIENT: u8 = 3;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// One purchase with the ids of its trace and its spans, drawn at random and kept, so that one that is sent again is the same.
#[derive(Debug)]
pub(crate) struct Trace {
    id: [u8; 16],
    root: [u8; 8],
    legs: Vec<([u8; 8], Leg)>,
    passage: Passage,
}

impl Trace {
    /// # Errors
    ///
    /// The system gives no random bytes.
    pub(crate) fn of(mut passage: Passage) -> Result<Self, getrandom::Error> {
        let legs = std::mem::take(&mut passage.legs);
        let legs = legs.into_iter().map(|leg| Ok((drawn()?, leg))).collect::<Result<_, getrandom::Error>>()?;
        Ok(Self { id: drawn()?, root: drawn()?, legs, passage })
    }

    fn spans(&self, labels: Labels) -> Vec<Value> {
        let Passage { began_us, took_us, end, .. } = &self.passage;
        let (trace, root) = (hex::encode(self.id), hex::encode(self.root));
        let mut whole = json!({
            "traceId": trace, "spanId": root, "name": "purchase", "kind": INTERNAL,
            "startTimeUnixNano": nanoseconds(*began_us, 0), "endTimeUnixNano": nanoseconds(*began_us, *took_us),
            "attributes": attributes(&self.passage, labels),
        });
        if let (PassageEnd::Failed, Some(members)) = (end, whole.as_object_mut()) {
            members.insert("status".to_owned(), json!({ "code": ERROR }));
        }
        let part = |(id, leg): &([u8; 8], Leg)| {
            let kind = if matches!(leg.name, LegName::Visit | LegName::Pay) { CLIENT } else { INTERNAL };
            let until_us = leg.from_us.saturating_add(leg.took_us);
            json!({
                "traceId": trace, "spanId": hex::encode(id), "parentSpanId": root, "name": leg.name.word(), "kind": kind,
                "startTimeUnixNano": nanoseconds(*began_us, leg.from_us),
                "endTimeUnixNano": nanoseconds(*began_us, until_us), "attributes": [],
            })
        };
        std::iter::once(whole).chain(self.legs.iter().map(part)).collect()
    }
}

/// The whole request.
pub(crate) fn request(traces: &[Trace], labels: Labels) -> String {
    let spans: Vec<Value> = traces.iter().flat_map(|trace| trace.spans(labels)).collect();
    json!({ "resourceSpans": [{ "resource": resource(), "scopeSpans": [{ "scope": scope(), "spans": spans }] }] })
        .to_string()
}

fn attributes(passage: &Passage, labels: Labels) -> Vec<Value> {
    let by = match passage.by {
        Sender::Serve => "serve",
        Sender::Browser => "browser",
    };
    let mut told = vec![attribute("bursar.outcome", passage.end.word()), attribute("bursar.sender", by)];
    if !passage.codes.is_empty() {
        let codes: Vec<Value> = passage.codes.iter().map(|code| json!({ "stringValue": code })).collect();
        told.push(json!({ "key": "bursar.codes", "value": { "arrayValue": { "values": codes } } }));
    }
    told.extend(passage.payment.as_ref().map(|payment| attribute("bursar.payment", payment.as_str())));
    told.extend(passage.money.map(|money| attribute("bursar.money", &money.to_string())));
    if let Labels::Hosts = labels {
        told.push(attribute("bursar.host", &passage.host));
    }
    told
}

fn nanoseconds(began_us: u64, after_us: u64) -> String {
    u128::from(began_us).saturating_add(u128::from(after_us)).saturating_mul(1_000).to_string()
}

/// Random bytes that are not all zero, which OTLP takes for no id.
fn drawn<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut id = [0; N];
    while id == [0; N] {
        getrandom::fill(&mut id)?;
    }
    Ok(id)
}
