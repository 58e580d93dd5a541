//! Processes a callback about a payment of coins. A callback is only a signal to read the processor's record. The
//! record has the state of the payment, and identifies the deposit.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::crypto::deposit::{Deposit, DepositState};
use cais_ports::UpstreamDeposit;

use super::sync::{SyncError, apply};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The result of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Processed {
    /// The record was applied.
    Applied,
    /// The deposit is still in creation. The record is applied after the creation has stored the address.
    InCreation,
    /// No deposit of this service has the payment.
    Unmatched,
}

/// Reads the payment at the processor and applies the record to its deposit.
pub(crate) async fn process(
    ports: &Ports,
    processor: &AcquirerName,
    payment: &ProcessorId,
    budget: Duration,
) -> Result<Processed, SyncError> {
    let record = ports.crypto_processor(processor)?.get_deposit(payment, budget).await?;
    Ok(match deposit_of(ports, processor, &record).await? {
        None => Processed::Unmatched,
        Some(deposit) if deposit.state == DepositState::Creating => Processed::InCreation,
        Some(deposit) => {
            apply(ports, deposit, &record).await?;
            Processed::Applied
        }
    })
}

/// Returns the deposit of a payment, or `None` if this service has no such deposit. The search uses three ids, in this
/// order: our deposit's id in the record, the payment's own id, and the id of the first payment to the same address.
pub(crate) async fn deposit_of(
    ports: &Ports,
    processor: &AcquirerName,
    record: &UpstreamDeposit,
) -> Result<Option<Deposit>, StoreError> {
    let order = record.order.and_then(|id| ProcessorId::parse(&id.to_string()).ok());
    for name in [order.as_ref(), Some(&record.id), record.parent.as_ref()].into_iter().flatten() {
        if let Some(deposit) = ports.queries.find_crypto_deposit_of_payment(processor, name).await? {
            return Ok(Some(deposit));
        }
    }
    Ok(None)
}
