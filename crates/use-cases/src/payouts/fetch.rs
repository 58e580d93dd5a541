//! Reading a payout, refreshed from upstream when it may have come further since.

use std::time::Duration;

use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::payout::{Payout, PayoutState};
use jiff::{SignedDuration, Timestamp};

use super::sync::refresh;
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
use crate::upstream_order::{self, ResourceName};

/// Time that a reader waits for upstream.
const READ_BUDGET: Duration = Duration::from_secs(3);
/// Time after its completion in which readers still ask for a payout: one that came straight back, and whose callback was lost,
/// is found by them.
const MAY_COME_BACK: SignedDuration = SignedDuration::from_hours(24);

/// The name of a payout.
pub type PayoutName = ResourceName<PayoutId>;

/// Returns the payout of that name, as upstream has it where that answers in time, else as it is stored.
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

/// Returns whether upstream may have more of the payout.
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
