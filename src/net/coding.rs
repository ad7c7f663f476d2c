//! How a body is written on the wire: plainly, or in the one coding that is undone. Must never undo two, nor hand on a byte
//! beyond the cap, however much a few bytes unpack to.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderName, TRANSFER_ENCODING};

/// The coding of a body. Every request asks for none (`accept-encoding: identity`), and some servers pack all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// As it is.
    Plain,
    /// Packed once with gzip (RFC 1952).
    Gzip,
    /// In another coding, or in several.
    Other,
}

impl Coding {
    /// The coding that the headers tell of (RFC 9110 section 8.4, RFC 9112 section 6.1).
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut transfer = words(headers, &TRANSFER_ENCODING);
        if !transfer.all(|word| is_any(word, &["identity", "chunked"])) {
            return Self::Other;
        }
        let mut content = words(headers, &CONTENT_ENCODING).filter(|word| !is_any(word, &["identity"]));
        match (content.next(), content.next()) {
            (None, _) => Self::Plain,
            (Some(word), None) if is_any(word, &["gzip", "x-gzip"]) => Self::Gzip,
            (Some(_), _) => Self::Other,
        }
    }
}

fn words<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h [u8]> {
    let values = headers.get_all(name).iter();
    values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|word| !word.is_empty())
}

fn is_any(word: &[u8], known: &[&str]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Why nothing more is taken.
#[derive(Debug)]
pub(super) enum Full<E> {
    /// There is more than the cap.
    OverCap,
    /// What the sink said.
    Sink(E),
    /// It does not unpack.
    Broken,
}

/// Takes a body's pieces as they come and hands on what they mean, at most so many bytes of it.
pub(super) enum Unpacked<S: FnMut(&[u8]) -> Result<(), E>, E> {
    Plain(Capped<S, E>),
    /// An empty body is no gzip and no fault: an answer without one may tell of its coding all the same.
    Gzip {
        packed: Box<MultiGzDecoder<Capped<S, E>>>,
        empty: bool,
    },
}

impl<E, S: FnMut(&[u8]) -> Result<(), E>> Unpacked<S, E> {
    /// Hands on to `sink`. `None` for a coding that is not undone.
    pub(super) fn new(coding: Coding, cap_bytes: u64, sink: S) -> Option<Self> {
        let capped = Capped { sink, left: cap_bytes, full: None };
        match coding {
            Coding::Plain => Some(Self::Plain(capped)),
            Coding::Gzip => Some(Self::Gzip { packed: Box::new(MultiGzDecoder::new(capped)), empty: true }),
            Coding::Other => None,
        }
    }

    /// The next piece.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), Full<E>> {
        match self {
            Self::Plain(capped) => capped.write_all(piece).map_err(|_full| capped.why()),
            Self::Gzip { packed, empty } => {
                *empty &= piece.is_empty();
                packed.write_all(piece).map_err(|_fault| packed.get_mut().why())
            }
        }
    }

    /// There are no more pieces.
    pub(super) fn end(&mut self) -> Result<(), Full<E>> {
        match self {
            Self::Plain(_) | Self::Gzip { empty: true, .. } => Ok(()),
            Self::Gzip { packed, .. } => packed.try_finish().map_err(|_fault| packed.get_mut().why()),
        }
    }
}

/// A sink with a cap. Once it is full it takes nothing more.
pub(super) struct Capped<S, E> {
    sink: S,
    left: u64,
    full: Option<Full<E>>,
}

impl<S, E> Capped<S, E> {
    fn why(&mut self) -> Full<E> {
        self.full.replace(Full::Broken).unwrap_or(Full::Broken)
    }
}

impl<E, S: FnMut(&[u8]) -> Result<(), E>> Write for Capped<S, E> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.full.is_some() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let fits = usize::try_from(self.left).unwrap_or(usize::MAX);
        let kept = piece.get(..fits).unwrap_or(piece);
        if !kept.is_empty()
            && let Err(fault) = (self.sink)(kept)
        {
            self.full = Some(Full::Sink(fault));
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.left = self.left.saturating_sub(u64::try_from(kept.len()).unwrap_or(u64::MAX));
        if kept.len() < piece.len() {
            self.full = Some(Full::OverCap);
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(kept.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    fn coding(lines: &[(&str, &str)]) -> Coding {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        Coding::of(&headers)
    }

    /// What comes out of `wire` in pieces of `step` bytes under a cap, and how it ends.
    fn unpack(wire: &[u8], step: usize, cap_bytes: u64) -> (Vec<u8>, Result<(), Full<&'static str>>) {
        let mut out = Vec::new();
        let mut unpacked = Unpacked::new(Coding::Gzip, cap_bytes, |piece: &[u8]| {
            out.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        let end = wire.chunks(step).try_for_each(|piece| unpacked.take(piece)).and_then(|()| unpacked.end());
        drop(unpacked);
        (out, end)
    }

    #[test]
    fn one_coding_is_known_and_several_are_none() {
        for (lines, is) in [
            (&[][..], Coding::Plain),
            (&[("content-encoding", "identity"), ("transfer-encoding", "chunked")], Coding::Plain),
            (&[("content-encoding", "GZip")], Coding::Gzip),
            (&[("content-encoding", "identity, x-gzip,")], Coding::Gzip),
            (&[("content-encoding", "gzip, gzip, br, gzip")], Coding::Other),
            (&[("content-encoding", "gzip"), ("content-encoding", "gzip")], Coding::Other),
            (&[("content-encoding", "br")], Coding::Other),
            (&[("content-encoding", "deflate")], Coding::Other),
            (&[("transfer-encoding", "gzip, chunked")], Coding::Other),
        ] {
            assert_eq!(coding(lines), is, "{lines:?}");
        }
    }

    #[test]
    fn whatever_the_pieces_the_same_bytes_come_out() {
        let text: Vec<u8> = (0_u32..40_000).flat_map(|number| (number % 251).to_be_bytes()).collect();
        let mut wire = packed(&text[..90_000]);
        // A body may be several members one after another (RFC 1952 section 2.2).
        wire.extend(packed(&text[90_000..]));
        for step in [1, 7, 1_000, wire.len()] {
            let (out, end) = unpack(&wire, step, 1_000_000);
            assert!(end.is_ok() && out == text, "pieces of {step}: {end:?}, {} bytes", out.len());
        }
    }

    #[test]
    fn a_bomb_ends_at_the_cap() {
        let wire = packed(&vec![0; 50_000_000]);
        assert!(wire.len() < 100_000);
        for step in [512, wire.len()] {
            let (out, end) = unpack(&wire, step, 1_000);
            assert!(out.len() == 1_000 && matches!(end, Err(Full::OverCap)), "{} bytes, {end:?}", out.len());
        }
        // Exactly the cap is not over it.
        let (out, end) = unpack(&packed(&[7; 1_000]), 64, 1_000);
        assert!(out.len() == 1_000 && end.is_ok(), "{end:?}");
    }

    #[test]
    fn what_is_cut_off_spoilt_or_followed_by_more_is_broken() {
        let whole = packed(b"the weather is fine");
        let cut = &whole[..whole.len() - 5];
        let mut spoilt = whole.clone();
        let at = spoilt.len() - 6;
        spoilt[at] ^= 1;
        let longer = [&whole[..], b"and more"].concat();
        for wire in [cut, &spoilt, &longer, b"no gzip at all", &whole[..1]] {
            let (_, end) = unpack(wire, 4, 1_000);
            assert!(matches!(end, Err(Full::Broken)), "{end:?}");
        }
        let (out, end) = unpack(&[], 4, 1_000);
        assert!(out.is_empty() && end.is_ok(), "no body is no broken one: {end:?}");
    }

    #[test]
    fn what_the_sink_says_is_what_is_told_and_it_is_asked_no_more() {
        let mut asked = 0;
        let mut unpacked = Unpacked::new(Coding::Gzip, 1_000_000, |_piece: &[u8]| {
            asked += 1;
            Err("the disk is full")
        })
        .unwrap();
        let end = unpacked.take(&packed(&[3; 200_000])).and_then(|()| unpacked.end());
        assert!(matches!(end, Err(Full::Sink("the disk is full"))), "{end:?}");
        assert!(unpacked.take(&[1]).is_err() && unpacked.end().is_err());
        drop(unpacked);
        assert_eq!(asked, 1);
    }
}
