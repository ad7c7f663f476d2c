//! Holds what came of a story against what it wants, and says every difference at once.

use std::collections::BTreeMap;
use std::fmt::Debug;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bursar_policy::refusal::Refusal;
use serde_json::Value;

use crate::payments;
use crate::play::Played;
use crate::story::{Story, Want, WantContent, WantReceipt};

/// Every difference between `played` and what `story` wants, in words.
pub(crate) fn differences(story: &Story, played: &Played) -> Vec<String> {
    let mut found = Found(payments::faults(played));
    let want = &story.want;
    answers(&mut found, want, played);
    ledger(&mut found, want, played);
    found.same("requests", &want.requests, &played.requests.len());
    found.same("lookups", &want.lookups, &played.lookups);
    found.0.extend(leaks(&want.unheard, played));
    secrets(&mut found, want, played);
    found.0
}

/// Every request carries what the rules say, and nothing of a secret is anywhere but there.
fn secrets(found: &mut Found, want: &Want, played: &Played) {
    for line in &want.sent {
        let (name, value) = line.split_once(": ").unwrap();
        let carries = |request: &crate::seller::Request| {
            request.headers.iter().filter(|(sent, _)| sent == name).map(|(_, value)| value).eq([value])
        };
        found.same(&format!("every request carries `{line}` once"), &true, &played.requests.iter().all(carries));
    }
    let words = played.books.words.as_bytes();
    let log = serde_json::to_vec(&played.books.log).unwrap();
    let answers = played.answers.iter().map(|answer| answer.to_string().into_bytes());
    let places: Vec<Vec<u8>> =
        answers.chain(played.files.iter().cloned()).chain([played.heard.clone(), words.to_vec(), log]).collect();
    for secret in want.before.secrets.values() {
        for form in forms(secret) {
            let holds = |place: &Vec<u8>| place.windows(form.len()).any(|window| window == form.as_bytes());
            found.same(&format!("`{form}` is shown or stored"), &false, &places.iter().any(holds));
        }
    }
}

/// A secret as it is, percent-encoded in both cases, and as it stands inside base64 wherever it begins there.
fn forms(secret: &str) -> Vec<String> {
    let upper: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mut forms = vec![secret.to_owned(), upper.to_ascii_lowercase(), upper];
    for before in 0..3 {
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(format!("{}{secret}", "x".repeat(before)));
            // Without the groups at either end, in which other bytes have a say.
            forms.push(encoded.get(4..encoded.len() - 4).unwrap().to_owned());
        }
    }
    forms
}

/// Differences so far.
struct Found(Vec<String>);

impl Found {
    fn same<T: PartialEq<U> + Debug + ?Sized, U: Debug + ?Sized>(&mut self, what: &str, want: &T, got: &U) {
        if want != got {
            self.0.push(format!("{what}: want {want:?}, got {got:?}"));
        }
    }
}

fn answers(found: &mut Found, want: &Want, played: &Played) {
    let outcome = |told: &Value| told["outcome"].as_str().unwrap_or_default().to_owned();
    let (last, earlier) = played.answers.split_last().unwrap();
    found.same("earlier", &want.earlier, &earlier.iter().map(outcome).collect::<Vec<_>>());
    found.same("outcome", &want.outcome, &outcome(last));
    found.same("shown", want.shown.as_str(), last["code"].as_str().unwrap_or_default());
    found.same("repeat", &want.repeat, &last["repeat"].as_bool().unwrap_or_default());
    found.same("note", &want.note.as_deref(), &last.pointer("/note/code").and_then(Value::as_str));
    if let Some(words) = &want.seller_says {
        let framed = last.pointer("/seller_says/text").and_then(Value::as_str).unwrap_or_default();
        found.same(&format!("`{words}` is in seller_says"), &true, &framed.contains(words.as_str()));
    }
    let counted = ["paid", "paid_content_lost", "unresolved", "prepared", "armed"].contains(&want.outcome.as_str());
    let has_receipt = counted || want.receipt.is_some();
    found.same("the answer has a receipt", &has_receipt, &last.get("receipt").is_some());
    if let Some(wanted) = &want.receipt {
        receipt(found, wanted, &last["receipt"]);
    }
    if let Some(wanted) = &want.content {
        content(found, wanted, &last["content"]);
    }
    if found.0.is_empty() {
        return;
    }
    found.0.push(format!("the last answer was {last}"));
}

fn receipt(found: &mut Found, want: &WantReceipt, got: &Value) {
    let text = |member: &str| got[member].as_str().unwrap_or("none").to_owned();
    found.same("receipt.money", &want.money, &text("money"));
    found.same("receipt.payee", &want.payee, &text("payee"));
    found.same("receipt.network", &want.network, &text("network"));
    found.same("receipt.transaction", &want.transaction, &text("transaction"));
}

fn content(found: &mut Found, want: &WantContent, got: &Value) {
    found.same("content.status", &Some(want.status), &got["status"].as_u64());
    found.same("content.type", &Some(want.kind.as_str()), &got["type"].as_str());
    found.same("content.bytes", &Some(want.bytes), &got["bytes"].as_u64());
    found.same("content.truncated", &Some(want.truncated), &got["truncated"].as_bool());
    found.same("content.stored", &Some(want.stored), &got["stored"].as_bool());
    found.same("content.withheld", &Some(want.withheld), &got["withheld"].as_bool());
    let digest = got["sha256"].as_str().unwrap_or("no digest");
    let ours = got["file"].as_str().is_some_and(|path| path.ends_with(digest));
    found.same("content.file", &want.file, &ours);
    fields(found, want, &got["fields"]);
    let text = got["text"].as_str();
    match &want.text {
        Some(words) => {
            found.same(&format!("`{words}` is in content.text"), &Some(true), &text.map(|text| text.contains(words)))
        }
        None => found.same("content.text", &None::<&str>, &text),
    }
}

/// `[content.fields]`: the words that are framed at a pointer, or the word for what was found there.
fn fields(found: &mut Found, want: &WantContent, got: &Value) {
    let shown = got.as_array().into_iter().flatten().map(|field| {
        let framed = field["value"]["text"].as_str().and_then(|text| text.split('\n').nth(1));
        let words = framed.or(field["found"].as_str()).unwrap_or_default();
        (field["pointer"].as_str().unwrap_or_default().to_owned(), words.to_owned())
    });
    found.same("content.fields", &want.fields, &shown.collect::<BTreeMap<_, _>>());
}

fn ledger(found: &mut Found, want: &Want, played: &Played) {
    let books = &played.books;
    let states: Vec<String> = books.payments.iter().map(state).collect();
    found.same("rows", &want.rows, &states);
    let signed = books.log.iter().filter(|entry| entry.kind == "signed").count();
    found.same("signed", &want.signed, &signed);
    let reasons = refusals(played);
    let logged = want.logged.unwrap_or(want.outcome == "refused");
    let mut wanted: Vec<&str> = want.earlier_reasons.iter().map(String::as_str).collect();
    if logged {
        wanted.extend(std::iter::once(want.code.as_str()).chain(want.also.iter().map(String::as_str)));
    }
    found.same("earlier_reasons, code and also, in the operator's log", &wanted, &reasons);
    if !logged && want.outcome != "refused" {
        found.same("code", &want.code, &want.shown);
    }
    if let Some(spent) = &want.spent {
        let booked = books.session.as_ref().map(|session| session.spent.to_string());
        found.same("spent", &Some(spent.clone()), &booked);
    }
}

/// The word for the state of a row.
pub(crate) fn state(payment: &bursar_vault::protocol::PaymentDetail) -> String {
    serde_json::to_value(payment.receipt.state).unwrap().as_str().unwrap().to_owned()
}

/// The codes of every refusal in the operator's log, in order: `GET https://…; code: sentence; code: sentence`.
fn refusals(played: &Played) -> Vec<&str> {
    let refused = played.books.log.iter().filter(|entry| entry.kind == "refused");
    let parts = refused.flat_map(|entry| entry.detail.split("; "));
    parts.filter_map(|part| part.split(':').next()).filter(|word| Refusal::CODES.contains(word)).collect()
}

/// What was heard where it must not be: anything that moves money in the bytes of the model's side, in the vault's own
/// words or in the log, and any of `unheard` in the bytes of the model's side.
pub(crate) fn leaks(unheard: &[String], played: &Played) -> Vec<String> {
    let heard = String::from_utf8_lossy(&played.heard).to_ascii_lowercase();
    let words = played.books.words.to_ascii_lowercase();
    let log = serde_json::to_string(&played.books.log).unwrap().to_ascii_lowercase();
    let mut found = Vec::new();
    for (place, text) in [("the model", &heard), ("the vault's words", &words), ("the log", &log)] {
        let sent = played.requests.iter().filter_map(|request| request.payment()).map(|(_, value)| value);
        let mut payments = sent.chain(played.redeemed.iter().map(String::as_str));
        if payments.any(|value| text.contains(&value.to_ascii_lowercase())) {
            found.push(format!("a payment header reached {place}"));
        }
        let mut handles = played.answers.iter().filter_map(|told| told.get("handle")).filter_map(Value::as_str);
        if place != "the model" && handles.any(|handle| text.contains(handle)) {
            found.push(format!("a handle reached {place}"));
        }
        if holds_signature(text) {
            found.push(format!("a signature reached {place}"));
        }
    }
    // JSON may write a character as an escape; all forms are looked for.
    for words in unheard {
        let escaped = serde_json::to_string(words).unwrap();
        let forms = [words.to_ascii_lowercase(), escaped.trim_matches('"').to_ascii_lowercase(), spelt(words)];
        if forms.iter().any(|form| heard.contains(form)) {
            found.push(format!("{words:?} reached the model"));
        }
    }
    found
}

/// `text` with every character as a JSON escape.
fn spelt(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// 130 hexadecimal digits in a row, with or without `0x`: r, s and v.
fn holds_signature(text: &str) -> bool {
    let mut run = 0;
    text.bytes().any(|byte| {
        run = if byte.is_ascii_hexdigit() { run + 1 } else { 0 };
        run >= 130
    })
}
