//! Finishes requests that create charges, payouts, refunds, crypto deposits or crypto withdrawals. Such a request is
//! unfinished because its process crashed, or because the outcome of its order is unknown.

use cais_domain::charge::Charge;
use cais_domain::crypto::{Deposit, Withdrawal};
use cais_domain::ids::{ChargeId, CryptoDepositId, CryptoWithdrawalId, PayoutId, RefundId};
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_ports::IdempotencyRecord;
use futures_util::{StreamExt as _, stream};

use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order;
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, WorkError};

/// Finishes at most `PASS_LIMIT` due requests.
///
/// # Errors
/// [`WorkError`] if the due requests cannot be listed. A failure of one request is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let records = ports.queries.list_due_idempotency_records(ports.clock.now(), PASS_LIMIT).await?;
    let listed = records.len();
    let done = stream::iter(records)
        .map(|record| async move {
            let resource = record.resource.clone();
            match resume(ports, record).await {
                Ok(finished) => usize::from(finished),
                Err(error) => {
                    tracing::warn!(resource, %error, "unfinished request could not be completed; the next run tries again");
                    0
                }
            }
        })
        .buffer_unordered(AT_ONCE)
        .fold(0_usize, |sum, one| async move { sum.saturating_add(one) })
        .await;
    Ok(Pass::of(listed, done))
}

/// Finishes one request. Returns `true` if the request is finished now. The prefix of the resource's id names the kind
/// of the resource.
async fn resume(ports: &Ports, record: IdempotencyRecord) -> Result<bool, StoreError> {
    match record.resource.split_once('_').map(|(prefix, _)| prefix) {
        Some(ChargeId::PREFIX) => upstream_order::resume::<Charge>(ports, record).await,
        Some(PayoutId::PREFIX) => upstream_order::resume::<Payout>(ports, record).await,
        Some(RefundId::PREFIX) => upstream_order::resume::<Refund>(ports, record).await,
        Some(CryptoDepositId::PREFIX) => upstream_order::resume::<Deposit>(ports, record).await,
        Some(CryptoWithdrawalId::PREFIX) => upstream_order::resume::<Withdrawal>(ports, record).await,
        Some(_) | None => Err(StoreError::Internal(format!(
            "the idempotency record names {}, whose kind is never ordered from an acquirer",
            record.resource
        ))),
    }
}
