//! Reading a refund, refreshed from upstream while its outcome is open.

use std::time::Duration;

use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, RefundId};
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::ReservationKey;

use super::sync::{SyncError, refresh};
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// How long a reader waits for upstream before it gets the stored state.
pub(super) const READ_BUDGET: Duration = Duration::from_secs(3);

/// How a caller names a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundName {
    /// By our id.
    Id(RefundId),
    /// By the caller's own.
    External(ExternalId),
}

/// Why a refund is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchRefundError {
    /// The account has none of that name.
    #[error("there is no such refund")]
    NotFound,
    /// The refund is being created.
    #[error("the refund is still being created")]
    InProgress {
        /// When to look again.
        retry_after_s: u32,
    },
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// Returns the refund of that name, as upstream has it where it answers in time, else as it is stored.
///
/// # Errors
/// [`FetchRefundError`].
pub async fn fetch(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &RefundName,
) -> Result<Refund, FetchRefundError> {
    let refund = find(ports, account, name).await?;
    let is_open = refund.state.status() == RefundStatus::Processing;
    if is_open && syncs.admit(refund.id.uuid(), ports.clock.now()) {
        return Ok(refreshed(ports, refund).await);
    }
    Ok(refund)
}

/// Returns the refund as upstream has it, or as it is stored.
pub(super) async fn refreshed(ports: &Ports, refund: Refund) -> Refund {
    match refresh(ports, refund.clone(), READ_BUDGET).await {
        Ok(fresh) => fresh,
        // Taken a moment ago, or lost on its way: the poller finds out.
        Err(SyncError::Unknown) => refund,
        Err(error) => {
            tracing::warn!(refund = %refund.id, %error, "the stored state is shown: it could not be refreshed");
            refund
        }
    }
}

/// The stored refund of that name, if its creation is finished.
async fn find(ports: &Ports, account: AccountId, name: &RefundName) -> Result<Refund, FetchRefundError> {
    let id = match name {
        RefundName::Id(id) => *id,
        RefundName::External(external_id) => {
            let key = ReservationKey::RefundExternalId(account, external_id.clone());
            let owner = ports.queries.find_owner(&key).await.map_err(Trouble::from)?;
            let owner = owner.ok_or(FetchRefundError::NotFound)?;
            RefundId::parse(&owner).map_err(|error| Trouble::Internal(format!("{owner}: {error}")))?
        }
    };
    let refund = ports.queries.find_refund(account, id).await.map_err(Trouble::from)?;
    let refund = refund.ok_or(FetchRefundError::NotFound)?;
    match (refund.state.status(), name) {
        (RefundStatus::Pending, RefundName::External(_)) => {
            Err(FetchRefundError::InProgress { retry_after_s: RETRY_AFTER_S })
        }
        (RefundStatus::Pending | RefundStatus::Abandoned, _) => Err(FetchRefundError::NotFound),
        (RefundStatus::Processing | RefundStatus::Completed | RefundStatus::Failed, _) => Ok(refund),
    }
}
