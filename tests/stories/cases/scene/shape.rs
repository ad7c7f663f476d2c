//! Rows that say as data what a seller answers: a status, a body, a settlement. A row is known by its members, so that
//! another row of the same shape needs nothing new here.

use serde_json::{Map, Value};

use super::super::policy::{TEST_USDC, USDC};
use super::super::row::Row;
use super::{GOODS, Scene, ask, honest, offer, ok, reply, settlement, terms};

/// The scene of a row of a known shape.
pub(super) fn of(row: &Row) -> Option<Scene> {
    let input = &row.input;
    let bought = |answer: Vec<u8>| Scene::new(vec![ask(&terms(&[offer("10000")])), answer]);
    if let Some(claim) = input.get("settlement").filter(|claim| claim.is_object()) {
        return Some(bought(ok(&settlement("PAYMENT-RESPONSE", claim), GOODS)).delivering(GOODS));
    }
    if let Some(paid) = input.get("response_to_paid").and_then(Value::as_object) {
        return Some(bought(answer(paid)?));
    }
    if let Some(given) = input.get("response").and_then(Value::as_object) {
        let answer = answer(given)?;
        return Some(if row.expected.signed == 0 { Scene::new(vec![answer]) } else { bought(answer) });
    }
    if row.area == "content"
        && let Some(body) = row.text("/body")
    {
        // Whoever is held sends no word of a settlement.
        let word = if row.expected.ledger.as_deref() == Some("held") { String::new() } else { honest() };
        let paid = ok(&format!("Content-Type: text/plain; charset=utf-8\r\n{word}"), body);
        return Some(bought(paid).delivering(body).showing_text());
    }
    let is_bare = |members: &Map<String, Value>| members.keys().all(|name| ["status", "body"].contains(&name.as_str()));
    input.as_object().filter(|members| is_bare(members)).and_then(answer).map(|answer| Scene::new(vec![answer]))
}

/// The bytes of an answer: its status, its headers and its body as far as they are said. `None` where it has no status.
fn answer(given: &Map<String, Value>) -> Option<Vec<u8>> {
    let status = given.get("status")?.as_u64()?;
    let headers = given.get("headers").and_then(Value::as_object).into_iter().flatten();
    let headers: String = headers.map(|(name, value)| header(name, value)).collect();
    let usual = if status == 200 { GOODS } else { "" };
    let body = given.get("body").map_or_else(|| usual.to_owned(), text);
    Some(reply(&format!("{status} Said"), &headers, &body))
}

/// A document goes into its header in base64, and to the test network, where these stories are.
fn header(name: &str, value: &Value) -> String {
    if !value.is_object() {
        return format!("{name}: {}\r\n", text(value));
    }
    let document = value.to_string().replace("eip155:8453", "eip155:84532").replace(USDC, TEST_USDC);
    format!("{name}: {{base64 {}}}\r\n", document.replace("USD Coin", "USDC"))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
