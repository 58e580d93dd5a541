//! Reading a charge, refreshed from upstream when it may have been paid since.

use cais_domain::charge::{Charge, ChargeState, ChargeStatus};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, ChargeId};
use cais_ports::ReservationKey;
use jiff::{SignedDuration, Timestamp};

use super::sync::{READ_BUDGET, SyncError, refresh};
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// How long a charge that expired or was cancelled is still asked for: a payment that raced its end, and whose callback was
/// lost, is found by its readers.
const MAY_HAVE_RACED: SignedDuration = SignedDuration::from_hours(24);

/// How a caller names a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeName {
    /// By our id.
    Id(ChargeId),
    /// By the caller's own.
    External(ExternalId),
}

/// Why a charge is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchChargeError {
    /// The account has none of that name.
    #[error("there is no such charge")]
    NotFound,
    /// It is being created.
    #[error("the charge is still being created")]
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

impl From<Trouble> for FetchChargeError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(_) => Self::Unavailable { retry_after_s: RETRY_AFTER_S },
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

/// The charge of that name, as upstream has it where it answers in time, else as it is stored.
///
/// # Errors
/// [`FetchChargeError`].
pub async fn fetch(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &ChargeName,
) -> Result<Charge, FetchChargeError> {
    let charge = find(ports, account, name).await?;
    let now = ports.clock.now();
    if !may_be_paid(&charge.state, now) || !syncs.admit(charge.id.uuid(), now) {
        return Ok(charge);
    }
    let (stored, acquirer) = (charge.clone(), charge.state.acquirer().clone());
    match refresh(ports, charge, &acquirer, READ_BUDGET).await {
        Ok(fresh) => Ok(fresh),
        Err(SyncError::Store(Trouble::Internal(cause))) => Err(FetchChargeError::Internal(cause)),
        Err(error) => {
            tracing::warn!(charge = %stored.id, %error, "the stored state is shown: it could not be refreshed");
            Ok(stored)
        }
    }
}

/// Whether upstream may know of a payment that pays it and that we have not heard of.
fn may_be_paid(state: &ChargeState, now: Timestamp) -> bool {
    match state {
        ChargeState::Pending(_) => true,
        ChargeState::Expired { at, .. } | ChargeState::Cancelled { at, .. } => now.duration_since(*at) < MAY_HAVE_RACED,
        ChargeState::Creating { .. }
        | ChargeState::Abandoned { .. }
        | ChargeState::Paid(..)
        | ChargeState::Refunded { .. } => false,
    }
}

/// The stored charge of that name, if its creation is finished.
pub(crate) async fn find(ports: &Ports, account: AccountId, name: &ChargeName) -> Result<Charge, FetchChargeError> {
    let id = match name {
        ChargeName::Id(id) => *id,
        ChargeName::External(external_id) => {
            let key = ReservationKey::ChargeExternalId(account, external_id.clone());
            let owner = ports.queries.find_owner(&key).await.map_err(Trouble::from)?;
            let owner = owner.ok_or(FetchChargeError::NotFound)?;
            ChargeId::parse(&owner).map_err(|error| FetchChargeError::Internal(format!("{owner}: {error}")))?
        }
    };
    let charge = ports.queries.find_charge(account, id).await.map_err(Trouble::from)?;
    let charge = charge.ok_or(FetchChargeError::NotFound)?;
    match (charge.state.status(), name) {
        (ChargeStatus::Creating, ChargeName::External(_)) => {
            Err(FetchChargeError::InProgress { retry_after_s: RETRY_AFTER_S })
        }
        (ChargeStatus::Creating | ChargeStatus::Abandoned, _) => Err(FetchChargeError::NotFound),
        (
            ChargeStatus::Pending
            | ChargeStatus::Paid
            | ChargeStatus::Expired
            | ChargeStatus::Cancelled
            | ChargeStatus::Refunded,
            _,
        ) => Ok(charge),
    }
}
