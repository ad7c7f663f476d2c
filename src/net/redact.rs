//! Takes the secrets of a request out of its answer. Must never let one pass because the answer came in pieces.
//!
//! A secret is found as it is, percent-encoded (RFC 3986), escaped as in JSON (RFC 8259), in any mixture of the three,
//! and inside base64 (RFC 4648, both alphabets, padded or not) wherever in it the secret begins. Each byte that is found
//! becomes a `*`, so lengths stay what they were. A seller that hides a secret in another way, or in two parts, still can.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

const STAR: u8 = b'*';

/// Where the answer ends, a secret that only began is taken out too when so many characters of it are there: it may be
/// the cap that cut it.
const BEGUN_MIN: usize = 4;

/// What is looked for. Has no printable form, and is wiped when dropped.
pub(super) struct Redactor {
    needles: Vec<Needle>,
    /// Whether something that is looked for can begin with a byte.
    begins: [bool; 256],
}

/// One form of a secret, byte by byte: each may be either of two.
struct Needle {
    bytes: Zeroizing<Vec<[u8; 2]>>,
    /// It holds a byte that encodings begin with, so it has to be looked for without decoding as well.
    plain_too: bool,
}

/// How the answer is read.
#[derive(Clone, Copy)]
enum Reading {
    /// Every byte is what it is.
    Plain,
    /// What is encoded is decoded.
    Decoded,
}

/// The next byte of an answer as it is read.
enum Next {
    /// This one, written in so many bytes.
    Is(u8, usize),
    /// The answer stops within it.
    Cut,
}

/// How much of a needle stands at a place.
enum Stands {
    /// All of it, in so many bytes.
    Whole(usize),
    /// So many of its bytes, and there the answer stops.
    Begun(usize),
    No,
}

impl Redactor {
    /// Looks for each of `secrets`.
    pub(super) fn of<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let needles: Vec<Needle> = secrets.flat_map(forms).collect();
        let mut begins = [false; 256];
        let first = needles.iter().filter_map(|needle| needle.bytes.first()).flatten();
        for byte in first.chain(b"%\\") {
            if let Some(begin) = begins.get_mut(usize::from(*byte)) {
                *begin = true;
            }
        }
        Self { needles, begins }
    }

    /// Takes every secret out of a header's value. One that is a base64 document with a secret in it, in whatever form,
    /// goes as a whole.
    pub(super) fn clean_header(&self, value: &mut [u8]) {
        self.clean(value, true);
        let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        let Some(document) = engines.iter().find_map(|engine| engine.decode(value.trim_ascii()).ok()) else { return };
        let mut cleaned = document.clone();
        self.clean(&mut cleaned, true);
        if cleaned != document {
            value.fill(STAR);
        }
    }

    /// Takes every secret out of `text`, and says how much of it from its start is settled: all of it where this is the
    /// end, else up to where a secret may have begun.
    fn clean(&self, text: &mut [u8], is_end: bool) -> usize {
        let mut at = 0_usize;
        let begins = |byte: &u8| self.begins.get(usize::from(*byte)).copied().unwrap_or_default();
        while let Some(next) = text.get(at..).and_then(|rest| rest.iter().position(begins)) {
            at = at.saturating_add(next);
            let Some(rest) = text.get_mut(at..) else { break };
            let taken = match self.stands(rest) {
                (_, 1..) if !is_end => return at,
                (_, BEGUN_MIN..) => rest.len(),
                (0, _) => {
                    at = at.saturating_add(1);
                    continue;
                }
                (whole, _) => whole,
            };
            rest.iter_mut().take(taken).for_each(|byte| *byte = STAR);
            at = at.saturating_add(taken);
        }
        text.len()
    }

    /// The length of the longest form of a secret that stands at the start of `rest`, and how much of one began there.
    fn stands(&self, rest: &[u8]) -> (usize, usize) {
        let (mut whole, mut begun) = (0, 0);
        for needle in self.needles.iter().filter(|needle| needle.may_begin(rest)) {
            let plain = needle.plain_too.then_some(Reading::Plain);
            for reading in plain.into_iter().chain([Reading::Decoded]) {
                match needle.stands(rest, reading) {
                    Stands::Whole(length) => whole = length.max(whole),
                    Stands::Begun(count) => begun = count.max(begun),
                    Stands::No => {}
                }
            }
        }
        (whole, begun)
    }
}

impl Needle {
    fn new(bytes: impl Iterator<Item = [u8; 2]>) -> Self {
        let bytes = Zeroizing::new(bytes.collect::<Vec<_>>());
        let plain_too = bytes.iter().flatten().any(|byte| b"%\\".contains(byte));
        Self { bytes, plain_too }
    }

    /// Whether the first byte of `rest` is its first one, or may be the start of an encoding.
    fn may_begin(&self, rest: &[u8]) -> bool {
        let Some(byte) = rest.first() else { return false };
        b"%\\".contains(byte) || self.bytes.first().is_some_and(|either| either.contains(byte))
    }

    fn stands(&self, rest: &[u8], reading: Reading) -> Stands {
        let mut at = 0_usize;
        for (count, either) in self.bytes.iter().enumerate() {
            match next(rest.get(at..).unwrap_or_default(), reading) {
                Next::Is(byte, length) if either.contains(&byte) => at = at.saturating_add(length),
                Next::Is(..) => return Stands::No,
                // Cut before its first byte was read, an encoding may still turn out to be that one.
                Next::Cut => return Stands::Begun(count.max(1)),
            }
        }
        Stands::Whole(at)
    }
}

/// The forms of a secret: its bytes, and the characters of base64 that it alone decides, for each of the three places in
/// a group at which it can begin.
fn forms(secret: &str) -> Vec<Needle> {
    let mut forms = vec![Needle::new(secret.bytes().map(|byte| [byte, byte]))];
    for (before, undecided) in [(0_usize, 0_usize), (1, 2), (2, 3)] {
        let mut shifted = Zeroizing::new(vec![0_u8; before]);
        shifted.extend_from_slice(secret.as_bytes());
        let decided = shifted.len().saturating_mul(8).div_euclid(6);
        let encoded = Zeroizing::new(STANDARD_NO_PAD.encode(shifted.as_slice()));
        forms.push(Needle::new(encoded.bytes().take(decided).skip(undecided).map(|byte| match byte {
            b'+' => [b'+', b'-'],
            b'/' => [b'/', b'_'],
            other => [other, other],
        })));
    }
    forms
}

/// The byte that stands at the start of `rest`.
fn next(rest: &[u8], reading: Reading) -> Next {
    let Some(first) = rest.first() else { return Next::Cut };
    match (reading, rest) {
        (Reading::Decoded, [b'%', digits @ ..]) => hex(digits, 2).map_or(Next::Is(b'%', 1), |found| found.behind(1)),
        (Reading::Decoded, [b'\\']) => Next::Cut,
        (Reading::Decoded, [b'\\', b'u', digits @ ..]) => {
            hex(digits, 4).map_or(Next::Is(b'\\', 1), |found| found.behind(2))
        }
        (Reading::Decoded, [b'\\', escaped @ (b'"' | b'\\' | b'/'), ..]) => Next::Is(*escaped, 2),
        _ => Next::Is(*first, 1),
    }
}

/// A byte written in so many hexadecimal digits; nothing where other characters stand there or it is no byte.
fn hex(digits: &[u8], count: usize) -> Option<Next> {
    let mut value = 0_u8;
    for place in 0..count {
        let Some(digit) = digits.get(place) else { return Some(Next::Cut) };
        let digit = u8::try_from(char::from(*digit).to_digit(16)?).ok()?;
        value = value.checked_mul(16)?.checked_add(digit)?;
    }
    Some(Next::Is(value, count))
}

impl Next {
    /// The same with so many bytes in front of it.
    const fn behind(self, bytes: usize) -> Self {
        match self {
            Self::Is(byte, length) => Self::Is(byte, length.saturating_add(bytes)),
            Self::Cut => Self::Cut,
        }
    }
}

/// An answer's body that passes piece by piece. Keeps back no more than a secret that may have begun.
pub(super) struct Redaction {
    redactor: Arc<Redactor>,
    held: Vec<u8>,
}

impl Redaction {
    pub(super) const fn by(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Vec::new() }
    }

    /// Takes the next piece, and gives what is settled by now.
    pub(super) fn pass(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(piece);
        let settled = self.redactor.clean(&mut text, false);
        self.held = text.split_off(settled);
        text
    }

    /// What was kept back, once nothing more comes.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.held);
        self.redactor.clean(&mut text, true);
        text
    }
}

#[cfg(test)]
mod tests;
