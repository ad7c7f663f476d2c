//! Answers in exactly one form.

use serde_json::{Value, json};

use super::*;

const HASH: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";

fn refused<T: std::fmt::Debug>(read: Result<T, String>) {
    assert!(read.is_err(), "{read:?}");
}

#[test]
fn an_answer_is_to_this_request_and_says_one_thing() {
    let open = |text: &'static str| open(text.as_bytes(), 7);
    assert_eq!(open(r#"{"jsonrpc":"2.0","id":7,"result":"0x1"}"#), Ok(Answer::Result("\"0x1\"")));
    assert_eq!(open(r#"{"jsonrpc":"2.0","id":7,"result":null}"#), Ok(Answer::Result("null")));
    let said = Answer::Error(-32000, Quoted::of("header not found"));
    assert_eq!(open(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"header not found"}}"#), Ok(said));
    for text in [
        r#"{"jsonrpc":"2.0","id":8,"result":"0x1"}"#,
        r#"{"jsonrpc":"2.0","id":"7","result":"0x1"}"#,
        r#"{"jsonrpc":"2.0","result":"0x1"}"#,
        r#"{"jsonrpc":"1.0","id":7,"result":"0x1"}"#,
        r#"{"id":7,"result":"0x1"}"#,
        r#"{"jsonrpc":"2.0","id":7}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":"0x1","error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"message":"no code"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":"no object"}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":"0x1","result":"0x0"}"#,
        r#"[{"jsonrpc":"2.0","id":7,"result":"0x1"}]"#,
        "",
        "<html>",
    ] {
        refused(open(text));
    }
    refused(super::open(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\xff\"}", 7));
}

#[test]
fn an_endpoints_words_are_cut_and_visible() {
    let long = format!("a\u{1b}[2J{}", "x".repeat(500));
    let text = json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": 3, "message": long } }).to_string();
    let Ok(Answer::Error(3, said)) = open(text.as_bytes(), 7) else { panic!("no error") };
    let said = said.to_string();
    assert!(said.len() <= 80 && said.is_ascii() && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn a_number_has_one_form() {
    for (text, number) in [("0x0", 0), ("0x1", 1), ("0xff", 255), ("0xFF", 255), ("0xffffffffffffffff", u64::MAX)] {
        assert_eq!(quantity(&format!("\"{text}\"")), Ok(number));
    }
    for text in ["", "0x", "0x01", "0x00", "1", "0x1g", "0x-1", "0x+1", "0x 1", "0X1", "0x10000000000000000", "-0x1"] {
        refused(quantity(&format!("\"{text}\"")));
    }
    for text in ["1", "null", "true", "[]", "{}"] {
        refused(quantity(text));
    }
}

#[test]
fn a_hash_has_32_bytes_and_data_whole_ones() {
    assert_eq!(word(&format!("\"{HASH}\"")), Ok(Word([0x11; 32])));
    for text in [&HASH[..65], &format!("{HASH}1"), &HASH[2..], "0x", &HASH.replacen('1', "g", 1)] {
        refused(word(&format!("\"{text}\"")));
    }
    assert_eq!(bytes("\"0x\""), Ok(Vec::new()));
    assert_eq!(bytes("\"0x00fF\""), Ok(vec![0, 255]));
    for text in ["\"0x0\"", "\"00\"", "\"0xzz\"", "null", "7"] {
        refused(bytes(text));
    }
}

/// A value with one member changed, or taken away.
fn with(mut value: Value, pointer: &str, to: Option<Value>) -> String {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let members = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match to {
        Some(to) => members.insert(name.to_owned(), to),
        None => members.remove(name),
    };
    value.to_string()
}

#[test]
fn a_block_says_its_number_hash_and_time() {
    let whole = json!({ "number": "0x10", "hash": HASH, "timestamp": "0x71387b00", "extraData": "0x" });
    let read = Block { number: 16, hash: Word([0x11; 32]), time_s: 0x7138_7b00 };
    assert_eq!(block(&whole.to_string()), Ok(Some(read)));
    assert_eq!(block("null"), Ok(None));
    for name in ["/number", "/hash", "/timestamp"] {
        for to in [None, Some(Value::Null), Some(json!("pending")), Some(json!(16))] {
            refused(block(&with(whole.clone(), name, to)));
        }
    }
    refused(block("[]"));
}

#[test]
fn a_receipt_says_whether_it_took_effect_and_where_with_its_logs() {
    let log = json!({
        "address": "0xaAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa", "topics": [HASH], "data": "0x01", "transactionHash": HASH,
        "blockNumber": "0x10", "blockHash": HASH, "logIndex": "0x0", "removed": false
    });
    let whole = json!({
        "transactionHash": HASH, "status": "0x1", "blockNumber": "0x10", "blockHash": HASH, "logs": [log]
    });
    let read = receipt(&whole.to_string()).unwrap().unwrap();
    assert!(read.succeeded && read.block == 16 && read.logs.len() == 1, "{read:?}");
    assert_eq!(read.logs[0].contract, Address::from_bytes([0xaa; 20]));
    assert!(!receipt(&with(whole.clone(), "/status", Some(json!("0x0")))).unwrap().unwrap().succeeded);
    assert_eq!(receipt("null"), Ok(None));
    for (name, to) in [
        ("/status", None),
        ("/status", Some(json!("0x2"))),
        ("/status", Some(json!(true))),
        ("/blockNumber", Some(Value::Null)),
        ("/blockHash", None),
        ("/transactionHash", Some(json!("0x1"))),
        ("/logs", None),
        ("/logs", Some(json!({}))),
        ("/logs/0/removed", Some(json!(true))),
        ("/logs/0/address", Some(json!("0xaa"))),
        ("/logs/0/topics", Some(json!("none"))),
        ("/logs/0/topics", Some(json!(["0x1"]))),
        ("/logs/0/data", None),
        ("/logs/0/blockNumber", Some(Value::Null)),
    ] {
        let text = match name.strip_prefix("/logs/0") {
            None => with(whole.clone(), name, to),
            Some(inner) => {
                let log: Value = serde_json::from_str(&with(log.clone(), inner, to)).unwrap();
                with(whole.clone(), "/logs", Some(json!([log])))
            }
        };
        refused(receipt(&text));
    }
}

#[test]
fn no_answer_has_endless_logs() {
    let log = json!({
        "address": "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "topics": [], "data": "0x", "transactionHash": HASH,
        "blockNumber": "0x1"
    });
    let many = |count: usize| Value::from(vec![log.clone(); count]).to_string();
    assert_eq!(logs(&many(LOGS_MAX)).unwrap().len(), LOGS_MAX);
    refused(logs(&many(LOGS_MAX + 1)));
}

proptest::proptest! {
    /// Whatever an endpoint sends is a value or a fault of one short line.
    #[test]
    fn no_answer_breaks_the_reader(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), text in ".{0,200}") {
        for body in [bytes.as_slice(), text.as_bytes()] {
            if let Err(fault) = open(body, 1) {
                proptest::prop_assert!(fault.len() < 200 && !fault.contains('\n'), "{}", fault);
            }
        }
        for told in [block(&text).err(), receipt(&text).err(), logs(&text).err(), quantity(&text).err(), bytes_of(&text)] {
            let short = told.is_none_or(|fault| fault.len() < 200 && fault.is_ascii() && !fault.contains('\n'));
            proptest::prop_assert!(short);
        }
    }
}

fn bytes_of(text: &str) -> Option<String> {
    bytes(text).err()
}
