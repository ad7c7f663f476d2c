//! An OTLP collector on loopback that takes nothing but what the protocol's JSON has a place for.

use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::desk::PATIENCE;

/// A collector that listens until it is dropped.
pub(crate) struct Collector {
    pub(crate) port: u16,
    /// Every body that came.
    pub(crate) heard: String,
    posts: UnboundedReceiver<(String, String)>,
    work: JoinHandle<()>,
}

/// One request, read strictly.
#[derive(Debug)]
pub(crate) enum Post {
    Metrics(MetricsRequest),
    Traces(TraceRequest),
}

impl Collector {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, posts) = unbounded_channel();
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let post = read(stream).await;
                if tell.send(post).is_err() {
                    return;
                }
            }
        });
        Self { port, heard: String::new(), posts, work }
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Post {
        let (path, body) = timeout(PATIENCE, self.posts.recv()).await.unwrap().unwrap();
        self.heard.push_str(&body);
        match path.as_str() {
            "/v1/metrics" => {
                Post::Metrics(serde_json::from_str(&body).unwrap_or_else(|fault| panic!("{fault}: {body}")))
            }
            "/v1/traces" => Post::Traces(serde_json::from_str(&body).unwrap_or_else(|fault| panic!("{fault}: {body}"))),
            _ => panic!("no collector listens at {path}"),
        }
    }

    /// Closes; whether nothing else had come.
    pub(crate) async fn nothing_more(mut self) -> bool {
        self.work.abort();
        self.posts.recv().await.is_none()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// The path and the body of one POST, which is answered as the protocol has it.
async fn read(mut stream: TcpStream) -> (String, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{head}");
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned)).unwrap();
    let mut body = vec![0; field("content-length: ").parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        .await
        .unwrap();
    let path = field("post ").split(' ').next().unwrap().to_owned();
    (path, String::from_utf8(body).unwrap())
}

impl Post {
    /// The values of a metric's points; `None` where there is no such metric.
    pub(crate) fn metric(&self, name: &str) -> Option<Vec<String>> {
        let points = match (self.found(name)?.sum.as_ref(), self.found(name)?.gauge.as_ref()) {
            (Some(sum), None) => {
                assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "{sum:?}");
                &sum.data_points
            }
            (None, Some(gauge)) => &gauge.data_points,
            _ => panic!("{name} has no one kind"),
        };
        Some(points.iter().map(Point::value).collect())
    }

    /// How many times a histogram without labels has.
    pub(crate) fn histogram(&self, name: &str) -> u64 {
        let metric = self.found(name).unwrap();
        let histogram = metric.histogram.as_ref().unwrap();
        assert_eq!(metric.unit.as_deref(), Some("s"));
        let [point] = &histogram.data_points[..] else { panic!("{histogram:?}") };
        assert!(point.start_time_unix_nano.at() <= point.time_unix_nano.at() && histogram.aggregation_temporality == 2);
        assert!(point.attributes.is_empty() && point.explicit_bounds.is_sorted(), "{point:?}");
        assert_eq!(point.bucket_counts.len().checked_sub(1), Some(point.explicit_bounds.len()));
        assert_eq!(point.bucket_counts.iter().map(Number::at).sum::<u64>(), point.count.at());
        assert!(0.0 <= point.sum);
        point.count.at()
    }

    /// The spans of a request of traces.
    pub(crate) fn spans(self) -> Vec<Span> {
        let Self::Traces(TraceRequest { resource_spans }) = self else { panic!("no traces: {self:?}") };
        let mut spans = Vec::new();
        for ResourceSpans { resource, scope_spans } in resource_spans {
            assert_eq!(resource.attributes.len(), 1, "nothing of this machine: {resource:?}");
            for ScopeSpans { scope, spans: of_scope } in scope_spans {
                assert_eq!((scope.name.as_str(), scope.version.is_empty()), ("bursar", false));
                spans.extend(of_scope);
            }
        }
        for span in &spans {
            let ids = [
                Some((&span.trace_id, 32)),
                Some((&span.span_id, 16)),
                span.parent_span_id.as_ref().map(|id| (id, 16)),
            ];
            for (id, digits) in ids.into_iter().flatten() {
                let hex = id.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
                assert!(hex && id.len() == digits && id.bytes().any(|byte| byte != b'0'), "{span:?}");
            }
            assert!(span.start_time_unix_nano.at() <= span.end_time_unix_nano.at(), "{span:?}");
            assert!(
                (1..=5).contains(&span.kind) && span.status.as_ref().is_none_or(|status| status.code <= 2),
                "{span:?}"
            );
        }
        spans
    }

    fn found(&self, name: &str) -> Option<&Metric> {
        let Self::Metrics(MetricsRequest { resource_metrics }) = self else { panic!("no metrics: {self:?}") };
        let [ResourceMetrics { resource, scope_metrics }] = &resource_metrics[..] else {
            panic!("{resource_metrics:?}")
        };
        let [ScopeMetrics { scope, metrics }] = &scope_metrics[..] else { panic!("{scope_metrics:?}") };
        assert_eq!((resource.attributes.len(), scope.name.as_str(), scope.version.is_empty()), (1, "bursar", false));
        assert!(metrics.iter().all(|metric| !metric.description.is_empty()));
        metrics.iter().find(|metric| metric.name == name)
    }
}

/// A 64-bit number: decimal digits in a text, as the JSON of proto3 has it.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Number(String);

impl Number {
    fn at(&self) -> u64 {
        self.0.parse().unwrap()
    }
}

/// A value of an attribute: of the kinds that are used, one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Said {
    StringValue(String),
    ArrayValue(Many),
}

/// Declares messages of the protocol: these fields, by these names, and no others.
macro_rules! messages {
    ($($name:ident { $($field:ident: $kind:ty),* $(,)? })*) => {$(
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub(crate) struct $name { $(pub(crate) $field: $kind),* }
    )*};
}

messages! {
    Many { values: Vec<Said> }
    Attribute { key: String, value: Said }
    Resource { attributes: Vec<Attribute> }
    Scope { name: String, version: String }
    TraceRequest { resource_spans: Vec<ResourceSpans> }
    ResourceSpans { resource: Resource, scope_spans: Vec<ScopeSpans> }
    ScopeSpans { scope: Scope, spans: Vec<Span> }
    Status { code: u8 }
    Span {
        trace_id: String, span_id: String, parent_span_id: Option<String>, name: String, kind: u8,
        start_time_unix_nano: Number, end_time_unix_nano: Number, attributes: Vec<Attribute>, status: Option<Status>,
    }
    MetricsRequest { resource_metrics: Vec<ResourceMetrics> }
    ResourceMetrics { resource: Resource, scope_metrics: Vec<ScopeMetrics> }
    ScopeMetrics { scope: Scope, metrics: Vec<Metric> }
    Metric {
        name: String, description: String, unit: Option<String>, sum: Option<Sum>, gauge: Option<Gauge>,
        histogram: Option<Histogram>,
    }
    Sum { aggregation_temporality: u8, is_monotonic: bool, data_points: Vec<Point> }
    Gauge { data_points: Vec<Point> }
    Point {
        attributes: Vec<Attribute>, start_time_unix_nano: Number, time_unix_nano: Number, as_double: serde_json::Number,
    }
    Histogram { aggregation_temporality: u8, data_points: Vec<HistogramPoint> }
    HistogramPoint {
        attributes: Vec<Attribute>, start_time_unix_nano: Number, time_unix_nano: Number, count: Number, sum: f64,
        bucket_counts: Vec<Number>, explicit_bounds: Vec<f64>,
    }
}

impl Point {
    fn value(&self) -> String {
        assert!(self.start_time_unix_nano.at() <= self.time_unix_nano.at(), "{self:?}");
        assert!(self.attributes.iter().all(|attribute| !attribute.key.is_empty()), "{self:?}");
        Value::from(self.as_double.clone()).to_string()
    }
}

impl Span {
    /// What an attribute says; empty where it is not there.
    pub(crate) fn said(&self, key: &str) -> String {
        match self.attributes.iter().find(|attribute| attribute.key == key).map(|attribute| &attribute.value) {
            Some(Said::StringValue(said)) => said.clone(),
            None => String::new(),
            other => panic!("{other:?}"),
        }
    }

    /// The codes of a refusal.
    pub(crate) fn codes(&self) -> Vec<String> {
        let codes = self.attributes.iter().find(|attribute| attribute.key == "bursar.codes");
        let Some(Said::ArrayValue(Many { values })) = codes.map(|codes| &codes.value) else { panic!("{self:?}") };
        let said = |value: &Said| match value {
            Said::StringValue(said) => said.clone(),
            Said::ArrayValue(_) => panic!("{self:?}"),
        };
        values.iter().map(said).collect()
    }
}
