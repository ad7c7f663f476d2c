//! The corpus's captures of real sellers: each is read and judged to terms or to a named reason.

use std::fs;
use std::path::Path;

use bursar_policy::errand::{Errand, Method};
use bursar_policy::{Address, Site};
use serde_json::Value;

use super::document::{Answer, outcome};
use super::policy;
use super::row::Row;
use super::{CORPUS, otherwise, policy::URL};

/// The captures: file name and content. `None` where there is no corpus.
fn captures() -> Option<Vec<(String, Value)>> {
    let entries = fs::read_dir(Path::new(CORPUS).join("real402")).ok()?;
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    };
    Some(files.iter().map(read).collect())
}

#[test]
fn every_capture_of_a_real_seller_ends_in_terms_or_in_a_named_reason() {
    let Some(captures) = captures() else { return };
    let mut wrong = Vec::new();
    let (mut payable, mut refused) = (0, 0);
    for (name, capture) in &captures {
        if capture["status"] != 402 {
            continue;
        }
        let any_host = Row::ours("", serde_json::json!({ "policy": { "hosts": ["*"] } }), "", 0);
        let result = outcome(&policy::rules(&any_host), &errand(capture), &answer(capture));
        let told = capture["expected_reference_buyer"].as_str().unwrap_or_default();
        match &result {
            Ok(_) => payable += 1,
            Err(_) => refused += 1,
        }
        let is_otherwise = otherwise::kind(name).is_some();
        let differs = match &result {
            Ok(_) => told.starts_with("refuse"),
            Err(codes) => codes.is_empty() || told.starts_with("pay"),
        };
        if differs != is_otherwise {
            wrong.push(format!("{name}: `{told}`, got {:?}", result.map(|(_, terms)| terms.amount)));
        }
    }
    println!("{} captures of real sellers: {payable} payable, {refused} refused by name", captures.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_address_of_a_real_seller_has_a_wrong_checksum() {
    let Some(captures) = captures() else { return };
    let mut count = 0;
    for (name, capture) in &captures {
        let body: Value =
            capture["body_raw"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        for document in [&capture["payment_required_json"], &body] {
            addresses(document, &mut |text| {
                count += 1;
                assert!(text.parse::<Address>().is_ok(), "{name}: {text}");
            });
        }
    }
    assert!(count > 20, "only {count} addresses were found");
}

/// Every `0x` and 40 digits under a member that names an account or a token.
fn addresses(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let text = inner.as_str().filter(|text| text.len() == 42 && text.starts_with("0x"));
                match text {
                    Some(text) if ["payTo", "asset", "recipient"].contains(&name.as_str()) => see(text),
                    _ => addresses(inner, see),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| addresses(item, see)),
        _ => {}
    }
}

fn answer(capture: &Value) -> Answer {
    let headers = capture["headers"].as_object().into_iter().flatten();
    let headers = headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.as_bytes().to_vec())));
    Answer { headers: headers.collect(), body: capture["body_raw"].as_str().unwrap_or_default().as_bytes().to_vec() }
}

/// A call of the URL that the seller names itself, where it is one.
fn errand(capture: &Value) -> Errand {
    let body: Value = capture["body_raw"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let header = &capture["payment_required_json"];
    let named =
        [&header["resource"]["url"], &body["resource"]["url"], &body["accepts"][0]["resource"], &header["resource"]];
    let named = named.iter().find_map(|value| Site::parse(&value.as_str()?.replace("http://", "https://")).ok());
    let site = named.unwrap_or_else(|| Site::parse(URL).unwrap());
    Errand::new(site, Method::Get)
}
