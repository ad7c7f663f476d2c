//! How a token with EIP-3009 is asked, and what its logs mean. Must never be used to make a transaction.

use bursar_policy::chain::Address;

use super::{Log, Word};

/// `AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)` (EIP-3009).
pub const USED: Word = Word(topic("98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"));
/// `AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)` (EIP-3009).
pub const CANCELED: Word = Word(topic("1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81"));
/// `Transfer(address indexed from, address indexed to, uint256 value)` (ERC-20).
pub const TRANSFER: Word = Word(topic("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"));

/// `authorizationState(address,bytes32)` (EIP-3009).
const AUTHORIZATION_STATE: [u8; 4] = [0xe9, 0x4a, 0x01, 0x02];
/// `balanceOf(address)` (ERC-20).
const BALANCE_OF: [u8; 4] = [0x70, 0xa0, 0x82, 0x31];

/// The call that asks whether the authorization `nonce` of `payer` was used or cancelled.
#[must_use]
pub fn authorization_state(payer: Address, nonce: [u8; 32]) -> Vec<u8> {
    [AUTHORIZATION_STATE.as_slice(), &Word::of_address(payer).0, &nonce].concat()
}

/// The call that asks what `holder` has.
#[must_use]
pub fn balance_of(holder: Address) -> Vec<u8> {
    [BALANCE_OF.as_slice(), &Word::of_address(holder).0].concat()
}

/// A Boolean answer; `None` for anything but exactly one word that is 0 or 1.
#[must_use]
pub fn boolean(answer: &[u8]) -> Option<bool> {
    match number(answer)? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// A whole number; `None` for anything but exactly one word. What is beyond `u128` is the largest number there.
#[must_use]
pub fn number(answer: &[u8]) -> Option<u128> {
    let word: [u8; 32] = answer.try_into().ok()?;
    let (high, low) = word.split_at_checked(16)?;
    let low: [u8; 16] = low.try_into().ok()?;
    Some(if high.iter().all(|byte| *byte == 0) { u128::from_be_bytes(low) } else { u128::MAX })
}

/// Whether `log` of `token` says that the authorization `nonce` of `payer` was used, or that it was cancelled, by `kind`.
#[must_use]
pub fn is_about(log: &Log, token: Address, kind: Word, payer: Address, nonce: [u8; 32]) -> bool {
    log.contract == token && log.topics == [kind, Word::of_address(payer), Word(nonce)]
}

/// Whether `log` of `token` says that exactly `units` went from `payer` to `payee`.
#[must_use]
pub fn is_transfer(log: &Log, token: Address, payer: Address, payee: Address, units: u128) -> bool {
    log.contract == token
        && log.topics == [TRANSFER, Word::of_address(payer), Word::of_address(payee)]
        && log.data == Word::of_number(units).0
}

/// 64 hex digits at compile time; anything else does not compile.
const fn topic(digits: &str) -> [u8; 32] {
    const fn value(digit: u8) -> u8 {
        match digit {
            b'0'..=b'9' => digit.wrapping_sub(b'0'),
            b'a'..=b'f' => digit.wrapping_sub(b'a').wrapping_add(10),
            _ => 0,
        }
    }
    let mut bytes = [0; 32];
    let mut rest = digits.as_bytes();
    let mut left = bytes.as_mut_slice();
    while let ([high, low, more @ ..], [byte, after @ ..]) = (rest, left) {
        *byte = (value(*high) << 4) | value(*low);
        (rest, left) = (more, after);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use sha3::{Digest as _, Keccak256};

    use super::*;

    #[test]
    fn topics_and_selectors_are_those_of_their_signatures() {
        let hash = |signature: &str| -> [u8; 32] { Keccak256::digest(signature.as_bytes()).into() };
        for (topic, signature) in [
            (USED, "AuthorizationUsed(address,bytes32)"),
            (CANCELED, "AuthorizationCanceled(address,bytes32)"),
            (TRANSFER, "Transfer(address,address,uint256)"),
        ] {
            assert_eq!(topic.0, hash(signature), "{signature}");
        }
        assert_eq!(AUTHORIZATION_STATE, hash("authorizationState(address,bytes32)")[..4]);
        assert_eq!(BALANCE_OF, hash("balanceOf(address)")[..4]);
    }

    #[test]
    fn an_answer_is_one_word_or_none() {
        let word = |number| Word::of_number(number).0;
        assert_eq!((boolean(&word(0)), boolean(&word(1)), boolean(&word(2))), (Some(false), Some(true), None));
        for wrong in [&[][..], &[0; 31], &[0; 33], &[0; 64]] {
            assert_eq!((boolean(wrong), number(wrong)), (None, None), "{wrong:?}");
        }
        assert_eq!(number(&word(u128::MAX)), Some(u128::MAX));
        let mut huge = word(7);
        huge[15] = 1;
        assert_eq!((number(&huge), boolean(&huge)), (Some(u128::MAX), None), "never less than it is");
    }
}
