//! A signed transfer that nobody sold anything for, as others take it: the call data of the token, and a facilitator's
//! request. Nothing is signed and nothing is sent from here.

use bursar_policy::{Authorization, Domain};
use bursar_vault::chain::Word;
use bursar_vault::sign::Signature;
use serde_json::{Map, Value, json};

use super::json;

/// `transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)` (EIP-3009).
const TRANSFER_WITH_AUTHORIZATION: [u8; 4] = [0xe3, 0xee, 0x16, 0x0e];

/// The longest word of a facilitator's that is kept, in bytes.
const WORD_MAX_BYTES: usize = 256;

/// The call that makes the transfer, from whatever account pays the fee for it (EIP-3009). The token takes it once.
#[must_use]
pub fn call_data(authorization: &Authorization, signature: &Signature) -> Vec<u8> {
    let Authorization { from, to, value, valid_after, valid_before, nonce } = authorization;
    let (rs, v) = signature.as_bytes().split_at(64);
    let numbers = [u128::from(*valid_after), u128::from(*valid_before)].map(Word::of_number);
    let mut data = TRANSFER_WITH_AUTHORIZATION.to_vec();
    for word in [Word::of_address(*from), Word::of_address(*to), Word::of_number(value.units())] {
        data.extend_from_slice(&word.0);
    }
    for word in numbers.into_iter().chain([Word(*nonce)]) {
        data.extend_from_slice(&word.0);
    }
    data.extend_from_slice(&Word::of_number(v.iter().copied().map(u128::from).sum()).0);
    data.extend_from_slice(rs);
    data
}

/// What is signed, member by member as x402 writes it: strings all, addresses with their EIP-55 checksum.
#[must_use]
pub fn members(authorization: &Authorization) -> Map<String, Value> {
    let Authorization { from, to, value, valid_after, valid_before, nonce } = authorization;
    [
        ("from", from.to_string()),
        ("to", to.to_string()),
        ("value", value.units().to_string()),
        ("validAfter", valid_after.to_string()),
        ("validBefore", valid_before.to_string()),
        ("nonce", format!("0x{}", hex::encode(nonce))),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), Value::String(value)))
    .collect()
}

/// The request to a facilitator's `/settle` (x402 version 2, scheme `exact`): the transfer as the payment of an offer that
/// asks for exactly it. Of a life that is over it says a second.
#[must_use]
pub fn settle_request(authorization: &Authorization, domain: &Domain, signature: &Signature, now_s: u64) -> Value {
    let Authorization { to, value, valid_before, .. } = authorization;
    let wanted = json!({
        "scheme": "exact",
        "network": domain.chain.to_string(),
        "asset": domain.contract.to_string(),
        "amount": value.units().to_string(),
        "payTo": to.to_string(),
        "maxTimeoutSeconds": valid_before.saturating_sub(now_s).max(1),
        "extra": { "name": domain.name, "version": domain.version },
    });
    let payload = json!({
        "x402Version": 2,
        "accepted": wanted,
        "payload": { "signature": signature.to_string(), "authorization": members(authorization) },
    });
    json!({ "x402Version": 2, "paymentPayload": payload, "paymentRequirements": wanted })
}

/// What a facilitator claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handed {
    /// It settled, by this transaction as it says; empty where it names none.
    Settled(String),
    /// It did not, for this reason in its own words.
    Refused(String),
}

/// Reads a facilitator's answer, which has to say one thing; or what is wrong with it.
///
/// # Errors
///
/// A sentence's end in our words.
pub fn settle_answer(body: &[u8]) -> Result<Handed, String> {
    let text = json::check(body).map_err(|fault| format!("its answer {fault}"))?;
    let members = json::Members::of(text).ok_or("its answer is not an object")?;
    let word = |name| {
        let said: Option<String> = members.present(name).and_then(|text| serde_json::from_str(text).ok());
        said.filter(|said| said.len() <= WORD_MAX_BYTES).unwrap_or_default()
    };
    match members.present("success") {
        Some("true") => Ok(Handed::Settled(word("transaction"))),
        Some("false") => Ok(Handed::Refused(word("errorReason"))),
        _ => Err("its answer does not say whether it settled".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use bursar_policy::{Address, Amount, ChainId, PaymentId, Version};
    use bursar_vault::blank::{Blank, Piece};
    use sha3::{Digest as _, Keccak256};

    use super::*;

    fn signed() -> (Authorization, Signature) {
        let authorization = Authorization {
            from: Address::from_bytes([0x11; 20]),
            to: Address::from_bytes([0x22; 20]),
            value: Amount::new(1_250_000).unwrap(),
            valid_after: 0,
            valid_before: 1_800_000_000,
            nonce: [0x33; 32],
        };
        let signature = format!("0x{}{}1c", "a1".repeat(32), "42".repeat(32));
        (authorization, signature.parse().unwrap())
    }

    #[test]
    fn the_call_is_the_tokens_own_word_for_word() {
        let (authorization, signature) = signed();
        let data = call_data(&authorization, &signature);
        let name = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)";
        assert_eq!(data[..4], Keccak256::digest(name.as_bytes())[..4]);
        let words: Vec<String> = data[4..].chunks(32).map(hex::encode).collect();
        let pad = |digits: &str| format!("{digits:0>64}");
        assert_eq!(
            words,
            [
                pad(&"11".repeat(20)),
                pad(&"22".repeat(20)),
                pad("1312d0"),
                pad("0"),
                pad("6b49d200"),
                "33".repeat(32),
                pad("1c"),
                "a1".repeat(32),
                "42".repeat(32),
            ]
        );
    }

    #[test]
    fn a_facilitator_is_asked_for_exactly_what_is_signed() {
        let (authorization, signature) = signed();
        let contract = Address::from_bytes([0x44; 20]);
        let (name, version) = ("USDC".to_owned(), "2".to_owned());
        let domain = Domain { name, version, chain: ChainId::BASE_SEPOLIA, contract };
        let asked = settle_request(&authorization, &domain, &signature, 1_799_999_000);
        let wanted = &asked["paymentRequirements"];
        assert_eq!(wanted, &asked["paymentPayload"]["accepted"]);
        assert_eq!((&wanted["amount"], &wanted["maxTimeoutSeconds"]), (&json!("1250000"), &json!(1_000)));
        assert_eq!(wanted["payTo"], json!(authorization.to.to_string()));
        // The payload is that of a purchase, whose bytes the vault writes.
        let blank = Blank::new(vec![Piece::Payload]).unwrap();
        let header = blank.fill(Version::V2, &PaymentId::from_random([1; 16]), &authorization, &signature);
        let bought = base64::engine::general_purpose::STANDARD.decode(header.value()).unwrap();
        assert_eq!(asked["paymentPayload"]["payload"], serde_json::from_slice::<Value>(&bought).unwrap());
        let late = settle_request(&authorization, &domain, &signature, u64::MAX);
        assert_eq!(late["paymentRequirements"]["maxTimeoutSeconds"], json!(1));
    }

    #[test]
    fn an_answer_says_one_thing_or_nothing() {
        let read = |text: &str| settle_answer(text.as_bytes());
        let settled = read(r#"{"success":true,"transaction":"0xab","network":"eip155:84532"}"#);
        assert_eq!(settled, Ok(Handed::Settled("0xab".to_owned())));
        let refused = read(r#"{"success":false,"errorReason":"insufficient_funds","transaction":""}"#);
        assert_eq!(refused, Ok(Handed::Refused("insufficient_funds".to_owned())));
        for wrong in ["", "[]", "{}", r#"{"success":"true"}"#, r#"{"success":true,"success":false}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let long = format!(r#"{{"success":true,"transaction":"{}"}}"#, "a".repeat(300));
        assert_eq!(read(&long), Ok(Handed::Settled(String::new())));
    }
}
