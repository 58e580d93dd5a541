//! The Central Bank's API Pix (2.9.0), as every institution of the standard serves it.

mod api;
mod cancel;
mod config;
mod create;
mod notices;
mod read;
mod token;
mod wire;

use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::txid::Txid;
use cais_ports::{Acquirer, AcquirerError, ChargeOrder, NoticedPix, UpstreamCharge};

use crate::deadline::Deadline;
use api::Api;
pub use config::{BacenConfig, BacenConfigError, Timeouts};
use read::Expected;

/// An institution of the standard, reached over HTTP.
#[derive(Debug)]
pub struct BacenAcquirer {
    api: Api,
}

impl BacenAcquirer {
    /// Sets up the client; nothing is asked yet.
    ///
    /// # Errors
    /// [`BacenConfigError`] names the part of the configuration that cannot be used.
    pub fn new(config: &BacenConfig) -> Result<Self, BacenConfigError> {
        Ok(Self { api: Api::new(config)? })
    }
}

#[async_trait]
impl Acquirer for BacenAcquirer {
    fn name(&self) -> &AcquirerName {
        self.api.name()
    }

    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        create::create(&self.api, order, Deadline::after(budget)).await
    }

    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        self.api.find(Expected::charge(txid), Deadline::after(budget)).await.map_err(api::FindError::of_a_read)
    }

    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        cancel::cancel(&self.api, txid, Deadline::after(budget)).await
    }

    fn notice_pix(&self, body: &[u8]) -> Result<Vec<NoticedPix>, AcquirerError> {
        notices::pix(body)
    }

    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError> {
        self.api.register_callback(url, Deadline::after(budget)).await
    }
}
