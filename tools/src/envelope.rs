//! One line of input to one JSON-RPC message, or to the error that answers it. Pure.
//!
//! Must never let a message through whose meaning depends on the reader: see [`crate::strict_json`].
//!
//! Notifications of the client end here, except `notifications/cancelled`, which is handed on as [`Envelope::Cancel`]. A
//! response is handed on for whoever knows whether the client was asked.

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, ProtocolVersion, RequestId};
use serde_json::{Map, Value};

use crate::strict_json::{self, DEPTH_MAX, Fault};
use crate::untrusted::line;

/// The methods that this server answers. Nothing else reaches the MCP library.
const SERVED: [&str; 5] = ["initialize", "ping", "server/discover", "tools/list", "tools/call"];

/// Those of them that ended with the handshake; a request of a revision without one finds no such method (MCP 2026-07-28).
const OF_A_HANDSHAKE: [&str; 2] = ["initialize", "ping"];

/// What one line turned out to be.
#[derive(Debug)]
pub(crate) enum Envelope {
    /// A request, with its id.
    Request(RequestId, Box<ClientJsonRpcMessage>),
    /// The client no longer waits for the answer to this request.
    Cancel(RequestId),
    /// The client's answer to a request of ours, if it was asked one.
    Response(RequestId, Box<ClientJsonRpcMessage>),
    /// A blank line, a notification, or a response that nobody can read: nothing to do, nothing to answer.
    Nothing,
    /// Not a message; this is the answer, with the id where one could be read.
    Invalid(Option<RequestId>, ErrorData),
}

/// Reads one line, without its line feed.
pub(crate) fn open(line: &[u8]) -> Envelope {
    let Ok(text) = core::str::from_utf8(line) else {
        return unparsable("the line is not UTF-8");
    };
    if text.trim().is_empty() {
        return Envelope::Nothing;
    }
    let Ok(reading) = strict_json::read(text) else {
        return unparsable("the line is not one JSON text");
    };
    let Value::Object(members) = reading.value else {
        return Envelope::Invalid(
            None,
            ErrorData::invalid_request("a message is one JSON object on one line; batches are not taken", None),
        );
    };
    let id = request_id(members.get("id"));
    match reading.fault {
        Some(Fault::DuplicateKey) => Envelope::Invalid(
            id,
            ErrorData::invalid_request("a key stands twice in one object, so the message has two meanings", None),
        ),
        Some(Fault::TooDeep) => Envelope::Invalid(
            id,
            ErrorData::invalid_request(format!("the message is nested deeper than {DEPTH_MAX}"), None),
        ),
        None => sort(members, id),
    }
}

/// The answer to a line that is longer than the cap; the id is read from it if all of it is there.
pub(crate) fn too_long(line: Option<&[u8]>, cap_bytes: usize) -> Envelope {
    let id = line
        .and_then(|bytes| core::str::from_utf8(bytes).ok())
        .and_then(|text| strict_json::read(text).ok())
        .and_then(|reading| request_id(reading.value.get("id")));
    Envelope::Invalid(id, ErrorData::invalid_request(format!("the line is longer than {cap_bytes} bytes"), None))
}

/// The id of a request: a string or an integer, nothing else.
fn request_id(member: Option<&Value>) -> Option<RequestId> {
    match member? {
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

fn sort(mut members: Map<String, Value>, id: Option<RequestId>) -> Envelope {
    let invalid = |id, why| Envelope::Invalid(id, ErrorData::invalid_request(why, None));
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id, "the member `jsonrpc` must be \"2.0\"");
    }
    let outcome = members.contains_key("result") || members.contains_key("error");
    let method = match members.get("method") {
        Some(Value::String(method)) if !outcome => method.clone(),
        None if outcome => return response(members, id),
        _ => return invalid(id, "a request has a `method`, a string, and neither `result` nor `error`"),
    };
    if !members.contains_key("id") {
        return notification(&method, &members);
    }
    let Some(id) = id else {
        return invalid(None, "the member `id` must be a string or an integer");
    };
    match members.get("params") {
        // Some clients write a missing member as null.
        Some(Value::Null) => drop(members.remove("params")),
        None | Some(Value::Object(_)) => {}
        Some(_) => return bad_params(id, "`params` must be an object"),
    }
    request(members, id, &method)
}

fn response(members: Map<String, Value>, id: Option<RequestId>) -> Envelope {
    match (id, serde_json::from_value::<ClientJsonRpcMessage>(Value::Object(members))) {
        (Some(id), Ok(message @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)))) => {
            Envelope::Response(id, Box::new(message))
        }
        _ => Envelope::Nothing,
    }
}

fn notification(method: &str, members: &Map<String, Value>) -> Envelope {
    if method != "notifications/cancelled" {
        return Envelope::Nothing;
    }
    let named = members.get("params").and_then(|params| params.get("requestId"));
    request_id(named).map_or(Envelope::Nothing, Envelope::Cancel)
}

fn request(members: Map<String, Value>, id: RequestId, method: &str) -> Envelope {
    if !SERVED.contains(&method) || OF_A_HANDSHAKE.contains(&method) && has_no_handshake(&members) {
        let why =
            format!("there is no method `{}`; bursar offers tools, by `tools/list` and `tools/call`", line(method, 64));
        return Envelope::Invalid(Some(id), ErrorData::new(ErrorCode::METHOD_NOT_FOUND, why, None));
    }
    if method == "tools/call" {
        let part = |name| members.get("params").and_then(|params| params.get(name));
        if !part("name").is_some_and(Value::is_string) {
            return bad_params(id, "`name` must be a string");
        }
        if !part("arguments").is_none_or(|given| given.is_object() || given.is_null()) {
            return bad_params(id, "`arguments` must be an object");
        }
    }
    match serde_json::from_value::<ClientJsonRpcMessage>(Value::Object(members)) {
        // A method whose params do not fit is read as an unknown one: that is no message.
        Ok(message @ JsonRpcMessage::Request(_)) if !is_unknown(&message) => Envelope::Request(id, Box::new(message)),
        _ => bad_params(id, "the params do not fit the method"),
    }
}

/// Whether the request says that it is of a revision without a handshake.
fn has_no_handshake(members: &Map<String, Value>) -> bool {
    let stated = members
        .get("params")
        .and_then(|params| params.get("_meta"))
        .and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
    stated
        .and_then(|version| serde_json::from_value::<ProtocolVersion>(version.clone()).ok())
        .is_some_and(|version| !version.has_initialize())
}

fn is_unknown(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CustomRequest(_)))
}

fn bad_params(id: RequestId, why: &'static str) -> Envelope {
    Envelope::Invalid(Some(id), ErrorData::invalid_params(why, None))
}

fn unparsable(why: &'static str) -> Envelope {
    Envelope::Invalid(None, ErrorData::parse_error(why, None))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmcp::model::{ErrorCode, RequestId};

    use super::{Envelope, open, too_long};

    fn refused(line: &str) -> (Option<RequestId>, i32) {
        match open(line.as_bytes()) {
            Envelope::Invalid(id, error) => (id, error.code.0),
            other => panic!("{line} was read as {other:?}"),
        }
    }

    #[test]
    fn what_is_wrong_is_answered_with_the_id_where_there_is_one() {
        let (request, params, parse) =
            (ErrorCode::INVALID_REQUEST.0, ErrorCode::INVALID_PARAMS.0, ErrorCode::PARSE_ERROR.0);
        let unknown = ErrorCode::METHOD_NOT_FOUND.0;
        let seven = Some(RequestId::Number(7));
        let cases = [
            ("{", None, parse),
            ("[]", None, request),
            ("\"x\"", None, request),
            (r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#, None, request),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, seven.clone(), request),
            (r#"{"id":7,"method":"ping"}"#, seven.clone(), request),
            (r#"{"jsonrpc":"2.0","id":null,"method":"tools/call"}"#, None, request),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None, request),
            (r#"{"jsonrpc":"2.0","id":7.0,"method":"ping"}"#, None, request),
            (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, None, request),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, None, request),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, seven.clone(), request),
            (r#"{"jsonrpc":"2.0","id":7}"#, seven.clone(), request),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#, seven.clone(), request),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#, seven.clone(), params),
            (r#"{"jsonrpc":"2.0","id":7,"method":"no/such","params":[]}"#, seven.clone(), params),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#, seven.clone(), params),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":[1]}}"#,
                seven.clone(),
                params,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","_meta":3}}"#,
                seven.clone(),
                params,
            ),
            (r#"{"jsonrpc":"2.0","id":7,"method":"initialize"}"#, seven.clone(), params),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1,"a":2}}"#, seven.clone(), request),
            (r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#, None, request),
            (r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#, seven.clone(), unknown),
            (r#"{"jsonrpc":"2.0","id":7,"method":"resources/list","params":{}}"#, seven.clone(), unknown),
            (r#"{"jsonrpc":"2.0","id":7,"method":"notifications/cancelled"}"#, seven.clone(), unknown),
        ];
        for (line, id, code) in cases {
            assert_eq!(refused(line), (id, code), "{line}");
        }
        assert!(matches!(open(b"\xFF\xFE"), Envelope::Invalid(None, error) if error.code == ErrorCode::PARSE_ERROR));
    }

    #[test]
    fn what_needs_no_answer_gets_none() {
        for line in [
            "",
            "  \t",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{"action":"accept"}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":"x"}}"#,
        ] {
            assert!(matches!(open(line.as_bytes()), Envelope::Nothing), "{line}");
        }
    }

    #[test]
    fn an_answer_of_the_client_comes_with_its_id_and_asks_for_none() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
        ] {
            let open = open(line.as_bytes());
            assert!(matches!(&open, Envelope::Response(RequestId::Number(1), _)), "{line}: {open:?}");
        }
    }

    #[test]
    fn requests_and_cancellations_come_through() {
        for line in [
            r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":null}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":null}}"#,
        ] {
            assert!(matches!(open(line.as_bytes()), Envelope::Request(RequestId::String(_), _)), "{line}");
        }
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
        assert!(matches!(open(cancel.as_bytes()), Envelope::Cancel(RequestId::Number(9))));
    }

    #[test]
    fn a_revision_without_a_handshake_has_no_greeting_and_no_ping() {
        for method in ["initialize", "ping"] {
            let of = |version: &str| {
                format!(
                    r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"protocolVersion":"2025-11-25",
                    "capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}},
                    "_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}"}}}}}}"#
                )
            };
            assert_eq!(refused(&of("2026-07-28")), (Some(RequestId::Number(7)), ErrorCode::METHOD_NOT_FOUND.0));
            assert!(matches!(open(of("2025-11-25").as_bytes()), Envelope::Request(..)), "{method}");
        }
    }

    #[test]
    fn a_line_too_long_is_answered_by_id_if_it_can_be_read() {
        let whole = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        assert!(matches!(too_long(Some(whole), 10), Envelope::Invalid(Some(RequestId::Number(7)), _)));
        assert!(matches!(too_long(Some(b"{"), 10), Envelope::Invalid(None, _)));
        assert!(matches!(too_long(None, 10), Envelope::Invalid(None, _)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            drop(open(&bytes));
        }

        #[test]
        fn no_members_make_it_panic(
            id in "(null|1|\"a\"|1\\.5|\\{\\})",
            method in "(\"tools/call\"|\"initialize\"|\"ping\"|3|\"\")",
            params in "(null|\\[\\]|\\{\\}|\\{\"name\":\"x\",\"arguments\":3\\}|7)",
        ) {
            drop(open(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#).as_bytes()));
        }
    }
}
