//! The reason why no price is given. Without a price, no quote, deposit or withdrawal is created.

use cais_domain::crypto::quote::QuoteError;
use cais_domain::crypto::{CryptoAmountError, RateError};
use cais_domain::money::MoneyError;
use cais_ports::AcquirerError;

use crate::store_error::StoreError;

/// The reason why an operation has no price.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CryptoUnavailable {
    /// The processor or the source of rates did not answer, or refused the read.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
    /// No rate can be computed from the inputs.
    #[error(transparent)]
    Rate(#[from] RateError),
    /// The rate differs too much from the rate of the newest quote.
    #[error("the rate {new} is not plausible after the last rate {last}")]
    Jump {
        /// The new rate.
        new: String,
        /// The rate of the newest quote.
        last: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The processor's numbers are out of range.
    #[error("a number of the processor is out of range: {0}")]
    OutOfRange(String),
}

impl From<QuoteError> for CryptoUnavailable {
    fn from(error: QuoteError) -> Self {
        match error {
            QuoteError::Rate(error) => Self::Rate(error),
            QuoteError::Coins(_) | QuoteError::Money(_) | QuoteError::NoCoins => Self::OutOfRange(error.to_string()),
        }
    }
}

impl From<CryptoAmountError> for CryptoUnavailable {
    fn from(error: CryptoAmountError) -> Self {
        Self::OutOfRange(error.to_string())
    }
}

impl From<MoneyError> for CryptoUnavailable {
    fn from(error: MoneyError) -> Self {
        Self::OutOfRange(error.to_string())
    }
}
