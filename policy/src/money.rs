//! Money: exact amounts of one asset, and exact amounts of one currency. It must never round.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

pub use self::sealed::Amount;
use crate::asset::Asset;
use crate::text_form::text_form;

mod sealed {
    /// Atomic units of one asset, as a token contract counts them; never zero.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Amount(u128);

    impl Amount {
        /// An amount of `units` atomic units; `None` for zero, which nobody needs to sign.
        #[must_use]
        pub const fn new(units: u128) -> Option<Self> {
            if units == 0 { None } else { Some(Self(units)) }
        }

        /// The number of atomic units, 1 to `u128::MAX`.
        #[must_use]
        pub const fn units(self) -> u128 {
            self.0
        }
    }
}

/// Digits of `u256::MAX`: no token amount has more.
const AMOUNT_DIGITS_MAX: usize = 78;
/// Decimals of the finest money step: 10^-18 of the currency unit.
const MONEY_DECIMALS: usize = 18;

/// Why a text is not an [`Amount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountFault {
    /// Empty, or something else than the digits 0 to 9: a sign, a point, an exponent, a space.
    #[error("an amount is written with the digits 0 to 9 and nothing else")]
    NotDigits,
    /// `007`: two texts for one number invite a check of one and a signature of the other.
    #[error("an amount has no leading zero")]
    LeadingZero,
    /// `0`.
    #[error("an amount of zero is never signed")]
    Zero,
    /// More than the 78 digits that a `uint256` can have.
    #[error("an amount has at most 78 digits")]
    TooLong,
    /// A readable number above `u128::MAX`, hence over every cap.
    #[error("the amount is over every cap")]
    TooLarge,
}

impl Amount {
    /// Reads atomic units as x402 sends them: ASCII digits only (x402 `amount`,
    /// `maxAmountRequired`). Guarantees that the text is the one canonical text of the number.
    ///
    /// # Errors
    ///
    /// An [`AmountFault`]; [`AmountFault::TooLarge`] alone means "readable, and over every cap".
    pub fn parse(text: &str) -> Result<Self, AmountFault> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(AmountFault::NotDigits);
        }
        if text == "0" {
            return Err(AmountFault::Zero);
        }
        if text.starts_with('0') {
            return Err(AmountFault::LeadingZero);
        }
        if text.len() > AMOUNT_DIGITS_MAX {
            return Err(AmountFault::TooLong);
        }
        let units = text.parse().map_err(|_overflow| AmountFault::TooLarge)?;
        Self::new(units).ok_or(AmountFault::Zero)
    }
}

impl FromStr for Amount {
    type Err = AmountFault;

    fn from_str(text: &str) -> Result<Self, AmountFault> {
        Self::parse(text)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.units().fmt(out)
    }
}

text_form!(Amount, "atomic units as a string of digits such as \"50000\"");

/// A currency by its three capital letters (ISO 4217 form, such as `USD`). It does not check that
/// the currency exists, and nothing in this crate converts between two of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// The US dollar, which every built-in asset is at par with.
    pub const USD: Self = Self(*b"USD");

    /// The three letters.
    #[must_use]
    pub fn letters(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or("???")
    }
}

impl FromStr for Currency {
    type Err = MoneyFault;

    fn from_str(text: &str) -> Result<Self, MoneyFault> {
        <[u8; 3]>::try_from(text.as_bytes())
            .ok()
            .filter(|letters| letters.iter().all(u8::is_ascii_uppercase))
            .map(Self)
            .ok_or(MoneyFault::Currency)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.letters())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.letters())
    }
}

text_form!(Currency, "a currency of three capital letters such as \"USD\"");

/// Why a text is not [`Money`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyFault {
    /// The currency is not three ASCII capitals after one space.
    #[error("money ends in a space and a currency of three capital letters, as in `0.05 USD`")]
    Currency,
    /// The number is not plain decimal.
    #[error(
        "the number of a money value is plain decimal such as `0.05`: no sign, comma, exponent, \
         leading zero or bare point"
    )]
    Number,
    /// More than 18 digits after the point.
    #[error("money has at most 18 digits after the point")]
    TooFine,
    /// More than `u128::MAX` steps of 10^-18.
    #[error("the money value is too large to be counted")]
    TooLarge,
}

/// An exact amount of one currency, in steps of 10^-18 of its unit; zero is allowed.
///
/// Two values of different currencies never add, subtract or compare.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    currency: Currency,
    atto: u128,
}

impl Money {
    /// `atto` steps of 10^-18 of `currency`.
    #[must_use]
    pub const fn new(currency: Currency, atto: u128) -> Self {
        Self { currency, atto }
    }

    /// No money, in `currency`.
    #[must_use]
    pub const fn zero(currency: Currency) -> Self {
        Self::new(currency, 0)
    }

    /// The currency.
    #[must_use]
    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// The number of steps of 10^-18 of the currency's unit.
    #[must_use]
    pub const fn atto(self) -> u128 {
        self.atto
    }

    /// Whether this is no money at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.atto == 0
    }

    /// The sum; `None` when the currencies differ or the sum cannot be counted.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.same_currency(other)?;
        self.atto.checked_add(other.atto).map(|atto| Self::new(self.currency, atto))
    }

    /// This `times` over; `None` when it cannot be counted.
    #[must_use]
    pub fn checked_times(self, times: u32) -> Option<Self> {
        self.atto.checked_mul(u128::from(times)).map(|atto| Self::new(self.currency, atto))
    }

    /// What is left after taking `other` away, not below zero. Taking another currency away leaves
    /// nothing: an answer that can only make a budget smaller.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        let left = match self.same_currency(other) {
            Some(()) => self.atto.saturating_sub(other.atto),
            None => 0,
        };
        Self::new(self.currency, left)
    }

    /// Whether this is at most `cap`. Money of another currency never is.
    #[must_use]
    pub fn is_within(self, cap: Self) -> bool {
        self.same_currency(cap).is_some() && self.atto <= cap.atto
    }

    /// The money that `amount` of `asset` is at par. `None` when it cannot be counted (above
    /// every cap) or the asset has more than 18 decimals.
    #[must_use]
    pub fn of(amount: Amount, asset: &Asset) -> Option<Self> {
        let atto = amount.units().checked_mul(atto_per_unit(asset)?)?;
        Some(Self::new(asset.currency, atto))
    }

    /// The atomic units of `asset` that are exactly this money. `None` when the currency differs
    /// or the asset has too few decimals to write it.
    #[must_use]
    pub fn to_units(self, asset: &Asset) -> Option<u128> {
        let step = atto_per_unit(asset)?;
        let exact = asset.currency == self.currency && self.atto.checked_rem(step)? == 0;
        if exact { self.atto.checked_div(step) } else { None }
    }

    fn same_currency(self, other: Self) -> Option<()> {
        (self.currency == other.currency).then_some(())
    }
}

/// Steps of 10^-18 in one atomic unit of `asset`.
fn atto_per_unit(asset: &Asset) -> Option<u128> {
    10_u128.checked_pow(18_u32.checked_sub(u32::from(asset.decimals))?)
}

impl FromStr for Money {
    type Err = MoneyFault;

    fn from_str(text: &str) -> Result<Self, MoneyFault> {
        let (number, currency) = text.split_once(' ').ok_or(MoneyFault::Currency)?;
        let currency = currency.parse()?;
        let (whole, fraction) = match number.split_once('.') {
            Some((_, "")) => return Err(MoneyFault::Number),
            Some(parts) => parts,
            None => (number, ""),
        };
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || leading_zero || !digits(whole) || !digits(fraction) {
            return Err(MoneyFault::Number);
        }
        if fraction.len() > MONEY_DECIMALS {
            return Err(MoneyFault::TooFine);
        }
        let mut steps = String::with_capacity(whole.len().saturating_add(MONEY_DECIMALS));
        steps.push_str(whole);
        steps.push_str(fraction);
        for _missing in fraction.len()..MONEY_DECIMALS {
            steps.push('0');
        }
        let atto = steps.parse().map_err(|_overflow| MoneyFault::TooLarge)?;
        Ok(Self::new(currency, atto))
    }
}

impl fmt::Display for Money {
    /// Plain decimal with at least two digits after the point, then the currency: `0.05 USD`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNIT: u128 = 10_u128.pow(18);
        let whole = self.atto.checked_div(UNIT).unwrap_or_default();
        let fraction = alloc::format!("{:018}", self.atto.checked_rem(UNIT).unwrap_or_default());
        let shortest = fraction.trim_end_matches('0').len().max(2);
        let shown = fraction.get(..shortest).unwrap_or(&fraction);
        write!(out, "{whole}.{shown} {}", self.currency)
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

text_form!(Money, "money as a string such as \"0.05 USD\"");
