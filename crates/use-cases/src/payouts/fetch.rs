//! Reads a payout. If its state may have changed, the acquirer is read first.

use std::time::Duration;

use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::payout::{Payout, PayoutState};
use jiff::{SignedDuration, Timestamp};

use super::sync::refresh;
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
use crate::upstream_order::{self, ResourceName};

/// The longest time for the read of the acquirer. The time is short, because the caller waits for the read.
const READ_BUDGET: Duration = Duration::from_secs(3);
/// A payout is still refreshed for this time after its completion, because it may be returned, and the callback of the
/// return may be lost.
const REFRESHED_AFTER_COMPLETION: SignedDuration = SignedDuration::from_hours(24);

/// The identifier of a payout in a request.
pub type PayoutName = ResourceName<PayoutId>;

/// Returns the payout with this identifier. If the payout is processing, or was completed in the last 24 hours, the
/// acquirer's record is read and applied first. If this read fails or takes longer than 3 s, the stored payout is
/// returned. `syncs` limits the reads of the acquirer to one per second for each payout.
///
/// # Errors
/// [`FetchError`].
pub async fn fetch(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &PayoutName,
) -> Result<Payout, FetchError> {
    let refresh = |payout| refresh(ports, payout, READ_BUDGET);
    upstream_order::fetch(ports, syncs, (account, name), may_have_moved, refresh).await
}

/// Returns whether the acquirer may have a newer state of the payout.
fn may_have_moved(payout: &Payout, now: Timestamp) -> bool {
    match &payout.state {
        PayoutState::Processing(_) => true,
        PayoutState::Completed { at, .. } => now.duration_since(*at) < REFRESHED_AFTER_COMPLETION,
        PayoutState::Pending { .. }
        | PayoutState::Abandoned { .. }
        | PayoutState::Failed { .. }
        | PayoutState::Reversed { .. } => false,
    }
}
