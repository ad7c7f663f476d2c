//! Atomic units of a six-decimal dollar token as people write them: `0.05`.
//!
//! For showing only: it must never feed an amount back into a payment.

const UNITS_IN_A_DOLLAR: u128 = 1_000_000;
const DECIMALS: usize = 6;

/// `units` in dollars, with two digits after the point, or as many as are needed to be exact.
pub(crate) fn dollars(units: u128) -> String {
    let whole = units.checked_div(UNITS_IN_A_DOLLAR).unwrap_or(0);
    let rest = units.checked_rem(UNITS_IN_A_DOLLAR).unwrap_or(0);
    let mut fraction = format!("{rest:0DECIMALS$}");
    while 2 < fraction.len() && fraction.ends_with('0') {
        fraction.pop();
    }
    format!("{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn dollars_are_exact_and_have_at_least_two_digits() {
        for (units, text) in [
            (0, "0.00"),
            (1, "0.000001"),
            (50_000, "0.05"),
            (200_000, "0.20"),
            (1_000_000, "1.00"),
            (12_345_600, "12.3456"),
            (u128::MAX, "340282366920938463463374607431768.211455"),
        ] {
            assert_eq!(dollars(units), text);
        }
    }
}
