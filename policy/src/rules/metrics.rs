//! Where counts of what happens are shown, and who gets the course of each purchase. It must never open a door beyond this machine.

use core::fmt;
use core::net::SocketAddr;
use core::str::FromStr;

use super::build::{Range, span};
use super::{RuleFault, Rules};
use crate::quantity::Span;
use crate::secret::SecretName;
use crate::site::{Origin, Scheme};
use crate::text_form::text_form;

/// `every`, in seconds: default, least and most.
const EVERY_S: Range = Range { default: 60, least: 5, most: 3_600 };

/// `[metrics]`: counts for whoever looks after machines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsDraft {
    /// Where a Prometheus reads them.
    #[serde(default)]
    pub listen: Option<MetricsDoor>,
    /// The secret that it has to show there.
    #[serde(default)]
    pub token: Option<SecretName>,
    /// The collector on this machine that they are sent to, by OTLP over HTTP.
    #[serde(default)]
    pub otlp: Option<Origin>,
    /// How often; every minute by default.
    #[serde(default)]
    pub every: Option<Span>,
    /// Whether the collector gets the course of each purchase as well; it does not by default.
    #[serde(default)]
    pub traces: bool,
    /// Whether the host that was paid is named; it is not by default.
    #[serde(default)]
    pub hosts: bool,
}

/// Where metrics are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsDoor {
    /// A Unix socket in the profile's folder, for its owner alone.
    Socket,
    /// A port of this machine's own addresses.
    Loopback(SocketAddr),
}

/// Why a text is not a [`MetricsDoor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("metrics are read at `socket`, or at a loopback address with a port such as `127.0.0.1:9464`")]
pub struct MetricsDoorFault;

impl FromStr for MetricsDoor {
    type Err = MetricsDoorFault;

    fn from_str(text: &str) -> Result<Self, MetricsDoorFault> {
        if text == "socket" {
            return Ok(Self::Socket);
        }
        let address: SocketAddr = text.parse().map_err(|_fault| MetricsDoorFault)?;
        let is_ours = address.ip().is_loopback() && address.port() != 0;
        if is_ours { Ok(Self::Loopback(address)) } else { Err(MetricsDoorFault) }
    }
}

impl fmt::Display for MetricsDoor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket => out.write_str("socket"),
            Self::Loopback(address) => address.fmt(out),
        }
    }
}

text_form!(MetricsDoor, "\"socket\", or a loopback address with a port such as \"127.0.0.1:9464\"");

/// Which labels metrics carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// None that names anybody.
    Nobody,
    /// The host that was paid.
    Hosts,
}

/// Whether a collector gets the course of each purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// It gets counts alone.
    Kept,
    /// It does.
    Sent,
}

/// What counts are shown, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics {
    listen: Option<MetricsDoor>,
    token: Option<SecretName>,
    otlp: Option<Origin>,
    every_s: u64,
    traces: Traces,
    labels: Labels,
}

impl Metrics {
    pub(super) fn new(draft: MetricsDraft) -> Result<Self, RuleFault> {
        let MetricsDraft { listen, token, otlp, every, traces, hosts } = draft;
        if listen.is_none() && otlp.is_none() {
            return Err(RuleFault::MetricsNowhere);
        }
        let is_open = matches!(listen, Some(MetricsDoor::Loopback(_)));
        if is_open != token.is_some() {
            return Err(RuleFault::MetricsToken);
        }
        let is_ours = |origin: &&Origin| {
            origin.scheme == Scheme::Http && origin.host.ip().is_some_and(|address| address.is_loopback())
        };
        if let Some(origin) = otlp.as_ref().filter(|origin| !is_ours(origin)) {
            return Err(RuleFault::MetricsCollector(origin.clone()));
        }
        if traces && otlp.is_none() {
            return Err(RuleFault::MetricsTraces);
        }
        let traces = if traces { Traces::Sent } else { Traces::Kept };
        let labels = if hosts { Labels::Hosts } else { Labels::Nobody };
        Ok(Self { listen, token, otlp, every_s: span("every", every, EVERY_S)?, traces, labels })
    }

    /// Where they are read; `None` where they are only sent.
    #[must_use]
    pub const fn listen(&self) -> Option<MetricsDoor> {
        self.listen
    }

    /// The secret that a reader has to show at a port; a socket is its owner's alone and needs none.
    #[must_use]
    pub const fn token(&self) -> Option<&SecretName> {
        self.token.as_ref()
    }

    /// The collector on this machine that they are sent to.
    #[must_use]
    pub const fn otlp(&self) -> Option<&Origin> {
        self.otlp.as_ref()
    }

    /// How often they are sent, in seconds.
    #[must_use]
    pub const fn every_s(&self) -> u64 {
        self.every_s
    }

    /// Whether the collector gets the course of each purchase too.
    #[must_use]
    pub const fn traces(&self) -> Traces {
        self.traces
    }

    /// Which labels they carry.
    #[must_use]
    pub const fn labels(&self) -> Labels {
        self.labels
    }
}

impl Rules {
    /// Where counts are shown; `None` where they are not.
    #[must_use]
    pub const fn metrics(&self) -> Option<&Metrics> {
        self.metrics.as_ref()
    }
}
