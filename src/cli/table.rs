//! What people look at: tables, lines, times and money. The only file of the command line that prints.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;

use bursar_policy::unseen::{Lines, is_unseen, written_out};
use bursar_vault::platform::private_file;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::exit::Stop;
use crate::platform;

/// The most characters of a stranger's words inside a line of ours.
const REMARK_CHARS: usize = 140;

/// Writes `text` and a line end to standard output.
///
/// # Errors
///
/// When standard output is closed.
pub(super) fn say(text: &str) -> Result<(), Stop> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", visible(text))?;
    Ok(())
}

/// What a mark in front of a line means, to the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Good,
    Odd,
    Bad,
}

impl Paint {
    /// The colour's number in the terminal's own palette (ECMA-48, SGR).
    const fn sgr(self) -> u8 {
        match self {
            Self::Good => 32,
            Self::Odd => 33,
            Self::Bad => 31,
        }
    }
}

/// Writes `text` to standard output, on a terminal in lines no wider than it; those after the first begin with `indent`
/// spaces.
///
/// # Errors
///
/// When standard output is closed.
pub(super) fn say_wrapped(text: &str, indent: usize) -> Result<(), Stop> {
    say(&wrapped(&visible(text), columns(), 0, indent))
}

/// `text` in lines of at most `columns`, the first of which begins behind `taken` of them.
fn wrapped(text: &str, columns: Option<u16>, taken: usize, indent: usize) -> String {
    let Some(columns) = columns.map(usize::from).filter(|columns| indent.saturating_add(20) < *columns) else {
        return text.to_owned();
    };
    let mut lines = String::with_capacity(text.len());
    let mut at = taken;
    for (number, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if number == 0 {
            at = at.saturating_add(length);
        } else if columns < at.saturating_add(length).saturating_add(1) {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            at = indent.saturating_add(length);
        } else {
            lines.push(' ');
            at = at.saturating_add(length).saturating_add(1);
        }
        lines.push_str(word);
    }
    lines
}

/// Writes a mark and `text` to standard output, wrapped as by [`say_wrapped`]; the mark is coloured where that is welcome.
///
/// # Errors
///
/// When standard output is closed.
pub(super) fn say_marked(mark: &str, paint: Paint, text: &str, indent: usize) -> Result<(), Stop> {
    let text = wrapped(&visible(text), columns(), mark.len().saturating_add(2), indent);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}  {text}", painted(mark, paint, colours()))?;
    Ok(())
}

/// Draws a picture of black and white blocks, where a terminal shows it: in its true colours where there are colours, and
/// else as on a dark ground.
///
/// # Errors
///
/// When standard output is closed.
pub(super) fn say_picture(rows: &[String]) -> Result<(), Stop> {
    let mut out = std::io::stdout().lock();
    if !out.is_terminal() {
        return Ok(());
    }
    let (on, off) = if colours() == Colours::Ansi { ("\u{1b}[97;40m", "\u{1b}[0m") } else { ("", "") };
    for row in rows {
        writeln!(out, "  {on}{row}{off}")?;
    }
    Ok(())
}

/// Whether colours are welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colours {
    None,
    Ansi,
}

/// `mark` in its colour where that is welcome.
pub(super) fn painted(mark: &str, paint: Paint, colours: Colours) -> String {
    match colours {
        Colours::None => mark.to_owned(),
        Colours::Ansi => format!("\u{1b}[{}m{mark}\u{1b}[0m", paint.sgr()),
    }
}

/// Whether standard output is a terminal whose owner wants colours (no-color.org).
pub(super) fn colours() -> Colours {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if std::io::stdout().is_terminal() && !is_dumb && !unwanted { Colours::Ansi } else { Colours::None }
}

/// Writes `value` as one line of JSON to standard output.
///
/// # Errors
///
/// When standard output is closed.
pub(super) fn say_json(value: &impl serde::Serialize) -> Result<(), Stop> {
    say(&json_line(value).map_err(std::io::Error::from)?)
}

/// Writes `text` to standard error. A closed standard error is nothing to report anywhere.
pub(super) fn complain(text: &str) {
    let mut err = std::io::stderr().lock();
    if writeln!(err, "{}", visible(text)).is_err() {}
}

/// Standard output for what programs read, byte by byte: whoever writes there has made everything visible already.
pub(super) fn plain_output() -> Box<dyn Write> {
    Box::new(std::io::stdout())
}

/// Says how far something long has come, where a person looks at standard error.
pub(super) fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        complain(text);
    }
}

/// The text with everything that could steer a terminal or hide in it spelled out. Line ends and tabs stay.
///
/// What people look at holds words that came from a seller or from `serve`, which hostile bytes have passed through.
pub(super) fn visible(text: &str) -> String {
    written_out(text, usize::MAX, Lines::Keep).0
}

/// `value` as one line of JSON, with everything unseen in its texts as JSON's own escapes, so that it stays JSON.
pub(super) fn json_line(value: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_unseen(letter) {
            let mut units = [0_u16; 2];
            line.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            line.push(letter);
        }
    }
    Ok(line)
}

/// Writes a stranger's words to standard output, each line behind a mark that none of them can fake the absence of.
///
/// # Errors
///
/// When standard output is closed.
pub(super) fn say_untrusted(words: &str) -> Result<(), Stop> {
    words.lines().try_for_each(|line| say(&format!("    | {line}")))
}

/// A stranger's words inside a line of ours: one line, at most 140 characters.
pub(super) fn remark(words: &str) -> String {
    let mut letters = words.chars();
    let kept: String = letters.by_ref().take(REMARK_CHARS).collect();
    let (shown, cut) = written_out(&kept, REMARK_CHARS, Lines::WriteOut);
    if cut || letters.next().is_some() { format!("{shown}…") } else { shown }
}

/// A number of bytes for people: whole units of 1024, rounded up.
pub(super) fn size(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units.into_iter().find(|(_, unit)| *unit <= bytes);
    unit.map_or_else(|| format!("{bytes} B"), |(name, unit)| format!("{} {name}", bytes.div_ceil(unit)))
}

/// A table with a head; columns named in `right` (from 0) are right-aligned.
pub(super) fn table(head: &[&str], right: &[usize], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    if let Some(columns) = columns() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    }
    table.set_header(head.iter().map(Cell::new));
    for row in rows {
        table.add_row(row);
    }
    for column in right {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// Makes a file for its owner alone; one that is there already is left alone.
///
/// # Errors
///
/// [`Stop`] with exit code 2 when it cannot be made.
pub(super) fn new_file(path: &Path) -> Result<File, Stop> {
    let made = private_file().write(true).create_new(true).open(path);
    made.map_err(|fault| Stop::usage(format!("`{}` cannot be made: {fault}", path.display())))
}

/// The width of the terminal that standard output is, if it is one.
fn columns() -> Option<u16> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    platform::output_size().map(|(_rows, columns)| columns).filter(|columns| *columns >= 40)
}

/// A budget as a bar of `cells`, full where all of it is used.
pub(super) fn bar(used: u128, whole: u128, cells: u16) -> String {
    let filled = used
        .checked_mul(u128::from(cells))
        .and_then(|scaled| scaled.checked_div(whole))
        .map_or(cells, |filled| u16::try_from(filled).unwrap_or(cells).min(cells));
    let empty = cells.saturating_sub(filled);
    let (full, rest) = if std::io::stdout().is_terminal() { ("█", "░") } else { ("#", ".") };
    format!("{}{}", full.repeat(usize::from(filled)), rest.repeat(usize::from(empty)))
}

/// A Unix time as RFC 3339 in UTC, for programs; the bare number beyond the calendar.
pub(super) fn utc(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    at.map_or_else(|| seconds.to_string(), |at| at.to_string())
}

/// A Unix time as local date and time, with the name of the zone.
pub(super) fn time(seconds: u64) -> String {
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .map_or_else(|| format!("{seconds} s"), |at| at.to_zoned(TimeZone::system()).strftime("%F %T %Z").to_string())
}

/// The local day of a Unix time.
pub(super) fn day(seconds: u64) -> String {
    time(seconds).split(' ').next().unwrap_or_default().to_owned()
}

/// How long until `then`, in words; `ended` when it is past.
pub(super) fn left(now: u64, then: u64) -> String {
    let seconds = then.saturating_sub(now);
    match seconds {
        0 => "ended".to_owned(),
        1..=119 => format!("{seconds} s left"),
        120..=7199 => format!("{} min left", seconds / 60),
        _ => format!("{} h left", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_said_can_steer_a_terminal() {
        let hostile = "a\u{1b}[2J\u{9b}31m\rb\u{202e}c\u{200b}d\u{e0041}e\tf";
        let shown = visible(hostile);
        assert!(!shown.chars().any(|letter| letter != '\n' && letter != '\t' && is_unseen(letter)), "{shown}");
        assert!(shown.starts_with("a\\u{1B}[2J") && shown.ends_with("e\tf"), "{shown}");
        assert_eq!(visible("one\ntwo ✓ é █░"), "one\ntwo ✓ é █░");
    }

    #[test]
    fn json_stays_json_and_says_the_same_with_nothing_unseen_in_it() {
        let hostile = "a\u{1b}[2J\u{202e}\u{e0041}\u{10ffff}\"\\\n é 🙂";
        let line = json_line(&[hostile]).unwrap();
        assert!(!line.chars().any(is_unseen), "{line}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&line).unwrap(), [hostile]);
    }

    #[test]
    fn a_remark_is_one_short_line() {
        assert_eq!(remark("https://a.example/x"), "https://a.example/x");
        assert_eq!(remark("a\nb\tc\u{202e}"), "a\\u{A}b\\u{9}c\\u{202E}");
        for long in ["x".repeat(141), "\u{200b}".repeat(30), "é".repeat(200)] {
            let shown = remark(&long);
            assert!(shown.chars().count() <= 141 && shown.ends_with('…'), "{shown}");
        }
        assert_eq!(remark(&"x".repeat(140)), "x".repeat(140));
    }

    #[test]
    fn a_line_is_wrapped_between_words_and_loses_none() {
        let text = "one two three four five six seven eight nine ten eleven twelve";
        let shown = wrapped(text, Some(40), 0, 4);
        assert_eq!(shown, "one two three four five six seven eight\n    nine ten eleven twelve");
        assert_eq!(shown.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
        assert!(wrapped(text, Some(40), 30, 4).starts_with("one two\n    three"));
        assert_eq!(wrapped(text, None, 0, 4), text);
        let long = "x".repeat(90);
        assert_eq!(wrapped(&format!("a {long} b"), Some(40), 0, 2), format!("a\n  {long}\n  b"));
    }

    #[test]
    fn a_bar_is_never_longer_than_its_cells() {
        for (used, whole) in [(0, 10), (3, 10), (10, 10), (25, 10), (u128::MAX, 1), (1, 0)] {
            assert_eq!(bar(used, whole, 12).chars().count(), 12, "{used}/{whole}");
        }
    }

    #[test]
    fn time_left_reads_as_a_person_would_say_it() {
        assert_eq!(left(100, 100), "ended");
        assert_eq!(left(100, 190), "90 s left");
        assert_eq!(left(0, 3600), "60 min left");
        assert_eq!(left(0, 90_000), "25 h left");
    }
}
