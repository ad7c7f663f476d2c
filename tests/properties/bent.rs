//! Good inputs bent out of shape: pieces dropped, doubled, swapped, or put in place of others. Must never make a panic of
//! its own.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Values that readers like to get wrong, for any place of a document.
const WORDS: &[&str] = &[
    "null",
    "true",
    "0",
    "-1",
    "1e3",
    "10000.0",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "[]",
    "{}",
    "\"\"",
    "\"10000\"",
    "\"010000\"",
    "\"1.5 USD\"",
    "\"0.000000000000000001 USD\"",
    "\"*\"",
    "\"exact\"",
    "\"payTo\"",
    "\"amount\"",
    "\"maxAmountRequired\"",
    "\"x402Version\"",
    "\"resource\"",
    "\"https://other.test/\"",
    "\"https://api.seller.test./\"",
    "\"0x0000000000000000000000000000000000000000\"",
    "\"eip155:8453\"",
    "\"lifetime\"",
    "\"month\"",
    "\"999999999d\"",
    "\"Europe/Berlin\"",
    "\"\\ud800\"",
    "\"\\u001b[31m\\u0000\"",
    "\u{202e}",
    "\u{feff}",
    "\"",
    "#",
    "\n\n",
];

#[derive(Clone, Debug)]
enum Bend {
    Drop(Index),
    Double(Index),
    Swap(Index, Index),
    Replace(Index, &'static str),
    Byte(Index, u8),
}

/// One of `seeds`, bent up to six times by the line or by the word.
pub fn bent(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let at = any::<Index>;
    let bend = prop_oneof![
        1 => at().prop_map(Bend::Drop),
        1 => at().prop_map(Bend::Double),
        1 => (at(), at()).prop_map(|(one, other)| Bend::Swap(one, other)),
        3 => (at(), select(WORDS)).prop_map(|(place, word)| Bend::Replace(place, word)),
        1 => (at(), any::<u8>()).prop_map(|(place, byte)| Bend::Byte(place, byte)),
    ];
    let bends = prop::collection::vec((prop::bool::weighted(0.3), bend), 0..7);
    (select(seeds), bends).prop_map(|(seed, bends)| {
        bends.into_iter().fold(seed, |bytes, (by_line, bend)| bend.applied(&bytes, if by_line { line } else { word }))
    })
}

impl Bend {
    fn applied(&self, bytes: &[u8], piece: fn(&[u8]) -> usize) -> Vec<u8> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (one, after) = rest.split_at(piece(rest).clamp(1, rest.len()));
            pieces.push(one);
            rest = after;
        }
        if pieces.is_empty() {
            return Vec::new();
        }
        let count = pieces.len();
        let place = |index: &Index| index.index(count);
        match self {
            Self::Drop(at) => drop(pieces.remove(place(at))),
            Self::Double(at) => pieces.insert(place(at), pieces[place(at)]),
            Self::Swap(one, other) => pieces.swap(place(one), place(other)),
            Self::Replace(at, word) => {
                let at = place(at);
                pieces[at] = word.as_bytes();
            }
            Self::Byte(at, byte) => {
                let mut bytes = bytes.to_vec();
                let at = at.index(bytes.len());
                bytes[at] = *byte;
                return bytes;
            }
        }
        pieces.concat()
    }
}

/// How long the first line is, its end included.
fn line(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1)
}

/// How long the first string, bare word or mark is.
fn word(bytes: &[u8]) -> usize {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+.".contains(byte);
    match bytes {
        [b'"', rest @ ..] => rest.iter().position(|byte| *byte == b'"').map_or(1, |end| end + 2),
        _ => bytes.iter().position(|byte| !is_bare(byte)).unwrap_or(bytes.len()),
    }
}
