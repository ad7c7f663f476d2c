//! Reads a payment header the way a strict facilitator does and compares it with what was asked.
//!
//! It must never accept a field that differs from the offer: the demo proves that bursar's bytes hold up to this.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_policy::authorization::Authorization;
use bursar_policy::chain::Address;
use bursar_policy::money::Amount;
use serde_json::Value;

use super::shelf::Edition;
use super::terms::Asked;

/// A payment as the buyer presented it. Decoded, compared with nothing yet.
#[derive(Debug)]
pub(crate) struct Presented {
    edition: Edition,
    document: Value,
    /// The six signed fields.
    pub(crate) authorization: Authorization,
    /// The signature as sent: `0x` and 130 hexadecimal digits when it is well formed.
    pub(crate) signature: String,
}

/// Why the facilitator turned a payment down, as an x402 reason code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Declined(pub(crate) &'static str);

const UNREADABLE: Declined = Declined("invalid_payload");
const UNMATCHED: Declined = Declined("No matching payment requirements");

impl Presented {
    /// Decodes standard padded base64 of a JSON document with an EIP-3009 payload.
    pub(crate) fn read(edition: Edition, header: &str) -> Result<Self, Declined> {
        let bytes = STANDARD.decode(header).map_err(|_| UNREADABLE)?;
        let document: Value = serde_json::from_slice(&bytes).map_err(|_| UNREADABLE)?;
        if document.get("x402Version").and_then(Value::as_u64) != Some(edition.number()) {
            return Err(Declined("invalid_x402_version"));
        }
        let payload = document.get("payload").ok_or(UNREADABLE)?;
        let authorization = authorization(payload.get("authorization").ok_or(UNREADABLE)?).ok_or(UNREADABLE)?;
        let signature = payload.get("signature").and_then(Value::as_str).ok_or(UNREADABLE)?.to_owned();
        Ok(Self { edition, document, authorization, signature })
    }

    /// Checks that this payment answers exactly `asked`: the echo, the payee and the amount.
    pub(crate) fn answers(&self, asked: &Asked) -> Result<(), Declined> {
        if !self.echoes(&asked.requirement) {
            return Err(UNMATCHED);
        }
        if self.authorization.to != asked.payee {
            return Err(Declined("invalid_exact_evm_recipient_mismatch"));
        }
        if self.authorization.value.units() != asked.units {
            return Err(Declined("invalid_exact_evm_payload_authorization_value_mismatch"));
        }
        Ok(())
    }

    /// Version 2 repeats the whole requirement, unknown members included; version 1 only its scheme and network.
    fn echoes(&self, requirement: &Value) -> bool {
        match self.edition {
            Edition::V1 => ["scheme", "network"]
                .into_iter()
                .all(|member| self.document.get(member).is_some_and(|said| Some(said) == requirement.get(member))),
            Edition::V2 => self.document.get("accepted") == Some(requirement),
        }
    }
}

fn authorization(said: &Value) -> Option<Authorization> {
    let text = |member: &str| said.get(member).and_then(Value::as_str);
    let hex_nonce = text("nonce")?.strip_prefix("0x")?;
    let nonce = <[u8; 32]>::try_from(hex::decode(hex_nonce).ok()?).ok()?;
    Some(Authorization {
        from: text("from")?.parse::<Address>().ok()?,
        to: text("to")?.parse::<Address>().ok()?,
        value: Amount::parse(text("value")?).ok()?,
        valid_after: text("validAfter")?.parse().ok()?,
        valid_before: text("validBefore")?.parse().ok()?,
        nonce,
    })
}
