//! From a vetted site to the addresses that may be dialled for it; it never dials, and never asks a name twice.

use std::net::{IpAddr, SocketAddr};

use bursar_policy::{Host, Origin, Refusal, Rules, Scheme, Site, Vetted};

use super::fault::{ExchangeFault, FaultCode};
use super::resolve::{LookupFault, Resolver};

/// A site together with every address that was judged for it: the only key that opens an
/// [`Exchange`](super::Exchange).
///
/// Only [`pin()`] makes one. Both legs of a purchase go through the same pin, so what was judged is what is dialled,
/// whatever the name resolves to in the meantime.
#[must_use = "a pin that is dropped was judged and then not dialled"]
#[derive(Debug)]
pub struct Pin {
    site: Site,
    addresses: Vec<SocketAddr>,
    ground: Ground,
    proxies: Vec<SocketAddr>,
}

/// Where the judged addresses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// On the public internet; https only.
    Public,
    /// On this machine, because the rules of a sandbox put it there; http is possible.
    Loopback,
}

impl Pin {
    /// The site that was vetted; the exchange requests exactly its URL.
    #[must_use]
    pub const fn site(&self) -> &Site {
        &self.site
    }

    /// The judged addresses with the port to dial, at least one, in the resolver's order and without doubles.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where they are.
    #[must_use]
    pub const fn ground(&self) -> Ground {
        self.ground
    }

    /// The addresses of the operator's proxy; none when sellers are dialled without one.
    pub(super) fn proxies(&self) -> &[SocketAddr] {
        &self.proxies
    }

    /// Whether a connection to `peer` is one that this pin makes: to a judged address, or to the proxy that leads there.
    pub(super) fn leads_to(&self, peer: SocketAddr) -> bool {
        if self.proxies.is_empty() { self.covers(peer) } else { is_among(&self.proxies, peer) }
    }

    /// The same pin with one more address, for tests of what several addresses mean.
    #[cfg(test)]
    pub(super) fn and(mut self, address: IpAddr) -> Self {
        self.addresses.push(SocketAddr::new(address, self.site.port()));
        self
    }

    /// Whether an answer from `peer` came from a judged address. An IPv4 address written as IPv6 counts as itself.
    #[must_use]
    pub fn covers(&self, peer: SocketAddr) -> bool {
        is_among(&self.addresses, peer)
    }
}

fn is_among(known: &[SocketAddr], peer: SocketAddr) -> bool {
    known.iter().any(|one| one.port() == peer.port() && one.ip().to_canonical() == peer.ip().to_canonical())
}

/// Why a site got no pin. Nothing was dialled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinFault {
    /// Not a fault but an answer: `address_not_public`, `address_denied`, or `https_required` for http to anywhere but a loopback seller
    /// of a sandbox.
    #[error("{0}")]
    Refused(Refusal),
    /// The name has no usable answer (`dns_failure`), or the proxy's has none (`proxy_failed`).
    #[error(transparent)]
    Lookup(ExchangeFault),
}

/// Resolves `site` once and judges every address.
///
/// An IP literal is judged before any resolver is asked. A host that the rules of a sandbox put on loopback goes there
/// without a lookup. Of any other name, one answer that is not public,
/// or that the operator's lists stand against, refuses all of them.
///
/// # Errors
///
/// [`PinFault`]; an empty answer is a [`PinFault::Lookup`], never a pass.
pub async fn pin<R: Resolver>(site: Vetted<Site>, resolver: &R, rules: &Rules) -> Result<Pin, PinFault> {
    let site = site.into_inner();
    let loopback = rules.loopback_of(site.host());
    if site.scheme() == Scheme::Http && loopback.is_none() {
        return Err(PinFault::Refused(Refusal::HttpsRequired));
    }
    let (found, ground) = match (loopback, site.host()) {
        (Some(address), _) => (vec![address], Ground::Loopback),
        (None, Host::V4(address)) => (vec![IpAddr::V4(*address)], Ground::Public),
        (None, Host::V6(address)) => (vec![IpAddr::V6(*address)], Ground::Public),
        (None, Host::Name(name)) => (look_up(resolver, name, site.port()).await?, Ground::Public),
    };
    let mut addresses = Vec::with_capacity(found.len());
    for address in found {
        if let Some(refusal) = rules.network().refuses(address, ground == Ground::Loopback) {
            return Err(PinFault::Refused(refusal));
        }
        let socket = SocketAddr::new(address, site.port());
        if !addresses.contains(&socket) {
            addresses.push(socket);
        }
    }
    let proxies = match rules.network().proxy() {
        Some(proxy) => proxies(resolver, proxy, rules).await?,
        None => Vec::new(),
    };
    Ok(Pin { site, addresses, ground, proxies })
}

/// The addresses of the operator's proxy. The operator named it, so it may be anywhere.
async fn proxies<R: Resolver>(resolver: &R, proxy: &Origin, rules: &Rules) -> Result<Vec<SocketAddr>, PinFault> {
    let found = match (rules.loopback_of(&proxy.host), &proxy.host) {
        (Some(address), _) => vec![address],
        (None, Host::V4(address)) => vec![IpAddr::V4(*address)],
        (None, Host::V6(address)) => vec![IpAddr::V6(*address)],
        (None, Host::Name(name)) => resolver.lookup(name, proxy.port).await.unwrap_or_default(),
    };
    if found.is_empty() {
        let sentence = format!("the proxy `{proxy}` of the rules could not be looked up; ask the operator to check it");
        return Err(PinFault::Lookup(ExchangeFault::unsent(FaultCode::ProxyFailed, sentence)));
    }
    Ok(found.into_iter().map(|address| SocketAddr::new(address, proxy.port)).collect())
}

async fn look_up<R: Resolver>(resolver: &R, name: &str, port: u16) -> Result<Vec<IpAddr>, PinFault> {
    let answer = resolver.lookup(name, port).await;
    let why = match answer {
        Ok(found) if !found.is_empty() => return Ok(found),
        Ok(_) => LookupFault::NoAnswer,
        Err(fault) => fault,
    };
    let sentence = format!("`{name}` could not be looked up because {why}; check the spelling or try again later");
    Err(PinFault::Lookup(ExchangeFault::unsent(FaultCode::DnsFailure, sentence)))
}
