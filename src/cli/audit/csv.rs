//! Events as a table for spreadsheets (RFC 4180). Must never let a cell be taken for a formula.

use bursar_vault::ledger::{Deal, Exported};

use super::super::table;

/// The columns.
const COLUMNS: [&str; 22] = [
    "seq",
    "at",
    "kind",
    "session",
    "payment",
    "state",
    "amount",
    "symbol",
    "money",
    "currency",
    "payee",
    "payer",
    "network",
    "asset",
    "method",
    "url",
    "transaction",
    "terms_digest",
    "content_digest",
    "nonce",
    "detail",
    "hash",
];

/// The first line.
pub(super) fn head() -> String {
    line(COLUMNS.map(str::to_owned))
}

/// One event. Its line ends with a carriage return, to which whoever writes it adds the line feed.
pub(super) fn row(exported: &Exported) -> String {
    let event = &exported.event;
    let of = |told: fn(&Deal) -> String| exported.deal.as_ref().map(told).unwrap_or_default();
    line([
        event.seq.to_string(),
        table::utc(event.at_s),
        event.kind.clone(),
        exported.session_name.clone().unwrap_or_default(),
        event.payment.clone().unwrap_or_default(),
        of(|deal| deal.state.word().to_owned()),
        of(|deal| deal.amount.to_string()),
        of(|deal| deal.symbol.clone()),
        of(|deal| number(&deal.money.to_string())),
        of(|deal| deal.money.currency().letters().to_owned()),
        of(|deal| deal.payee.to_string()),
        of(|deal| deal.payer.to_string()),
        of(|deal| deal.network.to_string()),
        of(|deal| deal.asset.to_string()),
        of(|deal| deal.method.clone()),
        of(|deal| deal.url.clone()),
        of(|deal| deal.transaction.clone().unwrap_or_default()),
        of(|deal| deal.terms_digest.to_string()),
        of(|deal| deal.content_digest.map(|digest| digest.to_string()).unwrap_or_default()),
        of(|deal| deal.nonce.clone()),
        event.detail.clone(),
        event.hash.clone(),
    ])
}

/// `0.05` of `0.05 USD`.
fn number(money: &str) -> String {
    money.split(' ').next().unwrap_or_default().to_owned()
}

fn line(cells: [String; COLUMNS.len()]) -> String {
    cells.map(|text| cell(&text)).join(",") + "\r"
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
    }

    #[test]
    fn the_first_line_names_every_column() {
        assert_eq!(head().split(',').count(), COLUMNS.len());
        assert!(head().ends_with(",hash\r"));
    }
}
