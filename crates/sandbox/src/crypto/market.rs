//! Prices, minimums and fees of the simulated processor. The tester may change them; a restart resets them to the values in [`COINS`].

use std::{
    collections::BTreeMap,
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use super::{
    amount::Amount,
    coins::{self, COINS, Coin},
};

/// The largest number of decimals of estimates, minimums of deposits and amounts to pay. An amount to pay also has at most the decimals of
/// its coin.
pub const PRICE_DECIMALS: u32 = 8;

/// Fiat currencies with their price in USDT. BRL is absent, because the real processor may refuse BRL.
const FIATS: [(&str, &str); 2] = [("usd", "1"), ("eur", "1.08")];

/// The current values of one coin. The minimums and the fee are amounts of this coin.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The price in USDT.
    pub price: Amount,
    /// The minimum of a deposit.
    pub min_deposit: Amount,
    /// The minimum of a withdrawal.
    pub min_payout: Amount,
    /// The network fee of a withdrawal.
    pub payout_fee: Amount,
    /// `false`: the coin is off, so new payments and withdrawals are refused.
    pub is_enabled: bool,
    /// `false`: the processor has no price of the coin. Estimates, and payments whose price is in another currency, are refused.
    pub is_priced: bool,
}

impl Terms {
    fn opening(coin: &Coin) -> Self {
        Self {
            price: Amount::constant(coin.price),
            min_deposit: Amount::constant(coin.min_deposit),
            min_payout: Amount::constant(coin.min_payout),
            payout_fee: Amount::constant(coin.payout_fee),
            is_enabled: true,
            is_priced: true,
        }
    }
}

/// The flags of a payment's rate. They also increase the minimum of a deposit.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateFlags {
    /// `is_fixed_rate`.
    pub is_fixed_rate: bool,
    /// `is_fee_paid_by_user`. With `true` the rate is fixed even if `is_fixed_rate` is `false`.
    pub is_fee_paid_by_user: bool,
}

/// The current values of all coins, by code.
#[derive(Debug)]
pub struct Market(RwLock<BTreeMap<&'static str, Terms>>);

impl Default for Market {
    fn default() -> Self {
        Self(RwLock::new(COINS.iter().map(|coin| (coin.code, Terms::opening(coin))).collect()))
    }
}

impl Market {
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<&'static str, Terms>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current values of a coin.
    #[must_use]
    pub fn terms(&self, coin: &Coin) -> Terms {
        self.read().get(coin.code).cloned().unwrap_or_else(|| Terms::opening(coin))
    }

    /// Replaces the values of a coin.
    pub fn set(&self, coin: &Coin, terms: Terms) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(coin.code, terms);
    }

    /// Returns the price of a coin or a fiat currency in USDT; `None` for an unknown code and a coin without a price.
    #[must_use]
    pub fn price(&self, code: &str) -> Option<Amount> {
        if let Some(coin) = coins::find(code) {
            let terms = self.terms(coin);
            return terms.is_priced.then_some(terms.price);
        }
        let (_, price) = FIATS.iter().find(|(fiat, _)| fiat.eq_ignore_ascii_case(code))?;
        Some(Amount::constant(price))
    }

    /// Converts `amount` from one currency to another, without rounding to decimals. Returns `None` for an unknown code. A coin without a
    /// price can only be converted to itself.
    #[must_use]
    pub fn convert(&self, amount: &Amount, from: &str, to: &str) -> Option<Amount> {
        if from.eq_ignore_ascii_case(to) {
            // Between equal currencies no price is needed, but the code must be known.
            return Some(amount.clone()).filter(|_| coins::find(from).is_some() || self.price(from).is_some());
        }
        let (price_from, price_to) = (self.price(from)?, self.price(to)?);
        (amount * &price_from).divided_by(&price_to)
    }

    /// Returns the minimum of a deposit in `coin`. A fixed rate multiplies the minimum by 1.1. A fee that the payer pays multiplies the
    /// minimum by 1.1 × 1.05, with or without a fixed rate. `has_outcome` is `false` if the request does not name the coin to be credited.
    /// The minimum is then ten times too high, as observed at the real processor.
    #[must_use]
    pub fn min_deposit(&self, coin: &Coin, has_outcome: bool, flags: RateFlags) -> Amount {
        let mut minimum = self.terms(coin).min_deposit;
        if flags.is_fixed_rate || flags.is_fee_paid_by_user {
            minimum = &minimum * &Amount::constant("1.1");
        }
        if flags.is_fee_paid_by_user {
            minimum = &minimum * &Amount::constant("1.05");
        }
        if !has_outcome {
            minimum = &minimum * &Amount::constant("10");
        }
        minimum.round_up(PRICE_DECIMALS)
    }
}
