//! The ports that use cases work with, in one value that the wiring fills once.

use std::sync::Arc;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{
    Acquirer, AcquirerError, Acquirers, Clock, DeliveryQueue, Ids, KeyedHash, Maintenance, Queries, Representation,
    SecretCipher, Store, WebhookSender,
};

use crate::notices::OpenCallbacks;
use crate::upstream::UpstreamLimits;

/// The world as the use cases see it. Cloning shares it.
#[derive(Clone)]
pub struct Ports {
    /// The write side of the store.
    pub store: Arc<dyn Store>,
    /// The read side of the store.
    pub queries: Arc<dyn Queries>,
    /// Housekeeping and audits of the store.
    pub maintenance: Arc<dyn Maintenance>,
    /// All configured acquirers.
    pub acquirers: Arc<dyn Acquirers>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn Ids>,
    /// Hashes under the master key, and secure random bytes.
    pub keyed_hash: Arc<dyn KeyedHash>,
    /// How resources look on the wire.
    pub representation: Arc<dyn Representation>,
    /// The deliveries of events that wait for their receivers.
    pub deliveries: Arc<dyn DeliveryQueue>,
    /// Calls receivers, and judges where one may be.
    pub webhooks: Arc<dyn WebhookSender>,
    /// Keeps the secrets that sign, under the master key.
    pub secret_cipher: Arc<dyn SecretCipher>,
    /// Limits of the reads in flight at each acquirer.
    pub limits: UpstreamLimits,
    /// The number of open callbacks of each acquirer.
    pub open_callbacks: OpenCallbacks,
}

impl Ports {
    /// Returns the configured acquirer of that name.
    pub(crate) fn acquirer(&self, name: &AcquirerName) -> Result<Arc<dyn Acquirer>, AcquirerError> {
        let named = self.acquirers.named(name);
        named.ok_or_else(|| AcquirerError::Unavailable(format!("{name} is not configured")))
    }
}
