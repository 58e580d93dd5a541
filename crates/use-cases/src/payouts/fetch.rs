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

/// The time for reading the acquirer. The caller waits for the read.
const READ_BUDGET: Duration = Duration::from_secs(3);
/// For this time after the completion of a payout, reads still refresh it. The payout may have been returned soon
/// after, and the callback of the return may be lost.
const MAY_COME_BACK: SignedDuration = SignedDuration::from_hours(24);

/// The identifier of a payout in a request.
pub type PayoutName = ResourceName<PayoutId>;

/// Returns the payout with this identifier. If the payout is processing, or was completed in the last 24 hours, the
/// acquirer's record is read and applied first. If the acquirer does not answer within 3 s, the stored payout is
/// returned.
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
        PayoutState::Completed { at, .. } => now.duration_since(*at) < MAY_COME_BACK,
        PayoutState::Pending { .. }
        | PayoutState::Abandoned { .. }
        | PayoutState::Failed { .. }
        | PayoutState::Reversed { .. } => false,
    }
}
