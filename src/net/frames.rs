//! Where an answer begins in what a seller sends over HTTP/2, where it speaks before it is asked: at its first HEADERS
//! frame (RFC 9113 sections 4.1 and 6.2). Reads lengths and types of frames, never what is in them, and judges nothing.

/// The length of a frame's head, in bytes: three of its length, its type, its flags, four of its stream.
const HEAD_BYTES: u8 = 9;

/// The type of a HEADERS frame.
const HEADERS: u8 = 1;

/// Where in a frame the next byte stands.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// How much of the head was read.
    head: u8,
    /// The length that the head says, as far as it was read.
    length: u32,
    /// How much of the payload is still to come.
    left: u32,
}

impl Frames {
    /// Reads on, and says whether a HEADERS frame begins in `bytes`.
    pub(super) fn headers_begin(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().any(|byte| self.step(*byte))
    }

    fn step(&mut self, byte: u8) -> bool {
        if self.left != 0 {
            self.left = self.left.saturating_sub(1);
            return false;
        }
        match self.head {
            0..=2 => self.length = self.length.wrapping_shl(8) | u32::from(byte),
            3 if byte == HEADERS => return true,
            _ => {}
        }
        self.head = self.head.saturating_add(1);
        if self.head == HEAD_BYTES {
            *self = Self { left: self.length, ..Self::default() };
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, 0xff, 0x80, 0, 0, 1], payload].concat()
    }

    #[test]
    fn an_answer_begins_with_the_type_of_a_headers_frame_however_its_bytes_arrive() {
        // SETTINGS, an acknowledgement, a PING and DATA, all full of what looks like a HEADERS frame.
        let looks = [0, 0, 0, HEADERS, 0, 0, 0, 0, 1];
        let before = [frame(4, &looks.repeat(40)), frame(4, &[]), frame(6, &looks[1..]), frame(0, &[HEADERS])].concat();
        assert!(!Frames::default().headers_begin(&before));
        let all = [before.clone(), frame(HEADERS, b"x")].concat();
        for cut in [1, 2, 7, 100, all.len()] {
            let mut frames = Frames::default();
            let begun: Vec<bool> = all.chunks(cut).map(|bytes| frames.headers_begin(bytes)).collect();
            let first = begun.iter().position(|begun| *begun).unwrap();
            assert_eq!(first, (before.len() + 3) / cut, "pieces of {cut}");
        }
        assert!(!Frames::default().headers_begin(&frame(HEADERS, b"x")[..3]), "three bytes say a length and no type");
    }
}
