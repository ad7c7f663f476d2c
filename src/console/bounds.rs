//! How much a browser, or whoever else finds the port, may take; numbers only, it enforces nothing.

use std::time::Duration;

/// Caps and deadlines of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections of our own user's programs at once; a further one is closed. So many more are looked at for whose they are.
    pub connections: usize,
    /// From a connection's being ready, or the last answer on it, to the last byte of a request's head.
    pub head: Duration,
    /// From the head to the last byte of the body.
    pub body: Duration,
    /// After which a connection takes no further request.
    pub connection: Duration,
    /// The most bytes of a body.
    pub body_bytes: usize,
    /// The most bytes of a request's head.
    pub head_bytes: usize,
    /// The most header fields of a request.
    pub head_fields: usize,
    /// Requests in one go: of those who are logged in, of everybody else, and of what is turned away, each with a purse of its own.
    pub burst: u32,
    /// Requests a second after that.
    pub per_second: u32,
    /// How long a code for logging in is good.
    pub code: Duration,
    /// After how long without a sign of a person a login ends.
    pub idle: Duration,
    /// After how long every login ends.
    pub login: Duration,
}

impl Bounds {
    /// What `bursar console` goes by.
    #[must_use]
    pub const fn usual() -> Self {
        Self {
            connections: 32,
            head: Duration::from_secs(10),
            body: Duration::from_secs(5),
            connection: Duration::from_secs(300),
            body_bytes: 8 * 1024,
            head_bytes: 16 * 1024,
            head_fields: 48,
            burst: 80,
            per_second: 20,
            code: Duration::from_secs(300),
            idle: Duration::from_secs(15 * 60),
            login: Duration::from_secs(12 * 60 * 60),
        }
    }
}
