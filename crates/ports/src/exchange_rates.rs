//! The price of the US dollar in BRL.

use std::time::Duration;

use async_trait::async_trait;
use cais_domain::crypto::{Rate, Side};
use jiff::Timestamp;

use crate::acquirer::AcquirerError;

/// BRL per US dollar at one instant, with the spread between buyers and sellers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsdRate {
    /// The price at which the market buys dollars.
    pub buy: Rate,
    /// The price at which the market sells dollars.
    pub sell: Rate,
    /// The instant of publication. The caller judges the age.
    pub published_at: Timestamp,
}

impl UsdRate {
    /// Returns the price for one side: coins of a deposit are sold for BRL, coins of a withdrawal are bought.
    #[must_use]
    pub const fn of(&self, side: Side) -> &Rate {
        match side {
            Side::Deposit => &self.buy,
            Side::Withdrawal => &self.sell,
        }
    }
}

/// A source of exchange rates.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ExchangeRates: Send + Sync {
    /// Returns the last published rate at `now`. Over weekends and holidays that is the rate of the business day before.
    ///
    /// # Errors
    /// [`AcquirerError::Unavailable`] if no rate is published in the days before `now`. A read is never `Refused`.
    async fn usd_rate(&self, now: Timestamp, budget: Duration) -> Result<UsdRate, AcquirerError>;
}
