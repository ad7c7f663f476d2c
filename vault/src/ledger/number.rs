//! Numbers on their way into SQLite and back. Must never wrap, cut or round one.

use super::fault::LedgerFault;

/// Digits of `u128::MAX`: every amount is written with this many, so that text order is number order.
pub(super) const WIDTH: usize = 39;

/// An amount as fixed-width text.
pub(crate) fn wide(number: u128) -> String {
    format!("{number:0WIDTH$}")
}

/// An amount back from fixed-width text.
pub(crate) fn narrow(text: &str) -> Result<u128, LedgerFault> {
    let plain = text.len() == WIDTH && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if plain { text.parse().ok() } else { None };
    number.ok_or(LedgerFault::Unreadable { what: "amount" })
}

/// A count or a time as SQLite keeps it.
pub(crate) fn to_sql(number: u64) -> Result<i64, LedgerFault> {
    i64::try_from(number)
        .map_err(|_wide| LedgerFault::Rule { detail: "a number is beyond what SQLite can keep".to_owned() })
}

/// A count or a time as SQLite kept it.
pub(crate) fn from_sql(number: i64) -> Result<u64, LedgerFault> {
    u64::try_from(number).map_err(|_negative| LedgerFault::Unreadable { what: "number" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_their_order_and_their_value_as_text() {
        let numbers = [0, 1, 9, 10, 50_000, u128::from(u64::MAX), u128::MAX - 1, u128::MAX];
        for pair in numbers.windows(2) {
            assert!(wide(pair[0]) < wide(pair[1]), "{pair:?}");
        }
        for number in numbers {
            assert_eq!(wide(number).len(), WIDTH);
            assert_eq!(narrow(&wide(number)), Ok(number));
        }
    }

    #[test]
    fn only_the_full_width_reads_back() {
        for text in
            ["", "1", "+00000000000000000000000000000000000001", &"9".repeat(39), &"0".repeat(40), &" ".repeat(39)]
        {
            assert_eq!(narrow(text), Err(LedgerFault::Unreadable { what: "amount" }), "{text:?}");
        }
    }

    #[test]
    fn a_number_too_large_for_sqlite_is_refused_not_cut() {
        assert!(to_sql(u64::MAX).is_err());
        assert_eq!(to_sql(7), Ok(7));
        assert!(from_sql(-1).is_err());
    }
}
