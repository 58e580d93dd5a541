//! Use cases of crypto deposits and withdrawals.

pub mod currencies;
pub mod currency_cache;
pub mod deposits;
mod error;
pub mod exposure;
mod prices;
pub mod quotes;
pub mod rate_reference;
pub mod withdrawals;

use std::sync::Arc;

use cais_domain::rate::Percentage;
use cais_ports::{CryptoProcessor, ExchangeRates};

pub use error::CryptoUnavailable;

/// The processor, the source of rates and the standard spread. Clones share them.
#[derive(Clone)]
pub struct CryptoSources {
    /// The processor.
    pub processor: Arc<dyn CryptoProcessor>,
    /// The source of BRL per USD.
    pub rates: Arc<dyn ExchangeRates>,
    /// The spread of accounts that have no spread of their own. A spread is the percentage between the market rate and
    /// the quoted rate.
    pub spread: Percentage,
}
