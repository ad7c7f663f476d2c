//! What holds for any header value: it is one text of standard base64, or it is refused for the right reason.

use bursar::wire::header::MAX_HEADER_BYTES;
use bursar::wire::{Claim, Found, Unreadable, read, read_claim};

use super::answer::Answer;
use super::base64;

const TERMS: &str = "payment-required";

/// Takes `bytes` as the value of the headers that carry documents.
///
/// # Panics
///
/// Where a property does not hold.
pub fn holds(bytes: &[u8]) {
    let nothing = Answer { headers: Vec::new(), body: b"no terms here".to_vec() };
    let answer = nothing.with(TERMS, bytes);
    let found = read(answer.view(), &answer.body);
    let value = bytes.trim_ascii();

    assert_eq!(answer.view().all(TERMS).collect::<Vec<_>>(), [value], "a view trims and changes nothing else");
    let padded = nothing.with(TERMS, [b" \t", value, b" "].concat());
    assert_eq!(read(padded.view(), &padded.body), found, "spaces around a value mean nothing");

    if value.is_empty() {
        assert_eq!(found, read(nothing.view(), &nothing.body), "an empty value says nothing");
        return;
    }
    let twice = answer.with("Payment-Required", bytes);
    assert_eq!(read(twice.view(), &twice.body), Err(Unreadable::TwoHeaders), "two values are never one");
    if value.len() > MAX_HEADER_BYTES {
        assert_eq!(found, Err(Unreadable::HeaderTooLong));
        return;
    }
    let Some(document) = base64::decoded(value) else {
        let mut parts = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        let joined = value.contains(&b',') && parts.all(|part| base64::decoded(part).is_some());
        let why = if joined { Unreadable::TwoHeaders } else { Unreadable::NotBase64 };
        assert_eq!(found, Err(why));
        let claim = nothing.with("payment-response", bytes);
        assert!(matches!(read_claim(claim.view()), Claim::Unclear(_)), "a claim is read from base64 only");
        return;
    };
    reads_as_its_document(&nothing, value, &document, &found);
}

/// What was decoded is what is read, and it has one encoding but for the padding.
fn reads_as_its_document(nothing: &Answer, value: &[u8], document: &[u8], found: &Result<Found, Unreadable>) {
    use Unreadable as No;
    assert!(!matches!(found, Ok(Found::NotX402(_)) | Err(No::NotBase64 | No::TwoHeaders | No::HeaderTooLong)));
    let again = base64::encoded(document);
    let bare = |text: &[u8]| text.iter().filter(|letter| **letter != b'=').copied().collect::<Vec<_>>();
    assert_eq!(bare(again.as_bytes()), bare(value), "two texts stand for one document");
    if again.len() <= MAX_HEADER_BYTES {
        let again = nothing.with(TERMS, again);
        assert_eq!(&read(again.view(), b"another body"), found, "padding changed what was read");
    }
    // A body is searched for the name as it is usually spelled; a header is known to hold terms without that.
    let named = document.windows(11).any(|word| word == b"x402Version");
    if let (Ok(Found::Demand(_)), true) = (found, named) {
        assert_eq!(&read(nothing.view(), document), found, "the header says something else than its document");
    }
}
