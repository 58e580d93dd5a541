//! Reads a refund. While its outcome is open, the acquirer is read first.

use std::time::Duration;

use cais_domain::ids::{AccountId, RefundId};
use cais_domain::refund::{Refund, RefundStatus};

use super::sync::refresh;
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
use crate::upstream_order::{self, ResourceName};

/// The time for reading the acquirer. The caller waits for the read.
pub(super) const READ_BUDGET: Duration = Duration::from_secs(3);

/// The identifier of a refund in a request.
pub type RefundName = ResourceName<RefundId>;

/// Returns the refund with this identifier. If the refund is processing, the acquirer's record is read and applied
/// first, at most once per second. If the acquirer does not answer within 3 s, the stored refund is returned.
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
