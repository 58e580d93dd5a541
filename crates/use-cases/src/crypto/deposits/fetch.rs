//! Reads a deposit. If its state may have changed, the processor is read first.

use std::time::Duration;

use cais_domain::crypto::Deposit;
use cais_domain::ids::{AccountId, CryptoDepositId};
use jiff::Timestamp;

use super::sync::refresh;
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
use crate::upstream_order::{self, ResourceName};

/// The time for reading the processor. The caller waits for the read.
const READ_BUDGET: Duration = Duration::from_secs(3);

/// The identifier of a deposit in a request.
pub type DepositName = ResourceName<CryptoDepositId>;

/// Returns the deposit with this identifier. If its state may have changed, the processor's record is read and applied
/// first. If the processor does not answer within 3 s, the stored deposit is returned.
///
/// # Errors
/// [`FetchError`].
pub async fn fetch(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &DepositName,
) -> Result<Deposit, FetchError> {
    let refresh = |deposit| refresh(ports, deposit, READ_BUDGET);
    upstream_order::fetch(ports, syncs, (account, name), may_have_moved, refresh).await
}

/// Returns whether the processor may have a newer state. This is possible while the deposit is polled, and as long as
/// its coins may still arrive: for days after the last poll.
fn may_have_moved(deposit: &Deposit, now: Timestamp) -> bool {
    deposit.due_at.is_some() || deposit.awaits_coins(now)
}
