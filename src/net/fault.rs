//! What can go wrong on the wire, with a stable code and whether the seller may have heard us; never seller bytes.

use std::error::Error;
use std::{fmt, io};

/// Why an exchange gave no usable answer. The names are stable: never renamed, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCode {
    /// The name did not resolve to any address.
    DnsFailure,
    /// No judged address accepted a TCP connection.
    ConnectFailed,
    /// The seller did not prove its name, or does not speak TLS 1.2 or 1.3.
    TlsFailed,
    /// Reaching the seller (TCP and TLS) took too long.
    TimeoutConnect,
    /// The response header did not come in time.
    TimeoutHeader,
    /// The body fell silent for too long.
    TimeoutIdle,
    /// The leg as a whole took too long.
    TimeoutTotal,
    /// The response header is over the caps.
    HeaderTooLarge,
    /// The body is compressed although it was asked for plain.
    BodyEncoding,
    /// The answer broke off or is not HTTP.
    BrokenAnswer,
    /// The answer came from an address that was not judged.
    AddressChanged,
    /// The request could not be built; nothing was dialled.
    Unsendable,
}

impl FaultCode {
    /// The stable snake_case name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DnsFailure => "dns_failure",
            Self::ConnectFailed => "connect_failed",
            Self::TlsFailed => "tls_failed",
            Self::TimeoutConnect => "timeout_connect",
            Self::TimeoutHeader => "timeout_header",
            Self::TimeoutIdle => "timeout_idle",
            Self::TimeoutTotal => "timeout_total",
            Self::HeaderTooLarge => "header_too_large",
            Self::BodyEncoding => "body_encoding",
            Self::BrokenAnswer => "broken_answer",
            Self::AddressChanged => "address_changed",
            Self::Unsendable => "unsendable",
        }
    }
}

impl fmt::Display for FaultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One leg that failed: the code, whether a byte of the request may have left, and one sentence for a person.
///
/// The sentence is made of our own words and our own host name. Text from the seller (reason phrases, names inside a
/// certificate, header values) never gets into it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct ExchangeFault {
    code: FaultCode,
    sent: bool,
    sentence: String,
}

impl ExchangeFault {
    /// A fault before any byte of the request left: the seller cannot have acted on it.
    pub(super) const fn unsent(code: FaultCode, sentence: String) -> Self {
        Self { code, sent: false, sentence }
    }

    /// A fault after the request may have left: the seller may have acted on it.
    pub(super) const fn sent(code: FaultCode, sentence: String) -> Self {
        Self { code, sent: true, sentence }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> FaultCode {
        self.code
    }

    /// Whether any byte of the request may have reached the seller.
    ///
    /// `false` is a promise: the TLS session that would have carried the request was never ready. `true` says only
    /// that nothing rules it out, so a signature in that request has to be treated as known to the seller.
    #[must_use]
    pub const fn may_have_been_sent(&self) -> bool {
        self.sent
    }
}

/// Puts a failure to get a response header into our own words. `at` is the seller's authority as we know it.
pub(super) fn of_send(error: &reqwest::Error, at: &str) -> ExchangeFault {
    if error.is_connect() {
        return of_connect(error, at);
    }
    if chain_of(error).any(|cause| cause.to_string() == HEAD_TOO_LARGE) {
        return header_too_large(at);
    }
    let sentence = format!("the answer of `{at}` broke off or is not HTTP; try again later or ask the seller");
    ExchangeFault::sent(FaultCode::BrokenAnswer, sentence)
}

/// The response header is over the caps of [`Limits`](super::Limits).
pub(super) fn header_too_large(at: &str) -> ExchangeFault {
    let sentence = format!("`{at}` answered with a header that is over the size cap; ask the seller to send less");
    ExchangeFault::sent(FaultCode::HeaderTooLarge, sentence)
}

/// How hyper words a header that outgrows its buffer or its field count. Its error type is not ours to name without
/// depending on that crate; a test holds the wording, and a change would only make the code less exact.
const HEAD_TOO_LARGE: &str = "message head is too large";

fn of_connect(error: &reqwest::Error, at: &str) -> ExchangeFault {
    if error.is_timeout() {
        let sentence = format!("`{at}` could not be reached in time; try again later");
        return ExchangeFault::unsent(FaultCode::TimeoutConnect, sentence);
    }
    match chain_of(error).find_map(tls_reason) {
        Some(reason) => {
            let sentence = format!("`{at}` was not trusted because {reason}; check the address or ask the seller");
            ExchangeFault::unsent(FaultCode::TlsFailed, sentence)
        }
        None => {
            let sentence = format!("`{at}` does not accept connections; check the address or try again later");
            ExchangeFault::unsent(FaultCode::ConnectFailed, sentence)
        }
    }
}

fn chain_of<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| cause_of(*cause))
}

/// An I/O error hides its own inner error from `source`, so step into it by hand.
fn cause_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>() {
        Some(io) => io.get_ref().map(|inner| -> &'a (dyn Error + 'static) { inner }),
        None => error.source(),
    }
}

fn tls_reason(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    use rustls::CertificateError as Certificate;
    use rustls::Error as Tls;

    if let Some(io) = cause.downcast_ref::<io::Error>() {
        return (io.kind() == io::ErrorKind::UnexpectedEof).then_some("it hung up during the TLS handshake");
    }
    Some(match cause.downcast_ref::<Tls>()? {
        Tls::InvalidCertificate(wrong) => match wrong {
            Certificate::Expired | Certificate::ExpiredContext { .. } => "its certificate has expired",
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => "its certificate is not valid yet",
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "its certificate is for another name"
            }
            Certificate::UnknownIssuer => "its certificate comes from an authority that is not trusted here",
            Certificate::BadSignature => "its certificate carries a false signature",
            Certificate::Revoked => "its certificate was revoked",
            _ => "its certificate is not acceptable",
        },
        Tls::AlertReceived(_) => "it ended the TLS handshake with an alert",
        Tls::InvalidMessage(_) => "it does not speak TLS on this port",
        Tls::PeerIncompatible(_) => "it offers no TLS version or cipher that is safe",
        _ => "the TLS handshake went wrong",
    })
}
