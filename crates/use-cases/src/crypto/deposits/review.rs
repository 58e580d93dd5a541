//! An operator's decisions on coins that were not credited automatically.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::{Deposit, DepositPayment, DepositStep, PaymentState, ReceiveError, Resolved};
use cais_domain::crypto::{ProcessorId, Rate};
pub use cais_domain::review_decision::PaymentDecision;
use cais_domain::text::Text;
use cais_ports::{AcquirerError, Actor, ChangeSet, QueryError, UpstreamDepositStatus, Write};
use jiff::Timestamp;

use super::sync::{event, find};
use crate::audit::{self, AuditedChange, Fields};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError, commit_unless_stale};

/// The largest number of listed payments. The payments that have waited longest come first.
const LIST_LIMIT: u32 = 200;
/// The time for reading the processor. The operator waits for the read.
const READ_BUDGET: Duration = Duration::from_secs(10);

/// The reason why a payment was not resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolvePaymentError {
    /// No stored payment of the processor has this id.
    #[error("the payment {0} does not exist")]
    NotFound(ProcessorId),
    /// The payment has changed since the operator saw it.
    #[error("the payment has changed since it was shown")]
    Changed,
    /// The state of the deposit or of the payment does not allow the decision.
    #[error(transparent)]
    Refused(#[from] ReceiveError),
    /// The processor returned the coins to the payer.
    #[error("the processor returned the coins to the payer")]
    Returned,
    /// The coins in the processor's record differ from the stored payment.
    #[error("the processor shows other coins than the stored payment; read the deposit first")]
    CoinsDiffer,
    /// The processor's record could not be read.
    #[error("the payment could not be read at the processor: {0}")]
    Unread(#[from] AcquirerError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Lists the payments of all accounts that wait for a decision. The payments that have waited longest come first.
///
/// # Errors
/// [`QueryError`].
pub async fn list_payments(ports: &Ports) -> Result<Vec<DepositPayment>, QueryError> {
    ports.queries.list_payments_for_review(LIST_LIMIT).await
}

/// Returns the deposit's rate, and the payment as it would be if all its coins were credited now at this rate. Returns
/// `None` if this credit is not possible, or if the payment's version is not `seen`.
///
/// # Errors
/// [`StoreError`].
pub async fn preview_at_rate(
    ports: &Ports,
    (processor, id, seen): (&AcquirerName, &ProcessorId, i64),
) -> Result<Option<(Rate, DepositPayment)>, StoreError> {
    let Some(deposit) = ports.queries.find_crypto_deposit_of_payment(processor, id).await? else { return Ok(None) };
    let payment = find(ports, &deposit, id).await?.filter(|payment| payment.version == seen);
    let rate = deposit.price.rate.clone();
    let credited = payment.and_then(|payment| deposit.credit_reviewed_at_rate(payment, ports.clock.now()).ok());
    Ok(credited.map(|resolved| (rate, resolved.payment)))
}

/// Resolves a payment as the operator decided. A credit is possible only if the processor still has the coins. The same
/// commit writes a row of the audit log. Returns the stored payment.
///
/// # Errors
/// [`ResolvePaymentError`].
pub async fn resolve_payment(
    ports: &Ports,
    operator: &Actor,
    (processor, id): (&AcquirerName, &ProcessorId),
    (decision, note): (PaymentDecision, &Text),
) -> Result<DepositPayment, ResolvePaymentError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let (after, change) = prepare(ports, operator, (processor, id, None), (decision, note)).await?;
        // If another process has applied a record of the processor since the read, the decision is prepared again.
        if commit_unless_stale(ports, change).await? {
            return Ok(DepositPayment { version: after.version.saturating_add(1), ..after });
        }
    }
    Err(StoreError::contended().into())
}

/// Returns the payment after the decision, and the changes with a row of the audit log. `seen` is the version of the
/// payment that the operator saw; `None` accepts any version.
///
/// # Errors
/// [`ResolvePaymentError`].
pub(crate) async fn prepare(
    ports: &Ports,
    operator: &Actor,
    (processor, id, seen): (&AcquirerName, &ProcessorId, Option<i64>),
    (decision, note): (PaymentDecision, &Text),
) -> Result<(DepositPayment, ChangeSet), ResolvePaymentError> {
    let not_found = || ResolvePaymentError::NotFound(id.clone());
    let found = ports.queries.find_crypto_deposit_of_payment(processor, id).await.map_err(StoreError::from)?;
    let deposit = found.ok_or_else(not_found)?;
    let record_of_credit = match decision {
        PaymentDecision::Credit(_) | PaymentDecision::CreditAtRate => {
            Some(ports.crypto_processor(processor)?.get_deposit(id, READ_BUDGET).await?)
        }
        PaymentDecision::Dismiss => None,
    };
    if record_of_credit.as_ref().is_some_and(|record| record.status == UpstreamDepositStatus::Refunded) {
        return Err(ResolvePaymentError::Returned);
    }
    let before = find(ports, &deposit, id).await?.ok_or_else(not_found)?;
    if seen.is_some_and(|seen| seen != before.version) {
        return Err(ResolvePaymentError::Changed);
    }
    let account = deposit.account;
    let (mut change, after) = decide(ports, deposit, before.clone(), decision)?;
    if record_of_credit.as_ref().is_some_and(|record| record.received.as_ref() != Some(&before.coins)) {
        return Err(ResolvePaymentError::CoinsDiffer);
    }
    let audited = AuditedChange {
        action: "crypto_payment.resolve",
        subject: id.to_string(),
        account: Some(account),
        before: Some(record(&before, None)),
        after: Some(record(&after, Some(note))),
    };
    change.writes.push(audit::record(ports, operator, change.at, audited));
    Ok((after, change))
}

/// Returns the changes of a decision, and the payment after the decision.
fn decide(
    ports: &Ports,
    deposit: Deposit,
    payment: DepositPayment,
    decision: PaymentDecision,
) -> Result<(ChangeSet, DepositPayment), ReceiveError> {
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    let Resolved { deposit, payment, transfers, events } = match decision {
        PaymentDecision::Dismiss => dismiss(deposit, payment, now)?,
        PaymentDecision::Credit(gross) => deposit.credit_reviewed(payment, gross, now)?,
        PaymentDecision::CreditAtRate => deposit.credit_reviewed_at_rate(payment, now)?,
    };
    change.transfers = transfers;
    change.events = events.into_iter().map(|kind| event(ports, &deposit, kind, now)).collect();
    // The write of the deposit checks its version. So another process that applies a record of the processor cannot
    // credit the payment at the same time.
    change.writes.push(Write::update(deposit));
    change.writes.push(Write::update(payment.clone()));
    Ok((change, payment))
}

fn dismiss(deposit: Deposit, payment: DepositPayment, now: Timestamp) -> Result<Resolved, ReceiveError> {
    let payment = payment.dismiss()?;
    let (deposit, event) = match deposit.end_by_dismissal(&payment, now) {
        DepositStep::Taken { deposit, event } => (*deposit, event),
        DepositStep::AlreadyTaken(deposit) => (*deposit, None),
    };
    Ok(Resolved { deposit, payment, transfers: Vec::new(), events: event.into_iter().collect() })
}

/// Returns the fields that a decision changes, as JSON.
fn record(payment: &DepositPayment, note: Option<&Text>) -> Vec<u8> {
    let reason = match payment.state {
        PaymentState::Review(reason) => Some(reason.as_str()),
        PaymentState::Credited | PaymentState::Dismissed(_) => None,
    };
    Fields::new()
        .text("status", payment.state.as_str())
        .money("credited", payment.gross)
        .optional_text("review_reason", reason)
        .optional_text("note", note)
        .into_json()
}
