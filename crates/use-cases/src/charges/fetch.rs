//! Reads a charge. If the charge may have a payment that is not stored yet, the acquirer is read first.

use cais_domain::charge::{Charge, ChargeState};
use cais_domain::ids::{AccountId, ChargeId};
use jiff::{SignedDuration, Timestamp};

use super::sync::{READ_BUDGET, refresh};
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
pub(crate) use crate::upstream_order::find;
use crate::upstream_order::{self, ResourceName};

/// For this time after the expiry or cancellation of a charge, reads still refresh it. A payment may have been made at
/// the same time, and its callback may be lost.
const REFRESHED_AFTER_END: SignedDuration = SignedDuration::from_hours(24);

/// The identifier of a charge in a request.
pub type ChargeName = ResourceName<ChargeId>;

/// Returns the charge with this identifier. If the charge may have a payment that is not stored yet, the acquirer's
/// record is read and applied first, at most once per second. If the acquirer does not answer within 3 s, the stored
/// charge is returned.
///
/// # Errors
/// [`FetchError`].
pub async fn fetch(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &ChargeName,
) -> Result<Charge, FetchError> {
    let refresh = |charge: Charge| async move {
        let acquirer = charge.state.acquirer().clone();
        refresh(ports, charge, &acquirer, READ_BUDGET).await
    };
    upstream_order::fetch(ports, syncs, (account, name), may_be_paid, refresh).await
}

/// Returns whether the acquirer may have a payment that pays the charge and is not stored yet.
fn may_be_paid(charge: &Charge, now: Timestamp) -> bool {
    match &charge.state {
        ChargeState::Pending(_) => true,
        ChargeState::Expired { at, .. } | ChargeState::Cancelled { at, .. } => {
            now.duration_since(*at) < REFRESHED_AFTER_END
        }
        ChargeState::Creating { .. }
        | ChargeState::Abandoned { .. }
        | ChargeState::Paid(..)
        | ChargeState::Refunded { .. } => false,
    }
}
