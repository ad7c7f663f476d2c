//! What came back: status, headers and a body that is read under a cap; it interprets none of it.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use super::carry::Carriage;
use super::coding::{Coding, Full, Unpacked};
use super::fault::{self, ExchangeFault, FaultCode};
use super::kept::Kept;
use super::redact::Redaction;

/// One answer. Everything in it is the seller's word.
///
/// A redirect (3xx) is an ordinary answer here: it was not followed, and the caller refuses it.
#[derive(Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Body,
}

impl Reply {
    pub(super) const fn new(status: u16, headers: Vec<(String, Vec<u8>)>, body: Body) -> Self {
        Self { status, headers, body }
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Every header field: the name in lower case, the value as sent. A field that was sent twice is here twice.
    #[must_use]
    pub fn headers(&self) -> &[(String, Vec<u8>)] {
        &self.headers
    }

    /// Every value of the header `name` (lower case).
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_slice())
    }

    /// The body, not read yet.
    #[must_use]
    pub fn into_body(self) -> Body {
        self.body
    }
}

/// A body on its way. Dropping it hangs up.
pub struct Body {
    incoming: Incoming,
    /// Hangs up when this is dropped.
    carriage: Carriage,
    /// Where the connection goes when the body has come to its end.
    kept: Option<Arc<Kept>>,
    at: String,
    idle: Duration,
    deadline: Instant,
    coding: Coding,
    /// The length that the seller declared, where a body of that length has to follow (RFC 9110 section 8.6).
    declared: Option<u64>,
    redaction: Option<Redaction>,
}

/// How reading a body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// The seller ended it where it said it would.
    Complete,
    /// It was longer than the cap: what was read is the prefix. Not a fault, whatever length was declared.
    OverCap,
    /// It broke off or a deadline passed: what was read is a prefix of unknown worth.
    Cut(ExchangeFault),
    /// It is in a coding that is not undone, so nothing of it was read.
    Encoded(ExchangeFault),
}

impl BodyEnd {
    /// Whether what was read is the whole body.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        matches!(self, Self::Complete)
    }
}

impl Body {
    pub(super) const fn new(
        incoming: Incoming,
        carriage: Carriage,
        at: String,
        idle: Duration,
        deadline: Instant,
        coding: Coding,
        declared: Option<u64>,
    ) -> Self {
        Self { incoming, carriage, kept: None, at, idle, deadline, coding, declared, redaction: None }
    }

    /// The same, leaving its connection there once all of it was read.
    pub(super) fn leaving(self, kept: Option<Arc<Kept>>) -> Self {
        Self { kept, ..self }
    }

    /// The same with secrets taken out of whatever is read.
    pub(super) fn without_secrets(self, redaction: Option<Redaction>) -> Self {
        Self { redaction, ..self }
    }

    /// Hands the body to `sink` piece by piece, at most `cap_bytes` in all, and says how it ended.
    ///
    /// A body that is packed once with gzip is unpacked on the way, and the cap counts what comes out. Secrets of the request are
    /// taken out. Never holds more than one piece and a secret that may have begun. Reads to
    /// the end of the body or one byte past the cap, then hangs up, or leaves the connection to the next leg.
    ///
    /// # Errors
    ///
    /// What `sink` returned; the body is then abandoned. Trouble on the wire is a [`BodyEnd`], not an error, because
    /// the pieces before it are still worth keeping.
    pub async fn read_into<E>(
        mut self,
        cap_bytes: u64,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<BodyEnd, E> {
        let Some(mut redaction) = self.redaction.take() else { return self.read_as_it_is(cap_bytes, sink).await };
        let mut pass = |text: Vec<u8>| if text.is_empty() { Ok(()) } else { sink(&text) };
        let end = self.read_as_it_is(cap_bytes, |piece| pass(redaction.pass(piece))).await?;
        pass(redaction.rest())?;
        Ok(end)
    }

    async fn read_as_it_is<E>(
        mut self,
        cap_bytes: u64,
        sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<BodyEnd, E> {
        let Some(mut unpacked) = Unpacked::new(self.coding, cap_bytes, sink) else {
            return Ok(BodyEnd::Encoded(
                self.fault(FaultCode::BodyEncoding, "sent a body in a coding that nobody asked for"),
            ));
        };
        let mut read = 0_u64;
        loop {
            let piece = match self.next().await {
                Ok(Some(piece)) => piece,
                Ok(None) if self.declared.is_some_and(|declared| read < declared) => {
                    // HTTP/2 can end a stream early without calling it an error.
                    return Ok(BodyEnd::Cut(self.fault(FaultCode::WrongLength, "sent less than it declared")));
                }
                Ok(None) => {
                    if let Err(full) = unpacked.end() {
                        return self.full(full);
                    }
                    if let Some(kept) = self.kept {
                        kept.leave(self.carriage);
                    }
                    return Ok(BodyEnd::Complete);
                }
                Err(fault) => return Ok(BodyEnd::Cut(fault)),
            };
            read = read.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
            if let Err(full) = unpacked.take(&piece) {
                return self.full(full);
            }
        }
    }

    fn full<E>(&self, full: Full<E>) -> Result<BodyEnd, E> {
        match full {
            Full::OverCap => Ok(BodyEnd::OverCap),
            Full::Sink(fault) => Err(fault),
            Full::Broken => {
                Ok(BodyEnd::Cut(self.fault(FaultCode::BodyEncoding, "sent a gzip body that does not unpack")))
            }
        }
    }

    /// The first `cap_bytes` of the body in memory; for documents that are parsed, not kept.
    pub async fn collect(self, cap_bytes: u64) -> (Vec<u8>, BodyEnd) {
        let mut bytes = Vec::new();
        let ended = self
            .read_into(cap_bytes, |piece| {
                bytes.extend_from_slice(piece);
                Ok::<(), Infallible>(())
            })
            .await;
        let Ok(end) = ended;
        (bytes, end)
    }

    /// The next piece; trailers are passed over.
    async fn next(&mut self) -> Result<Option<Bytes>, ExchangeFault> {
        let silent_at = Instant::now().checked_add(self.idle).unwrap_or(self.deadline);
        let by = silent_at.min(self.deadline);
        loop {
            match timeout_at(by, self.incoming.frame()).await {
                Ok(None) => return Ok(None),
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(piece) => return Ok(Some(piece)),
                    Err(_) => continue,
                },
                Ok(Some(Err(error))) => return Err(fault::of_body(&error, &self.at)),
                Err(_) if silent_at < self.deadline => {
                    return Err(self.fault(FaultCode::TimeoutIdle, "fell silent"));
                }
                Err(_) => return Err(self.fault(FaultCode::TimeoutTotal, "took too long for its answer")),
            }
        }
    }

    fn fault(&self, code: FaultCode, did: &str) -> ExchangeFault {
        ExchangeFault::sent(code, format!("`{}` {did}; try again later or ask the seller", self.at))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("at", &self.at).field("coding", &self.coding).finish_non_exhaustive()
    }
}
