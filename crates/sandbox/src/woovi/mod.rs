//! The second API of the simulated institution, in the form of Woovi (`OpenPix`), under `/woovi/api/v1/`.
//!
//! Both APIs share the charges, received and sent Pix, returns and infractions in the institution's state. Only this API has customers and
//! `correlationID`s of charges, payments before their approval, evidence and webhooks; `state` stores them. `http` has one file per group
//! of endpoints. `events` builds the bodies of webhooks, and `deliveries` signs and sends them. The tester uses `control` and `settings`.
//!
//! The README lists the behavior of the sandbox that Woovi does not document.

mod charges;
pub mod control;
pub mod deliveries;
mod disputes;
mod error;
mod events;
mod fields;
pub mod http;
mod ids;
pub mod keys;
pub mod ledger;
mod paging;
mod payments;
mod refunds;
pub mod settings;
pub mod state;
mod statement;
mod transactions;
mod views;
mod webhook_key;

use std::sync::{PoisonError, RwLock};

use tokio::sync::Notify;

use self::{keys::Keys, settings::Settings, webhook_key::WebhookKey};

pub use error::WooviError;

/// The first part of every path of this API.
pub const PATH: &str = "/woovi/";

/// The credentials and the settings of this API. The state file does not contain them.
pub struct Woovi {
    /// The credentials.
    pub keys: Keys,
    /// The key pair that signs webhooks.
    pub webhook_key: WebhookKey,
    /// Wakes the sender of webhooks when a delivery is due or the settings changed.
    pub wakeup: Notify,
    settings: RwLock<Settings>,
}

impl Woovi {
    /// Creates the API of an institution with this client secret.
    #[must_use]
    pub fn new(client_secret: &str) -> Self {
        Self {
            keys: Keys::of(client_secret),
            webhook_key: WebhookKey::load(),
            wakeup: Notify::new(),
            settings: RwLock::default(),
        }
    }

    /// Returns the current settings.
    #[must_use]
    pub fn settings(&self) -> Settings {
        *self.settings.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the settings.
    pub fn set_settings(&self, settings: Settings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
        self.wakeup.notify_one();
    }
}
