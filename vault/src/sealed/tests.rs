//! What was sealed opens with its passphrase alone, whole or not at all.

use proptest::prelude::*;

use super::*;

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(Zeroizing::new(text.to_owned()))
}

fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    seal(&mut &bytes[..], &mut out, &passphrase("right"), Setting::Sandbox).unwrap();
    out
}

fn opened(bytes: &[u8], with: &str) -> Result<Vec<u8>, SealFault> {
    let mut out = Vec::new();
    open(&mut &bytes[..], &mut out, &passphrase(with)).map(|()| out)
}

#[test]
fn every_length_around_a_chunk_opens_again() {
    for length in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, 2 * CHUNK_BYTES + 7] {
        let bytes: Vec<u8> = (0..length).map(|place| u8::try_from(place % 251).unwrap()).collect();
        assert_eq!(opened(&sealed(&bytes), "right").unwrap(), bytes, "{length}");
    }
}

#[test]
fn another_passphrase_opens_nothing() {
    assert!(matches!(opened(&sealed(b"books"), "wrong"), Err(SealFault::Passphrase)));
}

#[test]
fn a_file_that_was_cut_or_changed_anywhere_does_not_open() {
    let whole = sealed(&vec![7; CHUNK_BYTES + 100]);
    for place in (0..300).chain((300..whole.len()).step_by(4099)) {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        assert!(opened(&changed, "right").is_err(), "byte {place}");
        assert!(opened(&whole[..place], "right").is_err(), "cut at {place}");
    }
    let second = whole.len() - (100 + TAG_BYTES);
    assert!(matches!(opened(&whole[..second], "right"), Err(SealFault::Damaged)), "the last chunk is missing");
    let mut longer = whole;
    longer.push(0);
    assert!(opened(&longer, "right").is_err());
}

#[test]
fn a_cost_that_would_eat_the_machine_is_not_paid() {
    let text = String::from_utf8_lossy(&sealed(b"x")[..80]).into_owned();
    let dear = text.replacen(" 10\n", " 30\n", 1);
    assert_ne!(text, dear);
    assert!(matches!(opened(dear.as_bytes(), "right"), Err(SealFault::Foreign)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_open_nothing(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(opened(&bytes, "right").is_err());
        prop_assert!(opened(&[INTRO.as_bytes(), &bytes].concat(), "right").is_err());
    }
}

/// Made by the `age` format's implementation in Rust (`rage`), by way of pyrage 1.4.0: a line, a hundred times.
#[test]
fn a_file_that_another_implementation_sealed_opens() {
    let foreign = include_bytes!("by-rage.age");
    assert_eq!(opened(foreign, "correct horse").unwrap(), b"the books\n".repeat(100));
}
