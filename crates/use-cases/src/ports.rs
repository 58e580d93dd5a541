//! All ports of the use cases, in one value.

use std::sync::Arc;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{
    Acquirer, AcquirerError, Acquirers, Clock, CryptoProcessor, DeliveryQueue, IdGenerator, KeyedHash, Maintenance,
    Queries, ResourceRenderer, SecretCipher, Store, WebhookSender,
};

use crate::callbacks::OpenCallbacks;
use crate::crypto::CryptoSources;
use crate::upstream::UpstreamLimits;

/// The dependencies of the use cases. Clones share them.
#[derive(Clone)]
pub struct Ports {
    /// The write side of the store.
    pub store: Arc<dyn Store>,
    /// The read side of the store.
    pub queries: Arc<dyn Queries>,
    /// Housekeeping and consistency checks of the store.
    pub maintenance: Arc<dyn Maintenance>,
    /// All configured acquirers.
    pub acquirers: Arc<dyn Acquirers>,
    /// The crypto processor and the rates. `None` if no processor is configured.
    pub crypto: Option<CryptoSources>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The generator of identifiers.
    pub ids: Arc<dyn IdGenerator>,
    /// Computes hashes with the master key, and generates secure random bytes.
    pub keyed_hash: Arc<dyn KeyedHash>,
    /// Renders resources for the API.
    pub representation: Arc<dyn ResourceRenderer>,
    /// The queue of webhook deliveries.
    pub deliveries: Arc<dyn DeliveryQueue>,
    /// Sends webhooks, and checks the addresses of receivers.
    pub webhooks: Arc<dyn WebhookSender>,
    /// Encrypts signing secrets with the master key.
    pub secret_cipher: Arc<dyn SecretCipher>,
    /// Limits the number of concurrent reads at each acquirer.
    pub limits: UpstreamLimits,
    /// The number of stored callbacks of each acquirer that are not processed yet.
    pub open_callbacks: OpenCallbacks,
}

impl Ports {
    /// Returns the configured acquirer with this name.
    pub(crate) fn acquirer(&self, name: &AcquirerName) -> Result<Arc<dyn Acquirer>, AcquirerError> {
        let named = self.acquirers.named(name);
        named.ok_or_else(|| AcquirerError::Unavailable(format!("{name} is not configured")))
    }

    /// Returns the configured crypto processor with this name.
    pub(crate) fn crypto_processor(&self, name: &AcquirerName) -> Result<Arc<dyn CryptoProcessor>, AcquirerError> {
        let named = self.crypto.as_ref().map(|sources| &sources.processor).filter(|processor| processor.name() == name);
        named.cloned().ok_or_else(|| AcquirerError::Unavailable(format!("{name} is not configured")))
    }
}
