//! What an edit changes, line by line. An edit is in one place, so what is the same before and after it is left out: it
//! may hold other servers' keys.

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
        all.iter().skip(head).take(count).map(|line| format!("{sign} {}", short(line))).collect()
    };
    let (gone, come) = (between(&old, '-'), between(&new, '+'));
    if gone.is_empty() && come.is_empty() {
        return Vec::new();
    }
    let place = format!("@ line {}", head.saturating_add(1));
    std::iter::once(place).chain(gone).chain(come).collect()
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
    fn a_long_line_is_cut() {
        let shown = lines("", &"é".repeat(500));
        assert_eq!(shown[1].chars().count(), SHOWN + 3);
    }
}
