//! Reading a payout, refreshed from upstream when it may have come further since.

use std::time::Duration;

use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::payout::{Payout, PayoutState, PayoutStatus};
use cais_ports::ReservationKey;
use jiff::{SignedDuration, Timestamp};

use super::sync::{SyncError, refresh};
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// How long a reader waits for upstream before it gets the stored state.
const READ_BUDGET: Duration = Duration::from_secs(3);
/// How long a completed payout is still asked for: one that came straight back, and whose callback was lost, is found by its
/// readers.
const MAY_COME_BACK: SignedDuration = SignedDuration::from_hours(24);

/// How a caller names a payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayoutName {
    /// By our id.
    Id(PayoutId),
    /// By the caller's own.
    External(ExternalId),
}

/// Why a payout is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchPayoutError {
    /// The account has none of that name.
    #[error("there is no such payout")]
    NotFound,
    /// It is being created.
    #[error("the payout is still being created")]
    InProgress {
        /// When to look again.
        retry_after_s: u32,
    },
    /// The store does not answer.
    #[error("the service is temporarily unavailable")]
    Unavailable {
        /// When to repeat.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<Trouble> for FetchPayoutError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(_) => Self::Unavailable { retry_after_s: RETRY_AFTER_S },
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

/// The payout of that name, as upstream has it where it answers in time, else as it is stored.
///
/// # Errors
/// [`FetchPayoutError`].
pub async fn fetch(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &PayoutName,
) -> Result<Payout, FetchPayoutError> {
    let payout = find(ports, account, name).await?;
    let now = ports.clock.now();
    if !may_have_moved(&payout.state, now) || !syncs.admit(payout.id.uuid(), now) {
        return Ok(payout);
    }
    match refresh(ports, payout.clone(), READ_BUDGET).await {
        Ok(fresh) => Ok(fresh),
        Err(SyncError::Store(Trouble::Internal(cause))) => Err(FetchPayoutError::Internal(cause)),
        Err(error) => {
            tracing::warn!(payout = %payout.id, %error, "the stored state is shown: it could not be refreshed");
            Ok(payout)
        }
    }
}

/// Whether upstream may know more of it than we do.
fn may_have_moved(state: &PayoutState, now: Timestamp) -> bool {
    match state {
        PayoutState::Processing(_) => true,
        PayoutState::Completed { at, .. } => now.duration_since(*at) < MAY_COME_BACK,
        PayoutState::Pending { .. }
        | PayoutState::Abandoned { .. }
        | PayoutState::Failed { .. }
        | PayoutState::Reversed { .. } => false,
    }
}

/// The stored payout of that name, if its creation is finished.
async fn find(ports: &Ports, account: AccountId, name: &PayoutName) -> Result<Payout, FetchPayoutError> {
    let id = match name {
        PayoutName::Id(id) => *id,
        PayoutName::External(external_id) => {
            let key = ReservationKey::PayoutExternalId(account, external_id.clone());
            let owner = ports.queries.find_owner(&key).await.map_err(Trouble::from)?;
            let owner = owner.ok_or(FetchPayoutError::NotFound)?;
            PayoutId::parse(&owner).map_err(|error| FetchPayoutError::Internal(format!("{owner}: {error}")))?
        }
    };
    let payout = ports.queries.find_payout(account, id).await.map_err(Trouble::from)?;
    let payout = payout.ok_or(FetchPayoutError::NotFound)?;
    match (payout.state.status(), name) {
        (PayoutStatus::Pending, PayoutName::External(_)) => {
            Err(FetchPayoutError::InProgress { retry_after_s: RETRY_AFTER_S })
        }
        (PayoutStatus::Pending | PayoutStatus::Abandoned, _) => Err(FetchPayoutError::NotFound),
        (PayoutStatus::Processing | PayoutStatus::Completed | PayoutStatus::Failed | PayoutStatus::Reversed, _) => {
            Ok(payout)
        }
    }
}
