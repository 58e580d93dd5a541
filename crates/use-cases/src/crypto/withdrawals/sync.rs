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

/// The time for the verification. In a creation, it is a part of the 10 s within which this service answers a POST.
const VERIFY_BUDGET: Duration = Duration::from_secs(2);

/// Reads the withdrawal at the processor and applies the record. Does not verify the withdrawal; see [`verify`].
pub(crate) async fn refresh(ports: &Ports, withdrawal: Withdrawal, budget: Duration) -> Result<Withdrawal, SyncError> {
    let record = read(ports, &withdrawal, budget).await?.ok_or(SyncError::Unknown)?;
    Ok(apply(ports, withdrawal, &record).await?)
}

/// Reads the withdrawal by the id of its batch at the processor. If no batch id is stored, searches for our identifier.
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

/// Works like [`read`]. If the read of the batch ends with `OutcomeUnknown`, also searches for our identifier. The
/// cause of this error can be a lost reply or a batch that the processor does not have. The search shows which one it
/// is.
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

/// Applies the processor's record in one commit. A record that differs from the order is not applied.
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

/// Verifies, with a one-time code, a withdrawal that the processor shows as unverified. If the verification fails, the
/// withdrawal stays unverified, and a later poll uses another code. Each code verifies one withdrawal. If another
/// withdrawal has used the current code, the next poll waits for the next code.
///
/// A withdrawal whose batch id is not stored yet is returned unchanged. So is a withdrawal with an outcome, because its
/// money may have been returned.
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
            "withdrawal could not be verified for ten minutes; the processor rejects the withdrawal after an hour"
        ),
        Err(error) => tracing::warn!(
            withdrawal = %withdrawal.id, processor = %withdrawal.processor, %batch, %error,
            "withdrawal not verified yet; the next poll tries again"
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
    match commit_update(ports, marked.schedule_next_poll(now)).await {
        Ok(marked) => Ok(marked),
        // Another process has changed the withdrawal. The next poll reads the processor again.
        Err(CommitError::Stale) => withdrawal.reread(ports).await,
        Err(error) => Err(error.into()),
    }
}
