//! What a page shows beside what a command said. `…` stands for anything in a line, and alone for any lines.

use regex_lite::{Captures, Regex};
use serde_json::Value;

/// The first line of the page that the output does not have in its place, or `None` where they agree.
pub(crate) fn difference(page: &[String], said: &str) -> Option<String> {
    let wanted: Vec<String> = page.iter().map(|line| plain(line)).filter(|line| !line.is_empty()).collect();
    let said: Vec<String> = said.lines().map(plain).filter(|line| !line.is_empty()).collect();
    let mut reached = 0;
    if agree(&wanted, &said, 0, &mut reached) {
        return None;
    }
    let line = wanted.get(reached).map_or("(the page ends here, and the output goes on)", String::as_str);
    Some(format!("`{line}` is not in its place in:\n{}", said.join("\n")))
}

/// A line without what only lays it out: runs of spaces and of a table's lines count as one.
fn plain(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    for letter in line.replace('\t', " ").chars() {
        let repeats = matches!(letter, ' ' | '─' | '═' | '╌') && kept.ends_with(letter);
        if !repeats && letter != '\r' {
            kept.push(letter);
        }
    }
    kept.trim().to_owned()
}

/// Whether the lines agree from here on; `reached` becomes the furthest line of the page that did not.
fn agree(wanted: &[String], said: &[String], at: usize, reached: &mut usize) -> bool {
    *reached = at.max(*reached);
    let Some(line) = wanted.get(at) else { return said.is_empty() };
    let next = at.saturating_add(1);
    if line == "…" {
        return (0..=said.len()).any(|skipped| agree(wanted, &said[skipped..], next, reached));
    }
    said.first().is_some_and(|first| is_like(line, first)) && agree(wanted, &said[1..], next, reached)
}

/// Whether a line is as the page shows it.
fn is_like(wanted: &str, said: &str) -> bool {
    pattern(wanted).is_match(said)
}

/// What a line of the page may be. A name of an account stands for any account, which it then names.
fn pattern(wanted: &str) -> Regex {
    let pattern = wanted.split('…').map(regex_lite::escape).collect::<Vec<_>>().join(".*");
    let pattern =
        name_of_an_account().replace_all(&pattern, |name: &Captures| format!("(?<{}>0x[0-9a-fA-F]{{40}})", &name[1]));
    Regex::new(&format!("(?s)^{pattern}$")).unwrap()
}

/// How a page calls an account that is another one each time: `0xOldAccount`.
fn name_of_an_account() -> Regex {
    Regex::new("0x([A-Z][a-z]+Account)").unwrap()
}

/// The accounts that the page gives names to, from a screen that agrees with it.
pub(crate) fn named(page: &[String], said: &str) -> Vec<(String, String)> {
    let said: Vec<String> = said.lines().map(plain).collect();
    let mut named = Vec::new();
    for line in page.iter().map(|line| plain(line)) {
        for name in name_of_an_account().captures_iter(&line) {
            let found =
                said.iter().find_map(|said| pattern(&line).captures(said)?.name(&name[1]).map(|at| at.as_str()));
            named.extend(found.map(|account| (name[0].to_owned(), account.to_owned())));
        }
    }
    named
}

/// What of a page's JSON the answer does not have, as a path; `None` where it has all of it. The answer may have more.
pub(crate) fn missing(wanted: &Value, said: &Value, path: &str) -> Option<String> {
    match (wanted, said) {
        (Value::Object(wanted), Value::Object(said)) => wanted.iter().find_map(|(key, value)| {
            let path = format!("{path}/{key}");
            said.get(key).map_or_else(|| Some(path.clone()), |said| missing(value, said, &path))
        }),
        (Value::Array(wanted), Value::Array(said)) if wanted.len() == said.len() => {
            wanted.iter().zip(said).find_map(|(wanted, said)| missing(wanted, said, path))
        }
        (Value::String(wanted), Value::String(said)) if is_like(&plain(wanted), &plain(said)) => None,
        _ if wanted == said => None,
        _ => Some(format!("{path}: {said}")),
    }
}

#[test]
fn a_page_differs_from_another_output_and_not_from_its_own() {
    let page = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let said = "one 1\ntwo   two\n\n├──────┤\nlast\n";
    for same in ["one 1\ntwo two\n├─┤\nlast", "one …\n…\nlast", "…", "one 1\n…\n├─┤\n…\nlast\n…"]
    {
        assert_eq!(difference(&page(same), said), None, "{same}");
    }
    for other in ["one 1", "one 2\n…", "one 1\n…\nthree\n…", "…\nlast\nmore", "ne 1\n…", "one 1\nlast"] {
        assert!(difference(&page(other), said).is_some(), "{other}");
    }
    let account = format!("0x{}", "1a".repeat(20));
    let (shown, said) = (page("before 0xOldAccount; …"), format!("before   {account}; its key"));
    assert_eq!(difference(&shown, &said), None);
    assert_eq!(named(&shown, &said), [("0xOldAccount".to_owned(), account)]);
    assert!(difference(&shown, "before 0x12; its key").is_some());
    let said = serde_json::json!({"a": "x-1", "b": [1, {"c": null}], "d": 4});
    assert_eq!(missing(&serde_json::json!({"a": "x-…", "b": [1, {}]}), &said, ""), None);
    for other in [serde_json::json!({"a": "y-…"}), serde_json::json!({"b": [1]}), serde_json::json!({"e": 1})] {
        assert!(missing(&other, &said, "").is_some(), "{other}");
    }
}
