//! The price of a coin in BRL. The inputs are the coin's price in USDT, the BRL for one USD, and the account's spread.
//! One USDT counts as one USD.

use std::cmp::Ordering;
use std::fmt;

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, One as _, Zero as _};
use jiff::{SignedDuration, Timestamp};

use super::{CryptoAmount, CryptoAmountError, Currency, Side, rounding};
use crate::decimal;
use crate::money::{Money, MoneyError};
use crate::rate::{Percentage, PercentageError, Rounding};

/// The maximum age of a coin's price when a quote is created. The quote is then valid for one more minute, so its price
/// is at most two minutes old when the quote is used.
pub const MAX_COIN_PRICE_AGE: SignedDuration = SignedDuration::from_mins(1);
/// The maximum age of the Central Bank's rate. The bank publishes rates on business days. Around Carnival five days
/// pass without a new rate, and one more day is a margin.
pub const MAX_USD_RATE_AGE: SignedDuration = SignedDuration::from_hours(6 * 24);
/// The age of the Central Bank's rate above which an alert is raised: four days for a weekend with one holiday, and six
/// hours for a late publication. An older rate is normal only around Carnival and Christmas.
pub const LONG_WEEKEND: SignedDuration = SignedDuration::from_hours(4 * 24 + 6);
/// A source's clock may be ahead by at most this time.
const MAX_CLOCK_LEAD: SignedDuration = SignedDuration::from_mins(1);
/// The number of decimals of the BRL for one coin.
const RATE_DECIMALS: i64 = 8;
/// The number of decimals of a price that [`Rate::per`] computes. The BRL for one coin has fewer decimals.
const PRICE_DECIMALS: u32 = 12;
/// The maximum factor between two rates of a currency within a day. A larger change is more likely an error of the
/// source than a change of the market.
const MAX_JUMP_IN_A_DAY: u32 = 2;
/// The maximum factor between two rates of a currency after more than a day. A rate with a misplaced decimal point
/// exceeds this factor, also after days without a quote. An operator can accept a rate that changed more.
const MAX_JUMP: u32 = 5;
/// A rate may differ from the rate that an operator expects by at most 1/10. The constant is the denominator.
const MAX_SURPRISE_INVERSE: u32 = 10;

/// The largest spread, in percent. Each new rate is compared with the newest rate of its currency, which may be of the
/// other side or of another account. With a larger spread, the difference could look like a jump of the price.
const MAX_SPREAD: u32 = 10;

/// The reason why a text is not a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SpreadError {
    /// The text is not a percentage.
    #[error(transparent)]
    Percentage(#[from] PercentageError),
    /// The spread is above the maximum.
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

/// An exact positive rate: the price of a coin in USDT or BRL, or of one USD in BRL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(BigDecimal);

/// The error for a text that is not a positive decimal number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a rate must be a positive decimal number")]
pub struct InvalidRate;

impl Rate {
    /// Parses a decimal number. The value is not rounded.
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

    /// Returns the price of one coin, rounded up. `self` is the price of `coins` coins.
    #[must_use]
    pub fn per(&self, coins: &Self) -> Self {
        Self(divide(&self.0, coins, PRICE_DECIMALS, rounding::WITHDRAWAL_RATE).normalized())
    }

    /// Returns whether this rate is plausible if `earlier` was the rate `age` ago. Within a day, the rate must be at
    /// most twice and at least half of `earlier`. After more than a day, the factor is five.
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "a BigDecimal grows instead of overflowing")]
    pub fn may_follow(&self, earlier: &Self, age: SignedDuration) -> bool {
        let is_recent = age <= SignedDuration::from_hours(24);
        let factor = BigDecimal::from(if is_recent { MAX_JUMP_IN_A_DAY } else { MAX_JUMP });
        self.0 <= &earlier.0 * &factor && earlier.0 <= &self.0 * &factor
    }

    /// Returns whether this rate differs by at most a tenth from the rate that an operator expects.
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "a BigDecimal grows instead of overflowing")]
    pub fn is_near(&self, expected: &Self) -> bool {
        (&self.0 - &expected.0).abs() * BigDecimal::from(MAX_SURPRISE_INVERSE) <= expected.0
    }
}

/// Formats the rate without trailing zeros and without an exponent: `312345.6`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_plain_string())
    }
}

/// The inputs of a rate. The quote stores them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RateInputs {
    /// The USDT for one coin, as the processor estimates it. For a deposit, the estimate is the proceeds of a sale. For
    /// a withdrawal, it is the cost of a purchase. For USDT itself, the value is 1.
    pub usdt_per_coin: Rate,
    /// The instant of the estimate.
    pub coin_priced_at: Timestamp,
    /// The BRL for one USD, as the Central Bank publishes it.
    pub brl_per_usd: Rate,
    /// The instant of the publication.
    pub usd_priced_at: Timestamp,
    /// The account's spread. The rate of a deposit is lower by this percentage, and the rate of a withdrawal is higher.
    pub spread: Percentage,
}

/// The reason why no rate is given. The operation is then refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// The coin's price is older than [`MAX_COIN_PRICE_AGE`], or its instant is more than a minute in the future.
    #[error("the price of the coin is out of date")]
    CoinPriceAge,
    /// The Central Bank's rate is older than [`MAX_USD_RATE_AGE`], or its instant is more than a minute in the future.
    #[error("the rate of the US dollar is out of date")]
    UsdRateAge,
    /// After the spread and the rounding, the rate is zero.
    #[error("the rate is zero")]
    Zero,
}

impl RateInputs {
    /// Returns the BRL for one coin at `now`. The rate of a deposit is rounded down, and the rate of a withdrawal is
    /// rounded up.
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

/// Returns whether `at` is at most `limit` before `now`. An instant after `now` is accepted up to [`MAX_CLOCK_LEAD`].
fn is_fresh(at: Timestamp, limit: SignedDuration, now: Timestamp) -> bool {
    let age = now.duration_since(at);
    age <= limit && age >= -MAX_CLOCK_LEAD
}

/// Returns the coins that a payer must send for `amount`.
///
/// # Errors
/// [`CryptoAmountError`].
pub fn coins_to_pay_in(amount: Money, rate: &Rate, currency: Currency) -> Result<CryptoAmount, CryptoAmountError> {
    coins_for(&reais(amount), rate, currency, (currency.deposit_decimals(), rounding::COINS_TO_PAY_IN))
}

/// Returns the coins that a recipient receives for `amount`.
///
/// # Errors
/// [`CryptoAmountError`].
pub fn coins_paid_out(amount: Money, rate: &Rate, currency: Currency) -> Result<CryptoAmount, CryptoAmountError> {
    coins_for(&reais(amount), rate, currency, (currency.withdrawal_decimals(), rounding::COINS_PAID_OUT))
}

/// Returns the BRL value of coins that arrived.
///
/// # Errors
/// [`MoneyError::OutOfRange`].
pub fn worth_of_coins(coins: CryptoAmount, rate: &Rate) -> Result<Money, MoneyError> {
    in_reais(coins, rate, rounding::WORTH_OF_COINS)
}

/// Returns the value of coins in BRL, rounded to the centavo.
#[expect(clippy::arithmetic_side_effects, reason = "a BigDecimal grows instead of overflowing")]
pub(super) fn in_reais(coins: CryptoAmount, rate: &Rate, rounding: Rounding) -> Result<Money, MoneyError> {
    let exact = coins.to_decimal() * rate.as_decimal();
    Money::parse(&exact.with_scale_round(2, rounding.into()).to_plain_string())
}

/// Returns the coins that cost `value` at `rate`. Both are in BRL, or both in USDT. The exact quotient is rounded once.
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

/// Divides `value` by `by`, and rounds the quotient to `decimals` decimals. The division is of whole numbers, because
/// the quotient of two decimals may have infinitely many digits.
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
        Rounding::HalfEven => match BigInt::cmp(&(rest * 2), &denominator) {
            Ordering::Less => false,
            Ordering::Equal => &floor % 2 == BigInt::from(1),
            Ordering::Greater => true,
        },
    };
    BigDecimal::new(if up { floor + 1 } else { floor }, i64::from(decimals))
}

#[cfg(test)]
mod tests;
