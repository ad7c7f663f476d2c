//! What an edit changes, line by line. An edit is in one place, so what is the same before and after it is left out, and of
//! what only moves, as in a file that is one line, no value is shown: it may be another server's key.

/// Longest line that is shown whole, in characters.
const SHOWN: usize = 160;

/// The lines that go, marked `-`, and the lines that come, marked `+`, under the number of the first of them.
pub(super) fn lines(before: &str, after: &str) -> Vec<String> {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = |all: &[&str]| all.len().saturating_sub(head);
    let most = rest(&old).min(rest(&new));
    let same = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    // A bracket that only gets a comma is told as that, so that what comes behind it is seen whole.
    let (was, is) = (old.get(head), new.get(head));
    let gets_a_comma = was.zip(is).is_some_and(|(was, is)| is.strip_suffix(',') == Some(was));
    let tail = if gets_a_comma && same == rest(&old) { same.saturating_sub(1) } else { same };
    let between = |all: &[&str], sign: char| -> Vec<String> {
        let count = rest(all).saturating_sub(tail);
        let shown = |line: &&str| {
            let text = line.trim().trim_end_matches(',');
            let is_new = sign == '+' && !before.contains(text);
            format!("{sign} {}", short(&if is_new { (*line).to_owned() } else { without_values(line) }))
        };
        all.iter().skip(head).take(count).map(shown).collect()
    };
    let (gone, come) = (between(&old, '-'), between(&new, '+'));
    if gone.is_empty() && come.is_empty() {
        return Vec::new();
    }
    let place = format!("@ line {}", head.saturating_add(1));
    std::iter::once(place).chain(gone).chain(come).collect()
}

/// The line with every quoted text that is no key left out.
fn without_values(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, quoted)) = rest.split_once('"') {
        let length = closing(quoted);
        let (text, behind) = quoted.split_at_checked(length).unwrap_or((quoted, ""));
        let is_key = behind.trim_start_matches('"').trim_start().starts_with([':', '=']);
        let is_closed = behind.starts_with('"');
        shown.push_str(&format!("{before}\"{}{}", if is_key { text } else { "…" }, if is_closed { "\"" } else { "" }));
        rest = behind.strip_prefix('"').unwrap_or_default();
    }
    shown + rest
}

/// The length of a quoted text up to the quote that ends it.
fn closing(quoted: &str) -> usize {
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '"' => return at,
            _ => {}
        }
    }
    quoted.len()
}

fn short(line: &str) -> String {
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_shown_with_its_place() {
        let shown = lines("a\nb\nc\nd\n", "a\nb\nx\ny\nd\n");
        assert_eq!(shown, ["@ line 3", "- c", "+ x", "+ y"]);
        assert_eq!(lines("", "a\n"), ["@ line 1", "+ a"]);
        assert_eq!(lines("a\na\n", "a\na\na\n"), ["@ line 3", "+ a"]);
        assert_eq!(lines("a\nb\n", "b\n"), ["@ line 1", "- a"]);
        assert!(lines("same", "same").is_empty());
        let shown = lines("a {\n}\n}\n", "a {\n},\nb {\n}\n}\n");
        assert_eq!(shown, ["@ line 2", "- }", "+ },", "+ b {", "+ }"]);
    }

    #[test]
    fn of_what_moves_no_value_is_shown() {
        let before = r#"{"a":{"env":{"KEY":"s3cr\"et"},"args":["--token","s3cret"]}}"#;
        let after = "{\n  \"a\":{\"env\":{\"KEY\":\"s3cr\\\"et\"},\"args\":[\"--token\",\"s3cret\"]},\n  \"bursar\": {\n    \"command\": \"/opt/bursar\"\n  }\n}";
        let shown = lines(before, after).join("\n");
        assert!(!shown.contains("s3cr") && shown.contains("\"KEY\":\"…\""), "{shown}");
        assert!(shown.contains("\"command\": \"/opt/bursar\""), "{shown}");
        assert_eq!(without_values(r#"a = "x" # "y"#), r#"a = "…" # "…"#);
        assert_eq!(without_values("no quotes"), "no quotes");
    }

    #[test]
    fn a_long_line_is_cut() {
        let shown = lines("", &"é".repeat(500));
        assert_eq!(shown[1].chars().count(), SHOWN + 3);
    }
}
