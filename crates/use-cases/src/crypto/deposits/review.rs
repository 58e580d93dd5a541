//! The decisions of an operator on coins that were not credited automatically.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::crypto::deposit::{Deposit, DepositPayment, PaymentState, ReceiveError};
use cais_domain::money::Money;
use cais_domain::text::Text;
use cais_ports::{AcquirerError, ChangeSet, CommitError, Operator, QueryError, UpstreamDepositStatus, Write};

use super::sync::event;
use crate::audit::{self, AuditedChange, escaped};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
use crate::upstream_order::StoredRecord as _;

/// The largest number of listed payments. An operator decides the oldest first.
const LIST_LIMIT: u32 = 200;
/// The time that the operator waits for the processor.
const READ_BUDGET: Duration = Duration::from_secs(10);
/// The largest number of read payments of one deposit.
const MAX_PAYMENTS: u32 = 10_000;

/// The decision of an operator on a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentDecision {
    /// This amount is credited, without a fee.
    Credit(Money),
    /// No further money is credited.
    Dismiss,
}

/// The reason for which a payment was not resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolvePaymentError {
    /// The processor has no stored payment of that id.
    #[error("the payment {0} does not exist")]
    NotFound(ProcessorId),
    /// The decision is not possible.
    #[error(transparent)]
    Refused(#[from] ReceiveError),
    /// The processor returned the coins to the payer.
    #[error("the processor returned the coins to the payer")]
    Returned,
    /// The processor shows other coins than the stored payment.
    #[error("the processor shows other coins than the stored payment; read the deposit first")]
    CoinsDiffer,
    /// The processor's record could not be read.
    #[error("the payment could not be read at the processor: {0}")]
    Unread(#[from] AcquirerError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Lists the payments of all accounts that wait for a decision, the longest waiting first.
///
/// # Errors
/// [`QueryError`].
pub async fn list_payments(ports: &Ports) -> Result<Vec<DepositPayment>, QueryError> {
    ports.queries.list_payments_for_review(LIST_LIMIT).await
}

/// Resolves a payment as the operator decides. A credit requires that the processor still has the coins. The same commit has
/// a row of the audit log. Returns the stored payment.
///
/// # Errors
/// [`ResolvePaymentError`].
pub async fn resolve_payment(
    ports: &Ports,
    operator: &Operator,
    (processor, id): (&AcquirerName, &ProcessorId),
    (decision, note): (PaymentDecision, &Text),
) -> Result<DepositPayment, ResolvePaymentError> {
    let not_found = || ResolvePaymentError::NotFound(id.clone());
    let found = ports.queries.find_crypto_deposit_of_payment(processor, id).await.map_err(StoreError::from)?;
    let mut deposit = found.ok_or_else(not_found)?;
    let record_of_credit = match decision {
        PaymentDecision::Credit(_) => Some(ports.crypto_processor(processor)?.get_deposit(id, READ_BUDGET).await?),
        PaymentDecision::Dismiss => None,
    };
    if record_of_credit.as_ref().is_some_and(|record| record.status == UpstreamDepositStatus::Refunded) {
        return Err(ResolvePaymentError::Returned);
    }
    for _ in 0..MAX_COMMIT_RETRIES {
        let payments = ports.queries.list_deposit_payments(deposit.account, deposit.id, MAX_PAYMENTS).await;
        let payments = payments.map_err(StoreError::from)?;
        let before = payments.into_iter().find(|payment| payment.id == *id).ok_or_else(not_found)?;
        let (mut change, after) = decide(ports, deposit.clone(), before.clone(), decision)?;
        if record_of_credit.as_ref().is_some_and(|record| record.received.as_ref() != Some(&before.coins)) {
            return Err(ResolvePaymentError::CoinsDiffer);
        }
        let audited = AuditedChange {
            action: "crypto_payment.resolve",
            subject: id.to_string(),
            account: Some(deposit.account),
            before: Some(record(&before, None)),
            after: Some(record(&after, Some(note))),
        };
        change.writes.push(audit::record(ports, operator, change.at, audited));
        match ports.store.commit(change).await {
            Ok(_) => return Ok(DepositPayment { version: after.version.saturating_add(1), ..after }),
            // A record of the processor was applied since.
            Err(CommitError::Stale) => deposit = deposit.reread(ports).await?,
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

/// Returns the changes of a decision, and the payment after it.
fn decide(
    ports: &Ports,
    deposit: Deposit,
    payment: DepositPayment,
    decision: PaymentDecision,
) -> Result<(ChangeSet, DepositPayment), ReceiveError> {
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    let (deposit, payment) = match decision {
        PaymentDecision::Dismiss => (deposit, payment.dismiss()?),
        PaymentDecision::Credit(gross) => {
            let resolved = deposit.credit_reviewed(payment, gross, now)?;
            change.transfers = resolved.transfers;
            let events = resolved.events.into_iter();
            change.events = events.map(|kind| event(ports, &resolved.deposit, kind, now)).collect();
            (resolved.deposit, resolved.payment)
        }
    };
    // The deposit is written too, so that a record of the processor cannot credit the payment at the same time.
    change.writes.push(Write::update(deposit));
    change.writes.push(Write::update(payment.clone()));
    Ok((change, payment))
}

/// Returns the fields of a payment that an operator changes, as JSON.
fn record(payment: &DepositPayment, note: Option<&Text>) -> Vec<u8> {
    let reason = match payment.state {
        PaymentState::Review(reason) => Some(reason.as_str()),
        PaymentState::Credited | PaymentState::Dismissed => None,
    };
    let reason = reason.map(|reason| format!(r#","review_reason":"{reason}""#)).unwrap_or_default();
    let note = note.map(|note| format!(r#","note":"{}""#, escaped(note.as_str()))).unwrap_or_default();
    let (status, gross) = (payment.state.as_str(), payment.gross);
    format!(r#"{{"status":"{status}","credited":{gross}{reason}{note}}}"#).into_bytes()
}
