//! The payment document with two places left open, and the one way to fill them in. Must never read the document.
//!
//! Whoever knows the seller's words writes the document; only the vault knows the signature. So that neither needs the
//! other's knowledge, the document is cut at the places where the vault's words go, and the vault puts them in between.

use crate::protocol::{HeaderName, PaymentHeader};
use crate::sign::Signature;
use base64::Engine as _;
use bursar_policy::{Authorization, PaymentId, Version};
use core::fmt;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use zeroize::Zeroizing;

/// The longest text of a blank that is kept for a browser, in bytes. In base64 that is a header of 64 KiB, more than any
/// server reads.
pub const BLANK_MAX_BYTES: usize = 48 * 1024;

/// One piece of a payment document, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Piece {
    /// These words, as they are.
    Text(String),
    /// The scheme payload: the signature and what is signed.
    Payload,
    /// The payment's id, as a JSON string.
    Payment,
}

/// A payment document without the vault's words: its payload is left open once, and the payment's id at most once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Piece>", into = "Vec<Piece>")]
pub struct Blank(Vec<Piece>);

/// Why pieces are no [`Blank`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a payment document leaves its payload open once and the payment's id at most once")]
pub struct BlankFault;

impl Blank {
    /// A blank of these pieces.
    ///
    /// # Errors
    ///
    /// [`BlankFault`].
    pub fn new(pieces: Vec<Piece>) -> Result<Self, BlankFault> {
        let open = |place: &Piece| pieces.iter().filter(|piece| *piece == place).count();
        if open(&Piece::Payload) == 1 && open(&Piece::Payment) <= 1 { Ok(Self(pieces)) } else { Err(BlankFault) }
    }

    /// Whether its text is at most [`BLANK_MAX_BYTES`] long.
    #[must_use]
    pub fn fits_a_header(&self) -> bool {
        let texts = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Payload | Piece::Payment => 0,
        });
        texts.fold(0_usize, usize::saturating_add) <= BLANK_MAX_BYTES
    }

    /// Fills the document in and makes the header of it: standard base64, padded. All members of the authorization are
    /// strings, addresses with their EIP-55 checksum. The same arguments always give the same bytes.
    ///
    /// Does not check that the signature is one of the authorization, nor what the document says beside it.
    #[must_use]
    pub fn fill(
        &self,
        version: Version,
        payment: &PaymentId,
        authorization: &Authorization,
        signature: &Signature,
    ) -> PaymentHeader {
        let payload = Zeroizing::new(payload(authorization, signature));
        let mut document = Zeroizing::new(String::with_capacity(BLANK_MAX_BYTES));
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => document.push_str(text),
                Piece::Payload => document.push_str(&payload),
                Piece::Payment => {
                    document.push('"');
                    document.push_str(payment.as_str());
                    document.push('"');
                }
            }
        }
        let name = match version {
            Version::V1 => HeaderName::XPayment,
            Version::V2 => HeaderName::PaymentSignature,
        };
        let value = base64::engine::general_purpose::STANDARD.encode(document.as_bytes());
        PaymentHeader::new(name, Zeroizing::new(value))
    }
}

/// The scheme payload of `exact` on EVM chains, alike in both generations.
fn payload(authorization: &Authorization, signature: &Signature) -> String {
    let Authorization { from, to, value, valid_after, valid_before, nonce } = authorization;
    let (value, nonce) = (value.units(), hex::encode(nonce));
    format!(
        "{{\"authorization\":{{\"from\":\"{from}\",\"to\":\"{to}\",\"value\":\"{value}\",\"validAfter\":\"{valid_after}\",\
         \"validBefore\":\"{valid_before}\",\"nonce\":\"0x{nonce}\"}},\"signature\":\"{signature}\"}}"
    )
}

impl TryFrom<Vec<Piece>> for Blank {
    type Error = BlankFault;

    fn try_from(pieces: Vec<Piece>) -> Result<Self, BlankFault> {
        Self::new(pieces)
    }
}

impl From<Blank> for Vec<Piece> {
    fn from(blank: Blank) -> Self {
        blank.0
    }
}

impl fmt::Debug for Blank {
    /// Shows how many pieces there are, never the seller's words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blank({} pieces)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &str) -> Piece {
        Piece::Text(words.to_owned())
    }

    #[test]
    fn a_blank_leaves_its_payload_open_once() {
        for wrong in [
            vec![],
            vec![text("{}")],
            vec![Piece::Payload, Piece::Payload],
            vec![Piece::Payment, Piece::Payload, Piece::Payment],
        ] {
            assert_eq!(Blank::new(wrong.clone()), Err(BlankFault));
            let sent = serde_json::to_string(&wrong).unwrap();
            assert!(serde_json::from_str::<Blank>(&sent).is_err(), "{sent}");
        }
        let long = vec![text(&"x".repeat(BLANK_MAX_BYTES)), Piece::Payload, text("y")];
        assert!(!Blank::new(long).unwrap().fits_a_header());
        let good = Blank::new(vec![text("{\"id\":"), Piece::Payment, text(",\"payload\":"), Piece::Payload, text("}")]);
        assert!(good.clone().unwrap().fits_a_header());
        let sent = serde_json::to_string(&good.clone().unwrap()).unwrap();
        assert_eq!(sent, r#"[{"text":"{\"id\":"},"payment",{"text":",\"payload\":"},"payload",{"text":"}"}]"#);
        assert_eq!(serde_json::from_str::<Blank>(&sent).unwrap(), good.unwrap());
    }
}
