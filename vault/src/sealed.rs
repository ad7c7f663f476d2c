//! A file under a passphrase: the age format, version 1, with one scrypt recipient (C2SP `age`). Must never write what it
//! did not seal, nor hand out a byte whose tag does not hold.
//!
//! The `age` program opens these files as well. Every chunk of 64 KiB has a tag of its own and its place in the order, and
//! the last one says so; a file that was cut, changed or put together from parts does not open.

use std::io::{self, BufRead, ErrorKind, Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::AeadInPlace as _;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _, Nonce};
use hkdf::Hkdf;
use hkdf::hmac::{Hmac, Mac as _};
use k256::sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::passphrase::{cost_log2, derive};
use crate::protocol::Passphrase;
use bursar_policy::Setting;

const INTRO: &str = "age-encryption.org/v1\n";
const LABEL: &[u8] = b"age-encryption.org/v1/scrypt";
const CHUNK_BYTES: usize = 64 * 1024;
const TAG_BYTES: usize = 16;
/// The highest cost that is worked out for a file, as the power of two: it takes a GiB of memory.
const COST_MAX_LOG2: u8 = 20;
/// The longest line of a header that is read, bytes.
const LINE_MAX_BYTES: u64 = 256;

/// Why a file is not sealed or opened.
#[derive(Debug, Error)]
pub(crate) enum SealFault {
    /// It is not a file of this kind.
    #[error("that is no backup of `bursar backup`; check the file")]
    Foreign,
    /// Another passphrase sealed it.
    #[error("that passphrase does not open the backup; try again")]
    Passphrase,
    /// It was cut or changed.
    #[error("the backup was cut off or changed; use another one")]
    Damaged,
    /// Memory or randomness is missing.
    #[error("the backup cannot be worked on now; free some memory and try again")]
    Derivation,
    /// The system said no.
    #[error("the backup cannot be read or written: {0}")]
    System(#[from] io::Error),
}

impl SealFault {
    /// A stable word.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Foreign => "backup_foreign",
            Self::Passphrase => "backup_passphrase",
            Self::Damaged => "backup_damaged",
            Self::Derivation => "no_memory",
            Self::System(_) => "backup_file",
        }
    }
}

/// Seals everything that `from` has into `to`.
///
/// # Errors
///
/// [`SealFault`]; then what was written is of no use.
pub(crate) fn seal(
    from: &mut impl Read,
    to: &mut impl Write,
    passphrase: &Passphrase,
    setting: Setting,
) -> Result<(), SealFault> {
    let (mut file_key, mut salt, mut nonce) = (Zeroizing::new([0_u8; 16]), [0_u8; 16], [0_u8; 16]);
    for part in [file_key.as_mut_slice(), &mut salt, &mut nonce] {
        getrandom::fill(part).map_err(|_fault| SealFault::Derivation)?;
    }
    let cost = cost_log2(setting);
    let wrap = wrapping(passphrase, &salt, cost)?;
    let mut body = file_key.to_vec();
    wrap.encrypt_in_place(&Nonce::default(), b"", &mut body).map_err(|_fault| SealFault::Derivation)?;
    let salt = STANDARD_NO_PAD.encode(salt);
    let header = format!("{INTRO}-> scrypt {salt} {cost}\n{}\n---", STANDARD_NO_PAD.encode(body));
    let mac = header_mac(file_key.as_slice(), header.as_bytes())?.finalize().into_bytes();
    writeln!(to, "{header} {}", STANDARD_NO_PAD.encode(mac))?;
    to.write_all(&nonce)?;
    let cipher = payload(file_key.as_slice(), &nonce)?;
    let mut chunk = Vec::with_capacity(CHUNK_BYTES.saturating_add(TAG_BYTES));
    let mut next = Vec::with_capacity(CHUNK_BYTES.saturating_add(TAG_BYTES));
    fill(from, &mut chunk, CHUNK_BYTES)?;
    for counter in 0_u64.. {
        fill(from, &mut next, CHUNK_BYTES)?;
        let place = place(counter, if next.is_empty() { Last::Yes } else { Last::No });
        cipher.encrypt_in_place(&place, b"", &mut chunk).map_err(|_fault| SealFault::Derivation)?;
        to.write_all(&chunk)?;
        if next.is_empty() {
            break;
        }
        std::mem::swap(&mut chunk, &mut next);
    }
    to.flush()?;
    Ok(())
}

/// Opens what [`seal`] made, or the `age` program with a passphrase.
///
/// # Errors
///
/// [`SealFault`]; then what was written is not the whole.
pub(crate) fn open(from: &mut impl BufRead, to: &mut impl Write, passphrase: &Passphrase) -> Result<(), SealFault> {
    let intro = line(from)?;
    let stanza = line(from)?;
    let body = line(from)?;
    let end = line(from)?;
    if intro != INTRO {
        return Err(SealFault::Foreign);
    }
    let mut words = stanza.trim_end().strip_prefix("-> scrypt ").ok_or(SealFault::Foreign)?.split(' ');
    let (salt, cost) = words.next().zip(words.next()).filter(|_| words.next().is_none()).ok_or(SealFault::Foreign)?;
    let cost: u8 = cost.parse().map_err(|_fault| SealFault::Foreign)?;
    if COST_MAX_LOG2 < cost || cost == 0 {
        return Err(SealFault::Foreign);
    }
    let salt = bytes::<16>(salt)?;
    let mut file_key = Zeroizing::new(bytes::<32>(body.trim_end())?.to_vec());
    let wrap = wrapping(passphrase, &salt, cost)?;
    wrap.decrypt_in_place(&Nonce::default(), b"", &mut *file_key).map_err(|_fault| SealFault::Passphrase)?;
    let mac = bytes::<32>(end.trim_end().strip_prefix("--- ").ok_or(SealFault::Foreign)?)?;
    let header = format!("{intro}{stanza}{body}---");
    header_mac(&file_key, header.as_bytes())?.verify_slice(&mac).map_err(|_fault| SealFault::Damaged)?;

    let mut nonce = [0_u8; 16];
    from.read_exact(&mut nonce).map_err(cut)?;
    let cipher = payload(&file_key, &nonce)?;
    let whole = CHUNK_BYTES.saturating_add(TAG_BYTES);
    let (mut chunk, mut next) = (Vec::with_capacity(whole), Vec::with_capacity(whole));
    fill(from, &mut chunk, whole)?;
    for counter in 0_u64.. {
        fill(from, &mut next, whole)?;
        let last = if next.is_empty() { Last::Yes } else { Last::No };
        cipher.decrypt_in_place(&place(counter, last), b"", &mut chunk).map_err(|_fault| SealFault::Damaged)?;
        // Only an empty file has an empty last chunk.
        if chunk.is_empty() && counter != 0 {
            return Err(SealFault::Damaged);
        }
        to.write_all(&chunk)?;
        if last == Last::Yes {
            break;
        }
        std::mem::swap(&mut chunk, &mut next);
    }
    to.flush()?;
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

/// The nonce of a chunk: its number in eleven bytes, and whether it is the last.
fn place(counter: u64, last: Last) -> Nonce {
    let mut nonce = [0_u8; 12];
    let (_, number) = nonce.split_at_mut(3);
    let (number, flag) = number.split_at_mut(8);
    number.copy_from_slice(&counter.to_be_bytes());
    flag.fill(u8::from(last == Last::Yes));
    nonce.into()
}

fn wrapping(passphrase: &Passphrase, salt: &[u8; 16], cost: u8) -> Result<ChaCha20Poly1305, SealFault> {
    let salt = [LABEL, salt].concat();
    let key = derive(passphrase.expose(), &salt, cost).ok_or(SealFault::Derivation)?;
    Ok(ChaCha20Poly1305::new((&*key).into()))
}

fn payload(file_key: &[u8], nonce: &[u8; 16]) -> Result<ChaCha20Poly1305, SealFault> {
    let mut key = Zeroizing::new([0_u8; 32]);
    let derived = Hkdf::<Sha256>::new(Some(nonce), file_key).expand(b"payload", key.as_mut());
    derived.map_err(|_fault| SealFault::Derivation)?;
    Ok(ChaCha20Poly1305::new((&*key).into()))
}

fn header_mac(file_key: &[u8], header: &[u8]) -> Result<Hmac<Sha256>, SealFault> {
    let mut key = Zeroizing::new([0_u8; 32]);
    let derived = Hkdf::<Sha256>::new(None, file_key).expand(b"header", key.as_mut());
    derived.map_err(|_fault| SealFault::Derivation)?;
    let mut mac =
        <Hmac<Sha256> as hkdf::hmac::Mac>::new_from_slice(key.as_slice()).map_err(|_fault| SealFault::Derivation)?;
    mac.update(header);
    Ok(mac)
}

/// One line of a header, its end included.
fn line(from: &mut impl BufRead) -> Result<String, SealFault> {
    let mut line = Vec::new();
    from.take(LINE_MAX_BYTES).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(SealFault::Foreign);
    }
    String::from_utf8(line).map_err(|_fault| SealFault::Foreign)
}

fn bytes<const N: usize>(text: &str) -> Result<[u8; N], SealFault> {
    let found = STANDARD_NO_PAD.decode(text).map_err(|_fault| SealFault::Foreign)?;
    found.try_into().map_err(|_fault| SealFault::Foreign)
}

/// As many bytes as there are, at most `most`.
fn fill(from: &mut impl Read, chunk: &mut Vec<u8>, most: usize) -> Result<(), SealFault> {
    chunk.clear();
    from.take(u64::try_from(most).unwrap_or(u64::MAX)).read_to_end(chunk)?;
    Ok(())
}

fn cut(fault: io::Error) -> SealFault {
    if fault.kind() == ErrorKind::UnexpectedEof { SealFault::Damaged } else { fault.into() }
}

#[cfg(test)]
mod tests;
