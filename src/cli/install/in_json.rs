//! JSON with comments, edited as a tree that keeps every space, comment and line end. Must never read what is not JSON.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::edit::{Ask, EditFault, Format, line_of};
use super::entry::Member;

/// Comments and trailing commas, as the clients themselves take them; no other liberty.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// What the text means; null where it holds nothing.
pub(super) fn tree(text: &str) -> Result<Value, EditFault> {
    Ok(root(text)?.to_serde_value().unwrap_or(Value::Null))
}

/// The text after the edit.
pub(super) fn edited(text: &str, servers: &str, name: &str, ask: Ask<'_>) -> Result<String, EditFault> {
    let root = root(text)?;
    let top = root.object_value_or_create().ok_or(EditFault::NoPlace)?;
    single(&top, servers)?;
    let list = top.object_value_or_create(servers).or_else(|| {
        let null = top.get(servers).filter(|there| there.to_serde_value() == Some(Value::Null))?;
        Some(null.object_value_or_set())
    });
    let list = list.ok_or(EditFault::NoPlace)?;
    single(&list, name)?;
    match (ask, list.get(name)) {
        (Ask::Add(members), None) => drop(list.append(name, object(members))),
        (Ask::Change(members), Some(there)) => {
            let entry = there.object_value().ok_or(EditFault::NoPlace)?;
            for (key, value) in members {
                single(&entry, key)?;
                match entry.get(key) {
                    Some(member) if member.to_serde_value().as_ref() == Some(value) => {}
                    Some(member) => member.set_value(input(value)),
                    None => drop(entry.append(key, input(value))),
                }
            }
        }
        (Ask::Remove, Some(there)) => there.remove(),
        _ => return Err(EditFault::NoPlace),
    }
    Ok(root.to_string())
}

/// Must not be dropped before the tree's last use: its nodes know their parents weakly.
fn root(text: &str) -> Result<CstRootNode, EditFault> {
    CstRootNode::parse(text, &OPTIONS).map_err(|fault| EditFault::Unreadable {
        line: line_of(text, fault.range().start),
        format: Format::Json.name(),
        said: fault.kind().to_string(),
    })
}

/// Refuses an object that has `key` more than once.
fn single(object: &CstObject, key: &str) -> Result<(), EditFault> {
    let count = object.properties().iter().filter(|member| member.decoded_name().as_deref() == Some(key)).count();
    if count < 2 { Ok(()) } else { Err(EditFault::Doubled { key: key.to_owned() }) }
}

fn object(members: &[Member]) -> CstInputValue {
    CstInputValue::Object(members.iter().map(|(key, value)| ((*key).to_owned(), input(value))).collect())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
