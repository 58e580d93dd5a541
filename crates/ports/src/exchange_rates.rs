//! The exchange rate of the US dollar in BRL.

use std::time::Duration;

use async_trait::async_trait;
use cais_domain::crypto::{Rate, Side};
use jiff::Timestamp;

use crate::acquirer::AcquirerError;

/// The price of one US dollar in BRL at one instant. Buying and selling have different prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsdRate {
    /// The price at which the market buys dollars.
    pub buy: Rate,
    /// The price at which the market sells dollars.
    pub sell: Rate,
    /// The instant of publication. The caller decides whether the rate is too old.
    pub published_at: Timestamp,
}

impl UsdRate {
    /// Returns the price for one side. The coins of a deposit are sold for BRL, and the coins of a withdrawal are
    /// bought.
    #[must_use]
    pub const fn of(&self, side: Side) -> &Rate {
        match side {
            Side::Deposit => &self.buy,
            Side::Withdrawal => &self.sell,
        }
    }
}

/// A source of exchange rates.
#[async_trait]
pub trait ExchangeRates: Send + Sync {
    /// Returns the rate that was published last before `now`, within `budget`. On weekends and holidays this is the
    /// rate of the previous business day.
    ///
    /// # Errors
    /// [`AcquirerError::Unavailable`] if no rate was published in the days that the source searches. The error is never
    /// `Refused`.
    async fn usd_rate(&self, now: Timestamp, budget: Duration) -> Result<UsdRate, AcquirerError>;
}
