//! The price of a coin in BRL: from the coin in USDT, BRL per USD, and the account's spread. A USDT counts as a USD.

use std::fmt;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, One as _, Zero as _};
use jiff::{SignedDuration, Timestamp};

use super::{CryptoAmount, CryptoAmountError, Currency, Side, rounding};
use crate::decimal;
use crate::money::{Money, MoneyError};
use crate::rate::{Percentage, PercentageError, Rounding};

/// The greatest age of a coin's price. Quotes live as long, so a price is at most twice as old when it is used.
pub const MAX_COIN_PRICE_AGE: SignedDuration = SignedDuration::from_mins(1);
/// The greatest age of the Central Bank's rate, which is published on business days. Between Carnival's Friday and the
/// afternoon of Ash Wednesday five days pass.
pub const MAX_USD_RATE_AGE: SignedDuration = SignedDuration::from_hours(6 * 24);
/// The tolerated lead of the clock of a source of rates.
const MAX_CLOCK_LEAD: SignedDuration = SignedDuration::from_mins(1);
/// Decimals of a rate.
const RATE_DECIMALS: i64 = 8;
/// The greatest factor between two rates of a currency within [`MAX_COMPARED_AGE`]. No supported coin moves as far in a day.
const MAX_JUMP: u32 = 2;
/// The age of the older rate up to which two rates are compared.
pub const MAX_COMPARED_AGE: SignedDuration = SignedDuration::from_hours(24);

/// The largest spread, in percent. Rates of both sides and of all accounts are compared, so a larger spread would look
/// like a jump.
const MAX_SPREAD: u32 = 10;

/// The text is not a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SpreadError {
    /// The text is not a percentage.
    #[error(transparent)]
    Percentage(#[from] PercentageError),
    /// The spread is above the largest one.
    #[error("must be at most {MAX_SPREAD}")]
    TooLarge,
}

/// Parses a spread in percent, such as `1.5`.
///
/// # Errors
/// [`SpreadError`].
pub fn parse_spread(text: &str) -> Result<Percentage, SpreadError> {
    let spread = Percentage::parse(text)?;
    let max = BigDecimal::from(MAX_SPREAD);
    if *spread.as_decimal() > max { Err(SpreadError::TooLarge) } else { Ok(spread) }
}

/// A positive exact rate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(BigDecimal);

/// The text is not a positive decimal number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a rate must be a positive decimal number")]
pub struct InvalidRate;

impl Rate {
    /// Parses a decimal number without rounding.
    ///
    /// # Errors
    /// [`InvalidRate`].
    pub fn parse(text: &str) -> Result<Self, InvalidRate> {
        decimal::read(text).and_then(|value| Self::new(&value)).ok_or(InvalidRate)
    }

    fn new(value: &BigDecimal) -> Option<Self> {
        (*value > BigDecimal::zero()).then(|| Self(value.normalized()))
    }

    /// Returns the value.
    #[must_use]
    pub const fn as_decimal(&self) -> &BigDecimal {
        &self.0
    }

    /// Returns whether this rate may follow `earlier` within [`MAX_COMPARED_AGE`]: at most twice, and at least half of it.
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "a BigDecimal grows instead of overflowing")]
    pub fn may_follow(&self, earlier: &Self) -> bool {
        let times = BigDecimal::from(MAX_JUMP);
        self.0 <= &earlier.0 * &times && earlier.0 <= &self.0 * &times
    }
}

/// No needless zeros and no exponent: `312345.6`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_plain_string())
    }
}

/// The inputs of a rate. A quote stores them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RateInputs {
    /// USDT for one coin, as the processor estimates it; 1 for USDT itself.
    pub usdt_per_coin: Rate,
    /// The instant of the estimate.
    pub coin_priced_at: Timestamp,
    /// BRL for one USD, as the Central Bank publishes it.
    pub brl_per_usd: Rate,
    /// The instant of the publication.
    pub usd_priced_at: Timestamp,
    /// The account's spread. The payer's coin is worth less by it, and the recipient's coin costs more by it.
    pub spread: Percentage,
}

/// The reason for which no rate is given. The operation fails closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// The coin's price is older than [`MAX_COIN_PRICE_AGE`], or from the future.
    #[error("the price of the coin is out of date")]
    CoinPriceAge,
    /// The Central Bank's rate is older than [`MAX_USD_RATE_AGE`], or from the future.
    #[error("the rate of the US dollar is out of date")]
    UsdRateAge,
    /// The rate is zero after the spread and the rounding.
    #[error("the rate is zero")]
    Zero,
}

impl RateInputs {
    /// Returns BRL for one coin at `now`. A rate of a deposit is rounded down, that of a withdrawal up.
    ///
    /// # Errors
    /// [`RateError`].
    #[expect(clippy::arithmetic_side_effects, reason = "a BigDecimal grows instead of overflowing")]
    pub fn rate(&self, side: Side, now: Timestamp) -> Result<Rate, RateError> {
        if !is_fresh(self.coin_priced_at, MAX_COIN_PRICE_AGE, now) {
            return Err(RateError::CoinPriceAge);
        }
        if !is_fresh(self.usd_priced_at, MAX_USD_RATE_AGE, now) {
            return Err(RateError::UsdRateAge);
        }
        let spread = self.spread.as_decimal() * BigDecimal::new(BigInt::from(1), 2);
        let (factor, rounding) = match side {
            Side::Deposit => (BigDecimal::one() - spread, rounding::DEPOSIT_RATE),
            Side::Withdrawal => (BigDecimal::one() + spread, rounding::WITHDRAWAL_RATE),
        };
        let exact = &self.usdt_per_coin.0 * &self.brl_per_usd.0 * factor;
        Rate::new(&exact.with_scale_round(RATE_DECIMALS, rounding.into())).ok_or(RateError::Zero)
    }
}

/// Returns whether `at` is at most `limit` before `now`, and not after it.
fn is_fresh(at: Timestamp, limit: SignedDuration, now: Timestamp) -> bool {
    let age = now.duration_since(at);
    age <= limit && age >= -MAX_CLOCK_LEAD
}

/// Returns the requested coins.
///
/// # Errors
/// [`CryptoAmountError`].
pub fn coins_to_pay_in(amount: Money, rate: &Rate, currency: Currency) -> Result<CryptoAmount, CryptoAmountError> {
    coins_for(&reais(amount), rate, currency, (currency.deposit_decimals(), rounding::COINS_TO_PAY_IN))
}

/// Returns the coins that a recipient gets.
///
/// # Errors
/// [`CryptoAmountError`].
pub fn coins_paid_out(amount: Money, rate: &Rate, currency: Currency) -> Result<CryptoAmount, CryptoAmountError> {
    coins_for(&reais(amount), rate, currency, (currency.withdrawal_decimals(), rounding::COINS_PAID_OUT))
}

/// Returns the BRL that arrived coins are worth.
///
/// # Errors
/// [`MoneyError::OutOfRange`].
pub fn worth_of_coins(coins: CryptoAmount, rate: &Rate) -> Result<Money, MoneyError> {
    in_reais(coins, rate, rounding::WORTH_OF_COINS)
}

/// Returns coins in BRL, to the centavo.
#[expect(clippy::arithmetic_side_effects, reason = "a BigDecimal grows instead of overflowing")]
pub(super) fn in_reais(coins: CryptoAmount, rate: &Rate, rounding: Rounding) -> Result<Money, MoneyError> {
    let exact = coins.to_decimal() * rate.as_decimal();
    Money::parse(&exact.with_scale_round(2, rounding.into()).to_plain_string())
}

/// Returns the coins that cost `value` at `rate`, by an exact division that is rounded once.
pub(super) fn coins_for(
    value: &BigDecimal,
    rate: &Rate,
    currency: Currency,
    (decimals, rounding): (u32, Rounding),
) -> Result<CryptoAmount, CryptoAmountError> {
    let quotient = divide(value, rate, decimals, rounding);
    CryptoAmount::from_decimal(currency, &quotient, decimals, rounding)
}

fn reais(amount: Money) -> BigDecimal {
    BigDecimal::new(BigInt::from(amount.centavos()), 2)
}

/// Divides whole numbers, because a quotient of decimals has no end.
#[expect(clippy::arithmetic_side_effects, reason = "a BigInt grows instead of overflowing, and a rate is not zero")]
fn divide(value: &BigDecimal, by: &Rate, decimals: u32, rounding: Rounding) -> BigDecimal {
    let scale = value.fractional_digit_count().max(by.0.fractional_digit_count()).max(0);
    let whole = |number: &BigDecimal| number.with_scale(scale).into_bigint_and_scale().0;
    let (numerator, denominator) = (whole(value) * BigInt::from(10).pow(decimals), whole(&by.0));
    let floor = &numerator / &denominator;
    let rest = numerator - &floor * &denominator;
    let up = match rounding {
        Rounding::Floor => false,
        Rounding::Ceiling => !rest.is_zero(),
        Rounding::HalfEven => rest * 2 > denominator,
    };
    BigDecimal::new(if up { floor + 1 } else { floor }, i64::from(decimals))
}

#[cfg(test)]
mod tests;
