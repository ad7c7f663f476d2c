//! The rules about an errand: where to, how, with what. They must never depend on a seller.

use alloc::string::String;
use alloc::vec::Vec;

use super::notes::Notes;
use crate::errand::{Errand, Method};
use crate::refusal::{BodyRefusal, Refusal};
use crate::request_header::HeaderName;
use crate::rules::{HostRule, Rules};
use crate::site::{Scheme, Site};

/// Looks at every rule about `errand`.
pub(super) fn check(rules: &Rules, errand: &Errand, notes: &mut impl Notes) {
    reachable(rules, errand, notes);
    match rules.host_rule(&errand.site) {
        None => notes.fail("host", unlisted(rules, &errand.site)),
        Some(rule) => {
            notes.pass("host", &format_args!("{}{}", errand.site.origin(), rule.path().after_origin()));
            notes.check("method", method(rule, errand));
            notes.check("body", body(rule, errand));
            if !errand.headers.is_empty() {
                notes.check("headers", headers(rule, errand));
            }
        }
    }
}

/// Looks at how and where the site of `errand` is reached, whoever it is.
pub(super) fn reachable(rules: &Rules, errand: &Errand, notes: &mut impl Notes) {
    notes.check("https", https(rules, errand));
    notes.check("address", literal_address(rules, errand));
}

/// The refusal of a site that no rule covers.
pub(crate) fn unlisted(rules: &Rules, site: &Site) -> Refusal {
    let origin = site.origin();
    let path = if rules.lists_paths_of(origin) { site.path() } else { "" };
    Refusal::HostNotAllowed { origin: alloc::format!("{origin}{path}") }
}

fn https(rules: &Rules, errand: &Errand) -> Result<&'static str, Refusal> {
    match errand.site.scheme() {
        Scheme::Https => Ok("https"),
        Scheme::Http if rules.allow_http_loopback(errand.site.host()) => Ok("http on loopback"),
        Scheme::Http => Err(Refusal::HttpsRequired),
    }
}

/// A host that is an address is judged here; a name is judged by whoever resolves it.
fn literal_address(rules: &Rules, errand: &Errand) -> Result<&'static str, Refusal> {
    let Some(ip) = errand.site.host().ip() else { return Ok("a name, yet to be resolved") };
    let on_loopback = rules.loopback_of(errand.site.host()).is_some();
    match rules.network().refuses(ip, on_loopback) {
        Some(refusal) => Err(refusal),
        None if on_loopback => Ok("loopback in a sandbox"),
        None => Ok("public"),
    }
}

fn method(rule: &HostRule, errand: &Errand) -> Result<Method, Refusal> {
    let method = errand.method;
    if rule.allows_method(method) { Ok(method) } else { Err(Refusal::MethodNotAllowed { method }) }
}

fn headers(rule: &HostRule, errand: &Errand) -> Result<String, Refusal> {
    let names = || errand.headers.iter().map(|(name, _)| name);
    match names().find(|name| !rule.headers().contains(name)) {
        Some(name) => Err(Refusal::HeaderNotAllowed { name }),
        None => Ok(names().map(HeaderName::as_str).collect::<Vec<_>>().join(", ")),
    }
}

fn body(rule: &HostRule, errand: &Errand) -> Result<String, Refusal> {
    let Some(body) = errand.body else { return Ok(String::new()) };
    let (bytes, cap) = (u64::from(body.bytes), rule.body_limit_bytes());
    let why = match errand.method {
        Method::Get | Method::Head => BodyRefusal::Method,
        Method::Post if bytes > cap => BodyRefusal::TooLarge { bytes, cap },
        Method::Post => return Ok(alloc::format!("{bytes} bytes")),
    };
    Err(Refusal::BodyNotAllowed { why })
}
