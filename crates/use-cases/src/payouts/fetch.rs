//! Reads a payout, and refreshes it from the acquirer if a change is possible.

use std::time::Duration;

use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::payout::{Payout, PayoutState};
use jiff::{SignedDuration, Timestamp};

use super::sync::refresh;
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
use crate::upstream_order::{self, ResourceName};

/// The time that a reader waits for the acquirer.
const READ_BUDGET: Duration = Duration::from_secs(3);
/// Time after the completion of a payout in which reads still refresh it. They find a payout that came straight back
/// and whose callback was lost.
const MAY_COME_BACK: SignedDuration = SignedDuration::from_hours(24);

/// The name of a payout.
pub type PayoutName = ResourceName<PayoutId>;

/// Returns the payout of that name. The acquirer's state is applied if it answers in time.
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
