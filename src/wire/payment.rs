//! A signed authorization becomes the one request header that carries it.
//!
//! First generation: `X-PAYMENT`, with `scheme` and `network` as the seller wrote them. Second: `PAYMENT-SIGNATURE`, with
//! the chosen offer and the resource echoed in the seller's own words; sellers compare the echo member by member. Of the
//! extensions only `payment-identifier` is answered, by adding an id that is the same each time one payment is sent;
//! leaving the others out is valid, and their schemas would only make the header long.
//! The same arguments always give the same bytes. Nothing is sent from here.

use bursar_policy::{Address, Authorization, PaymentId, Said, Version};

use super::envelope::Envelope;
use super::header::encode;
use super::json::{Members, quoted};

/// A request header that moves money. `Debug` hides it, so that no log line can carry it.
#[derive(Clone, PartialEq, Eq)]
pub struct PaymentHeader {
    name: &'static str,
    value: String,
}

impl std::fmt::Debug for PaymentHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PaymentHeader({}, {} bytes)", self.name, self.value.len())
    }
}

impl PaymentHeader {
    /// `PAYMENT-SIGNATURE` or `X-PAYMENT`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Standard base64, padded: letters, digits, `+`, `/` and `=` only. Whoever has it can take the money it offers.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

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

/// Builds the header that pays the offer in `envelope` with a signed authorization.
///
/// Guarantees: the echoed offer asks for the amount and the payee that were signed; all six members of the authorization
/// are strings, addresses with their EIP-55 checksum; no member of ours is `null`. Does not check the signature itself.
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
    let offer = envelope.offer_members().ok_or(Unsendable::Offer)?;
    agree(envelope, authorization)?;
    let payload = payload(authorization, signature)?;
    match envelope.version() {
        Version::V1 => {
            let word = |name| offer.text(name).filter(|text| text.starts_with('"')).ok_or(Unsendable::Offer);
            let (scheme, network) = (word("scheme")?, word("network")?);
            let document =
                format!("{{\"x402Version\":1,\"scheme\":{scheme},\"network\":{network},\"payload\":{payload}}}");
            Ok(PaymentHeader { name: "X-PAYMENT", value: encode(&document) })
        }
        Version::V2 => {
            let identifier = envelope.extensions_text().and_then(|text| identifier(text, payment));
            let extensions = identifier.map_or_else(String::new, |text| format!(",\"extensions\":{text}"));
            let resource = envelope.resource_text().map_or_else(String::new, |text| format!(",\"resource\":{text}"));
            let accepted = envelope.offer_text();
            let document =
                format!("{{\"x402Version\":2,\"payload\":{payload}{extensions}{resource},\"accepted\":{accepted}}}");
            Ok(PaymentHeader { name: "PAYMENT-SIGNATURE", value: encode(&document) })
        }
    }
}

/// INVARIANT: what was judged is what is signed, is what is sent. The echo is the only part of the header that does not
/// come from the authorization, so it is compared with it.
fn agree(envelope: &Envelope, authorization: &Authorization) -> Result<(), Unsendable> {
    let offer = envelope.offer().ok_or(Unsendable::Offer)?;
    let amount = authorization.value.units().to_string();
    if !matches!(&offer.amount, Said::Text(text) if *text == amount) {
        return Err(Unsendable::Amount);
    }
    if !offer.conflicts.is_empty() {
        return Err(Unsendable::Conflict);
    }
    match &offer.pay_to {
        Said::Text(text) if text.parse::<Address>() == Ok(authorization.to) => Ok(()),
        _ => Err(Unsendable::Payee),
    }
}

/// The scheme payload of `exact` on EVM chains, alike in both generations.
fn payload(authorization: &Authorization, signature: &str) -> Result<String, Unsendable> {
    let digits = signature.strip_prefix("0x").ok_or(Unsendable::Signature)?;
    if digits.len() != 130 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Unsendable::Signature);
    }
    let Authorization { from, to, value, valid_after, valid_before, nonce } = authorization;
    let (value, nonce) = (value.units(), hex::encode(nonce));
    Ok(format!(
        "{{\"authorization\":{{\"from\":\"{from}\",\"to\":\"{to}\",\"value\":\"{value}\",\"validAfter\":\"{valid_after}\",\
         \"validBefore\":\"{valid_before}\",\"nonce\":\"0x{nonce}\"}},\"signature\":\"{signature}\"}}"
    ))
}

/// The answer to an advertised `payment-identifier`: what was advertised, with `info.id` added. `None` when it was not
/// advertised in the form that its specification gives, or when the seller set an id itself, which must not be changed.
fn identifier(extensions: &str, payment: &PaymentId) -> Option<String> {
    const NAME: &str = "payment-identifier";
    let advertised = Members::of(extensions)?.object(NAME)?;
    let info = advertised.object("info")?;
    if !matches!(info.text("required"), Some("true" | "false")) || info.text("id").is_some() {
        return None;
    }
    let mut answer = String::new();
    for (name, text) in advertised.iter() {
        let separator = if answer.is_empty() { "" } else { "," };
        let added = text.strip_suffix('}').filter(|_| name == "info");
        let value =
            added.map_or_else(|| text.to_owned(), |open| format!("{open},\"id\":{}}}", quoted(payment.as_str())));
        answer = format!("{answer}{separator}{}:{value}", quoted(name));
    }
    Some(format!("{{\"{NAME}\":{{{answer}}}}}"))
}

#[cfg(test)]
mod tests;
