//! Reads a deposit, and refreshes it from the processor if a change is possible.

use std::time::Duration;

use cais_domain::crypto::Deposit;
use cais_domain::ids::{AccountId, CryptoDepositId};
use jiff::Timestamp;

use super::sync::refresh;
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
pub use crate::upstream_order::FetchError;
use crate::upstream_order::{self, ResourceName};

/// The time that a reader waits for the processor.
const READ_BUDGET: Duration = Duration::from_secs(3);

/// The name of a deposit.
pub type DepositName = ResourceName<CryptoDepositId>;

/// Returns the deposit of that name. The processor's state is applied if it answers in time.
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

/// Returns whether the processor may have a newer state. The poller reads such deposits too, for the first day.
fn may_have_moved(deposit: &Deposit, now: Timestamp) -> bool {
    deposit.due_at.is_some() || deposit.awaits_coins(now)
}
