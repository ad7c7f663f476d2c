//! The frame codec: four bytes of big-endian length, then that many bytes of JSON. Must never interpret a message.
//!
//! A frame that is empty, too long, never completes or is not one well-formed message is answered with a single
//! fault, after which the vault closes the connection and goes on serving the others.

use crate::platform::Stream;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};
use thiserror::Error;
use zeroize::Zeroizing;

/// The longest ask, in bytes of JSON.
pub const ASK_MAX_BYTES: u32 = 256 * 1024;

/// The longest reply, in bytes of JSON: larger than an ask because `Welcome` carries the rules text.
pub const REPLY_MAX_BYTES: u32 = 1024 * 1024;

/// How long a frame may take from its first byte to its last.
pub const FRAME_DEADLINE: Duration = Duration::from_secs(10);

/// Bytes in front of each message.
pub const HEADER_BYTES: usize = 4;

/// Why a frame could not be read or written.
#[derive(Debug, Error)]
pub enum FrameFault {
    /// Its length is zero.
    #[error("a frame has no content; send at least one byte of JSON")]
    Empty,
    /// Its length is over the cap.
    #[error("a frame of {length} bytes is over the cap of {cap}; send a shorter message")]
    TooLong {
        /// Announced or actual length, bytes.
        length: u64,
        /// The cap, bytes.
        cap: u32,
    },
    /// It is not one message of the expected kind.
    #[error(
        "a frame is not a message this socket knows (line {line}, column {column}); check that both ends are the same version"
    )]
    Unreadable {
        /// Line in the JSON text.
        line: usize,
        /// Column in the JSON text.
        column: usize,
    },
    /// The connection ended inside a frame.
    #[error("the connection ended in the middle of a frame; connect again")]
    Cut,
    /// The rest of a frame did not come in time.
    #[error("the rest of a frame did not come within {seconds} seconds; connect again")]
    Late {
        /// The deadline, seconds.
        seconds: u64,
    },
    /// The socket failed.
    #[error("the socket failed; connect again")]
    Socket(#[source] io::Error),
}

/// Turns a message into one whole frame, header included.
///
/// # Errors
///
/// [`FrameFault::TooLong`] over `cap`; [`FrameFault::Unreadable`] when the value has no JSON form.
pub fn encode<T: Serialize>(message: &T, cap: u32) -> Result<Zeroizing<Vec<u8>>, FrameFault> {
    let mut length = Length(0);
    serde_json::to_writer(&mut length, message).map_err(|fault| unreadable(&fault))?;
    let Length(length) = length;
    let announced = u32::try_from(length)
        .ok()
        .filter(|announced| *announced <= cap)
        .ok_or(FrameFault::TooLong { length: u64::try_from(length).unwrap_or(u64::MAX), cap })?;
    // Room for exactly this frame, so that a passphrase or a secret is not copied about by a growing buffer, and no more
    // is wiped afterwards than was written.
    let mut frame = Zeroizing::new(Vec::with_capacity(HEADER_BYTES.saturating_add(length)));
    frame.extend_from_slice(&announced.to_be_bytes());
    serde_json::to_writer(&mut *frame, message).map_err(|fault| unreadable(&fault))?;
    Ok(frame)
}

/// Counts what is written to it.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The number of content bytes a header announces.
///
/// # Errors
///
/// [`FrameFault::Empty`] for zero, [`FrameFault::TooLong`] over `cap`; nothing is allocated before this check.
pub fn announced(header: [u8; HEADER_BYTES], cap: u32) -> Result<usize, FrameFault> {
    let length = u32::from_be_bytes(header);
    if length == 0 {
        return Err(FrameFault::Empty);
    }
    if cap < length {
        return Err(FrameFault::TooLong { length: u64::from(length), cap });
    }
    usize::try_from(length).map_err(|_wide| FrameFault::TooLong { length: u64::from(length), cap })
}

/// Reads the message out of a frame's content bytes.
///
/// # Errors
///
/// [`FrameFault::Unreadable`], which says where but never repeats what was sent.
pub fn decode<T: DeserializeOwned>(content: &[u8]) -> Result<T, FrameFault> {
    serde_json::from_slice(content).map_err(|fault| unreadable(&fault))
}

/// Reads one frame's content; `None` when the peer closed between frames.
///
/// Waits for the first byte up to `idle` (`None`: for ever), then gives the rest [`FRAME_DEADLINE`].
///
/// # Errors
///
/// Every [`FrameFault`] except `Unreadable`.
pub fn read(stream: &Stream, cap: u32, idle: Option<Duration>) -> Result<Option<Zeroizing<Vec<u8>>>, FrameFault> {
    read_within(stream, cap, idle, FRAME_DEADLINE)
}

/// [`read`] with a deadline of the caller's.
///
/// # Errors
///
/// As [`read`].
pub fn read_within(
    mut stream: &Stream,
    cap: u32,
    idle: Option<Duration>,
    deadline: Duration,
) -> Result<Option<Zeroizing<Vec<u8>>>, FrameFault> {
    let mut header = [0_u8; HEADER_BYTES];
    stream.set_read_timeout(idle).map_err(FrameFault::Socket)?;
    let first = loop {
        match stream.read(&mut header) {
            Ok(count) => break count,
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(late_or_socket(fault, idle.unwrap_or(deadline))),
        }
    };
    if first == 0 {
        return Ok(None);
    }
    let until = Instant::now().checked_add(deadline);
    fill(stream, header.get_mut(first..).unwrap_or_default(), until, deadline)?;
    let length = announced(header, cap)?;
    let mut content = Zeroizing::new(vec![0_u8; length]);
    fill(stream, &mut content, until, deadline)?;
    Ok(Some(content))
}

/// Writes one whole frame.
///
/// # Errors
///
/// As [`encode`], and [`FrameFault::Socket`].
pub fn write<T: Serialize>(mut stream: &Stream, message: &T, cap: u32) -> Result<(), FrameFault> {
    let frame = encode(message, cap)?;
    stream.set_write_timeout(Some(FRAME_DEADLINE)).map_err(FrameFault::Socket)?;
    stream.write_all(&frame).map_err(|fault| late_or_socket(fault, FRAME_DEADLINE))
}

fn fill(
    mut stream: &Stream,
    mut rest: &mut [u8],
    until: Option<Instant>,
    deadline: Duration,
) -> Result<(), FrameFault> {
    while !rest.is_empty() {
        let left = until.map_or(deadline, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Err(FrameFault::Late { seconds: deadline.as_secs() });
        }
        stream.set_read_timeout(Some(left)).map_err(FrameFault::Socket)?;
        match stream.read(rest) {
            Ok(0) => return Err(FrameFault::Cut),
            Ok(count) => rest = rest.get_mut(count..).unwrap_or_default(),
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(late_or_socket(fault, deadline)),
        }
    }
    Ok(())
}

fn late_or_socket(fault: io::Error, deadline: Duration) -> FrameFault {
    match fault.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => FrameFault::Late { seconds: deadline.as_secs() },
        _ => FrameFault::Socket(fault),
    }
}

fn unreadable(fault: &serde_json::Error) -> FrameFault {
    FrameFault::Unreadable { line: fault.line(), column: fault.column() }
}

#[cfg(test)]
mod tests;
