//! Reads a withdrawal. If its state may have changed, the processor is read first.

use std::time::Duration;

use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalState};
use cais_domain::ids::{AccountId, CryptoWithdrawalId};
use jiff::Timestamp;

use super::sync::refresh;
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
use crate::upstream_order::{self, ResourceName};

/// The time for reading the processor. The caller waits for the read.
const READ_BUDGET: Duration = Duration::from_secs(3);

/// The identifier of a withdrawal in a request.
pub type WithdrawalName = ResourceName<CryptoWithdrawalId>;

/// Returns the withdrawal with this identifier. If the withdrawal is processing, the processor's record is read and
/// applied first, at most once per second. If this read fails or takes longer than 3 s, the stored withdrawal is
/// returned.
///
/// # Errors
/// [`FetchError`].
pub async fn fetch(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &WithdrawalName,
) -> Result<Withdrawal, FetchError> {
    let refresh = |withdrawal| refresh(ports, withdrawal, READ_BUDGET);
    upstream_order::fetch(ports, syncs, (account, name), may_have_moved, refresh).await
}

/// Returns whether the processor may have a newer state of the withdrawal.
fn may_have_moved(withdrawal: &Withdrawal, _: Timestamp) -> bool {
    match withdrawal.state {
        WithdrawalState::Processing { .. } => true,
        WithdrawalState::Pending
        | WithdrawalState::Abandoned { .. }
        | WithdrawalState::Completed { .. }
        | WithdrawalState::Failed { .. } => false,
    }
}
