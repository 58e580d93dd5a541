//! Reads a refund, and refreshes it from the acquirer while its outcome is open.

use std::time::Duration;

use cais_domain::ids::{AccountId, RefundId};
use cais_domain::refund::{Refund, RefundStatus};

use super::sync::refresh;
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
use crate::upstream_order::{self, ResourceName};

/// The time that a reader waits for the acquirer.
pub(super) const READ_BUDGET: Duration = Duration::from_secs(3);

/// The name of a refund.
pub type RefundName = ResourceName<RefundId>;

/// Returns the refund of that name. The acquirer's state is applied if it answers in time.
///
/// # Errors
/// [`FetchError`].
pub async fn fetch(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &RefundName,
) -> Result<Refund, FetchError> {
    let is_open = |refund: &Refund, _| refund.state.status() == RefundStatus::Processing;
    let refresh = |refund| refresh(ports, refund, READ_BUDGET);
    upstream_order::fetch(ports, syncs, (account, name), is_open, refresh).await
}
