//! As much of JSON Schema (draft 7) as `schema/bursar.schema.json` uses; a word it does not know is a failed test.

use std::collections::BTreeSet;

use regex_lite::Regex;
use serde_json::Value;

/// What is wrong with `value` by `schema`, in words; nothing when it is right. `root` holds the definitions.
pub fn faults(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(root, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    for (word, wanted) in schema.as_object().expect("a schema is an object") {
        let right = match word.as_str() {
            "$schema" | "title" | "description" | "default" | "examples" | "definitions" | "then" | "else" => true,
            "if" => {
                let branch = if faults(root, wanted, value).is_empty() { "then" } else { "else" };
                check(root, &schema[branch], value, place, found);
                true
            }
            "not" => !faults(root, wanted, value).is_empty(),
            "$ref" => {
                let name = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                check(root, root.pointer(name).unwrap_or_else(|| panic!("no {name}")), value, place, found);
                true
            }
            "type" => is_of(wanted.as_str().unwrap(), value),
            "enum" => wanted.as_array().unwrap().contains(value),
            "const" => wanted == value,
            "pattern" => value.as_str().is_none_or(|text| Regex::new(wanted.as_str().unwrap()).unwrap().is_match(text)),
            "minLength" => value.as_str().is_none_or(|text| wanted.as_u64().unwrap() <= count(text.chars().count())),
            "minItems" => value.as_array().is_none_or(|list| wanted.as_u64().unwrap() <= count(list.len())),
            "maxItems" => value.as_array().is_none_or(|list| count(list.len()) <= wanted.as_u64().unwrap()),
            "minimum" => value.as_i64().is_none_or(|number| wanted.as_i64().unwrap() <= number),
            "maximum" => value.as_i64().is_none_or(|number| number <= wanted.as_i64().unwrap()),
            "uniqueItems" => value
                .as_array()
                .is_none_or(|list| list.iter().map(Value::to_string).collect::<BTreeSet<_>>().len() == list.len()),
            "required" => value.as_object().is_none_or(|members| {
                wanted.as_array().unwrap().iter().all(|name| members.contains_key(name.as_str().unwrap()))
            }),
            "anyOf" => branches(root, wanted, value).any(|right| right),
            "allOf" => branches(root, wanted, value).all(|right| right),
            "oneOf" => branches(root, wanted, value).filter(|right| *right).count() == 1,
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, wanted, item, &format!("{place}/{number}"), found);
                }
                true
            }
            "properties" => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = wanted.get(name) {
                        check(root, schema, member, &format!("{place}/{name}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
                let further = value.as_object().into_iter().flatten().filter(|(name, _)| !is_known(name));
                match wanted {
                    Value::Bool(allowed) => *allowed || further.count() == 0,
                    schema => {
                        further.for_each(|(name, member)| {
                            check(root, schema, member, &format!("{place}/{name}"), found);
                        });
                        true
                    }
                }
            }
            unknown => panic!("this checker does not know `{unknown}`"),
        };
        if !right {
            found.push(format!("{place}: {word} {wanted}, got {value}"));
        }
    }
}

fn branches<'a>(root: &'a Value, schemas: &'a Value, value: &'a Value) -> impl Iterator<Item = bool> + 'a {
    schemas.as_array().unwrap().iter().map(move |schema| faults(root, schema, value).is_empty())
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        unknown => panic!("this checker does not know the type `{unknown}`"),
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap()
}
