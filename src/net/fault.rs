//! What can go wrong on the wire, with a stable code and whether the seller may have heard us; never seller bytes.

use std::error::Error;
use std::{fmt, io};

use tokio::time::Instant;

use super::tunnel::TunnelFault;

/// Why an exchange gave no usable answer. The names are stable: never renamed, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCode {
    /// The name did not resolve to any address.
    DnsFailure,
    /// The judged address that was tried last refused the connection: nobody listens there.
    ConnectRefused,
    /// No judged address could be reached.
    ConnectFailed,
    /// No judged address accepted a TCP connection in time.
    TimeoutConnect,
    /// The operator's proxy cannot be reached, or what it answers is not HTTP.
    ProxyFailed,
    /// The operator's proxy does not connect to the seller.
    ProxyRefused,
    /// The operator's proxy wants credentials.
    ProxyAuth,
    /// The seller's certificate has expired.
    TlsExpired,
    /// The seller's certificate is not valid yet.
    TlsNotYetValid,
    /// The seller's certificate is for another name.
    TlsWrongName,
    /// Nobody whom we trust vouches for the seller: self-signed, an unknown authority, or a false signature.
    TlsUntrusted,
    /// The seller offers no TLS version or cipher that is safe.
    TlsVersion,
    /// The TLS handshake went wrong in another way, or the port does not speak TLS.
    TlsFailed,
    /// The TLS handshake took too long.
    TimeoutTls,
    /// Nothing came back after the request, in time.
    TimeoutFirstByte,
    /// The response header began and was not whole in time.
    TimeoutHeader,
    /// The body fell silent for too long.
    TimeoutIdle,
    /// The leg as a whole took too long.
    TimeoutTotal,
    /// The response header is over the caps.
    HeaderTooLarge,
    /// The body is in a coding that is not undone, or is no gzip though it says so.
    BodyEncoding,
    /// The declared length of the body cannot be, or is not what was sent.
    WrongLength,
    /// The connection ended before the answer did.
    ClosedEarly,
    /// The answer is not HTTP.
    BrokenAnswer,
    /// The connection leads to an address that was not judged; nothing was sent.
    AddressChanged,
    /// The request could not be built; nothing was sent.
    Unsendable,
}

impl FaultCode {
    /// Every code.
    #[cfg(test)]
    const EVERY: [Self; 25] = [
        Self::DnsFailure,
        Self::ConnectRefused,
        Self::ConnectFailed,
        Self::TimeoutConnect,
        Self::ProxyFailed,
        Self::ProxyRefused,
        Self::ProxyAuth,
        Self::TlsExpired,
        Self::TlsNotYetValid,
        Self::TlsWrongName,
        Self::TlsUntrusted,
        Self::TlsVersion,
        Self::TlsFailed,
        Self::TimeoutTls,
        Self::TimeoutFirstByte,
        Self::TimeoutHeader,
        Self::TimeoutIdle,
        Self::TimeoutTotal,
        Self::HeaderTooLarge,
        Self::BodyEncoding,
        Self::WrongLength,
        Self::ClosedEarly,
        Self::BrokenAnswer,
        Self::AddressChanged,
        Self::Unsendable,
    ];

    /// The stable snake_case name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DnsFailure => "dns_failure",
            Self::ConnectRefused => "connect_refused",
            Self::ConnectFailed => "connect_failed",
            Self::TimeoutConnect => "timeout_connect",
            Self::ProxyFailed => "proxy_failed",
            Self::ProxyRefused => "proxy_refused",
            Self::ProxyAuth => "proxy_auth",
            Self::TlsExpired => "tls_expired",
            Self::TlsNotYetValid => "tls_not_yet_valid",
            Self::TlsWrongName => "tls_wrong_name",
            Self::TlsUntrusted => "tls_untrusted",
            Self::TlsVersion => "tls_version",
            Self::TlsFailed => "tls_failed",
            Self::TimeoutTls => "timeout_tls",
            Self::TimeoutFirstByte => "timeout_first_byte",
            Self::TimeoutHeader => "timeout_header",
            Self::TimeoutIdle => "timeout_idle",
            Self::TimeoutTotal => "timeout_total",
            Self::HeaderTooLarge => "header_too_large",
            Self::BodyEncoding => "body_encoding",
            Self::WrongLength => "wrong_length",
            Self::ClosedEarly => "closed_early",
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

/// No judged address accepted. `at` is the seller's authority as we know it, here and below.
pub(super) fn of_dial(error: &io::Error, at: &str) -> ExchangeFault {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        let sentence = format!("`{at}` refuses connections; check the port or try again later");
        return ExchangeFault::unsent(FaultCode::ConnectRefused, sentence);
    }
    let sentence = format!("`{at}` cannot be reached; check the address or try again later");
    ExchangeFault::unsent(FaultCode::ConnectFailed, sentence)
}

/// The operator's proxy gave no tunnel, so nothing of the request was sent.
pub(super) fn of_tunnel(fault: &TunnelFault, at: &str) -> ExchangeFault {
    let (code, sentence) = match fault {
        TunnelFault::Unreachable => (FaultCode::ProxyFailed, "the proxy of the rules cannot be reached".to_owned()),
        TunnelFault::Unreadable => {
            (FaultCode::ProxyFailed, "the proxy of the rules answers something that is not HTTP".to_owned())
        }
        TunnelFault::WantsCredentials => {
            (FaultCode::ProxyAuth, "the proxy of the rules wants credentials, or other ones".to_owned())
        }
        TunnelFault::Refused(status) => {
            (FaultCode::ProxyRefused, format!("the proxy of the rules does not connect to `{at}` (status {status})"))
        }
    };
    ExchangeFault::unsent(
        code,
        format!("{sentence}; ask the operator to check `proxy` and `proxy_secret` under [network]"),
    )
}

/// The handshake failed, so nothing of the request was sent.
pub(super) fn of_tls(error: &io::Error, at: &str) -> ExchangeFault {
    let (code, reason) =
        chain_of(error).find_map(tls_reason).unwrap_or((FaultCode::TlsFailed, "it hung up during the TLS handshake"));
    let sentence = format!("`{at}` was not trusted because {reason}; check the address or ask the seller");
    ExchangeFault::unsent(code, sentence)
}

/// HTTP could not begin, so nothing of the request was sent.
pub(super) fn of_preface(error: &hyper::Error, at: &str) -> ExchangeFault {
    ExchangeFault { sent: false, ..of_answer(error, at) }
}

/// No header of an answer came, or one that cannot be read.
pub(super) fn of_answer(error: &hyper::Error, at: &str) -> ExchangeFault {
    if error.is_parse_too_large() || chain_of(error).any(|cause| cause.to_string() == ENDLESS_HEADER) {
        return header_too_large(at);
    }
    let (code, did) = if ended_early(error) {
        (FaultCode::ClosedEarly, "hung up before it had answered")
    } else if error.to_string() == BAD_LENGTH {
        (FaultCode::WrongLength, "declared a length that cannot be")
    } else {
        (FaultCode::BrokenAnswer, "answered something that is not HTTP")
    };
    ExchangeFault::sent(code, format!("`{at}` {did}; try again later or ask the seller"))
}

/// The body broke off.
pub(super) fn of_body(error: &hyper::Error, at: &str) -> ExchangeFault {
    let (code, did) = if ended_early(error) {
        (FaultCode::ClosedEarly, "hung up before the end of its answer")
    } else {
        (FaultCode::BrokenAnswer, "broke off its answer")
    };
    ExchangeFault::sent(code, format!("`{at}` {did}; try again later or ask the seller"))
}

/// The response header is over the caps of [`Limits`](super::Limits).
pub(super) fn header_too_large(at: &str) -> ExchangeFault {
    let sentence = format!("`{at}` answered with a header that is over the size cap; ask the seller to send less");
    ExchangeFault::sent(FaultCode::HeaderTooLarge, sentence)
}

/// A deadline passed while the request was with the seller: `code`, or the one for the whole leg once `end` is past.
pub(super) fn too_slow(code: FaultCode, end: Instant, at: &str) -> ExchangeFault {
    ExchangeFault::sent(or_total(code, end), format!("`{at}` did not answer in time; try again later"))
}

/// The same before anything of the request was sent.
pub(super) fn too_late_to_send(code: FaultCode, end: Instant, at: &str) -> ExchangeFault {
    ExchangeFault::unsent(or_total(code, end), format!("`{at}` could not be reached in time; try again later"))
}

fn or_total(code: FaultCode, end: Instant) -> FaultCode {
    if end <= Instant::now() { FaultCode::TimeoutTotal } else { code }
}

/// How hyper words a `Content-Length` that contradicts itself or is no number. It has no predicate for it; a test holds
/// the wording, and a change would only make the code less exact.
const BAD_LENGTH: &str = "invalid content-length parsed";

/// How the HTTP/2 library words that it gave up a header which is continued over and over. It has no predicate for it; a
/// test holds the wording. What a seller itself says of an error is worded otherwise.
const ENDLESS_HEADER: &str =
    "connection error detected: detected excessive load generating behavior (b\"too_many_continuations\")";

/// Whether the seller hung up, in order or not.
fn ended_early(error: &hyper::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};

    let hung_up = |kind| matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
    error.is_incomplete_message()
        || error.is_closed()
        || error.is_canceled()
        || chain_of(error).any(|cause| cause.downcast_ref().is_some_and(|io: &io::Error| hung_up(io.kind())))
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

fn tls_reason(cause: &(dyn Error + 'static)) -> Option<(FaultCode, &'static str)> {
    use FaultCode::{TlsExpired, TlsFailed, TlsNotYetValid, TlsUntrusted, TlsVersion, TlsWrongName};
    use rustls::AlertDescription as Alert;
    use rustls::CertificateError as Certificate;
    use rustls::Error as Tls;

    Some(match cause.downcast_ref::<Tls>()? {
        Tls::InvalidCertificate(wrong) => match wrong {
            Certificate::Expired | Certificate::ExpiredContext { .. } => (TlsExpired, "its certificate has expired"),
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                (TlsNotYetValid, "its certificate is not valid yet")
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                (TlsWrongName, "its certificate is for another name")
            }
            Certificate::UnknownIssuer => {
                (TlsUntrusted, "its certificate comes from an authority that is not trusted here")
            }
            Certificate::BadSignature => (TlsUntrusted, "its certificate carries a false signature"),
            _ => (TlsUntrusted, "its certificate is not acceptable"),
        },
        Tls::AlertReceived(Alert::ProtocolVersion | Alert::InsufficientSecurity | Alert::HandshakeFailure)
        | Tls::PeerIncompatible(_) => (TlsVersion, "it offers no TLS version or cipher that is safe"),
        Tls::AlertReceived(_) => (TlsFailed, "it ended the TLS handshake with an alert"),
        Tls::InvalidMessage(_) => (TlsFailed, "it does not speak TLS on this port"),
        _ => (TlsFailed, "the TLS handshake went wrong"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::FaultCode;

    #[test]
    fn every_code_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = FaultCode::EVERY.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), FaultCode::EVERY.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    }
}
