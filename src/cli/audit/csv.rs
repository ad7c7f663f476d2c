//! Events as a table for spreadsheets.

use bursar_vault::ledger::{Deal, Exported};

use super::super::cells::{line, number};
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_every_column() {
        assert_eq!(head().split(',').count(), COLUMNS.len());
        assert!(head().ends_with(",hash\r"));
    }
}
