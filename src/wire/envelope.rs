//! What is kept of a seller's document so that the payment header can be built, and built again after a restart.
//!
//! To everyone else an envelope is one opaque string. It holds the chosen offer in the seller's own words (order of
//! members, escapes, digits), because the second generation compares an echo with what it offered, member by member.
//! It is never a source of terms: what is signed comes from the judged fields, and [`super::payment_header`] refuses
//! an envelope that says something else.

use bursar_policy::{Offer, Version};

use super::json::{self, Members};
use super::offer::{read_offer, version_token};

/// The seller's words for one offer, in compact JSON.
#[derive(Clone, PartialEq, Eq)]
pub struct Envelope {
    version: Version,
    offer: String,
    resource: Option<String>,
    extensions: Option<String>,
}

/// Why a text is not an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the kept envelope is damaged, so this payment cannot be sent again; `bursar explain` shows what is known of it"
)]
pub struct EnvelopeFault;

impl std::fmt::Debug for Envelope {
    /// Shows the size of the envelope, never the seller's words.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Envelope({:?}, {} bytes)", self.version, self.to_text().len())
    }
}

impl Envelope {
    /// The longest envelope, in bytes of [`Envelope::to_text`].
    pub const MAX_BYTES: usize = 64 * 1024;

    /// At least what an envelope adds around the seller's words, in bytes.
    pub(super) const FRAME_BYTES: usize = 64;

    pub(super) const fn assemble(
        version: Version,
        offer: String,
        resource: Option<String>,
        extensions: Option<String>,
    ) -> Self {
        Self { version, offer, resource, extensions }
    }

    /// The generation of x402 that the offer was made in.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The envelope as the one string that is kept with a payment.
    #[must_use]
    pub fn to_text(&self) -> String {
        let member = |name: &str, value: &Option<String>| {
            value.as_ref().map_or_else(String::new, |value| format!(",\"{name}\":{value}"))
        };
        let resource = member("resource", &self.resource);
        let extensions = member("extensions", &self.extensions);
        format!("{{\"version\":{},\"offer\":{}{resource}{extensions}}}", version_token(self.version), self.offer)
    }

    /// Reads back what [`Envelope::to_text`] wrote.
    ///
    /// # Errors
    ///
    /// Returns [`EnvelopeFault`] for any other text, and for one over [`Envelope::MAX_BYTES`].
    pub fn parse(text: &str) -> Result<Self, EnvelopeFault> {
        if text.len() > Self::MAX_BYTES {
            return Err(EnvelopeFault);
        }
        let text = json::check(text.as_bytes()).map_err(|_| EnvelopeFault)?;
        let members = Members::of(text).ok_or(EnvelopeFault)?;
        let known = ["version", "offer", "resource", "extensions"];
        if members.iter().any(|(name, _)| !known.contains(&name)) {
            return Err(EnvelopeFault);
        }
        let token = members.text("version").ok_or(EnvelopeFault)?;
        let version = [Version::V1, Version::V2].into_iter().find(|version| version_token(*version) == token);
        let offer = members.text("offer").filter(|offer| offer.starts_with('{'));
        Ok(Self {
            version: version.ok_or(EnvelopeFault)?,
            offer: offer.map(json::compact).ok_or(EnvelopeFault)?,
            resource: members.text("resource").map(json::compact),
            extensions: members.text("extensions").map(json::compact),
        })
    }

    /// The offer again in the form that the judge takes, as place 0.
    #[must_use]
    pub fn offer(&self) -> Option<Offer> {
        Some(read_offer(0, self.version, &self.offer_members()?))
    }

    pub(super) fn offer_members(&self) -> Option<Members<'_>> {
        Members::of(&self.offer)
    }

    pub(super) fn offer_text(&self) -> &str {
        &self.offer
    }

    pub(super) fn resource_text(&self) -> Option<&str> {
        self.resource.as_deref()
    }

    pub(super) fn extensions_text(&self) -> Option<&str> {
        self.extensions.as_deref()
    }
}

#[cfg(test)]
mod tests;
