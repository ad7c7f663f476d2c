//! Amounts and money: one canonical text for each number, and no rounding anywhere.

use bursar_policy::money::{AmountFault, MoneyFault};
use bursar_policy::*;
use proptest::prelude::*;

use crate::builders::{money, usdc};

fn asset(decimals: u8) -> Asset {
    Asset { decimals, ..AssetTable::builtin().find(&usdc()).unwrap().clone() }
}

#[test]
fn an_amount_is_plain_ascii_digits() {
    let bad = [
        "",
        "+10000",
        "-5",
        "10000.0",
        "5e5",
        "0x10",
        " 10000",
        "10000 ",
        "10_000",
        "1,000",
        "٣٣",
        "１０",
        "10000\n",
        "1\u{0}",
        "\u{200b}1",
        "NaN",
        "0b1",
        "1/2",
        "²",
    ];
    for text in bad {
        assert_eq!(Amount::parse(text), Err(AmountFault::NotDigits), "{text:?}");
    }
    for text in ["00", "01", "0010"] {
        assert_eq!(Amount::parse(text), Err(AmountFault::LeadingZero), "{text}");
    }
    assert_eq!(Amount::parse("0"), Err(AmountFault::Zero));
    assert_eq!(Amount::parse("1").unwrap().units(), 1);
}

#[test]
fn an_amount_is_counted_to_u128_and_read_to_78_digits() {
    let most = u128::MAX.to_string();
    assert_eq!(Amount::parse(&most).unwrap().units(), u128::MAX);
    assert_eq!(Amount::parse("340282366920938463463374607431768211456"), Err(AmountFault::TooLarge));
    assert_eq!(Amount::parse(&"9".repeat(78)), Err(AmountFault::TooLarge));
    assert_eq!(Amount::parse(&"9".repeat(79)), Err(AmountFault::TooLong));
    assert_eq!(Amount::new(0), None);
}

#[test]
fn an_amount_crosses_serde_as_a_string_only() {
    let amount: Amount = serde_json::from_str("\"10000\"").unwrap();
    assert_eq!(serde_json::to_string(&amount).unwrap(), "\"10000\"");
    for text in ["10000", "\"+1\"", "1e4", "null", "\"0\""] {
        assert!(serde_json::from_str::<Amount>(text).is_err(), "{text}");
    }
}

#[test]
fn money_is_plain_decimal_and_a_currency() {
    for (text, atto) in [
        ("0.05 USD", 50_000_000_000_000_000),
        ("1 USD", 1_000_000_000_000_000_000),
        ("1.000 USD", 1_000_000_000_000_000_000),
        ("0 USD", 0),
        ("0.000000000000000001 USD", 1),
    ] {
        assert_eq!(money(text).atto(), atto, "{text}");
    }
    let numbers = [
        "1abc USD",
        ".5 USD",
        "5. USD",
        "05 USD",
        "1,000 USD",
        "1.000,00 USD",
        "-1 USD",
        "+1 USD",
        "1e3 USD",
        "1_0 USD",
        "$5 USD",
        "0x5 USD",
        "1.5.5 USD",
        "٥ USD",
        "NaN USD",
        " USD",
        "1.-5 USD",
    ];
    for text in numbers {
        assert_eq!(text.parse::<Money>(), Err(MoneyFault::Number), "{text}");
    }
    for text in ["5", "5USD", "5 usd", "5 US", "5 USDC", " 5 USD", "5  USD", "5 USD ", "", "5 U$D", "5\tUSD"] {
        assert_eq!(text.parse::<Money>(), Err(MoneyFault::Currency), "{text}");
    }
    assert_eq!("0.0000000000000000001 USD".parse::<Money>(), Err(MoneyFault::TooFine));
    assert_eq!("340282366920938463464 USD".parse::<Money>(), Err(MoneyFault::TooLarge));
}

#[test]
fn money_is_shown_with_two_digits_or_as_many_as_it_needs() {
    for (text, shown) in
        [("0.05 USD", "0.05 USD"), ("5 USD", "5.00 USD"), ("0 EUR", "0.00 EUR"), ("0.1234567 USD", "0.1234567 USD")]
    {
        assert_eq!(money(text).to_string(), shown);
    }
}

#[test]
fn developers_read_money_as_people_do() {
    let price = Some(money("0.05 USD"));
    assert_eq!(format!("{price:?}"), "Some(0.05 USD)");
    assert_eq!(format!("{:?}", price.map(Money::currency)), "Some(USD)");
}

#[test]
fn currencies_never_mix() {
    let (dollar, euro) = (money("1 USD"), money("1 EUR"));
    assert_eq!(dollar.checked_add(euro), None);
    assert_eq!(dollar.saturating_sub(euro), money("0 USD"));
    assert!(!dollar.is_within(euro));
    assert_eq!(euro.to_units(&asset(6)), None);
}

#[test]
fn an_asset_is_at_par_by_its_decimals() {
    let amount = Amount::new(50_000).unwrap();
    assert_eq!(Money::of(amount, &asset(6)), Some(money("0.05 USD")));
    assert_eq!(Money::of(amount, &asset(0)), Some(money("50000 USD")));
    assert_eq!(Money::of(amount, &asset(18)).unwrap().atto(), 50_000);
    assert_eq!(Money::of(amount, &asset(19)), None);
    assert_eq!(Money::of(Amount::new(u128::MAX).unwrap(), &asset(6)), None);
    assert_eq!(Money::of(Amount::new(u128::MAX).unwrap(), &asset(18)).unwrap().atto(), u128::MAX);
    assert_eq!(money("0.0000001 USD").to_units(&asset(6)), None);
    assert_eq!(money("0.000001 USD").to_units(&asset(6)), Some(1));
}

proptest! {
    #[test]
    fn no_text_breaks_the_parsers_and_each_value_has_one_text(text in ".{0,90}") {
        if let Ok(amount) = Amount::parse(&text) {
            prop_assert_eq!(amount.to_string(), text.as_str());
        }
        if let Ok(value) = text.parse::<Money>() {
            prop_assert_eq!(value.to_string().parse::<Money>(), Ok(value));
        }
    }

    #[test]
    fn money_survives_its_own_text(atto: u128) {
        let value = Money::new(Currency::USD, atto);
        prop_assert_eq!(value.to_string().parse(), Ok(value));
    }

    #[test]
    fn units_and_money_agree(units in 1..u128::MAX / 1_000_000_000_000, decimals in 0..=18_u8) {
        let amount = Amount::new(units).unwrap();
        if let Some(value) = Money::of(amount, &asset(decimals)) {
            prop_assert_eq!(value.to_units(&asset(decimals)), Some(units));
        }
    }

    #[test]
    fn a_sum_is_exact_or_nothing(one: u128, other: u128) {
        let sum = Money::new(Currency::USD, one).checked_add(Money::new(Currency::USD, other));
        prop_assert_eq!(sum.map(Money::atto), one.checked_add(other));
    }
}
