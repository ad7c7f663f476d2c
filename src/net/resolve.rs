//! Asking for the addresses of a name, once; it judges nothing and never dials.

use std::future::Future;
use std::net::IpAddr;
use std::time::Duration;

/// Something that knows the addresses of a name.
///
/// [`pin()`](super::pin()) asks it at most once for a purchase and never for an IP literal or a name that a sandbox
/// maps. Implementations must not cache for longer than the source says and need not judge what they find.
pub trait Resolver: Send + Sync {
    /// All addresses of `host`, a lower-case name without a final dot. `port` is the one that will be dialled.
    ///
    /// # Errors
    ///
    /// [`LookupFault`] when there is no answer. An empty list is not an error here; the caller refuses it.
    fn lookup(&self, host: &str, port: u16) -> impl Future<Output = Result<Vec<IpAddr>, LookupFault>> + Send;
}

/// Why a name has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupFault {
    /// The system resolver said that it has no address.
    #[error("the name has no address")]
    NoAnswer,
    /// The resolver did not answer in time.
    #[error("the resolver did not answer in time")]
    TooSlow,
}

/// The operating system's resolver.
///
/// The name is asked with a final dot, so that no search suffix of the machine can turn it into an internal one.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver {
    deadline: Duration,
}

impl SystemResolver {
    /// A resolver that gives up after 10 s.
    #[must_use]
    pub const fn new() -> Self {
        Self { deadline: Duration::from_secs(10) }
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self::new()
    }
}

impl Resolver for SystemResolver {
    async fn lookup(&self, host: &str, port: u16) -> Result<Vec<IpAddr>, LookupFault> {
        let asked = tokio::net::lookup_host((absolute(host), port));
        match tokio::time::timeout(self.deadline, asked).await {
            Ok(Ok(found)) => Ok(found.map(|address| address.ip()).collect()),
            Ok(Err(_)) => Err(LookupFault::NoAnswer),
            Err(_) => Err(LookupFault::TooSlow),
        }
    }
}

fn absolute(host: &str) -> String {
    format!("{}.", host.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::absolute;

    #[test]
    fn a_name_is_asked_absolutely_so_that_no_search_suffix_applies() {
        assert_eq!(absolute("api.merchant.test"), "api.merchant.test.");
        assert_eq!(absolute("api.merchant.test."), "api.merchant.test.");
    }
}
