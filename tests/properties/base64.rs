//! A second base64, bit by bit, to compare the first with. Must never share a line with it.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What `text` stands for in standard base64; padding may be missing, the bits that are left over are zero.
pub fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let letters = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let padding = text.len() - letters.len();
    let most = (4 - letters.len() % 4) % 4;
    if most == 3 || padding > most {
        return None;
    }
    let mut bits = Vec::with_capacity(letters.len() * 6);
    for letter in letters {
        let number = LETTERS.iter().position(|known| known == letter)?;
        bits.extend((0..6).rev().map(|place| number >> place & 1 == 1));
    }
    let whole = bits.chunks_exact(8);
    if whole.remainder().iter().any(|bit| *bit) {
        return None;
    }
    Some(whole.map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit))).collect())
}

/// `bytes` in standard base64 with its padding.
pub fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let group = three.iter().chain([&0, &0]).take(3).fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
        for place in 0..4 {
            let letter = LETTERS[group >> (18 - 6 * place) & 63];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
