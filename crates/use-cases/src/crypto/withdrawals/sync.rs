//! Updates a withdrawal from the processor's record, and verifies the withdrawal at the processor.

use std::time::Duration;

use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalState};
use cais_ports::{AcquirerError, CodeOutcome, CommitError, UpstreamWithdrawal, UpstreamWithdrawalStatus, alerts};
use jiff::Timestamp;

use super::changes::Steps;
use super::decide::judge;
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError, commit_unless_stale};
pub(crate) use crate::upstream_order::SyncError;
use crate::upstream_order::{StoredRecord as _, UpstreamOrder as _, commit_update};

/// The time for the verification. The API answers a POST within 10 s.
const VERIFY_BUDGET: Duration = Duration::from_secs(2);

/// Reads the withdrawal at the processor and applies the record. The withdrawal is not verified.
pub(crate) async fn refresh(ports: &Ports, withdrawal: Withdrawal, budget: Duration) -> Result<Withdrawal, SyncError> {
    let record = read(ports, &withdrawal, budget).await?.ok_or(SyncError::Unknown)?;
    Ok(apply(ports, withdrawal, &record).await?)
}

/// Reads the withdrawal in its batch. If the batch is unknown, searches for our identifier.
async fn read(
    ports: &Ports,
    withdrawal: &Withdrawal,
    budget: Duration,
) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
    let processor = ports.crypto_processor(&withdrawal.processor)?;
    match withdrawal.state.sent().and_then(|sent| sent.batch.as_ref()) {
        Some(batch) => processor.get_withdrawal(withdrawal.id, batch, budget).await.map(Some),
        None => processor.find_withdrawal(withdrawal.id, budget).await,
    }
}

/// Reads the withdrawal in its batch. If the batch is missing or cannot be read, searches for our identifier. The
/// search is needed because a missing batch and a lost reply cause the same error.
pub(crate) async fn search(
    ports: &Ports,
    withdrawal: &Withdrawal,
    budget: Duration,
) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
    let has_batch = withdrawal.state.sent().is_some_and(|sent| sent.batch.is_some());
    match read(ports, withdrawal, budget).await {
        Err(AcquirerError::OutcomeUnknown(_)) if has_batch => {
            ports.crypto_processor(&withdrawal.processor)?.find_withdrawal(withdrawal.id, budget).await
        }
        read => read,
    }
}

/// Applies the processor's record in one commit.
pub(super) async fn apply(
    ports: &Ports,
    mut withdrawal: Withdrawal,
    upstream: &UpstreamWithdrawal,
) -> Result<Withdrawal, StoreError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        if !withdrawal.agrees(upstream) {
            return Ok(withdrawal);
        }
        let now = ports.clock.now();
        let (change, after) = judge(Steps::none(withdrawal.clone()), upstream, now)?.done(ports, now);
        if change.writes.is_empty() {
            return Ok(after);
        }
        if commit_unless_stale(ports, change).await? {
            return Ok(after);
        }
        // Another process has changed the withdrawal.
        withdrawal = withdrawal.reread(ports).await?;
    }
    Err(StoreError::contended())
}

/// Verifies a withdrawal that the processor shows as not verified. If the verification fails, the withdrawal stays
/// unverified, and a later poll uses another code. If another withdrawal used the code, the next poll waits for the
/// next code.
///
/// The batch of the record must be stored before. A withdrawal with an outcome is never verified, because its money may
/// have been returned.
pub(super) async fn verify(
    ports: &Ports,
    withdrawal: Withdrawal,
    upstream: &UpstreamWithdrawal,
) -> Result<Withdrawal, StoreError> {
    let WithdrawalState::Processing { sent, .. } = &withdrawal.state else { return Ok(withdrawal) };
    let is_verifiable = upstream.status == UpstreamWithdrawalStatus::Unverified && withdrawal.agrees(upstream);
    let Some(batch) = sent.batch.as_ref().filter(|_| is_verifiable) else { return Ok(withdrawal) };
    let now = ports.clock.now();
    let verified = match ports.crypto_processor(&withdrawal.processor) {
        Ok(processor) => processor.verify_withdrawal(batch, now, VERIFY_BUDGET).await,
        Err(error) => Err(error),
    };
    match verified {
        Ok(CodeOutcome::Accepted) => {}
        Ok(CodeOutcome::UsedBefore) => return await_code(ports, withdrawal, now).await,
        Err(error) if withdrawal.is_overdue(now) => tracing::error!(
            alert = alerts::CRYPTO_WITHDRAWAL_UNVERIFIED, withdrawal = %withdrawal.id, processor = %withdrawal.processor, %batch, %error,
            "withdrawal could not be verified for minutes; the processor rejects the withdrawal after an hour"
        ),
        Err(error) => tracing::warn!(
            withdrawal = %withdrawal.id, processor = %withdrawal.processor, %batch, %error,
            "withdrawal not verified yet; the next poll verifies it"
        ),
    }
    Ok(withdrawal)
}

/// Postpones the next poll of the withdrawal until the next one-time code is valid.
async fn await_code(ports: &Ports, withdrawal: Withdrawal, now: Timestamp) -> Result<Withdrawal, StoreError> {
    tracing::info!(withdrawal = %withdrawal.id, "one-time code used by another withdrawal; the next code verifies this one");
    match commit_update(ports, withdrawal.clone().await_code(now)).await {
        Ok(waiting) => Ok(waiting),
        // Another process has changed the withdrawal.
        Err(CommitError::Stale) => withdrawal.reread(ports).await,
        Err(error) => Err(error.into()),
    }
}

/// Handles a withdrawal that the processor does not show. If the withdrawal is at least ten minutes old, marks it for
/// review and sets its next poll.
pub(super) async fn mark_absent(ports: &Ports, withdrawal: Withdrawal) -> Result<Withdrawal, StoreError> {
    let now = ports.clock.now();
    if !withdrawal.is_overdue(now) {
        return Ok(withdrawal);
    }
    let steps = Steps::none(withdrawal.clone()).then(|open| open.review(now))?;
    let marked = steps.withdrawal().clone();
    if marked == withdrawal {
        return Ok(withdrawal);
    }
    match commit_update(ports, marked.asked(now)).await {
        Ok(marked) => Ok(marked),
        // Another process has changed the withdrawal. The next poll reads it again.
        Err(CommitError::Stale) => withdrawal.reread(ports).await,
        Err(error) => Err(error.into()),
    }
}
