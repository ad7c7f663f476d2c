//! What begins in what a seller sends over HTTP/2, where it speaks before it is asked: an answer, at a HEADERS frame, or
//! the end of the connection, at a GOAWAY (RFC 9113 sections 4.1, 6.2 and 6.8). Reads lengths and types of frames, never
//! what is in them, and judges nothing.

/// The length of a frame's head, in bytes: three of its length, its type, its flags, four of its stream.
const HEAD_BYTES: u8 = 9;

/// The types of the frames that are looked for.
const HEADERS: u8 = 1;
const GOAWAY: u8 = 7;

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

/// Which of the frames that are looked for began in some bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Begun {
    /// An answer, or what comes behind its body.
    pub(super) headers: bool,
    /// The seller's word that it takes no more requests.
    pub(super) goaway: bool,
}

impl Frames {
    /// Reads on, and says what begins in `bytes`.
    pub(super) fn begin_in(&mut self, mut bytes: &[u8]) -> Begun {
        let mut begun = Begun::default();
        while let Some((byte, rest)) = bytes.split_first() {
            if self.left == 0 {
                self.step(*byte, &mut begun);
                bytes = rest;
                continue;
            }
            let here = u32::try_from(bytes.len()).unwrap_or(u32::MAX).min(self.left);
            self.left = self.left.saturating_sub(here);
            bytes = bytes.get(usize::try_from(here).unwrap_or(bytes.len())..).unwrap_or_default();
        }
        begun
    }

    /// Reads one byte of a head.
    fn step(&mut self, byte: u8, begun: &mut Begun) {
        match self.head {
            0..=2 => self.length = self.length.wrapping_shl(8) | u32::from(byte),
            3 => {
                begun.headers |= byte == HEADERS;
                begun.goaway |= byte == GOAWAY;
            }
            _ => {}
        }
        self.head = self.head.saturating_add(1);
        if self.head == HEAD_BYTES {
            *self = Self { left: self.length, ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Begun = Begun { headers: false, goaway: false };

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, 0xff, 0x80, 0, 0, 1], payload].concat()
    }

    /// SETTINGS, an acknowledgement, a PING and DATA, all full of what looks like other frames.
    fn others() -> Vec<u8> {
        let looks = [0, 0, 0, HEADERS, 0, 0, 0, 0, 1, 0, 0, 0, GOAWAY, 0, 0, 0, 0, 0];
        [frame(4, &looks.repeat(40)), frame(4, &[]), frame(6, &looks[..8]), frame(0, &[HEADERS])].concat()
    }

    #[test]
    fn an_answer_begins_with_the_type_of_a_headers_frame_however_its_bytes_arrive() {
        let before = others();
        assert_eq!(Frames::default().begin_in(&before), NOTHING);
        let all = [before.clone(), frame(HEADERS, b"x")].concat();
        for cut in [1, 2, 7, 100, all.len()] {
            let mut frames = Frames::default();
            let begun: Vec<bool> = all.chunks(cut).map(|bytes| frames.begin_in(bytes).headers).collect();
            let first = begun.iter().position(|begun| *begun).unwrap();
            assert_eq!(first, (before.len() + 3) / cut, "pieces of {cut}");
        }
        assert_eq!(Frames::default().begin_in(&frame(HEADERS, b"x")[..3]), NOTHING, "a length and no type yet");
    }

    #[test]
    fn a_goodbye_is_heard_before_and_after_any_number_of_answers() {
        let answer = [frame(HEADERS, b"x"), frame(0, &[GOAWAY; 300])].concat();
        let all = [others(), answer.clone(), answer, frame(GOAWAY, &[0; 8])].concat();
        for cut in [1, 2, 7, 100, all.len()] {
            let mut frames = Frames::default();
            let heard: Vec<bool> = all.chunks(cut).map(|bytes| frames.begin_in(bytes).goaway).collect();
            let first = heard.iter().position(|heard| *heard).unwrap();
            assert_eq!(first, (all.len() - 14) / cut, "pieces of {cut}");
        }
    }
}
