//! Lists the payments of a deposit, including those that wait for an operator.

use cais_domain::crypto::Deposit;
use cais_domain::crypto::deposit::DepositPayment;
use cais_domain::ids::AccountId;

use super::fetch::{DepositName, FetchError, fetch};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::sync_gate::SyncGate;

/// The largest number of listed payments. A payer usually makes one or two.
pub const MAX_LISTED: u32 = 1_000;

/// Returns the deposit, refreshed as by [`fetch`], and the payments whose coins have arrived. The oldest payment comes
/// first.
///
/// # Errors
/// [`FetchError`].
pub async fn list(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    name: &DepositName,
) -> Result<(Deposit, Vec<DepositPayment>), FetchError> {
    let deposit = fetch(ports, syncs, account, name).await?;
    let payments = ports.queries.list_deposit_payments(account, deposit.id, MAX_LISTED).await;
    let mut payments = payments.map_err(StoreError::from)?;
    payments.sort_by_key(|payment| payment.created_at);
    Ok((deposit, payments))
}
