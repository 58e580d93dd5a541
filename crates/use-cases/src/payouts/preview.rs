//! Computes the cost of a payout before it is sent. No money is held.

use cais_domain::merchant::account::Account;
use cais_domain::money::Money;

use super::create::{CreatePayoutError, check};
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The cost of a payout now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayoutPreview {
    /// The fee, in addition to the amount.
    pub fee: Money,
    /// The amount plus the fee. This sum leaves the balance.
    pub total: Money,
    /// The available balance before the payout.
    pub available: Money,
    /// The available balance after the payout, negative if the balance does not cover the payout.
    pub available_after: Money,
}

/// Returns the cost of a payout of `amount`, if the account may send it.
///
/// # Errors
/// [`CreatePayoutError`] if a permission is missing, the amount is above the limit, or the store failed.
pub async fn preview(ports: &Ports, account: &Account, amount: Money) -> Result<PayoutPreview, CreatePayoutError> {
    let fee = check(account, amount)?;
    let available = ports.queries.balances(account.id).await.map_err(StoreError::from)?.available;
    let total = amount.checked_add(fee).map_err(|error| StoreError::Internal(error.to_string()))?;
    let after = available.checked_sub(total).map_err(|error| StoreError::Internal(error.to_string()))?;
    Ok(PayoutPreview { fee, total, available, available_after: after })
}
