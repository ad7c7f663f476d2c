//! Known answers, low s, and signatures that must not recover.

use super::*;

fn key() -> Key {
    Key::from_bytes(&bytes_of("4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318").unwrap()).unwrap()
}

fn authorization(nonce: u8) -> Authorization {
    Authorization {
        from: key().address(),
        to: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C".parse().unwrap(),
        value: Amount::new(10_000).unwrap(),
        valid_after: 0,
        valid_before: 1_740_672_154,
        nonce: [nonce; 32],
    }
}

fn domain() -> Domain {
    let (name, chain, contract, ..) = KNOWN[0];
    Domain { name: name.into(), version: "2".into(), chain: ChainId::new(chain), contract: contract.parse().unwrap() }
}

#[test]
fn the_self_test_passes_and_would_notice_a_wrong_answer() {
    assert_eq!(self_test(), Ok(()));
    assert_eq!(known_answers(), Some(true));
    let other = key().sign_authorization(&authorization(0x12), &domain()).unwrap();
    assert_ne!(other.to_string(), format!("0x{}", KNOWN[0].4), "another nonce has another signature");
}

#[test]
fn every_signature_is_low_s_has_v_27_or_28_and_recovers() {
    let mut seen = [false; 2];
    for nonce in 0..=64 {
        let authorization = authorization(nonce);
        let made = key().sign_authorization(&authorization, &domain()).unwrap();
        let v = made.as_bytes()[64];
        assert!(v == 27 || v == 28);
        seen[usize::from(v) - 27] = true;
        let pair = k256::ecdsa::Signature::from_slice(&made.as_bytes()[..64]).unwrap();
        assert!(pair.normalize_s().is_none(), "low s");
        assert_eq!(recover(&authorization.digest(&domain()), &made), Some(key().address()));
    }
    assert_eq!(seen, [true, true]);
}

#[test]
fn the_high_s_twin_and_a_foreign_v_do_not_recover() {
    let authorization = authorization(1);
    let digest = authorization.digest(&domain());
    let made = key().sign_authorization(&authorization, &domain()).unwrap();
    let pair = k256::ecdsa::Signature::from_slice(&made.as_bytes()[..64]).unwrap();
    let high = k256::ecdsa::Signature::from_scalars(pair.r().to_bytes(), (-*pair.s()).to_bytes()).unwrap();
    let mut bytes = [0_u8; 65];
    bytes[..64].copy_from_slice(&high.to_bytes());
    for v in [27, 28] {
        bytes[64] = v;
        assert_eq!(recover(&digest, &Signature(bytes)), None);
    }
    for v in [0, 1, 26, 29, 255] {
        let mut bytes = *made.as_bytes();
        bytes[64] = v;
        assert_eq!(recover(&digest, &Signature(bytes)), None, "v {v}");
    }
    assert_eq!(recover(&digest, &Signature([0; 65])), None);
}

/// Keys, digests, signatures and bytes that are none: what is written out here and the library's own recovery agree.
#[test]
fn recovery_is_the_librarys() {
    for round in 0_u8..48 {
        let key = Key::generate().unwrap();
        let digest = [round.wrapping_mul(37); 32];
        let (mut pair, right) = key.signing.sign_prehash_recoverable(&digest).unwrap();
        if round % 3 == 0 {
            // An r and an s of nobody's choosing; half of all r are no point of the curve.
            let bytes = [[round | 1; 32], [round.wrapping_add(3) & 0x7f; 32]].concat();
            pair = k256::ecdsa::Signature::from_slice(&bytes).unwrap();
        }
        for parity in [0, 1] {
            let recovery = k256::ecdsa::RecoveryId::new(parity == 1, false);
            let theirs = VerifyingKey::recover_from_prehash(&digest, &pair, recovery).ok();
            assert_eq!(maker_of(&digest, &pair, parity), theirs, "{round} {parity}");
        }
        let ours = maker_of(&digest, &pair, u8::from(right.is_y_odd()));
        assert_eq!(ours == Some(*key.signing.verifying_key()), round % 3 != 0, "{round}");
    }
}

#[test]
fn another_digest_recovers_to_another_account() {
    let made = key().sign_authorization(&authorization(1), &domain()).unwrap();
    assert_ne!(recover(&authorization(2).digest(&domain()), &made), Some(key().address()));
}

#[test]
fn a_signature_has_one_text_and_no_debug() {
    let made = key().sign_authorization(&authorization(1), &domain()).unwrap();
    let text = made.to_string();
    assert_eq!(text.len(), 132);
    assert_eq!(text.parse::<Signature>().unwrap(), made);
    assert!(text[2..].parse::<Signature>().is_err());
    assert!(text[..130].parse::<Signature>().is_err(), "64 bytes are not a signature");
    assert!(!format!("{made:?}").contains(&text[2..10]));
}

#[test]
fn zero_and_the_curve_order_are_no_keys_and_fresh_keys_differ() {
    assert!(Key::from_bytes(&[0; 32]).is_none());
    assert!(Key::from_bytes(&[0xff; 32]).is_none());
    assert_ne!(Key::generate().unwrap().address(), Key::generate().unwrap().address());
}

#[test]
fn only_a_signature_of_somebody_else_leaves_the_money_counted() {
    for nothing in [SignFault::Failed, SignFault::OtherAccount, SignFault::OtherAsset] {
        assert!(nothing.nothing_was_signed(), "{nothing}");
        assert!(!nothing.to_string().contains("unresolved"), "{nothing}");
    }
    assert!(!SignFault::Mismatch.nothing_was_signed());
}
