//! An exact amount of a currency: a whole number of the smallest units of its chain.

use std::cmp::Ordering;
use std::fmt;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, ToPrimitive, Zero};

use super::Currency;
use crate::decimal;
use crate::rate::Rounding;

/// The maximum number of smallest units: far above every supply, and far below the limit of `u128`.
const MAX_UNITS: u128 = 10_u128.pow(33);

/// An amount of a currency, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CryptoAmount {
    currency: Currency,
    units: u128,
}

/// The reason an amount is invalid. Messages are safe to show to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CryptoAmountError {
    /// The text is not a decimal number.
    #[error("must be a decimal number")]
    NotANumber,
    /// The value is below zero.
    #[error("must not be negative")]
    Negative,
    /// The value has more decimals than the currency has on its chain.
    #[error("must have at most {max} decimals")]
    TooManyDecimals {
        /// The decimals of the currency on its chain.
        max: u32,
    },
    /// The value is higher than 10³³ smallest units, far above the supply of every currency.
    #[error("is too large")]
    OutOfRange,
    /// Two amounts have different currencies.
    #[error("the currencies differ")]
    CurrenciesDiffer,
}

impl CryptoAmount {
    /// Returns zero coins.
    #[must_use]
    pub const fn zero(currency: Currency) -> Self {
        Self { currency, units: 0 }
    }

    /// Creates an amount from a number of the chain's smallest units, for example satoshi or sun.
    ///
    /// # Errors
    /// [`CryptoAmountError::OutOfRange`].
    pub const fn from_units(currency: Currency, units: u128) -> Result<Self, CryptoAmountError> {
        if units > MAX_UNITS { Err(CryptoAmountError::OutOfRange) } else { Ok(Self { currency, units }) }
    }

    /// Parses a decimal number, with or without an exponent. Trailing zeros do not count as decimals. The value is not
    /// rounded.
    ///
    /// # Errors
    /// [`CryptoAmountError`] with the violated rule.
    pub fn parse(currency: Currency, text: &str) -> Result<Self, CryptoAmountError> {
        let value = decimal::read(text).ok_or(CryptoAmountError::NotANumber)?;
        let floor = Self::from_decimal(currency, &value, currency.chain_decimals(), Rounding::Floor)?;
        if floor.to_decimal() == value {
            Ok(floor)
        } else {
            Err(CryptoAmountError::TooManyDecimals { max: currency.chain_decimals() })
        }
    }

    /// Parses a decimal number, and rounds the value like [`Self::from_decimal`].
    ///
    /// # Errors
    /// [`CryptoAmountError`] with the violated rule.
    pub fn parse_rounded(
        currency: Currency,
        text: &str,
        decimals: u32,
        rounding: Rounding,
    ) -> Result<Self, CryptoAmountError> {
        let value = decimal::read(text).ok_or(CryptoAmountError::NotANumber)?;
        Self::from_decimal(currency, &value, decimals, rounding)
    }

    /// Rounds an exact value in coins to `decimals` decimals, or to the decimals of the chain if these are fewer.
    ///
    /// # Errors
    /// [`CryptoAmountError::Negative`], [`CryptoAmountError::OutOfRange`].
    pub fn from_decimal(
        currency: Currency,
        value: &BigDecimal,
        decimals: u32,
        rounding: Rounding,
    ) -> Result<Self, CryptoAmountError> {
        if *value < BigDecimal::zero() {
            return Err(CryptoAmountError::Negative);
        }
        let decimals = i64::from(decimals.min(currency.chain_decimals()));
        let rounded = value.with_scale_round(decimals, rounding.into());
        let (units, _) = rounded.with_scale(i64::from(currency.chain_decimals())).into_bigint_and_scale();
        Self::from_units(currency, units.to_u128().ok_or(CryptoAmountError::OutOfRange)?)
    }

    /// Returns the exact value in coins.
    #[must_use]
    pub fn to_decimal(self) -> BigDecimal {
        BigDecimal::new(BigInt::from(self.units), i64::from(self.currency.chain_decimals()))
    }

    /// Returns the currency.
    #[must_use]
    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// Returns the number of smallest units of the chain.
    #[must_use]
    pub const fn units(self) -> u128 {
        self.units
    }

    /// Returns whether the amount is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.units == 0
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// [`CryptoAmountError::CurrenciesDiffer`], [`CryptoAmountError::OutOfRange`].
    pub fn checked_add(self, other: Self) -> Result<Self, CryptoAmountError> {
        self.same_currency(other)?;
        let units = self.units.checked_add(other.units).ok_or(CryptoAmountError::OutOfRange)?;
        Self::from_units(self.currency, units)
    }

    /// Returns this amount minus another.
    ///
    /// # Errors
    /// [`CryptoAmountError::CurrenciesDiffer`], [`CryptoAmountError::Negative`].
    pub fn checked_sub(self, other: Self) -> Result<Self, CryptoAmountError> {
        self.same_currency(other)?;
        let units = self.units.checked_sub(other.units).ok_or(CryptoAmountError::Negative)?;
        Self::from_units(self.currency, units)
    }

    /// Compares two amounts of one currency.
    ///
    /// # Errors
    /// [`CryptoAmountError::CurrenciesDiffer`].
    pub fn compare(self, other: Self) -> Result<Ordering, CryptoAmountError> {
        self.same_currency(other)?;
        Ok(self.units.cmp(&other.units))
    }

    fn same_currency(self, other: Self) -> Result<(), CryptoAmountError> {
        if self.currency == other.currency { Ok(()) } else { Err(CryptoAmountError::CurrenciesDiffer) }
    }
}

/// Formats the exact value without trailing zeros and without an exponent: `0.0017`, `12`.
impl fmt::Display for CryptoAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_decimal().normalized().to_plain_string())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    fn parse(currency: Currency, text: &str) -> Result<String, CryptoAmountError> {
        CryptoAmount::parse(currency, text).map(|amount| amount.to_string())
    }

    #[test]
    fn amount_is_read_and_written_exactly() {
        for (currency, text, written) in [
            (Currency::Btc, "0.17070286", "0.17070286"),
            (Currency::Btc, "1e-8", "0.00000001"),
            (Currency::Btc, "21000000.00000000", "21000000"),
            (Currency::UsdtBsc, "1000000.000000000000000001", "1000000.000000000000000001"),
            (Currency::UsdtBsc, "1.0001341847350678", "1.0001341847350678"),
            (Currency::Trx, "412.5", "412.5"),
            (Currency::Trx, "1E3", "1000"),
            (Currency::Trx, "0.000", "0"),
            (Currency::Ltc, "-0", "0"),
        ] {
            assert_eq!(parse(currency, text).as_deref(), Ok(written), "{text}");
        }
    }

    #[test]
    fn invalid_amount_is_refused_with_the_violated_rule() {
        for (currency, text, error) in [
            (Currency::Btc, "0.000000001", CryptoAmountError::TooManyDecimals { max: 8 }),
            (Currency::UsdtErc20, "1.0000001", CryptoAmountError::TooManyDecimals { max: 6 }),
            (Currency::Btc, "-1", CryptoAmountError::Negative),
            (Currency::Btc, "1e40", CryptoAmountError::OutOfRange),
            (Currency::Btc, "1e999999999", CryptoAmountError::NotANumber),
            (Currency::Btc, "1e-999999999", CryptoAmountError::NotANumber),
            (Currency::Btc, "", CryptoAmountError::NotANumber),
            (Currency::Btc, "1,5", CryptoAmountError::NotANumber),
            (Currency::Btc, "+1", CryptoAmountError::NotANumber),
            (Currency::Btc, "1_000", CryptoAmountError::NotANumber),
            (Currency::Btc, "NaN", CryptoAmountError::NotANumber),
            (Currency::Btc, " 1", CryptoAmountError::NotANumber),
        ] {
            assert_eq!(parse(currency, text), Err(error), "{text}");
        }
    }

    #[test]
    fn excess_decimals_are_rounded_as_requested() {
        for (text, decimals, rounding, expected) in [
            ("1.0000001", 6, Rounding::Floor, "1"),
            ("1.0000001", 6, Rounding::Ceiling, "1.000001"),
            ("10.98424792", 6, Rounding::Ceiling, "10.984248"),
            ("0.0000000000000000001", 18, Rounding::Ceiling, "0.000000000000000001"),
            ("5", 6, Rounding::Ceiling, "5"),
        ] {
            let got = CryptoAmount::parse_rounded(Currency::UsdtBsc, text, decimals, rounding).unwrap();
            assert_eq!(got.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn amounts_of_two_currencies_never_mix() {
        let (btc, ltc) = (CryptoAmount::zero(Currency::Btc), CryptoAmount::zero(Currency::Ltc));
        assert_eq!(btc.checked_add(ltc), Err(CryptoAmountError::CurrenciesDiffer));
        assert_eq!(btc.checked_sub(ltc), Err(CryptoAmountError::CurrenciesDiffer));
        assert_eq!(btc.compare(ltc), Err(CryptoAmountError::CurrenciesDiffer));
    }

    proptest! {
        #[test]
        fn written_amount_reads_back(units in 0..=MAX_UNITS, index in 0..Currency::ALL.len()) {
            let currency = Currency::ALL.into_iter().nth(index).unwrap();
            let amount = CryptoAmount::from_units(currency, units).unwrap();
            prop_assert_eq!(CryptoAmount::parse(currency, &amount.to_string()), Ok(amount));
            prop_assert_eq!(CryptoAmount::parse(currency, &amount.to_decimal().to_scientific_notation()), Ok(amount));
        }
    }
}
