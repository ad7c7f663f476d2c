//! JSON read without forgiveness: no key twice in one object at any depth, and no deeper than [`DEPTH_MAX`].
//!
//! Must never pick one of two values for a key: a reader that shows the other one would be fooled.

use core::cell::Cell;
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The most arrays and objects one inside the other.
pub(crate) const DEPTH_MAX: u32 = 64;

/// What a text that is JSON may still not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A key stands twice in one object.
    DuplicateKey,
    /// Arrays and objects are nested too deep.
    TooDeep,
}

/// A text that is JSON, and the first fault found in it.
#[derive(Debug, PartialEq)]
pub(crate) struct Reading {
    /// What it says; a doubled key and whatever is too deep read as null.
    pub(crate) value: Value,
    /// Why it must not be acted on.
    pub(crate) fault: Option<Fault>,
}

/// Reads one JSON text to its end.
///
/// # Errors
///
/// When it is not JSON, or something follows it.
pub(crate) fn read(text: &str) -> Result<Reading, serde_json::Error> {
    let fault = Cell::new(None);
    let mut source = serde_json::Deserializer::from_str(text);
    let value = Node { depth: 1, fault: &fault }.deserialize(&mut source)?;
    source.end()?;
    Ok(Reading { value, fault: fault.get() })
}

/// One value. `depth` is 1 for the outermost.
#[derive(Clone, Copy)]
struct Node<'a> {
    depth: u32,
    fault: &'a Cell<Option<Fault>>,
}

impl Node<'_> {
    fn inner(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }

    /// Notes a container that is too deep; its inside is then skipped, which the JSON reader does without recursion.
    fn too_deep(self) -> bool {
        let too_deep = DEPTH_MAX < self.depth;
        if too_deep {
            self.note(Fault::TooDeep);
        }
        too_deep
    }

    fn note(self, fault: Fault) {
        if self.fault.get().is_none() {
            self.fault.set(Some(fault));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        if self.too_deep() {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self.inner())? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        if self.too_deep() {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        }
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(self.inner())?;
            if members.contains_key(&key) {
                self.note(Fault::DuplicateKey);
                members.insert(key, Value::Null);
            } else {
                members.insert(key, value);
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{DEPTH_MAX, Fault, read};

    #[test]
    fn what_is_fine_reads_as_usual() {
        let text = r#"{"a":[1,-2,1.5,"x",null,true],"b":{"a":{"a":1}}}"#;
        let reading = read(text).unwrap();
        assert_eq!(reading.fault, None);
        assert_eq!(reading.value, serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn a_key_twice_is_a_fault_at_any_depth_and_in_any_spelling() {
        for text in
            [r#"{"url":"a","url":"b"}"#, r#"{"x":[{"url":"a","\u0075rl":"b"}]}"#, r#"{"x":{"y":{"z":1,"z":1}}}"#]
        {
            assert_eq!(read(text).unwrap().fault, Some(Fault::DuplicateKey), "{text}");
        }
        let reading = read(r#"{"id":3,"x":{"k":1,"k":2}}"#).unwrap();
        assert_eq!(reading.value["id"], json!(3));
        assert_eq!(read(r#"{"id":3,"id":4}"#).unwrap().value["id"], Value::Null);
    }

    #[test]
    fn depth_is_counted_and_the_rest_is_still_read() {
        let nest = |depth: u32| {
            let depth = usize::try_from(depth).unwrap();
            format!("{}{}", "[".repeat(depth), "]".repeat(depth))
        };
        assert_eq!(read(&nest(DEPTH_MAX)).unwrap().fault, None);
        assert_eq!(read(&nest(DEPTH_MAX + 1)).unwrap().fault, Some(Fault::TooDeep));
        let reading = read(&format!(r#"{{"deep":{},"id":"q"}}"#, nest(5000))).unwrap();
        assert_eq!(reading.fault, Some(Fault::TooDeep));
        assert_eq!(reading.value["id"], json!("q"));
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in ["", "{", "{}x", "[1,]", "nul", "\"\\ud800\"", "1e999", "{'a':1}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics(text in ".{0,200}") {
            drop(read(&text));
        }
    }
}
