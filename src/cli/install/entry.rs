//! One server as a client starts it: what bursar registers, and what of it is read back.

use std::path::Path;

use serde_json::{Map, Value};

use super::client::{Fixed, Part};

/// What is registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registration {
    /// The name of the entry.
    pub(super) name: String,
    /// The absolute path of this program.
    pub(super) program: String,
    /// What it is started with.
    pub(super) arguments: Vec<String>,
}

/// A member of an entry.
pub(super) type Member = (&'static str, Value);

impl Registration {
    /// Every member of a new entry, in its order.
    pub(super) fn members(&self, shape: &[Part]) -> Vec<Member> {
        shape.iter().map(|part| self.member(*part)).collect()
    }

    /// The members that say what is started. Everything else in an entry that is there is its owner's.
    pub(super) fn starting(&self, shape: &[Part]) -> Vec<Member> {
        let says_what = |part: &&Part| matches!(part, Part::Program(_) | Part::Arguments(_) | Part::Line(_));
        shape.iter().filter(says_what).map(|part| self.member(*part)).collect()
    }

    fn member(&self, part: Part) -> Member {
        let arguments = || self.arguments.iter().cloned().map(Value::String);
        match part {
            Part::Program(key) => (key, Value::String(self.program.clone())),
            Part::Arguments(key) => (key, Value::Array(arguments().collect())),
            Part::Line(key) => {
                (key, Value::Array(std::iter::once(Value::String(self.program.clone())).chain(arguments()).collect()))
            }
            Part::Name(key) => (key, Value::String(self.name.clone())),
            Part::Fixed(key, Fixed::Text(text)) => (key, Value::String(text.to_owned())),
            Part::Fixed(key, Fixed::Flag(flag)) => (key, Value::Bool(flag)),
        }
    }
}

/// The words that an entry starts a program with; none where it starts none, or in another way than `shape` says.
pub(super) fn words(entry: &Map<String, Value>, shape: &[Part]) -> Vec<String> {
    let texts = |key: &str| -> Vec<String> {
        match entry.get(key) {
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let mut words = Vec::new();
    for part in shape {
        match part {
            Part::Program(key) | Part::Line(key) => words.splice(0..0, texts(key)).for_each(drop),
            Part::Arguments(key) => words.extend(texts(key)),
            Part::Name(_) | Part::Fixed(..) => {}
        }
    }
    words
}

/// Whether words start bursar as a server.
pub(super) fn is_bursar(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let named = Path::new(program).file_name().and_then(|name| name.to_str());
    named.is_some_and(|name| name.starts_with("bursar")) && arguments.iter().any(|word| word == "serve")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::client::CLIENTS;
    use super::*;

    #[test]
    fn what_is_registered_with_any_client_reads_back_as_the_same_words() {
        let registration = Registration {
            name: "bursar".to_owned(),
            program: "/opt/my tools/bursar".to_owned(),
            arguments: ["--profile", "work", "serve"].map(str::to_owned).to_vec(),
        };
        for client in CLIENTS {
            let entry: Map<String, Value> =
                registration.members(client.shape).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            let read = words(&entry, client.shape);
            assert_eq!(read, ["/opt/my tools/bursar", "--profile", "work", "serve"], "{}", client.id);
            assert!(is_bursar(&read));
        }
    }

    #[test]
    fn other_programs_are_not_taken_for_bursar() {
        let entry = json!({ "command": "npx", "args": ["-y", "bursar", "serve"] });
        assert!(!is_bursar(&words(entry.as_object().unwrap(), CLIENTS[0].shape)));
        for words in [&["/opt/bursar"][..], &["/opt/other", "serve"], &[]] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert!(!is_bursar(&words), "{words:?}");
        }
    }
}
