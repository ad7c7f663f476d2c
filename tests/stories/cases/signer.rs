//! Rows that are words to the signer: sent to a real vault as they are, and said again in the vault's own words. Must
//! never let a row pass because nobody answered.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

use bursar_policy::{Amount, ChainId, Terms, Version};
use bursar_vault::client::AgentClient;
use bursar_vault::protocol::frame::{self, ASK_MAX_BYTES, REPLY_MAX_BYTES};
use bursar_vault::protocol::{AgentAsk, AgentReply, Claimed, PROTOCOL, Signed};
use bursar_vault::sign;
use serde_json::{Value, json};

use super::bench::Bench;
use super::policy::{TEST_USDC, URL, USDC, get};
use super::row::Row;

/// The account that the corpus pays from: whichever account the vault has.
const BUYER: &str = "0x3333333333333333333333333333333333333333";
/// How long the reference policy lets an authorization live, seconds.
const LIFE_MAX_S: u64 = 300;

/// Runs a row that is words to the signer; `None` for any other row.
pub(crate) fn run(row: &Row) -> Option<Result<(), String>> {
    if let Some(told) = row.text("/bytes") {
        return Some(frames(&bad_frames(told)));
    }
    let one = row.input.get("request").filter(|_| row.area == "signer").map(|request| vec![request.clone()]);
    let requests = one.or_else(|| row.input.get("requests").and_then(Value::as_array).cloned())?;
    let bench = Bench::new();
    let running = bench.start().unwrap();
    bench.open_session();
    let result = as_they_are(&bench, &requests).and_then(|()| in_our_words(&bench, row, &requests));
    running.stop();
    Some(result)
}

/// The vault has no ask like it, whichever name it goes by: one fault, and nothing is signed.
fn as_they_are(bench: &Bench, requests: &[Value]) -> Result<(), String> {
    let hello = frame::encode(&AgentAsk::Hello { protocol: PROTOCOL, session: None }, ASK_MAX_BYTES).unwrap();
    for request in requests {
        let op = request.get("op").and_then(Value::as_str).unwrap_or("sign_typed_data");
        for ask in [request.clone(), json!({ op: request }), json!({ "authorize": request })] {
            let bytes = [hello.as_slice(), &framed(ask.to_string().as_bytes())].concat();
            let codes = answers(&bench.profile.agent_sock(), &bytes);
            if codes != ["no fault", "bad_frame"] {
                return Err(format!("{ask} was answered by {codes:?}"));
            }
        }
    }
    match bench.logged("signed").len() {
        0 => Ok(()),
        count => Err(format!("{count} signatures")),
    }
}

/// What the vault's own words can say of it is judged. They have no place for a nonce, an account or a moment: those
/// are the vault's.
fn in_our_words(bench: &Bench, row: &Row, requests: &[Value]) -> Result<(), String> {
    let mut nonces = BTreeSet::new();
    let mut signatures = BTreeSet::new();
    let mut refused = Vec::new();
    let sayable: Vec<&Value> = requests.iter().filter(|request| is_sayable(request)).collect();
    for request in &sayable {
        match asked(bench, request)? {
            Ok(signed) => {
                check(bench, row, request, &signed)?;
                nonces.insert(signed.authorization.nonce);
                signatures.insert(signed.signature);
            }
            Err(codes) => refused.push(codes),
        }
    }
    let theirs = |request: &&Value| nonces.iter().any(|nonce| request["nonce"] == format!("0x{}", hex::encode(nonce)));
    if requests.iter().any(|request| theirs(&request)) {
        return Err("a nonce that the asker chose".to_owned());
    }
    let wanted = row.expected.signed;
    let all_refused = signatures.is_empty() && refused.iter().all(|codes| !codes.is_empty());
    // Two with one nonce, or a life of the asker's choice: there is no way to ask for either.
    let cannot_be_asked = 1 < sayable.len() || sayable.iter().any(|request| LIFE_MAX_S < life_s(request));
    match row.expected.act.as_str() {
        "pay" if signatures.len() == wanted && refused.is_empty() => Ok(()),
        "refuse" if all_refused => Ok(()),
        "refuse" if cannot_be_asked && nonces.len() == signatures.len() => Ok(()),
        act => Err(format!("want {act} and {wanted} signatures, got {} and {refused:?}", signatures.len())),
    }
}

fn check(bench: &Bench, row: &Row, request: &Value, signed: &Signed) -> Result<(), String> {
    let authorization = &signed.authorization;
    let digest = authorization.digest(&signed.domain);
    let recovered = signed.signature.parse().ok().and_then(|signature| sign::recover(&digest, &signature));
    if recovered != Some(bench.payer) {
        return Err(format!("the signature recovers to {recovered:?}"));
    }
    let now_s = bench.status().now_s;
    let behind_s = row.text("/chain_time").and_then(|time| time.strip_prefix("now-")).map(|time| time.replace('s', ""));
    let chain_s = now_s.saturating_sub(behind_s.map_or(0, |seconds| seconds.parse().unwrap()));
    if chain_s < authorization.valid_after {
        return Err("it is not valid yet where the chain's clock is behind".to_owned());
    }
    if now_s.saturating_add(life_s(request).min(LIFE_MAX_S)) < authorization.valid_before {
        return Err("it lives longer than was asked for, or than the rules allow".to_owned());
    }
    Ok(())
}

/// One claim and one ask to sign: what was signed, or the codes of the refusals.
fn asked(bench: &Bench, request: &Value) -> Result<Result<Signed, Vec<&'static str>>, String> {
    let Some(terms) = terms(request) else { return Ok(Err(vec!["unreadable"])) };
    let (agent, welcome) = AgentClient::connect(&bench.profile, None).unwrap();
    let errand = get(&format!("{URL}/{}/{}", terms.payee, terms.amount));
    let codes = |refusals: Vec<bursar_policy::Refusal>| refusals.iter().map(bursar_policy::Refusal::code).collect();
    match agent.ask(&AgentAsk::Claim { errand }).unwrap() {
        AgentReply::Claimed(Claimed::New) => {}
        AgentReply::Claimed(Claimed::Resend(signed)) => return Ok(Ok(*signed)),
        AgentReply::Refused(refusals) => return Ok(Err(codes(refusals))),
        other => return Err(format!("{other:?}")),
    }
    match agent.ask(&AgentAsk::Authorize { terms, envelope: String::new(), rules: welcome.rules_digest }).unwrap() {
        AgentReply::Authorized(signed) => Ok(Ok(*signed)),
        AgentReply::Refused(refusals) => Ok(Err(codes(refusals))),
        other => Err(format!("{other:?}")),
    }
}

/// Whether the vault's words have a place for what is asked.
fn is_sayable(request: &Value) -> bool {
    let from_us = request.get("from").is_none_or(|from| from == BUYER);
    request["op"] == "sign_eip3009" && from_us && request.get("primary_type").is_none()
}

/// The request as terms, on the test network; `None` for what is no terms.
fn terms(request: &Value) -> Option<Terms> {
    let text = |name: &str| request.get(name).and_then(Value::as_str);
    let on_base = request["chain"] == 8453;
    let chain = if on_base { ChainId::BASE_SEPOLIA } else { ChainId::new(request["chain"].as_u64()?) };
    let asset = text("asset")?;
    Some(Terms {
        version: Version::V2,
        offer: 0,
        chain,
        asset: if on_base && asset == USDC { TEST_USDC } else { asset }.parse().ok()?,
        payee: text("to")?.parse().ok()?,
        amount: text("value")?.parse::<Amount>().ok()?,
        max_timeout_s: life_s(request),
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    })
}

/// How long it shall be valid, seconds.
fn life_s(request: &Value) -> u64 {
    request["valid_before"].as_str().and_then(|text| text.strip_prefix("now+")?.parse().ok()).unwrap_or(0)
}

/// The frames that a text tells of: lengths, and one that does not end.
fn bad_frames(told: &str) -> Vec<Vec<u8>> {
    let words = told.split(|letter: char| !letter.is_ascii_alphanumeric());
    let length = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    let mut frames: Vec<Vec<u8>> = words.filter_map(length).map(|length| length.to_be_bytes().to_vec()).collect();
    if told.contains("never completes") {
        frames.extend([vec![0, 0], vec![0, 0, 1, 0, b'{']]);
    }
    frames
}

/// Each frame is answered by one fault, or, where it does not end, by the end of the conversation; the vault lives on.
fn frames(frames: &[Vec<u8>]) -> Result<(), String> {
    let bench = Bench::new();
    let running = bench.start().unwrap();
    bench.open_session();
    let mut stalled = Vec::new();
    for path in [bench.profile.agent_sock(), bench.profile.operator_sock()] {
        for bytes in frames {
            let is_whole = bytes.len() == frame::HEADER_BYTES;
            let codes = answers(&path, bytes);
            if codes != if is_whole { vec!["bad_frame"] } else { Vec::new() } {
                return Err(format!("{bytes:?} was answered by {codes:?}"));
            }
            let mut held_open = UnixStream::connect(&path).unwrap();
            held_open.write_all(bytes).unwrap();
            stalled.push(held_open);
        }
    }
    let alive = AgentClient::connect(&bench.profile, None).map(drop).map_err(|fault| fault.to_string());
    running.stop();
    if frames.is_empty() { Err("no frame was told".to_owned()) } else { alive }
}

fn framed(content: &[u8]) -> Vec<u8> {
    [&u32::try_from(content.len()).unwrap().to_be_bytes(), content].concat()
}

/// What a vault says to these bytes before it closes the connection.
fn answers(path: &Path, bytes: &[u8]) -> Vec<String> {
    let mut stream = UnixStream::connect(path).unwrap();
    // The vault may close before it has taken everything.
    drop(stream.write_all(bytes));
    drop(stream.shutdown(Shutdown::Write));
    let mut codes = Vec::new();
    while let Ok(Some(content)) = frame::read(&stream, REPLY_MAX_BYTES, None) {
        let reply: Value = serde_json::from_slice(&content).unwrap();
        codes.push(reply.pointer("/fault/code").and_then(Value::as_str).unwrap_or("no fault").to_owned());
    }
    codes
}

#[test]
fn no_ask_signs_what_the_asker_chose() {
    let ask = |change: &[(&str, Value)]| {
        let mut ask = json!({
            "op": "sign_eip3009", "chain": 8453, "asset": USDC, "from": BUYER, "value": "10000", "valid_after": 0,
            "to": "0x1111111111111111111111111111111111111111", "valid_before": "now+60",
            "nonce": format!("0x{}", "ab".repeat(32)),
        });
        for (name, value) in change {
            ask[*name] = value.clone();
        }
        ask
    };
    let other = json!("0x2222222222222222222222222222222222222222");
    for (input, act, signed) in [
        (json!({ "request": ask(&[]), "chain_time": "now-30s" }), "pay", 1),
        (json!({ "requests": [ask(&[]), ask(&[])] }), "pay", 1),
        (json!({ "requests": [ask(&[]), ask(&[("to", other.clone())])] }), "refuse", 0),
        (json!({ "request": ask(&[("value", json!("50001"))]) }), "refuse", 0),
        (json!({ "request": ask(&[("value", json!("0"))]) }), "refuse", 0),
        (json!({ "request": ask(&[("asset", other.clone())]) }), "refuse", 0),
        (json!({ "request": ask(&[("chain", json!(1))]) }), "refuse", 0),
        (json!({ "request": ask(&[("to", json!(TEST_USDC))]) }), "refuse", 0),
        (json!({ "request": ask(&[("from", other)]) }), "refuse", 0),
        (json!({ "request": ask(&[("primary_type", json!("Permit"))]) }), "refuse", 0),
        (json!({ "request": ask(&[("valid_before", json!("now+1"))]) }), "refuse", 0),
        (json!({ "request": ask(&[("valid_before", json!("now+86400"))]) }), "refuse", 0),
        (json!({ "request": { "typed_data": { "types": { "EIP712Domain": [] } } } }), "refuse", 0),
        (json!({ "request": { "op": "sign_hash", "hash": "0x00" } }), "refuse", 0),
        (json!({ "bytes": "a length of 0xFFFFFFFF, one of 0, and a frame that never completes" }), "refuse", 0),
    ] {
        assert_eq!(run(&Row::ours("signer", input.clone(), act, signed)), Some(Ok(())), "{input}");
    }
    // What should be refused and is signed is told as wrong, and so is what should be signed and is not.
    let wrong = [(ask(&[]), "refuse", 0), (ask(&[("value", json!("50001"))]), "pay", 1)];
    for (request, act, signed) in wrong {
        let row = Row::ours("signer", json!({ "request": request }), act, signed);
        assert!(run(&row).unwrap().is_err(), "{request}");
    }
}
