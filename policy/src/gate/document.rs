//! The rules about a 402 document as a whole. They must never look into an offer.

use alloc::string::ToString;

use super::notes::Notes;
use super::weigh::Case;
use crate::hours::Opening;
use crate::offer::Said;
use crate::quoted::Quoted;
use crate::refusal::Refusal;
use crate::site;

/// How far a seller's clock may be from ours, in seconds.
const CLOCK_APART_MAX_S: u64 = 30;

/// Looks at every rule about the document of `case`.
pub(super) fn check(case: &Case<'_>, notes: &mut impl Notes) {
    let offers = case.challenge.offers.len();
    notes.check("offers", if offers == 0 { Err(Refusal::NoOffers) } else { Ok(offers) });
    notes.check("resource", resource(case, &case.challenge.resource));
    notes.check("clock", clock(case));
    if let Some(opening) = case.rules.opening() {
        notes.check("hours", hours(opening, case.now_s));
    }
}

/// Terms for another host were made for somebody else, unless the operator knows the two to be
/// one seller. Other differences (scheme, path, query) are common behind proxies and harmless.
pub(super) fn resource(case: &Case<'_>, named: &Said) -> Result<&'static str, Refusal> {
    let Said::Text(named) = named else { return Ok("none named") };
    let asked = &case.errand.site;
    if !site::names_another_host(asked, named) {
        return Ok("on the same host, or naming none");
    }
    let host = site::named_host(asked, named);
    let listed = |host| case.host.is_some_and(|rule| rule.allows_resource_host(&host));
    if host.is_some_and(listed) {
        return Ok("on a host that resource_hosts lists");
    }
    Err(Refusal::ResourceMismatch { named: Quoted::of(named), asked: asked.host().to_string() })
}

/// Our own rule, and no fault of the document: it is looked at here because a free answer is taken at any time.
fn hours(opening: &Opening, now_s: u64) -> Result<&Opening, Refusal> {
    if opening.is_open(now_s) { Ok(opening) } else { Err(Refusal::OutsideHours { hours: opening.to_string() }) }
}

fn clock(case: &Case<'_>) -> Result<&'static str, Refusal> {
    let Some(theirs_s) = case.challenge.seller_time_s else { return Ok("no time sent") };
    let apart_s = theirs_s.abs_diff(case.now_s);
    if apart_s > CLOCK_APART_MAX_S { Err(Refusal::ClockInvalid { apart_s }) } else { Ok("near ours") }
}
