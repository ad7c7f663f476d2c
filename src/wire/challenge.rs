//! A 402 answer becomes offers for the judge, or one named reason why it cannot.
//!
//! Where terms may stand, in this order: one `PAYMENT-REQUIRED` header, whose content counts whatever its version says
//! and whatever the body says beside it; else the root of a JSON body that names `x402Version`. The two are never
//! merged. A second-generation document in the body with no header is read too: the reference clients for TypeScript
//! and Python do not, the one for Go does, and real sellers do it; its terms are judged like any others.
//! Old spellings of the header (`X-PAYMENT-REQUIRED`) and home-made documents are refused, never translated.

use bursar_policy::{Challenge, Method, Quoted, Version};

use super::documented::Documented;
use super::envelope::Envelope;
use super::header::{self, HeaderView};
use super::identifier::{self, Identifier};
use super::json::{self, Members};
use super::offer::{read_offer, resource, version_token};
use super::rail::NotX402;
use super::unreadable::{Place, Unreadable};

/// The longest body that is read as terms, in bytes.
pub const MAX_BODY_BYTES: usize = 256 * 1024;

/// The most offers that one document may make. Real sellers make up to a dozen: a few prices on each of a few chains.
pub const MAX_OFFERS: usize = 32;

/// What a readable 402 answer turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// x402 terms, still to be judged.
    Demand(Demand),
    /// Not x402 at all; the answer is returned as it is and nothing can be paid.
    NotX402(NotX402),
}

/// x402 terms as they were sent: loose for the judge, verbatim for the echo.
#[derive(Clone, PartialEq, Eq)]
pub struct Demand {
    challenge: Challenge,
    offers: Vec<String>,
    resource: Option<String>,
    extensions: Option<String>,
    documented: Documented,
}

impl std::fmt::Debug for Demand {
    /// Shows the size of the demand, never the seller's words.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Demand({:?}, {} offers)", self.challenge.version, self.offers.len())
    }
}

impl Demand {
    /// The terms in the form that `bursar_policy::judge` takes. `Offer::index` is the place in `accepts`.
    #[must_use]
    pub const fn challenge(&self) -> &Challenge {
        &self.challenge
    }

    /// The method that the seller describes for what it sells, where `asked` is none of those it describes; a word of
    /// HTTP's, never the seller's. Decides nothing.
    #[must_use]
    pub fn other_method(&self, asked: Method) -> Option<&'static str> {
        self.documented.other_than(asked)
    }

    /// What has to be kept to build a payment header for the offer at place `offer`, now or after a restart.
    /// `None` when there is no such offer.
    #[must_use]
    pub fn envelope(&self, offer: u32) -> Option<Envelope> {
        let chosen = self.offers.get(usize::try_from(offer).ok()?)?;
        let (resource, extensions) = (self.resource.clone(), self.extensions.clone());
        Some(Envelope::assemble(self.challenge.version, chosen.clone(), resource, extensions))
    }
}

/// Reads the headers and the body of a 402 answer.
///
/// Guarantees: no number is converted, no member is renamed or filled in, and for each offer the envelope fits
/// [`Envelope::MAX_BYTES`]. Says nothing about whether an offer may be paid.
///
/// # Errors
///
/// Returns [`Unreadable`] when terms are there but can be read in no way or in more than one.
pub fn read(headers: HeaderView<'_>, body: &[u8]) -> Result<Found, Unreadable> {
    let mut values = headers.all("payment-required");
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err(Unreadable::TwoHeaders);
    }
    // An empty value says nothing, as the reference client for TypeScript has it.
    let Some(value) = first.filter(|value| !value.is_empty()) else {
        return read_body(headers, body);
    };
    let bytes = header::decode(value)?;
    let text = json::check(&bytes).map_err(|fault| Unreadable::NotJson { place: Place::Header, fault })?;
    let members = Members::of(text).ok_or(Unreadable::NotAnObject(Place::Header))?;
    read_document(Place::Header, &members, headers).map(Found::Demand)
}

fn read_body(headers: HeaderView<'_>, body: &[u8]) -> Result<Found, Unreadable> {
    if names_x402(body) {
        if body.len() > MAX_BODY_BYTES {
            return Err(Unreadable::BodyTooLong);
        }
        let text = json::check(body).map_err(|fault| Unreadable::NotJson { place: Place::Body, fault })?;
        if let Some(members) = Members::of(text).filter(|members| members.text("x402Version").is_some()) {
            return read_document(Place::Body, &members, headers).map(Found::Demand);
        }
    }
    if let Some(other) = NotX402::challenge(headers) {
        return Ok(Found::NotX402(other));
    }
    if is_dialect(headers, body) {
        return Err(Unreadable::Dialect);
    }
    Ok(Found::NotX402(NotX402::name(headers, body)))
}

/// Whether a body that is not a page speaks of x402 in its own words, so that its faults are worth a reason.
fn names_x402(body: &[u8]) -> bool {
    const NAME: &[u8] = b"x402Version";
    !body.trim_ascii_start().starts_with(b"<") && body.windows(NAME.len()).any(|window| window == NAME)
}

/// Whether the answer asks for a payment in a home-made form that resembles x402.
fn is_dialect(headers: HeaderView<'_>, body: &[u8]) -> bool {
    let spelled = |name: &str| {
        let name = name.to_ascii_lowercase();
        name == "x-payment-required" || name.starts_with("x-402-")
    };
    if headers.names().any(spelled) {
        return true;
    }
    let resembles = |members: &Members<'_>| {
        members.iter().any(|(name, _)| name == "accepts" || name.to_ascii_lowercase().starts_with("x402"))
    };
    let text = if body.len() > MAX_BODY_BYTES { None } else { json::check(body).ok() };
    text.and_then(Members::of).is_some_and(|root| {
        resembles(&root) || root.iter().any(|(_, inner)| Members::of(inner).is_some_and(|inner| resembles(&inner)))
    })
}

fn read_document(place: Place, members: &Members<'_>, headers: HeaderView<'_>) -> Result<Demand, Unreadable> {
    let version = read_version(place, members)?;
    let items = members.text("accepts").and_then(json::items).ok_or(Unreadable::NoList(place))?;
    if items.is_empty() {
        return Err(Unreadable::NoOffers);
    }
    if items.len() > MAX_OFFERS {
        return Err(Unreadable::TooManyOffers(items.len()));
    }
    let mut each = Vec::with_capacity(items.len());
    for (place, item) in (0_u32..).zip(&items) {
        each.push((place, Members::of(item).ok_or(Unreadable::OfferNotAnObject(place))?));
    }
    let offers = each.iter().map(|(place, offer)| read_offer(*place, version, offer)).collect();
    let of_document = Some(resource(members)).filter(|said| !said.is_nothing()).unwrap_or_default();
    // The first generation echoes neither, so neither is kept.
    let kept = |name: &str| match version {
        Version::V1 => None,
        Version::V2 => members.present(name).map(json::compact),
    };
    let extensions = kept("extensions");
    if extensions.as_deref().map(identifier::read) == Some(Identifier::Unanswerable) {
        return Err(Unreadable::Identifier);
    }
    let demand = Demand {
        challenge: Challenge { version, offers, resource: of_document, seller_time_s: seller_time_s(headers) },
        offers: items.iter().map(|item| json::compact(item)).collect(),
        resource: kept("resource"),
        extensions,
        documented: Documented::read(members, each.iter().map(|(_, offer)| offer)),
    };
    let around = demand
        .resource
        .as_ref()
        .map_or(0, String::len)
        .saturating_add(demand.extensions.as_ref().map_or(0, String::len));
    let longest = demand.offers.iter().map(String::len).max().unwrap_or(0);
    if longest.saturating_add(around).saturating_add(Envelope::FRAME_BYTES) > Envelope::MAX_BYTES {
        return Err(Unreadable::OfferTooLong);
    }
    Ok(demand)
}

/// Exactly the number 1 or 2, written so: `"2"`, `2.0` and `true` are other versions.
fn read_version(place: Place, members: &Members<'_>) -> Result<Version, Unreadable> {
    let Some(said) = members.text("x402Version") else {
        return Err(Unreadable::NoVersion(place));
    };
    [Version::V1, Version::V2]
        .into_iter()
        .find(|version| version_token(*version) == said)
        .ok_or_else(|| Unreadable::Version(Quoted::of(said)))
}

/// The seller's clock in seconds since 1970, from one well-formed `Date` header (RFC 9110 section 5.6.7). An answer that a
/// cache kept carries the date on which it was made and, in one `Age` header, for how long it was kept since (RFC 9111
/// section 5.1).
fn seller_time_s(headers: HeaderView<'_>) -> Option<u64> {
    let date = std::str::from_utf8(only(headers, "date")?).ok()?;
    let made_s = u64::try_from(jiff::fmt::rfc2822::parse(date).ok()?.timestamp().as_second()).ok()?;
    let digits = only(headers, "age").filter(|age| age.iter().all(u8::is_ascii_digit));
    let kept_s = digits.and_then(|age| std::str::from_utf8(age).ok()?.parse().ok()).unwrap_or(0);
    made_s.checked_add(kept_s)
}

/// The value of a header that is there once.
fn only<'a>(headers: HeaderView<'a>, name: &'a str) -> Option<&'a [u8]> {
    let mut values = headers.all(name);
    values.next().filter(|_| values.next().is_none())
}

#[cfg(test)]
mod tests;
