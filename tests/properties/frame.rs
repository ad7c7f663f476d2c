//! What holds for any bytes on a socket of the vault: whole frames or a fault, and a message that is the same bytes again.

use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use bursar_vault::protocol::frame::{
    ASK_MAX_BYTES, FrameFault, HEADER_BYTES, REPLY_MAX_BYTES, announced, decode, encode, read,
};
use bursar_vault::protocol::{AgentAsk, AgentReply, GlueAsk, GlueReply, OperatorAsk, OperatorReply};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What surely fits into a socket before anybody reads from it.
const SENT_MAX_BYTES: usize = 64 * 1024;

/// Takes `bytes` as everything that a peer sends before it hangs up.
///
/// # Panics
///
/// Where a property does not hold, or the machine gives no socket.
pub fn holds(bytes: &[u8]) {
    let sent = bytes.get(..SENT_MAX_BYTES).unwrap_or(bytes);
    let (mut near, far) = UnixStream::pair().unwrap();
    near.write_all(sent).unwrap();
    near.shutdown(Shutdown::Write).unwrap();

    let mut rest = sent;
    loop {
        let expected = first(rest);
        match (read(&far, ASK_MAX_BYTES, None), expected) {
            (Ok(None), Next::Nothing) => return,
            (Ok(Some(content)), Next::Content(expected)) => {
                assert_eq!(content.as_slice(), expected);
                is_a_message(&content);
                rest = rest.get(HEADER_BYTES + expected.len()..).unwrap();
            }
            (Err(FrameFault::Empty), Next::Empty)
            | (Err(FrameFault::TooLong { .. }), Next::TooLong)
            | (Err(FrameFault::Cut), Next::Cut) => return,
            (got, expected) => panic!("{got:?} where {expected:?} was sent"),
        }
    }
}

/// What stands first in `bytes`, worked out without a socket.
#[derive(Debug)]
enum Next<'a> {
    Nothing,
    Content(&'a [u8]),
    Empty,
    TooLong,
    Cut,
}

fn first(bytes: &[u8]) -> Next<'_> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return if bytes.is_empty() { Next::Nothing } else { Next::Cut };
    };
    let length = header.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    match (length, announced(*header, ASK_MAX_BYTES)) {
        (0, Err(FrameFault::Empty)) => Next::Empty,
        (length, Err(FrameFault::TooLong { length: told, cap })) if told == length && u64::from(cap) < length => {
            Next::TooLong
        }
        (length, Ok(count)) if u64::try_from(count) == Ok(length) => rest.get(..count).map_or(Next::Cut, Next::Content),
        (length, announced) => panic!("{length} bytes are announced as {announced:?}"),
    }
}

/// Checks `content` as every kind of message, and says whether it is one at all.
pub fn is_a_message(content: &[u8]) -> bool {
    let agent = comes_back::<AgentAsk>(content, ASK_MAX_BYTES);
    let operator = comes_back::<OperatorAsk>(content, ASK_MAX_BYTES);
    let glue = comes_back::<GlueAsk>(content, ASK_MAX_BYTES);
    let replies = [
        comes_back::<AgentReply>(content, REPLY_MAX_BYTES),
        comes_back::<OperatorReply>(content, REPLY_MAX_BYTES),
        comes_back::<GlueReply>(content, REPLY_MAX_BYTES),
    ];
    if let Some(words) = &glue {
        let foreign = (agent.is_some() || operator.is_some()) && words.get("hello").is_none();
        assert!(!foreign, "two doors understand the same words: {words}");
    }
    if let (Some(_), Some(words)) = (&agent, &operator) {
        assert!(!names(words, "passphrase"), "the agent's door understands words that need a passphrase: {words}");
    }
    agent.or(operator).or(glue).is_some() || replies.iter().any(Option::is_some)
}

/// A message that was understood is written in one way, which is understood as the same.
fn comes_back<T: Serialize + DeserializeOwned>(content: &[u8], cap: u32) -> Option<Value> {
    let message: T = match decode(content) {
        Ok(message) => message,
        Err(fault) => {
            let told = fault.to_string();
            let words = told.replace(|letter: char| letter.is_ascii_digit(), "");
            assert!(words.contains("(line , column )"), "a fault repeats what was sent: {told}");
            return None;
        }
    };
    let frame = encode(&message, cap).unwrap();
    let (header, written) = frame.split_first_chunk::<HEADER_BYTES>().unwrap();
    assert_eq!(announced(*header, cap).unwrap(), written.len());
    let again: T = decode(written).unwrap();
    assert_eq!(encode(&again, cap).unwrap().as_slice(), frame.as_slice(), "a message changed on its way");
    Some(serde_json::from_slice(written).unwrap())
}

/// Whether an object anywhere in `value` has this member.
fn names(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, inner)| key == name || names(inner, name)),
        Value::Array(items) => items.iter().any(|inner| names(inner, name)),
        _ => false,
    }
}
