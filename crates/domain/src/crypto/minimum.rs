//! The minimum of a deposit or a withdrawal: the larger of the service's own (commercial) and the processor's
//! (technical) minimum.

use std::cmp::Ordering;

use bigdecimal::BigDecimal;

use super::rate::{coins_for, in_reais};
use super::{CryptoAmount, CryptoAmountError, Currency, Rate, Side, rounding};
use crate::money::{Money, MoneyError};

/// The commercial minimum of a withdrawal, in USDT.
const WITHDRAWAL_USDT: u32 = 20;
/// The commercial minimum of a deposit on a network with low fees, in USDT.
const DEPOSIT_USDT: u32 = 5;
/// The commercial minimum of a deposit on a network with high fees, in USDT.
const DEPOSIT_USDT_DEAR: u32 = 20;

/// The two minimums of a deposit or a withdrawal, in coins of one currency. An amount must reach both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minimum {
    commercial: CryptoAmount,
    technical: CryptoAmount,
}

impl Minimum {
    /// Creates both minimums. `usdt_per_coin` is the price of a coin. `technical` is the processor's current minimum.
    ///
    /// # Errors
    /// [`CryptoAmountError::OutOfRange`].
    pub fn new(side: Side, usdt_per_coin: &Rate, technical: CryptoAmount) -> Result<Self, CryptoAmountError> {
        let currency = technical.currency();
        let commercial = BigDecimal::from(commercial_usdt(side, currency));
        let decimals = side.decimals(currency);
        let commercial = coins_for(&commercial, usdt_per_coin, currency, (decimals, rounding::MINIMUM))?;
        let technical = CryptoAmount::from_decimal(currency, &technical.to_decimal(), decimals, rounding::MINIMUM)?;
        Ok(Self { commercial, technical })
    }

    /// Returns the service's own minimum.
    #[must_use]
    pub const fn commercial(&self) -> CryptoAmount {
        self.commercial
    }

    /// Returns the processor's minimum, rounded up to the number of decimals that [`Side::decimals`] allows.
    #[must_use]
    pub const fn technical(&self) -> CryptoAmount {
        self.technical
    }

    /// Returns the larger of the two minimums.
    #[must_use]
    pub fn effective(&self) -> CryptoAmount {
        match self.commercial.compare(self.technical) {
            Ok(Ordering::Less) => self.technical,
            Ok(Ordering::Equal | Ordering::Greater) | Err(_) => self.commercial,
        }
    }

    /// Returns the effective minimum in BRL, rounded up. `rate` is the BRL for one coin.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn effective_brl(&self, rate: &Rate) -> Result<Money, MoneyError> {
        in_reais(self.effective(), rate, rounding::MINIMUM_IN_BRL)
    }

    /// Returns whether `coins` reach the effective minimum.
    ///
    /// # Errors
    /// [`CryptoAmountError::CurrenciesDiffer`].
    pub fn allows(&self, coins: CryptoAmount) -> Result<bool, CryptoAmountError> {
        Ok(coins.compare(self.effective())? != Ordering::Less)
    }
}

const fn commercial_usdt(side: Side, currency: Currency) -> u32 {
    match (side, currency) {
        (Side::Withdrawal, _) => WITHDRAWAL_USDT,
        (Side::Deposit, Currency::Trx | Currency::UsdtBsc | Currency::Ltc) => DEPOSIT_USDT,
        (Side::Deposit, Currency::Btc | Currency::UsdtErc20) => DEPOSIT_USDT_DEAR,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn minimum(side: Side, currency: Currency, usdt_per_coin: &str, technical: &str) -> Minimum {
        let technical = CryptoAmount::parse(currency, technical).unwrap();
        Minimum::new(side, &Rate::parse(usdt_per_coin).unwrap(), technical).unwrap()
    }

    #[test]
    fn effective_minimum_is_the_larger_one_rounded_up() {
        for (side, currency, price, technical, expected) in [
            (Side::Withdrawal, Currency::UsdtErc20, "1", "31.4", ["20", "31.4", "31.4"]),
            (Side::Withdrawal, Currency::UsdtBsc, "1", "10.984247920000000001", ["20", "10.984248", "20"]),
            (Side::Withdrawal, Currency::Btc, "97123.45", "0.00002496", ["0.000206", "0.000025", "0.000206"]),
            (Side::Withdrawal, Currency::Trx, "0.3", "1", ["66.666667", "1", "66.666667"]),
            (Side::Deposit, Currency::Ltc, "100", "0.05", ["0.05", "0.05", "0.05"]),
            (Side::Deposit, Currency::Btc, "97123.45", "0.0003", ["0.00020593", "0.0003", "0.0003"]),
        ] {
            let got = minimum(side, currency, price, technical);
            let texts = [got.commercial(), got.technical(), got.effective()].map(|amount| amount.to_string());
            assert_eq!(texts, expected, "{side:?} {currency}");
            assert_eq!(got.allows(got.effective()), Ok(true));
            let unit = CryptoAmount::from_units(currency, 1).unwrap();
            assert_eq!(got.allows(got.effective().checked_sub(unit).unwrap()), Ok(false));
        }
    }

    #[test]
    fn minimum_in_brl_is_rounded_up() {
        let got = minimum(Side::Withdrawal, Currency::UsdtErc20, "1", "10");
        assert_eq!(got.effective_brl(&Rate::parse("5.43210001").unwrap()).unwrap().to_string(), "108.65");
    }
}
