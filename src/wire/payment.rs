//! A signed authorization becomes the one request header that carries it.
//!
//! First generation: `X-PAYMENT`, with `scheme` and `network` as the seller wrote them. Second: `PAYMENT-SIGNATURE`, with
//! the chosen offer and the resource echoed in the seller's own words; sellers compare the echo member by member. Of the
//! extensions only `payment-identifier` is answered, by adding an id that is the same each time one payment is sent;
//! leaving the others out is valid, and their schemas would only make the header long.
//! The same arguments always give the same bytes. Nothing is sent from here.

use bursar_policy::{Address, Amount, Authorization, PaymentId, Said, Version};
use bursar_vault::blank::{Blank, Piece};
use bursar_vault::protocol::PaymentHeader;
use bursar_vault::sign::Signature;

use super::envelope::Envelope;
use super::identifier::{self, Identifier};

/// Why no header can be built. Each of these means that the pieces do not belong together; the money stays counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsendable {
    /// The signature is not `0x` and 130 hexadecimal digits.
    #[error("the signature has the wrong shape, so the payment was not sent")]
    Signature,
    /// The envelope's offer asks for another amount than was signed.
    #[error("the kept offer asks for another amount than the one that was signed, so the payment was not sent")]
    Amount,
    /// The envelope's offer names another payee than was signed.
    #[error("the kept offer names another payee than the one that was signed, so the payment was not sent")]
    Payee,
    /// The envelope's offer says one thing twice, differently.
    #[error("the kept offer contradicts itself, so the payment was not sent")]
    Conflict,
    /// The envelope's offer has no scheme or no network to name.
    #[error("the kept offer names no scheme or no network, so the payment was not sent")]
    Offer,
}

/// Builds the header that pays the offer in `envelope` with a signed authorization: its [`blank`], filled in.
///
/// Guarantees: the echoed offer asks for the amount and the payee that were signed; no member of ours is `null`. Does not
/// check the signature itself.
///
/// # Errors
///
/// Returns [`Unsendable`] when the pieces do not belong together.
pub fn payment_header(
    envelope: &Envelope,
    payment: &PaymentId,
    authorization: &Authorization,
    signature: &str,
) -> Result<PaymentHeader, Unsendable> {
    let blank = blank(envelope, authorization.value, authorization.to)?;
    let signature: Signature = signature.parse().map_err(|_| Unsendable::Signature)?;
    Ok(blank.fill(envelope.version(), payment, authorization, &signature))
}

/// The payment document that pays `amount` to `payee` for the offer in `envelope`, with the payload left open.
///
/// Guarantees: the echoed offer asks for that amount and that payee.
///
/// # Errors
///
/// Returns [`Unsendable`] when the pieces do not belong together.
pub fn blank(envelope: &Envelope, amount: Amount, payee: Address) -> Result<Blank, Unsendable> {
    let offer = envelope.offer_members().ok_or(Unsendable::Offer)?;
    agree(envelope, amount, payee)?;
    let mut pieces = Vec::with_capacity(5);
    match envelope.version() {
        Version::V1 => {
            let word = |name| offer.text(name).filter(|text| text.starts_with('"')).ok_or(Unsendable::Offer);
            let (scheme, network) = (word("scheme")?, word("network")?);
            let head = format!("{{\"x402Version\":1,\"scheme\":{scheme},\"network\":{network},\"payload\":");
            pieces.extend([Piece::Text(head), Piece::Payload, Piece::Text("}".to_owned())]);
        }
        Version::V2 => {
            pieces.extend([Piece::Text("{\"x402Version\":2,\"payload\":".to_owned()), Piece::Payload]);
            let identifier = envelope.extensions_text().map_or(Identifier::Unwanted, identifier::read);
            if let Identifier::Wanted(before, after) = identifier {
                pieces.extend([Piece::Text(format!(",\"extensions\":{before}")), Piece::Payment, Piece::Text(after)]);
            }
            let resource = envelope.resource_text().map_or_else(String::new, |text| format!(",\"resource\":{text}"));
            let accepted = envelope.offer_text();
            pieces.push(Piece::Text(format!("{resource},\"accepted\":{accepted}}}")));
        }
    }
    Blank::new(pieces).map_err(|_| Unsendable::Offer)
}

/// INVARIANT: what was judged is what is signed, is what is sent. The echo is the only part of the header that does not
/// come from the authorization, so it is compared with what that says, or will.
fn agree(envelope: &Envelope, amount: Amount, payee: Address) -> Result<(), Unsendable> {
    let offer = envelope.offer().ok_or(Unsendable::Offer)?;
    let amount = amount.units().to_string();
    if !matches!(&offer.amount, Said::Text(text) if *text == amount) {
        return Err(Unsendable::Amount);
    }
    if !offer.conflicts.is_empty() {
        return Err(Unsendable::Conflict);
    }
    match &offer.pay_to {
        Said::Text(text) if text.parse::<Address>() == Ok(payee) => Ok(()),
        _ => Err(Unsendable::Payee),
    }
}

#[cfg(test)]
mod tests;
