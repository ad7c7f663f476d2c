//! Every field of a signed payment is bent once, and each bend is found.

#![expect(clippy::arithmetic_side_effects, reason = "these are tests")]

use bursar_policy::rules::draft::Draft;
use bursar_policy::{Amount, PaymentId, Setting, Version};
use k256::ecdsa::SigningKey;
use sha3::{Digest as _, Keccak256};

use super::*;

const NOW_S: u64 = 1_800_000_000;
const LIFE_S: u64 = 60;
const ASSET: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

fn rules() -> Rules {
    let text = format!(
        "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:84532\"]\n\
         assets = [\"eip155:84532/erc20:{ASSET}\"]\nallow_any_recipient = true\nallow_any_host = true\n"
    );
    let draft: Draft = toml::from_str(&text).unwrap();
    Rules::new(draft, Setting::Sandbox).unwrap()
}

fn key() -> SigningKey {
    SigningKey::from_slice(&[7; 32]).unwrap()
}

fn payer() -> Address {
    let point = key().verifying_key().to_encoded_point(false);
    let hash = Keccak256::digest(&point.as_bytes()[1..]);
    Address::from_bytes(hash[12..].try_into().unwrap())
}

fn terms(version: Version) -> Terms {
    Terms {
        version,
        offer: 0,
        chain: "eip155:84532".parse().unwrap(),
        asset: ASSET.parse().unwrap(),
        payee: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C".parse().unwrap(),
        amount: Amount::new(10_000).unwrap(),
        max_timeout_s: LIFE_S,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

/// What an honest vault answers at `counted_s`.
fn signed(terms: &Terms, counted_s: u64) -> Signed {
    let (valid_after, valid_before) = validity(terms.version, counted_s, terms.max_timeout_s, 300).unwrap();
    let authorization = Authorization {
        from: payer(),
        to: terms.payee,
        value: terms.amount,
        valid_after,
        valid_before,
        nonce: [9; 32],
    };
    let domain = known_domain(&rules(), terms).unwrap();
    let (pair, recovery) = key().sign_prehash_recoverable(&authorization.digest(&domain)).unwrap();
    let mut bytes = pair.to_bytes().to_vec();
    bytes.push(recovery.to_byte() + 27);
    Signed {
        payment: PaymentId::from_random([1; 16]),
        authorization,
        signature: format!("0x{}", hex::encode(bytes)),
        payer: payer(),
        domain,
        version: terms.version,
        envelope: String::new(),
        terms: terms.clone(),
        signed_at_s: counted_s,
    }
}

fn fields(signed: &Signed, terms: &Terms) -> Result<(), Mismatch> {
    signed_as_judged(signed, terms, &rules(), Some(payer()))
}

#[test]
fn what_an_honest_vault_signs_passes() {
    for version in [Version::V1, Version::V2] {
        let terms = terms(version);
        let signed = signed(&terms, NOW_S);
        assert_eq!(fields(&signed, &terms), Ok(()));
        assert_eq!(window_as_judged(&signed.authorization, &terms, &rules(), NOW_S), Ok(()));
    }
}

#[test]
fn a_signature_that_took_until_the_next_second_passes() {
    for version in [Version::V1, Version::V2] {
        let terms = terms(version);
        let late = Signed { signed_at_s: NOW_S + 1, ..signed(&terms, NOW_S) };
        assert_eq!(fields(&late, &terms), Ok(()));
        assert_eq!(window_as_judged(&late.authorization, &terms, &rules(), NOW_S + 1), Ok(()));
    }
}

#[test]
fn every_bent_field_is_found() {
    let terms = terms(Version::V2);
    let honest = signed(&terms, NOW_S);
    let stranger: Address = "0x2222222222222222222222222222222222222222".parse().unwrap();
    let bent = |bend: &dyn Fn(&mut Signed)| {
        let mut signed = honest.clone();
        bend(&mut signed);
        fields(&signed, &terms).unwrap_err().0
    };
    assert_eq!(bent(&|signed| signed.terms.amount = Amount::new(10_001).unwrap()), "terms");
    assert_eq!(bent(&|signed| signed.version = Version::V1), "version");
    assert_eq!(bent(&|signed| signed.payer = stranger), "from");
    assert_eq!(bent(&|signed| signed.authorization.from = stranger), "from");
    assert_eq!(bent(&|signed| signed.authorization.to = stranger), "to");
    assert_eq!(bent(&|signed| signed.authorization.value = Amount::new(9_999).unwrap()), "value");
    assert_eq!(bent(&|signed| signed.domain.name = "USD Coin".to_owned()), "domain");
    assert_eq!(bent(&|signed| signed.domain.contract = stranger), "domain");
    assert_eq!(bent(&|signed| signed.authorization.nonce = [8; 32]), "signature");
    assert_eq!(bent(&|signed| signed.authorization.valid_before += 1), "signature");
    assert_eq!(bent(&|signed| signed.signature.truncate(130)), "signature");
    assert_eq!(bent(&|signed| signed.signature.clear()), "signature");
    assert_eq!(signed_as_judged(&honest, &terms, &rules(), None).unwrap_err().0, "from");
}

#[test]
fn a_window_that_is_longer_older_or_later_than_the_rules_allow_is_found() {
    let terms = terms(Version::V1);
    let honest = signed(&terms, NOW_S).authorization;
    let window = |authorization: &Authorization, now_s| window_as_judged(authorization, &terms, &rules(), now_s);
    let longer = Authorization { valid_before: honest.valid_before + CLOCK_SLACK_S + 1, ..honest.clone() };
    assert_eq!(window(&longer, NOW_S), Err(Mismatch("valid_before")));
    let open = Authorization { valid_after: 0, ..honest.clone() };
    assert_eq!(window(&open, NOW_S), Err(Mismatch("valid_after")));
    assert_eq!(window(&honest, NOW_S + CLOCK_SLACK_S + 1), Err(Mismatch("valid_before")));
    assert_eq!(window(&honest, NOW_S + 120), Ok(()), "two minutes are the ledger's own tolerance");
}
