//! Shows the cost of a payout before it is sent. Nothing is held.

use cais_domain::merchant::account::Account;
use cais_domain::money::Money;

use super::create::{CreatePayoutError, check};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The cost of a payout at this instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayoutPreview {
    /// The fee on top of the amount.
    pub fee: Money,
    /// The amount that leaves the balance: amount and fee.
    pub total: Money,
    /// The available balance before the payout.
    pub available: Money,
    /// The available balance after the payout; negative if the balance does not cover it.
    pub available_after: Money,
}

/// Returns the cost of a payout of `amount`, if the account may send it.
///
/// # Errors
/// [`CreatePayoutError`] for a missing permission or an amount above the limit; an error of the store.
pub async fn preview(ports: &Ports, account: &Account, amount: Money) -> Result<PayoutPreview, CreatePayoutError> {
    let fee = check(account, amount)?;
    let available = ports.queries.balances(account.id).await.map_err(StoreError::from)?.available;
    let total = amount.checked_add(fee).map_err(|error| StoreError::Internal(error.to_string()))?;
    let after = available.checked_sub(total).map_err(|error| StoreError::Internal(error.to_string()))?;
    Ok(PayoutPreview { fee, total, available, available_after: after })
}
