//! Lines of a table for spreadsheets (RFC 4180). Must never let a cell be taken for a formula.

use super::table;

/// One line, without its line feed: it ends with a carriage return, to which whoever writes it adds that.
pub(super) fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|text| cell(&text)).collect();
    cells.join(",") + "\r"
}

/// `0.05` of `0.05 USD`.
pub(super) fn number(money: &str) -> String {
    money.split(' ').next().unwrap_or_default().to_owned()
}

/// One cell: an apostrophe before what a spreadsheet would work out, quotes around what would end it.
fn cell(text: &str) -> String {
    let text = &table::visible(text);
    let text = if text.starts_with(['=', '+', '-', '@', '\t']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_ends_where_it_should_and_is_no_formula() {
        for (text, written) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-1,2", "\"'-1,2\""),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("", ""),
        ] {
            assert_eq!(cell(text), written, "{text}");
        }
        assert_eq!(line(["a".to_owned(), "b,c".to_owned()]), "a,\"b,c\"\r");
    }
}
