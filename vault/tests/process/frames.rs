//! Bytes that are no message: one fault, the connection closes, the vault lives on.

use crate::world::{Sandbox, delivered, errand, judged_under, terms};
use bursar_vault::protocol::frame::{self, REPLY_MAX_BYTES};
use bursar_vault::protocol::{AgentAsk, Claimed, PROTOCOL};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// What a vault says to these bytes before it closes the connection: the codes of its faults.
fn answers(path: &Path, bytes: &[u8]) -> Vec<String> {
    let mut stream = UnixStream::connect(path).unwrap();
    // The vault may close before it has taken everything; that is its right.
    drop(stream.write_all(bytes));
    drop(stream.shutdown(Shutdown::Write));
    let mut codes = Vec::new();
    while let Ok(Some(content)) = frame::read(&stream, REPLY_MAX_BYTES, None) {
        let reply: serde_json::Value = serde_json::from_slice(&content).unwrap();
        codes.push(said(&reply, "/fault/code").unwrap_or("no fault").to_owned());
        let message = said(&reply, "/fault/message").unwrap_or_default();
        assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
    }
    codes
}

fn said<'a>(reply: &'a serde_json::Value, place: &str) -> Option<&'a str> {
    reply.pointer(place)?.as_str()
}

fn framed(content: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(content.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(content);
    bytes
}

#[test]
fn every_kind_of_bad_frame_gets_one_fault_and_a_closed_connection() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let hello = br#"{"hello":{"protocol":4,"session":null}}"#;
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let twice = [framed(b"?"), framed(hello)].concat();
    for path in [sandbox.profile.agent_sock(), sandbox.profile.operator_sock()] {
        for (what, bytes) in [
            ("zero length", vec![0, 0, 0, 0]),
            ("over the cap", vec![0xff, 0xff, 0xff, 0xff]),
            ("one over the cap", 262_145_u32.to_be_bytes().to_vec()),
            ("not JSON", framed(b"hello")),
            ("not UTF-8", framed(b"{\"hello\xff\":1}")),
            ("an unknown ask", framed(br#"{"sign":{"digest":"0x00"}}"#)),
            ("an unknown member", framed(br#"{"hello":{"protocol":4,"session":null,"x":1}}"#)),
            ("a doubled member", framed(br#"{"hello":{"protocol":4,"protocol":4,"session":null}}"#)),
            ("a float", framed(br#"{"hello":{"protocol":4.0,"session":null}}"#)),
            ("too deep", framed(deep.as_bytes())),
            ("two values", framed(br#""status" "status""#)),
            ("a bad one before a good one", twice.clone()),
        ] {
            assert_eq!(answers(&path, &bytes), ["bad_frame"], "{what}");
        }
        for (what, bytes) in
            [("nothing", vec![]), ("half a header", vec![0, 0]), ("half a frame", vec![0, 0, 0, 9, b'{'])]
        {
            assert_eq!(answers(&path, &bytes), Vec::<String>::new(), "{what}");
        }
    }
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::New));
}

#[test]
fn arbitrary_bytes_never_kill_the_vault_nor_move_money() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let sockets = [sandbox.profile.agent_sock(), sandbox.profile.operator_sock()];
    let bytes = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        proptest::collection::vec(any::<u8>(), 1..200).prop_map(|content| framed(&content)),
        ".{0,80}".prop_map(|text| framed(serde_json::to_string(&text).unwrap().as_bytes())),
        mangled(),
    ];
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let run = runner.run(&(bytes, 0..2_usize), |(bytes, door)| {
        for code in answers(&sockets[door], &bytes) {
            prop_assert_ne!(code, "no fault");
        }
        Ok(())
    });
    run.unwrap();
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::New));
    let status = sandbox.operator().status();
    assert_eq!((status.held.len(), status.frozen), (0, None));
}

#[test]
fn a_mangled_ask_after_a_hello_moves_no_money() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let hello = framed(&serde_json::to_vec(&AgentAsk::Hello { protocol: PROTOCOL, session: None }).unwrap());
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let run = runner.run(&mangled(), |bytes| {
        let codes = answers(&sandbox.profile.agent_sock(), &[hello.clone(), bytes].concat());
        prop_assert_eq!(codes.len(), 2, "the hello and the ask are both answered");
        Ok(())
    });
    run.unwrap();
    assert_eq!(sandbox.operator().status().held, []);
    assert_eq!(sandbox.operator().spent(), "0.00 USD");
}

#[test]
fn a_frame_that_does_not_end_keeps_nobody_waiting() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let mut stalled = Vec::new();
    for path in [sandbox.profile.agent_sock(), sandbox.profile.operator_sock()] {
        let mut stream = UnixStream::connect(path).unwrap();
        stream.write_all(&[0, 0, 1, 0, b'{']).unwrap();
        stalled.push(stream);
    }
    assert!(matches!(sandbox.agent().claim(&errand("a")), Claimed::New));
    assert_eq!(sandbox.operator().spent(), "0.00 USD");
}

/// A real ask with one byte changed or cut short.
fn mangled() -> impl Strategy<Value = Vec<u8>> {
    let asks = [
        AgentAsk::Claim { errand: errand("a") },
        AgentAsk::Authorize { terms: terms(5), envelope: "kept".to_owned(), rules: judged_under() },
        AgentAsk::Quote { errand: errand("a"), terms: Some(terms(5)) },
        AgentAsk::Report(delivered()),
    ]
    .map(|ask| serde_json::to_vec(&ask).unwrap());
    (0..asks.len(), any::<proptest::sample::Index>(), any::<u8>(), any::<bool>()).prop_map(
        move |(which, place, byte, cut)| {
            let mut ask = asks.get(which).unwrap().clone();
            let place = place.index(ask.len());
            if cut {
                ask.truncate(place.max(1));
            } else if let Some(changed) = ask.get_mut(place) {
                *changed = byte;
            }
            framed(&ask)
        },
    )
}
