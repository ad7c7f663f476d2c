//! Frames: caps, deadlines, and bytes that are not a message.

use super::*;
use crate::protocol::AgentAsk;
use std::os::unix::net::UnixStream;

#[test]
fn a_frame_comes_back_as_it_went() {
    let (near, far) = UnixStream::pair().unwrap();
    write(&near, &AgentAsk::Status, ASK_MAX_BYTES).unwrap();
    drop(near);
    let content = read(&far, ASK_MAX_BYTES, None).unwrap().unwrap();
    assert!(matches!(decode::<AgentAsk>(&content).unwrap(), AgentAsk::Status));
    assert!(read(&far, ASK_MAX_BYTES, None).unwrap().is_none());
}

#[test]
fn lengths_are_checked_before_anything_is_allocated() {
    assert!(matches!(announced([0; 4], ASK_MAX_BYTES), Err(FrameFault::Empty)));
    assert!(matches!(announced([255; 4], ASK_MAX_BYTES), Err(FrameFault::TooLong { length: 4_294_967_295, .. })));
    assert_eq!(announced(ASK_MAX_BYTES.to_be_bytes(), ASK_MAX_BYTES).unwrap(), 262_144);
    assert!(announced((ASK_MAX_BYTES + 1).to_be_bytes(), ASK_MAX_BYTES).is_err());
    assert!(matches!(encode(&"x".repeat(40), 41), Err(FrameFault::TooLong { length: 42, cap: 41 })));
    assert!(encode(&"x".repeat(40), 42).is_ok());
}

/// A buffer that grows leaves copies of what it held, and a larger one is more to wipe.
#[test]
fn a_frame_has_room_for_itself_from_the_start_and_no_more() {
    for length in [0, 1, 100, 30_000, 100_000] {
        let frame = encode(&"\u{1}".repeat(length), REPLY_MAX_BYTES).unwrap();
        assert_eq!(frame.len(), HEADER_BYTES + 2 + 6 * length);
        assert_eq!(frame.capacity(), frame.len());
    }
}

#[test]
fn a_frame_that_never_completes_is_late_and_a_cut_one_is_cut() {
    let (mut near, far) = UnixStream::pair().unwrap();
    near.write_all(&[0, 0, 0, 9, b'{']).unwrap();
    let short = Duration::from_millis(20);
    assert!(matches!(read_within(&far, ASK_MAX_BYTES, None, short), Err(FrameFault::Late { .. })));

    let (mut near, far) = UnixStream::pair().unwrap();
    near.write_all(&[0, 0]).unwrap();
    drop(near);
    assert!(matches!(read(&far, ASK_MAX_BYTES, None), Err(FrameFault::Cut)));
}

#[test]
fn a_fault_about_content_never_repeats_it() {
    let fault = decode::<AgentAsk>(b"{\"hello\":{\"protocol\":1,\"session\":null,\"hunter2\":1}}").unwrap_err();
    assert!(matches!(fault, FrameFault::Unreadable { .. }));
    assert!(!fault.to_string().contains("hunter2"));
}

#[test]
fn a_doubled_member_is_refused() {
    assert!(decode::<AgentAsk>(b"{\"hello\":{\"protocol\":1,\"protocol\":2,\"session\":null}}").is_err());
}
