//! Cancels a charge. The acquirer cancels first, so that a cancelled charge cannot be paid.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeState, ChargeStatus};
use cais_domain::merchant::account::{Account, NotPermitted};
use cais_ports::AcquirerError;

use super::fetch::{ChargeName, FetchError, find};
use super::sync::{SyncError, apply, refresh};
use crate::ports::Ports;
use crate::store_error::{RETRY_AFTER_S, StoreError};

/// The time for the acquirer. This service answers a POST within 10 s; the remaining 3 s are for the store.
const UPSTREAM_BUDGET: Duration = Duration::from_secs(7);

/// The reason why a charge was not cancelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CancelChargeError {
    /// The account is not permitted to cancel.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The charge could not be read, or the outcome of the cancellation is unknown. A further request to cancel the
    /// charge resolves an unknown outcome.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The status of the charge does not allow a cancellation.
    #[error("the charge is {}", .0.as_str())]
    InvalidState(ChargeStatus),
    /// The acquirer certainly did not cancel the charge.
    #[error("the acquirer did not cancel the charge")]
    AcquirerUnavailable,
}

impl CancelChargeError {
    const UNKNOWN: Self = Self::Fetch(FetchError::Unavailable { retry_after_s: RETRY_AFTER_S });
}

impl From<StoreError> for CancelChargeError {
    fn from(error: StoreError) -> Self {
        FetchError::from(error).into()
    }
}

impl From<AcquirerError> for CancelChargeError {
    fn from(error: AcquirerError) -> Self {
        match error {
            AcquirerError::Refused(_) | AcquirerError::Unavailable(_) => Self::AcquirerUnavailable,
            AcquirerError::OutcomeUnknown(_) => Self::UNKNOWN,
        }
    }
}

impl From<SyncError> for CancelChargeError {
    fn from(error: SyncError) -> Self {
        match error {
            SyncError::Upstream(error) => error.into(),
            SyncError::Unknown | SyncError::NotShown => Self::AcquirerUnavailable,
            SyncError::Store(error) => error.into(),
        }
    }
}

/// Cancels a pending charge. If the expiry of the charge has passed, the charge is not cancelled but refreshed from its
/// acquirer. A charge that is already cancelled is returned unchanged.
///
/// # Errors
/// [`CancelChargeError`]. If the charge is neither pending nor cancelled, for example paid or expired, the error is
/// `InvalidState`.
pub async fn cancel(ports: &Ports, account: &Account, name: &ChargeName) -> Result<Charge, CancelChargeError> {
    account.permit_write()?;
    let mut charge: Charge = find(ports, account.id, name).await?;
    if let ChargeState::Pending(issued) = &charge.state {
        let acquirer = issued.acquirer.clone();
        charge = if ports.clock.now() >= issued.expires_at {
            refresh(ports, charge, &acquirer, UPSTREAM_BUDGET).await?
        } else {
            let adapter = ports.acquirers.named(&acquirer).ok_or(CancelChargeError::AcquirerUnavailable)?;
            let upstream = adapter.cancel_charge(&charge.txid, UPSTREAM_BUDGET).await.inspect_err(|error| {
                tracing::warn!(charge = %charge.id, %error, "cancellation of a charge not confirmed by its acquirer; the request fails");
            })?;
            apply(ports, charge, &acquirer, &upstream).await?
        };
    }
    match charge.state.status() {
        ChargeStatus::Cancelled => Ok(charge),
        // The acquirer still shows the charge as active, although it accepted the cancellation or the charge is
        // overdue. A further request to cancel the charge resolves this.
        ChargeStatus::Pending => Err(CancelChargeError::UNKNOWN),
        status @ (ChargeStatus::Creating
        | ChargeStatus::Abandoned
        | ChargeStatus::Paid
        | ChargeStatus::Expired
        | ChargeStatus::Refunded) => Err(CancelChargeError::InvalidState(status)),
    }
}
