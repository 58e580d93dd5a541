//! Applies a callback about a withdrawal. A callback is only a signal: the state is read from the processor's record.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::ids::CryptoWithdrawalId;

use super::sync::{SyncError, refresh};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The time for one read of the processor.
const READ_BUDGET: Duration = Duration::from_secs(5);

/// Reads the withdrawal of a callback at the processor, and applies the record. `order` is the withdrawal's id; without
/// it, the withdrawal is found by `batch`, the processor's batch. Returns `false` if no such withdrawal is stored, and
/// `true` otherwise, even if the processor could not be read.
///
/// The callback is not stored, because each open withdrawal is polled. If the callback is lost, or the processor does
/// not answer, the next poll reads the withdrawal.
///
/// # Errors
/// [`StoreError`].
pub async fn apply(
    ports: &Ports,
    processor: &AcquirerName,
    batch: &ProcessorId,
    order: Option<CryptoWithdrawalId>,
) -> Result<bool, StoreError> {
    let found = match order {
        Some(id) => ports.queries.find_crypto_withdrawal_of_any(id).await?,
        None => ports.queries.find_crypto_withdrawal_of_batch(processor, batch).await?,
    };
    let Some(withdrawal) = found.filter(|withdrawal| withdrawal.processor == *processor) else { return Ok(false) };
    let id = withdrawal.id;
    match refresh(ports, withdrawal, READ_BUDGET).await {
        Ok(_) => Ok(true),
        Err(SyncError::Store(error)) => Err(error),
        Err(error @ (SyncError::Upstream(_) | SyncError::Unknown)) => {
            tracing::warn!(withdrawal = %id, %processor, %error, "withdrawal in a callback could not be read; the next poll reads it");
            Ok(true)
        }
    }
}
