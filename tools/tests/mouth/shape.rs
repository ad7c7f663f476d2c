//! A small checker of JSON against the few schema words our schemas use. An unknown word is a failure, and so is a
//! member the schema does not name, which makes it stricter than a client.

use serde_json::Value;

/// What is wrong with `value`, if anything.
pub(crate) fn check(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let rules = schema.as_object().expect("a schema is an object");
    for (word, rule) in rules {
        let fits = match word.as_str() {
            "description" | "additionalProperties" => true,
            "type" => is_of_type(rule.as_str().expect("one type"), value),
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => rule.as_u64() <= value.as_u64(),
            "maximum" => value.as_u64() <= rule.as_u64(),
            "required" => rule.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => faults.extend(check(rule, inner, &format!("{at}/{name}"))),
                        None => faults.push(format!("{at}/{name} is not in the schema")),
                    }
                }
                true
            }
            "items" => {
                for (place, inner) in value.as_array().into_iter().flatten().enumerate() {
                    faults.extend(check(rule, inner, &format!("{at}/{place}")));
                }
                true
            }
            other => panic!("{at}: the checker does not know `{other}`"),
        };
        if !fits {
            faults.push(format!("{at}: {value} does not fit {word} {rule}"));
        }
    }
    faults
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        other => panic!("the checker does not know the type `{other}`"),
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    use serde_json::json;
    let schema = json!({
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string", "enum": ["x"]}, "b": {"items": {"minimum": 1, "maximum": 2, "type": "integer"}, "type": "array"}}
    });
    assert!(check(&schema, &json!({"a": "x", "b": [1, 2]}), "").is_empty());
    for bad in [
        json!([]),
        json!({}),
        json!({"a": "y"}),
        json!({"a": 1}),
        json!({"a": "x", "c": 1}),
        json!({"a": "x", "b": [0]}),
        json!({"a": "x", "b": [3]}),
        json!({"a": "x", "b": "x"}),
    ] {
        assert!(!check(&schema, &bad, "").is_empty(), "{bad}");
    }
}
