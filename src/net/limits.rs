//! How long and how much one leg of an exchange may take; numbers only, it enforces nothing.

use std::time::Duration;

/// How fast a body has to come at least, beyond the time that every leg has.
const BYTES_A_SECOND: u64 = 512 * 1024;

/// The deadlines and header caps of one leg.
///
/// The body has no cap here: the reader of a [`Body`](super::Body) names it, because a price list and a bought file
/// deserve different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A TCP connection, over every judged address together.
    pub connect: Duration,
    /// The TLS handshake, once there is a connection.
    pub tls: Duration,
    /// From the connection being ready until the first byte of an answer; over HTTP/2, where a seller speaks before
    /// it is asked, until its first HEADERS frame begins.
    pub first_byte: Duration,
    /// From the connection being ready until the whole response header is there. Interim (1xx) answers do not extend
    /// it.
    pub header: Duration,
    /// The longest silence between two pieces of the body.
    pub idle: Duration,
    /// From the start of the leg to the last byte of the body, whatever comes in between.
    pub total: Duration,
    /// The most bytes that all response header names and values may have together, with 4 bytes counted on top for
    /// each field; the same for HTTP/1.1 and HTTP/2.
    pub header_bytes: usize,
    /// The most response header fields; the same for HTTP/1.1 and HTTP/2.
    pub header_fields: usize,
}

impl Limits {
    /// For the first leg, which asks without paying: 10 s each to connect and for TLS, 15 s to the first byte, 20 s to
    /// the whole header, 10 s idle, 60 s in all.
    #[must_use]
    pub const fn bare() -> Self {
        Self {
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            first_byte: Duration::from_secs(15),
            header: Duration::from_secs(20),
            idle: Duration::from_secs(10),
            total: Duration::from_secs(60),
            header_bytes: 64 * 1024,
            header_fields: 100,
        }
    }

    /// The same, with a second more in all for every 512 KiB of a body that may have `cap_bytes`: a large one may take
    /// its time, but not fall silent.
    #[must_use]
    pub fn for_body(self, cap_bytes: u64) -> Self {
        let more = Duration::from_secs(cap_bytes.checked_div(BYTES_A_SECOND).unwrap_or_default());
        Self { total: self.total.saturating_add(more), ..self }
    }

    /// For the leg that carries a payment: a seller may settle on its chain before it answers, so the first byte may
    /// take 80 s, the header 90 s and the whole leg 120 s. Hanging up early would only turn a sale into an unresolved
    /// one.
    #[must_use]
    pub const fn paid() -> Self {
        Self {
            first_byte: Duration::from_secs(80),
            header: Duration::from_secs(90),
            total: Duration::from_secs(120),
            ..Self::bare()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_body_has_more_time_and_a_small_one_has_not() {
        assert_eq!(Limits::paid().for_body(256 * 1024), Limits::paid());
        let large = Limits::paid().for_body(256 << 20);
        assert_eq!(large.total, Duration::from_secs(120 + 512));
        assert_eq!(Limits { total: Limits::paid().total, ..large }, Limits::paid(), "nothing else changes");
    }
}
