//! Tests of the parts that all answers share.

use bursar_policy::refusal::Refusal;

use super::{INTERNAL_ERROR, Words, amount, transaction_id, utc};
use crate::payments::Reason;

#[test]
fn times_are_utc_and_never_fail() {
    assert_eq!(utc(0), "1970-01-01T00:00:00Z");
    assert_eq!(utc(1_796_000_000), "2026-11-30T00:53:20Z");
    assert_eq!(utc(u64::MAX), "beyond the calendar");
}

#[test]
fn an_amount_is_the_number_and_the_symbol() {
    let money = "0.000001 USD".parse().unwrap();
    assert_eq!(amount(money, "USDC"), "0.000001 USDC");
    assert_eq!(amount(money, "U\u{202E}\nSDC and more and more"), "0.000001 U\\u{202E}\\u{A}SD…");
}

#[test]
fn a_transaction_is_exact_and_in_lower_case() {
    let digits = "Ab".repeat(32);
    assert_eq!(transaction_id(&format!("0x{digits}")), Some(format!("0x{}", "ab".repeat(32))));
    for bad in [
        digits.clone(),
        format!("0x{digits}0"),
        format!("0x{digits} "),
        "0x".to_owned(),
        format!("0x{}é", "a".repeat(62)),
    ] {
        assert_eq!(transaction_id(&bad), None, "{bad}");
    }
}

#[test]
fn what_is_no_code_is_not_told_as_one() {
    for bad in ["", "Has Space", "camelCase", &"x".repeat(65)] {
        assert_eq!(Words::of_reason(&Reason::new(bad.to_owned(), "x"), None).code, INTERNAL_ERROR);
    }
    assert_eq!(Words::of_reason(&Reason::new("timeout_idle", "x"), None).code, "timeout_idle");
}

#[test]
fn our_own_side_comes_before_the_offer_and_no_reason_is_still_a_refusal() {
    let both = [Refusal::NoOffers, Refusal::WalletLocked];
    assert_eq!(Words::of_refusals(&both).code, "wallet_locked");
    assert_eq!(Words::of_refusals(&[]).code, "offer_refused");
}

#[test]
fn a_mandate_is_told_as_a_code_and_never_which_part_of_it() {
    use bursar_policy::refusal::MandatePart::{Origin, Payee, Price};
    let told = |part| Words::of_refusals(&[Refusal::OutsideMandate { part }, Refusal::NoOffers]);
    let words = told(Origin);
    assert_eq!(words.code, "outside_mandate");
    assert_eq!(words.message, "the operator opened this session for something else");
    let step = "ask the operator, a person, to open a session whose mandate covers it with `bursar session new`";
    assert_eq!(words.next_step.as_deref(), Some(step));
    assert_eq!([told(Payee), told(Price)], [words.clone(), words]);
    let missing = Words::of_refusals(&[Refusal::MandateMissing]);
    assert_eq!(
        (missing.code.as_str(), missing.message.as_str()),
        ("mandate_missing", "the session has no mandate, which the rules want",)
    );
    let step = "ask the operator, a person, to run `bursar session new` with a mandate, which the rules want";
    assert_eq!(missing.next_step.as_deref(), Some(step));
}

/// The list of codes that need a person follows the judge's codes.
#[test]
fn the_codes_for_the_operator_are_codes() {
    for code in super::FOR_THE_OPERATOR {
        assert!(Refusal::CODES.contains(&code), "{code}");
    }
}
