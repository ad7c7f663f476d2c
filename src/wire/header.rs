//! Response headers as this module sees them, and the base64 that x402 puts into them.
//!
//! Never guesses: a value is standard base64 (RFC 4648 section 4) or it is refused; junk between letters is not skipped.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The longest header value that is looked at, in bytes as sent. A reference server with a large JSON Schema sends 10 KiB.
pub const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Standard alphabet; `=` at the end may be missing but not wrong, and the unused bits of the last letter must be zero,
/// so that one text has one encoding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(false),
);

/// The headers of one answer: names in lower case and values as bytes, in the order in which they arrived.
#[derive(Clone, Copy)]
pub struct HeaderView<'a> {
    pairs: &'a [(String, Vec<u8>)],
}

impl std::fmt::Debug for HeaderView<'_> {
    /// Shows how many headers there are, never what they say.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HeaderView({} headers)", self.pairs.len())
    }
}

impl<'a> HeaderView<'a> {
    /// A view of `pairs`; the order of values of one name is kept.
    #[must_use]
    pub const fn new(pairs: &'a [(String, Vec<u8>)]) -> Self {
        Self { pairs }
    }

    /// Every value of the header `name` (given in lower case), without the spaces around it.
    pub fn all(self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.pairs
            .iter()
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_ascii())
    }

    /// Every name, in order.
    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().map(|(name, _)| name.as_str())
    }
}

/// Why a header value holds no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderFault {
    /// Longer than [`MAX_HEADER_BYTES`].
    TooLong,
    /// Several values that a proxy joined with commas (RFC 9110 section 5.3).
    Joined,
    /// Not standard base64.
    NotBase64,
}

/// Decodes one header value.
pub(super) fn decode(value: &[u8]) -> Result<Vec<u8>, HeaderFault> {
    let value = value.trim_ascii();
    if value.len() > MAX_HEADER_BYTES {
        return Err(HeaderFault::TooLong);
    }
    BASE64.decode(value).map_err(|_| {
        let mut parts = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        let joined = value.contains(&b',') && parts.all(|part| BASE64.decode(part).is_ok());
        if joined { HeaderFault::Joined } else { HeaderFault::NotBase64 }
    })
}

#[cfg(test)]
mod tests;
