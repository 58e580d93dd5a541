//! Reads a charge, and refreshes it from the acquirer if a payment is possible.

use cais_domain::charge::{Charge, ChargeState};
use cais_domain::ids::{AccountId, ChargeId};
use jiff::{SignedDuration, Timestamp};

use super::sync::{READ_BUDGET, refresh};
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
pub(crate) use crate::upstream_order::find;
use crate::upstream_order::{self, ResourceName};

/// Time after the end of a charge in which reads still refresh it. They find a payment that raced the expiry or
/// cancellation and whose callback was lost.
const MAY_HAVE_RACED: SignedDuration = SignedDuration::from_hours(24);

/// The name of a charge.
pub type ChargeName = ResourceName<ChargeId>;

/// Returns the charge of that name. The acquirer's state is applied if it answers in time.
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

/// Returns whether the acquirer may have an unknown payment that pays the charge.
fn may_be_paid(charge: &Charge, now: Timestamp) -> bool {
    match &charge.state {
        ChargeState::Pending(_) => true,
        ChargeState::Expired { at, .. } | ChargeState::Cancelled { at, .. } => now.duration_since(*at) < MAY_HAVE_RACED,
        ChargeState::Creating { .. }
        | ChargeState::Abandoned { .. }
        | ChargeState::Paid(..)
        | ChargeState::Refunded { .. } => false,
    }
}
