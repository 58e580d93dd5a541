//! The simulated crypto processor: the `NOWPayments` API under `/v1/`. As in the real API, a field may be text in one answer and a number
//! in another.
//!
//! `http` has one file per group of endpoints. `state` is the stored state. `deposits` and `withdrawals` simulate payers, the chain and the
//! processor. `ipn` sends notifications. With `control`, the tester moves payments and withdrawals, and changes `market` and `settings`.

mod address;
mod amount;
mod canonical;
pub mod coins;
pub mod control;
pub mod credentials;
mod deposits;
mod error;
mod fields;
pub mod http;
pub mod ipn;
mod jwt;
pub mod ledger;
mod market;
pub mod settings;
pub mod state;
mod totp;
pub mod withdrawals;

use std::sync::{Mutex, PoisonError, RwLock};

use tokio::sync::Notify;

use self::{credentials::Keys, market::Market, settings::Settings};

pub use amount::Amount;
pub use error::CryptoError;

/// The processor without its stored state, which is in [`state::CryptoBooks`].
pub struct Crypto {
    /// The secrets that clients must use, and the seed of deposit addresses.
    pub keys: Keys,
    /// Prices, minimums and fees.
    pub market: Market,
    /// Wakes the sender of notifications after a new notification or a change of the settings.
    pub ipn_wakeup: Notify,
    settings: RwLock<Settings>,
    /// The TOTP codes accepted last, the newest at the end.
    used_codes: Mutex<Vec<String>>,
}

impl Crypto {
    /// Creates a processor with the prices of a start. Its secrets are derived from the institution's `client_secret`.
    #[must_use]
    pub fn new(client_secret: &str) -> Self {
        Self {
            keys: Keys::of(client_secret),
            market: Market::default(),
            ipn_wakeup: Notify::new(),
            settings: RwLock::default(),
            used_codes: Mutex::default(),
        }
    }

    /// Returns the current settings.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the settings.
    pub fn set_settings(&self, settings: Settings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
        self.ipn_wakeup.notify_one();
    }
}
