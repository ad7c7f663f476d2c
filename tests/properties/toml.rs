//! JSON written as TOML: every table in one line. Must never be clever, because it checks the rules' reader.

use serde_json::Value;

/// `table` as a document; members that are `null` are left out, as TOML has no word for them.
pub fn document(table: &Value) -> String {
    members(table).map(|(key, value)| format!("{key} = {value}\n")).collect()
}

fn members(table: &Value) -> impl Iterator<Item = (String, String)> {
    table
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (text(key), written(value)))
}

fn written(value: &Value) -> String {
    match value {
        Value::String(said) => text(said),
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Object(_) => {
            let members: Vec<String> = members(value).map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A basic string; JSON's escapes are among TOML's, which also wants one for DEL.
fn text(said: &str) -> String {
    Value::from(said).to_string().replace('\u{7f}', "\\u007F")
}
