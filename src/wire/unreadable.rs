//! Why the terms of a 402 cannot be read in exactly one way.
//!
//! These are answers, not faults of ours: each becomes one [`Refusal`] of the judge's vocabulary. Nothing here quotes
//! more than a few escaped characters of the seller's text.

use bursar_policy::{Quoted, Refusal};

use super::challenge::{MAX_BODY_BYTES, MAX_OFFERS};
use super::envelope::Envelope;
use super::header::{HeaderFault, MAX_HEADER_BYTES};
use super::json::JsonFault;

/// Where in the answer a document stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the `PAYMENT-REQUIRED` header.
    Header,
    /// In the body.
    Body,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Header => "`PAYMENT-REQUIRED` header",
            Self::Body => "body",
        })
    }
}

/// Why there is no way, or more than one way, to read a demand for payment. Each text fits the 80 characters that a
/// refusal has for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// More than one `PAYMENT-REQUIRED` value, alike or not.
    #[error("the `PAYMENT-REQUIRED` header was sent more than once")]
    TwoHeaders,
    /// The header value is over its cap.
    #[error("the `PAYMENT-REQUIRED` header is longer than {MAX_HEADER_BYTES} bytes")]
    HeaderTooLong,
    /// The body is over its cap.
    #[error("the body with the terms is longer than {MAX_BODY_BYTES} bytes")]
    BodyTooLong,
    /// The header is not standard base64 (RFC 4648 section 4).
    #[error("the `PAYMENT-REQUIRED` header is not standard base64")]
    NotBase64,
    /// The document is not JSON that can be read in one way.
    #[error("the {place} {fault}")]
    NotJson {
        /// Where it stood.
        place: Place,
        /// What is wrong with it.
        fault: JsonFault,
    },
    /// The document is JSON, but not an object.
    #[error("the {0} is json but not an object")]
    NotAnObject(Place),
    /// `x402Version` is missing; a bare requirement lands here too.
    #[error("the {0} names no `x402Version`")]
    NoVersion(Place),
    /// `x402Version` is not the number 1 or the number 2.
    #[error("the version is `{0}` and not the number 1 or 2")]
    Version(Quoted),
    /// `accepts` is missing or no list.
    #[error("the {0} has no list `accepts`")]
    NoList(Place),
    /// `accepts` is an empty list.
    #[error("the list `accepts` is empty")]
    NoOffers,
    /// More offers than are looked at.
    #[error("there are {0} offers and at most {MAX_OFFERS} are read")]
    TooManyOffers(usize),
    /// An element of `accepts` is not an object.
    #[error("offer {0} (counted from 0) is not an object")]
    OfferNotAnObject(u32),
    /// An offer with what surrounds it is too long to be kept for a second sending.
    #[error("an offer with resource and extensions is longer than {} bytes", Envelope::MAX_BYTES)]
    OfferTooLong,
    /// Payments have to carry an identifier, and the form in which it is wanted is not the specification's.
    #[error("a `payment-identifier` is required in a form that is not standard")]
    Identifier,
    /// A home-made form that resembles x402.
    #[error("the form is the seller's own and not standard x402")]
    Dialect,
}

impl Unreadable {
    /// The stable code of the refusal that this becomes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        Refusal::from(self).code()
    }
}

impl From<&Unreadable> for Refusal {
    fn from(unreadable: &Unreadable) -> Self {
        // A refusal escapes backticks, and here they are ours.
        let why = Quoted::of(&unreadable.to_string().replace('`', ""));
        match unreadable {
            Unreadable::TwoHeaders | Unreadable::NotJson { fault: JsonFault::Duplicate(_), .. } => {
                Self::TermsConflicting { why }
            }
            Unreadable::HeaderTooLong
            | Unreadable::BodyTooLong
            | Unreadable::TooManyOffers(_)
            | Unreadable::OfferTooLong
            | Unreadable::NotJson { fault: JsonFault::TooDeep, .. } => Self::TermsTooLarge { why },
            Unreadable::Version(version) => Self::UnsupportedVersion { version: version.clone() },
            Unreadable::NoOffers => Self::NoOffers,
            Unreadable::NotBase64
            | Unreadable::NotJson { .. }
            | Unreadable::NotAnObject(_)
            | Unreadable::NoVersion(_)
            | Unreadable::NoList(_)
            | Unreadable::OfferNotAnObject(_)
            | Unreadable::Identifier
            | Unreadable::Dialect => Self::TermsUnreadable { why },
        }
    }
}

impl From<Unreadable> for Refusal {
    fn from(unreadable: Unreadable) -> Self {
        Self::from(&unreadable)
    }
}

impl From<HeaderFault> for Unreadable {
    fn from(fault: HeaderFault) -> Self {
        match fault {
            HeaderFault::TooLong => Self::HeaderTooLong,
            HeaderFault::Joined => Self::TwoHeaders,
            HeaderFault::NotBase64 => Self::NotBase64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_told_in_full_by_its_refusal() {
        let (place, name) = (Place::Header, Quoted::of(&"n".repeat(20)));
        let faults = [
            JsonFault::NotUtf8,
            JsonFault::Syntax,
            JsonFault::HalfCharacter,
            JsonFault::TooDeep,
            JsonFault::Duplicate(name),
        ];
        let mut all: Vec<_> = faults.into_iter().map(|fault| Unreadable::NotJson { place, fault }).collect();
        all.extend([Unreadable::TwoHeaders, Unreadable::HeaderTooLong, Unreadable::BodyTooLong, Unreadable::NotBase64]);
        all.extend([Unreadable::NotAnObject(place), Unreadable::NoVersion(place), Unreadable::NoList(place)]);
        all.extend([
            Unreadable::TooManyOffers(1_000_000),
            Unreadable::OfferNotAnObject(31),
            Unreadable::OfferTooLong,
            Unreadable::Identifier,
            Unreadable::Dialect,
        ]);
        for unreadable in all {
            let plain = unreadable.to_string().replace('`', "");
            let (Refusal::TermsUnreadable { why } | Refusal::TermsConflicting { why } | Refusal::TermsTooLarge { why }) =
                Refusal::from(&unreadable)
            else {
                panic!("{unreadable:?} is told without its reason");
            };
            assert_eq!(why.as_str(), plain);
        }
    }
}
